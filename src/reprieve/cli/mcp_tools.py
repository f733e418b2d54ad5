"""The tools that an assistant gets from `reprieve mcp`: each is a command of this program, asked for JSON.

A tool's answer is the document that the command prints with `-o json`, its schema what `schema` prints.
Commands run in processes of their own, with limits of time and memory: a heavy question harms nobody else,
and what an assistant sends can name no file here, only manifests as text.
"""

import asyncio
import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reprieve.cli.formats import schema
from reprieve.objects import Document, shown

PATIENCE_SECONDS = 120
MOST_BYTES = 4 << 30
"""Address space of a command, as for the questions of the page."""
AT_ONCE = 2
"""Questions that are answered at a time, however many come."""
LONGEST_MANIFEST = 4_000_000
LONGEST_WORD = 1000
MOST_WORDS = 100
"""Words go onto a command line, which has its limits."""

TARGET = {
    "type": "string",
    "maxLength": LONGEST_WORD,
    "description": "KIND/NAMESPACE/NAME, for example PodGroup/ml/train or job/default/report.",
}
MANIFEST = {
    "type": "string",
    "maxLength": LONGEST_MANIFEST,
    "description": "Manifests as YAML, laid over what is there: the job to create, a quota that changes.",
}
TRACE = {
    "type": "string",
    "maxLength": LONGEST_MANIFEST,
    "description": "Jobs as CSV with the columns job, submit_s, duration_s and, where they matter, pods, "
    "cpu_per_pod_millis, memory_mib_per_pod, gpu_per_pod, priority_hint, queue.",
}
NODES = {
    "type": "array",
    "maxItems": MOST_WORDS,
    "items": {"type": "string", "maxLength": LONGEST_WORD},
    "description": "Nodes as for `reprieve up --nodes`, for example gpu=4:nvidia.com/gpu=8.",
}
COMPARE = {
    "type": "array",
    "items": {"enum": ["kubernetes", "kep-5710", "minimal-cost", "fifo", "fifo-skip"]},
    "description": "Policies to compare; without them the default one.",
}


class Refused(Exception):
    """The command has no answer; the sentence says why."""


