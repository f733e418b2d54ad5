"""Documents that were given and are not used, and fields that nobody reads: what people should hear about.

Whoever answers a question says which kinds it reads; everything else is named, with the reason.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from reprieve.objects import schemas
from reprieve.objects.documents import Source, document_of, taken_apart
from reprieve.objects.kinds import group_version, kind_key
from reprieve.objects.meta import Document
from reprieve.objects.normalise import respell
from reprieve.objects.recognition import schema_of, unrecognised
from reprieve.objects.structure import Problem
from reprieve.objects.text import counted
from reprieve.objects.validation.fields import UNKNOWN_FIELD, field_problems
from reprieve.objects.validation.queues import almost_queued
from reprieve.objects.validation.resources import part_bytes

Key = tuple[str, str]
_MAKE_PODS = frozenset(
    {
        ("", "ReplicationController"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("apps", "DaemonSet"),
        ("batch", "Job"),
        ("batch", "CronJob"),
    }
)


class Ignored(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Documents of one kind that an answer does not use."""

    api_version: str
    kind: str
    count: int
    why: str = ""
    """Empty: the kind is none of the answer's business."""

    def __str__(self) -> str:
        document = {"apiVersion": self.api_version, "kind": self.kind}
        of = f" of {self.api_version}" if _is_of_others(document) else ""
        return f"{counted(self.count, self.kind)}{of}{f' ({self.why})' if self.why else ''}"


def given(objects: Iterable[Document | Source]) -> list[Source]:
    """What somebody submitted, taken apart. On top of a cluster's objects that is what comes from files."""
    everything = list(objects)
    stated = [each for each in everything if isinstance(each, Source)] or [
        Source("objects", str(number), document_of(each)) for number, each in enumerate(everything, 1)
    ]
    parts = (part for each in stated for part in taken_apart(each.file, each.number, each.document))
    return [part for part in parts if isinstance(part, Source)]


def ignored(sources: Iterable[Source], used: Collection[Key], instead: str) -> tuple[Ignored, ...]:
    """Kinds that are not among `used`; `instead`: what to give in place of something that makes pods."""
    counts: dict[tuple[str, str], int] = {}
    for source in sources:
        if kind_key(source.document) not in used:
            key = (str(source.document.get("apiVersion")), str(source.document.get("kind")))
            counts[key] = counts.get(key, 0) + 1
    return tuple(
        Ignored(api_version=api_version, kind=kind, count=count, why=_why(api_version, kind, instead))
        for (api_version, kind), count in counts.items()
    )


def _why(api_version: str, kind: str, instead: str) -> str:
    document = {"apiVersion": api_version, "kind": kind}
    key, version = kind_key(document), group_version(document)[1]
    if key in _MAKE_PODS:
        return instead
    if schemas.builtin_schema(key[0], version, key[1]) is not None:
        return ""
    problem, mistake = unrecognised(document)
    return problem.message if mistake else ""


def doubts(sources: Iterable[Source]) -> list[str]:
    """What a server takes and hardly anybody means, with its places."""
    return [
        f"{each.where}: {problem}"
        for each in sources
        for problem in (*part_bytes(each.document), *almost_queued(each.document))
    ]


def _is_of_others(document: Document) -> bool:
    """Whether another project has the kind: only with the group it is clear what is meant."""
    return schema_of(document, {}) is None and not unrecognised(document).mistake


def ignored_sentence(found: Sequence[Ignored]) -> str:
    """`ignored: 2 ConfigMaps; 1 Pdo (there is no kind 'Pdo' in v1; did you mean 'Pod'?)`"""
    return f"ignored: {'; '.join(map(str, found))}"


def unknown_fields(sources: Iterable[Source]) -> list[str]:
    """Fields that no API server knows, with their places. What a server has stored is not looked at: it would
    have dropped them."""
    found: list[str] = []
    for source in sources:
        metadata = source.document.get("metadata")
        if not isinstance(metadata, dict) or metadata.get("uid"):
            continue
        schema = schema_of(source.document, {})
        if schema is None or not schemas.unknown_fields(source.document, schema):
            continue  # the quick answer for most; what it finds may still be an older spelling
        problems = field_problems(respell(source.document), schema)
        found += [f"{source.where}: {each}" for each in problems if each.message.startswith(UNKNOWN_FIELD)]
    return found


def unknown_pod_fields(spec: Document, path: str) -> list[Problem]:
    """The same for the spec of a pod that stands at `path` of something else."""
    pod: Document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}
    schema = schema_of(pod, {})
    assert schema is not None
    found = field_problems(pod, schema) if schemas.unknown_fields(pod, schema) else []
    return [
        each._replace(path=path + each.path.removeprefix("spec"))
        for each in found
        if each.message.startswith(UNKNOWN_FIELD)
    ]
