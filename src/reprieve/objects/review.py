"""Everything that is wrong with a set of manifests: each object by itself, and all of them together.

A problem is something an API server would refuse. A warning is something that only the rest of the cluster
can answer (the object it refers to may be there already) or that does no harm but is hardly meant.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from reprieve.objects import well_known
from reprieve.objects.admission import Context, admit
from reprieve.objects.documents import Found, Source
from reprieve.objects.errors import UnreadableInput
from reprieve.objects.kinds import KINDS, kind_key
from reprieve.objects.meta import Document
from reprieve.objects.normalise import normalise, respell
from reprieve.objects.priorities import PriorityClasses, priority_class_of
from reprieve.objects.recognition import Custom, custom_schemas, is_namespaced, schema_of, unrecognised
from reprieve.objects.schemas import SchemaNode
from reprieve.objects.structure import DUPLICATE, REQUIRED, Problem, nearest
from reprieve.objects.templates import from_template
from reprieve.objects.text import shown
from reprieve.objects.validation.builtin import builtin_problems
from reprieve.objects.validation.checks import At
from reprieve.objects.validation.fields import field_problems
from reprieve.objects.validation.queues import almost_queued
from reprieve.objects.validation.resources import part_bytes
from reprieve.objects.validation.shared import metadata

_KUEUE, _SCHEDULING = well_known.KUEUE_API, well_known.SCHEDULING_API
Key = tuple[str, str]

LONGEST_CYCLE = 20
"""How many cohorts of a cycle a problem names."""


class Finding(NamedTuple):
    """One line of the answer."""

    where: str
    problem: Problem
    warning: bool = False
    unchecked: bool = False
    """Nothing is known of the kind."""

    def __str__(self) -> str:
        return f"{self.where}: {'warning: ' if self.warning else ''}{self.problem}"

    def to_dict(self) -> dict[str, Any]:
        file, _, document = self.where.rpartition(":")
        if not file:
            file, document = document, ""
        value = self.problem.value
        plain = value if isinstance(value, str | int | float | bool | None) else shown(value)
        return {
            "file": file,
            "document": document,
            "path": self.problem.path,
            "value": plain,
            "message": self.problem.message,
        }


Rules = Callable[[Document], list[Problem]]
Inside = Callable[[Document], list[Problem] | None]
"""None: nothing in the document can be judged."""


def review(found: Iterable[Found], context: Context, inside: Inside | None = None) -> list[Finding]:
    """All findings, in the order of the documents. `inside` judges what can be judged of kinds of others."""
    everything = list(found)
    position = {each.where: index for index, each in reversed(list(enumerate(everything)))}
    findings = [
        Finding(each.where, Problem("", None, each.message))
        for each in everything
        if isinstance(each, UnreadableInput)
    ]
    findings += _review([each for each in everything if isinstance(each, Source)], context, inside)
    return sorted(findings, key=lambda finding: position[finding.where])


def _review(sources: list[Source], context: Context, inside: Inside | None) -> Iterator[Finding]:
    known = _by_name(sources)
    stated = known.get((_SCHEDULING, "PriorityClass"), {}).values()
    classes = [priority_class_of(source.document) for source in stated]
    workloads = known.get((_SCHEDULING, "Workload"), {})
    context = context._replace(
        classes=PriorityClasses(classes, complete=context.classes.complete),
        workload=lambda *key: workloads[key].document if key in workloads else None,
    )
    custom = custom_schemas(source.document for source in sources)
    for source in sources:
        yield from _alone(source, context, custom, inside)
        document = source.document
        doubts = [*part_bytes(document), *almost_queued(document), *_for_nobody(document)]
        yield from (Finding(source.where, each, warning=True) for each in doubts)
    yield from _duplicates(sources)
    yield from _references(sources, known)
    yield from _cohort_cycles(known.get((_KUEUE, "Cohort"), {}))
    yield from _several_defaults(known.get((_SCHEDULING, "PriorityClass"), {}))


def _alone(source: Source, context: Context, custom: Custom, inside: Inside | None) -> Iterator[Finding]:
    document = At(source.document)
    missing = [name for name in ("apiVersion", "kind") if not document.field(name).text]
    for name in missing:
        yield Finding(source.where, document.field(name).problem("is required", REQUIRED))
    if missing:
        return
    schema = schema_of(source.document, custom)
    if _is_of_others(source.document, custom):
        parts = inside(source.document) if inside is not None else None
        problem, mistake = unrecognised(source.document, in_part=parts is not None)
        yield Finding(source.where, problem, warning=not mistake, unchecked=not mistake)
        yield from (Finding(source.where, problem) for problem in parts or ())
        return
    for problem in _problems(source.document, schema, context):
        yield Finding(source.where, problem)


def _for_nobody(document: Document) -> Iterator[Problem]:
    """A queue that no namespace may use: an empty selector means all of them, and none means none."""
    place = At(document).field("spec", "namespaceSelector")
    if kind_key(document) == (_KUEUE, "ClusterQueue") and not place.is_set:
        yield place.problem("is not set, so that no namespace may use the queue; {} lets all of them")


def _is_of_others(document: Document, custom: Custom) -> bool:
    """Whether nothing here knows the fields of its kind."""
    return schema_of(document, custom) is None and kind_key(document) not in KINDS


def pod_problems(spec: Document, path: str, context: Context) -> list[Problem]:
    """What an API server would say of a pod with this spec; `path` is where the spec stands."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}
    found = _problems(pod, schema_of(pod, {}), context)
    return [each._replace(path=path + each.path.removeprefix("spec")) for each in found]


