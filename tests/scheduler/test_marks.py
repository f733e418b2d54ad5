"""The mark on a victim: what is written for programs is what recovery reads, whatever becomes of the
sentence.
"""

import pytest

from reprieve.objects import Pod, Reference, decode, well_known
from reprieve.scheduler import marks
from tests.builders import node
from tests.scheduler.world import World, pod

HIGH = Reference("Pod", "ns", "high", "uid-high")
GANG = Reference("PodGroup", "ml", "train", "uid-train")
SENTENCE = "reprieve: preempting to accommodate a higher priority pod ns/high (priority 100): x"


def marked(reason: str, message: str, annotation: str = "") -> Pod:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
    document = pod("v", on="n1")
    document["metadata"]["annotations"] = {well_known.EVICTED_FOR_ANNOTATION: annotation}
    document["status"] = {"conditions": [condition]}
    view = decode(document)
    assert isinstance(view, Pod)
    return view


@pytest.mark.parametrize(
    ("mark", "unit"),
    [
        (marks.preemption("reprieve", HIGH, 100, "x"), Reference("Pod", "ns", "high")),
        (marks.preemption("reprieve", GANG, 100, "x"), Reference("PodGroup", "ml", "train")),
        (marks.release("reprieve", GANG, "why"), Reference("PodGroup", "ml", "train")),
    ],
)
class TestReading:
    def test_what_was_written_is_read_back(self, mark: marks.Mark, unit: Reference) -> None:
        assert marks.read(marked(*mark), mark.reason) == ("reprieve", unit)

    def test_the_sentence_may_be_edited(self, mark: marks.Mark, unit: Reference) -> None:
        edited = mark._replace(message="going at 5 pm, ask Ada")
        assert marks.read(marked(*edited), mark.reason) == ("reprieve", unit)

    @pytest.mark.parametrize(
        "annotation", ["", "{", "[]", '{"scheduler":"x"}', '{"scheduler":"x","for":"y"}']
    )
    def test_a_mark_in_words_alone_is_understood(
        self, mark: marks.Mark, unit: Reference, annotation: str
    ) -> None:
        """An older version wrote it, or somebody spoiled the annotation."""
        assert marks.read(marked(mark.reason, mark.message, annotation), mark.reason) == ("reprieve", unit)

    def test_another_reason_is_another_matter(self, mark: marks.Mark, unit: Reference) -> None:
        assert marks.read(marked(*mark._replace(reason="EvictionByEvictionAPI")), mark.reason) is None


def test_the_annotation_is_small_and_plain() -> None:
    annotation = marks.preemption("reprieve", GANG, 100, "x").annotation
    assert annotation == '{"scheduler":"reprieve","for":"PodGroup/ml/train","uid":"uid-train"}'


def test_kube_schedulers_marks_are_not_ours() -> None:
    message = "default-scheduler: preempting to accommodate a higher priority pod"
    assert marks.read(marked("PreemptionByScheduler", message)) is None


class TestRecovery:
    def begun(self, message: str, annotation: str) -> World:
        """A victim is marked, its preemptor nominated; the scheduler died before the deletion."""
        world = World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100), graceful=True)
        world.mark("v", "PreemptionByScheduler", message, annotation)
        world.change("Pod", "high", status={"nominatedNodeName": "n1"})
        return world

    @pytest.mark.parametrize(
        ("message", "annotation"),
        [
            (SENTENCE, marks.preemption("reprieve", HIGH, 100, "x").annotation),
            ("edited by a person", marks.preemption("reprieve", HIGH, 100, "x").annotation),
            (SENTENCE, ""),
        ],
        ids=["new mark", "edited sentence", "old mark"],
    )
    def test_an_eviction_that_was_begun_is_finished(self, message: str, annotation: str) -> None:
        assert self.begun(message, annotation).restart().evictions == ["v"]

    def test_a_reprieve_takes_the_annotation_off(self) -> None:
        world = self.begun("edited by a person", marks.preemption("reprieve", HIGH, 100, "x").annotation)
        world.remove("Pod", "high")
        fresh = world.restart()
        assert fresh.evictions == []
        assert fresh.condition("Pod", "v", "DisruptionTarget")["status"] == "False"
        assert fresh.documents["Pod", "v"]["metadata"]["annotations"] == {}

    def test_a_mark_changes_nothing_that_a_decision_reads(self) -> None:
        world = World(node("n1", 2), pod("v", 2, 1, on="n1"), pod("high", 2, 100), graceful=True)
        epoch = world.core.memory.epoch
        world.mark("v", *marks.preemption("reprieve", HIGH, 100, "x"))
        assert world.core.memory.epoch == epoch
        assert set(world.core.memory.marked) == {"ns/v"}
