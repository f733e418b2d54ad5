"""`reprieve mcp`: plans and explanations for assistants, over the Model Context Protocol."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reprieve import __version__
from reprieve.cli.sources import context_option, filename_option, kubeconfig_option
from reprieve.objects import ReprieveError, shown

if TYPE_CHECKING:
    from mcp.server import Server

INSTRUCTIONS = (
    "Answers questions about scheduling and preemption on a Kubernetes cluster: why something waits, what "
    "would help, who would make way for it. Everything is read-only. Begin with explain; use plan for what "
    "does not exist yet."
)


@click.command("mcp")
@filename_option
@kubeconfig_option
@context_option
def command(filenames: tuple[str, ...], kubeconfig: str | None, context: str | None) -> None:
    """Answer an assistant's questions (Model Context Protocol) on standard input and output.

    The tools are plan, compare, when, simulate, explain, admit and validate; all only read. They ask about
    the cluster of the kubeconfig, or about the manifests given with -f. Needs the extra: pip install
    'reprieve[mcp]'.

    \b
    Examples:
      reprieve mcp
      reprieve mcp -f examples/01-first-plan
      claude mcp add reprieve -- reprieve mcp --kubeconfig ~/.kube/config
    """
    try:
        from mcp.server.stdio import stdio_server
    except ImportError as error:
        raise ReprieveError("`reprieve mcp` needs the MCP SDK: pip install 'reprieve[mcp]'") from error

    server = build(source_options(filenames, kubeconfig, context))

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(serve())


def source_options(filenames: Sequence[str], kubeconfig: str | None, context: str | None) -> list[str]:
    """What the questions are about, as options of the commands that answer them. A name that is wrong is told
    to whoever wrote it, not to the assistant later."""
    if "-" in filenames:
        raise click.UsageError("-f -: standard input belongs to the assistant; name files or folders")
    for name in (*filenames, *filter(None, [kubeconfig])):
        if not Path(name).exists():
            raise ReprieveError(f"{name}: No such file or directory")
    return [
        *(f"--filename={name}" for name in filenames),
        *([f"--kubeconfig={kubeconfig}"] if kubeconfig else []),
        *([f"--context={context}"] if context else []),
    ]


def build(source: Sequence[str]) -> "Server[Any]":
    """The server; `source` says which cluster or manifests it answers for."""
    import mcp.types as types
    from mcp.server import Server

    from reprieve.cli.mcp_tools import AT_ONCE, BY_NAME, TOOLS, Refused, ask

    turns = asyncio.Semaphore(AT_ONCE)

    def refusal(sentence: str) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        hints = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    output_schema=tool.output_schema,
                    annotations=hints,
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            return refusal(f"there is no tool {shown(params.name)}; known are {', '.join(BY_NAME)}")
        try:
            answer = await ask(tool, params.arguments or {}, source, turns)
        except Refused as error:
            return refusal(str(error))
        text = types.TextContent(type="text", text=json.dumps(answer))
        return types.CallToolResult(content=[text], structured_content=answer)

    return Server(
        "reprieve",
        version=__version__,
        title="Reprieve",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
