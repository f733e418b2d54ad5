"""Jobs, pods and groups in queues: the workloads that the quota controller would make of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from reprieve.admission import WorkloadPriorities
from reprieve.config import Configuration
from reprieve.jobs import (
    Asking,
    JobKinds,
    asking_groups,
    asking_jobs,
    asking_pods,
    ending,
    needs_hold,
    one_run,
    queue_of,
    unheeded,
)
from reprieve.objects import (
    Document,
    InvalidObject,
    Pod,
    PodGroup,
    Reference,
    Source,
    decode_all,
    document_of,
    kind_key,
    well_known,
)
from reprieve.whatif import sentences

_POD_KINDS = (("", "Pod"), (well_known.SCHEDULING_API, "PodGroup"))


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
    owners = dict(_owners(everything))
    jobs = [each for each in documents if _may_ask(document_of(each), kinds)]
    made = [
        (job, _asking(job, kinds, everything))
        for job in jobs
        if Reference.read(document_of(job)) not in owners
    ]
    groups, asking, notes = _of_pods(documents, kinds, owners)
    new = [*(each for _, askers in made for each in askers), *asking]
    priorities = WorkloadPriorities.read(everything) if new else WorkloadPriorities()
    for each in new:
        priorities.fill_in(each.workload)
    given = {*map(Reference.read, everything)} if owners else set()
    names = {key: str(owner) for owner, key in owners.items() if owner in given}
    names |= {Reference.read(each.workload).key: each.who for each in new}
    answered = [document_of(job) for job in jobs if Reference.read(document_of(job)) in owners]
    answered += [document_of(job) for job, askers in made if askers]
    return Queued(
        [*documents, *(each.workload for each in new)] if new else documents,
        [*answered, *groups],
        names,
        (
            *notes,
            *_in_vain(made, kinds),
            *_held([job for job, askers in made if not askers], everything, config),
        ),
        dict(_queueless((document_of(job) for job, askers in made if not askers), kinds)),
    )


def _may_ask(document: Document, kinds: JobKinds) -> bool:
    """A job that is not over, and that no other job makes, which would ask in its place."""
    if kinds.find(document) is None or ending(document, kinds) is not None:
        return False
    owners = (document.get("metadata") or {}).get("ownerReferences") or ()
    above = (
        kinds.of(str(each.get("apiVersion")), str(each.get("kind")))
        for each in owners
        if each.get("controller")
    )
    return not any(kind is not None and kind.asks != "none" for kind in above)


def _queueless(jobs: Iterable[Document], kinds: JobKinds) -> Iterator[tuple[tuple[str, str], str]]:
    for job in jobs:
        run, kind = one_run(job, kinds) or job, kinds.find(job)
        made = kinds.find(run)
        if kind is not None and made is not None and made.asks != "none" and not queue_of(run):
            why = sentences.names_no_queue(kind.job_template)
            yield (str(job.get("apiVersion")), str(job.get("kind"))), why


def _in_vain(made: Iterable[tuple[Document | Source, list[Asking]]], kinds: JobKinds) -> Iterator[str]:
    for job, askers in made:
        document = one_run(document_of(job), kinds) or document_of(job)
        kind = kinds.find(document)
        if kind is not None and askers:
            count = sum(each["count"] for each in askers[0].workload["spec"]["podSets"])
            for text in unheeded(document, kind, count):
                yield sentences.not_heeded(Reference.read(document_of(job)), text)


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


def _of_pods(
    documents: Sequence[Document | Source], kinds: JobKinds, owners: dict[Reference, str]
) -> tuple[list[Document], list[Asking], list[str]]:
    """Groups and pods that ask for themselves, unless they have a workload; decoded only if some do."""
    wanted = [each for each in documents if kind_key(document_of(each)) in _POD_KINDS]
    if not any(_names_queue(document_of(each)) for each in wanted):
        return [], [], []
    views = [
        view for view in decode_all(wanted) if Reference(view.kind, view.namespace, view.name) not in owners
    ]
    pods = [view for view in views if isinstance(view, Pod)]
    groups = [view for view in views if isinstance(view, PodGroup)]
    asking, notes = asking_pods(pods, kinds)
    together = asking_groups(groups, pods)
    named = {each.who for each in together}
    answered = [document for document in map(document_of, wanted) if str(Reference.read(document)) in named]
    return answered, [*together, *asking], notes


def _names_queue(document: Document) -> bool:
    return well_known.QUEUE_LABEL in ((document.get("metadata") or {}).get("labels") or {})


def _owners(documents: Iterable[Document]) -> Iterator[tuple[Reference, str]]:
    """What has a workload among the documents, and which."""
    for each in documents:
        if kind_key(each) != (well_known.KUEUE_API, "Workload"):
            continue
        workload = Reference.read(each)
        for owner in (each.get("metadata") or {}).get("ownerReferences") or ():
            yield Reference(str(owner.get("kind")), workload.namespace, str(owner.get("name"))), workload.key


def _asking(job: Document | Source, kinds: JobKinds, others: list[Document]) -> list[Asking]:
    try:
        return asking_jobs(document_of(job), kinds, others)
    except InvalidObject as error:
        where = job.where if isinstance(job, Source) else error.where
        raise InvalidObject(error.path, error.value, error.message, where) from error
