"""What a list brings when it is read for the first time: taken in together, with the result of one by one."""

from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import state
from reprieve.config import Configuration
from reprieve.objects import Reference, well_known
from reprieve.objects.meta import Object
from reprieve.scheduler import Core, marks
from tests.builders import Document, views
from tests.cluster.tables import CLASSES, dressed_up, everything
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import Scene, scenes

SETTINGS: tuple[Document, ...] = (
    {},
    {"preemption": {"headroom": "10m", "returnPause": "1m"}},
    {"featureGates": {"GenericWorkload": False, "GangScheduling": False}},
)
MARK = marks.preemption("reprieve", Reference("Pod", "a", "want"), 1000, "why")


def of_a_scheduler(choices: Choices, document: Document) -> Document:
    """A pod of ours, or of another scheduler; some are marked, or belong to a Job in a queue."""
    document = dressed_up(choices, document)
    if document["kind"] != "Pod":
        return document
    meta, spec = dict(document["metadata"]), dict(document["spec"])
    spec["schedulerName"] = choices.one_of(("reprieve", "other"))
    status = dict(document.get("status", {}))
    if choices.chance(10):
        meta["annotations"] = {well_known.EVICTED_FOR_ANNOTATION: MARK.annotation}
        condition = {"type": "DisruptionTarget", "status": "True"}
        status["conditions"] = [{**condition, "reason": MARK.reason, "message": MARK.message}]
    if choices.chance(20):
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job-1", "controller": True}
        meta["ownerReferences"] = [owner]
    if choices.chance(20):
        meta["labels"] = {**meta.get("labels", {}), well_known.QUEUE_LABEL: "q"}
    return {**document, "metadata": meta, "spec": spec, "status": status}


def knowledge(core: Core) -> dict[str, Any]:
    """All that a scheduler knows and decides by."""
    memory = core.memory
    waiting, headroom, holds = memory.waiting, memory.headroom, memory.holds
    above = {
        priority: {resource: (each._held, list(each._peaks)) for resource, each in by_resource.items()}
        for priority, by_resource in headroom._above.items()
    }
    return everything(core.cluster) | {
        "waiting": (waiting.pods, waiting._free, waiting._gated, waiting._held),
        "queue": [
            (unit.ref, unit.state, unit.priority, unit.ticket, unit.ready_at, list(unit.pods), unit.told)
            for unit in core.queue.units.values()
        ],
        "marked": memory.marked,
        "told": (memory.untold, memory.unread, memory.diverging),
        "epoch": memory.epoch,
        "headroom": (headroom._held, above),
        "returns": memory.returns._past,
        "owners": {uid: each.pods._order for uid, each in holds._owners.items()},
        "claims": {uid: each._order for uid, each in holds._claims.items()},
        "nominations": (core.nominations._made, core.nominations._turn),
        "incomplete": (memory.incomplete._controlled, memory.incomplete.marked),
    }


def both_ways(settings: Document, with_quota: bool, objects: list[Object]) -> tuple[Core, Core]:
    cores = tuple(Core(Configuration.load(settings), "reprieve") for _ in range(2))
    for core in cores:
        if with_quota:
            core.count_quota((), 1.0)
    one_by_one, together = cores
    for each in objects:
        one_by_one.observe("ADDED", None, each, 5.0)
    with patch.multiple(state, FEW=1):
        together.observe_all(objects, 5.0)
    return one_by_one, together


@examples(120)
@given(scenes(), st.sampled_from(SETTINGS), st.booleans(), st.data())
def test_a_scheduler_knows_the_same_after_a_list_as_after_each_of_its_objects(
    scene: Scene, settings: Document, with_quota: bool, data: st.DataObject
) -> None:
    choices = Choices(data.draw)
    objects = views(*CLASSES, *(of_a_scheduler(choices, each) for each in scene[0]))
    one_by_one, together = both_ways(settings, with_quota, objects)
    assert knowledge(together) == knowledge(one_by_one)
