"""Jobs in queues: the workloads that the quota controller would make of them."""

from collections.abc import Iterable, Iterator

from reprieve.config import Configuration
from reprieve.jobs import JobKinds, ending, queue_of, workload_of
from reprieve.objects import Document, InvalidObject, Reference, Source, document_of, kind_key, well_known


def with_workloads(
    documents: list[Document | Source], config: Configuration
) -> tuple[list[Document | Source], list[Document]]:
    """The documents with a workload for each job that names a queue and has none, and those jobs."""
    kinds = config.job_kinds()
    jobs = [each for each in documents if _in_queue(document_of(each), kinds)]
    if not jobs:
        return documents, []
    owners = set(_owners(map(document_of, documents)))
    others = [*map(document_of, documents)]
    made = [_made(each, kinds, others) for each in jobs if Reference.read(document_of(each)) not in owners]
    return [*documents, *made], [*map(document_of, jobs)]


def _in_queue(document: Document, kinds: JobKinds) -> bool:
    return kinds.find(document) is not None and bool(queue_of(document)) and ending(document) is None


def _owners(documents: Iterable[Document]) -> Iterator[Reference]:
    """Jobs that have a workload among the documents."""
    for each in documents:
        if kind_key(each) != (well_known.KUEUE_API, "Workload"):
            continue
        namespace = Reference.read(each).namespace
        for owner in (each.get("metadata") or {}).get("ownerReferences") or ():
            yield Reference(str(owner.get("kind")), namespace, str(owner.get("name")))


def _made(job: Document | Source, kinds: JobKinds, others: list[Document]) -> Document | Source:
    try:
        return workload_of(document_of(job), kinds, others)
    except InvalidObject as error:
        where = job.where if isinstance(job, Source) else error.where
        raise InvalidObject(error.path, error.value, error.message, where) from error
