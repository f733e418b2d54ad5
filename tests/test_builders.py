"""What the shared builders build is what a user could apply: a sound document, and a typed view of it."""

import re
from pathlib import Path

import pytest

from reprieve.config import Configuration
from reprieve.objects import PriorityClasses, admit, priority_class_of
from tests.builders import (
    Document,
    budget,
    cluster_queue,
    flavor,
    gang,
    job,
    local_queue,
    node,
    pod,
    pod_group,
    priority_class,
    reserved,
    terminating,
    view,
    workload,
)

EXAMPLES = [
    node("n", 8, zone="z", taints=[{"key": "k", "effect": "NoSchedule"}]),
    pod("p"),
    pod("p", "500m", memory="1Gi", on="n", group="g", priority="high", hostNetwork=True),
    pod("p", None, labels={}),
    terminating(pod("p", on="n")),
    pod_group("g", 3, priority="high", mode="all"),
    pod_group("g", None),
    budget("web", 1, maxUnavailable=1),
    priority_class("high", 7, globalDefault=True),
    job("j", 2, count=3, queue="main", annotations={"reprieve.dev/run-for": "1s"}),
    flavor(),
    cluster_queue("cq", 4, cohort="co", flavors=("a", "b")),
    local_queue("main", "cq"),
    workload("w", 2, count=3, priority=7),
    reserved(workload("w", 2, count=3)),
    *gang(2, priority="high", group={"mode": "single"}),
]


@pytest.mark.parametrize("document", EXAMPLES, ids=lambda each: each["kind"])
def test_every_document_that_is_built_is_let_in(document: Document) -> None:
    known = PriorityClasses([priority_class_of(priority_class("high", 7))])
    assert admit(document, Configuration.load(None).admission_context(known))[1] == []


def test_a_view_is_what_decoding_makes_of_the_document() -> None:
    member = view(pod("p", 2, on="n", group="g", priority="high"))
    assert (member.group_key, member.spec.node_name) == ("default/g", "n")
    assert member.spec.priority_class_name == "high"


def test_given_labels_are_exactly_those_and_a_given_status_comes_on_top() -> None:
    bare = pod("web-0", None, labels={}, status={"nominatedNodeName": "n"})
    assert bare["metadata"] == {"name": "web-0", "namespace": "default"}
    assert bare["status"] == {"phase": "Pending", "nominatedNodeName": "n"}
    assert pod("web-0")["metadata"]["labels"] == {"app": "web"}


def test_a_reserved_workload_holds_what_all_of_its_pods_need() -> None:
    (held,) = reserved(workload("w", 2, count=3))["status"]["admission"]["podSetAssignments"]
    assert held["resourceUsage"] == {"cpu": "6"}


def test_every_kind_of_object_has_one_builder() -> None:
    """A copy under the same name would drift; what builds something else has a name that says so."""
    kinds = "pod|node|pod_group|budget|priority_class|cluster_queue|local_queue|job"
    builder = re.compile(rf"^ *def ({kinds})\((?!self)", re.M)
    here = Path(__file__).parent
    copies = [path for path in here.rglob("*.py") if builder.search(path.read_text(encoding="utf-8"))]
    assert sorted(str(path.relative_to(here)) for path in copies) == ["builders.py"]
