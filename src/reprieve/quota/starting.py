"""What pods get from the flavors that their quota is in: where they run, and which taints they tolerate.

As Kueue starts them (pkg/podset/podset.go: FromAssignment, FromUpdate, Merge).
"""

from collections.abc import Mapping

from reprieve.objects import ResourceFlavor, Toleration, Workload


def injected(
    workload: Workload, pod_set: str, flavors: Mapping[str, ResourceFlavor]
) -> tuple[dict[str, str], list[Toleration]]:
    """Node labels and tolerations for the pods of a pod set. Where there is only one, pods need not say that
    they are in it."""
    labels: dict[str, str] = {}
    tolerations: list[Toleration] = []
    admission = workload.status.admission
    assignments = admission.pod_set_assignments if admission is not None else ()
    for assignment in assignments:
        if assignment.name != pod_set and len(assignments) > 1:
            continue
        for name in sorted(set(assignment.flavors.values())):
            if name in flavors:
                labels |= flavors[name].spec.node_labels
                tolerations += flavors[name].spec.tolerations
    for check in workload.status.admission_checks:
        for update in check.pod_set_updates:
            if update.name == pod_set:
                labels |= update.node_selector
                tolerations += update.tolerations
    return labels, tolerations
