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
    """In its workload: in lower case, as Kueue's NewPodSetReference has it (apis/kueue/v1beta2)."""
    template: Document
    """metadata and spec of its pods, with what the job's controller adds to them."""
    path: str
    """Of the template in the job, for messages."""
    factors: tuple[int, ...]
    """What `count` is the product of: jobs and pods in each, slices and hosts."""
    rule: PodSetRule
    word: str = ""
    """What `{set}` stands for in names and labels of pods, if not the name."""
    former: tuple[str, ...] = ()
    """Names that older versions gave it in a workload."""
    asked: int | None = None
    """The number of pods that quota is asked for, where Kueue counts others than there are."""
    written_template: Document | None = None
    """The template in the job, where its controller adds to it."""
    counted: Document | None = None
    """The template that quota is asked for, where Kueue counts more than the pod has."""
    owner: str = ""
    """What pods are named after, if not the job: something inside it."""
    written: Written | None = None

    @property
    def count(self) -> int:
        return math.prod(self.factors)

    @property
    def known_as(self) -> tuple[str, ...]:
        """All names under which workloads and notes may have it, its own last."""
        return (*self.former, self.word or self.name, self.name)

    @property
    def requested(self) -> tuple[int, Document]:
        """How many pods quota is asked for, and of which template."""
        return self.count if self.asked is None else self.asked, self.counted or self.template


def pod_words(pod_set: PodSet, job: str) -> Iterator[dict[str, Any]]:
    """What the rule's words in braces stand for, pod by pod."""
    inner = pod_set.factors[-1] if len(pod_set.factors) > 1 else 0
    for index in range(pod_set.count):
        outer, within = divmod(index, inner) if inner else (index, index)
        yield {
            "job": pod_set.owner or job, "set": pod_set.word or pod_set.name,
            "index": index, "outer": outer, "inner": within, "member": within + 1,
            "place": f"{outer}-{within}" if within else outer,
        }  # fmt: skip


def by_rule(root: Place, kind: JobKind, rule: PodSetRule) -> list[PodSet]:
    """The pod sets that a rule finds in a job, in the order of its kind."""
    parts = list(entries(root, rule.at))
    if rule.at.endswith("{}"):
        rank = {key: position for position, key in enumerate(kind.order)}
        parts.sort(key=lambda part: (rank.get(part.key, len(rank)), part.key))
    return [described(part, rule) for part in parts if not (rule.optional and part.value is None)]


def described(part: Place, rule: PodSetRule, *factors: int) -> PodSet:
    """The pod set that a part describes; `factors` in place of what the rule's `count` would find.

    Quota is asked for the numbers that are written, also where the kind's own controller keeps the first one
    between two others or makes no such pods now (Kueue: pkg/controller/jobs/raycluster, BuildPodSets).
    """
    factors, asked = factors or tuple(number(part, path, 1) for path in rule.count), None
    if rule.between is not None:
        least, most = number(part, rule.between[0], 0), number(part, rule.between[1], MOST)
        asked = number(part, rule.count[0], 0) * math.prod(factors[1:])
        factors = (min(max(number(part, rule.count[0], least), least), most), *factors[1:])
    if rule.skip_if and at(part, rule.skip_if).value:
        asked = math.prod(factors) if asked is None else asked
        factors = (0, *factors[1:])
    if rule.at_most and at(part, rule.at_most).value is not None:
        factors = (*factors[:-1], min(factors[-1], number(part, rule.at_most, MOST)))
    template = at(part, rule.template)
    if not isinstance(template.value, dict):
        raise InvalidObject(template.path, template.value, sentences.TEMPLATE_REQUIRED)
    if not isinstance(template.value.get("spec"), dict):
        raise InvalidObject(f"{template.path}.spec", template.value.get("spec"), sentences.REQUIRED)
    name = name_of(part, rule.name)
    return PodSet(
        name=name.lower(), word=name, template=template.value, path=template.path, factors=factors, rule=rule,
        asked=asked,
    )  # fmt: skip


def name_of(part: Place, name: str) -> str:
    if name == "@key":
        return part.key.lower()
    if name.startswith("@"):
        return text(part, name[1:], part.key)
    return name
