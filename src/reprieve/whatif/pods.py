"""A plan for a pod or a pod group, over manifests."""

from collections.abc import Collection, Iterable
from datetime import datetime

import msgspec

from reprieve.admission import Completed, complete, refused_by_a_server
from reprieve.cluster import NOWHERE, Cluster, ticks, unknown_class
from reprieve.config import Configuration
from reprieve.jobs import Expansion, queue_of
from reprieve.objects import (
    OLD_POD_LINK,
    CompositePodGroup,
    Document,
    FindWorkload,
    Ignored,
    InvalidObject,
    Object,
    Pod,
    PodGroup,
    Reference,
    ReprieveError,
    Source,
    countable,
    decode_all,
    decode_as,
    document_of,
    from_template,
    group_key,
    kind_key,
    outcomes,
    selecting,
    unknown_names,
    well_known,
    whole_pod,
)
from reprieve.preemption import Plan, View, decide, groups_rule, with_lost_hours
from reprieve.whatif import sentences
from reprieve.whatif.carrying_out import After, carry_out, documents_after
from reprieve.whatif.granted import grant
from reprieve.whatif.group_kinds import with_group_kinds
from reprieve.whatif.notes import BOTH, NODES, take_notes, waits_for_quota
from reprieve.whatif.owners import with_owners
from reprieve.whatif.sentences import does_not_start
from reprieve.whatif.warnings import about_plans, divergent, rows_of, warnings

_WORKLOAD = (well_known.SCHEDULING_API, "Workload")
_POD_GROUP = (well_known.SCHEDULING_API, "PodGroup")
_PRIORITY_CLASS = (well_known.SCHEDULING_API, "PriorityClass")


def plan_unit(
    objects: Iterable[Document | Source],
    for_: Reference,
    config: Configuration,
    now: datetime,
) -> tuple[Plan, After]:
    """Who makes way for a pod or pod group, and the documents once that is done."""
    documents, missing = with_group_kinds(objects)
    documents = with_templates(documents, missing)
    mine = [document_of(each) for each in documents if _is_of(document_of(each), for_)]
    notes = take_notes(documents, BOTH if any(map(queue_of, mine)) else NODES)
    pods = [each for each in mine if each.get("kind") == "Pod"]
    refuse_old_links(pods)
    check_target(for_, documents)
    granted = grant(documents, documents, for_, {"main": pods}, config, now)
    told = (*missing, *notes.sentences)
    if granted is not None and (why := granted.refusal):
        text = does_not_start(for_, why)
        return _impossible(for_, why, (text, *told), config, notes.ignored), lambda: documents
    completed = completed_objects(documents if granted is None else granted.documents, missing, now)
    told = (*missing, *notes.sentences)
    if for_ in completed.refused:
        text = refused_by_a_server(str(for_), completed.refused[for_])
        return _impossible(for_, text, (text, *told), config, notes.ignored), lambda: completed.stored
    cluster = cluster_of(completed.stored, config)
    keep_nominations(cluster, for_)
    refuse_unknown_class(cluster, for_)
    plan = decide(cluster, for_, config, ticks(now), alternatives=True)
    plan = with_lost_hours(View(cluster, config, ticks(now)), plan)
    if granted is not None:
        plan = granted.with_victims(plan)
    plan = with_owners(plan, documents)
    about = _quota_first(mine) if granted is None else granted.sentences
    ruled = divergent(cluster, for_) if groups_rule(config) else []
    found = [*warnings(cluster), *about_plans(cluster, rows_of(cluster, for_), [plan], documents, config)]
    reasons = (*plan.reasons, *about, *ruled, *found, *told)
    plan = msgspec.structs.replace(plan, reasons=reasons, ignored=notes.ignored)

    def after() -> list[Document | Source]:
        carry_out(cluster, plan)
        return documents_after(completed.stored, [plan], cluster)

    return plan, after


def _is_of(document: Document, for_: Reference) -> bool:
    """The target, or a pod of the group that it is."""
    if document.get("kind") not in ("Pod", "PodGroup"):
        return False
    own = document.get("kind") == for_.kind and Reference.read(document) == for_
    return own or (
        for_.kind == "PodGroup" and document.get("kind") == "Pod" and group_key(document) == for_.key
    )


