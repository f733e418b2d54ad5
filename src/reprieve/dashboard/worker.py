"""The process that answers a what-if, a why or a when: `python -m reprieve.dashboard.worker`.

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
from typing import Any, Literal

import msgspec

from reprieve import compare, plan
from reprieve.explain import Evidence, explain
from reprieve.objects import Document, ReprieveError, Source, read_documents, some
from reprieve.records import Run
from reprieve.whatif import overlay, targets

MOST_NAMED = 12
YIELD = 5
"""Nice value: the scheduler in the other process comes first."""


Ask = Literal["plan", "compare", "explain", "when"]


class Question(msgspec.Struct):
    manifest: str
    for_: str
    """Empty: the only unit in the manifests."""
    config: dict[str, Any] | None
    seconds: int
    """Of processor time."""
    bytes: int
    ask: Ask = "plan"
    """What becomes of `for_`, what each algorithm makes of it, why it is as it is, or when it starts."""
    records: list[dict[str, Any]] = []
    """Decisions that evicted somebody, for explanations, newest first."""
    runs: list[Run] = []
    """What has ended and for how long it ran, for forecasts."""
    notes: list[str] = []
    """What could not be read of the cluster."""


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
        answers = {"explain": explanation, "when": forecast}
        reply = Reply(plan=answers.get(question.ask, answer)(question, cluster(lines)))
    except ReprieveError as error:
        reply = Reply(problem=str(error))
    except MemoryError:
        reply = Reply(problem="the answer needs more memory than a what-if may use")
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
    held = list(found)
    target = question.for_.strip() or only_target(submitted, held, question.config)
    objects = overlay(held, submitted)
    if question.ask == "compare":
        return compare(objects, target, config=question.config)
    return plan(objects, target, config=question.config).to_dict()


def explanation(question: Question, found: Iterable[Document]) -> dict[str, Any]:
    objects = list(found)
    events = [each for each in objects if each["kind"] == "Event"]
    others = [each for each in objects if each["kind"] != "Event"]
    evidence = Evidence(others, events, question.records, question.notes)
    told = explain(question.for_, evidence, datetime.now(UTC), question.config)
    if told.state == "gone" and question.notes:  # what may not be read is not gone
        told.state, told.sentence = "unknown", f"{told.for_} cannot be explained: the page may not read it."
    return told.to_dict()


def forecast(question: Question, found: Iterable[Document]) -> dict[str, Any]:
    from reprieve.forecast import when  # which no plan needs

    document = when(found, question.for_, question.config, runs=question.runs).to_dict()
    return {**document, "notes": [*document["notes"], *question.notes]}


def only_target(submitted: list[Source], held: list[Document], config: dict[str, Any] | None) -> str:
    """What to plan for when nothing is named: the only job, group, workload or pod that the manifests add."""
    found = [str(each) for each in targets(submitted, config, held)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ReprieveError(
            f"the manifests hold several units; say which one to plan for: {some(found, MOST_NAMED)}"
        )
    raise ReprieveError("the manifests hold no Pod, PodGroup, Workload or job to plan for")


if __name__ == "__main__":
    main()
