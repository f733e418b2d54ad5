"""Which decisions the page lists and draws: the newest of what was asked for."""

import pytest

from reprieve.dashboard.decision_views import Wanted, flows, listed
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.questions import BadQuestion
from tests.dashboard.manifests import pod, put
from tests.dashboard.test_stories import START, Row, gone, kept, made_way


def test_flows_say_how_important_each_side_is_and_follow_the_filter():
    shown = Inventory()
    put(shown, pod("big", on="n", priority=1000, labels={"team": "vision"}))
    victims = [{**each, "priority": 10} for each in gone("Pod/ops/a", "ops/a")]
    log = kept(("Pod/dev/big", "preempts", victims), ("Pod/x/y", "preempts", gone("Pod/z/b", "z/b")))
    departures = made_way(log, shown)

    def by(**wanted: str) -> list[str]:
        return [each["by"] for each in flows(Wanted.of(wanted), shown, departures)["items"]]

    assert by() == ["Pod/x/y", "Pod/dev/big"]
    assert by(ns="dev") == by(ns="ops") == by(team="vision") == ["Pod/dev/big"]
    assert by(ns="ops", team="vision") == []  # not two of them together
    [flow] = flows(Wanted(namespace="dev"), shown, departures)["items"]
    assert (flow["priority"], flow["victims"][0]["priority"]) == (1000, 10)


def test_decisions_are_narrowed_down_before_they_are_cut():
    """The newest of what was asked for, not what happens to be among the newest."""
    rows: list[Row] = [("Pod/old/a", "preempts", gone("Pod/b/b", "b/b"))]
    rows += [(f"Pod/new/{i}", "preempts", gone("Pod/c/c", "c/c")) for i in range(5)]
    log, shown = kept(*rows), Inventory()
    departures = made_way(log)

    def found(**query: str) -> tuple[list[str], bool]:
        answer = listed(log.find(), Wanted.of({"limit": "2", **query}), shown, departures)
        return [each["for"] for each in answer["items"]], answer["more"]

    old = (["Pod/old/a"], False)
    assert found() == (["Pod/new/4", "Pod/new/3"], True)
    assert found(ns="old") == found(ns="b") == found(find="old/a") == found(**{"for": "Pod/old/a"}) == old
    first = int(START.timestamp())
    assert found(until=str(first)) == old
    assert found(since=str(first + 240)) == (["Pod/new/4", "Pod/new/3"], False)
    assert found(outcome="waits") == ([], False)
    with pytest.raises(BadQuestion, match="limit must be a whole number, not 'many'"):
        found(limit="many")
