"""A tree of groups: how its groups are, and why it waits as a whole."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from reprieve.cluster import MOST_LEVELS
from reprieve.config import Configuration
from reprieve.explain.answer import Explanation
from reprieve.explain.evictions import evictions_by
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.pods import advise_waiting, described_group, members_of
from reprieve.explain.sentences import answers
from reprieve.objects import Document, Reference, ReprieveError, group_key

MOST_GROUPS = 8
"""How many groups of a tree are described one by one."""


def explain_tree(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    tree = evidence.find("CompositePodGroup", target.key)
    by_key = {key_of(group): group for group in _below(target.key, evidence)}  # a circle comes by it twice
    groups, keys = list(by_key.values()), by_key.keys()
    members = members_of([pod for pod in evidence.of_kind("Pod") if group_key(pod) in keys])
    placeable = len(members.running) + len(members.waiting)
    answer = Explanation(
        for_=str(target),
        state=members.state,
        sentence=answers.tree_has_nodes_for(str(target), len(members.running), placeable, len(groups)),
        preempted=evictions_by(str(target), evidence),
    )
    if tree is None:
        answer.state = "unknown"
        answer.sentence = answers.no_such_tree(str(target))
        return answer
    parts = [described_group(Reference.read(group), evidence)[0] for group in groups[:MOST_GROUPS]]
    answer.details += [part.sentence for part in parts]
    for part in parts:
        answer.preempted_by += part.preempted_by
    if members.waiting:
        answer.waits_for = list(_why(target, evidence, config, now))
        advise_waiting(answer, target, members.waiting, evidence, config, now)
    return answer


def _below(key: str, evidence: Evidence, levels: int = MOST_LEVELS - 1) -> Iterator[Document]:
    """The PodGroups below a composite group, no further down than the tree goes; that ends a circle, too."""
    namespace, _, name = key.rpartition("/")

    def child(document: Document) -> bool:
        own = key_of(document).rpartition("/")[0]
        return own == namespace and (document.get("spec") or {}).get("parentCompositePodGroupName") == name

    yield from filter(child, evidence.of_kind("PodGroup"))
    for inner in filter(child, evidence.of_kind("CompositePodGroup")) if levels > 1 else ():
        yield from _below(key_of(inner), evidence, levels - 1)


def _why(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Iterator[str]:
    """What a plan for the whole tree says, unless objects are missing that it would need."""
    if evidence.partial:
        return
    from reprieve.whatif import plan

    try:
        yield from plan(evidence.objects, str(target), Configuration.load(config), now).reasons
    except ReprieveError as error:
        yield str(error)