@dataclass(frozen=True)
class Tool:
    """One question: the command that answers it, and what it may be asked."""

    name: str
    title: str
    description: str
    command: tuple[str, ...]
    answers: tuple[str, ...]
    """Formats (`reprieve schema`) of which the answer is one."""
    target: str = "--for"
    """How the command takes the target: an option's name, `--` for an argument, empty when it takes none."""
    required: tuple[str, ...] = ("target",)
    manifest: bool = True
    asks_cluster: bool = True
    file: str = ""
    """A property whose text the command reads as a file of the option of that name."""
    options: tuple[str, ...] = ()
    """Properties, lists of words, that are given as options of their names."""
    properties: dict[str, Any] = field(default_factory=dict)

    @property
    def input_schema(self) -> Document:
        properties = {
            **({"target": TARGET} if self.target else {}),
            **({"manifest": MANIFEST} if self.manifest else {}),
            **self.properties,
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> Document:
        """One object; of several formats, whichever fits."""
        found = [schema(name) for name in self.answers]
        definitions = {name: each for one in found for name, each in one["$defs"].items()}
        references = [{"$ref": one["$ref"]} for one in found]
        return {"type": "object", "anyOf": references, "$defs": definitions}

    def line(self, given: Document, source: Sequence[str]) -> list[str]:
        """The command line for a call; nothing in it can be taken for an option."""
        words = [*self.command, "--output=json", *(source if self.asks_cluster else ())]
        if given.get("manifest"):
            words.append("--filename=-")
        words += [f"--{name}={each}" for name in self.options for each in self._words(name, given)]
        if target := given.get("target"):
            words += ["--", target] if self.target == "--" else [f"{self.target}={target}"]
        return words

    def _words(self, name: str, given: Document) -> list[str]:
        """A list of words; where only some are known, one of those: another could be the name of a file."""
        found, known = given.get(name) or [], self.properties[name]["items"].get("enum")
        if known is not None and (strange := [each for each in found if each not in known]):
            raise Refused(f"{name} knows no {shown(strange[0])}; known are {', '.join(known)}")
        return list(found)


TOOLS = (
    Tool(
        name="plan",
        title="Would it fit?",
        description="Would a pod, a pod group or a job of any kind fit, and if not: who would make way, on "
        "which nodes, and why? Nothing is changed. Give its manifest when it does not exist yet.",
        command=("plan",),
        answers=("Plan", "JobPlan", "QuotaPlan", "PlanList"),
        required=(),
    ),
    Tool(
        name="compare",
        title="What do the algorithms cost?",
        description="Which victims each preemption algorithm would choose for one pod or pod group, and at "
        "what cost.",
        command=("plan", "--compare"),
        answers=("PlanComparison",),
    ),
    Tool(
        name="explain",
        title="Why is it as it is?",
        description="Why does a pod, a group, a job, a workload or a queue wait, who preempted it and for "
        "whom, and what would help?",
        command=("explain",),
        answers=("Explanation",),
        target="--",
        manifest=False,
    ),
    Tool(
        name="admit",
        title="Who gets quota?",
        description="Which workloads would get quota, which wait and why, and who is preempted for them.",
        command=("admit",),
        answers=("Admissions",),
        target="",
        required=(),
    ),
    Tool(
        name="when",
        title="When will it run?",
        description="When does a pod, a pod group, a workload or a job of any kind start, as median and 80 % "
        "interval, who comes before it, or whose run time is missing to say it. Give its manifest when it "
        "does not exist yet.",
        command=("when",),
        answers=("Forecast",),
    ),
    Tool(
        name="simulate",
        title="What would happen to these jobs?",
        description="Jobs of a trace on a cluster in virtual time, by one or more policies: waiting, lost "
        "work, use, fairness.",
        command=("simulate",),
        answers=("Simulation",),
        target="",
        required=("trace", "nodes"),
        asks_cluster=False,
        file="trace",
        options=("nodes", "compare"),
        properties={"trace": TRACE, "nodes": NODES, "compare": COMPARE},
    ),
    Tool(
        name="validate",
        title="Are these manifests right?",
        description="Every problem in manifests, with the field, the value and what to write instead.",
        command=("validate",),
        answers=("Validation",),
        target="",
        required=("manifest",),
        asks_cluster=False,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


def check(tool: Tool, given: Document) -> None:
    """An assistant need not heed a schema; nothing but text of bounded length becomes a command line."""
    properties = tool.input_schema["properties"]
    if unknown := [name for name in given if name not in properties]:
        raise Refused(f"{tool.name} knows no {shown(unknown[0])}")
    if missing := [name for name in tool.required if not given.get(name)]:
        raise Refused(f"{tool.name} needs {missing[0]}")
    for name, value in given.items():
        listed = properties[name]["type"] == "array"
        words = value if listed else [value]
        if value is None:
            continue
        if not isinstance(words, list) or not all(isinstance(each, str) for each in words):
            raise Refused(f"{name} is a list of words" if listed else f"{name} is text")
        if len(words) > MOST_WORDS:
            raise Refused(f"{name}: {len(words):,} words; at most {MOST_WORDS} are read")
        longest = properties[name].get("maxLength", LONGEST_WORD)
        if any(len(each) > longest or "\0" in each for each in words):
            raise Refused(f"{name}: at most {longest:,} characters, and none of them NUL")


async def ask(tool: Tool, given: Document, source: Sequence[str], turns: asyncio.Semaphore) -> Document:
    """Run the tool's command when it is its turn, and return the document that it prints."""
    check(tool, given)
    async with turns:
        return await _answer(tool, given, source)


async def _answer(tool: Tool, given: Document, source: Sequence[str]) -> Document:
    if not tool.file:
        return await _run(tool.line(given, source), given)
    with tempfile.NamedTemporaryFile() as file:
        file.write(given[tool.file].encode(errors="replace"))
        file.flush()
        return await _run([*tool.line(given, source), f"--{tool.file}={file.name}"], given)


async def _run(line: Sequence[str], given: Document) -> Document:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "reprieve",
        *line,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    if hasattr(resource, "prlimit"):
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    manifest = str(given.get("manifest") or "").encode(errors="replace")
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            printed, said = await process.communicate(manifest)
    except TimeoutError as error:
        raise Refused(f"no answer within {PATIENCE_SECONDS} s; ask about less at a time") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        answer: Document = json.loads(printed)
    except ValueError as error:
        # How a command line is written is of no use to whoever has none.
        text = said.decode(errors="replace").rpartition("\n\nError: ")[2].strip()
        raise Refused(text or "the command printed nothing") from error
    return answer
