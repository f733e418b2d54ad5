"""All documents of a question: what was given, pods of jobs that have none yet, workloads they need."""

from collections.abc import Sequence

from reprieve.forecast.reading import WORKLOAD, Owners
from reprieve.jobs import JobKinds, ending, expand, queue_of, suspended_by, workload_of
from reprieve.objects import Document, InvalidObject, Reference, Source, document_of, kind_key, well_known

_QUEUES = (well_known.KUEUE_API, "ClusterQueue")


class Population:
    def __init__(
        self, objects: Sequence[Document | Source], kinds: JobKinds, wanted: frozenset[Reference]
    ) -> None:
        """`wanted`: what is asked about; a CronJob is not expanded unless it is."""
        self.documents: list[Document | Source] = list(objects)
        self.notes: list[str] = []
        self.stopped: dict[Reference, str] = {}
        """Jobs that nobody starts, and the field that stops them."""
        self._kinds = kinds
        self._wanted = wanted
        raw = [*map(document_of, objects)]
        self._owners = Owners(raw, kinds)
        self._taken = {Reference.read(each) for each in raw if each.get("kind") in ("Pod", "PodGroup")}
        self.has_queues = any(kind_key(each) == _QUEUES for each in raw)
        with_pods = {ref for each in raw if each.get("kind") == "Pod" for ref in self._owners.chain(each)}
        with_workload = {
            ref for each in raw if kind_key(each) == WORKLOAD for ref in self._owners.chain(each)
        }
        for each, document in zip(objects, raw, strict=True):
            ref = Reference.read(document)
            if self._is_new(document, ref):
                self._add(each, ref, raw, has_pods=ref in with_pods, has_workload=ref in with_workload)

    def _is_new(self, document: Document, ref: Reference) -> bool:
        """A job that is to run, and that nothing else among the objects makes."""
        if not self._owners.is_job(document) or ending(document, self._kinds) is not None:
            return False
        if document.get("kind") == "CronJob" and ref not in self._wanted:
            return False
        above = self._owners.chain(document)
        return not above or above[-1] not in self._owners.jobs

    def _add(
        self,
        each: Document | Source,
        ref: Reference,
        raw: Sequence[Document],
        *,
        has_pods: bool,
        has_workload: bool,
    ) -> None:
        document = document_of(each)
        try:
            queued = self.has_queues and bool(queue_of(document))
            if queued and not has_workload:
                made = workload_of(document, self._kinds, raw)
                made["metadata"]["ownerReferences"] = [_reference(document)]
                self.documents.append(made)
            if has_pods:
                return
            field = suspended_by(document, self._kinds)
            # Of a job that names a queue it is the queue that starts it, also where no queue is shown.
            if field and not queue_of(document) and not has_workload:
                self.stopped[ref] = field
                return
            expansion = expand(document, self._kinds, raw)
            for one in map(Reference.read, expansion.documents):
                if one in self._taken:
                    text = f"would make {one}, and there is one that it has not made; name it otherwise"
                    raise InvalidObject("metadata.name", ref.name, text, str(ref))
            for name, pods in expansion.pods.items() if queued or has_workload else ():
                for pod in pods:
                    pod["metadata"]["labels"][well_known.POD_SET_LABEL] = name
            self.documents += expansion.documents
        except InvalidObject as error:
            if isinstance(each, Source) or ref in self._wanted:
                where = each.where if isinstance(each, Source) else error.where
                raise InvalidObject(error.path, error.value, error.message, where) from error
            self.notes.append(f"Note: {ref} is left out: {error}.")


def _reference(job: Document) -> Document:
    meta = job.get("metadata") or {}
    return {
        "apiVersion": job.get("apiVersion"),
        "kind": job.get("kind"),
        "name": meta.get("name"),
        "uid": meta.get("uid") or "",
        "controller": True,
    }
