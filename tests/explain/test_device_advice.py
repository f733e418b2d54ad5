"""Advice about devices: whose end would give the pod what it needs, tried out before it is given."""

from pathlib import Path

import yaml

import reprieve
from reprieve.explain.advice.node_changes import EndPods
from tests.builders import Document
from tests.explain.test_every_reason import NOW, Evidence, explain, helps

PARTITIONS = Path("examples/08-partitions/cluster.yaml")


def without_preemption() -> list[Document]:
    """Everybody is equally important."""
    documents: list[Document] = list(yaml.safe_load_all(PARTITIONS.read_text()))
    for each in documents:
        if each["kind"] == "Pod":
            each["spec"]["priorityClassName"] = "batch"
    return documents


def test_advice_about_devices_helps() -> None:
    documents = without_preemption()
    assert "cannot allocate all claims" in str(reprieve.plan(documents, "pod/ml/train").to_dict()["message"])
    helps(documents, "pod/ml/train")


def test_it_names_whom_to_wait_for_on_each_node_and_nobody_in_vain() -> None:
    found = explain("pod/ml/train", Evidence(without_preemption()), NOW, None).remedies
    ended = [each.pods for remedy in found for each in remedy.changes if isinstance(each, EndPods)]
    assert ended == [["ml/etl-1", "ml/etl-2"], ["ml/notebook"]]
