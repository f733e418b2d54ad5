"""What the server serves: one `ResourceInfo` for each resource and version, looked up by path or by kind.

Built-in resources come from `reprieve.server.resources`, others from CustomResourceDefinitions while the
server runs. All versions of a resource are stored as one, under its storage key; on the way out they differ
in `apiVersion`, on the way in `reprieve.objects.normalise` brings older spellings to the storage version.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from reprieve.objects import Document, dns_subdomain
from reprieve.server.errors import Cause

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Subresource(NamedTuple):
    """What a subresource takes and answers with; no kind: that of the resource itself."""

    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""
    kind: str = ""


SUBRESOURCES = {
    "status": Subresource(("get", "patch", "update")),
    "scale": Subresource(("get", "patch", "update"), "autoscaling", "v1", "Scale"),
    "binding": Subresource(("create",), "", "v1", "Binding"),
    "eviction": Subresource(("create",), "policy", "v1", "Eviction"),
    "finalize": Subresource(("update",)),
    "resize": Subresource(("get", "patch", "update")),
    "token": Subresource(("create",), "authentication.k8s.io", "v1", "TokenRequest"),
}


class Scene(NamedTuple):
    """What completing a new object asks about."""

    find: Callable[[str, str], Document | None]
    """A cluster-wide object by storage key and name."""
    limits: list[list[Document]]
    """Of the namespace, by LimitRange."""


class PrinterColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One column of `kubectl get`, as a CustomResourceDefinition declares it."""

    name: str
    type: str = "string"
    json_path: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0


