"""Documents in which changes can be tried: the originals stay as they are, and unchanged ones are shared."""

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from reprieve.cluster import MOST_LEVELS
from reprieve.objects import Document, Reference, group_key, kind_key, well_known

_QUOTA_KINDS = ("Workload", "ClusterQueue", "LocalQueue")


class Draft:
    """A copy of a cluster's documents, made document by document when one is changed."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = {_place(document): document for document in documents}
        self._own: set[int] = set()
        self._members: dict[str, list[str]] = {}
        """The pods of each group that was asked for; no change moves a pod from one group to another."""

    def fork(self) -> "Draft":
        """Another copy, with the changes made so far."""
        twin = Draft(())
        twin._documents = dict(self._documents)
        twin._members = dict(self._members)
        return twin

    @property
    def by_place(self) -> dict[tuple[str, str], Document]:
        """By kind and key; do not change it."""
        return self._documents

    @property
    def documents(self) -> list[Document]:
        return list(self._documents.values())

    def find(self, kind: str, key: str) -> Document | None:
        return self._documents.get((kind, key))

    def of_kind(self, kind: str) -> Iterator[Document]:
        return (document for (each, _), document in list(self._documents.items()) if each == kind)

    def edit(self, kind: str, key: str) -> Document:
        """The document, ready to be changed; an empty one where there is none."""
        place = (kind, key)
        if place not in self._documents:
            self._members.clear()
        found = self._documents.get(place) or _blank(kind, key)
        if id(found) not in self._own:
            found = copy.deepcopy(found)
            self._own.add(id(found))
            self._documents[place] = found
        return found

    def add(self, document: Document) -> None:
        self._own.add(id(document))
        self._documents[_place(document)] = document
        self._members.clear()

    def remove(self, kind: str, key: str) -> None:
        self._documents.pop((kind, key), None)
        self._members.clear()

    def pod_specs(self, unit: Reference) -> list[dict[str, Any]]:
        """The pod specs of a unit, ready to be changed: of its waiting pods, or of a workload's pod sets."""
        if unit.kind == "Workload":
            pod_sets = self.edit("Workload", unit.key).setdefault("spec", {}).setdefault("podSets", [])
            return [each.setdefault("template", {}).setdefault("spec", {}) for each in pod_sets]
        return [self.edit("Pod", key).setdefault("spec", {}) for key in self.waiting(unit)]

    def waiting(self, unit: Reference) -> list[str]:
        """The pods of a unit that have no node."""
        return [key for key in self.members(unit) if not (self._spec(key)).get("nodeName")]

    def members(self, unit: Reference) -> list[str]:
        """All pods of a unit that have not ended."""
        if unit.kind == "Pod":
            return [unit.key]
        name = str(unit)
        if name not in self._members:
            groups = {unit.key}
            if unit.kind == "CompositePodGroup":
                groups = {each.key for each in self.below(unit.key) if each.kind == "PodGroup"}
            self._members[name] = [
                Reference.read(pod).key
                for pod in self.of_kind("Pod")
                if group_key(pod) in groups
                and (pod.get("status") or {}).get("phase") not in well_known.TERMINAL_PHASES
            ]
        return self._members[name]

    def children(self, composite: str) -> list[Reference]:
        """The groups right below a composite group."""
        namespace, _, name = composite.rpartition("/")
        found = []
        for kind in ("PodGroup", "CompositePodGroup"):
            for document in self.of_kind(kind):
                child = Reference.read(document)
                parent = (document.get("spec") or {}).get("parentCompositePodGroupName")
                if child.namespace == namespace and parent == name:
                    found.append(child)
        return found

    def below(self, composite: str) -> list[Reference]:
        """All groups below a composite group, level by level, as far down as a tree goes."""
        found, level = list[Reference](), [composite]
        for _ in range(MOST_LEVELS - 1):
            new = [each for key in level for each in self.children(key) if each not in found]
            found += new
            level = [each.key for each in new if each.kind == "CompositePodGroup"]
        return found

    def _spec(self, key: str) -> dict[str, Any]:
        return (self.find("Pod", key) or {}).get("spec") or {}


def _place(document: Document) -> tuple[str, str]:
    """Kind and key. Of two kinds with one name (Workload), the one that is not about quota has its group."""
    group, kind = kind_key(document)
    if kind in _QUOTA_KINDS and group != well_known.KUEUE_API:
        kind = f"{kind}.{group}"
    return kind, Reference.read(document).key


def _blank(kind: str, key: str) -> Document:
    reference = Reference.of(kind, key)
    metadata = {"name": reference.name}
    if reference.namespace:
        metadata["namespace"] = reference.namespace
    return {"apiVersion": _API_VERSIONS.get(kind, "v1"), "kind": kind, "metadata": metadata}


_API_VERSIONS = {
    "PodGroup": "scheduling.k8s.io/v1beta1",
    "CompositePodGroup": "scheduling.k8s.io/v1alpha3",
    "PriorityClass": "scheduling.k8s.io/v1",
    **dict.fromkeys(
        (*_QUOTA_KINDS, "Cohort", "ResourceFlavor", "AdmissionCheck", "WorkloadPriorityClass"),
        f"{well_known.KUEUE_API}/v1beta2",
    ),
}
