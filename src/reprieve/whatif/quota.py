"""Quota over manifests: who makes way for one workload, and what happens if all of them queue.

Both work on a state built for the purpose and touch nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from reprieve.admission import complete
from reprieve.config import Configuration
from reprieve.objects import (
    ClusterQueue,
    Document,
    InvalidObject,
    Namespace,
    Node,
    Object,
    Placement,
    PodSpec,
    Problem,
    Reference,
    ReprieveError,
    Source,
    Workload,
    amount,
    countable,
    decode_all,
    descendants,
    document_of,
    encode,
    expanded,
    format_time,
    fractions,
    kind_key,
    well_known,
)
from reprieve.quota import (
    Assignment,
    Choice,
    FlavorResource,
    GranularMode,
    Mode,
    Oracle,
    PodSetResult,
    PreemptionMode,
    Proposal,
    QueueNode,
    Quota,
    QuotaPlan,
    Reservation,
    Rules,
    Run,
    Step,
    Usage,
    VictimFinder,
    WorkloadInfo,
    find_assignment,
    load,
    needs_second_pass,
    no_place,
    queue_summaries,
    settle,
    vain_wait,
    waiters,
    waiting_lists,
)
from reprieve.whatif import sentences
from reprieve.whatif.notes import QUOTA, Notes, take_notes
from reprieve.whatif.queued_jobs import with_workloads

if TYPE_CHECKING:
    from reprieve.whatif.carrying_out import After

_WORKLOAD = (well_known.KUEUE_API, "Workload")


class QuestionError(ReprieveError):
    """These manifests do not allow an answer."""


def plan_workload(
    objects: Iterable[Document | Source],
    for_: Reference,
    config: Configuration,
    now: datetime,
    cluster_queue: str | None = None,
    given: Mapping[str, Any] | None = None,
) -> tuple[QuotaPlan, After]:
    """What the workload would get if it was its turn now, and the documents once it has that.

    `cluster_queue` replaces the queue it is in. `given` fixes parts of the answer: `usage` of queues, the
    `oracle` of the flavor scan, or a whole `assignment` with `counts`, for which only the victims are
    searched.
    """
    rules = Rules.of(config)
    queued = with_workloads(list(objects), config)
    notes = take_notes(queued.documents, QUOTA, queued.jobs, queued.queueless)
    views, missing = decoded(queued.documents)
    found = [view for view in views if isinstance(view, Workload) and view.key == for_.key]
    if not found:
        known = sorted(view.key for view in views if isinstance(view, Workload))
        raise QuestionError(sentences.no_such_workload(for_.key, known))
    _refuse(found[0], countable)
    again = needs_second_pass(found[0])
    quota = load((view for view in views if view is not found[0] or again), rules, now)
    queue = _queue(quota, found[0], cluster_queue)
    info = WorkloadInfo(found[0], queue.name, rules, quota.limit_ranges(found[0].namespace))
    answer = _Question(quota, info, queue).answer(given or {})
    vain = vain_wait(quota, info, queue, answer.whole.assignment)
    said = (*vain, *notes._replace(missing=missing).sentences)

    def after() -> list[Document | Source]:
        for pending in quota.pending.values():
            for other in [*pending]:
                quota.drop_workload(other.key, now)
        quota.put_workload(found[0], now)
        steps = settle(quota, now).steps
        evicted = [each.victim.info.workload for step in steps for each in step.outcome.evicted]
        mine = quota.cache.workloads.get(for_.key)
        return documents_with_quota(queued.documents, [] if mine is None else [mine.workload], evicted)

    return replace(answer, ignored=notes.ignored, notes=said), after


def decoded(documents: list[Document | Source]) -> tuple[list[Object], tuple[str, ...]]:
    """All views, and notes. Half a GPU gets no answer; what else is wrong with a workload, its own answer
    says."""
    completed = complete(documents, claims=False)
    views = decode_all(completed.documents)
    for view in views:
        if isinstance(view, Workload):
            _refuse(view, fractions)
    return views, (*completed.notes, *_unlabelled(views))


def _unlabelled(views: Iterable[Object]) -> Iterator[str]:
    """Namespaces whose labels nobody knows, although a queue chooses by labels."""
    found = list(views)
    known = {view.name for view in found if isinstance(view, Namespace)}
    asking = {view.namespace for view in found if isinstance(view, Workload)} - known
    selectors = [view.spec.namespace_selector for view in found if isinstance(view, ClusterQueue)]
    labels = {
        label
        for each in selectors
        if each is not None
        for label in (*each.match_labels, *(one.key for one in each.match_expressions))
    }
    if asking and labels - {well_known.NAMESPACE_NAME_LABEL}:
        yield sentences.labels_for_queues_unknown(sorted(asking))


def _refuse(workload: Workload, problems_of: Callable[[PodSpec, str], list[Problem]]) -> None:
    for index, pod_set in enumerate(workload.spec.pod_sets):
        for problem in problems_of(pod_set.template.spec, f"spec.podSets[{index}].template.spec"):
            raise InvalidObject(problem.path, problem.value, problem.message, f"Workload/{workload.key}")


def _queue(quota: Quota, workload: Workload, name: str | None) -> QueueNode:
    if name is None:
        name, refused = quota.queue_of(workload)
        if refused is not None:
            raise QuestionError(sentences.not_queued(workload.key, refused.message))
    if name not in quota.cache.queues:
        raise QuestionError(sentences.no_such_cluster_queue(name))
    return quota.cache.queues[name]


def documents_with_quota(
    documents: Sequence[Document | Source], admitted: Iterable[Workload], evicted: Collection[Workload]
) -> list[Document | Source]:
    """The documents once these Workloads have quota, and those have lost it and their pods have ended."""
    given = {each.key: each for each in admitted}
    lost = {each.key for each in evicted}
    everything = [*map(document_of, documents)]
    owners = {
        Reference(owner.kind, each.namespace, owner.name)
        for each in evicted
        for owner in each.metadata.owner_references
    }
    gone = descendants(everything, owners) if owners else set()
    after: list[Document | Source] = []
    for each, document in zip(documents, everything, strict=True):
        if document.get("kind") == "Pod" and gone and Reference.read(document) in gone:
            continue
        if kind_key(document) == _WORKLOAD:
            key = Reference.read(document).key
            if key in lost:
                each = {field: value for field, value in document.items() if field != "status"}
            elif key in given:
                each = {**document, "status": encode(given.pop(key))["status"]}
        after.append(each)
    return [*after, *(_workload(each) for each in given.values())]


def _workload(view: Workload) -> Document:
    return {"apiVersion": view.api_version, "kind": "Workload", **encode(view)}


class _Question:
    def __init__(self, quota: Quota, info: WorkloadInfo, queue: QueueNode) -> None:
        self._quota = quota
        self._info = info
        self._queue = queue

    def answer(self, given: Mapping[str, Any]) -> QuotaPlan:
        self._use(given.get("usage", {}))
        if "assignment" in given:
            whole = self._victims_for(given["assignment"], given["counts"])
        else:
            whole = self._whole(_given_oracle(given["oracle"]) if "oracle" in given else None)
        reduced = None
        if not given and any(pod_set.may_shrink for pod_set in self._info.workload.spec.pod_sets):
            reduced = Proposal(*find_assignment(self._quota, self._info, self._queue))
        return QuotaPlan(self._info, self._queue, whole, reduced, self._info.gate_closed)

    def _use(self, usage: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        for queue, flavors in usage.items():
            for flavor, resources in flavors.items():
                for resource, quantity in resources.items():
                    cell = self._quota.cache.queues[queue].cell(FlavorResource(flavor, resource))
                    cell.add(amount(resource, quantity))

    def _whole(self, oracle: Oracle | None) -> Proposal:
        return Proposal(*find_assignment(self._quota, self._info, self._queue, partial=False, oracle=oracle))

    def _victims_for(self, flavors: Mapping[str, Any], counts: Mapping[str, int]) -> Proposal:
        """The flavors are given; only the victims are searched."""
        results = []
        usage: Usage = {}
        for demand in self._info.demands:
            scaled = demand.scaled(counts.get(demand.name, demand.count))
            result = PodSetResult(scaled.name, scaled.count, scaled.requests)
            for resource, choice in flavors.get(demand.name, {}).items():
                mode = Mode.PREEMPT if choice["mode"] == "Preempt" else Mode.FIT
                result.choices[resource] = Choice(choice["flavor"], mode, 0, -1)
                key = FlavorResource(choice["flavor"], resource)
                usage[key] = usage.get(key, 0) + scaled.requests.get(resource, 0)
            results.append(result)
        found = Assignment(results, 0, usage)
        return Proposal(found, VictimFinder(self._info, self._queue, self._quota.rules).victims_for(found))


def _given_oracle(answers: Mapping[str, Any]) -> Oracle:
    modes = {str(mode): mode for mode in PreemptionMode}

    def granular_mode(answer: Mapping[str, Any]) -> GranularMode:
        return GranularMode(modes[answer["possibility"]], answer["borrowing"])

    default = granular_mode(answers["default"])
    known = {
        FlavorResource(each["flavor"], each["resource"]): granular_mode(each)
        for each in answers.get("results", ())
    }
    return lambda key, amount: known.get(key, default)  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class Admissions:
    """What became of all workloads."""

    quota: Quota
    run: Run
    notes: Notes
    """What was given and not used."""
    names: Mapping[str, str]
    """By workload, the job or pods behind it, as the user wrote them."""

    def to_dict(self) -> dict[str, Any]:
        queued = {
            key for pending in self.quota.pending.values() for key in (*pending.active, *pending.inadmissible)
        }
        return {
            "apiVersion": well_known.API_VERSION,
            "kind": "Admissions",
            "converged": self.run.converged,
            "admitted": {key: _holding(info) for key, info in sorted(self.quota.cache.workloads.items())},
            "unadmitted": sorted(queued | set(self.quota.unqueued)),
            "evicted": sorted({e.victim.info.key for step in self.run.steps for e in step.outcome.evicted}),
            "pending": waiting_lists(self.quota, "active"),
            "inadmissible": waiting_lists(self.quota, "inadmissible"),
            "waiting": {waiter.workload: waiter.to_dict() for waiter in waiters(self.quota)},
            "queues": queue_summaries(self.quota),
            "cycles": [_step(step) for step in self.run.steps],
            **({"jobs": dict(sorted(self.names.items()))} if self.names else {}),
            **({"ignored": [*map(msgspec.to_builtins, self.notes.ignored)]} if self.notes.ignored else {}),
        }


def _holding(info: WorkloadInfo) -> dict[str, Any]:
    admission = info.workload.status.admission
    assignments = admission.pod_set_assignments if admission is not None else ()
    return {
        "clusterQueue": info.queue,
        "flavors": {each.name: each.flavors for each in assignments},
        "counts": {each.name: each.count for each in assignments},
        **_domains(
            {
                each.name: expanded(each.topology_assignment)
                for each in assignments
                if each.topology_assignment is not None
            },
            {each.name: each.delayed_topology_request for each in assignments},
        ),
    }


def _domains(placements: Mapping[str, Placement], delayed: Mapping[str, str | None]) -> dict[str, Any]:
    """Where the pods go, and what is to be placed later; nothing for a workload without a topology."""
    known = {name: state for name, state in delayed.items() if state is not None}
    return {
        **({"topology": {name: each.to_dict() for name, each in placements.items()}} if placements else {}),
        **({"delayedTopologyRequest": known} if known else {}),
    }


def _step(step: Step) -> dict[str, Any]:
    outcome = step.outcome
    return {
        "cycle": outcome.number,
        "time": format_time(step.time),
        "admitted": {each.info.key: _granted(each) for each in outcome.reserved},
        "preempted": [
            {"workload": e.victim.info.key, "reason": e.victim.reason, "preemptor": e.preemptor.key}
            for e in sorted(outcome.evicted, key=lambda e: e.victim.info.key)
        ],
        "pending": step.pending,
        "inadmissible": step.inadmissible,
        "gated": sorted(each.info.key for each in outcome.waiting if each.gated),
        "waiting": {
            each.info.key: {"reason": each.reason, "message": each.message} for each in outcome.waiting
        },
    }


def _granted(reservation: Reservation) -> dict[str, Any]:
    assignment = reservation.assignment
    placements = {each.name: each.placement for each in assignment.pod_sets if each.placement is not None}
    return {
        "clusterQueue": reservation.info.queue,
        "flavors": assignment.flavors(),
        "counts": {each.name: each.count for each in assignment.pod_sets},
        **_domains(placements, {each.name: each.delayed for each in assignment.pod_sets}),
    }


def admit_all(
    objects: Iterable[Document | Source],
    config: Configuration,
    now: datetime,
    max_cycles: int | None,
    deletions: Mapping[int, Sequence[str]],
) -> Admissions:
    """Admission cycles over all workloads until nothing changes; each deletion follows its cycle."""
    queued = with_workloads(list(objects), config)
    notes = take_notes(queued.documents, QUOTA, queued.jobs, queued.queueless)
    views, missing = decoded(queued.documents)
    quota = load(views, Rules.of(config), now)
    run = settle(quota, now, max_cycles, deletions)
    missing = (*queued.notes, *missing, *_without_place(quota, views, queued.names))
    return Admissions(quota, run, notes._replace(missing=missing), queued.names)


def _without_place(quota: Quota, views: Iterable[Object], names: Mapping[str, str]) -> Iterator[str]:
    """Quota counts amounts, not nodes: said of what gets quota and could run on no node that was given."""
    nodes = [view for view in views if isinstance(view, Node)]
    for key, info in sorted(quota.cache.workloads.items()):
        if why := no_place(info.workload, nodes, quota.cache.flavors):
            yield sentences.gets_quota_but(names.get(key, f"Workload/{key}"), why)
