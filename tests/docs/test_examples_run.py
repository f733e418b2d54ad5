"""Every command on every page is typed here, and prints what the page shows. The convention is in `tests/docs/pages.py`."""

import ast
import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from reprieve.cli import main
from tests.docs.pages import PAGES, ROOT, Block, Command, blocks, matches, mentioned
from tests.docs.shell import Folder, cluster, unknown
from tests.programs import program

BLOCKS = [block for page in PAGES for block in blocks(page)]
DEFAULT_UP = "reprieve up"
PROGRAMS = {"kubectl": "kubernetes-client", "curl": "curl"}
"""What readers are told to use besides ours, and the packages that bring it."""


def of(language: str) -> list[Any]:
    return [
        pytest.param(block, id=block.where)
        for block in BLOCKS
        if block.language == language and not block.on_cluster
    ]


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("block", of("console"))
def test_commands_print_what_the_page_shows(block: Block, tmp_path: Path) -> None:
    folder = Folder(tmp_path, block.page)
    for command in block.commands:
        folder.run(command)


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({block.page for block in BLOCKS if block.on_cluster}), ids=names)
def test_commands_on_a_cluster_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    commands = [c for block in blocks(page) if block.on_cluster for c in block.commands]
    for name, package in PROGRAMS.items():
        if any(name in command.line for command in commands):
            program(name, package)
    up = next((c.line for c in commands if c.line.startswith("reprieve up")), DEFAULT_UP)
    with cluster(up, tmp_path) as environment:
        folder = Folder(tmp_path, page, environment)
        for command in commands:
            folder.run(command)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_commands_and_options_that_a_page_names_exist(page: Path) -> None:
    assert [problem for line in mentioned(page) if (problem := unknown(line))] == []


@pytest.mark.parametrize("block", of("yaml"))
def test_manifests_are_valid(block: Block, tmp_path: Path) -> None:
    documents = list(yaml.safe_load_all(block.text))
    if all(isinstance(document, dict) and "kind" in document for document in documents):
        (tmp_path / "shown.yaml").write_text(block.text, encoding="utf-8")
        result = CliRunner().invoke(main, ["validate", "-f", str(tmp_path / "shown.yaml")])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("block", of("json"))
def test_json_parses(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", of("python"))
def test_python_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a pod and a node at hand, as pages about other things assume."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    metadata = {"name": "shown"}
    pod = {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    space: dict[str, Any] = {"pod": pod, "node": {"metadata": metadata}}
    code = compile(block.text, block.where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    pending = eval(code, space)
    if inspect.iscoroutine(pending):
        asyncio.run(pending)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a b\n", "a    b\n\n", True),
        ("a...c\n", "abbbc\n", True),
        ("a\n...\nz\n", "a\nb\nc\nz\n", True),
        ("a\n...\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_three_dots_stand_for_anything_and_nothing_else_does(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


def test_a_command_that_fails_fails_the_page(tmp_path: Path) -> None:
    folder = Folder(tmp_path, ROOT / "README.md")
    with pytest.raises(AssertionError, match="exit code 2"):
        folder.run(Command("reprieve plan -f nowhere.yaml --for Pod/a/b"))
    with pytest.raises(AssertionError, match="shown"):
        folder.run(Command("reprieve --version", "reprieve, version 99\n"))
    assert "no option '--nope'" in unknown("kubectl get pods | reprieve plan --nope -f -")
