"""The tools that an assistant gets from `reprieve mcp`: each is a command of this program, asked for JSON.

A tool's answer is the document that the command prints with `-o json`, its schema what `schema` prints.
Commands run in processes of their own, with a limit of time: a heavy question harms nobody else, and what an
assistant sends can name no file here, only manifests as text.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reprieve.cli.formats import schema
from reprieve.objects import Document

PATIENCE_SECONDS = 120
LONGEST_MANIFEST = 4_000_000

TARGET = {
    "type": "string",
    "description": "KIND/NAMESPACE/NAME, for example PodGroup/ml/train or job/default/report.",
}
MANIFEST = {
    "type": "string",
    "maxLength": LONGEST_MANIFEST,
    "description": "Manifests as YAML, laid over what is there: the job to create, a quota that changes.",
}


@dataclass(frozen=True)
class Tool:
    """One question: the command that answers it, and what it may be asked."""

    name: str
    title: str
    description: str
    command: tuple[str, ...]
    answers: tuple[str, ...]
    """Formats (`reprieve schema`) of which the answer is one."""
    target: str = ""
    """How the command takes the target: an option's name, `--` for an argument, empty when it takes none."""
    required: tuple[str, ...] = ()
    manifest: bool = True
    asks_cluster: bool = True
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
        if target := given.get("target"):
            words += ["--", target] if self.target == "--" else [f"{self.target}={target}"]
        return words


TOOLS = (
    Tool(
        name="plan",
        title="Would it fit?",
        description="Would a pod, a pod group or a job of any kind fit, and if not: who would make way, on "
        "which nodes, and why? Nothing is changed. Give its manifest when it does not exist yet.",
        command=("plan",),
        answers=("Plan", "JobPlan", "QuotaPlan"),
        target="--for",
    ),
    Tool(
        name="compare",
        title="What do the algorithms cost?",
        description="Which victims each preemption algorithm would choose for one pod or pod group, and at "
        "what cost.",
        command=("plan", "--compare"),
        answers=("PlanComparison",),
        target="--for",
        required=("target",),
    ),
    Tool(
        name="explain",
        title="Why is it as it is?",
        description="Why does a pod, a group, a job, a workload or a queue wait, who preempted it and for "
        "whom, and what would help?",
        command=("explain",),
        answers=("Explanation",),
        target="--",
        required=("target",),
        manifest=False,
    ),
    Tool(
        name="admit",
        title="Who gets quota?",
        description="Which workloads would get quota, which wait and why, and who is preempted for them.",
        command=("admit",),
        answers=("Admissions",),
    ),
    Tool(
        name="validate",
        title="Are these manifests right?",
        description="Every problem in manifests, with the field, the value and what to write instead.",
        command=("validate",),
        answers=("Validation",),
        required=("manifest",),
        asks_cluster=False,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


class Refused(Exception):
    """The command has no answer; the sentence says why."""


async def ask(tool: Tool, given: Document, source: Sequence[str]) -> Document:
    """Run the tool's command and return the document that it prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "reprieve",
        *tool.line(given, source),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    manifest = str(given.get("manifest") or "").encode()
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
        raise Refused(said.decode(errors="replace").strip() or "the command printed nothing") from error
    return answer
