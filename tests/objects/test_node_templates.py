"""Nodes from one line of text."""

import pytest

from reprieve.objects import NodeTemplate, TemplateError


def test_a_template_makes_nodes_with_their_resources() -> None:
    template = NodeTemplate.parse("h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8")
    nodes = template.nodes()
    assert [n["metadata"]["name"] for n in nodes] == [f"h100-{i}" for i in range(8)]
    assert nodes[0]["status"]["allocatable"] == {
        "cpu": "96",
        "ephemeral-storage": "100Gi",
        "memory": "1Ti",
        "nvidia.com/gpu": "8",
        "pods": "110",
    }
    assert nodes[0]["metadata"]["labels"]["kubernetes.io/hostname"] == "h100-0"


def test_neighbouring_racks_are_in_one_block() -> None:
    def blocks(text: str) -> list[str]:
        labels = [node["metadata"]["labels"] for node in NodeTemplate.parse(text).nodes()]
        return [each["topology.kubernetes.io/block"] for each in labels]

    assert blocks("a=4:cpu=1;racks=4;blocks=2") == ["a-block-0", "a-block-0", "a-block-1", "a-block-1"]
    assert blocks("a=3:cpu=1;blocks=2") == ["a-block-0", "a-block-1", "a-block-0"]


def test_zones_racks_labels_and_taints_are_dealt_out() -> None:
    text = "a=4:cpu=1;zones=x,y;racks=3;labels=pool=gpu,team=ml;taints=spot=true:NoSchedule"
    nodes = NodeTemplate.parse(text).nodes()
    labels = [n["metadata"]["labels"] for n in nodes]
    assert [each["topology.kubernetes.io/zone"] for each in labels] == ["x", "y", "x", "y"]
    assert [each["topology.kubernetes.io/rack"] for each in labels] == [
        "a-rack-0",
        "a-rack-1",
        "a-rack-2",
        "a-rack-0",
    ]
    assert labels[0]["pool"] == "gpu"
    assert nodes[0]["spec"]["taints"] == [{"key": "spot", "value": "true", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no name"),
        ("h100=8", "no resources; write h100=8:cpu=8,memory=32Gi"),
        ("3", "no resources; write node=3:cpu=8,memory=32Gi"),
        ("h100=x:cpu=1", "no number of nodes"),
        ("h100=0:cpu=1", "no number of nodes"),
        ("h100=9999999:cpu=1", "no number of nodes"),
        ("H_!=2:cpu=1", "no name"),
        ("h=2:cpu", "no amount"),
        ("h=2:cpu=lots", "no amount"),
        ("h=2:cpu=-1", "no amount"),
        ("h=2:cpu=1;color=red", "unknown option"),
        ("h=2:cpu=1;taints=a", "no taint"),
        ("h=2:cpu=1;labels=a", "no label"),
        ("h=2:cpu=1;racks=two", "no number"),
        ("h=2:cpu=1;blocks=two", "blocks='two' is no number"),
        ("h=2:cpu=1;devices=gpu", "are no devices; write CLASS:COUNT"),
        ("h=2:cpu=1;devices=gpu:0", "no devices"),
        ("h=2:cpu=1;devices=gpu:999", "at most 128"),
        ("h=2:cpu=1;devices=gpu:2:model", "no devices"),
        ("h=2:cpu=1;devices=gpu:2;devices=gpu:1", "each class once"),
    ],
)
def test_a_bad_template_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said):
        NodeTemplate.parse(text)
