"""What a plan does not know, it says: in the table, in JSON, and on the page, which asks the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import reprieve
from reprieve.cli import main
from reprieve.dashboard.worker import Question, answer
from tests.builders import Document, document, gang, node, pod


def reasons(objects: list[Document], target: str = "Pod/default/p") -> str:
    plan: Any = reprieve.plan(objects, target)
    return " ".join(plan.reasons)


DEVICE: dict[str, Any] = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
CLAIMED: list[tuple[dict[str, Any], str]] = [
    (DEVICE, "ResourceClaim default/gpu (not among the objects)"),
    (
        {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]},
        "ResourceClaimTemplate default/gpu (not among the objects)",
    ),
]


@pytest.mark.parametrize(("spec", "named"), CLAIMED)
def test_a_claim_that_nobody_checked_is_named(spec: dict[str, Any], named: str) -> None:
    text = reasons([node(), pod("p", **spec)])
    assert f"Warning: claims are not checked: {named}." in text
    assert "They can keep the pods from nodes that are said to fit, or from every node." in text


def test_a_claim_that_is_there_is_not_said_to_be_missing() -> None:
    claim = document("ResourceClaim", "gpu", "default") | {"apiVersion": "resource.k8s.io/v1"}
    assert "claims are not checked: ResourceClaim default/gpu. " in reasons(
        [node(), claim, pod("p", **DEVICE)]
    )


def test_claims_of_all_waiting_members_of_a_gang_are_named_and_nobody_elses() -> None:
    members = gang(2, 1)
    for number, member in enumerate(members[1:]):
        member["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": f"data-{number}"}]
    other = pod("other", on="n", resourceClaims=[{"name": "x", "resourceClaimName": "theirs"}])
    for target in ("PodGroup/default/gang", "Pod/default/gang-1"):
        text = reasons([node(), *members, other], target)
        assert "data-0" in text
        assert "data-1" in text
        assert "theirs" not in text


def test_volumes_that_every_node_has_need_no_warning() -> None:
    volumes = [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "configMap": {"name": "c"}},
        {"name": "c", "secret": {}},
    ]
    assert "Warning" not in reasons([node(), pod("p", volumes=volumes)])


def test_the_warning_is_in_the_table_in_json_and_in_a_comparison(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(json.dumps({"kind": "List", "items": [node(), pod("p", **DEVICE)]}))
    line = ["plan", "-f", str(tmp_path), "--for", "Pod/default/p"]
    for more in ([], ["-o", "json"], ["-o", "yaml"], ["--compare"], ["--compare", "-o", "json"]):
        assert "claims are not checked" in CliRunner().invoke(main, [*line, *more]).output


def test_the_page_gives_the_planners_answer_with_its_warnings() -> None:
    claimed = pod("p", **DEVICE)
    question = Question(json.dumps(claimed), "", None, 10, 1 << 30)
    shown = answer(question, [node()])
    planned: Any = reprieve.plan([node(), claimed], "Pod/default/p").to_dict()
    assert shown == planned
    assert any("claims are not checked" in reason for reason in shown["reasons"])
    page = (Path(reprieve.__file__).parent / "dashboard/static/views/whatif.js").read_text()
    assert "list=${plan.reasons}" in page
