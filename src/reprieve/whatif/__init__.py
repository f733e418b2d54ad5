"""What would happen: plans and admission runs over manifests, without touching any cluster.

`plan` answers for one pod, pod group or Kueue workload; `admit` runs admission cycles for all of them. Each of them is
imported when it is first used: a node plan needs no quota, a quota plan no numpy.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reprieve.objects import Document, Reference, Source
from reprieve.whatif.overlay import overlay

if TYPE_CHECKING:
    from reprieve.whatif.comparison import compare
    from reprieve.whatif.fleet import FleetPlan, plan_fleet

__all__ = ["FleetPlan", "admit", "compare", "overlay", "plan", "plan_fleet"]

_HOMES = {"FleetPlan": "fleet", "plan_fleet": "fleet", "compare": "comparison"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def plan(
    objects: Iterable[Document | Source],
    for_: str,
    config: Mapping[str, Any] | None = None,
    now: str | datetime | None = None,
    cluster_queue: str | None = None,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """Who makes way for `for_` (`KIND/NAMESPACE/NAME`), and where it goes.

    A Kueue `Workload` gets a quota plan; a `Pod` or `PodGroup` gets a node plan. `cluster_queue` and `given` fix
    parts of a quota plan's answer.
    """
    target = Reference.parse(for_, ("Pod", "PodGroup", "Workload"))
    if target.kind == "Workload":
        from reprieve.whatif.quota import plan_workload

        return plan_workload(
            objects, target, config=config, now=now, cluster_queue=cluster_queue, given=given
        )
    from reprieve.whatif.pods import plan_unit

    return plan_unit(objects, target, config=config, now=now)


def admit(
    objects: Iterable[Document | Source],
    config: Mapping[str, Any] | None = None,
    now: str | datetime | None = None,
    max_cycles: int | None = None,
    delete_after_cycle: Mapping[str, Any] | None = None,
) -> Any:
    """Run admission cycles over all Kueue workloads until nothing changes."""
    from reprieve.whatif.quota import admit_all

    return admit_all(
        objects, config=config, now=now, max_cycles=max_cycles, delete_after_cycle=delete_after_cycle
    )
