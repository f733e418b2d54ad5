"""The files of recorded answers: one line for each exchange, in the order in which they were asked.

What an answer shares with an earlier one is not repeated: `like` names the line, `merge` what is different.
"""

import json
from pathlib import Path
from typing import Any

from tools.fidelity.player import Answer
from tools.fidelity.talk import Exchange, merged

HERE = Path(__file__).parent / "answers"
VERSION = HERE / "VERSION"
"""Of the server that gave them."""


def write(name: str, exchanges: list[Exchange], answers: list[Answer]) -> None:
    HERE.mkdir(exist_ok=True)
    lines, bodies = [], list[Any]()
    for exchange, answer in zip(exchanges, answers, strict=True):
        line: dict[str, Any] = {"say": exchange.say, "code": answer.code}
        if answer.warnings:
            line["warnings"] = answer.warnings
        lines.append(line | _shortened(answer.body, bodies))
        bodies.append(answer.body)
    text = "\n".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in lines)
    (HERE / f"{name}.jsonl").write_text(text + "\n", encoding="utf-8")


def read(name: str) -> dict[str, Answer]:
    """By what was said."""
    bodies: list[Any] = []
    found = {}
    for text in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        like = line.get("like")
        bodies.append(line.get("body") if like is None else merged(bodies[like], line.get("merge", {})))
        found[line["say"]] = Answer(line["code"], bodies[-1], line.get("warnings", []))
    return found


def _shortened(body: Any, earlier: list[Any]) -> dict[str, Any]:
    whole = {"body": body}
    best, size = whole, len(json.dumps(whole))
    if not isinstance(body, dict):
        return whole
    for index, other in enumerate(earlier):
        if not isinstance(other, dict) or other.get("kind") != body.get("kind"):
            continue
        patch = _difference(other, body)
        if merged(other, patch) != body:
            continue  # a merge patch cannot say null
        short = {"like": index, **({"merge": patch} if patch else {})}
        if (length := len(json.dumps(short))) < size:
            best, size = short, length
    return best


def _difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The merge patch from one to the other."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if key not in old or (value != before and not (isinstance(value, dict) and isinstance(before, dict))):
            patch[key] = value
        elif isinstance(value, dict) and isinstance(before, dict) and value != before:
            patch[key] = _difference(before, value)
    return patch
