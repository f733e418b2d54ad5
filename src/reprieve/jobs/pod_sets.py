"""A pod set: pods of one shape in a job, as a rule of the table describes them."""

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.paths import MOST, Place, at, entries, number, text
from reprieve.jobs.rows import JobKind, PodSetRule
from reprieve.objects import Document, InvalidObject


class Places(msgspec.Struct, frozen=True):
    """Where the fields of a pod template are, below it."""

    node_selector: str = "spec.nodeSelector"
    tolerations: str = "spec.tolerations"
    gates: str = "spec.schedulingGates"
    labels: str = "metadata.labels"
    annotations: str = "metadata.annotations"


class Written(msgspec.Struct, frozen=True):
    """Where something can be added to pods, if not in the template that was read."""

    path: str
    whole: bool = False
    """There is no template: it is written in full."""
    item: Document | None = None
    """The path is a list: an item with this and the additions is appended, or joined with the one that has
    the same texts."""
    inside: str = ""
    """Where the pod template is in that item."""
    places: Places = Places()


class PodSet(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of one shape."""

    name: str
    template: Document
    """metadata and spec, as in the job."""
    path: str
    """Of the template in the job, for messages."""
    factors: tuple[int, ...]
    """What `count` is the product of: jobs and pods in each, slices and hosts."""
    rule: PodSetRule
    owner: str = ""
    """What pods are named after, if not the job: something inside it."""
    written: Written | None = None

    @property
    def count(self) -> int:
        return math.prod(self.factors)


def pod_words(pod_set: PodSet, job: str) -> Iterator[dict[str, Any]]:
    """What the rule's words in braces stand for, pod by pod."""
    inner = pod_set.factors[-1] if len(pod_set.factors) > 1 else 0
    for index in range(pod_set.count):
        outer, within = divmod(index, inner) if inner else (index, index)
        yield {
            "job": pod_set.owner or job, "set": pod_set.name,
            "index": index, "outer": outer, "inner": within, "member": within + 1,
        }  # fmt: skip


def by_rule(root: Place, kind: JobKind, rule: PodSetRule) -> list[PodSet]:
    """The pod sets that a rule finds in a job, in the order of its kind."""
    parts = list(entries(root, rule.at))
    if rule.at.endswith("{}"):
        rank = {key: position for position, key in enumerate(kind.order)}
        parts.sort(key=lambda part: (rank.get(part.key, len(rank)), part.key))
    return [
        described(part, rule)
        for part in parts
        if not (rule.optional and part.value is None) and not (rule.skip_if and at(part, rule.skip_if).value)
    ]


def described(part: Place, rule: PodSetRule, *factors: int) -> PodSet:
    """The pod set that a part describes; `factors` in place of what the rule's `count` would find."""
    factors = factors or tuple(number(part, path, 1) for path in rule.count)
    if rule.between is not None:
        least, most = number(part, rule.between[0], 0), number(part, rule.between[1], MOST)
        factors = (min(max(number(part, rule.count[0], least), least), most), *factors[1:])
    if rule.at_most and at(part, rule.at_most).value is not None:
        factors = (*factors[:-1], min(factors[-1], number(part, rule.at_most, MOST)))
    template = at(part, rule.template)
    if not isinstance(template.value, dict):
        raise InvalidObject(template.path, template.value, sentences.TEMPLATE_REQUIRED)
    if not isinstance(template.value.get("spec"), dict):
        raise InvalidObject(f"{template.path}.spec", template.value.get("spec"), sentences.REQUIRED)
    return PodSet(
        name=name_of(part, rule.name), template=template.value, path=template.path, factors=factors, rule=rule
    )


def name_of(part: Place, name: str) -> str:
    if name == "@key":
        return part.key.lower()
    if name.startswith("@"):
        return text(part, name[1:], part.key)
    return name
