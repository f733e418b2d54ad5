"""What would happen: plans and admission runs over manifests, without touching any cluster.

`plan` answers for one pod, pod group or Kueue workload, `compare` shows what each algorithm would do,
`plan_fleet` chooses among clusters, `admit` runs admission cycles for all workloads. Arguments as people
write them (names, times, configurations) are read here; each module behind is imported when it is first
needed, so that a node plan loads no quota and a quota plan no numpy.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reprieve.config import Configuration
from reprieve.objects import Document, Reference, Source, document_of, kind_key, parse_time
from reprieve.whatif.notes import NODE_KINDS, QUOTA_KINDS

if TYPE_CHECKING:
    from reprieve.preemption import Plan
    from reprieve.quota import QuotaPlan
    from reprieve.whatif.fleet import FleetPlan
    from reprieve.whatif.quota import Admissions

__all__ = [
    "NODE_KINDS",
    "QUOTA_KINDS",
    "Admissions",
    "FleetPlan",
    "admit",
    "compare",
    "overlay",
    "plan",
    "plan_fleet",
]

Objects = Iterable[Document | Source]
Config = Mapping[str, Any] | Configuration
Time = str | datetime


def plan(
    objects: Objects,
    for_: str,
    config: Config | None = None,
    now: Time | None = None,
    *,
    cluster_queue: str | None = None,
    given: Mapping[str, Any] | None = None,
) -> "Plan | QuotaPlan":
    """Who makes way for `for_` (`KIND/NAMESPACE/NAME`), and where it goes.

    A `Pod` or `PodGroup` gets a `Plan` of nodes, a Kueue `Workload` a `QuotaPlan`; both have `outcome`,
    `reasons` and `to_dict()`. Without `now` the present moment counts. `cluster_queue` replaces the queue of
    a workload; `given` fixes parts of a quota plan's answer.
    """
    target = Reference.parse(for_, ("Pod", "PodGroup", "Workload"))
    settings, moment = Configuration.load(config), _moment(now)
    if target.kind == "Workload":
        from reprieve.whatif.quota import plan_workload

        return plan_workload(objects, target, settings, moment, cluster_queue, given)
    from reprieve.whatif.pods import plan_unit

    return plan_unit(objects, target, settings, moment)


def compare(
    objects: Objects, for_: str, config: Config | None = None, now: Time | None = None
) -> dict[str, Any]:
    """What each algorithm would do for a pod or pod group, and at what cost (kind `PlanComparison`)."""
    from reprieve.whatif.comparison import compare_algorithms

    target = Reference.parse(for_, ("Pod", "PodGroup"))
    return compare_algorithms(objects, target, Configuration.load(config), _moment(now))


def plan_fleet(
    workload: Document,
    clusters: Mapping[str, Sequence[Document]],
    config: Config | None = None,
    now: Time | None = None,
) -> "FleetPlan":
    """Which of `clusters` (name to the objects that cluster holds) would get the workload, and why."""
    from reprieve.whatif.fleet import plan_for_clusters

    return plan_for_clusters(workload, clusters, Configuration.load(config), _moment(now))


def admit(
    objects: Objects,
    config: Config | None = None,
    now: Time | None = None,
    max_cycles: int | None = None,
    delete_after_cycle: Mapping[str, Any] | None = None,
) -> "Admissions":
    """Run admission cycles over all Kueue workloads until nothing changes.

    `delete_after_cycle` maps the number of a cycle to the workloads that are deleted after it.
    """
    from reprieve.whatif.quota import admit_all

    deletions = {int(number): keys for number, keys in (delete_after_cycle or {}).items()}
    return admit_all(objects, Configuration.load(config), _moment(now), max_cycles, deletions)


def overlay(cluster: Sequence[Document], submitted: Sequence[Document | Source]) -> list[Document | Source]:
    """The cluster with manifests on top: an object of the same kind and name is replaced."""
    replaced = {_identity(document_of(each)) for each in submitted}
    return [*(document for document in cluster if _identity(document) not in replaced), *submitted]


def _identity(document: Document) -> tuple[str, str, str, str]:
    metadata = document.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "default")
    return *kind_key(document), namespace, str(metadata.get("name"))


def _moment(now: Time | None) -> datetime:
    return parse_time(now) if isinstance(now, str) else now or datetime.now(UTC)


def __getattr__(name: str) -> Any:
    """The answers' types, which are imported only when a program names them."""
    if name == "Admissions":
        from reprieve.whatif.quota import Admissions

        return Admissions
    if name == "FleetPlan":
        from reprieve.whatif.fleet import FleetPlan

        return FleetPlan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
