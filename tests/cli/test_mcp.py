"""`reprieve mcp`, asked by the SDK's own client: typed answers, and sentences for errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import get_default_environment
from mcp.types import CallToolResult, TextContent

from reprieve.cli import mcp_tools
from reprieve.cli.mcp_tools import BY_NAME, TOOLS
from tests.docs.pages import ROOT

EXAMPLE = str(ROOT / "examples/01-first-plan")
LARGER = """
apiVersion: batch/v1
kind: Job
metadata: {name: report, namespace: ml}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example/report, resources: {requests: {cpu: 1}}}]
"""


CHECKOUT = {"PYTHONPATH": str(ROOT / "src")}
"""The SDK starts a server with hardly any of the environment: it would be whatever is installed."""


def server(*options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "reprieve", "mcp", *options], cwd=str(ROOT), env=CHECKOUT
    )


def text_of(answer: CallToolResult) -> str:
    [content] = answer.content
    assert isinstance(content, TextContent)
    return content.text


def test_the_server_is_the_one_of_this_checkout():
    asked = subprocess.run(
        [sys.executable, "-c", "import reprieve.cli.mcp_tools as tools; print(tools.__file__)"],
        env={**get_default_environment(), **CHECKOUT},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(asked.stdout.strip()) == ROOT / "src/reprieve/cli/mcp_tools.py"
    assert Path(mcp_tools.__file__) == ROOT / "src/reprieve/cli/mcp_tools.py"


async def test_an_assistant_asks_every_question():
    async with Client(server("-f", EXAMPLE)) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)

        plan = await client.call_tool("plan", {"target": "PodGroup/ml/train"})
        assert plan.structured_content["outcome"] == "preempts"
        assert json.loads(text_of(plan)) == plan.structured_content
        compared = await client.call_tool("compare", {"target": "PodGroup/ml/train"})
        assert compared.structured_content["cheapest"] == "minimal-cost"
        why = await client.call_tool("explain", {"target": "podgroup/ml/train"})
        assert why.structured_content["kind"] == "Explanation"
        when = await client.call_tool("when", {"target": "PodGroup/ml/train"})
        assert when.structured_content["outcome"] == "now"
        trace = "job,submit_s,duration_s,gpu_per_pod\na,0,60,4\nb,0,60,8\n"
        jobs = {"trace": trace, "nodes": ["gpu=1:nvidia.com/gpu=8"], "compare": ["fifo", "kep-5710"]}
        run = await client.call_tool("simulate", jobs)
        assert [each["policy"] for each in run.structured_content["configurations"]] == ["fifo", "kep-5710"]
        new = await client.call_tool("plan", {"target": "Job/ml/report", "manifest": LARGER})
        assert new.structured_content["kind"] == "JobPlan"
        checked = await client.call_tool(
            "validate", {"manifest": LARGER.replace("restartPolicy", "restartPolcy")}
        )
        assert "restartPolcy" in json.dumps(checked.structured_content)
    async with Client(server("-f", str(ROOT / "examples/12-cohort-reclaim"))) as client:
        quota = await client.call_tool("admit", {})
        assert quota.structured_content["kind"] == "Admissions"


async def test_an_assistant_asks_about_several_things_at_once():
    """Its client refused the answer: 'Invalid structured content returned by tool plan'."""
    two = "---".join(LARGER.replace("report", name) for name in ("report", "other"))
    async with Client(server("-f", EXAMPLE)) as client:
        await client.list_tools()
        plans = await client.call_tool("plan", {"manifest": two})
        assert plans.structured_content["kind"] == "PlanList"
    async with Client(server("-f", str(ROOT / "examples/12-cohort-reclaim/queues.yaml"))) as client:
        nothing = await client.call_tool("plan", {})
        assert nothing.is_error
        assert text_of(nothing).startswith("what is to be planned? In the manifests nothing waits")


async def test_what_cannot_be_answered_is_a_sentence():
    async with Client(server("-f", EXAMPLE)) as client:
        for name, arguments, sentence in (
            ("plan", {"target": "PodGroup/ml/trian"}, "known groups"),
            ("compare", {}, "needs target"),
            ("explain", {"target": "--help"}, "cannot explain"),
            ("plan", {"target": "PodGroup/ml/train", "file": "/etc/passwd"}, "knows no 'file'"),
            ("when", {"target": "Pod/ml/none"}, "nothing of Pod/ml/none"),
            ("simulate", {"trace": "job,submit_s\n", "nodes": ["n=1:cpu=1"]}, "duration_s"),
            ("simulate", {"trace": "x", "nodes": []}, "simulate needs nodes"),
            ("simulate", {"trace": "x", "nodes": "n=1:cpu=1"}, "nodes is a list of words"),
            ("simulate", {"trace": "x", "nodes": ["n"], "compare": ["/etc/passwd"]}, "compare knows no"),
            ("delete", {}, "there is no tool 'delete'"),
        ):
            answer = await client.call_tool(name, arguments)
            assert answer.is_error, (name, arguments)
            assert sentence in text_of(answer)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_has_everything_that_it_refers_to(tool):
    text = json.dumps(tool.output_schema)
    for part in text.split('"#/$defs/')[1:]:
        assert part.partition('"')[0] in tool.output_schema["$defs"]


def test_nothing_that_is_sent_becomes_an_option():
    for tool in TOOLS:
        line = tool.line({"target": "--kubeconfig=/etc/passwd", "manifest": "x"}, ["--filename=here"])
        options = line[: line.index("--")] if "--" in line else line
        assert not any(word.startswith("--kubeconfig") for word in options)
    assert BY_NAME["validate"].line({"manifest": "x"}, ["--filename=here"])[-1] == "--filename=-"


def test_standard_input_belongs_to_the_assistant():
    answer = subprocess.run(
        [sys.executable, "-m", "reprieve", "mcp", "-f", "-"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "belongs to the assistant" in answer.stderr
