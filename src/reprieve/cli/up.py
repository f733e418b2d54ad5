"""`reprieve up`: a whole control plane with fake nodes, in the foreground, until Ctrl-C.

`reprieve.local` starts it; this module reads the options and prints what runs where.
"""

import asyncio
import logging
import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from reprieve.cli.output import fail
from reprieve.cli.run import configuration
from reprieve.cli.sources import seconds_of
from reprieve.objects import NodeTemplate, ReprieveError, format_duration
from reprieve.server import EmbeddedServer, Habits, new_event_loop

DEFAULT_NODES = ("node=4:cpu=8,memory=32Gi",)


@dataclass(frozen=True, kw_only=True)
class Options:
    nodes: Sequence[NodeTemplate]
    habits: Habits
    data_dir: Path | None
    host: str
    port: int
    kubeconfig: Path | None
    controllers: tuple[str, ...]
    scheduler_names: tuple[str, ...]
    config: Path | None
    dashboard_port: int
    workers: int
    kinds: tuple[str, ...]


@click.command("up")
@click.option(
    "--nodes",
    "nodes",
    multiple=True,
    metavar="SPEC",
    help="Fake nodes, e.g. 'h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8;zones=a,b;racks=4;blocks=2;"
    "labels=pool=gpu;taints=k=v:NoSchedule;devices=gpu:8:model=H100,memory=80Gi'. "
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
    "--kinds",
    default="",
    metavar="LIST",
    help="Jobs of other projects to know and run, separated by commas: jobset, kubeflow, trainer, ray, lws, "
    "appwrapper, spark, volcano, disaggregatedset, argo, or all.",
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
    help="How long pods take to stop, at most their grace period, unless annotated "
    "reprieve.dev/terminate-after.",
)
def command(
    nodes: tuple[str, ...], run_for: str, terminate_after: str, controllers: str, kinds: str, **rest: Any
) -> None:
    """Start a Kubernetes API server with controllers and fake nodes on this machine.

    It runs in the foreground and stops on Ctrl-C. Any Kubernetes client can use it: kubectl, a library,
    `reprieve plan`. Only this machine can reach it unless --host says otherwise.

    \b
    Examples:
      reprieve up
      reprieve up --nodes 'h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8' --nodes 'cpu=20:cpu=32,memory=128Gi'
      reprieve up --data-dir ~/.reprieve --port 6443
      reprieve up --workers 3
      reprieve up --kinds ray,jobset
    """
    if rest["workers"]:
        _refuse_for_fleets()
    options = Options(
        nodes=_templates(nodes or DEFAULT_NODES),
        habits=Habits(
            run_for=_duration("--run-for", run_for) or None,
            terminate_after=_duration("--terminate-after", terminate_after),
        ),
        controllers=() if controllers == "none" else _names(controllers),
        kinds=_names(kinds),
        **rest,
    )
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        try:
            runner.run(serve(options))
        except* OSError as problems:
            fail(_os_problem(_first(problems), options))
        except* ReprieveError as problems:
            fail(str(_first(problems)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _refuse_for_fleets() -> None:
    """A manager and its workers run what a fleet needs; a choice that would be ignored is refused."""
    context = click.get_current_context()
    for name in ("controllers", "config", "scheduler_name", "kinds"):
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
    seconds = seconds_of(option, text)
    if seconds < 0:
        raise ReprieveError(f"{option}: {text!r} is negative; write for instance 30s")
    return seconds


def _os_problem(problem: BaseException, options: Options) -> str:
    reason = getattr(problem, "strerror", None) or problem
    if path := getattr(problem, "filename", None):
        return f"cannot use {path}: {reason}"
    return f"cannot listen on {options.host}:{options.port}: {reason}"


def _first(problems: BaseException) -> BaseException:
    while isinstance(problems, BaseExceptionGroup):
        problems = problems.exceptions[0]
    return problems


async def serve(options: Options) -> None:
    """Until SIGINT or SIGTERM."""
    from reprieve.local import stop_signal

    stop = stop_signal()
    async with AsyncExitStack() as stack:
        if options.workers:
            await _start_fleet(stack, options)
        else:
            await _start_cluster(stack, options)
        _report("Ready", f"{_since_start():.1f} s after it was started; Ctrl-C stops it")
        await stop.wait()
        click.echo("\nStopping.")
    where = options.data_dir
    _report("Stopped", f"the state is in {where}" if where else "nothing was kept")


async def _start_cluster(stack: AsyncExitStack, options: Options) -> None:
    from reprieve.local import local_cluster, nodes_ready

    cluster = await stack.enter_async_context(
        local_cluster(
            nodes=options.nodes,
            habits=options.habits,
            data_dir=options.data_dir,
            host=options.host,
            port=options.port,
            config=configuration(options.config, options.scheduler_names),
            quota="quota" in options.controllers,
            kinds=options.kinds,
        )
    )
    _report(
        "API server", f"{cluster.url}  ({f'data in {options.data_dir}' if options.data_dir else 'in memory'})"
    )
    await nodes_ready(cluster, options.nodes)
    _report("Fake nodes", ", ".join(_describe(template) for template in options.nodes) or "none")
    _report("Pods", _describe_habits(options.habits))
    if options.kinds:
        _report("Jobs", f"also of {', '.join(options.kinds)}; small controllers make their pods")
    if options.controllers:
        await _start_controllers(stack, options, cluster)
    path = cluster.kubeconfig
    if options.kubeconfig is not None:
        path = _copy_private(path, options.kubeconfig)
    click.echo(f"\n  export KUBECONFIG={path}\n  kubectl get nodes\n")


async def _start_controllers(stack: AsyncExitStack, options: Options, cluster: EmbeddedServer) -> None:
    from reprieve.local import controllers_of

    config = configuration(options.config, options.scheduler_names)
    controlled = await stack.enter_async_context(
        controllers_of(cluster, options.controllers, config, options.dashboard_port)
    )
    names = " and ".join(map(repr, options.scheduler_names))
    _report("Controllers", f"{', '.join(options.controllers)}; schedules pods of {names}")
    _report("Dashboard", f"{controlled.page}/  (also /metrics and /api/decisions)")


async def _start_fleet(stack: AsyncExitStack, options: Options) -> None:
    from reprieve.local import local_fleet

    fleet = await stack.enter_async_context(
        local_fleet(
            options.workers,
            options.nodes,
            options.habits,
            data_dir=options.data_dir,
            host=options.host,
            port=options.port,
            dashboard_port=options.dashboard_port,
        )
    )
    _report("Manager", fleet.manager.url)
    _report("Dashboard", f"{fleet.page}/  (the manager's)")
    for name, server in fleet.workers.items():
        _report(name.capitalize(), f"{server.url}  (dashboard {fleet.pages[name]})")
    _report(
        "Fake nodes",
        f"on each worker: {', '.join(_describe(template) for template in options.nodes) or 'none'}",
    )
    click.echo("")
    for name, path in fleet.kubeconfigs().items():
        if options.kubeconfig is not None:
            path = _copy_private(path, options.kubeconfig.with_name(f"{options.kubeconfig.name}-{name}"))
        click.echo(f"  kubectl --kubeconfig {path} get workloads.kueue.x-k8s.io -A    # {name}")
    click.echo("")


def _report(what: str, text: str) -> None:
    click.echo(f"{click.style('✓', fg='green')} {what:<11} {text}")


def _since_start() -> float:
    """Seconds since the process began, imports included."""
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return time.process_time()


def _describe(template: NodeTemplate) -> str:
    amounts = [f"{v} {k}" for k, v in template.resources.items()]
    resources = ", ".join([*amounts, *(f"{each.count} devices of {each.name}" for each in template.devices)])
    return f"{template.count} x {template.name} ({resources})"


def _describe_habits(habits: Habits) -> str:
    ends = (
        f"those that end do so after {format_duration(habits.run_for)}" if habits.run_for else "run for ever"
    )
    stops = (
        f", stop within {format_duration(habits.terminate_after)}"
        if habits.terminate_after is not None
        else ""
    )
    return ends + stops


def _copy_private(source: Path, target: Path) -> Path:
    """Scripts wait for the file, so it appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    unfinished.touch(mode=0o600)
    shutil.copyfile(source, unfinished)
    unfinished.replace(target)
    return target
