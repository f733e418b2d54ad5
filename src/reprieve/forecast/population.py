"""All documents of a question: what was given, pods of jobs that have none yet, workloads they need."""

from collections.abc import Iterable, Sequence

from reprieve.admission import WorkloadPriorities
from reprieve.forecast import sentences
from reprieve.forecast.reading import WORKLOAD, Owners
from reprieve.jobs import (
    Expansion,
    JobKinds,
    asking_groups,
    asking_jobs,
    asking_pods,
    ending,
    expand,
    one_run,
    queue_of,
)
from reprieve.objects import (
    Document,
    InvalidObject,
    Pod,
    PodGroup,
    Reference,
    Source,
    decode_as,
    document_of,
    group_key,
    kind_key,
    well_known,
)

_PODS, _GROUPS = ("", "Pod"), (well_known.SCHEDULING_API, "PodGroup")
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
        raw = [*map(document_of, objects)]
        self._owners = Owners(raw, kinds)
        self._priorities = WorkloadPriorities.read(raw)
        self._taken = {Reference.read(each) for each in raw if each.get("kind") in ("Pod", "PodGroup")}
        self.has_queues = any(kind_key(each) == _QUEUES for each in raw)
        with_pods = {ref for each in raw if each.get("kind") == "Pod" for ref in self._owners.chain(each)}
        with_workload = {ref for each in raw if kind_key(each) == WORKLOAD for ref in self._represented(each)}
        for each, document in zip(objects, raw, strict=True):
            ref = Reference.read(document)
            if self._is_new(document, ref):
                self._add(each, ref, raw, has_pods=ref in with_pods, has_workload=ref in with_workload)

        if self.has_queues:
            self._add_pods(raw, with_workload)

    def _represented(self, workload: Document) -> list[Reference]:
        """What a workload stands for: a group of pods is named pod by pod, and none of them controls it."""
        namespace = Reference.read(workload).namespace
        owners = (workload.get("metadata") or {}).get("ownerReferences") or ()
        named = (Reference(str(each.get("kind")), namespace, str(each.get("name"))) for each in owners)
        return [*self._owners.chain(workload), *named]

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
        queue = queue_of(one_run(document, self._kinds) or document)
        asks = self.has_queues and bool(queue) and not has_workload
        try:
            if has_pods:
                if asks and not _in_parts(document, self._kinds):
                    self._ask(document, None, raw)
                return
            expansion = expand(document, self._kinds, raw)
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
            if asks:
                self._ask(document, expansion, raw)
            for name, pods in expansion.pods.items() if asks or has_workload else ():
                for pod in pods:
                    pod["metadata"]["labels"][well_known.POD_SET_LABEL] = name
            self.documents += expansion.documents
        except InvalidObject as error:
            if isinstance(each, Source) or ref in self._wanted:
                where = each.where if isinstance(each, Source) else error.where
                raise InvalidObject(error.path, error.value, error.message, where) from error
            self.notes.append(sentences.left_out(ref, str(error)))

    def _ask(self, document: Document, expansion: Expansion | None, raw: Sequence[Document]) -> None:
        """The workloads of a job, of each of its pods or of each of its replicas, as its kind asks."""
        parts = _parts(document, expansion, self._kinds)
        for number, each in enumerate(asking_jobs(document, self._kinds, raw)):
            self._link(each.workload, parts[number] if parts else [document])

    def _link(self, workload: Document, owners: Iterable[Document]) -> None:
        workload["metadata"]["ownerReferences"] = [*map(_reference, owners)]
        self._priorities.fill_in(workload)
        self.documents.append(workload)

    def _add_pods(self, raw: Iterable[Document], with_workload: set[Reference]) -> None:
        """Pods and groups that name a queue themselves, and that nobody has made a workload for."""
        kinds = (_PODS, _GROUPS)
        new = [(kind, each) for each in raw if (kind := kind_key(each)) in kinds]
        new = [
            (kind, each)
            for kind, each in new
            if with_workload.isdisjoint((Reference.read(each), *self._owners.chain(each)))
        ]
        pods = [each for kind, each in new if kind == _PODS]
        groups = {Reference.read(each).key: each for kind, each in new if kind == _GROUPS and queue_of(each)}
        members = [decode_as(each, Pod) for each in pods if group_key(each) in groups]
        for each in asking_groups([decode_as(group, PodGroup) for group in groups.values()], members):
            self._link(each.workload, [groups[each.who.removeprefix("PodGroup/")]])
        crews: dict[tuple[str, str], list[Document]] = {}
        for pod in filter(queue_of, pods):
            ref, labels = Reference.read(pod), pod["metadata"]["labels"]
            together = labels.get(well_known.POD_GROUP_NAME_LABEL) or f"Pod/{ref.name}"
            crews.setdefault((ref.namespace, together), []).append(pod)
        for crew in crews.values():
            asking, notes = asking_pods([decode_as(pod, Pod) for pod in crew], self._kinds)
            self.notes += notes
            for each in asking:
                self._link(each.workload, crew)


def _in_parts(document: Document, kinds: JobKinds) -> bool:
    kind = kinds.find(document)
    return kind is not None and kind.asks in ("pod", "replica")


def _parts(document: Document, expansion: Expansion | None, kinds: JobKinds) -> list[list[Document]]:
    """What each workload of such a job stands for, in order; nothing for a job that asks as a whole."""
    if expansion is None or not _in_parts(document, kinds):
        return []
    kind = kinds.find(document)
    assert kind is not None
    pods = [pod for each in expansion.pods.values() for pod in each]
    if kind.asks == "pod":
        return [[pod] for pod in pods]
    groups = {Reference.read(each).key: each for each in expansion.groups}
    found: dict[str, list[Document]] = {}
    for pod in pods:
        part = found.setdefault(pod["metadata"]["labels"][kind.replica_label], [])
        group = groups.pop(group_key(pod), None)
        part += [pod] if group is None else [pod, group]
    return [*found.values()]


def _reference(job: Document) -> Document:
    meta = job.get("metadata") or {}
    return {
        "apiVersion": job.get("apiVersion"),
        "kind": job.get("kind"),
        "name": meta.get("name"),
        "uid": meta.get("uid") or "",
        "controller": True,
    }
