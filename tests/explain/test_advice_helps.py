"""The promise *advice helps*: what explain tells people to do, done on a copy of the cluster, lets the unit
run.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reprieve import admit, plan
from reprieve.explain import Evidence, carried_out, explain
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import scene
from tests.strategies.quota import NOW, worlds

Document = dict[str, Any]
RUNS = ("scheduled", "preempts")
TODAY = datetime(2026, 4, 2, tzinfo=UTC)


@st.composite
def troubled_scenes(draw: st.DrawFn) -> tuple[list[Document], str]:
    """A cluster with every kind of constraint, and more of what can go wrong with the unit that waits."""
    choices = Choices(draw)
    documents, target = scene(choices)
    waiting = [d for d in documents if d["kind"] == "Pod" and d["metadata"]["name"].startswith("want")]
    for node in (each for each in documents if each["kind"] == "Node"):
        if choices.chance(15):
            node["spec"] = {"unschedulable": True}
        elif choices.chance(10):
            taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
            node["spec"] = {"taints": [taint, *node.get("spec", {}).get("taints", [])]}
    for pod in waiting:
        pod["spec"] = dict(pod["spec"])
    trouble = choices.one_of(
        ("", "", "gate", "scheduler", "selector", "huge", "hostname", "low", "pinned", "few")
    )
    if trouble == "few" and target.startswith("PodGroup/"):
        documents = [each for each in documents if each is not waiting[0]]
    for pod in waiting:
        _trouble(pod["spec"], trouble)
    return documents, target


def _trouble(spec: Document, trouble: str) -> None:
    if trouble == "gate":
        spec["schedulingGates"] = [{"name": "example.test/hold"}]
    elif trouble == "scheduler":
        spec["schedulerName"] = "volcano"
    elif trouble == "selector":
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "accelerator": "gpu"}
    elif trouble == "hostname":
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), "kubernetes.io/hostname": "elsewhere"}
    elif trouble == "huge":
        spec["containers"] = [
            {"name": "c", "resources": {"requests": {"cpu": "64", "example.test/tpu": "8"}}}
        ]
    elif trouble == "pinned":
        field = {"key": "metadata.name", "operator": "In", "values": ["nowhere"]}
        terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        affinity = dict(spec.get("affinity", {}))
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        spec["affinity"] = affinity


@examples(60)
@given(troubled_scenes())
def test_advice_helps(world: tuple[list[Document], str]) -> None:
    documents, target = world
    answer = explain(target, Evidence(documents), TODAY)
    before = plan(documents, target, now=TODAY).outcome
    if answer.state == "waiting" and before not in RUNS:
        assert answer.remedies, answer.would_help
    for each in msgspec.to_builtins(answer.remedies):
        after = carried_out(documents, each["changes"])
        assert plan(after, target, now=TODAY).outcome in RUNS, each["sentence"]
        assert not explain(target, Evidence(after), TODAY).remedies, each["sentence"]


@st.composite
def troubled_quota(draw: st.DrawFn) -> list[Document]:
    documents = draw(worlds(gates=True, waiting=2))
    choices = Choices(draw)
    trouble = choices.one_of(
        ("", "", "stopped", "no flavor", "no queue", "tainted", "labels", "namespace", "large")
    )
    for document in documents:
        spec = document.get("spec", {})
        if trouble == "stopped" and document["kind"] in ("ClusterQueue", "LocalQueue") and choices.chance(50):
            spec["stopPolicy"] = "Hold"
        elif trouble == "namespace" and document["kind"] == "ClusterQueue":
            spec["namespaceSelector"] = {"matchLabels": {"team": "a"}}
        elif trouble == "tainted" and document["kind"] == "ResourceFlavor":
            taint = {"key": "spot", "value": "true", "effect": "NoSchedule"}
            document["spec"] = {"nodeTaints": [taint]}
        elif trouble == "labels" and document["kind"] == "ResourceFlavor":
            document["spec"] = {"nodeLabels": {"pool": "a"}}
        if document["kind"] == "Workload" and "status" not in document:
            template = spec["podSets"][0]["template"]["spec"]
            if trouble == "labels":
                template["nodeSelector"] = {"pool": "b"}
            elif trouble == "large":
                template["containers"][0]["resources"]["requests"] = {"cpu": "64", "example.test/gpu": "1"}
    if trouble == "no flavor":
        documents = [d for d in documents if d["kind"] != "ResourceFlavor"]
    if trouble == "no queue":
        documents = [d for d in documents if d["kind"] != "LocalQueue"]
    return documents


def runs(workload: Document) -> bool:
    """It has quota and keeps it: one that is being evicted queues again, and may be ahead of others."""
    conditions = workload.get("status", {}).get("conditions", ())
    evicted = any(each["type"] == "Evicted" and each["status"] == "True" for each in conditions)
    return "status" in workload and not evicted


def gets_quota(documents: list[Document], key: str) -> bool:
    """With no other workload in the queues, an admission run gives it quota."""
    alone = [
        each
        for each in documents
        if each["kind"] != "Workload" or runs(each) or f"default/{each['metadata']['name']}" == key
    ]
    return any(key in cycle["admitted"] for cycle in admit(alone, now=NOW).to_dict()["cycles"])


@examples(60)
@given(troubled_quota())
def test_advice_about_quota_helps(documents: list[Document]) -> None:
    for waiting in [d for d in documents if d["kind"] == "Workload" and "status" not in d]:
        key = f"default/{waiting['metadata']['name']}"
        answer = explain(f"workload/{key}", Evidence(documents), NOW)
        if not gets_quota(documents, key):
            assert answer.remedies, answer.would_help
        for each in msgspec.to_builtins(answer.remedies):
            after = carried_out(documents, each["changes"])
            assert gets_quota(after, key), each["sentence"]
            assert not explain(f"workload/{key}", Evidence(after), NOW).remedies, each["sentence"]
