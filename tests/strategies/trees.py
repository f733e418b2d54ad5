"""Small clusters with zones and racks, units that run there, and a tree of groups that wants in."""

from hypothesis import strategies as st

from tests import builders
from tests.builders import Document
from tests.strategies.choices import Choices

ZONE, RACK = "topology.kubernetes.io/zone", "example.com/rack"
KEYS = ("", "", ZONE, RACK)
PRIORITY = 100
TARGET = "CompositePodGroup/default/tree"
TreeScene = list[Document]


@st.composite
def tree_scenes(draw: st.DrawFn) -> TreeScene:
    """The cluster and the waiting tree `TARGET`; resources only, so that a plan is easy to check."""
    choices = Choices(draw)
    nodes = [_node(choices, number) for number in range(choices.number(2, 6))]
    return [*nodes, *_running(choices, nodes), *_tree(choices)]


def _node(choices: Choices, number: int) -> Document:
    zone = choices.number(0, 1)
    labels = {ZONE: f"z{zone}", RACK: f"z{zone}-r{choices.number(0, 1)}"}
    if choices.chance(10):
        del labels[RACK]
    return builders.node(f"n{number}", choices.number(2, 8), labels=labels)


def _running(choices: Choices, nodes: list[Document]) -> list[Document]:
    """Single pods, groups and a tree, in all modes; they may overfill nothing."""
    free = {each["metadata"]["name"]: int(each["status"]["allocatable"]["cpu"]) for each in nodes}
    priority = choices.one_of((0, 10, 200))
    mode = choices.one_of(("", "single", "all"))
    found = [
        builders.composite("old", 1, priority, mode=mode),
        builders.pod_group("old-a", 1, priority, mode=choices.one_of(("", "all")), **builders.below("old")),
        builders.pod_group("old-b", 1, priority, **builders.below("old")),
        builders.pod_group("lone", 1, 10, mode=choices.one_of(("", "all"))),
    ]
    for number in range(choices.number(0, 12)):
        name, cpu = choices.one_of(sorted(free)), choices.number(1, 3)
        if free[name] < cpu:
            continue
        free[name] -= cpu
        group = choices.one_of(("", "", "old-a", "old-b", "lone"))
        own = {"": choices.one_of((0, 10, 100)), "lone": 10}.get(group, priority)
        start = f"2026-01-01T00:{number:02}:00Z"
        found.append(builders.pod(f"r{number}", cpu, own, on=name, group=group, start=start))
    return found


def _tree(choices: Choices) -> list[Document]:
    names = [f"c{number}" for number in range(choices.number(1, 3))]
    found = [builders.composite("tree", choices.number(1, len(names)), PRIORITY, key=choices.one_of(KEYS))]
    for name in names:
        if choices.chance(25):
            inner = [f"{name}-{number}" for number in range(choices.number(1, 2))]
            least = choices.number(1, len(inner))
            found.append(builders.composite(name, least, PRIORITY, parent="tree", key=choices.one_of(KEYS)))
            for each in inner:
                found += _leaf(choices, each, name)
        else:
            found += _leaf(choices, name, "tree")
    return found


def _leaf(choices: Choices, name: str, parent: str) -> list[Document]:
    size, cpu = choices.number(1, 3), choices.number(1, 4)
    fields = {**builders.below(parent), **builders.in_one(choices.one_of(KEYS))}
    return builders.gang(size, cpu, PRIORITY, name=name, minimum=choices.number(1, size), group=fields)
