"""One step of the manager over plain documents: what would the manager do now?"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from reprieve.config import Configuration
from reprieve.fleet import sentences
from reprieve.fleet.actions import (
    CloseGate,
    CreateCopy,
    DeleteCopy,
    Finish,
    Nominate,
    OpenGate,
    SetCheck,
    Step,
)
from reprieve.fleet.group import Group, Remote
from reprieve.fleet.manager import step
from reprieve.fleet.reading import key_of, moment, status_of
from reprieve.fleet.settings import settings_from
from reprieve.objects import (
    Document,
    Reference,
    ReprieveError,
    document_of,
    objects_in,
    parse_time,
    well_known,
)


class UnknownWorkload(ReprieveError):
    """The question names a workload that is not among the objects, or one that the fleet does not handle."""


class Reconciled(msgspec.Struct, frozen=True):
    """What the manager would do in one step."""

    workload: str
    nominated: tuple[str, ...]
    step: Step

    def to_dict(self) -> dict[str, Any]:
        actions = self.step.actions
        checks = [action for action in actions if isinstance(action, SetCheck)]
        return {
            "apiVersion": well_known.API_VERSION,
            "kind": "FleetStep",
            "for": f"Workload/{self.workload}",
            "gatesOpened": [
                {"cluster": action.cluster, "gate": well_known.MULTIKUEUE_GATE}
                for action in actions
                if isinstance(action, OpenGate)
            ],
            "gatesClosed": [
                {"cluster": action.cluster, "gate": well_known.MULTIKUEUE_GATE}
                for action in actions
                if isinstance(action, CloseGate)
            ],
            "remoteCreated": [action.cluster for action in actions if isinstance(action, CreateCopy)],
            "remoteDeleted": [action.cluster for action in actions if isinstance(action, DeleteCopy)],
            "nominatedClusterNames": list(self.nominated),
            "clusterName": next((check.cluster for check in checks if check.cluster), ""),
            "check": {"state": checks[-1].state, "message": checks[-1].message} if checks else None,
            "finished": any(isinstance(action, Finish) for action in actions),
            "requeueAfterSeconds": _number(self.step.requeue_after),
            "reasons": list(self.step.reasons),
        }


def reconcile(
    objects: Iterable[Document],
    remotes: Mapping[str, Mapping[str, Any]],
    for_: str,
    config: Mapping[str, Any] | Configuration | None = None,
    now: str | datetime | None = None,
) -> Reconciled:
    """One step of the manager for the workload `for_` (`Workload/NAMESPACE/NAME`), changing nothing.

    `objects` are the manager's (workload, AdmissionCheck, MultiKueueConfig); `remotes` maps each worker to
    `{"connected": bool, "objects": [...], "disconnectedSince": time}`. Without `now`, the moment is the
    latest time that any of the workload's documents mentions.
    """
    key = Reference.parse(for_, ("Workload",)).key
    group = find_group([*map(document_of, objects_in(objects))], remotes, key)
    settings = settings_from(config)
    result = step(group, settings, _moment(now, group))
    return Reconciled(key, _nominated_after(group, result), result)


def find_group(objects: list[Document], remotes: Mapping[str, Mapping[str, Any]], key: str) -> Group:
    """The workload `key` with its copies, through its admission check and that check's MultiKueueConfig."""
    local = next((item for item in objects if item.get("kind") == "Workload" and key_of(item) == key), None)
    if local is None:
        raise UnknownWorkload(sentences.no_such_workload(key))
    listed = {entry.get("name") for entry in status_of(local).get("admissionChecks") or ()}
    check = next(
        (item for item in objects if _is_fleet_check(item) and item["metadata"]["name"] in listed), None
    )
    if check is None:
        raise UnknownWorkload(sentences.no_fleet_check(key))
    name = (check["spec"].get("parameters") or {}).get("name", "")
    config = next(
        (
            item
            for item in objects
            if item.get("kind") == "MultiKueueConfig" and item["metadata"]["name"] == name
        ),
        None,
    )
    if config is None:
        raise UnknownWorkload(sentences.no_fleet_config(name, check["metadata"]["name"]))
    clusters = (config.get("spec") or {}).get("clusters") or ()
    return Group(
        local,
        check["metadata"]["name"],
        tuple(_remote(cluster, remotes.get(cluster) or {"connected": False}, key) for cluster in clusters),
    )


def _is_fleet_check(item: Document) -> bool:
    return (
        item.get("kind") == "AdmissionCheck"
        and (item.get("spec") or {}).get("controllerName") == well_known.MULTIKUEUE_CONTROLLER
    )


def _remote(cluster: str, seen: Mapping[str, Any], key: str) -> Remote:
    held = map(document_of, objects_in(seen.get("objects") or ()))
    copies = (item for item in held if item.get("kind") == "Workload" and key_of(item) == key)
    return Remote(
        cluster,
        bool(seen.get("connected", True)),
        next(copies, None),
        moment(seen.get("disconnectedSince")),
    )


def _moment(now: str | datetime | None, group: Group) -> datetime:
    if isinstance(now, datetime):
        return now if now.tzinfo else now.replace(tzinfo=UTC)
    if now is not None:
        return parse_time(now)
    documents = [group.local, *group.copies.values()]
    mentioned = [
        moment(entry.get("lastTransitionTime"))
        for document in documents
        for field in ("conditions", "preemptionGates")
        for entry in status_of(document).get(field) or ()
    ]
    return max(filter(None, mentioned), default=datetime.min.replace(tzinfo=UTC) + timedelta(days=1))


def _nominated_after(group: Group, result: Step) -> tuple[str, ...]:
    """The nominations as they stand after the step. A workload that has its cluster has none."""
    for action in reversed(result.actions):
        if isinstance(action, Nominate):
            return action.clusters
        if isinstance(action, SetCheck) and action.cluster:
            return ()
    return group.nominated


def _number(seconds: float) -> float | int:
    return int(seconds) if float(seconds).is_integer() else seconds
