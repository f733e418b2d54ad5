"""What would happen: plans and admission runs over manifests, without touching any cluster.

`plan` answers for one pod, pod group, Kueue workload or job of any kind, `compare` shows what each algorithm
would do, `plan_fleet` chooses among clusters, `admit` runs admission cycles for all workloads. Arguments as
people write them (names, times, configurations) are read here; each module behind is imported when it is
first needed, so that a node plan loads no quota and a quota plan no numpy.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reprieve.config import Configuration
from reprieve.objects import (
    Document,
    InvalidObject,
    Reference,
    ReprieveError,
    Source,
    document_of,
    kind_key,
    nearest,
    objects_in,
    parse_time,
    some,
    well_known,
)
from reprieve.whatif import sentences
from reprieve.whatif.notes import BOTH, NODE_KINDS, QUOTA_KINDS, Notes, Reading, take_notes
from reprieve.whatif.sentences import does_not_start, starts_smaller

if TYPE_CHECKING:
    from reprieve.cluster import Cluster
    from reprieve.jobs import Expansion
    from reprieve.preemption import Plan
    from reprieve.quota import QuotaPlan
    from reprieve.whatif.carrying_out import After
    from reprieve.whatif.completing import Complete
    from reprieve.whatif.fleet import FleetPlan
    from reprieve.whatif.granted import Grant
    from reprieve.whatif.jobs import JobPlan
    from reprieve.whatif.quota import Admissions

__all__ = [
    "BOTH",
    "NODE_KINDS",
    "QUOTA_KINDS",
    "Admissions",
    "FleetPlan",
    "JobPlan",
    "Notes",
    "Reading",
    "admit",
    "check_target",
    "compare",
    "complete",
    "does_not_start",
    "grant",
    "notes_about",
    "overlay",
    "parse_target",
    "plan",
    "plan_everything",
    "plan_fleet",
    "starts_smaller",
    "take_notes",
    "targets",
    "without_pods",
]

PLANNED = ("Pod", "PodGroup", "CompositePodGroup", "Workload")
"""What is planned as it is; everything else is a job."""

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
) -> "Plan | QuotaPlan | JobPlan":
    """Who makes way for `for_` (`KIND/NAMESPACE/NAME`), and where it goes.

    A `Pod`, `PodGroup` or `CompositePodGroup` gets a `Plan` of nodes, a job of any kind a `JobPlan`, a Kueue
    `Workload` a `QuotaPlan`; all have `outcome`, `reasons` and `to_dict()`. Without `now` the present moment
    counts. `cluster_queue` replaces the queue of a workload; `given` fixes parts of a quota plan's answer.
    """
    settings, moment = Configuration.load(config), _moment(now)
    target, objects = parse_target(for_, settings), objects_in(objects)
    with _meant_otherwise(objects, target, settings):
        return _plan(objects, target, settings, moment, cluster_queue, given)[0]


@contextmanager
def _meant_otherwise(
    objects: Iterable[Document | Source], target: Reference, config: Configuration
) -> Iterator[None]:
    """An error about what is not there names what could be meant."""
    try:
        yield
    except ReprieveError as error:
        hint = "" if isinstance(error, InvalidObject) else _meant(target, objects, config)
        if not hint:
            raise
        raise type(error)(f"{error}{hint}") from error


def _plan(
    objects: list[Document | Source],
    target: Reference,
    settings: Configuration,
    moment: datetime,
    cluster_queue: str | None = None,
    given: Mapping[str, Any] | None = None,
) -> "tuple[Plan | QuotaPlan | JobPlan, After]":
    if target.kind not in PLANNED:
        from reprieve.whatif.jobs import plan_job

        return plan_job(objects, target, settings, moment)
    if target.kind == "Workload":
        from reprieve.whatif.quota import plan_workload

        return plan_workload(objects, target, settings, moment, cluster_queue, given)
    from reprieve.whatif.pods import plan_unit

    return plan_unit(objects, target, settings, moment)


def _meant(target: Reference, objects: Objects, config: Configuration) -> str:
    """`; did you mean 'PodGroup/ml/train'?`, for something that is not there: of the same name, or almost."""
    kinds = {*PLANNED, *config.job_kinds().words().values()}
    documents = map(document_of, objects)
    there = dict.fromkeys(Reference.read(each) for each in documents if each.get("kind") in kinds)
    if target in there:
        return ""
    same = [str(each) for each in there if each.name == target.name]
    return nearest(str(target), same[:1] or map(str, there))


def compare(
    objects: Objects, for_: str, config: Config | None = None, now: Time | None = None
) -> dict[str, Any]:
    """What each algorithm would do for a pod or pod group, and at what cost (kind `PlanComparison`)."""
    from reprieve.whatif.comparison import compare_algorithms

    settings = Configuration.load(config)
    target = parse_target(for_, settings)
    documents = objects_in(objects)
    if target.kind not in PLANNED:
        from reprieve.whatif.jobs import expanded_job, only_gang

        _, expansion, documents = expanded_job(documents, target, settings)
        target = only_gang(expansion)
    elif target.kind == "Workload":
        raise ReprieveError(sentences.no_algorithms_for_quota(str(target)))
    return compare_algorithms(documents, target, settings, _moment(now))


def parse_target(text: str, config: Configuration) -> Reference:
    """What a person wrote for something that can be planned."""
    words = config.job_kinds().words()
    return Reference.parse(text, dict.fromkeys((*PLANNED, *words.values())), words)


def plan_everything(
    objects: Sequence[Document | Source],
    targets: Sequence[Reference],
    config: Config | None = None,
    now: Time | None = None,
) -> "list[Plan | QuotaPlan | JobPlan]":
    """Plans in order: each finds the cluster as those before it would leave it."""
    settings, documents = Configuration.load(config), objects_in(objects)
    if len(targets) == 1:
        return [plan(documents, str(targets[0]), settings, now)]
    moment = _moment(now)
    jobs = {target for target in targets if target.kind not in PLANNED}
    to_come = {each: source for source in documents if (each := Reference.read(document_of(source))) in jobs}
    documents = [each for each in documents if Reference.read(document_of(each)) not in jobs]
    answers: list[Plan | QuotaPlan | JobPlan] = []
    for target in targets:
        given = [*documents, to_come[target]] if target in to_come else documents
        with _meant_otherwise(given, target, settings):
            answer, after = _plan(given, target, settings, moment)
        answers.append(answer)
        documents = after()
    return answers


def plan_fleet(
    workload: Document,
    clusters: Mapping[str, Sequence[Document]],
    config: Config | None = None,
    now: Time | None = None,
    others: Objects = (),
) -> "FleetPlan":
    """Which of `clusters` (name to the objects that cluster holds) would get the workload, and why. `others`
    were given with it: the plan names them as ignored.
    """
    from reprieve.whatif.fleet import plan_for_clusters

    held = {name: [*map(document_of, objects_in(objects))] for name, objects in clusters.items()}
    return plan_for_clusters(workload, held, Configuration.load(config), _moment(now), others)


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
    return admit_all(objects_in(objects), Configuration.load(config), _moment(now), max_cycles, deletions)


def check_target(for_: Reference, objects: Objects, expansion: "Expansion | None" = None) -> None:
    """An error for a target that no API server would store: impossible amounts, an unknown class."""
    from reprieve.whatif.pods import check_target

    check_target(for_, objects, expansion)


def grant(
    given: Sequence[Document | Source],
    documents: Sequence[Document | Source],
    target: Reference,
    pods: Mapping[str, Sequence[Document]],
    config: Configuration,
    now: datetime,
) -> "Grant | None":
    """What the queue of a target gives its `pods`; None where it asks for no quota, or no queue is there."""
    from reprieve.whatif.granted import grant

    return grant(given, documents, target, pods, config, now)


def notes_about(
    cluster: "Cluster",
    pods: Iterable[str],
    objects: Objects,
    config: Configuration,
    *,
    schedulers: Iterable[str],
    victims: Collection[str],
    fits: bool,
) -> list[str]:
    """What an answer about pods (`namespace/name`) on this cluster could not know, or took otherwise than it
    is written: the same sentences in every command."""
    from reprieve.whatif.warnings import about_pods, warnings

    found = (cluster.pods.row_of[key] for key in pods if key in cluster.pods.row_of)
    rows = [*{int(cluster.pods.cls[row]): row for row in found}.values()]
    others = about_pods(cluster, rows, objects, config, schedulers=schedulers, victims={*victims}, fits=fits)
    return [*warnings(cluster), *others]


def complete(objects: Objects, now: datetime) -> "Complete":
    """The objects as every answer reads them, and their typed views; nothing is decided."""
    from reprieve.whatif.completing import complete

    return complete(objects, now)


def targets(
    given: Sequence[Document | Source],
    config: Config | None = None,
    cluster: Sequence[Document | Source] = (),
) -> list[Reference]:
    """What `given` would create on top of `cluster`: jobs without pods, pods and groups that wait."""
    from reprieve.whatif.jobs import targets_in

    return targets_in(objects_in(given), Configuration.load(config), objects_in(cluster))


def without_pods(given: Sequence[Document | Source]) -> str:
    """What groups that wait for nothing lack, as a sentence; empty if there are none."""
    keys = [(well_known.SCHEDULING_API, kind) for kind in ("PodGroup", "CompositePodGroup", "Workload")]
    found = [Reference.read(document_of(each)) for each in given if kind_key(document_of(each)) in keys]
    return sentences.without_pods(some([*map(str, found)], 3)) if found else ""


def overlay(cluster: Sequence[Document], submitted: Sequence[Document | Source]) -> list[Document | Source]:
    """The cluster with manifests on top: an object of the same kind and name is replaced."""
    given = objects_in(submitted)
    replaced = {_identity(document_of(each)) for each in given}
    held = objects_in(cluster)
    return [*(each for each in held if _identity(document_of(each)) not in replaced), *given]


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
    if name == "JobPlan":
        from reprieve.whatif.jobs import JobPlan

        return JobPlan
    if name == "FleetPlan":
        from reprieve.whatif.fleet import FleetPlan

        return FleetPlan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
