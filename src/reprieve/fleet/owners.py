"""What a workload stands for: a job of any kind, a gang, or only itself; and whether a worker can have it.

A job that can be suspended travels as one object, a gang as its PodGroup and its pods, a pod by itself. What
cannot be suspended (a StatefulSet, a replica of a LeaderWorkerSet) is held by its pods, and these travel. On
the worker everything keeps its name. A copy notes in an annotation what it stands for, so that whoever
withdraws it finds the rest.
"""

from typing import Final, NamedTuple

from reprieve.fleet import sentences
from reprieve.jobs import JobKinds
from reprieve.objects import Document, group_key, kind_key, split_key, well_known

Key = tuple[str, str]
"""(group, kind), whatever the version."""

POD: Final = ("", "Pod")
POD_GROUP: Final = (well_known.SCHEDULING_API, "PodGroup")
_LEADERS: Final = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
_SET_LABEL: Final = "leaderworkerset.sigs.k8s.io/name"
_REPLICA_LABEL: Final = "leaderworkerset.sigs.k8s.io/group-index"
"""Of a job that asks for quota replica by replica: which one a pod is in."""
_NOT_CONTROLLING: Final = (POD, ("apps", "StatefulSet"), _LEADERS)
"""What owns its workload and does not control it: pods that ask, and what makes them."""


class Owner(NamedTuple):
    key: Key
    name: str

    def __str__(self) -> str:
        group, kind = self.key
        return f"{kind}.{group}/{self.name}" if group else f"{kind}/{self.name}"

    def travels_as(self, kinds: JobKinds) -> tuple[Key, ...]:
        """Kinds of the objects that travel; what pods belong to comes before them."""
        if self.key == POD_GROUP:
            return (POD_GROUP, POD)
        kind = kinds.find(typed(self.key))
        return (self.key,) if kind is not None and kind.suspend else (POD,)


def typed(key: Key) -> Document:
    """A document of this kind, as far as a table of kinds looks at it."""
    return {"apiVersion": f"{key[0]}/v1" if key[0] else "v1", "kind": key[1]}


def carried_kinds(kinds: JobKinds) -> frozenset[Key]:
    """The fleet can carry the owners of these kinds: jobs, gangs and pods."""
    return frozenset((POD, POD_GROUP, *((each.group, each.kind) for each in kinds)))


DEFAULT_KINDS: Final = carried_kinds(JobKinds())


def owner_of(workload: Document) -> Owner | None:
    """What the manager's workload stands for. A group of pods without a PodGroup owns it pod by pod."""
    for reference in _references(workload):
        if reference.get("controller") or kind_key(reference) in _NOT_CONTROLLING:
            return Owner(kind_key(reference), str(reference.get("name", "")))
    return None


def owner_keys(workload: Document) -> list[Owner]:
    """All owners of a workload by which a pod may know that it belongs to it."""
    found = owner_of(workload)
    replica = _annotations(workload).get(well_known.COMPONENT_INDEX_ANNOTATION)
    if found is not None and replica is not None:
        return [Owner(_LEADERS, f"{found.name}/{replica}")]
    pods = (each for each in _references(workload) if kind_key(each) == POD)
    listed = [Owner(POD, str(each.get("name", ""))) for each in pods]
    return listed if found is None or found.key == POD else [found, *listed]


def claims_of(pod: Document) -> list[Owner]:
    """What a pod belongs to: itself, its replica, its PodGroup, its controller."""
    metadata = pod.get("metadata") or {}
    found = [Owner(POD, str(metadata.get("name", "")))]
    labels = metadata.get("labels") or {}
    if _REPLICA_LABEL in labels and _SET_LABEL in labels:
        found.append(Owner(_LEADERS, f"{labels[_SET_LABEL]}/{labels[_REPLICA_LABEL]}"))
    if group := group_key(pod):
        found.append(Owner(POD_GROUP, split_key(group)[1]))
    return [
        *found,
        *(
            Owner(kind_key(each), str(each.get("name", "")))
            for each in _references(pod)
            if each.get("controller")
        ),
    ]


def workloads_named_by(pod: Document) -> list[str]:
    """Names of workloads that the labels of a pod may mean: pods of one group ask together, or by replica."""
    labels = (pod.get("metadata") or {}).get("labels") or {}
    name, replica = labels.get(well_known.POD_GROUP_NAME_LABEL), labels.get(_REPLICA_LABEL)
    if not name:
        return []
    return [str(name)] if replica is None else [str(name), f"{name}-{replica}"]


def owner_of_copy(copy: Document) -> Owner | None:
    """What the manager noted on the copy; copies of a manager that noted nothing are owned by their job."""
    noted = _annotations(copy).get(well_known.FLEET_OWNER_ANNOTATION)
    if not noted:
        return owner_of(copy)
    kind, _, name = str(noted).partition("/")
    return Owner((kind.partition(".")[2], kind.partition(".")[0]), name)


def why_not(workload: Document, owner: Document | None, kinds: frozenset[Key]) -> str:
    """Why the fleet cannot carry the workload's owner (its document, where it is known); empty if it can."""
    found = owner_of(workload)
    if found is None:
        return ""
    if found.key not in kinds:
        return sentences.no_adapter(found.key[1])
    parent = ((owner or {}).get("spec") or {}).get("parentCompositePodGroupName")
    if found.key == POD_GROUP and parent:
        return sentences.tree_cannot_be_sent(found.name, parent)
    return ""


def _references(document: Document) -> list[Document]:
    return list((document.get("metadata") or {}).get("ownerReferences") or ())


def _annotations(document: Document) -> Document:
    return dict((document.get("metadata") or {}).get("annotations") or {})
