"""One step of the manager for one workload: from what it sees to what is to be done.

The step is idempotent: carried out fully, partly or not at all, the next one goes on from what the API
servers hold.
"""

from datetime import UTC, datetime
from typing import Final

from msgspec import structs

from reprieve.fleet import sentences
from reprieve.fleet.actions import (
    Action,
    CreateCopy,
    DeactivateCopy,
    DeleteCopy,
    Finish,
    SaveLedger,
    SetCheck,
    Step,
    SyncJob,
    UpdateCopy,
)
from reprieve.fleet.dispatch import nominate, same_spec, spec_update, synchronise
from reprieve.fleet.gates import GateStep, gate_step
from reprieve.fleet.group import UNREAD, Group
from reprieve.fleet.owners import why_not
from reprieve.fleet.reading import queue_of, true_since
from reprieve.fleet.settings import FleetSettings
from reprieve.objects import condition_of, has_condition, well_known

_UNDATED: Final = datetime.max.replace(tzinfo=UTC)


def step(group: Group, settings: FleetSettings, now: datetime) -> Step:
    """The first of these that applies:

    1. The workload is finished, being deleted or holds no quota: withdraw every copy.
    2. A copy has finished: so has the workload.
    3. The copy that runs was evicted: start again.
    4. A worker has admitted its copy: it wins, the others are withdrawn, the job goes there.
    5. The winner is gone: wait for it, then start again.
    6. Otherwise open a gate if it is time to, nominate workers and give them their copies.

    Before 4 to 6, a copy that differs from the workload is updated, or replaced and no longer looked at.
    """
    settings = settings.of_queue(queue_of(group.local))
    if group.check_state == "Rejected":
        return Step()
    over = _unsupported(group, settings) or _withdrawn(group, settings, now)
    over = over or _finished(group) or _evicted(group)
    if over is not None:
        return over
    repairs = _repairs(group)
    replaced = {action.cluster for action in repairs if isinstance(action, DeleteCopy)}
    group = _without(replaced, group)
    result = _won(group, settings) or _lost(group, settings, now) or _dispatch(group, settings, now)
    return _with_repairs(result, repairs, replaced)


def _unsupported(group: Group, settings: FleetSettings) -> Step | None:
    text = why_not(group.local, group.owner, settings.kinds)
    if not text:
        return None
    return Step((SetCheck("Rejected", text),), reasons=(text,))


def _withdrawn(group: Group, settings: FleetSettings, now: datetime) -> Step | None:
    deleted = bool((group.local.get("metadata") or {}).get("deletionTimestamp"))
    if not (deleted or group.local_is(well_known.FINISHED) or not group.local_is(well_known.QUOTA_RESERVED)):
        return None
    waiting = settings.worker_lost_timeout.total_seconds() if group.unavailable else 0.0
    kept = group.ledger.forget(group.unavailable, settings.lease, now)
    forget = () if deleted or kept == group.ledger else (SaveLedger(kept),)
    return Step(forget, _delete_all_but("", group), waiting)


def _finished(group: Group) -> Step | None:
    cluster = _earliest(group, well_known.FINISHED)
    if cluster is None:
        return None
    end = condition_of(group.copies[cluster], well_known.FINISHED)
    if end.get("reason") == well_known.OUT_OF_SYNC:
        if group.check_state != well_known.READY:
            return Step()
        text = sentences.out_of_sync(cluster)
        return Step((SetCheck("Retry", sentences.after_ready(text)),), reasons=(text,))
    return Step(
        (SyncJob(cluster, final=True), Finish(str(end.get("reason", "")), str(end.get("message", ""))))
    )


def _evicted(group: Group) -> Step | None:
    cluster = _earliest(group, well_known.EVICTED)
    if cluster is None:
        return None
    if group.local_is(well_known.EVICTED):
        return Step((SyncJob(cluster, final=True),))
    if group.check_state != well_known.READY or group.cluster_name not in ("", cluster):
        return None
    check = SetCheck("Retry", sentences.evicted_after_ready(cluster))
    return Step((check,), reasons=(sentences.evicted_on_worker(cluster),))


def _repairs(group: Group) -> tuple[DeleteCopy | UpdateCopy, ...]:
    repairs: list[DeleteCopy | UpdateCopy] = []
    for cluster, copy in sorted(group.copies.items()):
        if same_spec(group.local, copy):
            continue
        spec = spec_update(group.local, copy)
        repairs.append(DeleteCopy(cluster) if spec is None else UpdateCopy(cluster, spec))
    return tuple(repairs)


