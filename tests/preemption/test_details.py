"""Rules that decide between plans which are nearly alike, and what a plan lists of each victim."""

import pytest

from reprieve.preemption import sentences
from tests.builders import Document
from tests.preemption.planning import budget, gang, node, plan, pod, pod_group, victims

BOTH = pytest.mark.parametrize("algorithm", ["kep-5710", "kubernetes"])


def test_as_few_victims_as_any_are_not_enough_where_they_break_a_budget() -> None:
    """Most is free on `m` once everybody is out, but one of the two there must go. Where the other one stays,
    `n` has more to offer.
    """
    full = [
        node("m", 8), pod("kept-0", 4, on="m", priority=1), pod("kept-1", 4, on="m", priority=1),
        node("n", 6), pod("other", 4, on="n", priority=1), budget("kept", 0),
    ]  # fmt: skip
    found = plan([*full, *gang(1, 3)], "PodGroup/a/gang")
    assert (victims(found), found.pdb_violations) == (["other"], 0)


@BOTH
@pytest.mark.parametrize("budgets", [0, 2])
@pytest.mark.parametrize("wanted", [[pod("want", 2, 100)], gang(1, 2)], ids=["pod", "gang"])
def test_a_group_counts_from_the_start_of_its_first_pod(
    algorithm: str, wanted: list[Document], budgets: int
) -> None:
    """Of two groups that go as a whole the one that began later goes. Under two budgets each node is tried by
    itself, and the units are compared one by one.
    """
    starts = {"early": ("00:00:01", "00:00:09"), "late": ("00:00:04", "00:00:05")}
    full = [node("n", 4)]
    for name, times in starts.items():
        full.append(pod_group(name, None, 1, mode="all"))
        full += [
            pod(f"{name}-{i}", on="n", priority=1, group=name, start=f"2026-01-01T{time}Z")
            for i, time in enumerate(times)
        ]
        full += [budget(f"{name}-{i}", 9, match={"app": name}) for i in range(budgets)]
    target = f"{wanted[0]['kind']}/a/{wanted[0]['metadata']['name']}"
    assert sorted(victims(plan([*full, *wanted], target, algorithm))) == ["late-0", "late-1"]


@BOTH
def test_each_victim_of_a_gang_says_whether_it_breaks_a_budget(algorithm: str) -> None:
    full = [
        node("m", 2), node("n", 2), pod("kept", 2, on="m", priority=1), pod("other", 2, on="n", priority=2),
    ]  # fmt: skip
    freely = plan([*full, *gang(2, 2)], "PodGroup/a/gang", algorithm)
    assert {each.pod: each.violates_budget for each in freely.victims} == {"a/kept": False, "a/other": False}
    found = plan([*full, budget("kept", 0), *gang(2, 2)], "PodGroup/a/gang", algorithm)
    assert {each.pod: each.violates_budget for each in found.victims} == {"a/kept": True, "a/other": False}
    assert [(each.pod, each.node, each.priority) for each in found.victims] == [
        ("a/other", "n", 2),
        ("a/kept", "m", 1),
    ]


@BOTH
@pytest.mark.parametrize("wanted", [[pod("want", 1, 100)], gang(1, 1)], ids=["pod", "gang"])
@pytest.mark.parametrize("mode", ["single", "all"])
def test_only_units_next_to_the_preemptor_are_listed_as_reprieved(
    algorithm: str, wanted: list[Document], mode: str
) -> None:
    """`pair` is tried where it is next to the preemptor, `far` is not: it stays where it is."""
    full = [
        node("m", 3), pod("low", on="m", priority=1), pod("pair-0", on="m", priority=5, group="pair"),
        pod("pair-1", on="m", priority=5, group="pair"), pod_group("pair", None, 5, mode=mode),
        node("n", 1), pod("far", on="n", priority=9),
    ]  # fmt: skip
    target = f"{wanted[0]['kind']}/a/{wanted[0]['metadata']['name']}"
    found = plan([*full, *wanted], target, algorithm)
    assert victims(found) == ["low"]
    stay = ["PodGroup/a/pair"] if mode == "all" else ["Pod/a/pair-0", "Pod/a/pair-1"]
    reason = sentences.reprieved("m", breaks_budget=False)
    assert sorted((each.unit, each.nodes, each.priority, each.reason) for each in found.reprieved) == [
        (unit, ("m",), 5, reason) for unit in stay
    ]


@BOTH
@pytest.mark.parametrize("first", [1, 5])
def test_the_best_node_wins_also_among_nodes_that_are_tried_by_themselves(algorithm: str, first: int) -> None:
    """A pod under two budgets is charged to one after the other, so its node is tried by itself."""
    full = [
        node("m", 1), pod("x-m", on="m", priority=first), budget("x", 5),
        node("n", 1), pod("x-n", on="n", priority=6 - first), budget("again", 5, match={"app": "x"}),
    ]  # fmt: skip
    found = plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm)
    assert victims(found) == ["x-m" if first == 1 else "x-n"]
