"""Many objects at once: the cluster is the same as if they had come one by one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.objects.core import Pod
from reprieve.objects.errors import InvalidObject
from reprieve.objects.meta import Object
from tests import builders
from tests.builders import Document, node, views
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import Scene, scenes

COLUMNS = (
    "node", "cls", "group", "priority", "own_priority", "preemption_class", "start", "checkpoint", "leader",
    "min_runtime_end", "sequence", "terminating", "preempted",
)  # fmt: skip
EXTRAS: tuple[Document, ...] = (
    {"annotations": {"reprieve.dev/min-runtime": "5m"}},
    {"annotations": {"prometheus.io/scrape": "true"}},
    {"annotations": {"reprieve.dev/preemption-priority-class": "high"}},
    {"deletionTimestamp": "2026-01-01T00:00:00Z"},
    {"labels": {"scheduling.x-k8s.io/pod-group": "elsewhere"}},
)
SPECS: tuple[Document, ...] = (
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
    {"volumes": [{"name": "v", "emptyDir": {}}]},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}]},
    {"schedulingGates": [{"name": "wait"}]},
    {"priorityClassName": "system-node-critical"},
    {"preemptionPolicy": "Never"},
    {"nodeName": "not-there"},
)
STATUSES: tuple[Document, ...] = (
    {"phase": "Succeeded"},
    {"nominatedNodeName": "node-0"},
    {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]},
)


def everything(cluster: Cluster) -> dict[str, Any]:
    """The very tables, rows and numbers included."""
    pods, nodes, rows = cluster.pods, cluster.nodes, cluster.pods.rows
    return {
        **{name: getattr(pods, name)[:rows].tolist() for name in COLUMNS},
        "keys": pods.keys,
        "rows": pods.row_of,
        "info": pods.info,
        "classes": [each.key for each in cluster.classes.all],
        "used": nodes.used[:, : nodes.slots].tolist(),
        "filled": nodes.filled[:, : nodes.slots].tolist(),
        "residents": [list(each) for each in cluster.residents],
        "nominated": {name: list(each) for name, each in cluster.nominated.items()},
        "groups": (cluster.groups.number_of, [list(each) for each in cluster.groups.members]),
        "without priority": list(cluster.ranking.without_priority),
        "volumes": dict(cluster.storage.pods),
        "touched": set(cluster.touched),
        "moved": set(cluster.moved),
    }


def dressed_up(choices: Choices, document: Document) -> Document:
    """A pod that says something unusual, now and then."""
    if document["kind"] != "Pod" or choices.chance(50):
        return document
    meta = {**document["metadata"], **choices.one_of(({}, *EXTRAS))}
    spec = {**document["spec"], **choices.one_of(({}, *SPECS))}
    if choices.chance(20):
        spec.pop("priority", None)
    status = {**document.get("status", {}), **choices.one_of(({}, *STATUSES))}
    return {**document, "metadata": meta, "spec": spec, "status": status}


def both_ways(objects: list[Object], gone: list[str], again: list[Object]) -> tuple[Cluster, Cluster]:
    one_by_one, together = Cluster(), Cluster()
    for cluster in (one_by_one, together):
        cluster.let_groups_rule(True)
    for batch in (objects, again):
        for each in batch:
            one_by_one.set(each)
        together.set_all(batch)
        for key in gone:
            one_by_one.remove(Pod, key)
            together.remove(Pod, key)
    return one_by_one, together


@examples(150)
@given(scenes(), st.data())
def test_objects_that_come_together_are_counted_as_if_they_came_one_by_one(
    scene: Scene, data: st.DataObject
) -> None:
    choices = Choices(data.draw)
    objects = views(*(dressed_up(choices, each) for each in scene[0]))
    gone = [each.key for each in objects if isinstance(each, Pod) and choices.chance(20)]
    again = [each for each in objects if choices.chance(50)]
    one_by_one, together = both_ways(objects, gone, again)
    assert everything(together) == everything(one_by_one)


def test_a_pod_that_cannot_be_counted_is_named_and_those_before_it_count() -> None:
    fine, wrong = builders.pod("fine", on="n"), builders.pod("wrong", on="n")
    wrong["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "-1"}}
    cluster = Cluster()
    with pytest.raises(InvalidObject, match="wrong"):
        cluster.set_all(views(node("n", 8), fine, wrong, builders.pod("late", on="n")))
    assert "default/fine" in cluster.pods.row_of
    assert "default/late" not in cluster.pods.row_of
    assert np.count_nonzero(cluster.nodes.used[:, 0])
