"""Plans for jobs as users write them: expanded to pods, planned in order, told in the words of the job.

A gang of the job is planned as one; its other pods one after the other, each with the places and evictions of
those before it. The cluster is a copy made of manifests: nothing else changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from reprieve.admission import refused_by_a_server
from reprieve.cluster import Cluster, ticks
from reprieve.config import Configuration
from reprieve.jobs import RUNTIMES, Expansion, JobKinds, ending, expand, one_run, queue_of
from reprieve.objects import (
    Document,
    Ignored,
    InvalidObject,
    Reference,
    ReprieveError,
    Source,
    controller_of,
    descendants,
    document_of,
    group_key,
    kind_key,
    outcomes,
    selecting,
    unknown_pod_fields,
    well_known,
)
from reprieve.preemption import Plan, View, decide, with_lost_hours
from reprieve.whatif import sentences
from reprieve.whatif.carrying_out import PLACED, After, carry_out, documents_after
from reprieve.whatif.granted import Grant, Share, grant
from reprieve.whatif.group_kinds import with_group_kinds
from reprieve.whatif.notes import BOTH, NODES, take_notes, waits_for_quota
from reprieve.whatif.owners import with_owners
from reprieve.whatif.pods import (
    check_target,
    cluster_of,
    completed_objects,
    keep_nominations,
    refuse_old_links,
    refuse_unknown_class,
    with_templates,
)
from reprieve.whatif.warnings import about_plans, warnings

JobOutcome = Literal["scheduled", "preempts", "partial", "unschedulable", "gated"]


class PodSetFit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods of a pod set find a node."""

    name: str
    count: int
    placed: int
    """With what makes way for them."""
    victims: int = 0
    """Pods that make way for these alone; for a gang its first pod set has them all."""
    message: str = ""
    """Why the next one finds none."""


