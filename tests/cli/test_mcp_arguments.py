"""What an assistant sends to `reprieve mcp`: it may heed no schema, and becomes part of a command line."""

import asyncio
from typing import Any

import pytest

from reprieve.cli import mcp_tools
from reprieve.cli.mcp_tools import BY_NAME, TOOLS, Refused, ask

TRACE = "job,submit_s,duration_s\na,0,60\n"
HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("plan", {"target": "Pod/a\0/b"}, "none of them NUL"),
    ("plan", {"target": "Pod/ml/" + "x" * 3_000_000}, "at most 1,000 characters"),
    ("plan", {"target": 5}, "target is text"),
    ("plan", {"target": "Job/ml/x", "manifest": ["--kubeconfig=/etc/shadow"]}, "manifest is text"),
    ("explain", {"target": ["-f", "/etc/shadow"]}, "target is text"),
    ("explain", {"target": {"a": 1}}, "target is text"),
    ("simulate", {"trace": TRACE, "nodes": ["n=1:cpu=1\0"]}, "none of them NUL"),
    ("simulate", {"trace": TRACE, "nodes": ["n=1:cpu=1"] * 200_000}, "at most 100"),
    ("simulate", {"trace": TRACE, "nodes": "n=1:cpu=1"}, "nodes is a list of words"),
    ("simulate", {"trace": TRACE, "nodes": [["n=1:cpu=1"]]}, "nodes is a list of words"),
    ("simulate", {"trace": {"a": 1}, "nodes": ["n=1:cpu=1"]}, "trace is text"),
    ("validate", {"manifest": "x" * 4_000_001}, "at most 4,000,000 characters"),
    ("plan", {"target": "Pod/ml/a", "\x1b[2J--kubeconfig": "/etc/shadow"}, "knows no '\\x1b[2J--kubeconfig'"),
]


@pytest.mark.parametrize(("name", "given", "sentence"), HOSTILE)
async def test_what_no_schema_allows_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, Any], sentence: str
) -> None:
    async def started(*_: Any, **__: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)
    with pytest.raises(Refused) as refusal:
        await ask(BY_NAME[name], given, (), asyncio.Semaphore())
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_whatever_words_are_sent_every_one_is_a_value(tool: mcp_tools.Tool) -> None:
    """An option that takes its value after `=`, or an argument after `--`: no word is an option by itself."""
    evil = "--kubeconfig=/etc/shadow"
    given = {name: [evil] if each["type"] == "array" else evil for name, each in _free(tool).items()}
    line = tool.line(given, ["--filename=given"])
    before, _, after = " ".join(line).partition(" -- ")
    assert not any(word == evil for word in before.split(" "))
    assert after in ("", evil)


def _free(tool: mcp_tools.Tool) -> dict[str, Any]:
    """Its properties, but for those that know only some words."""
    properties = tool.input_schema["properties"]
    return {name: each for name, each in properties.items() if "enum" not in each.get("items", {})}


async def test_a_question_that_needs_more_memory_than_it_may_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mcp_tools, "MOST_BYTES", 64 << 20)
    with pytest.raises(Refused):
        await ask(BY_NAME["simulate"], {"trace": TRACE, "nodes": ["n=100000:cpu=1"]}, (), asyncio.Semaphore())


async def test_few_questions_are_answered_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = 0, 0

    async def answer(*_: Any) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return {}

    monkeypatch.setattr(mcp_tools, "_answer", answer)
    turns = asyncio.Semaphore(mcp_tools.AT_ONCE)
    await asyncio.gather(*(ask(BY_NAME["plan"], {}, (), turns) for _ in range(50)))
    assert most == mcp_tools.AT_ONCE
