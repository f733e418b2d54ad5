"""What more important units gave back not long ago is kept for them (`preemption.headroom`)."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.objects import Duration, Pod
from reprieve.scheduler import sentences
from reprieve.scheduler.headroom import Headroom
from tests.builders import node, views
from tests.builders import pod as a_pod
from tests.scheduler.world import World, pod, pod_group

KEPT = {"preemption": {"headroom": "15m"}}
TEXT = sentences.kept_free("cpu", Duration(900))


def after_an_important_pod(*documents, config=KEPT):
    """Two cores of which an important pod held both and has ended, and a less important one that waits."""
    world = World(node("n1", 2), pod("high", 2, on="n1", priority=10), pod("early", 1), config=config)
    world.run()
    world.remove("Pod", "early")
    world.remove("Pod", "high")
    world.add(*documents)
    return world


def test_a_unit_does_not_start_in_what_a_more_important_one_has_just_left_and_says_why():
    world = after_an_important_pod(pod("late", 1))
    [cycle] = world.run()
    assert (cycle.outcome, cycle.reasons) == ("unschedulable", [TEXT])
    assert world.condition("Pod", "late", "PodScheduled")["message"] == TEXT
    assert world.where("late") == [""]


def test_it_starts_when_the_time_is_over_although_nothing_has_happened():
    seldom = {"scheduler": {"maxUnschedulable": "1h"}}
    world = after_an_important_pod(pod("late", 1), config={**KEPT, **seldom})
    world.run()
    assert world.core.next_time() == world.now + 15 * 60
    world.wait(15 * 60)
    assert world.where("late") == ["n1"]


def test_a_clock_that_goes_back_keeps_nothing_for_longer():
    world = after_an_important_pod(pod("late", 1))
    world.now -= 3600
    world.run()
    assert world.where("late") == [""]
    world.wait(15 * 60)
    assert world.where("late") == ["n1"]


def test_without_the_setting_it_starts_at_once():
    world = after_an_important_pod(pod("late", 1), config=None)
    world.run()
    assert world.where("late") == ["n1"]


def test_the_important_unit_for_which_it_is_kept_takes_it_and_evicts_nobody():
    world = after_an_important_pod(pod("late", 1), pod("again", 2, priority=10))
    world.run()
    assert world.where("late", "again") == ["", "n1"]
    assert world.evictions == []


def test_what_is_free_beyond_what_is_kept_may_be_taken():
    world = after_an_important_pod(node("n2", 1), pod("one", 1), pod("two", 1))
    world.run()
    assert len(world.running()) == 1


def test_a_unit_that_holds_a_nomination_takes_the_place_that_it_was_given():
    nodes, low = (node("n1", 2), node("n2", 1)), pod("low", 2, on="n1", priority=0)
    world = World(*nodes, low, pod("top", 1, on="n2", priority=99), config=KEPT, graceful=True)
    world.add(pod("middle", 2, priority=5))
    world.run()
    assert world.nominated("middle") == ["n1"]
    world.remove("Pod", "top")
    world.end()
    world.wait(20)
    assert world.where("middle") == ["n1"]


def test_a_gang_needs_what_all_its_pods_request():
    world = after_an_important_pod(node("n2", 1), pod_group("g", 2), pod("a", 1, group="g"))
    world.add(pod("b", 1, group="g"))
    [cycle] = world.run()
    assert (cycle.outcome, cycle.reasons) == ("unschedulable", [TEXT])


def holds(key: str, priority: int, cpu: int) -> Pod:
    [found] = views(a_pod(key, cpu, priority, on="n1"))
    return found


def naive(history: Iterable[tuple[int, int]], now: int, window: int) -> int:
    """By the formula: the most that was held within the window, less what is held now."""
    held = [(0, 0), *history]
    inside = [amount for at, amount in held if at > now - window]
    before = [amount for at, amount in held if at <= now - window]
    return max([*before[-1:], *inside]) - held[-1][1]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 7), st.booleans()), max_size=30))
def test_headroom_is_the_most_that_was_held_within_the_window_less_what_is_held_now(steps):
    window, now, history = 20, 100, []
    held: dict[str, int] = {}
    cluster = Cluster()
    cluster.set(*views(node("n1", 1000)))
    headroom = Headroom(cluster, Duration(window))
    cluster.set(*views(a_pod("waits", 1, 0)))
    headroom.look("default/waits", now)
    for number, (pause, cpu, leaves) in enumerate(steps):
        now += pause
        key = next(iter(held), None)
        if leaves and key is not None:
            cluster.remove(Pod, key)
            del held[key]
        else:
            found = holds(f"p{number}", 5, cpu)
            key = found.key
            cluster.set(found)
            held[key] = cpu
        headroom.look(key, now)
        history.append((now, sum(held.values())))
        expected = naive([(at, 1000 * amount) for at, amount in history], now, window)
        free = 1000_000 - 1000 * sum(held.values())
        assert headroom.kept_free(0, {0: free - expected}, now) is None
        assert (headroom.kept_free(0, {0: free - expected + 1}, now) is not None) == (expected > 0)
        assert headroom.kept_free(5, {0: free}, now) is None, "equals are no more important"