def _problems(document: Document, schema: SchemaNode | None, context: Context) -> list[Problem]:
    """Rules explain better than fields: where both found something, only the rule's problem is kept."""
    admitted, problems = admit(document, context)
    problems += builtin_problems(admitted, None)
    if kind_key(document) not in KINDS:
        problems += metadata(At(admitted), namespaced=is_namespaced(document) is not False)
    if schema is not None:
        ruled = {problem.path for problem in problems}
        complete = from_template(document, context.workload)[0] if _is_group(document) else document
        fields = field_problems(respell(complete), schema)
        problems = [*(problem for problem in fields if problem.path not in ruled), *problems]
    wrong = {(each.path, each.message) for each in problems}
    return [
        each
        for index, each in enumerate(problems)
        if each not in problems[:index] and not _is_copied(each, document, wrong)
    ]


def _is_copied(problem: Problem, document: Document, wrong: set[tuple[str, str]]) -> bool:
    """Of a request that defaults took from the limit: the limit is what people wrote."""
    limit = problem.path.replace(".requests[", ".limits[")
    if limit == problem.path or (limit, problem.message) not in wrong:
        return False
    place: Any = document
    for name, index in re.findall(r"([^.\[\]]+)|\[([^\]]+)\]", problem.path):
        step = name or (int(index) if isinstance(place, list) else index)
        if isinstance(place, dict) and step not in place:
            return True
        place = place[step]
    return False


def _is_group(document: Document) -> bool:
    return kind_key(document) == (_SCHEDULING, "PodGroup")


def _identity(document: Document) -> tuple[str, str]:
    """(namespace, name); a namespaced object without one lives in `default`."""
    meta = At(document).field("metadata")
    namespace = "" if is_namespaced(document) is False else meta.field("namespace").text or "default"
    return namespace, meta.field("name").text


def _by_name(sources: Iterable[Source]) -> dict[Key, dict[tuple[str, str], Source]]:
    known: dict[Key, dict[tuple[str, str], Source]] = {}
    for source in sources:
        key = kind_key(source.document)
        if key in KINDS:
            known.setdefault(key, {}).setdefault(_identity(source.document), source)
    return known


def _duplicates(sources: Iterable[Source]) -> Iterator[Finding]:
    first: dict[tuple[Key, tuple[str, str]], str] = {}
    for source in sources:
        key, identity = kind_key(source.document), _identity(source.document)
        if not identity[1]:
            continue
        if (key, identity) in first:
            title = "/".join(part for part in (key[1], *identity) if part)
            message = f"{title} is already defined at {first[key, identity]}"
            yield Finding(source.where, Problem("metadata.name", identity[1], message, DUPLICATE))
        first.setdefault((key, identity), source.where)


def _references(
    sources: Iterable[Source], known: dict[Key, dict[tuple[str, str], Source]]
) -> Iterator[Finding]:
    """References to objects that are not among these manifests, unless there is none of their kind at all."""
    for source in sources:
        document = At(normalise(source.document))
        namespace = document.field("metadata", "namespace").text
        for place, key, home in _outgoing(document, namespace):
            if (
                place.text
                and key in known
                and (home, place.text) not in known[key]
                and place.text not in well_known.SYSTEM_CLASSES
            ):
                message = f"{key[1]} {place.text!r} is not among these manifests"
                meant = _misspelt(place.text, known[key]) if key[1] == "PriorityClass" else ""
                yield Finding(source.where, place.problem(message + meant), warning=not meant)


