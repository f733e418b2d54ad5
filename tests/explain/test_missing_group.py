"""A pod can name a group that nobody has created."""

from datetime import UTC, datetime

from reprieve.explain import Evidence, explain
from tests.builders import pod, pod_group

NOW = datetime(2026, 11, 1, tzinfo=UTC)
POD = pod("lonely", group="nobody", namespace="ml")


def test_a_pod_of_a_missing_group_waits_for_that_group_with_advice() -> None:
    answer = explain("pod/ml/lonely", Evidence([POD]), NOW)
    assert answer.state == "waiting"
    assert answer.waits_for == ["PodGroup ml/nobody, which does not exist or may not be seen"]
    assert answer.would_help == [
        "All of this together: create PodGroup ml/nobody, which spec.schedulingGroup names; "
        "add a node with 1 cpu free. Then its pods fit."
    ]


def test_what_it_waits_for_is_not_repeated_as_advice() -> None:
    answer = explain("pod/ml/lonely", Evidence([POD, pod_group("nobody", namespace="ml")]), NOW)
    assert not set(answer.waits_for) & set(answer.would_help)
