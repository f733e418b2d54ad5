"""`reprieve run`: the controllers against a cluster, until a signal stops them."""

import asyncio
import contextlib
import signal
from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from reprieve.config import Configuration
    from reprieve.dashboard import Access

LEASE_ATTEMPTS = 2
"""A holder that cannot renew its lease must find out soon."""


@click.command(context_settings={"show_default": True})
@click.option(
    "--controllers", default="scheduler", help="Which ones, separated by commas: scheduler, quota, fleet."
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    help="Default: $KUBECONFIG, ~/.kube/config, or in cluster.",
)
@click.option("--context", "context_", help="A context of the kubeconfig other than the current one.")
@click.option(
    "--config", "config_path", type=click.Path(path_type=Path), help="A ReprieveConfiguration file."
)
@click.option(
    "--scheduler-name",
    "scheduler_names",
    multiple=True,
    help="Schedule pods with this spec.schedulerName; may be given several times.  [default: reprieve]",
)
@click.option(
    "--leader-elect/--no-leader-elect",
    default=None,
    help="Let one of several replicas act.  [default: elect]",
)
@click.option("--lease-namespace", help="Where the Lease is.  [default: reprieve-system]")
@click.option(
    "--listen",
    default="127.0.0.1:8080",
    help="Where /healthz, /readyz, /metrics and /api are; empty: nowhere.",
)
@click.option(
    "--dashboard", is_flag=True, help="Serve the web page at / as well; it reads all kinds it shows."
)
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The token that viewers of decisions and the page must present. Required for a page that other "
    "machines "
    "can reach.  [default: $REPRIEVE_TOKEN]",
)
@click.option(
    "--kube-api-qps",
    type=click.FloatRange(min=0),
    default=1000.0,
    help="Requests a second to the API server; 0: no limit.",
)
@click.option(
    "--kube-api-burst", type=click.IntRange(min=1), default=2000, help="Requests at once beyond that."
)
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), default="text", help="For people or for machines."
)
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info")
def command(
    controllers: str,
    kubeconfig: Path | None,
    context_: str | None,
    listen: str,
    dashboard: bool,
    token_file: Path | None,
    kube_api_qps: float,
    kube_api_burst: int,
    log_format: Literal["text", "json"],
    log_level: str,
    **settings: Any,
) -> None:
    """Run the controllers against a cluster.

    Exit code 0: stopped by a signal; 1: another replica took the lease; 2: it cannot start.

    \b
    Examples:
      reprieve run --kubeconfig ~/.kube/config --no-leader-elect
      reprieve run --controllers scheduler,quota --dashboard
      reprieve run --controllers quota,fleet --config examples/30-fleet/least-cost.yaml
    """
    from reprieve.controllers import load
    from reprieve.dashboard import guarded
    from reprieve.kube import Client
    from reprieve.runtime import Process, set_up_logging

    set_up_logging(log_format, log_level.upper())
    runs = {name: load(name) for name in map(str.strip, controllers.split(",")) if name}
    config = configuration(**settings)
    access, port = _access(listen, token_file, dashboard)
    connect = partial(Client.from_kubeconfig, kubeconfig, context_)
    at_pace = partial(connect, qps=kube_api_qps, burst=kube_api_burst)

    async def main() -> None:
        async with (
            at_pace() as client,
            connect(attempts=LEASE_ATTEMPTS) as lease_client,
            # The page has its own client: what it may not read does not make the controllers unready.
            at_pace() as page_client,
        ):
            add = guarded(access, dashboard)
            elect = config.scheduler.leader_election.enabled
            await Process(
                client, config, runs, access.host, port, elect, lease_client,
                lambda app, _, records, config: add(app, page_client, records, config),
            ).run()  # fmt: skip

    _exit_with_its_reason(main())


def _exit_with_its_reason(main: Coroutine[Any, Any, None]) -> None:
    """Run it until a signal; a lost lease exits with 1, an error that is the user's to fix with 2."""
    from reprieve.cli.output import fail
    from reprieve.objects import ReprieveError
    from reprieve.runtime import LeaseLost

    try:
        _run_until_stopped(main)
    except* LeaseLost as lost:
        click.echo(f"reprieve: {lost.exceptions[0]}", err=True)
        raise SystemExit(1) from None
    except* ReprieveError as errors:
        fail(str(errors.exceptions[0]))


def _access(listen: str, token_file: Path | None, dashboard: bool) -> "tuple[Access, int | None]":
    """Who may look at what this process serves, and on which port."""
    from reprieve.cli.output import fail
    from reprieve.dashboard import Access
    from reprieve.runtime import read_token

    host, port = _address(listen)
    access = Access(host, read_token(token_file))
    if dashboard and port is not None and not access.token and not access.is_local:
        fail(
            f"--dashboard on {host} can be reached from other machines and would show every namespace to "
            "everybody; give it a token (--token-file FILE; make one: openssl rand -hex 24), or listen on "
            "127.0.0.1"
        )
    return access, port


def configuration(
    config_path: Path | None,
    scheduler_names: tuple[str, ...],
    leader_elect: bool | None = None,
    lease_namespace: str | None = None,
) -> "Configuration":
    """The file's settings, with those of the command line on top."""
    from reprieve.config import Configuration

    document = Configuration.read(config_path).to_dict() if config_path else {}
    scheduler = document.setdefault("scheduler", {})
    election = scheduler.setdefault("leaderElection", {})
    name, *others = scheduler_names or (None,)
    for section, key, value in (
        (scheduler, "schedulerName", name),
        (scheduler, "otherSchedulerNames", others if scheduler_names else None),
        (election, "enabled", leader_elect),
        (election, "namespace", lease_namespace),
    ):
        if value is not None:
            section[key] = value
    return Configuration.load(document)


def _address(listen: str) -> tuple[str, int | None]:
    host, _, port = listen.rpartition(":")
    if not listen:
        return "", None
    if ":" not in listen or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(
            f"{listen!r} is not HOST:PORT; write for instance 127.0.0.1:8080", param_hint="--listen"
        )
    return host.strip("[]") or "0.0.0.0", int(port)


def _run_until_stopped(main: Coroutine[Any, Any, None]) -> None:
    """On uvloop where there is one; SIGTERM and SIGINT stop it in order, so that the lease is released."""

    async def guarded() -> None:
        task = asyncio.ensure_future(main)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task

    with contextlib.suppress(ImportError):
        import uvloop

        uvloop.run(guarded())
        return
    asyncio.run(guarded())
