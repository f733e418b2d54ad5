"""Every command on every page is typed here, and prints what the page shows. The convention is in
`tests/docs/pages.py`.
"""

import ast
import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from click.testing import CliRunner
from msgspec.structs import fields

from reprieve.cli import main
from reprieve.preemption.plan import Plan
from tests.docs.pages import LANGUAGES, ON_CLUSTER, PAGES, ROOT, Block, Command, blocks, inline, matches
from tests.docs.shell import ELSEWHERE, LASTING, NAMED, STORY, Folder, elsewhere, unknown
from tests.docs.staying import cluster, use
from tests.programs import program


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


BLOCKS = [block for page in PAGES for block in blocks(page)]
INLINE = {page: [Command(line) for line in inline(page) if not NAMED.match(line)] for page in PAGES}
PAGE_OF = {c.line: block.page for block in BLOCKS for c in block.commands} | {
    c.line: page for page, commands in INLINE.items() for c in commands
}
"""Every command line, and a page that has it."""
OWN_UP = {
    page: next(
        (c.line for block in blocks(page) for c in block.commands if c.line.startswith("reprieve up")), ""
    )
    for page in PAGES
    if names(page) != "docs/cli.md"
}
"""The command with which a page starts a cluster of its own; the reference only lists some."""
UP = "reprieve up --nodes 'node=3:cpu=8,memory=32Gi' --run-for 0"
KINDS = {"Plan": Plan}
"""Documents that pages show as JSON."""
PROGRAMS = {"kubectl": "kubernetes-client", "curl": "curl"}
"""What readers are told to use besides ours, and the packages that bring it."""


def of(language: str) -> list[Any]:
    return [
        pytest.param(block, id=block.where)
        for block in BLOCKS
        if block.language == language and not block.on_cluster
    ]


def here(commands: list[Command]) -> list[Command]:
    return [c for c in commands if not LASTING.match(c.line) and not elsewhere(c.line)]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The cluster of whoever has none of his own: examples 02 and 10 have happened on it."""
    for name, package in PROGRAMS.items():
        program(name, package)
    home = tmp_path_factory.mktemp("story")
    with cluster(UP, home) as environment:
        folder = Folder(home / "here", ROOT / "README.md", environment)
        for line in STORY:
            folder.run(Command(line))
        yield environment


@pytest.mark.parametrize("block", [*of("console"), *of("sh")])
def test_commands_print_what_the_page_shows(block: Block, tmp_path: Path) -> None:
    folder = Folder(tmp_path, block.page)
    for command in here(block.commands):
        folder.run(command)


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({block.page for block in BLOCKS if block.on_cluster}), ids=names)
def test_commands_on_a_cluster_do_what_the_page_says(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    commands = [c for block in blocks(page) if block.on_cluster for c in block.commands]
    own = OWN_UP.get(page)
    with cluster(own, tmp_path) if own else nullcontext(request.getfixturevalue("story")) as environment:
        folder = Folder(tmp_path / "here", page, environment)
        for command in here(commands):
            folder.run(command)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if here(INLINE[page])], ids=names)
def test_commands_in_running_text_are_real(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for command in here(INLINE[page]):
        asks_cluster = ON_CLUSTER.search(command.line)
        environment = request.getfixturevalue("story") if asks_cluster else {}
        Folder(tmp_path, page, environment).run(command)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", sorted({line for line in PAGE_OF if LASTING.match(line)} - set(OWN_UP.values()))
)
def test_what_stays_starts_can_be_used_and_stops(line: str, tmp_path: Path, story: dict[str, str]) -> None:
    use(line, Folder(tmp_path, PAGE_OF[line], story))


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_commands_and_options_that_a_page_names_exist(page: Path) -> None:
    named = [*inline(page), *(c.line for block in blocks(page) for c in block.commands)]
    assert [problem for line in named if (problem := unknown(line))] == []


def test_every_block_says_what_it_is() -> None:
    assert [block.where for block in BLOCKS if block.language not in LANGUAGES] == []


def test_no_reason_outlives_the_command_that_it_excuses() -> None:
    for pattern in ELSEWHERE:
        assert any(re.match(pattern, line) for line in PAGE_OF), pattern


@pytest.mark.parametrize("block", of("yaml"))
def test_manifests_are_valid(block: Block, tmp_path: Path) -> None:
    documents = list(yaml.safe_load_all(block.text))
    if all(isinstance(document, dict) and "kind" in document for document in documents):
        (tmp_path / "shown.yaml").write_text(block.text, encoding="utf-8")
        result = CliRunner().invoke(main, ["validate", "-f", str(tmp_path / "shown.yaml")])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("block", of("json"))
def test_json_has_the_shape_of_its_kind(block: Block) -> None:
    document = json.loads(block.text)
    assert document["apiVersion"] == "reprieve.dev/v1alpha1"
    kind = KINDS[document["kind"]]
    msgspec.convert(document, kind)
    assert set(document) <= {"apiVersion", "kind", *(field.encode_name for field in fields(kind))}


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
