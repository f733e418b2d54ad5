"""`reprieve when`: when something starts, with a median and an interval, or why that cannot be said."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reprieve.cli.completion import complete_target
from reprieve.cli.output import NO, YES, Output, output_option, print_answer
from reprieve.cli.sources import (
    asks_cluster,
    context_option,
    filename_option,
    jobs_on_cluster,
    kubeconfig_option,
    nodes_option,
    now_option,
    read_manifests,
    records_options,
    seconds_of,
)
from reprieve.objects import (
    Document,
    Reference,
    ReprieveError,
    Source,
    well_known,
)

if TYPE_CHECKING:
    from reprieve.cli.layout import Screen
    from reprieve.config import Configuration
    from reprieve.forecast import Forecast
    from reprieve.records import Kept
    from reprieve.simulate import Job

LONGEST = 87_600 * 3600
"""Seconds in ten years."""


@click.command("when")
@click.argument("target", metavar="[KIND/NAMESPACE/NAME]", required=False, shell_complete=complete_target)
@filename_option
@click.option(
    "--for",
    "for_",
    metavar="KIND/NS/NAME",
    shell_complete=complete_target,
    help="The same as the argument. Default: what the manifests create.",
)
@nodes_option
@kubeconfig_option
@context_option
@click.option("--config", type=click.Path(), help="A ReprieveConfiguration: algorithm, gates, fair sharing.")
@now_option("The moment of the question (RFC 3339); default: now.")
@click.option(
    "--history",
    "histories",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Earlier runs: jobs in the common form of traces (docs/simulate.md), known by their queue.",
)
@records_options
@click.option(
    "--horizon", metavar="DURATION", default="720h", show_default=True, help="How far to look ahead."
)
@click.option(
    "--futures",
    type=click.IntRange(min=9, max=100_000),
    help="How many futures are drawn.  [default: 200, fewer for large clusters]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same answer.")
@output_option
def command(
    target: str | None,
    filenames: tuple[str, ...],
    for_: str | None,
    nodes: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    config: str | None,
    now: str | None,
    histories: tuple[str, ...],
    kept: "Kept",
    horizon: str,
    futures: int | None,
    seed: int,
    output: Output,
) -> None:
    """When will it run?

    The cluster as it is, replayed forward in virtual time by the scheduler and the quota cycle that run live.
    Run times are announced (annotation reprieve.dev/expected-runtime), learnt from earlier runs, or limited
    (activeDeadlineSeconds). Where they are uncertain, many futures are drawn. Exit code 0: it starts, or
    runs; 1: not as things are, or it cannot be said; 2: bad input.

    \b
    Examples:
      reprieve when -f examples/41-when/cluster.yaml -f examples/41-when/job.yaml
      reprieve when podgroup/default/train -f examples/02-live-preemption/training.yaml \\
        --kubeconfig ~/.kube/config
      reprieve when -f examples/41-when/job.yaml --kubeconfig ~/.kube/config -o json
      reprieve when workload/ml/tune -f examples/41-when/queues.yaml --history examples/41-when/history.csv
      reprieve when job/default/crunch --kubeconfig ~/.kube/config --controller http://127.0.0.1:8088
    """
    from reprieve.config import Configuration
    from reprieve.forecast import when_all

    if target and for_:
        raise click.UsageError("the target is given twice; leave --for or the argument")
    configuration = Configuration.read(config) if config else Configuration.load(None)
    submitted = read_manifests(filenames, nodes)
    past, runs = _history(histories), asyncio.run(kept.runs())
    targets = _targets(target or for_, submitted, configuration)
    documents: Sequence[Document | Source] = submitted
    if asks_cluster((*filenames, *nodes), kubeconfig, context):
        documents = jobs_on_cluster(submitted, kubeconfig, context, configuration.job_kinds())
    answers = when_all(
        documents, targets, configuration, now,
        history=past, runs=runs, futures=futures, seed=seed, horizon=_seconds(horizon),
    )  # fmt: skip
    data = [answer.to_dict() for answer in answers]
    listed = {"apiVersion": well_known.API_VERSION, "kind": "ForecastList", "items": data}
    print_answer(data[0] if len(data) == 1 else listed, output, lambda screen: _render(screen, answers))
    raise SystemExit(YES if all(answer.starts for answer in answers) else NO)


def _seconds(text: str) -> float:
    found = seconds_of("--horizon", text)
    if not 0 < found <= LONGEST:
        raise ReprieveError(f"--horizon {text}: must be more than 0 and at most {LONGEST // 3600}h")
    return found


def _history(names: Sequence[str]) -> "list[Job]":
    if not names:
        return []
    from reprieve.simulate import read_trace

    return [job for name in names for job in read_trace(name).jobs]


def _targets(text: str | None, submitted: Sequence[Source], config: "Configuration") -> list[Reference]:
    from reprieve.whatif import parse_target, targets, without_pods

    if text:
        try:
            return [parse_target(text, config)]
        except ReprieveError as error:
            raise ReprieveError(f"cannot look ahead for {error}") from error
    found = targets(submitted, config)
    if not found and (lacking := without_pods(submitted)):
        raise click.UsageError(f"who is asked about? {lacking}")
    if not found:
        raise click.UsageError(
            "who is asked about? In the manifests nothing waits: no pod, group, workload or job. Name it: "
            "reprieve when KIND/NAMESPACE/NAME"
            if submitted
            else "who is asked about? Name it: KIND/NAMESPACE/NAME, or give its manifest with -f"
        )
    return found


def _render(screen: "Screen", answers: "Sequence[Forecast]") -> None:
    from reprieve.cli.when_tables import render_forecasts

    render_forecasts(screen, answers)
