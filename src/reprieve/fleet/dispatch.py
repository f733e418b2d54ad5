"""Which workers get a copy of the workload, and what the copy looks like.

AllAtOnce nominates every connected worker. Incremental nominates the next `stepSize` workers of the
MultiKueueConfig in every round and keeps the earlier ones.
"""

from copy import deepcopy
from datetime import datetime

import msgspec

from reprieve.fleet.actions import Action, CreateCopy, DeleteCopy, Nominate, SaveLedger
from reprieve.fleet.group import Group
from reprieve.fleet.owners import owner_of
from reprieve.fleet.settings import INCREMENTAL, FleetSettings
from reprieve.objects import Document, format_duration, well_known


class Nomination(msgspec.Struct, frozen=True):
    """The workers that should hold a copy; `actions` write the choice down before any copy is made."""

    clusters: tuple[str, ...]
    actions: tuple[Action, ...] = ()
    requeue_after: float = 0.0


def nominate(group: Group, settings: FleetSettings, now: datetime) -> Nomination:
    if settings.dispatcher == INCREMENTAL:
        return _next_round(group, settings, now)
    chosen = tuple(sorted(remote.cluster for remote in group.suitable))
    changed = set(chosen) != set(group.nominated)
    return Nomination(chosen, (Nominate(chosen),) if changed else ())


def _next_round(group: Group, settings: FleetSettings, now: datetime) -> Nomination:
    started = group.ledger.round_started
    if group.nominated and started is not None and now - started <= settings.round_length:
        left = started + settings.round_length - now
        return Nomination(group.nominated, requeue_after=left.total_seconds())
    rest = [remote.cluster for remote in group.suitable if remote.cluster not in group.nominated]
    chosen = group.nominated + tuple(rest[: settings.step_size])
    if not rest:
        return Nomination(chosen)
    more = settings.round_length.total_seconds() if len(rest) > settings.step_size else 0.0
    return Nomination(chosen, (SaveLedger(group.ledger.start_round(now)), Nominate(chosen)), more)


def synchronise(group: Group, nominated: tuple[str, ...], settings: FleetSettings) -> tuple[Action, ...]:
    """Create missing copies and delete unwanted ones; workers out of reach are left for later."""
    copies = group.copies
    missing = sorted(
        remote.cluster
        for remote in group.suitable
        if remote.cluster in nominated and remote.cluster not in copies
    )
    document = new_copy(group.local, settings) if missing else {}
    created = tuple(CreateCopy(cluster, document) for cluster in missing)
    return created + tuple(DeleteCopy(cluster) for cluster in sorted(copies.keys() - set(nominated)))


def new_copy(local: Document, settings: FleetSettings) -> Document:
    """The workload as a worker gets it: with a closed gate, without anything meant only for the manager."""
    metadata = local.get("metadata") or {}
    labels = {
        key: value for key, value in (metadata.get("labels") or {}).items() if key != well_known.JOB_UID_LABEL
    }
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key != well_known.LEDGER_ANNOTATION
    }
    spec = deepcopy(local.get("spec") or {})
    if settings.gated:
        own = [
            gate
            for gate in spec.get("preemptionGates") or ()
            if gate.get("name") != well_known.MULTIKUEUE_GATE
        ]
        spec["preemptionGates"] = [*own, {"name": well_known.MULTIKUEUE_GATE}]
        if settings.close_at_timeout:
            annotations[well_known.GATE_LEASE_ANNOTATION] = format_duration(settings.timeout.total_seconds())
    owner = owner_of(local)
    if owner is not None:
        annotations[well_known.FLEET_OWNER_ANNOTATION] = str(owner)
    copied: Document = {
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", ""),
        "labels": {**labels, well_known.ORIGIN_LABEL: settings.origin},
    }
    if annotations:
        copied["annotations"] = annotations
    return {
        "apiVersion": local.get("apiVersion", "kueue.x-k8s.io/v1beta2"),
        "kind": local.get("kind", "Workload"),
        "metadata": copied,
        "spec": spec,
    }


def spec_update(local: Document, copy: Document) -> Document | None:
    """The copy's spec brought up to date, when the change is one that a running copy can take (its priority).

    None when the difference is deeper: the copy must be replaced. The copy's own gates are always kept.
    """
    wanted, held = dict(local.get("spec") or {}), dict(copy.get("spec") or {})
    for name in ("priority", "priorityClassRef"):
        if name in wanted:
            held[name] = wanted[name]
        else:
            held.pop(name, None)
    return held if same_spec(local, {"spec": held}) else None


def same_spec(local: Document, copy: Document) -> bool:
    """Equal but for the gates, which belong to the copy, and for `active`, which defaults to true."""
    return _comparable(local) == _comparable(copy)


def _comparable(document: Document) -> Document:
    spec = {key: value for key, value in (document.get("spec") or {}).items() if key != "preemptionGates"}
    return {"active": True, **spec}
