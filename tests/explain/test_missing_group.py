"""A pod can name a group that nobody has created."""

from datetime import UTC, datetime

from reprieve.explain import Evidence, explain
from reprieve.explain.sentences import advice, answers, changes
from tests.builders import pod, pod_group

NOW = datetime(2026, 11, 1, tzinfo=UTC)
POD = pod("lonely", group="nobody", namespace="ml")


def test_a_pod_of_a_missing_group_waits_for_that_group_with_advice() -> None:
    answer = explain("pod/ml/lonely", Evidence([POD]), NOW)
    assert answer.state == "waiting"
    assert answer.waits_for == [answers.waits_for_missing_group("ml/nobody")]
    needed = [changes.create_group("ml/nobody"), changes.add_nodes(1, {"cpu": "1"}, {})]
    assert answer.would_help == [advice.remedy(needed, advice.its_pods_fit([], []))]


def test_what_it_waits_for_is_not_repeated_as_advice() -> None:
    answer = explain("pod/ml/lonely", Evidence([POD, pod_group("nobody", namespace="ml")]), NOW)
    assert not set(answer.waits_for) & set(answer.would_help)
