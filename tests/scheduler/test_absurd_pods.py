"""Pods that ask for what makes no sense: they count, they can be preempted, and they are told."""

import pytest

from reprieve.kube import ApiError
from reprieve.scheduler import sentences
from tests.builders import node
from tests.scheduler.live import PODS, cluster, pod, scheduling
from tests.scheduler.world import World
from tests.scheduler.world import pod as plain_pod

MIN_RUNTIME = "reprieve.dev/min-runtime"


@pytest.mark.parametrize("grace", [10**12, 2**63 - 1])
async def test_a_pod_with_an_endless_grace_period_can_be_preempted(grace):
    async with cluster(1, 4) as live, scheduling(live):
        await live.create(PODS, pod("low", "4", terminationGracePeriodSeconds=grace))
        await live.until(lambda: live.bound() == ["low"])
        await live.create(PODS, pod("high", "4", "high"))
        await live.until(lambda: live.bound() == ["high"])


@pytest.mark.parametrize("text", ["", "soon", "-5m", "9" * 400 + "h", "9" * 5000 + "h", "1e300h"])
def test_a_minimum_run_time_that_is_none_is_ignored_with_a_sentence_and_the_pod_counts(text):
    odd = plain_pod("odd", 4, on="n1", annotations={MIN_RUNTIME: text})
    world = World(node("n1", 4), odd, plain_pod("small", 1), plain_pod("boss", 4, 10))
    world.run()
    assert world.where("small") == [""], "its node is full"
    assert world.evictions == ["odd"]
    [event] = [each for each in world.events if each.reason == "AnnotationIgnored"]
    assert event.regarding.name == "odd"
    assert event.note == sentences.annotation_ignored(MIN_RUNTIME, text)


def test_one_that_is_long_protects_without_an_overflow():
    kept = plain_pod("kept", 4, on="n1", annotations={MIN_RUNTIME: "2000000h"})
    world = World(node("n1", 4), kept, plain_pod("boss", 4, 10))
    world.run()
    assert world.evictions == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("min-runtime", "soon", "must be a duration such as 5m or 1h30m, got 'soon'"),
        ("checkpointed-at", "yesterday", "must be a time such as 2026-08-23T12:00:00Z"),
        ("preemption-cost", "1e300", "must be a number of at most 1,000,000,000,000"),
        ("preemption-cost", "nan", "must be a number of at most"),
    ],
)
async def test_absurd_annotations_are_refused_at_the_door(name, text, words):
    async with cluster(1, 4) as live:
        for number in range(2):  # the second time the spec is known already
            odd = pod(f"p{number}")
            odd["metadata"]["annotations"] = {f"reprieve.dev/{name}": text}
            with pytest.raises(ApiError) as raised:
                await live.client.create(PODS, odd)
            assert words in str(raised.value)
            await live.create(PODS, pod(f"q{number}"))
