"""A pod can name a group that nobody has created."""

from datetime import UTC, datetime

from reprieve.explain import Evidence, explain

NOW = datetime(2026, 11, 1, tzinfo=UTC)
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "lonely", "namespace": "ml"},
    "spec": {"schedulingGroup": {"podGroupName": "nobody"}, "containers": []},
}


def test_a_pod_of_a_missing_group_waits_for_that_group_with_advice() -> None:
    answer = explain("pod/ml/lonely", Evidence([POD]), NOW)
    assert answer.state == "waiting"
    assert answer.waits_for == ["PodGroup ml/nobody, which does not exist or may not be seen"]
    assert answer.would_help == ["Create the PodGroup, or correct the name in spec.schedulingGroup."]


def test_what_it_waits_for_is_not_repeated_as_advice() -> None:
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "nobody", "namespace": "ml"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}},
    }
    answer = explain("pod/ml/lonely", Evidence([POD, group]), NOW)
    assert not set(answer.waits_for) & set(answer.would_help)