def _impossible(
    for_: Reference, why: str, reasons: tuple[str, ...], config: Configuration, left: tuple[Ignored, ...]
) -> Plan:
    """What gets no quota, or what the API server refuses, never reaches a scheduler."""
    return Plan(
        for_=str(for_),
        outcome=outcomes.UNSCHEDULABLE,
        message=why,
        reasons=reasons,
        algorithm=config.preemption.algorithm,
        ignored=left,
    )


def _quota_first(mine: Iterable[Document]) -> list[str]:
    """A pod or group that names a queue waits for quota, also where no queue is shown."""
    annotations = [(each.get("metadata") or {}).get("annotations") or {} for each in mine]
    queues = filter(None, map(queue_of, mine))
    return [waits_for_quota(queue, annotations[0]) for queue in [*queues][:1]]


def _without_trees(cluster: Cluster) -> None:
    """As if composite groups were not known: the feature gate CompositePodGroup is off."""
    for key in list(cluster.groups.trees.number_of):
        cluster.remove(CompositePodGroup, key)


def load(
    objects: Iterable[Document | Source],
    for_: Reference | None = None,
    missing: list[str] | None = None,
    config: Configuration | None = None,
) -> Cluster:
    """A cluster of these objects, as a plan for `for_` sees it; sentences about what else the objects refer
    to go into `missing`. `config`: its gates say which kinds exist; without it all of them do.
    """
    cluster = cluster_of(completed_objects(with_templates([*objects], missing), missing).stored, config)
    keep_nominations(cluster, for_)
    return cluster


def completed_objects(
    objects: Iterable[Document | Source], notes: list[str] | None = None, now: datetime | None = None
) -> Completed:
    """As an API server would store them; `notes` are about what was given to pods and what is missing."""
    completed = complete(objects, now)
    if notes is not None:
        notes += completed.notes
    return completed


def cluster_of(
    documents: list[Document | Source], config: Configuration | None = None, pods: Iterable[Pod] = ()
) -> Cluster:
    """Of documents that are complete."""
    cluster = Cluster(honour_nominations=False)
    seen: set[tuple[type[Object], str]] = set()
    views = [*decode_all(documents), *pods]
    for each in views:
        identity = (type(each), each.key)
        if identity in seen and not isinstance(each, selecting.SELECTING_KINDS):
            raise ReprieveError(sentences.given_twice(type(each).__name__, each.key))
        seen.add(identity)
        check(each)
    cluster.set_all(views)
    if config is not None and not config.gate("CompositePodGroup"):
        _without_trees(cluster)
    return cluster


def keep_nominations(cluster: Cluster, for_: Reference | None = None) -> None:
    """Waiting pods count on the node that they are nominated for, for all that are not more important: they
    are in the queue of their scheduler, as on a live cluster. Those of the unit itself are placed anew.
    """
    pods = cluster.pods
    nominated = {
        row: pods.info[row].nominated_node
        for row in pods.row_of.values()
        if pods.info[row].nominated_node and pods.node[row] == NOWHERE
    }
    if nominated and for_ is not None:
        for row in _members(cluster, for_):
            nominated.pop(row, None)
    for row, node in nominated.items():
        cluster.nominate(pods.keys[row], node)


def _members(cluster: Cluster, unit: Reference) -> set[int]:
    """The rows of the pods that are planned together."""
    groups = cluster.groups
    if unit.kind == "Pod":
        row = cluster.pods.row_of.get(unit.key, -1)
        number = int(cluster.pods.group[row]) if row >= 0 else -1
        return {row} if number < 0 else {*groups.members[number]}  # it is planned with its group
    numbers = groups.trees.number_of if unit.kind == "CompositePodGroup" else groups.number_of
    left = [numbers[unit.key]] if unit.key in numbers else []
    seen: set[int] = set()  # nothing keeps groups from naming each other in a circle
    while left:
        number = left.pop()
        if number not in seen:
            seen.add(number)
            left += groups.trees.children(number)
    return {row for number in seen for row in groups.members[number]}


