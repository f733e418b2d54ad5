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
from reprieve.jobs import RUNTIMES, Expansion, JobKinds, PodSet, ending, expand, one_run, queue_of
from reprieve.objects import (
    Document,
    Ignored,
    InvalidObject,
    Pod,
    Reference,
    ReprieveError,
    Source,
    controller_of,
    descendants,
    document_of,
    group_key,
    kind_key,
    outcomes,
    unknown_pod_fields,
    well_known,
)
from reprieve.preemption import Plan, View, decide, with_lost_hours
from reprieve.whatif import sentences
from reprieve.whatif.claims import take
from reprieve.whatif.group_kinds import with_group_kinds
from reprieve.whatif.notes import NODE_KINDS, take_notes, waits_for_quota
from reprieve.whatif.owners import with_owners
from reprieve.whatif.pods import (
    cluster_of,
    completed_objects,
    keep_nominations,
    refuse_old_links,
    refuse_unknown_class,
)
from reprieve.whatif.warnings import about_pods, warnings

JobOutcome = Literal["scheduled", "preempts", "partial", "unschedulable"]
_PLACED = (outcomes.SCHEDULED, outcomes.PREEMPTS)


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
    """Of its gangs and single pods, in order, each with what those before it changed."""
    reasons: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def placements(self) -> dict[str, str]:
        return {pod: node for plan in self.plans for pod, node in plan.placements.items()}

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        document["plans"] = [plan.to_dict() for plan in self.plans]
        if not self.ignored:
            del document["ignored"]
        return {"apiVersion": well_known.API_VERSION, "kind": "JobPlan", **document}


def plan_job(
    objects: Iterable[Document | Source], for_: Reference, config: Configuration, now: datetime
) -> tuple[JobPlan, list[Document | Source]]:
    """Where the pods of a job would go, and who would make way; the documents with its pods in its place."""
    documents, missing = with_group_kinds(objects)
    source, expansion, expanded = expanded_job(documents, for_, config)
    job = document_of(source)
    runtimes = (each for each in map(document_of, documents) if kind_key(each) in RUNTIMES)
    notes = take_notes(documents, NODE_KINDS, (job, *runtimes))
    if isinstance(source, Source):
        strange = dict.fromkeys([*notes.unknown, *_unknown_fields(source, expansion)])
        notes = notes._replace(unknown=[*strange])
    refuse_old_links(pod for pods in expansion.pods.values() for pod in pods)
    completed = completed_objects(expanded, missing, now)
    own = {id(pod) for pods in expansion.pods.values() for pod in pods}
    others = [each for each in completed.stored if id(each) not in own]
    if len(others) + len(own) == len(completed.documents):  # none of its pods needed anything
        cluster = cluster_of(others, config, expansion.views())
    else:
        cluster = cluster_of(completed.stored, config)
    keep_nominations(cluster)
    doubts = warnings(cluster)  # before victims leave: they may be whom a warning is about
    plans, fits = _plans(cluster, expansion, completed.refused, config, now)
    plans = [with_owners(plan, expanded) for plan in plans]
    first = [Reference.read(pods[0]).key for pods in expansion.pods.values() if pods]
    rows = [cluster.pods.row_of[key] for key in first if key in cluster.pods.row_of]
    found = [*doubts, *about_pods(cluster, rows, plans, expanded, config)] if plans else []
    told = [*_hints(job, expansion, config), *found, *missing]
    answer = JobPlan(
        for_=str(for_),
        outcome=_outcome(fits, plans),
        pod_sets=tuple(fits),
        plans=tuple(plans),
        reasons=(_sentence(for_, fits, plans), *dict.fromkeys(told), *notes.sentences),
        ignored=notes.ignored,
    )
    return answer, expanded


def expanded_job(
    documents: list[Document | Source], for_: Reference, config: Configuration
) -> tuple[Document | Source, Expansion, list[Document | Source]]:
    """The job, its pods, and the documents with the pods in place of the job."""
    kinds = config.job_kinds()
    source = _job(documents, for_, kinds)
    others = [each for each in documents if each is not source]
    expansion = _expanded(source, kinds, [*map(document_of, others)])
    if one_run(document_of(source), kinds) is None:  # what makes jobs again and again may have made some
        _refuse_twice(expansion, others)
    return source, expansion, [*others, *expansion.documents]


