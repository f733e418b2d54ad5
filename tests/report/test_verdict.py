"""The numbers in words: never more precise, and never kinder, than they are."""

from typing import Any

import pytest

from reprieve.report.cases import worst
from reprieve.report.verdict import cautions, cells_of, measures, numbers, sentences
from reprieve.report.wording import amount, beside, moment, percent, points, span
from tests.report.studies import small, study_of
from tests.simulate.runs import gpu_nodes, one

SPANS = {0: "0 s", 0.25: "0.2 s", 9.96: "10 s", 45.4: "45 s", 60: "1 min", 205: "3 min 25 s", 3599.7: "1 h"}
SPANS |= {7500: "2 h 5 min", 86399: "1 d", 90000: "1 d 1 h", 12 * 86400 + 4 * 3600: "12 d 4 h"}


@pytest.mark.parametrize(("seconds", "text"), SPANS.items())
def test_spans_of_time(seconds, text):
    assert span(seconds) == text


def test_other_numbers():
    assert [amount(x) for x in (0, 0.03214, 8.04, 100.9, 12345.6)] == ["0", "0.0321", "8.04", "101", "12,346"]
    assert [moment(x) for x in (0, 3661, 2 * 86400 + 1)] == ["00:00:00", "01:01:01", "2 d 00:00:01"]
    assert [points(x) for x in (0.004, -0.1, 0.0001)] == [
        "0.4 points higher",
        "10.0 points lower",
        "the same",
    ]


def test_nearly_all_is_not_all():
    shown = [percent(share).replace("\u00a0", " ") for share in (0.5, 0.9994, 0.9996, 0.999999, 1.0)]
    assert shown == ["50.0 %", "99.9 %", "99.96 %", "99.99 %", "100.0 %"]


BESIDE = {
    (54.9, 100.9): "46 % less",
    (2.12, 1.0): "2.1 times as much",
    (1.2, 1.0): "20 % more",
    (0, 0): "the same",
    (3, 0): "more",
    (0, 3): "100 % less",
    (1.001, 1.0): "the same",
    (1.006, 1.0): "0.6 % more",
}


@pytest.mark.parametrize(("pair", "said"), BESIDE.items())
def test_one_number_beside_another(pair, said):
    value, base = pair
    assert beside(value, base, "more", "less", "as much") == said


def test_what_nodes_cost_is_not_said_to_be_the_cost_of_preemptions():
    jobs = [one("low", 0, 3600, 8), one("high", 1800, 60, 8, "high")]
    (both,) = sentences(study_of(jobs, gpu_nodes(1), ("kubernetes",), checkpoint=0))
    assert "; 1 preemption cost 4 GPU-hours (goodput" in both
    failing: dict[str, Any] = {"mean_failure": 7200, "repair": 60, "checkpoint": 0}
    (both,) = sentences(study_of(jobs, gpu_nodes(1), ("kubernetes",), **failing))
    assert "; 1 preemption and 1 run that a node ended cost 7.11 GPU-hours (goodput" in both
    alone = study_of(jobs[:1], gpu_nodes(1), ("kubernetes",), **failing)
    lost = amount(alone.runs[0].metrics.lost_hours)
    assert lost != "0"
    assert f"; nobody was preempted; 1 run that a node ended cost {lost} GPU-hours" in sentences(alone)[0]


def test_the_first_configuration_is_what_the_others_are_compared_with():
    first, second = sentences(small())
    assert first.startswith("Under kubernetes a job waits ")
    assert second.startswith("minimal-cost instead of kubernetes: ")
    rows = dict(numbers(small()))
    assert all(not first.beside and second.beside for first, second in rows.values())
    lost = [run.metrics.lost_hours for run in small().runs]
    marks = [cell.mark for cell in rows["GPU-hours lost"]]
    assert marks == (["better", ""] if lost[0] < lost[1] else ["", "better"])


def test_of_three_the_best_and_the_worst_are_marked_and_what_reads_the_same_is_not():
    measure = next(each for each in measures(small()) if each.title == "waiting, mean")
    marks = {
        (60.0, 120.0, 90.0): ["best", "worst", ""],
        (60.0, 120.0): ["better", ""],
        (8075.0, 8125.0): ["", ""],
    }
    for values, expected in marks.items():
        assert [cell.mark for cell in cells_of(measure, list(values))] == expected
    assert [cell.text for cell in cells_of(measure, [8075.0, 8125.0])] == ["2 h 15 min", "2 h 15 min"]


