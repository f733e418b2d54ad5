"""All documents of a question: what was given, pods of jobs that have none yet, workloads they need."""

from collections.abc import Iterable, Sequence

from reprieve.admission import WorkloadPriorities, complete
from reprieve.forecast import sentences
from reprieve.forecast.reading import Owners
from reprieve.jobs import Asking, Expansion, JobKinds, ending, expand, queue_of, workloads_for
from reprieve.objects import (
    Document,
    InvalidObject,
    Reference,
    Source,
    document_of,
    group_key,
    kind_key,
    well_known,
)

_QUEUES = (well_known.KUEUE_API, "ClusterQueue")


class Population:
    def __init__(
        self, objects: Sequence[Document | Source], kinds: JobKinds, wanted: frozenset[Reference]
    ) -> None:
        """`wanted`: what is asked about; a CronJob is not expanded unless it is."""
        self.documents: list[Document | Source] = list(objects)
        self.notes: list[str] = []
        self.held: dict[Reference, str] = {}
        """Jobs that do not start as they are, and why."""
        self.expansions: dict[Reference, Expansion] = {}
        """Of what is asked about."""
        self._kinds = kinds
        self._wanted = wanted
        self._raw = [*map(document_of, objects)]
        self._owners = Owners(self._raw, kinds)
        self._priorities = WorkloadPriorities.read(self._raw)
        self._taken = {Reference.read(each) for each in self._raw if each.get("kind") in ("Pod", "PodGroup")}
        self.has_queues = any(kind_key(each) == _QUEUES for each in self._raw)
        # A pod asks for what an API server stores of it, with the overhead of its RuntimeClass.
        stored = complete(objects, claims=False).documents if self.has_queues else objects
        self._queueing = workloads_for(stored, kinds)
        self._asking: dict[Reference, list[Asking]] = {}
        for one in self._queueing.asking if self.has_queues else ():
            self._asking.setdefault(one.owner, []).append(one)
        pods = (each for each in self._raw if each.get("kind") == "Pod")
        with_pods = {ref for each in pods for ref in self._owners.chain(each)}
        for each, document in zip(objects, self._raw, strict=True):
            ref = Reference.read(document)
            if self._is_new(document, ref):
                self._add(each, ref, has_pods=ref in with_pods)

        if self.has_queues:
            self.notes += self._queueing.notes
        for ref, asking in self._asking.items():
            if ref.kind in ("Pod", "PodGroup"):
                self._ask_for(asking, ())

    def _is_new(self, document: Document, ref: Reference) -> bool:
        """A job that is to run, and that nothing else among the objects makes."""
        if not self._owners.is_job(document) or ending(document, self._kinds) is not None:
            return False
        kind = self._kinds.find(document)
        if kind is not None and kind.job_template and ref not in self._wanted:
            return False
        kind = self._kinds.find(document)
        asks = kind is not None and kind.asks != "none" and bool(queue_of(document))
        if self.has_queues and asks and not self._asks(ref):
            return False  # a job above it, which is not shown, asks in its place
        above = self._owners.chain(document)
        return not above or above[-1] not in self._owners.jobs

    def _asks(self, ref: Reference) -> bool:
        found = self._queueing
        return ref in found.queued or ref in found.standing

    def _add(self, each: Document | Source, ref: Reference, *, has_pods: bool) -> None:
        document = document_of(each)
        has_workload = ref in self._queueing.standing
        asking = self._asking.get(ref, [])
        try:
            if self.has_queues and ref in self._queueing.refused:
                raise self._queueing.refused[ref][1]
            if has_pods:
                self._ask_for(asking, self._raw)
                return
            expansion = expand(document, self._kinds, self._raw)
            if ref in self._wanted:
                self.notes += expansion.notes
                self.expansions[ref] = expansion
            if expansion.stopped and not has_workload:
                self.held[ref] = expansion.stopped
                return
            for one in map(Reference.read, expansion.documents):
                if one in self._taken:
                    text = sentences.made_by_somebody_else(one)
                    raise InvalidObject("metadata.name", ref.name, text, str(ref))
            self._ask_for(asking, expansion.documents)
            for name, pods in expansion.pods.items() if asking or has_workload else ():
                for pod in pods:
                    pod["metadata"]["labels"][well_known.POD_SET_LABEL] = name
            self.documents += expansion.documents
        except InvalidObject as error:
            if isinstance(each, Source) or ref in self._wanted:
                where = each.where if isinstance(each, Source) else error.where
                raise InvalidObject(error.path, error.value, error.message, where) from error
            self.notes.append(sentences.left_out(ref, str(error)))

    def _ask_for(self, asking: Iterable[Asking], made: Iterable[Document]) -> None:
        """The workloads of something that has `made` these. All replicas belong to their job: which of them a
        workload stands for, its pods say."""
        replicas: dict[str, list[Document]] | None = None
        for each in asking:
            if each.replica:
                if replicas is None:
                    replicas = self._replicas(each.owner, made)
                each.workload["metadata"]["ownerReferences"] = [
                    *map(_reference, replicas.get(each.replica, ()))
                ]
            self._priorities.fill_in(each.workload)
            self.documents.append(each.workload)

    def _replicas(self, job: Reference, made: Iterable[Document]) -> dict[str, list[Document]]:
        """The pods of each replica, and the group that they are in."""
        label = next(each.replica_label for each in self._kinds if each.kind == job.kind)
        groups = {Reference.read(each).key: each for each in made if each.get("kind") == "PodGroup"}
        found: dict[str, list[Document]] = {}
        for pod in (each for each in made if each.get("kind") == "Pod" and job in self._owners.chain(each)):
            part = found.setdefault(str(pod["metadata"].get("labels", {}).get(label)), [])
            group = groups.pop(group_key(pod), None)
            part += [pod] if group is None else [pod, group]
        return found


def _reference(owner: Document) -> Document:
    meta = owner["metadata"]
    return {
        "apiVersion": owner.get("apiVersion"),
        "kind": owner.get("kind"),
        "name": meta.get("name"),
        "uid": meta.get("uid") or "",
    }
