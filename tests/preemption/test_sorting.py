"""Victims of equal priority: lost work and leaders decide, and no victim of higher priority is taken."""

from typing import Any

import pytest

import reprieve
from tests.preemption.planning import gang, node, pod, pod_group

OURS = pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z"
NOW = "2026-01-02T00:00:00Z"
CHECKPOINT = "reprieve.dev/checkpointed-at"
LEADER = {"reprieve.dev/disruption-role": "leader"}


def victims(objects: list[dict[str, Any]], target: str, algorithm: str) -> list[str]:
    config = {"preemption": {"algorithm": algorithm}}
    plan = reprieve.plan(objects, target, now=NOW, config=config).to_dict()
    return sorted(each["pod"].removeprefix("a/") for each in plan["victims"])


@OURS
@pytest.mark.parametrize("names", [("a", "z"), ("z", "a")])
@pytest.mark.parametrize("nodes", [1, 2])
def test_who_saved_its_work_lately_goes_before_who_would_lose_more(
    names: tuple[str, str], nodes: int, algorithm: str
) -> None:
    saved, stale = names
    homes = ["n0", f"n{nodes - 1}"]
    objects = [
        *(node(f"n{i}", str(2 // nodes)) for i in range(nodes)),
        pod(
            saved, "1", on=homes[0], priority=1, start=EARLY, annotations={CHECKPOINT: "2026-01-01T23:59:00Z"}
        ),
        pod(
            stale, "1", on=homes[1], priority=1, start=LATE, annotations={CHECKPOINT: "2026-01-01T11:00:00Z"}
        ),
    ]
    assert victims([*objects, pod("want", "1", priority=9)], "Pod/a/want", algorithm) == [saved]
    waiting = [pod_group("g", 1, priority=9), pod("want", "1", priority=9, group="g")]
    assert victims([*objects, *waiting], "PodGroup/a/g", algorithm) == [saved]


@OURS
def test_a_groups_checkpoint_counts_for_its_pods(algorithm: str) -> None:
    def group(name: str, saved: str, start: str) -> list[dict[str, Any]]:
        made = pod_group(name, 1, priority=1, mode="all", annotations={CHECKPOINT: saved})
        return [made, pod(f"{name}-0", "1", on="n", priority=1, group=name, start=start)]

    old = [*group("saved", "2026-01-01T23:59:00Z", EARLY), *group("stale", "2026-01-01T11:00:00Z", LATE)]
    objects = [node("n", "2"), *old, pod("want", "1", priority=9)]
    assert victims(objects, "Pod/a/want", algorithm) == ["saved-0"]


def test_kube_scheduler_knows_no_checkpoints() -> None:
    objects = [
        node("n", "2"),
        pod("saved", "1", on="n", priority=1, start=EARLY, annotations={CHECKPOINT: "2026-01-01T23:59:00Z"}),
        pod("stale", "1", on="n", priority=1, start=LATE),
        pod("want", "1", priority=9),
    ]
    assert victims(objects, "Pod/a/want", "kubernetes") == ["stale"]


@OURS
@pytest.mark.parametrize("target", ["pod", "gang"])
def test_a_leader_stays_while_a_worker_will_do(target: str, algorithm: str) -> None:
    objects = [
        node("n", "3"),
        pod_group("lws", 1, priority=1, mode="single"),
        pod("lws-z-leader", "1", on="n", priority=1, group="lws", start=LATE, annotations=LEADER),
        pod("lws-a-worker", "1", on="n", priority=1, group="lws", start=EARLY),
        pod("lws-b-worker", "1", on="n", priority=1, group="lws", start=EARLY),
    ]
    waiting = [pod("want", "1", priority=9)] if target == "pod" else gang(1, cpu="1")
    found = victims([*objects, *waiting], "Pod/a/want" if target == "pod" else "PodGroup/a/gang", algorithm)
    assert len(found) == 1
    assert "leader" not in found[0]


@OURS
def test_a_victim_that_would_preempt_others_when_it_comes_back_stays(algorithm: str) -> None:
    """The principle of KEP-5710: of two ways, the one without a cascade. The victim of priority 5 could take
    the place of priority 1; the victim of priority 1 displaces nobody."""
    objects = [
        node("n1", "1"),
        node("n2", "1"),
        pod("mid", "1", on="n1", priority=5),
        pod("low", "1", on="n2", priority=1),
    ]
    assert victims([*objects, pod("want", "1", priority=9)], "Pod/a/want", algorithm) == ["low"]
    waiting = [pod_group("g", 1, priority=9), pod("want", "1", priority=9, group="g")]
    assert victims([*objects, *waiting], "PodGroup/a/g", algorithm) == ["low"]
