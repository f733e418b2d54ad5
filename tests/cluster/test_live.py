"""A scheduler's day: objects change between decisions, and every decision equals that of a cluster made
afresh.
"""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.preemption import decide
from tests.builders import Document
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import Scene, scenes


@examples(120)
@given(scenes(), st.sampled_from(["kubernetes", "kep-5710"]), st.data())
def test_decisions_between_changes_equal_those_of_a_fresh_cluster(
    scene: Scene, algorithm: str, data: st.DataObject
) -> None:
    choices = Choices(data.draw)
    documents, target = scene
    for_ = Reference.parse(target)
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    cluster = Cluster()
    present = {_key(each): each for each in documents}
    for each in documents:
        cluster.set(decode(each))
    for _ in range(10):
        _change(choices, cluster, present, target)
        fresh = Cluster()
        for each in present.values():
            fresh.set(decode(each))
        assert decide(cluster, for_, config, 0) == decide(fresh, for_, config, 0)


def _key(document: Document) -> tuple[str, str]:
    return document["kind"], f"{document['metadata'].get('namespace', '')}/{document['metadata']['name']}"


def _change(
    choices: Choices, cluster: Cluster, present: dict[tuple[str, str], Document], target: str
) -> None:
    """A pod ends, moves or starts, a node or group or budget changes: mostly what a cluster does all day."""
    running = [k for k, each in present.items() if k[0] == "Pod" and each["spec"].get("nodeName")]
    nodes = [k for k in present if k[0] == "Node"]
    groups = [k for k in present if k[0] == "PodGroup" and not target.endswith(k[1])]
    match choices.number(0, 7):
        case 0 if running:
            key = choices.one_of(running)
            view = decode(present.pop(key))
            cluster.remove(type(view), view.key)
        case 1 if running:
            name = f"fresh-{choices.number(0, 10**6)}"
            model = present[choices.one_of(running)]
            meta = {**model["metadata"], "name": name}
            spec = {
                **model["spec"],
                "nodeName": choices.one_of(nodes)[1].removeprefix("/"),
                "priority": choices.one_of((0, 10, 100)),
            }
            _set(cluster, present, {**model, "metadata": meta, "spec": spec})
        case 2:
            key = choices.one_of(nodes)
            allocatable = {"cpu": str(choices.number(1, 8)), "memory": "8Gi", "pods": "20"}
            _set(cluster, present, {**present[key], "status": {"allocatable": allocatable}})
        case 5:
            _set(cluster, present, _altered_node(choices, present[choices.one_of(nodes)]))
        case 6:
            model = _altered_node(choices, present[choices.one_of(nodes)])
            name = f"late-{choices.number(0, 3)}"
            labels = {**model["metadata"]["labels"], "kubernetes.io/hostname": name}
            _set(cluster, present, {**model, "metadata": {"name": name, "labels": labels}})
        case 7 if len(nodes) > 1:
            view = decode(present.pop(choices.one_of(nodes)))
            cluster.remove(type(view), view.key)
        case 3 if groups:
            key = choices.one_of(groups)
            spec = {
                **present[key]["spec"],
                "priority": choices.one_of((0, 10, 100)),
                "disruptionMode": choices.one_of(({"all": {}}, {"single": {}})),
            }
            _set(cluster, present, {**present[key], "spec": spec})
        case _ if running:
            key = choices.one_of(running)
            spec = {**present[key]["spec"], "priority": choices.one_of((0, 10, 100))}
            _set(cluster, present, {**present[key], "spec": spec})


def _altered_node(choices: Choices, node: Document) -> Document:
    """Other labels, taints, images or a cordon; the next node may have them, too."""
    labels = {**node["metadata"]["labels"], "pool": choices.one_of("xy")}
    if choices.chance(50):
        labels["topology.kubernetes.io/zone"] = f"z{choices.number(0, 2)}"
    spec = choices.one_of(
        (
            {},
            {"unschedulable": True},
            {
                "taints": [
                    {
                        "key": "dedicated",
                        "value": "p",
                        "effect": choices.one_of(("NoSchedule", "PreferNoSchedule")),
                    }
                ]
            },
        )
    )
    images = [{"names": ["i:latest"], "sizeBytes": choices.one_of((300, 900)) * 2**20}] * choices.number(0, 1)
    return {
        **node,
        "metadata": {**node["metadata"], "labels": labels},
        "spec": spec,
        "status": {**node["status"], "images": images},
    }


def _set(cluster: Cluster, present: dict[tuple[str, str], Document], document: Document) -> None:
    present[_key(document)] = document
    cluster.set(decode(document))
