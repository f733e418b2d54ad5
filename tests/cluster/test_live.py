"""A scheduler's day: objects change between decisions, and every decision equals that of a cluster made
afresh.
"""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.preemption import decide
from tests.scale import examples
from tests.strategies.cluster import Document, scene


@examples(120)
@given(st.integers(0, 2**32), st.sampled_from(["kubernetes", "kep-5710"]))
def test_decisions_between_changes_equal_those_of_a_fresh_cluster(seed: int, algorithm: str) -> None:
    random = Random(seed)
    documents, target = scene(random)
    for_ = Reference.parse(target)
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    cluster = Cluster()
    present = {_key(each): each for each in documents}
    for each in documents:
        cluster.set(decode(each))
    for _ in range(10):
        _change(random, cluster, present, target)
        fresh = Cluster()
        for each in present.values():
            fresh.set(decode(each))
        assert decide(cluster, for_, config, 0) == decide(fresh, for_, config, 0)


def _key(document: Document) -> tuple[str, str]:
    return document["kind"], f"{document['metadata'].get('namespace', '')}/{document['metadata']['name']}"


def _change(random: Random, cluster: Cluster, present: dict[tuple[str, str], Document], target: str) -> None:
    """A pod ends, moves or starts, a node or group or budget changes: mostly what a cluster does all day."""
    running = [k for k, each in present.items() if k[0] == "Pod" and each["spec"].get("nodeName")]
    nodes = [k for k in present if k[0] == "Node"]
    groups = [k for k in present if k[0] == "PodGroup" and not target.endswith(k[1])]
    match random.randint(0, 7):
        case 0 if running:
            key = random.choice(running)
            view = decode(present.pop(key))
            cluster.remove(type(view), view.key)
        case 1 if running:
            name = f"fresh-{random.randint(0, 10**6)}"
            model = present[random.choice(running)]
            meta = {**model["metadata"], "name": name}
            spec = {
                **model["spec"],
                "nodeName": random.choice(nodes)[1].removeprefix("/"),
                "priority": random.choice((0, 10, 100)),
            }
            _set(cluster, present, {**model, "metadata": meta, "spec": spec})
        case 2:
            key = random.choice(nodes)
            allocatable = {"cpu": str(random.randint(1, 8)), "memory": "8Gi", "pods": "20"}
            _set(cluster, present, {**present[key], "status": {"allocatable": allocatable}})
        case 5:
            _set(cluster, present, _altered_node(random, present[random.choice(nodes)]))
        case 6:
            model = _altered_node(random, present[random.choice(nodes)])
            name = f"late-{random.randint(0, 3)}"
            labels = {**model["metadata"]["labels"], "kubernetes.io/hostname": name}
            _set(cluster, present, {**model, "metadata": {"name": name, "labels": labels}})
        case 7 if len(nodes) > 1:
            view = decode(present.pop(random.choice(nodes)))
            cluster.remove(type(view), view.key)
        case 3 if groups:
            key = random.choice(groups)
            spec = {
                **present[key]["spec"],
                "priority": random.choice((0, 10, 100)),
                "disruptionMode": random.choice(({"all": {}}, {"single": {}})),
            }
            _set(cluster, present, {**present[key], "spec": spec})
        case _ if running:
            key = random.choice(running)
            spec = {**present[key]["spec"], "priority": random.choice((0, 10, 100))}
            _set(cluster, present, {**present[key], "spec": spec})


def _altered_node(random: Random, node: Document) -> Document:
    """Other labels, taints, images or a cordon; the next node may have them, too."""
    labels = {**node["metadata"]["labels"], "pool": random.choice("xy")}
    if random.random() < 0.5:
        labels["topology.kubernetes.io/zone"] = f"z{random.randint(0, 2)}"
    spec = random.choice(
        (
            {},
            {"unschedulable": True},
            {
                "taints": [
                    {
                        "key": "dedicated",
                        "value": "p",
                        "effect": random.choice(("NoSchedule", "PreferNoSchedule")),
                    }
                ]
            },
        )
    )
    images = [{"names": ["i:latest"], "sizeBytes": random.choice((300, 900)) * 2**20}] * random.randint(0, 1)
    return {
        **node,
        "metadata": {**node["metadata"], "labels": labels},
        "spec": spec,
        "status": {**node["status"], "images": images},
    }


def _set(cluster: Cluster, present: dict[tuple[str, str], Document], document: Document) -> None:
    present[_key(document)] = document
    cluster.set(decode(document))
