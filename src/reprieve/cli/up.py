"""`reprieve up`: a whole control plane with fake nodes, in the foreground, until Ctrl-C."""

import asyncio
import logging
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import click

from reprieve.cli.output import fail
from reprieve.objects.times import format_duration, parse_duration
from reprieve.server.embedded import EmbeddedServer, new_event_loop
from reprieve.server.fake_nodes import Habits, NodeTemplate
from reprieve.server.local import local_cluster

DEFAULT_NODES = ("node=4:cpu=8,memory=32Gi",)


@click.command("up")
@click.option(
    "--nodes",
    "nodes",
    multiple=True,
    metavar="SPEC",
    help="Fake nodes, e.g. 'h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8;zones=a,b;racks=2'. May be given several times. "
    f"'none' for no nodes.  [default: {DEFAULT_NODES[0]}]",
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
    nodes: tuple[str, ...],
    data_dir: Path | None,
    port: int,
    host: str,
    kubeconfig: Path | None,
    run_for: str,
    terminate_after: str,
) -> None:
    """Start a Kubernetes API server with controllers and fake nodes on this machine.

    It runs in the foreground and stops on Ctrl-C. Any client that speaks to Kubernetes can use it: kubectl, client libraries,
    `reprieve run`. Only this machine can reach it unless --host says otherwise.

    \b
    Examples:
      reprieve up
      reprieve up --nodes 'h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8' --nodes 'cpu=20:cpu=32,memory=128Gi'
      reprieve up --data-dir ~/.reprieve --port 6443
      kubectl --kubeconfig $KUBECONFIG get nodes
    """
    specs = nodes or DEFAULT_NODES
    templates = [] if specs == ("none",) else [NodeTemplate.parse(spec) for spec in specs]
    habits = Habits(run_for=parse_duration(run_for) or None, terminate_after=parse_duration(terminate_after))
    cluster = local_cluster(nodes=templates, habits=habits, data_dir=data_dir, host=host, port=port)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        try:
            runner.run(_serve(cluster, templates, data_dir, kubeconfig, habits))
        except OSError as error:
            fail(f"cannot listen on {host}:{port}: {error.strerror or error}")


async def _serve(
    cluster: EmbeddedServer,
    templates: Sequence[NodeTemplate],
    data_dir: Path | None,
    kubeconfig: Path | None,
    habits: Habits,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    begun = time.monotonic()
    async with cluster:
        _tell("API server", f"{cluster.url}  ({f'data in {data_dir}' if data_dir else 'in memory'})")
        await _nodes_ready(cluster, templates)
        _tell("Fake nodes", ", ".join(_describe(template) for template in templates) or "none")
        _tell("Pods", _describe_habits(habits))
        path = cluster.kubeconfig
        if kubeconfig is not None:
            path = _copy_private(path, kubeconfig)
        _tell("Ready", f"in {time.monotonic() - begun:.1f} s; Ctrl-C stops it")
        click.echo(f"\n  export KUBECONFIG={path}\n  kubectl get nodes\n")
        await stop.wait()
        click.echo("\nStopping.")
    _tell("Stopped", f"the state is in {data_dir}" if data_dir else "nothing was kept")


def _tell(what: str, text: str) -> None:
    click.echo(f"{click.style('✓', fg='green')} {what:<11} {text}")


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
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(mode=0o600)
    target.chmod(0o600)
    shutil.copyfile(source, target)
    return target