def only_gang(expansion: Expansion) -> Reference:
    """The gang that is the whole job."""
    if len(expansion.groups) != 1:
        raise ReprieveError(sentences.no_single_gang(expansion.job, len(expansion.groups)))
    return Reference.read(expansion.groups[0])


def carried_out(documents: Iterable[Document | Source], plans: Sequence[Plan]) -> list[Document | Source]:
    """The documents after these plans: the pods on their nodes, without the victims."""
    nodes = {pod: node for plan in plans if plan.outcome in _PLACED for pod, node in plan.placements.items()}
    victims = {victim.pod for plan in plans for victim in plan.victims}
    after: list[Document | Source] = []
    for each in documents:
        document = document_of(each)
        key = Reference.read(document).key if document.get("kind") == "Pod" else ""
        if key in nodes:
            after.append({**document, "spec": {**document["spec"], "nodeName": nodes[key]}})
        elif key not in victims:
            after.append(each)
    return after


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
    config: Configuration,
    now: datetime,
) -> tuple[list[Plan], list[PodSetFit]]:
    moment, plans, fits = ticks(now), [], []
    nodes: dict[str, str] = {}
    planned: set[Reference] = set()
    for pod_set in expansion.sets:
        victims, message = 0, ""
        keys = []
        for pod in expansion.pods[pod_set.name]:
            ref, unit = Reference.read(pod), _unit(pod, cluster)
            keys.append(ref.key)
            if ref in refused:
                message = message or refused_by_a_server(str(ref), refused[ref])
                continue
            if unit in planned or (message and unit.kind == "Pod"):
                continue  # planned with its gang, or equal to the one that found no node
            planned.add(unit)
            _refuse_unknown_class(cluster, unit, expansion, pod_set)
            plan = decide(cluster, unit, config, moment, alternatives=unit.kind == "PodGroup")
            if plan.victims:
                plan = with_lost_hours(View(cluster, config, moment), plan)
            plans.append(plan)
            victims += len(plan.victims)
            if plan.outcome in _PLACED:
                nodes |= plan.placements
                _carry_out(cluster, plan)
            else:
                message = plan.message
        placed = sum(key in nodes for key in keys)
        fits.append(
            PodSetFit(name=pod_set.name, count=len(keys), placed=placed, victims=victims, message=message)
        )
    return plans, fits


def _refuse_unknown_class(cluster: Cluster, unit: Reference, expansion: Expansion, pod_set: PodSet) -> None:
    """With the field of the job: nobody has written its pods, or the gang that its kind is."""
    try:
        refuse_unknown_class(cluster, unit)
    except InvalidObject as error:
        if unit.kind == "PodGroup" and unit not in map(Reference.read, expansion.groups):
            raise
        own = pod_set.template["spec"].get("priorityClassName") == error.value
        path = f"{pod_set.path}.spec.priorityClassName" if own else expansion.priority_class
        raise InvalidObject(path, error.value, error.message, str(expansion.job)) from error


def _unit(pod: Document, cluster: Cluster) -> Reference:
    group = group_key(pod)
    number = cluster.groups.number_of.get(group) if group else None
    known = number is not None and cluster.groups.objects[number] is not None
    return Reference.of("PodGroup", group) if known else Reference.read(pod)


def _carry_out(cluster: Cluster, plan: Plan) -> None:
    for victim in plan.victims:
        cluster.remove(Pod, victim.pod)
    take(cluster, plan)
    for pod, node in plan.placements.items():
        cluster.assume(pod, node)


# -- what is said --------------------------------------------------------------------------------------------


def _outcome(fits: Sequence[PodSetFit], plans: Sequence[Plan]) -> JobOutcome:
    placed, count = sum(each.placed for each in fits), sum(each.count for each in fits)
    if placed < count:
        return "partial" if placed else "unschedulable"
    return "preempts" if any(plan.victims for plan in plans) else "scheduled"


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


def _hints(job: Document, expansion: Expansion, config: Configuration) -> list[str]:
    found = []
    if expansion.groups:
        least = expansion.groups[0]["spec"]["schedulingPolicy"]["gang"]["minCount"]
        found.append(sentences.planned_as_gangs(len(expansion.groups), least))
    if expansion.suspended:
        found.append(sentences.SUSPENDED)
    if queue := queue_of(one_run(job, config.job_kinds()) or job):
        notes = [(each.template.get("metadata") or {}).get("annotations") or {} for each in expansion.sets]
        found.append(waits_for_quota(queue, (name for each in notes for name in each)))
    return [*found, *expansion.notes]
