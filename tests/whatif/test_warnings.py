"""What a plan does not know, it says: in the table, in JSON, and on the page, which asks the same."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import reprieve
from reprieve.cli import main
from reprieve.dashboard.worker import Question, answer
from tests.builders import Document, node, pod


def reasons(objects: list[Document], target: str = "Pod/default/p") -> str:
    plan: Any = reprieve.plan(objects, target)
    return " ".join(plan.reasons)


LOST = pod("lost", on="gone")
WARNING = "on a node that is not among the objects, so they count nowhere: default/lost (gone)"


def test_a_claim_that_is_not_there_is_named() -> None:
    claimed = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    assert 'could not find ResourceClaim "default/gpu"' in reasons([node(), claimed])
    claimed = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])
    assert 'pod "default/p": ResourceClaim not created yet' in reasons([node(), claimed])


def test_volumes_that_every_node_has_need_no_warning() -> None:
    volumes = [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "configMap": {"name": "c"}},
        {"name": "c", "secret": {}},
    ]
    assert "Warning" not in reasons([node(), pod("p", volumes=volumes)])


def test_the_warning_is_in_the_table_in_json_and_in_a_comparison(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(json.dumps({"kind": "List", "items": [node(), LOST, pod("p")]}))
    line = ["plan", "-f", str(tmp_path), "--for", "Pod/default/p"]
    for more in ([], ["-o", "json"], ["-o", "yaml"], ["--compare"], ["--compare", "-o", "json"]):
        assert "on a node that is not among" in CliRunner().invoke(main, [*line, *more]).output


def test_the_page_gives_the_planners_answer_with_its_warnings() -> None:
    waiting = pod("p")
    question = Question(json.dumps(waiting), "", None, 10, 1 << 30)
    shown = answer(question, [node(), LOST])
    planned: Any = reprieve.plan([node(), LOST, waiting], "Pod/default/p").to_dict()
    assert shown == planned
    assert any(WARNING in reason for reason in shown["reasons"])
    page = (Path(reprieve.__file__).parent / "dashboard/static/views/whatif.js").read_text()
    assert "list=${plan.reasons}" in page