def _without(replaced: set[str], group: Group) -> Group:
    remotes = tuple(
        structs.replace(remote, copy=None) if remote.cluster in replaced else remote
        for remote in group.remotes
    )
    return structs.replace(group, remotes=remotes)


def _with_repairs(result: Step, repairs: tuple[Action, ...], replaced: set[str]) -> Step:
    """A copy is created again only when the old one is gone; the worker's event then triggers a step."""
    kept = tuple(
        action
        for action in result.each
        if not (isinstance(action, CreateCopy) and action.cluster in replaced)
    )
    return structs.replace(result, each=repairs + kept)


def _won(group: Group, settings: FleetSettings) -> Step | None:
    winner = _earliest(group, well_known.ADMITTED)
    if winner is None:
        return None
    others = _delete_all_but(winner, group)
    if group.local_is(well_known.EVICTED):
        eviction = condition_of(group.local, well_known.EVICTED)
        message = sentences.evicted_on_manager(eviction.get("message", ""))
        return Step(each=(*others, DeactivateCopy(winner, message)))
    again = settings.worker_lost_timeout.total_seconds()
    if group.check_state == "Retry":
        return Step(each=others, requeue_after=again)
    text = sentences.admitted_on(winner)
    decided = group.check_state == well_known.READY and group.cluster_name == winner
    written: tuple[Action, ...] = () if decided else (SetCheck(well_known.READY, text, winner),)
    return Step((*written, SyncJob(winner)), others, again, (text,))


def _lost(group: Group, settings: FleetSettings, now: datetime) -> Step | None:
    if group.check_state != well_known.READY:
        return None
    remote = group.remote(group.cluster_name)
    if remote is not None and not remote.connected:
        left = settings.worker_lost_timeout - (now - (remote.disconnected_since or now))
        if left.total_seconds() > 0:
            text = sentences.waits_for_worker(remote.cluster, left.total_seconds())
            return Step(requeue_after=left.total_seconds(), reasons=(text,))
    missing = remote is not None and remote.connected
    text = sentences.REMOTE_IS_GONE if missing else sentences.REMOTE_IS_LOST
    return Step((SetCheck("Retry", sentences.after_ready(text)),), reasons=(text,))


def _dispatch(group: Group, settings: FleetSettings, now: datetime) -> Step:
    gates = gate_step(group, settings, now) if settings.gated else GateStep()
    if group.check_state != "Pending" or group.cluster_name or not group.other_checks_ready:
        return Step(gates.actions, (), gates.requeue_after, gates.reasons)
    nomination = nominate(group, settings, now)
    lacking = tuple(remote.lacks for remote in group.connected if remote.lacks not in ("", UNREAD))
    return Step(
        _one_memory(gates.actions + nomination.actions) + _nowhere(group, lacking),
        synchronise(group, nomination.clusters, settings),
        min(filter(None, (gates.requeue_after, nomination.requeue_after)), default=0.0),
        gates.reasons + lacking,
    )


def _nowhere(group: Group, lacking: tuple[str, ...]) -> tuple[Action, ...]:
    """Where no worker can have the job its check says so; it goes on waiting, since one may learn to."""
    text = sentences.no_worker_can_run_it(lacking)
    if len(lacking) < len(group.connected) or not lacking or group.check_message == text:
        return ()
    return (SetCheck("Pending", text),)


def _one_memory(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Two ledgers in one step (the gate's turn, the dispatcher's round) become one, in place of the first."""
    notes = [action for action in actions if isinstance(action, SaveLedger)]
    if len(notes) < 2:
        return actions
    first, last = notes[0], notes[-1]
    merged = SaveLedger(structs.replace(first.ledger, round_started=last.ledger.round_started))
    return tuple(merged if action is first else action for action in actions if action is not last)


def _delete_all_but(winner: str, group: Group) -> tuple[Action, ...]:
    return tuple(DeleteCopy(cluster) for cluster in sorted(group.copies) if cluster != winner)


def _earliest(group: Group, type: str) -> str | None:
    """The copy whose condition became true first; the cluster already chosen comes before all others, and a
    tie goes to the name. What the others report once a cluster is chosen does not count: the workload runs
    only there."""
    chosen = group.cluster_name
    found = []
    for cluster, copy in group.copies.items():
        if has_condition(copy, type) and (not chosen or cluster == chosen):
            found.append((true_since(copy, type) or _UNDATED, cluster))
    return min(found)[1] if found else None
