"""`reprieve up`: a whole control plane with fake nodes, in the foreground, until Ctrl-C."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from reprieve.cli.output import fail
from reprieve.cli.stage import Options, serve
from reprieve.objects import ReprieveError, parse_duration
from reprieve.server import Habits, NodeTemplate, new_event_loop

DEFAULT_NODES = ("node=4:cpu=8,memory=32Gi",)


@click.command("up")
@click.option(
    "--nodes",
    "nodes",
    multiple=True,
    metavar="SPEC",
    help="Fake nodes, e.g. 'h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8;zones=a,b;racks=2;labels=pool=gpu;taints=k=v:NoSchedule'. "
    f"May be given several times. 'none' for no nodes.  [default: {DEFAULT_NODES[0]}]",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the state here. Without it nothing is kept.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port of the API; 0 picks a free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the kubeconfig to this file.",
)
@click.option(
    "--controllers",
    default="scheduler,quota",
    show_default=True,
    metavar="LIST",
    help="Controllers to run beside the server, separated by commas; 'none' for the bare API.",
)
@click.option(
    "--scheduler-name",
    "scheduler_names",
    multiple=True,
    default=("default-scheduler", "reprieve"),
    show_default=True,
    help="Pods with this spec.schedulerName are scheduled. May be given several times.",
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A ReprieveConfiguration for the controllers.",
)
@click.option(
    "--dashboard-port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port of dashboard, metrics and decisions; 0 picks a free one.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    metavar="N",
    help="Start a manager and N worker clusters instead of one cluster.",
)
@click.option(
    "--run-for",
    default="30s",
    show_default=True,
    metavar="DURATION",
    help="How long pods run that are meant to end and have no annotation reprieve.dev/run-for; 0 for ever.",
)
@click.option(
    "--terminate-after",
    default="2s",
    show_default=True,
    metavar="DURATION",
    help="How long pods take to stop, at most their grace period, unless annotated reprieve.dev/terminate-after.",
)
def command(
    nodes: tuple[str, ...], run_for: str, terminate_after: str, controllers: str, **rest: Any
) -> None:
    """Start a Kubernetes API server with controllers and fake nodes on this machine.

    It runs in the foreground and stops on Ctrl-C. Any client that speaks to Kubernetes can use it: kubectl, client libraries,
    `reprieve plan`. Only this machine can reach it unless --host says otherwise.

    \b
    Examples:
      reprieve up
      reprieve up --nodes 'h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8' --nodes 'cpu=20:cpu=32,memory=128Gi'
      reprieve up --data-dir ~/.reprieve --port 6443
      reprieve up --workers 3
    """
    if rest["workers"]:
        _refuse_for_fleets()
    options = Options(
        nodes=_templates(nodes or DEFAULT_NODES),
        habits=Habits(
            run_for=_duration("--run-for", run_for) or None,
            terminate_after=_duration("--terminate-after", terminate_after),
        ),
        controllers=()
        if controllers == "none"
        else tuple(c.strip() for c in controllers.split(",") if c.strip()),
        **rest,
    )
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        try:
            runner.run(serve(options))
        except* OSError as problems:
            fail(_what_failed(_first(problems), options))
        except* ReprieveError as problems:
            fail(str(_first(problems)))


def _refuse_for_fleets() -> None:
    """A manager and its workers run what a fleet needs; a choice that would be ignored is refused."""
    context = click.get_current_context()
    for name in ("controllers", "config", "scheduler_name"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is for one cluster; with --workers leave it out")


def _templates(specs: Sequence[str]) -> list[NodeTemplate]:
    templates = [] if tuple(specs) == ("none",) else [NodeTemplate.parse(spec) for spec in specs]
    names = Counter(name for template in templates for name in template.names())
    if twice := [name for name, number in names.items() if number > 1]:
        raise ReprieveError(
            f"--nodes: {twice[0]!r} would be there twice; give each kind of node its own name"
        )
    return templates


def _duration(option: str, text: str) -> float:
    seconds = parse_duration(text)
    if seconds < 0:
        raise ReprieveError(f"{option}: {text!r} is negative; write for instance 30s")
    return seconds


def _what_failed(problem: BaseException, options: Options) -> str:
    reason = getattr(problem, "strerror", None) or problem
    if path := getattr(problem, "filename", None):
        return f"cannot use {path}: {reason}"
    return f"cannot listen on {options.host}:{options.port}: {reason}"


def _first(problems: BaseException) -> BaseException:
    while isinstance(problems, BaseExceptionGroup):
        problems = problems.exceptions[0]
    return problems