def with_templates(
    documents: list[Document | Source], notes: list[str] | None = None
) -> list[Document | Source]:
    """The same documents; groups have what the templates of their Workloads give. A group that a server has
    stored and that contradicts its template goes into `notes`; one that is still to be stored is refused."""
    workloads = {
        (meta.get("namespace") or "default", meta.get("name")): document
        for document in map(document_of, documents)
        if kind_key(document) == _WORKLOAD and isinstance(meta := document.get("metadata"), dict)
    }
    if not workloads:
        return documents
    return [_with_template(each, lambda *key: workloads.get(key), notes) for each in documents]


def _with_template(each: Document | Source, find: FindWorkload, notes: list[str] | None) -> Document | Source:
    document = document_of(each)
    if kind_key(document) != _POD_GROUP:
        return each
    complete, problems = from_template(document, find)
    for problem in problems:
        if (document.get("metadata") or {}).get("uid"):
            if notes is not None:
                notes.append(sentences.group_counts(Reference.read(document), str(problem)))
            continue
        where = each.where if isinstance(each, Source) else ""
        raise InvalidObject(problem.path, problem.value, problem.message, where)
    return each._replace(document=complete) if isinstance(each, Source) else complete


def refuse_old_links(pods: Iterable[Document]) -> None:
    """A pod that names its group as Kubernetes 1.35 did would be planned without it: a guess."""
    for pod in pods:
        link = (pod.get("spec") or {}).get("workloadRef")
        if pod.get("kind") == "Pod" and link is not None:
            raise InvalidObject("spec.workloadRef", link, OLD_POD_LINK, str(Reference.read(pod)))


def check(each: Object) -> None:
    """Refuse what an API server would not store: impossible amounts, a gang that always fits."""
    if isinstance(each, Pod):
        # What a server has stored is taken as it is, though nobody counts such names.
        new = [] if each.metadata.uid else [*unknown_names(each.spec), *whole_pod(each.spec)]
        for problem in (*countable(each.spec), *new):
            raise InvalidObject(problem.path, problem.value, problem.message, f"Pod/{each.key}")
    gang = each.spec.scheduling_policy.gang if isinstance(each, PodGroup) else None
    if gang is not None and gang.min_count < 1:
        path, text = "spec.schedulingPolicy.gang.minCount", sentences.min_count_too_low(gang.min_count)
        raise InvalidObject(path, gang.min_count, text, f"PodGroup/{each.key}")


def refuse_unknown_class(cluster: Cluster, for_: Reference) -> None:
    """Without the class that the unit names its priority is not known, and an answer would be a guess."""
    if found := unknown_class(cluster, for_):
        raise _no_priority_class(found, cluster.priorities.number_of, for_)


def check_target(
    for_: Reference, objects: Iterable[Document | Source], expansion: Expansion | None = None
) -> None:
    """Refuse a target that no API server would store, before anything is decided about it: amounts that are
    impossible, a priority class that does not exist.

    `expansion`: of a job, which has checked its amounts. What a server has stored has its priority.
    """
    documents = [*map(document_of, objects)]
    if expansion is not None:
        named = [(name, expansion.class_path(name)) for name in expansion.class_names()]
    else:
        mine = [each for each in documents if _is_of(each, for_)]
        for each in mine:
            if each.get("kind") == "Pod":
                check(decode_as(each, Pod))
        specs = [each.get("spec") or {} for each in mine if Reference.read(each) == for_]
        names = (each.get("priorityClassName") for each in specs if each.get("priority") is None)
        named = [(name, "spec.priorityClassName") for name in names if name]
    known = [Reference.read(each).name for each in documents if kind_key(each) == _PRIORITY_CLASS]
    for name, path in named:
        if name not in {*known, *well_known.SYSTEM_CLASSES}:
            raise _no_priority_class(name, known, for_, path)


def _no_priority_class(
    name: str, known: Collection[str], for_: Reference, path: str = "spec.priorityClassName"
) -> InvalidObject:
    """`known`: the classes among the objects."""
    text = sentences.no_priority_class(name, [*known, *well_known.SYSTEM_CLASSES] if known else [])
    return InvalidObject(path, name, text, str(for_))
