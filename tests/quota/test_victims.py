"""Victims against the naive reference, and their invariants."""

from collections.abc import Callable
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from reprieve.objects.decode import decode_all
from reprieve.objects.kueue import Workload
from reprieve.quota.offline import load
from reprieve.quota.rules import DEFAULT_STRATEGIES, Rules
from reprieve.quota.state import Quota
from reprieve.quota.tree import FlavorResource
from reprieve.quota.victims.candidates import PreemptionRequest, Victim
from reprieve.quota.victims.finder import VictimFinder
from reprieve.quota.workload_info import WorkloadInfo
from tests.quota.naive import naive_job, naive_trees, naive_world
from tests.reference.quota.fair import FairSearch
from tests.reference.quota.victims import classical
from tests.scale import examples
from tests.strategies.quota import NOW, RESOURCES, worlds

Case = tuple[Quota, WorkloadInfo, dict[FlavorResource, int], frozenset[FlavorResource]]


def drawn_case(objects: list[dict[str, Any]], rules: Rules, data: st.DataObject) -> Case:
    """The first waiting workload requests quota of some flavors."""
    asking = next(o for o in objects if o["metadata"]["name"] == "p0")
    quota = load(decode_all([o for o in objects if o is not asking]), rules, NOW)
    (view,) = decode_all([asking])
    assert isinstance(view, Workload)
    info = WorkloadInfo(view, "cq" + view.spec.queue_name.removeprefix("lq"), rules)
    flavors = sorted(quota.cache.flavors)
    requests: dict[FlavorResource, int] = {}
    for resource, amount in info.demands[0].requests.items():
        requests[FlavorResource(data.draw(st.sampled_from(flavors)), resource)] = amount
    short = frozenset(data.draw(st.sets(st.sampled_from(sorted(requests)), min_size=1)))
    return quota, info, requests, short


def found(case: Case) -> list[Victim]:
    quota, info, requests, short = case
    return VictimFinder(info, quota.cache.queues[info.queue], quota.rules).victims(requests, short)


def reference(case: Case, search: Callable[..., dict[str, str]]) -> dict[str, str]:
    quota, info, requests, short = case
    twins = naive_trees(quota)
    world = naive_world(quota, twins)
    job = naive_job(info, twins[id(quota.cache.queues[info.queue])])
    return search(world, job, requests, short)


@examples(80)
@given(objects=worlds(waiting=1), data=st.data())
def test_classical_victims_equal_the_naive_reference(
    objects: list[dict[str, Any]], data: st.DataObject
) -> None:
    case = drawn_case(objects, Rules(), data)
    assert {v.info.key: v.reason for v in found(case)} == reference(case, classical)


@examples(80)
@given(
    objects=worlds(fair=True, waiting=1),
    strategies=st.sampled_from([DEFAULT_STRATEGIES, DEFAULT_STRATEGIES[:1], DEFAULT_STRATEGIES[1:]]),
    data=st.data(),
)
def test_fair_victims_equal_the_naive_reference(
    objects: list[dict[str, Any]], strategies: tuple[str, ...], data: st.DataObject
) -> None:
    case = drawn_case(objects, Rules(fair_sharing=True, strategies=strategies), data)
    expected = reference(case, lambda *a: FairSearch(*a).run(strategies))
    assert {v.info.key: v.reason for v in found(case)} == expected


@examples(30)
@given(objects=worlds(waiting=1), fair=st.booleans(), data=st.data())
def test_no_victim_could_have_stayed(objects: list[dict[str, Any]], fair: bool, data: st.DataObject) -> None:
    case = drawn_case(objects, Rules(fair_sharing=fair), data)
    victims = found(case)
    quota, info, requests, short = case
    request = PreemptionRequest(info, quota.cache.queues[info.queue], requests, short)
    assume(victims and not request.fits(borrowing=True))  # preemption is only needed when it does not fit
    for victim in victims:
        victim.leave()
    ways = [borrowing for borrowing in (True, False) if request.fits(borrowing)]
    assert ways, "with all victims gone the request fits"
    needed = []
    for borrowing in ways:
        spared = []
        for victim in victims:
            victim.stay()
            spared.append(request.fits(borrowing))
            victim.leave()
        needed.append(not any(spared))
    assert any(needed)


@examples(40)
@given(objects=worlds(waiting=1), fair=st.booleans(), data=st.data())
def test_looking_for_victims_changes_nothing(
    objects: list[dict[str, Any]], fair: bool, data: st.DataObject
) -> None:
    case = drawn_case(objects, Rules(fair_sharing=fair), data)
    queues = case[0].cache.queues.values()
    before = {(q.name, key): cell.free() for q in queues for key, cell in q.cells.items()}
    found(case)
    after = {(q.name, key): cell.free() for q in queues for key, cell in q.cells.items()}
    assert before.items() <= after.items()
    assert all(key.resource in RESOURCES for _, key in after)
