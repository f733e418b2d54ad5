"""KEP-8303 as it was proposed: its conditions, its spelling of gates, gates of others, timeouts of queues."""

from datetime import timedelta

from reprieve.fleet import FleetSettings, sentences, step
from reprieve.fleet.actions import OpenGate
from reprieve.fleet.dispatch import new_copy
from reprieve.fleet.settings import settings_from
from tests.fleet.build import NOW, blocked, copy, group, is_so, local
from tests.fleet.test_gates import turn

SETTINGS = FleetSettings()


def opened(decision) -> list[str]:
    return [action.cluster for action in decision.actions if isinstance(action, OpenGate)]


def gated(seconds_ago: float, **options):
    return copy(is_so("QuotaReserved", seconds_ago, "False", reason="PreemptionGated"), **options)


def test_the_reason_of_quota_reserved_is_a_signal_too() -> None:
    assert opened(step(group(local(), a=gated(10), b=gated(20)), SETTINGS, NOW)) == ["b"]
    assert opened(step(group(local(), a=blocked(30), b=gated(20)), SETTINGS, NOW)) == ["a"]
    waits = copy(is_so("QuotaReserved", 20, "False", reason="WaitingForQuota"))
    assert opened(step(group(local(), a=waits), SETTINGS, NOW)) == []


def test_an_open_gate_may_be_spelled_as_a_state() -> None:
    holder = gated(100)
    [gate] = holder["status"]["preemptionGates"]
    gate["state"] = "Open"
    del gate["position"]
    decision = step(group(local(), a=holder, b=gated(20)), SETTINGS, NOW)
    assert opened(decision) == []
    assert decision.reasons == (sentences.has_its_turn("a", decision.requeue_after),)


def test_gates_of_others_survive_dispatch() -> None:
    workload = local()
    workload["spec"]["preemptionGates"] = [{"name": "example.com/mine"}]
    names = [gate["name"] for gate in new_copy(workload, SETTINGS)["spec"]["preemptionGates"]]
    assert names == ["example.com/mine", "kueue.x-k8s.io/multikueue"]
    ungated = new_copy(workload, FleetSettings(gated=False))
    assert ungated["spec"]["preemptionGates"] == [{"name": "example.com/mine"}]


def test_a_cluster_queue_may_have_its_own_timeout() -> None:
    settings = settings_from(
        {
            "featureGates": {"MultiKueueOrchestratedPreemption": True},
            "fleet": {"clusterQueuePreemptionTimeouts": {"quick": "60s"}},
        }
    )
    assert settings.timeout == timedelta(minutes=5)
    for queue, expected in (("quick", ["b"]), ("other", [])):
        workload = local(ledger=turn("a", 100), admission={"clusterQueue": queue})
        holder = copy(is_so("BlockedOnPreemptionGates", 100), gate="Open", moved=100)
        assert opened(step(group(workload, a=holder, b=blocked(20)), settings, NOW)) == expected
