"""What has changed about a pod or group, as far as any decision reads it."""

from reprieve.objects import Pod, PodGroup, well_known


def protection(pod: Pod) -> tuple[object, ...]:
    """What decides, besides its priority, whether a running pod may be a victim."""
    notes = pod.metadata.annotations
    return (
        pod.status.start_time,
        notes.get(well_known.PREEMPTION_CLASS_ANNOTATION),
        notes.get(well_known.MIN_RUNTIME_ANNOTATION),
        notes.get(well_known.DISRUPTION_ROLE_ANNOTATION),
        pod.spec.scheduling_group,
    )


def group_protection(group: PodGroup) -> tuple[object, ...]:
    note = group.metadata.annotations.get(well_known.PREEMPTION_CLASS_ANNOTATION)
    return group.spec, note


_UNREAD = frozenset(
    {well_known.POD_SCHEDULED, "Initialized", "Ready", "ContainersReady", "PodReadyToStartContainers"}
)
"""Conditions of a pod that no decision reads."""
_UNREAD_WHILE_IT_STAYS = _UNREAD | {well_known.DISRUPTION_TARGET}


def same(old: Pod, new: Pod) -> bool:
    """Whether nothing changed that a decision reads; what changes in every pod's life comes first."""
    return (
        old.spec.node_name == new.spec.node_name
        and old.status.start_time == new.status.start_time
        and old.spec == new.spec
        and old.metadata.labels == new.metadata.labels
        and _annotations(old) == _annotations(new)
        and (old.metadata.deletion_timestamp is None) == (new.metadata.deletion_timestamp is None)
        and old.metadata.uid == new.metadata.uid
        and old.metadata.owner_references == new.metadata.owner_references
        and (old.status == new.status or _read_status(old) == _read_status(new))
    )


def _annotations(pod: Pod) -> dict[str, str]:
    """Without that of a mark, which comes and goes with the mark's condition."""
    found = pod.metadata.annotations
    if well_known.EVICTED_FOR_ANNOTATION not in found:
        return found
    return {name: text for name, text in found.items() if name != well_known.EVICTED_FOR_ANNOTATION}


def _read_status(pod: Pod) -> tuple[object, ...]:
    """What decisions read of its status. A mark matters only once the pod is on its way out."""
    status = pod.status
    unread = _UNREAD if pod.metadata.deletion_timestamp is not None else _UNREAD_WHILE_IT_STAYS
    return (
        status.resource_claim_statuses,
        status.phase in well_known.TERMINAL_PHASES,
        status.start_time,
        status.nominated_node_name,
        status.container_statuses,
        status.init_container_statuses,
        [each for each in status.conditions if each.type not in unread],
    )
