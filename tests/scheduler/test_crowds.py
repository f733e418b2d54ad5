"""More pods than quota was given for: which of them get it, and what each of them costs."""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.scheduler import sentences
from reprieve.scheduler.crowds import Crowd
from tests.effort import within
from tests.scale import examples
from tests.scheduler.test_holds import ADMITTED, QUEUE, a_job, a_workload, a_world, pod_of_job, why
from tests.scheduler.test_holds import given as quota_given
from tests.scheduler.world import pod, pod_group

KEYS = "abcdef"


def first(placed: dict[str, bool], most: int | None) -> set[str]:
    """Those that get quota, written down naively."""
    return set(sorted(placed, key=lambda key: (not placed[key], key))[: most or 0])


@examples(400)
@given(
    st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from([True, False, None]))),
    st.none() | st.integers(0, 4),
)
def test_whoever_gets_quota_or_loses_it_is_named(changes: list[tuple[str, bool | None]], most: int | None):
    crowd, placed = Crowd(), dict[str, bool]()
    for key, state in changes:
        before = first(placed, most)
        placed.pop(key, None)
        if state is not None:
            placed[key] = state
        named = crowd.change(key, state, most)
        assert set(crowd) == set(placed)
        assert most is None or {each for each in placed if crowd.gets(each, most)} == first(placed, most)
        assert (first(placed, most) ^ before) - {key} <= named
        assert len(named) <= 4


def test_a_pod_that_comes_first_takes_the_quota_of_one_that_waits() -> None:
    gang = pod_group("g", 1, labels={QUEUE: "main"}, metadata={"uid": "group-uid"})
    world = a_world(gang, a_workload(*ADMITTED, owner="group-uid"), pod("low", 16, on="n1"))
    for name in ("g-1", "g-0"):
        world.add(pod(name, group="g", metadata=quota_given()))
    world.run()
    world.remove("Pod", "low")
    world.run()
    assert why(world, "g-1") == sentences.too_many_claim_quota("ns/w", 1)


def test_a_binding_that_fails_leaves_as_many_with_quota_as_it_was_given_for() -> None:
    world = a_world(a_job(), a_workload(*ADMITTED, count=2), pod_of_job("j-8"), pod_of_job("j-9"))
    world.hold = lambda action: type(action).__name__ == "Bind"
    world.run()
    for name in ("j-0", "j-1", "j-2"):
        world.add(pod_of_job(name))
    world.hold = lambda action: False
    world.fail("503")
    world.wait(60)
    assert sum(bool(each) for each in world.where("j-0", "j-1", "j-2", "j-8", "j-9")) == 2


def test_a_job_that_outgrew_its_quota_by_far_holds_up_nobody() -> None:
    """The whole crowd was put in order for each of its pods whenever one came: minutes for 800 of them."""
    world = a_world(a_job(), a_workload(*ADMITTED, count=2))

    def grow() -> None:
        for number in range(800):
            world.add(pod_of_job(f"j-{number:03}"))

    within(3, grow)
    world.run()
    assert world.where("j-000", "j-001", "j-002") == ["n1", "n1", ""]
