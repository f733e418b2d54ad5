"""What `explain` advises about volumes: what it says would help does, and nothing crashes on the rest."""

from datetime import UTC, datetime
from typing import Any

import pytest

import reprieve
from reprieve.explain import explain
from reprieve.explain.advice.node_changes import EndPods
from reprieve.explain.evidence import Evidence
from reprieve.explain.sentences import advice, changes
from tests.builders import pod
from tests.preemption.test_volume_rules import (
    BAD,
    Document,
    claim,
    csi_bound,
    host,
    limited,
    using,
    volume,
    waiting_class,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONCE: Document = {"accessModes": ["ReadWriteOncePod"]}
DISK: list[Document] = [{"name": "d", "gcePersistentDisk": {"pdName": "disk-1"}}]
FREED: dict[str, list[Document]] = {
    changes.no_more_volumes("a", ["csi.example.com"]): [
        host("a"), limited("a", 1), waiting_class(), *csi_bound("held"), claim("new"),
        using("other", "held", on="a"), using("p", "new"),
    ],
    changes.CLAIM_FOR_ONE_POD: [
        host("a"), claim("one", volume="pv", spec=ONCE),
        volume("pv", claimRef={"namespace": "default", "name": "one", "uid": "u-one"}),
        using("other", "one", on="a"), using("p", "one"),
    ],
    changes.DISK_NOT_SHARED: [
        host("a"), pod("other", volumes=DISK, on="a"), pod("p", volumes=DISK),
    ],
}  # fmt: skip


@pytest.mark.parametrize("why", FREED)
def test_ending_who_holds_what_the_pod_needs_is_advised_and_helps(why: str) -> None:
    answer: Any = explain("Pod/default/p", Evidence(FREED[why]), NOW)
    advised = [change for each in answer.remedies for change in each.changes]
    assert EndPods(pods=["default/other"], why=why) in advised
    left = [each for each in FREED[why] if each["metadata"]["name"] != "other"]
    assert reprieve.plan(left, "Pod/default/p").outcome == "scheduled"


@pytest.mark.parametrize(("objects", "text"), BAD)
def test_claims_that_cannot_be_used_are_explained(objects: list[Document], text: str) -> None:
    documents = [host("a"), waiting_class(), *objects, using("p", "c")]
    answer: Any = explain("Pod/default/p", Evidence(documents), NOW)
    assert all(each.sentence for each in answer.remedies), text


HELD = {
    changes.no_more_volumes("a", ["csi.example.com"]): "evicting it frees 1 slot of csi.example.com on a",
    changes.CLAIM_FOR_ONE_POD: "it uses the claim default/one, which only one pod may use",
    changes.DISK_NOT_SHARED: "it holds the disk disk-1",
}


@pytest.mark.parametrize("why", FREED)
def test_a_victim_that_holds_what_the_pod_needs_is_named_with_that_reason(why: str) -> None:
    documents = [
        {**each, "spec": {**each["spec"], "priority": 9}} if each["metadata"]["name"] == "p" else each
        for each in FREED[why]
    ]
    answer: Any = explain("Pod/default/p", Evidence(documents), NOW)
    plan: Any = reprieve.plan(documents, "Pod/default/p", now=NOW)
    (victim,) = plan.victims
    assert HELD[why] in victim.reason
    assert advice.why_victim("default/other", victim.reason) in answer.would_help
