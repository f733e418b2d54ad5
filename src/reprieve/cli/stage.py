"""What `reprieve up` starts and says: one cluster with its controllers, or a manager with its workers."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from reprieve.objects import format_duration
from reprieve.server import EmbeddedServer, Habits, NodeTemplate, local_cluster


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


async def serve(options: Options) -> None:
    """Until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        if options.workers:
            await _start_fleet(stack, options)
        else:
            await _start_cluster(stack, options)
        _tell("Ready", f"{_since_start():.1f} s after it was started; Ctrl-C stops it")
        await stop.wait()
        click.echo("\nStopping.")
    where = options.data_dir
    _tell("Stopped", f"the state is in {where}" if where else "nothing was kept")


async def _start_cluster(stack: AsyncExitStack, options: Options) -> None:
    cluster = await stack.enter_async_context(
        local_cluster(
            nodes=options.nodes,
            habits=options.habits,
            data_dir=options.data_dir,
            host=options.host,
            port=options.port,
        )
    )
    _tell(
        "API server", f"{cluster.url}  ({f'data in {options.data_dir}' if options.data_dir else 'in memory'})"
    )
    await _nodes_ready(cluster, options.nodes)
    _tell("Fake nodes", ", ".join(_describe(template) for template in options.nodes) or "none")
    _tell("Pods", _describe_habits(options.habits))
    if options.controllers:
        await _start_controllers(stack, options, cluster)
    path = cluster.kubeconfig
    if options.kubeconfig is not None:
        path = _copy_private(path, options.kubeconfig)
    click.echo(f"\n  export KUBECONFIG={path}\n  kubectl get nodes\n")


async def _start_controllers(stack: AsyncExitStack, options: Options, cluster: EmbeddedServer) -> None:
    from reprieve.config import Configuration
    from reprieve.local import controllers_of

    document = Configuration.read(options.config).to_dict() if options.config else {}
    name, *others = options.scheduler_names
    document.setdefault("scheduler", {}).update(schedulerName=name, otherSchedulerNames=others)
    controlled = await stack.enter_async_context(
        controllers_of(cluster, options.controllers, Configuration.load(document), options.dashboard_port)
    )
    names = " and ".join(map(repr, options.scheduler_names))
    _tell("Controllers", f"{', '.join(options.controllers)}; schedules pods of {names}")
    _tell("Dashboard", f"{controlled.page}/  (also /metrics and /api/decisions)")


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
    _tell("Manager", fleet.manager.url)
    _tell("Dashboard", f"{fleet.page}/  (the manager's)")
    for name, server in fleet.workers.items():
        _tell(name.capitalize(), server.url)
    _tell(
        "Fake nodes",
        f"on each worker: {', '.join(_describe(template) for template in options.nodes) or 'none'}",
    )
    click.echo("")
    for name, path in fleet.kubeconfigs().items():
        if options.kubeconfig is not None:
            path = _copy_private(path, options.kubeconfig.with_name(f"{options.kubeconfig.name}-{name}"))
        click.echo(f"  kubectl --kubeconfig {path} get workloads.kueue.x-k8s.io -A    # {name}")
    click.echo("")


def _tell(what: str, text: str) -> None:
    click.echo(f"{click.style('✓', fg='green')} {what:<11} {text}")


def _since_start() -> float:
    """Seconds since the process began, imports included."""
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return time.process_time()


async def _nodes_ready(cluster: EmbeddedServer, templates: Sequence[NodeTemplate]) -> None:
    wanted = {name for template in templates for name in template.names()}
    while not wanted <= {node["metadata"]["name"] for node in cluster.api.select("nodes")}:
        await asyncio.sleep(0.01)


def _describe(template: NodeTemplate) -> str:
    resources = ", ".join(f"{v} {k}" for k, v in template.resources.items() if k != "pods")
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
    """The file is there whole or not at all: scripts wait for it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    unfinished.touch(mode=0o600)
    shutil.copyfile(source, unfinished)
    unfinished.replace(target)
    return target
