"""Trees of groups in the cluster: whatever the order in which objects come and go, the tree is the same."""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.objects.scheduling import CompositePodGroup, PodGroup
from tests import builders
from tests.builders import below
from tests.scale import examples

GROUPS = [
    builders.composite("root", 1, 7),
    builders.composite("inner", 1, 5, parent="root", mode="all"),
    builders.pod_group("a", 1, 3, **below("inner")),
    builders.pod_group("b", 1, 2, mode="all", **below("root")),
    builders.pod_group("alone", 1, 1, mode="all"),
]
PODS = [builders.pod(f"{name}-0", 1, group=name, on="n") for name in ("a", "b", "alone")]


def seen(cluster: Cluster) -> dict[str, tuple[str, str]]:
    """For each pod group, the names of its root and of the group it is evicted with."""
    groups = cluster.groups
    return {
        key: (groups.keys[groups.root[number]], groups.keys[groups.unit[number]])
        for key, number in groups.number_of.items()
    }


WANTED = {
    "default/a": ("default/root", "default/inner"),
    "default/b": ("default/root", "default/b"),
    "default/alone": ("default/alone", "default/alone"),
}


@examples(60)
@given(st.permutations([builders.node("n", 8), *GROUPS, *PODS]), st.sampled_from(["root", "inner"]))
def test_the_order_in_which_a_tree_arrives_does_not_matter(documents: list[object], name: str) -> None:
    cluster = Cluster()
    views = builders.views(*documents)  # type: ignore[arg-type]
    for each in views:
        cluster.set(each)
    assert seen(cluster) == WANTED
    again = next(each for each in views if isinstance(each, CompositePodGroup) and each.name == name)
    cluster.remove(CompositePodGroup, again.key)
    assert seen(cluster) != WANTED
    cluster.set(again)
    assert seen(cluster) == WANTED


def test_a_cycle_of_parents_ends_and_a_group_that_left_is_forgotten() -> None:
    cluster = Cluster()
    for each in builders.views(
        builders.composite("x", 1, 1, parent="y"),
        builders.composite("y", 1, 2, parent="x"),
        builders.pod_group("a", 1, 3, **below("x")),
    ):
        cluster.set(each)
    groups = cluster.groups
    assert groups.keys[groups.root[groups.number_of["default/a"]]] == "default/y"
    assert list(groups.trees.leaves(groups.trees.number_of["default/x"])) == [groups.number_of["default/a"]]
    cluster.remove(PodGroup, "default/a")
    assert list(groups.trees.leaves(groups.trees.number_of["default/x"])) == []


def test_groups_below_a_composite_one_come_by_age_and_then_by_name() -> None:
    """Whatever the order in which they arrived; of a pod group and a composite one, the pod group first."""
    days = {"old": 1, "b": 2, "a": 2, "young": 3}
    made = {name: {"creationTimestamp": f"2026-01-0{day}T00:00:00Z"} for name, day in days.items()}
    documents = [
        builders.composite("root"),
        builders.composite("a", parent="root", metadata=made["a"]),
        *(
            builders.pod_group(each, metadata=made[each], **below("root"))
            for each in ("young", "b", "old", "a")
        ),
    ]
    cluster = Cluster()
    cluster.set_all(builders.views(*documents))
    groups = cluster.groups
    found = groups.trees.children(groups.trees.number_of["default/root"])
    wanted = [
        ("PodGroup", "old"),
        ("PodGroup", "a"),
        ("CompositePodGroup", "a"),
        ("PodGroup", "b"),
        ("PodGroup", "young"),
    ]
    assert [(type(group).__name__, group.name) for each in found if (group := groups.object(each))] == wanted
