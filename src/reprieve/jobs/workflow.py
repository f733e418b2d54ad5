"""Workflow of Argo: the pods of its widest step, as far as the manifest says how many there are.

Of steps one group after the other runs, of a DAG the tasks at one depth count as a step. Items and sequences
that are written out are counted; what is known only while the workflow runs is named (`dynamic_parts`).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from reprieve.jobs import sentences
from reprieve.jobs.paths import Place, at, entries, mapping, number, text
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.rows import PodSetRule
from reprieve.objects import Document, raw, whole_number

_PARAMETER: Final = "{{"
_BY_POD: Final = ("container", "script", "containerSet", "resource", "data")
_INHERITED: Final = ("nodeSelector", "tolerations", "affinity", "schedulerName")
_POD_FIELDS: Final = (*_INHERITED, "priorityClassName", "initContainers", "volumes")
_RULE: Final = PodSetRule(labels={"workflows.argoproj.io/workflow": "{job}"})


def workflow_pod_sets(root: Place) -> list[PodSet]:
    """One for each template that is part of the widest step."""
    known = _templates(root)
    widest = _width(known, text(root, "spec.entrypoint"), ())
    most = number(root, "spec.parallelism", sum(widest.values()))
    found = []
    for name, count in widest.items():
        part, allowed = known[name], min(count, most)
        most -= allowed
        path = part.path
        found.append(
            PodSet(
                name=name.lower(), word=name, template=_template(root, part), path=path, factors=(allowed,),
                rule=_RULE,
            )
        )  # fmt: skip
    return found


def dynamic_parts(root: Place) -> Iterator[str]:
    """`path, what it does` of what the manifest leaves open."""
    if at(root, "spec.workflowTemplateRef").value is not None:
        yield sentences.unread_field("spec.workflowTemplateRef", sentences.OTHER_TEMPLATE)
    if at(root, "spec.onExit").value is not None:
        yield sentences.unread_field("spec.onExit", sentences.STARTS_IN_TURN)
    for part in _templates(root).values():
        for step in (each for group in _groups(part) for each in group):
            if at(step, "templateRef").value is not None or at(step, "inline").value is not None:
                yield sentences.unread_field(step.path, sentences.OTHER_TEMPLATE)
            if _times(step) is None:
                yield sentences.unread_field(step.path, sentences.NUMBER_UNKNOWN)
            if at(step, "when").value:
                yield sentences.unread_field(f"{step.path}.when", sentences.MAY_NOT_RUN)
        if at(part, "podSpecPatch").value is not None:
            yield sentences.unread_field(f"{part.path}.podSpecPatch", sentences.PARAMETER)
        for path in _open(_containers(part)):
            yield sentences.unread_field(f"{part.path}: {path}", sentences.PARAMETER)


def _templates(root: Place) -> dict[str, Place]:
    return {text(part, "name", part.key): part for part in entries(root, "spec.templates[]")}


def _width(known: dict[str, Place], name: str, above: tuple[str, ...]) -> Counter[str]:
    """Of each template the pods in the widest step of this one; one that calls itself counts once."""
    part = known.get(name)
    if part is None or name in above:
        return Counter()
    if any(at(part, field).value is not None for field in _BY_POD):
        return Counter({name: 1})
    widest: Counter[str] = Counter()
    for group in _groups(part):
        step: Counter[str] = Counter()
        for each in group:
            times = _times(each)
            for inner, count in _width(known, text(each, "template"), (*above, name)).items():
                step[inner] += count * (1 if times is None else times)
        if step.total() > widest.total():
            widest = step
    return widest


def _groups(part: Place) -> Iterator[list[Place]]:
    """What runs at once, as far as a template says it: a group of steps, or tasks of a DAG at one depth."""
    for number_, group in enumerate(at(part, "steps").value or ()):
        where = f"{part.path}.steps[{number_}]"
        # A step may also stand alone, without a list around it.
        steps = group if isinstance(group, list) else [group]
        yield [Place(f"{where}[{index}]", step, str(index)) for index, step in enumerate(steps)]
    tasks = {text(task, "name", task.key): task for task in entries(part, "dag.tasks[]")}
    depths: dict[str, int] = {}

    def depth(name: str, above: tuple[str, ...] = ()) -> int:
        if name not in tasks or name in above:
            return -1
        if name not in depths:
            before = (depth(each, (*above, name)) for each in _after(tasks[name]))
            depths[name] = 1 + max(before, default=-1)
        return depths[name]

    levels: dict[int, list[Place]] = {}
    for name, task in tasks.items():
        levels.setdefault(depth(name), []).append(task)
    yield from levels.values()


def _after(task: Place) -> list[str]:
    """The tasks that a task waits for. `depends` is an expression: `A && (B.Succeeded || C)`."""
    stated = at(task, "dependencies").value
    if isinstance(stated, list):
        return [str(each) for each in stated]
    words = text(task, "depends").replace("(", " ").replace(")", " ").replace("!", " ").split()
    return [word.partition(".")[0] for word in words if word not in ("&&", "||")]


def _times(step: Place) -> int | None:
    """How often a step runs; None where only the workflow knows."""
    items, count = at(step, "withItems").value, at(step, "withSequence.count").value
    if isinstance(items, list):
        return len(items)
    if count is not None:
        return whole_number(str(count))
    dynamic = at(step, "withParam").value is not None or at(step, "withSequence").value is not None
    return None if dynamic else 1


def _template(root: Place, part: Place) -> Document:
    """As Argo's workflow/controller/workflowpod.go makes it, without its own containers, for which only its
    configuration says what they request."""
    spec: Document = {field: value for field in _POD_FIELDS if (value := at(part, field).value) is not None}
    for field in _INHERITED:
        if field not in spec and (value := at(root, f"spec.{field}").value) is not None:
            spec[field] = value
    spec["containers"] = [_settled(each) for each in _containers(part)]
    metadata: Document = {}
    for field in ("labels", "annotations"):
        of_all = mapping(root, f"spec.podMetadata.{field}")
        if merged := {**of_all, **mapping(part, f"metadata.{field}")}:
            metadata[field] = merged
    return {"metadata": metadata, "spec": spec}


def _containers(part: Place) -> list[Document]:
    own = mapping(part, "container") or mapping(part, "script")
    main = [{**own, "name": "main"}] if own else raw.items(mapping(part, "containerSet"), "containers")
    executor = {"name": "main", "image": "argoexec"}  # a resource or data: nothing of the user's runs
    known = [{key: value for key, value in each.items() if key != "source"} for each in main or [executor]]
    return [*known, *raw.items(part.value, "sidecars")]


def _open(containers: list[Document]) -> Iterator[str]:
    for each in containers:
        for kind in ("requests", "limits"):
            for name, amount in raw.mapping(each, "resources", kind).items():
                if _PARAMETER in str(amount):
                    yield f"resources.{kind}[{name}]"


def _settled(container: Document) -> Document:
    """Without amounts that are parameters."""
    resources: dict[str, Any] = dict(raw.mapping(container, "resources"))
    for kind in ("requests", "limits"):
        amounts = raw.mapping(resources, kind)
        resources[kind] = {name: amount for name, amount in amounts.items() if _PARAMETER not in str(amount)}
    return {**container, "resources": {kind: each for kind, each in resources.items() if each}}
