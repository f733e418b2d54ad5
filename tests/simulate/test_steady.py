"""Headroom and pauses in a simulation: what they save, and that nobody is forgotten over them."""

from reprieve.simulate import measure
from tests.simulate.runs import STEADY, gpu_nodes, one, run, times


def gaps():
    """Important jobs of ten minutes, five minutes apart, and one that takes any gap between them."""
    return [one(f"important-{k}", 900 * k, 600, klass="high") for k in range(12)] + [one("patient", 60, 7200)]


def test_who_would_be_preempted_again_and_again_waits_for_a_place_that_stays_his():
    hasty, steady = (measure(run(gaps(), gpu_nodes(1, 1), name)) for name in ("minimal-cost", STEADY))
    assert (hasty.preemptions, round(hasty.lost_hours, 3)) == (11, 0.917)
    assert (steady.preemptions, steady.lost_hours) == (0, 0)
    waits = [each.classes["high"].delay for each in (steady, hasty)]
    assert [each.mean for each in waits if each is not None] == [0, 0]


def test_a_pause_may_be_longer_than_those_who_wait_in_vain_are_tried(tmp_path):
    patient = tmp_path / "patient.yaml"
    patient.write_text(
        "apiVersion: reprieve.dev/v1alpha1\nkind: ReprieveConfiguration\n"
        "preemption: {returnPause: 9h, maxReturnPause: 9h}\n"
    )
    jobs = [one("low", 0, 100), one("high", 10, 100, klass="high")]
    assert times(run(jobs, gpu_nodes(1, 1), str(patient)))["low"] == (0, 10 + 9 * 3600 + 100)
