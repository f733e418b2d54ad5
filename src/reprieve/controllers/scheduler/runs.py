"""How long pods ran, noted when they end: from the change that an informer reports."""

from reprieve.kube import Change
from reprieve.objects import Pod, Reference, well_known
from reprieve.records import End, Run
from reprieve.scheduler import instant

_ENDS: dict[str, End] = {"Succeeded": "ended", "Failed": "failed"}


def run_of(change: Change, now: float) -> Run | None:
    """The run that is over with this change. Services, whose pods are always restarted, have none."""
    old, new = change.old, change.new
    if type(new) is not Pod or old is None or old.status.phase in _ENDS or old.status.start_time is None:
        return None
    end: End | None = "stopped" if change.type == "DELETED" else _ENDS.get(new.status.phase)
    if end is None or new.spec.restart_policy in ("", "Always"):
        return None
    meta, over = new.metadata, instant(now)
    owner = next((each for each in meta.owner_references if each.controller), None)
    return Run(
        ran=str(Reference.to(new) if owner is None else Reference(owner.kind, new.namespace, owner.name)),
        uid=meta.uid if owner is None else owner.uid,
        queue=meta.labels.get(well_known.QUEUE_LABEL, ""),
        time=over,
        seconds=round(max(0.0, (over - old.status.start_time).total_seconds()), 3),
        end="stopped" if meta.deletion_timestamp is not None else end,
    )
