"""The process that answers a what-if or a why: `python -m reprieve.dashboard.worker`.

A viewer's manifests may be anything; reading them and planning with them can take all the time and memory
there is. So it happens here, behind the page's process and never inside it, with limits on both.

Standard input: one line of JSON (`Question`), then lines of JSON Lists: the cluster. Standard output: one
line of JSON, `Reply`.
"""

import importlib
import os
import resource
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import msgspec

from reprieve import plan
from reprieve.explain import Evidence, explain
from reprieve.objects import Document, ReprieveError, read_documents
from reprieve.whatif import overlay

UNIT_KINDS = ("PodGroup", "Workload", "Pod")
YIELD = 5
"""Nice value: the scheduler in the other process comes first."""


class Question(msgspec.Struct):
    manifest: str
    for_: str
    """Empty: the only unit in the manifests."""
    config: dict[str, Any] | None
    seconds: int
    """Of processor time."""
    bytes: int
    explain: bool = False
    """Not what would become of `for_`, but why it is as it is."""
    records: list[dict[str, Any]] = []
    """Decisions that evicted somebody, for explanations, newest first."""


class Reply(msgspec.Struct, omit_defaults=True):
    """One of the two."""

    plan: dict[str, Any] | None = None
    problem: str = ""


def main() -> None:
    importlib.import_module("reprieve.whatif.pods")  # before the question comes, so that its answer is sooner
    lines = iter(sys.stdin.buffer)
    question = msgspec.json.decode(next(lines), type=Question)
    _limit(question)
    try:
        found = cluster(lines)
        reply = Reply(plan=explanation(question, found) if question.explain else answer(question, found))
    except ReprieveError as error:
        reply = Reply(problem=str(error))
    except MemoryError:
        reply = Reply(problem="the plan needs more memory than a what-if may use")
    sys.stdout.buffer.write(msgspec.json.encode(reply))


def _limit(question: Question) -> None:
    os.nice(YIELD)
    resource.setrlimit(resource.RLIMIT_AS, (question.bytes, question.bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (question.seconds, question.seconds))


def cluster(lines: Iterable[bytes]) -> Iterator[Document]:
    for line in lines:
        listed = msgspec.json.decode(line)
        typed = {"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List")}
        for item in listed["items"]:
            item.get("metadata", {}).pop("managedFields", None)
            yield {**typed, **item}


def answer(question: Question, found: Iterable[Document]) -> dict[str, Any]:
    submitted = list(read_documents(StringIO(question.manifest)))
    target = question.for_.strip() or only_unit([source.document for source in submitted])
    return plan(overlay(list(found), submitted), target, config=question.config).to_dict()


def explanation(question: Question, found: Iterable[Document]) -> dict[str, Any]:
    objects = list(found)
    events = [each for each in objects if each["kind"] == "Event"]
    others = [each for each in objects if each["kind"] != "Event"]
    evidence = Evidence(others, events, question.records)
    return explain(question.for_, evidence, datetime.now(UTC), question.config).to_dict()


def only_unit(documents: list[Document]) -> str:
    """The unit to plan for when none is named: the only group, else the only workload, else the only pod."""
    for kind in UNIT_KINDS:
        units = [_target(document) for document in documents if document.get("kind") == kind]
        if len(units) == 1:
            return units[0]
        if units:
            raise ReprieveError(
                f"the manifests hold several units; say which one to plan for: {', '.join(units)}"
            )
    raise ReprieveError("the manifests hold no Pod, PodGroup or Workload to plan for")


def _target(document: Document) -> str:
    metadata = document.get("metadata") or {}
    return f"{document['kind']}/{metadata.get('namespace') or 'default'}/{metadata.get('name')}"


if __name__ == "__main__":
    main()
