"""A remedy: changes, and what they bring together, tried on a copy of the cluster before it is given."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

import msgspec

from reprieve.explain.advice import node_changes as node_changes
from reprieve.explain.advice import pod_changes as pod_changes
from reprieve.explain.advice import quota_changes as quota_changes
from reprieve.explain.advice import tree_changes as tree_changes
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.advice.node_changes import NEW_NODE, FreeOnNode, LabelNode
from reprieve.explain.sentences import advice as sentences
from reprieve.objects import Document, outcomes
from reprieve.preemption import Plan

if TYPE_CHECKING:
    AnyChange = Change
else:
    AnyChange = Union[tuple(Change.__subclasses__())]  # noqa: UP007 - not known before it runs
    """Every kind of change, told apart by the field `change`."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One way out; all its changes are needed."""

    sentence: str
    changes: list[AnyChange]
    """What to change: `change` names the kind of change, the other fields say where and to what."""


def carried_out(documents: Iterable[Document], changes: Iterable[Any]) -> list[Document]:
    """A copy of the documents with the changes of a remedy made, as `Remedy` or its JSON has them."""
    draft = Draft(documents)
    for each in changes:
        change = each if isinstance(each, Change) else msgspec.convert(each, AnyChange)
        change.carry_out(draft)
    return draft.documents


def remedy(changes: list[Change], result: str) -> Remedy:
    words = [each.words() for each in merged(changes)]
    return Remedy(sentence=sentences.remedy(words, result), changes=changes)


def merged(changes: list[Change]) -> list[Change]:
    """Changes of one kind to one node in one piece."""
    found: dict[object, Change] = {}
    for change in changes:
        place: object = change
        if isinstance(change, LabelNode | FreeOnNode):
            place = (type(change), change.node)
            before = found.get(place)
            if isinstance(before, LabelNode) and isinstance(change, LabelNode):
                change = LabelNode(
                    node=change.node,
                    labels=before.labels | change.labels,
                    absent=[*before.absent, *change.absent],
                )
        found[place if isinstance(place, tuple) else id(change)] = change
    return list(found.values())


def result_of(plan: Plan) -> str:
    """What a plan brings, as the end of a sentence."""
    nodes = sorted({node for node in plan.placements.values() if not node.startswith(NEW_NODE)})
    nodes = nodes if len(nodes) == len(set(plan.placements.values())) else []
    victims = plan.victims if plan.outcome == outcomes.PREEMPTS else ()
    units = list(dict.fromkeys(victim.unit for victim in victims))
    group = plan.for_.startswith(("PodGroup/", "CompositePodGroup/"))
    return sentences.its_pods_fit(nodes, units) if group else sentences.it_fits(nodes, units)
