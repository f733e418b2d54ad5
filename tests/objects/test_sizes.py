"""Numbers that no object can have: beyond 64 bits, fewer pods than none, more than one process can hold."""

import pytest

from reprieve.objects import MOST_PODS, size_problems
from reprieve.objects.core import Pod
from reprieve.objects.structure import misfits


@pytest.mark.parametrize(
    ("number", "fits"),
    [(2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False), (5.0, True), (5.5, False),
     (True, False), ("5", False)],
)  # fmt: skip
def test_a_number_has_64_bits(number: object, fits: bool) -> None:
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "generation": number}}
    assert [each.path for each in misfits(document, Pod)] == ([] if fits else ["metadata.generation"])


@pytest.mark.parametrize("field", ["replicas", "parallelism", "completions"])
def test_a_job_has_no_fewer_pods_than_none_and_no_more_than_can_be_held(field: str) -> None:
    def wrong(number: int) -> bool:
        return bool(size_problems({"spec": {field: number}}))

    assert not wrong(0)
    assert not wrong(MOST_PODS)
    assert wrong(MOST_PODS + 1)
    assert wrong(-1) == (field != "replicas"), "a negative number of replicas is refused elsewhere"


def test_an_index_beyond_what_can_be_held_is_refused() -> None:
    most = "9" * len(str(MOST_PODS))
    assert not size_problems({"status": {"completedIndexes": f"0-{most}"}})
    assert size_problems({"status": {"completedIndexes": f"0-{most}9"}})