class JobPlan(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What becomes of all pods of a job."""

    for_: str = msgspec.field(name="for")
    outcome: JobOutcome
    pod_sets: tuple[PodSetFit, ...] = ()
    plans: tuple[Plan, ...] = ()
    """Of its gangs and single pods, in order, each with what those before it changed. Pods of Workloads whose
    quota the job takes are among the victims of the first."""
    quota: tuple[Share, ...] = ()
    """What its Workloads get, where it is in a queue and ClusterQueues are among the objects."""
    reasons: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def placements(self) -> dict[str, str]:
        return {pod: node for plan in self.plans for pod, node in plan.placements.items()}

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        document["plans"] = [plan.to_dict() for plan in self.plans]
        for name in ("ignored", "quota"):
            if not document[name]:
                del document[name]
        return {"apiVersion": well_known.API_VERSION, "kind": "JobPlan", **document}


def plan_job(
    objects: Iterable[Document | Source], for_: Reference, config: Configuration, now: datetime
) -> tuple[JobPlan, After]:
    """Where the pods of a job would go and what they preempt; and the documents after that."""
    documents, missing = with_group_kinds(objects)
    documents = with_templates(documents, missing)
    source, expansion, expanded = expanded_job(documents, for_, config)
    job = document_of(source)
    runtimes = (each for each in map(document_of, documents) if kind_key(each) in RUNTIMES)
    in_queue = bool(queue_of(one_run(job, config.job_kinds()) or job))
    notes = take_notes(documents, BOTH if in_queue else NODES, (job, *runtimes))
    if isinstance(source, Source):
        strange = dict.fromkeys([*notes.unknown, *_unknown_fields(source, expansion)])
        notes = notes._replace(unknown=[*strange])
    refuse_old_links(pod for pods in expansion.pods.values() for pod in pods)
    check_target(for_, documents, expansion)
    granted = grant(documents, expanded, for_, expansion.pods, config, now)
    completed = completed_objects(expanded if granted is None else granted.documents, missing, now)
    own = {id(pod) for pods in expansion.pods.values() for pod in pods}
    others = [each for each in completed.stored if id(each) not in own]
    if len(others) + len(own) == len(completed.documents):  # none of its pods needed anything
        cluster = cluster_of(others, config, expansion.views())
    else:
        cluster = cluster_of(completed.stored, config)
    keep_nominations(cluster)
    doubts = warnings(cluster)  # before victims leave: they may be whom a warning is about
    plans, fits = _plans(cluster, expansion, completed.refused, granted, config, now)
    plans = [with_owners(plan, expanded) for plan in plans]
    first = [Reference.read(pods[0]).key for pods in expansion.pods.values() if pods]
    rows = [cluster.pods.row_of[key] for key in first if key in cluster.pods.row_of]
    found = [*doubts, *about_plans(cluster, rows, plans, expanded, config)] if plans else []
    told = [*_hints(job, expansion, config, granted), *found, *missing]
    answer = JobPlan(
        for_=str(for_),
        outcome=outcomes.GATED if expansion.stopped else _outcome(fits, plans),
        pod_sets=tuple(fits),
        plans=tuple(plans),
        quota=() if granted is None else tuple(granted.shares),
        reasons=(*_first(for_, expansion, fits, plans, granted), *dict.fromkeys(told), *notes.sentences),
        ignored=notes.ignored,
    )
    return answer, lambda: documents_after(completed.stored, plans, cluster)


def expanded_job(
    documents: list[Document | Source], for_: Reference, config: Configuration
) -> tuple[Document | Source, Expansion, list[Document | Source]]:
    """The job, its pods, and the documents with the pods in place of the job. One that they are spread by
    stays."""
    kinds = config.job_kinds()
    source = _job(documents, for_, kinds)
    others = [each for each in documents if each is not source]
    expansion = _expanded(source, kinds, [*map(document_of, others)])
    if one_run(document_of(source), kinds) is None:  # what makes jobs again and again may have made some
        _refuse_twice(expansion, others)
    stays = [source] if kind_key(document_of(source)) in selecting.SELECTING else []
    return source, expansion, [*others, *stays, *expansion.documents]


def only_gang(expansion: Expansion) -> Reference:
    """The gang that is the whole job."""
    if len(expansion.groups) != 1:
        raise ReprieveError(sentences.no_single_gang(expansion.job, len(expansion.groups)))
    return Reference.read(expansion.groups[0])


def targets_in(
    given: Sequence[Document | Source], config: Configuration, everything: Iterable[Document | Source] = ()
) -> list[Reference]:
    """What `given` would create and nothing runs yet: jobs without pods, groups and pods that wait."""
    kinds = config.job_kinds()
    documents = [*map(document_of, with_group_kinds(given)[0])]
    owners = {
        Reference(str(owner.get("kind")), _namespace(each), str(owner.get("name")))
        for each in (*map(document_of, everything), *documents)
        for owner in (each.get("metadata") or {}).get("ownerReferences") or ()
    }
    groups = {group_key(each) for each in documents if each.get("kind") == "Pod" and _waits(each)}
    there = {
        Reference.read(each).key
        for each in (*map(document_of, everything), *documents)
        if kind_key(each) == (well_known.SCHEDULING_API, "PodGroup")
    }

    def is_new(each: Document, reference: Reference) -> bool:
        if kinds.find(each) is not None:
            return reference not in owners and not controller_of(each) and ending(each, kinds) is None
        match kind_key(each):
            case ("", "Pod"):
                return _waits(each) and group_key(each) not in there
            case (well_known.SCHEDULING_API, "PodGroup"):
                return reference.key in groups
            case (well_known.KUEUE_API, "Workload"):
                return not (each.get("status") or {}).get("admission")
        return False

    found = ((each, Reference.read(each)) for each in documents)
    return list(dict.fromkeys(reference for each, reference in found if is_new(each, reference)))


def _waits(pod: Document) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return not (pod.get("spec") or {}).get("nodeName") and phase not in well_known.TERMINAL_PHASES


def _namespace(document: Document) -> str:
    return Reference.read(document).namespace


def _job(documents: list[Document | Source], for_: Reference, kinds: JobKinds) -> Document | Source:
    jobs = [each for each in documents if kinds.find(document_of(each)) is not None]
    for each in jobs:
        if Reference.read(document_of(each)) == for_:
            return each
    known = [str(Reference.read(document_of(each))) for each in jobs]
    raise ReprieveError(sentences.no_such_job(for_.kind, for_.key, known))


def _expanded(source: Document | Source, kinds: JobKinds, others: list[Document]) -> Expansion:
    try:
        return expand(document_of(source), kinds, others)
    except InvalidObject as error:
        where = source.where if isinstance(source, Source) else error.where
        raise InvalidObject(error.path, error.value, error.message, where) from error


def _refuse_twice(expansion: Expansion, others: Iterable[Document | Source]) -> None:
    """A job that runs already is not planned once more on top of itself."""
    documents = [*map(document_of, others)]
    taken = {Reference.read(each) for each in expansion.documents} | descendants(documents, {expansion.job})
    found = [
        each
        for each in documents
        if each.get("kind") in ("Pod", "PodGroup") and Reference.read(each) in taken
    ]
    if found:
        # Whoever asks wants to hear of those that wait.
        one = Reference.read(
            next((each for each in found if each["kind"] == "Pod" and _waits(each)), found[0])
        )
        raise ReprieveError(sentences.job_has_pods_already(expansion.job, one))


# -- planning ------------------------------------------------------------------------------------------------


def _plans(
    cluster: Cluster,
    expansion: Expansion,
    refused: Mapping[Reference, str],
    granted: Grant | None,
    config: Configuration,
    now: datetime,
) -> tuple[list[Plan], list[PodSetFit]]:
    moment, plans, fits = ticks(now), [], []
    without_quota = {} if granted is None else granted.refused
    left_out = set() if granted is None else granted.left_out
    nodes: dict[str, str] = {}
    planned: set[Reference] = set()
    for pod_set in expansion.sets:
        victims, message, waits = 0, "", ""
        keys = []
        for pod in expansion.pods[pod_set.name]:
            ref, unit = Reference.read(pod), _unit(pod, cluster)
            if ref in left_out:
                continue
            keys.append(ref.key)
            if ref in without_quota:
                waits = waits or without_quota[ref]
                continue
            if ref in refused:
                message = message or refused_by_a_server(str(ref), refused[ref])
                continue
            if unit in planned or (message and unit.kind == "Pod" and granted is None):
                continue  # planned with its gang, or equal to the one that found no node; flavors may differ
            planned.add(unit)
            refuse_unknown_class(cluster, unit)
            plan = decide(cluster, unit, config, moment, alternatives=unit.kind == "PodGroup")
            if plan.victims:
                plan = with_lost_hours(View(cluster, config, moment), plan)
            plans.append(plan)
            victims += len(plan.victims)
            if plan.outcome in PLACED:
                nodes |= plan.placements
                carry_out(cluster, plan)
            else:
                message = plan.message
        placed = sum(key in nodes for key in keys)
        fits.append(
            PodSetFit(
                name=pod_set.name, count=len(keys), placed=placed, victims=victims, message=message or waits
            )
        )
    if granted is not None and plans and granted.victims:
        plans[0] = granted.with_victims(plans[0])
        fits[0] = msgspec.structs.replace(fits[0], victims=fits[0].victims + len(granted.victims))
    return plans, fits


def _unit(pod: Document, cluster: Cluster) -> Reference:
    group = group_key(pod)
    number = cluster.groups.number_of.get(group) if group else None
    known = number is not None and cluster.groups.objects[number] is not None
    return Reference.of("PodGroup", group) if known else Reference.read(pod)


# -- what is said --------------------------------------------------------------------------------------------


def _outcome(fits: Sequence[PodSetFit], plans: Sequence[Plan]) -> JobOutcome:
    placed, count = sum(each.placed for each in fits), sum(each.count for each in fits)
    if placed < count:
        return "partial" if placed else "unschedulable"
    return "preempts" if any(plan.victims for plan in plans) else "scheduled"


def _first(
    for_: Reference,
    expansion: Expansion,
    fits: Sequence[PodSetFit],
    plans: Sequence[Plan],
    granted: Grant | None,
) -> list[str]:
    """What becomes of it; for a job that is stopped, after why it is, what would once it starts."""
    if granted is not None and (why := granted.refusal):
        return [sentences.does_not_start(for_, why)]
    stopped = [sentences.does_not_start(for_, expansion.stopped)] if expansion.stopped else []
    if not any(each.count for each in fits):
        return stopped
    return [*stopped, _sentence(for_, fits, plans), *([sentences.ONCE_STARTED] if stopped else [])]


def _sentence(for_: Reference, fits: Sequence[PodSetFit], plans: Sequence[Plan]) -> str:
    victims = sum(len(plan.victims) for plan in plans)
    failed = next((each.message for each in fits if each.message), "")
    counts = [(each.name, each.count, each.placed) for each in fits]
    return sentences.job_plan(for_, counts, victims, failed)


def _unknown_fields(source: Source, expansion: Expansion) -> list[str]:
    """Fields of its templates that no API server knows, also of kinds that there is no schema of."""
    return [
        sentences.unknown_field(source.where, str(problem))
        for each in expansion.sets
        for problem in unknown_pod_fields(each.template["spec"], f"{each.path}.spec")
    ]


def _hints(job: Document, expansion: Expansion, config: Configuration, granted: Grant | None) -> list[str]:
    found = []
    if expansion.groups:
        least = expansion.groups[0]["spec"]["schedulingPolicy"]["gang"]["minCount"]
        found.append(sentences.planned_as_gangs(len(expansion.groups), least))
    if granted is not None:
        found += granted.sentences
    elif queue := queue_of(one_run(job, config.job_kinds()) or job):
        notes = [(each.template.get("metadata") or {}).get("annotations") or {} for each in expansion.sets]
        found.append(waits_for_quota(queue, (name for each in notes for name in each)))
    return [*found, *expansion.notes]
