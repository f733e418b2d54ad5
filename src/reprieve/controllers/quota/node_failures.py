"""Which nodes have failed an admitted workload: Kueue's rules with their feature gates. Pure."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from reprieve.config import Configuration
from reprieve.controllers.quota.group_shape import is_living
from reprieve.objects import (
    Node,
    Pod,
    PodSetAssignment,
    ResourceFlavor,
    Toleration,
    UnhealthyNode,
    Workload,
    expanded,
    find_condition,
    tolerates,
    well_known,
)

LONG_ENOUGH = timedelta(seconds=30)
"""How long a node is not ready before it counts as failed, where time decides."""


class FailureRules(NamedTuple):
    """The gates about failed nodes, by what they do here."""

    enabled: bool = True
    when_pods_end: bool = True
    for_taints: bool = True
    after_a_time: bool = False

    @classmethod
    def of(cls, config: Configuration) -> "FailureRules":
        return cls(
            config.gate("TASFailedNodeReplacement"),
            config.gate("TASReplaceNodeOnPodTermination"),
            config.gate("TASReplaceNodeOnNodeTaints"),
            config.gate("TASReplaceNodeDueToNotReadyOverFixedTime"),
        )


class Health(NamedTuple):
    failed: tuple[UnhealthyNode, ...] = ()
    """By name."""
    left: float = 0.0
    """Seconds until a node that is not ready has failed; 0: only a change can make one fail."""


class Failures:
    """Judges the nodes of workloads.

    A node that is gone, or says nothing of being ready, has failed at once. One that is not ready, or has a
    taint that the pods do not tolerate, has failed when no pod of the workload goes on there; without the
    gate for that, after 30 s, and for a taint at once.
    """

    def __init__(
        self, rules: FailureRules, nodes: Mapping[str, Node], flavors: Mapping[str, ResourceFlavor]
    ) -> None:
        self._rules = rules
        self._nodes = nodes
        self._flavors = flavors

    def health(self, workload: Workload, pods: Collection[Pod], now: datetime) -> Health:
        admission = workload.status.admission
        if admission is None or not self._rules.enabled:
            return Health()
        failed, waits = set[str](), list[float]()
        for each in admission.pod_set_assignments:
            placement = expanded(each.topology_assignment) if each.topology_assignment is not None else None
            if placement is None or not placement.by_host:
                continue
            tolerations = self._tolerations(workload, each)
            for name in (domain.values[-1] for domain in placement.domains):
                left = self._left(name, tolerations, pods, now)
                if left is not None and left <= 0:
                    failed.add(name)
                elif left is not None:
                    waits.append(left)
        return Health(tuple(UnhealthyNode(name=name) for name in sorted(failed)), min(waits, default=0.0))

    def _left(
        self, name: str, tolerations: Collection[Toleration], pods: Iterable[Pod], now: datetime
    ) -> float | None:
        """Seconds until the node has failed; None while it can run the pods."""
        node, rules = self._nodes.get(name), self._rules
        ready = find_condition(node.status.conditions, "Ready") if node is not None else None
        if node is None or ready is None:
            return 0.0
        ended = not any(pod.spec.node_name == name and is_living(pod) for pod in pods)
        if ready.status != "True":
            since = ready.last_transition_time or now
            left = max(0.0, (since + LONG_ENOUGH - now).total_seconds())
            if rules.when_pods_end and ended:
                return 0.0
            return left if rules.after_a_time or not rules.when_pods_end else None
        hard = [taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]
        if not rules.for_taints or not hard:
            return None
        lasting = [each for each in tolerations if each.toleration_seconds is None]
        if all(tolerates(lasting, taint) for taint in hard):
            return None
        at_once = not rules.when_pods_end and any(not tolerates(tolerations, taint) for taint in hard)
        return 0.0 if ended or at_once else None

    def _tolerations(self, workload: Workload, assignment: PodSetAssignment) -> tuple[Toleration, ...]:
        """What the pods tolerate: by themselves, by their flavors, and by what ready checks add."""
        own = (each.template.spec for each in workload.spec.pod_sets if each.name == assignment.name)
        found = [toleration for spec in own for toleration in spec.tolerations]
        for name in sorted(set(assignment.flavors.values())):
            if name in self._flavors:
                found += self._flavors[name].spec.tolerations
        for check in workload.status.admission_checks:
            for update in check.pod_set_updates if check.state == well_known.READY else ():
                if update.name == assignment.name:
                    found += update.tolerations
        return tuple(found)
