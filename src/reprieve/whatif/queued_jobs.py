"""Jobs, pods and groups in queues: the workloads that the quota controller would make of them."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from reprieve.admission import WorkloadPriorities, complete
from reprieve.config import Configuration
from reprieve.jobs import Asking, JobKinds, needs_hold, one_run, queue_of, unheeded, workloads_for
from reprieve.objects import Document, InvalidObject, Reference, Source, document_of, kind_key
from reprieve.whatif import sentences


class Queued(NamedTuple):
    documents: list[Document | Source]
    """With a workload for whatever names a queue and has none."""
    jobs: list[Document]
    """Jobs and groups that are answered for."""
    names: dict[str, str]
    """By workload, what the user wrote."""
    notes: tuple[str, ...] = ()
    queueless: Mapping[tuple[str, str], str] = MappingProxyType({})
    """By API version and kind of jobs that name no queue: what they have to do to ask for quota."""


def with_workloads(documents: list[Document | Source], config: Configuration) -> Queued:
    kinds, everything = config.job_kinds(), [*map(document_of, documents)]
    # A pod asks for what an API server stores of it, with the overhead of its RuntimeClass.
    queueing = workloads_for(complete(documents, claims=False).documents, kinds)
    for job, error in queueing.refused.values():
        where = job.where if isinstance(job, Source) else error.where
        raise InvalidObject(error.path, error.value, error.message, where) from error
    new = queueing.asking
    priorities = WorkloadPriorities.read(everything) if new else WorkloadPriorities()
    for each in new:
        priorities.fill_in(each.workload)
    answered = {*queueing.standing, *queueing.queued, *(each.owner for each in new)}
    given = {Reference.read(each): each for each in everything} if answered else {}
    names = {key: str(owner) for owner, key in reversed(queueing.standing.items()) if owner in given}
    names |= {Reference.read(each.workload).key: each.who for each in new}
    return Queued(
        [*documents, *(each.workload for each in new)] if new else documents,
        [given[each] for each in answered if each in given],
        names,
        (*queueing.notes, *_in_vain(new, given, kinds), *_held(queueing.silent, everything, config)),
        dict(_queueless(map(document_of, queueing.silent), kinds)),
    )


def _queueless(jobs: Iterable[Document], kinds: JobKinds) -> Iterator[tuple[tuple[str, str], str]]:
    for job in jobs:
        run, kind = one_run(job, kinds) or job, kinds.find(job)
        made = kinds.find(run)
        if kind is not None and made is not None and made.asks != "none" and not queue_of(run):
            why = sentences.names_no_queue(kind.job_template)
            yield (str(job.get("apiVersion")), str(job.get("kind"))), why


def _in_vain(asking: Iterable[Asking], given: Mapping[Reference, Document], kinds: JobKinds) -> Iterator[str]:
    for owner, each in {each.owner: each for each in reversed([*asking])}.items():
        job = one_run(given[owner], kinds) or given[owner]
        if (kind := kinds.find(job)) is not None:
            count = sum(pod_set["count"] for pod_set in each.workload["spec"]["podSets"])
            for text in unheeded(job, kind, count):
                yield sentences.not_heeded(owner, text)


def _held(
    jobs: Iterable[Document | Source], everything: Iterable[Document], config: Configuration
) -> Iterator[str]:
    """Jobs that name no queue where every job has to."""
    if not config.quota.manage_jobs_without_queue_name:
        return
    kinds, selector = config.job_kinds(), config.quota.managed_namespaces()
    labels = {
        Reference.read(each).name: (each.get("metadata") or {}).get("labels") or {}
        for each in everything
        if kind_key(each) == ("", "Namespace")
    }
    for job in map(document_of, jobs):
        reference = Reference.read(job)
        named = {**job, "metadata": {**(job.get("metadata") or {}), "namespace": reference.namespace}}
        if needs_hold(named, kinds, True, selector, labels.get(reference.namespace)):
            yield sentences.held_without_queue(reference)
