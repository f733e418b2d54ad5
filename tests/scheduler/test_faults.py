"""5 % of the requests fail, answers get lost, watches are cut: the result is the same."""

from functools import partial

import pytest
from hypothesis import given

from reprieve.kube import Backoff, Client, kubeconfig
from reprieve.kube import reflector as reflecting
from reprieve.kube.http_transport import HttpTransport
from tests.scale import examples
from tests.scheduler.crashing import Judge
from tests.scheduler.faults import Faulty
from tests.scheduler.live import POD_GROUPS, PODS, cluster, pod, pod_group, scheduling
from tests.strategies.dice import dice


@pytest.fixture
def impatient(monkeypatch):
    """Watches come back within a moment, so that the test is about faults and not about pauses."""
    monkeypatch.setattr(reflecting, "Backoff", partial(Backoff, base=0.05, cap=0.2))


@examples(2, least=2)
@given(dice=dice())
async def test_a_gang_storm_on_a_faulty_network_ends_like_on_a_good_one(impatient, dice):
    judge = Judge({f"n{index:03}": 4000 for index in range(12)})
    async with cluster(12, 4, grace=0.05, background=(judge.watch,)) as live:
        faulty = Faulty(HttpTransport(kubeconfig.load(live.server.kubeconfig)), dice)
        async with scheduling(live, client=Client(faulty)):
            await live.create(POD_GROUPS, *(pod_group(f"low{g}", 6, mode="all") for g in range(4)))
            await live.create(
                PODS, *(pod(f"low{g}-{i}", "2", group=f"low{g}") for g in range(4) for i in range(6))
            )
            await live.until(lambda: len(live.bound("low")) == 24, 60)
            await live.create(POD_GROUPS, *(pod_group(f"high{g}", 6, "high", mode="all") for g in range(3)))
            await live.create(
                PODS,
                *(pod(f"high{g}-{i}", "2", "high", group=f"high{g}") for g in range(3) for i in range(6)),
            )
            await live.until(lambda: len(live.bound("high")) == 18, 60)
            await live.until(lambda: {len(live.bound(f"low{g}-")) for g in range(4)} <= {0, 6}, 30)
    assert judge.complaints == []
    assert faulty.faults.total() > 10
    assert min(faulty.faults[way] for way in ("error", "overload", "refused", "lost")) > 1
    assert faulty.faults["watch cut"] > 0