class ScalePaths(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the scale subresource finds its numbers."""

    spec_replicas_path: str = ".spec.replicas"
    status_replicas_path: str = ".status.replicas"
    label_selector_path: str = ""


class ResourceInfo(msgspec.Struct, kw_only=True, eq=False):
    """One resource in one served version.

    `subresources` holds the names of those that exist. The hooks say what happens to a document on its way
    in, of a built-in kind (`resources`) as of a custom one (`custom_resources.definitions`): `prune(doc)`,
    `default(doc)` and, for a new object, `complete(doc, scene)` change it in place, `validate(new, old)`
    returns what is wrong, `unknown(doc)` lists the paths of fields the schema does not know.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: frozenset[str] = frozenset()
    storage_version: str = ""
    """The version objects are stored in; the same as `version` unless the resource has several."""
    has_generation: bool = False
    """Whether `metadata.generation` counts changes of the spec (always so for custom resources)."""
    custom: bool = False
    schema: Document | None = None
    """`openAPIV3Schema` of a custom resource version."""
    printer_columns: tuple[PrinterColumn, ...] = ()
    scale_paths: ScalePaths | None = None
    selectable: tuple[str, ...] = ()
    """Paths for field selectors, beside name and namespace."""
    twin: "ResourceInfo | None" = None
    """A resource of another group with the same objects; only top-level fields differ in name (`renames`)."""
    renames: dict[str, str] = {}
    """Field of this resource -> field of its twin."""
    downgrade: Callable[[Document], Document] | None = None
    """How what is stored is shown, where more than `apiVersion` differs: by an older version, or by a schema
    whose defaults may be newer than the object."""
    unconditional_update: bool = True
    """Whether a PUT may leave `resourceVersion` out, or say 0, and so overwrite whatever is stored."""
    create_on_update: bool = False
    """Whether a PUT creates what is not there."""
    returns_deleted: bool = False
    """Whether a DELETE answers with the object that it removed, not with a Status."""
    has_pods: bool = False
    """Whether its objects are pods, or have templates of pods: they may have fewer fields than others."""
    keeps_status: bool = False
    """Whether a new object has the status that it states, or that its defaults write."""
    often_written: bool = False
    """Whether a spec or status that is as stored is not checked again."""
    judged_by_spec: bool = False
    """Whether the rules are about the spec alone, so that a change of anything else is not judged."""
    limited: bool = False
    """Whether a LimitRange has a say when an object changes, too."""
    fixed_generation: bool = False
    """Whether the generation stays what it was at first."""
    counts_annotations: bool = False
    """Whether the generation grows with the annotations, too."""
    name_problem: Callable[[str], str | None] = dns_subdomain
    """What is wrong with a name."""
    inert: str = ""
    """Why nothing comes of an object of this kind here; a warning for everybody who creates one."""
    api_version: str = ""
    storage_api_version: str = ""
    storage_key: str = ""
    """`pods`, `jobs.batch`: the name all versions are stored under. These three follow from the rest."""
    prune: Callable[[Document], None] | None = None
    default: Callable[[Document], None] | None = None
    complete: "Callable[[Document, Scene], None] | None" = None
    validate: Callable[[Document, Document | None], list[Cause]] | None = None
    unknown: Callable[[Document], list[str]] | None = None

    def __post_init__(self) -> None:
        self.singular = self.singular or self.kind.lower()
        self.list_kind = self.list_kind or self.kind + "List"
        self.storage_version = self.storage_version or self.version
        self.api_version = _api_version(self.group, self.version)
        if self.twin is not None:
            self.storage_key = self.twin.storage_key
            self.storage_api_version = self.twin.api_version
        else:
            self.storage_key = f"{self.plural}.{self.group}" if self.group else self.plural
            self.storage_api_version = _api_version(self.group, self.storage_version)

    @property
    def converts(self) -> bool:
        """Whether an object differs from its stored form."""
        return self.version != self.storage_version or self.twin is not None or self.downgrade is not None

    def to_storage(self, document: Document) -> Document:
        """The document under the names it is stored with."""
        return (
            {self.renames.get(key, key): value for key, value in document.items()} if self.twin else document
        )

    def from_storage(self, document: Document) -> Document:
        """A stored document as this resource shows it."""
        if self.twin is not None:
            names = {there: here for here, there in self.renames.items()}
            document = {names.get(key, key): value for key, value in document.items()}
        document["apiVersion"] = self.api_version
        return self.downgrade(document) if self.downgrade is not None else document

    @property
    def has_status(self) -> bool:
        return "status" in self.subresources

    def __repr__(self) -> str:
        return f"<{self.storage_key}/{self.version}>"


class Registry:
    """The table of served resources. Order of versions: preferred first."""

    def __init__(self, resources: Iterable[ResourceInfo] = ()) -> None:
        self._by_path: dict[tuple[str, str, str], ResourceInfo] = {}
        self._by_kind: dict[tuple[str, str], ResourceInfo] = {}
        self._versions: dict[str, list[str]] = {}
        self.generation = 0
        """Grows with every change, so that discovery and OpenAPI documents can be cached."""
        for resource in resources:
            self.add(resource)

    def add(self, resource: ResourceInfo) -> None:
        self._by_path[resource.group, resource.version, resource.plural] = resource
        self._by_kind[resource.api_version, resource.kind] = resource
        versions = self._versions.setdefault(resource.group, [])
        if resource.version not in versions:
            versions.append(resource.version)
            versions.sort(key=_version_priority)
        self.generation += 1

    def remove(self, resource: ResourceInfo) -> None:
        self._by_path.pop((resource.group, resource.version, resource.plural), None)
        self._by_kind.pop((resource.api_version, resource.kind), None)
        if not any(r.version == resource.version for r in self if r.group == resource.group):
            self._versions[resource.group].remove(resource.version)
            if not self._versions[resource.group]:
                del self._versions[resource.group]
        self.generation += 1

    def find(self, group: str, version: str, plural: str) -> ResourceInfo | None:
        return self._by_path.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> ResourceInfo | None:
        return self._by_kind.get((api_version, kind))

    def by_storage_key(self, key: str) -> ResourceInfo | None:
        """The storage version of a resource, for instance of `jobs.batch`."""
        plural, _, group = key.partition(".")
        for version in self._versions.get(group, ()):
            resource = self._by_path.get((group, version, plural))
            if resource is not None:
                return self._by_path.get((group, resource.storage_version, plural), resource)
        return None

    def groups(self) -> list[str]:
        """All groups but the core one, in the order they came."""
        return [group for group in self._versions if group]

    def versions(self, group: str) -> list[str]:
        return self._versions.get(group, [])

    def in_version(self, group: str, version: str) -> list[ResourceInfo]:
        return [r for r in self if r.group == group and r.version == version]

    def __iter__(self) -> Iterator[ResourceInfo]:
        return iter(list(self._by_path.values()))


def _api_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _version_priority(version: str) -> tuple[int, int, int, str]:
    """Kubernetes' order: v2 < v1 < v2beta1 < v1beta2 < v1beta1 < v1alpha1 < anything else."""
    stage = {"": 0, "beta": 1, "alpha": 2}
    digits = ""
    rest = version[1:]
    while rest and rest[0].isdigit():
        digits, rest = digits + rest[0], rest[1:]
    name = rest.rstrip("0123456789")
    minor = rest[len(name) :]
    if not version.startswith("v") or not digits or name not in stage or (name and not minor):
        return (3, 0, 0, version)
    return (stage[name], -int(digits), -int(minor or 0), version)
