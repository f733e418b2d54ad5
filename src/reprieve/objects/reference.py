"""The name of one object: `KIND/NAMESPACE/NAME`, or `KIND/NAME` for a kind without namespaces.

The only place that takes such a name apart or puts one together. On the wire, in plans and in records it is
the string.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from reprieve.objects import well_known
from reprieve.objects.errors import ReprieveError
from reprieve.objects.kinds import TABLE
from reprieve.objects.meta import Object
from reprieve.objects.structure import nearest

DEFAULT_NAMESPACE = "default"
EXAMPLE = "PodGroup/ml/train"

_CLUSTER_SCOPED = frozenset(kind for (_, kind), entry in TABLE.items() if not entry.namespaced)
_TYPED = (
    ("", "Pod"),
    (well_known.SCHEDULING_API, "PodGroup"),
    (well_known.SCHEDULING_API, "CompositePodGroup"),
    (well_known.KUEUE_API, "Workload"),
    (well_known.KUEUE_API, "ClusterQueue"),
    (well_known.KUEUE_API, "LocalQueue"),
    ("", "Node"),
    *(("batch", kind) for kind in ("Job", "CronJob")),
    *(("apps", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")),
)
"""What a person may ask about, in the order in which it is offered."""
_OURS = {"PodGroup": ("pg",), "CompositePodGroup": ("cpg",)}
"""Short names that no server has, and that we take."""
_WORDS = {
    key[1]: (key[1].lower(), TABLE[key].plural, *TABLE[key].short_names, *_OURS.get(key[1], ()))
    for key in _TYPED
}
"""What people may type for a kind, in any case: its name, its plural and its short names, as for kubectl."""
_KIND_OF = {word: kind for kind, words in _WORDS.items() for word in words}


class Reference(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """One object by name. With a UID it means that very object; without one, whichever has the name.

    Two references are equal only if their UIDs are: dictionaries by unit hold references without one.
    """

    kind: str
    namespace: str
    """Empty for kinds without namespaces."""
    name: str
    uid: str = ""

    @classmethod
    def parse(
        cls, text: str, kinds: Iterable[str] = tuple(_WORDS), others: Mapping[str, str] | None = None
    ) -> "Reference":
        """What a person wrote. `kinds`: those that make sense here. `others`: words for kinds of others."""
        word, *names = text.strip("/").split("/")
        words = {**(others or {}), **_KIND_OF}
        kind, allowed = words.get(word.lower(), ""), tuple(kinds)
        if problem := _problem(word, kind, names, allowed, words):
            raise ReprieveError(f"{text!r}: {problem}")
        namespace = names[0] if len(names) == 2 else DEFAULT_NAMESPACE
        return cls(kind, "" if kind in _CLUSTER_SCOPED else namespace, names[-1])

    @classmethod
    def words(cls) -> dict[str, tuple[str, ...]]:
        """What people may type for each kind; the first is its usual name."""
        return dict(_WORDS)

    @classmethod
    def of(cls, kind: str, key: str, uid: str = "") -> "Reference":
        """The object of this kind with this key."""
        return cls(kind, *split_key(key), uid)

    @classmethod
    def to(cls, view: Object) -> "Reference":
        """This very object."""
        meta = view.metadata
        return cls(type(view).__name__, meta.namespace, meta.name, meta.uid)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Reference":
        """A raw object, or a raw reference to one as events carry it; without a UID."""
        meta = document.get("metadata") or document
        kind = str(document.get("kind") or "")
        namespace = "" if kind in _CLUSTER_SCOPED else str(meta.get("namespace") or DEFAULT_NAMESPACE)
        return cls(kind, namespace, str(meta.get("name") or ""))

    @property
    def key(self) -> str:
        """`NAMESPACE/NAME`, or the bare name: unique among objects of its kind."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.kind}/{self.key}"


def split_key(key: str) -> tuple[str, str]:
    """Namespace and name of a key; the namespace is empty for kinds without one."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


def _problem(
    word: str, kind: str, names: list[str], allowed: tuple[str, ...], words: Mapping[str, str]
) -> str:
    form = f"expected KIND/NAMESPACE/NAME, for instance {EXAMPLE}"
    kinds = f"{form}, with KIND one of {', '.join(allowed)}"
    if not kind:
        meant = nearest(word.lower(), words) if names else ""  # else it is a name, and the kind was left out
        return f"{word!r} is no kind known here{meant or f'; {kinds}'}"
    if kind not in allowed:
        return f"{kind!r} is no kind for this; {kinds}"
    if not names or not all(names):
        return f"the name is missing; {form}"
    return f"{len(names) + 1} parts are too many; {form}" if len(names) > 2 else ""