def _misspelt(name: str, known: Iterable[tuple[str, str]]) -> str:
    """What was meant, if one of these names is almost this one: a wrong class is a wrong priority."""
    names = [*(each for _, each in known), *well_known.SYSTEM_CLASSES]
    return nearest(name, difflib.get_close_matches(name, names, 1, 0.8))


def _outgoing(document: At, namespace: str) -> Iterator[tuple[At, Key, str]]:
    """(place of the name, kind it names, namespace of that object)."""
    spec, key = document.field("spec"), kind_key(document.value)
    queue = document.field("metadata", "labels").field(well_known.QUEUE_LABEL)
    yield (
        At(queue.value, f"metadata.labels[{well_known.QUEUE_LABEL}]"),
        (_KUEUE, "LocalQueue"),
        namespace or "default",
    )
    if key == ("", "Pod"):
        yield spec.field("schedulingGroup", "podGroupName"), (_SCHEDULING, "PodGroup"), namespace
        yield spec.field("priorityClassName"), (_SCHEDULING, "PriorityClass"), ""
        yield spec.field("nodeName"), ("", "Node"), ""
    elif key in ((_SCHEDULING, "PodGroup"), (_SCHEDULING, "CompositePodGroup")):
        parent = spec.field("parentCompositePodGroupName")
        yield parent, (_SCHEDULING, "CompositePodGroup"), namespace
        yield spec.field("workloadRef", "workloadName"), (_SCHEDULING, "Workload"), namespace
        for name in ("priorityClassName", "preemptionPriorityClassName"):
            yield spec.field(name), (_SCHEDULING, "PriorityClass"), ""
    elif key == (_SCHEDULING, "Workload"):
        for template in spec.field("podGroupTemplates").items():
            for name in ("priorityClassName", "preemptionPriorityClassName"):
                yield template.field(name), (_SCHEDULING, "PriorityClass"), ""
    elif key == (_KUEUE, "LocalQueue"):
        yield spec.field("clusterQueue"), (_KUEUE, "ClusterQueue"), ""
    elif key == (_KUEUE, "Workload"):
        yield spec.field("queueName"), (_KUEUE, "LocalQueue"), namespace
    elif key in ((_KUEUE, "ClusterQueue"), (_KUEUE, "Cohort")):
        for group in spec.field("resourceGroups").items():
            for flavor in group.field("flavors").items():
                yield flavor.field("name"), (_KUEUE, "ResourceFlavor"), ""
        for check in spec.field("admissionChecksStrategy", "admissionChecks").items():
            yield check.field("name"), (_KUEUE, "AdmissionCheck"), ""
    elif key == (_KUEUE, "MultiKueueConfig"):
        for cluster in spec.field("clusters").items():
            yield cluster, (_KUEUE, "MultiKueueCluster"), ""


def _cohort_cycles(cohorts: dict[tuple[str, str], Source]) -> Iterator[Finding]:
    parents = {
        name: At(each.document).field("spec", "parentName").text for (_, name), each in cohorts.items()
    }
    following = _cycles(parents)
    for (_, name), source in cohorts.items():
        if name in following and following[name] != name:
            place = At(source.document).field("spec", "parentName")
            yield Finding(source.where, place.problem(f"a cycle of cohorts: {_round(name, following)}"))


def _cycles(parents: dict[str, str]) -> dict[str, str]:
    """The members of all cycles, each with the next one. Every name is visited once."""
    following: dict[str, str] = {}
    visited: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        at = start
        while at in parents and at not in visited and at not in path:
            path[at] = None
            at = parents[at]
        if at in path:
            names = list(path)
            cycle = names[names.index(at) :]
            following.update(zip(cycle, [*cycle[1:], at], strict=True))
        visited.update(path)
    return following


def _round(name: str, following: dict[str, str]) -> str:
    """The cycle from this name to itself; of a long one only its beginning."""
    names, at = [name], following[name]
    while at != name and len(names) < LONGEST_CYCLE:
        names.append(at)
        at = following[at]
    return " -> ".join([*names, "...", name] if at != name else [*names, name])


def _several_defaults(classes: dict[tuple[str, str], Source]) -> Iterator[Finding]:
    marked = [source for source in classes.values() if source.document.get("globalDefault") is True]
    for source in marked if len(marked) > 1 else ():
        message = f"{len(marked)} classes are marked as the default; the one with the smallest value is taken"
        yield Finding(source.where, Problem("globalDefault", True, message), warning=True)