def test_what_did_not_end_is_said():
    jobs = [one("a", 0, 50, gpus=8), one("b", 0, 50, gpus=8), one("huge", 0, 1, gpus=9)]
    study = study_of(jobs, gpu_nodes(1), ("fifo",), until=60)
    (caution,) = cautions(study)
    assert caution.startswith("fifo: 2 jobs of 3 did not end")
    assumed = " ".join(study.assumptions())
    assert "1 job can never run here, larger than the cluster: huge." in assumed
    assert "stops after 1 min" in assumed
    assert "A note about the file." in assumed


def test_who_comes_after_the_end_is_no_job_that_did_not_end():
    jobs = [one("a", 0, 50, gpus=8), one("b", 0, 50, gpus=8), one("later", 100, 1, gpus=8)]
    study = study_of(jobs, gpu_nodes(1), ("fifo",), until=60)
    (caution,) = cautions(study)
    assert caution.startswith("fifo: 1 job of 2 did not end")
    assert "1 job of the trace comes after the end." in study.assumptions()
    assert cautions(study_of([jobs[0], jobs[2]], gpu_nodes(1), ("fifo",), until=60)) == []


def test_a_case_says_why_in_the_words_of_the_decision():
    jobs = [
        one("first", 0, 100, gpus=8),
        one("urgent", 20, 30, gpus=8, klass="high"),
        one("behind", 25, 30, gpus=8, klass="normal"),
    ]
    study = study_of(jobs, gpu_nodes(1), ("kubernetes", "fifo"), checkpoint=0)
    cases = {case.name: case for case in worst(study, study.runs[0])}
    first = cases["first"]
    assert first.because.startswith("lost most: ")
    evicted = next(each for each in first.life if each.kind == "evicted")
    assert evicted.text.startswith("Made way for urgent (class high, 8 GPUs")
    assert any("would be 8 nvidia.com/gpu short for simulate/urgent" in each for each in evicted.details)
    assert "It lost 0.0444 GPU-hours." in evicted.details
    assert [each.time for each in first.life] == sorted(each.time for each in first.life)
    refused = next(each for each in cases["behind"].life if each.kind == "refused")
    assert "behind has no place, and nobody was touched" in refused.text
    assert first.elsewhere == (("fifo", "started at once and ended 1 min 40 s after its submission"),)


def test_a_name_that_no_object_could_have_is_explained_too():
    jobs = [one("a/b", 0, 100, gpus=8), one("urgent", 20, 30, gpus=8, klass="high")]
    study = study_of(jobs, gpu_nodes(1), ("kubernetes",))
    (case, *_) = worst(study, study.runs[0])
    assert case.name == "a/b"
    assert any("short for simulate/urgent" in text for each in case.life for text in each.details)


def test_twenty_cases_at_most_and_none_twice():
    for run in small().runs:
        cases = worst(small(), run)
        assert 5 <= len(cases) <= 20
        assert len({case.job for case in cases}) == len(cases)


def test_without_a_record_the_cases_are_there_without_reasons():
    jobs = [one("first", 0, 100, gpus=8), one("urgent", 20, 30, gpus=8, klass="high")]
    study = study_of(jobs, gpu_nodes(1), ("kubernetes",), record=False)
    (case, *_) = worst(study, study.runs[0])
    assert [each.text for each in case.life if each.kind == "evicted"] == ["Made way for urgent."]


def test_an_index_is_lower_not_fewer():
    (jain,) = (each for each in measures(small()) if "Jain" in each.title)
    assert jain.beside(0.9, 1.0) == "10 % lower"


def test_an_eviction_whose_grace_period_the_end_cuts_off_has_its_reasons_all_the_same():
    jobs = [one("low", 0, 1000, 8), one("high", 60, 10, 8, "high")]

    def reasons(until: float) -> tuple[str, ...]:
        study = study_of(jobs, gpu_nodes(1), ("kubernetes",), grace=30, until=until)
        life = next(case.life for case in worst(study, study.runs[0]) if case.name == "low")
        return next(each.details for each in life if each.kind == "evicted")[:-1]

    assert len(reasons(500)) > 0
    assert reasons(80) == reasons(500)
