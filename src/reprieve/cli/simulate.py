"""`reprieve simulate`: what would happen to these jobs on that cluster, under one policy or several."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from reprieve.cli.output import NO, YES, all_option, console, print_answer
from reprieve.cli.simulate_import import import_command
from reprieve.cli.simulate_input import Given, Scenery, check_nodes, cluster_option, read_input
from reprieve.cli.simulate_report import Format, report_options, wanted
from reprieve.cli.sources import context_option, filename_option, kubeconfig_option
from reprieve.objects import ReprieveError, nearest, parse_duration, well_known

if TYPE_CHECKING:
    from reprieve.cli.layout import Screen
    from reprieve.simulate import Metrics, Policy, Result, Task, Trace


def _duration(name: str, default: str, help: str) -> Callable[[Any], Any]:
    return click.option(name, default=default, show_default=True, metavar="DURATION", help=help)


class _Simulate(click.Group):
    """A command of its own that has one below it; whatever else is written there is a stray argument."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands:
            if hint := nearest(args[0], self.commands):
                ctx.fail(f"No such command {args[0]!r}{hint}")
            ctx.fail(f"Got unexpected extra argument ({args[0]})")
        given = [
            option.opts[0]
            for option in self.params
            if option.name and ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        ]
        if given:
            ctx.fail(f"{given[0]} says nothing to `reprieve simulate {args[0]}`; leave it out")
        return super().resolve_command(ctx, args)


@click.group("simulate", cls=_Simulate, invoke_without_command=True, subcommand_metavar="[import ...]")
@filename_option
@click.option(
    "--nodes",
    "nodes",
    multiple=True,
    metavar="SPEC",
    help="Nodes, as for `reprieve up`. May be given several times.",
)
@cluster_option
@kubeconfig_option
@context_option
@click.option(
    "--trace",
    metavar="FILE|DIR",
    help="The jobs: a CSV file in the common form, plain or gzipped, a generator file of Kueue (.yaml), or "
    "manifests of jobs that say when they arrive.  [required]",
)
@click.option(
    "--scenario", metavar="NAME", help="A window of a public trace and its cluster, e.g. philly-90."
)
@click.option(
    "--config", type=click.Path(), help="A ReprieveConfiguration that all compared policies start from."
)
@click.option(
    "--compare",
    "compared",
    multiple=True,
    metavar="POLICY",
    help="kubernetes, kep-5710, minimal-cost, fifo, fifo-skip, or a configuration file. May be given several "
    "times; default: the algorithm of the configuration.",
)
@click.option("--until", metavar="DURATION", help="Stop at this moment of the simulation, e.g. 336h.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of everything that is drawn: failures of nodes."
)
@_duration("--checkpoint", "30m", "How often a job saves its work; 0: never.")
@_duration("--restore", "0s", "What it costs to begin again after an eviction.")
@_duration("--grace", "0s", "How long evicted pods still hold their place.")
@click.option(
    "--announce-checkpoints",
    "announce",
    is_flag=True,
    help="Jobs say on their pods when they have saved their work (reprieve.dev/checkpointed-at).",
)
@click.option(
    "--priorities",
    type=click.Choice(["trace", "drawn"]),
    default="trace",
    show_default=True,
    help="drawn: jobs for which the trace states none get one by their name.",
)
@_duration(
    "--cycle-every", "0s", "Quota cycles take place at multiples of this; 0: whenever somebody can be tried."
)
@click.option(
    "--node-events", metavar="FILE", help="A CSV file with time_s, event (fail, drain, return) and node."
)
@click.option("--mtbf", metavar="DURATION", help="Nodes fail by chance, this far apart on average.")
@_duration("--repair", "1h", "How long a node that failed by chance is away.")
@click.option(
    "--assert",
    "assertions",
    multiple=True,
    metavar="EXPR",
    help="E.g. 'lost_gpu_hours < 1000' or 'high.delay.p99 <= 60'; exit code 1 if it does not hold.",
)
@click.option(
    "--processes", type=click.IntRange(min=1), help="At most so many at once; default: one for each core."
)
@all_option
@report_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    filenames: tuple[str, ...],
    nodes: tuple[str, ...],
    trace: str | None,
    assertions: tuple[str, ...],
    processes: int | None,
    everything: bool,
    output: Format,
    **rest: Any,
) -> None:
    """What would happen to these jobs on that cluster?

    Runs the scheduler and the quota cycle of this program in virtual time over the jobs of a trace, and
    measures waiting, lost work, use and fairness. The same input and seed give the same bytes. Exit code 0; 1
    when an assertion does not hold; 2: bad input.

    \b
    Examples:
      reprieve simulate --trace examples/40-simulate/jobs.csv --nodes 'gpu=4:nvidia.com/gpu=8'
      reprieve simulate --trace examples/40-simulate/jobs.csv --nodes 'gpu=4:nvidia.com/gpu=8' \\
        --compare kubernetes --compare kep-5710 --compare minimal-cost --assert 'goodput > 0.9'
      reprieve simulate -f examples/40-simulate/queues.yaml --trace examples/40-simulate/jobs.csv \\
        --nodes 'gpu=4:nvidia.com/gpu=8' -o json
      reprieve simulate --trace examples/40-simulate/jobs.csv --nodes 'gpu=4:nvidia.com/gpu=8' \\
        --compare kubernetes --compare minimal-cost --out report.html --plots figures
      reprieve simulate --trace examples/40-simulate/generator.yaml --cycle-every 10ms --checkpoint 0s
      reprieve simulate --trace examples/40-simulate/jobs.csv -f examples/40-simulate/queues.yaml \\
        --cluster 'eu=gpu=2:nvidia.com/gpu=8' --cluster 'us=gpu=2:nvidia.com/gpu=8'
      reprieve simulate --trace examples/40-simulate/manifests --nodes 'gpu=2:nvidia.com/gpu=8,cpu=64'
      reprieve simulate import --from swf examples/40-simulate/jobs.swf
    """
    if ctx.invoked_subcommand:
        return
    if trace is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'--trace'", param_type="option")
    from reprieve.simulate import check, compare, measure, scenario

    chosen = scenario(rest["scenario"]) if rest["scenario"] else None
    given = Given(filenames, nodes, rest["clusters"], rest["kubeconfig"], rest["context"])
    found, scenery = read_input(given, trace, chosen, drawn=rest["priorities"] == "drawn")
    report = wanted(output, rest["out"], rest["plots"])
    tasks = report.recorded(_tasks(found, scenery, rest))
    with _progress(len(found.jobs)) as heard:
        results = compare(tasks, heard, processes)
    measured = {each.policy: measure(each, chosen.window if chosen else None) for each in results}
    checked = [each for expression in assertions for each in check(expression, measured)]
    data = _document(trace, rest["seed"], found, measured)
    data["assertions"] = [each._asdict() for each in checked]

    def render(screen: "Screen") -> None:
        from reprieve.cli.simulate_tables import render_simulation

        render_simulation(screen, data, everything=everything)

    report.write(Path(trace).name, found, tasks, results, measured)
    if output != "html":
        print_answer(data, output, render)
    _speed(results)
    for each in checked:
        click.echo(each.sentence(), err=True)
    raise SystemExit(YES if all(each.holds for each in checked) else NO)


command.add_command(import_command)


def _tasks(found: "Trace", scenery: Scenery, options: dict[str, Any]) -> list["Task"]:
    from reprieve.simulate import Settings, Task, read_node_events

    events = tuple(read_node_events(options["node_events"])) if options["node_events"] else ()
    check_nodes(events, scenery)
    times: dict[str, Any] = {
        "checkpoint": _ticks("--checkpoint", options["checkpoint"]),
        "restore": _ticks("--restore", options["restore"]),
        "grace": _ticks("--grace", options["grace"]),
        "cycle_every": _ticks("--cycle-every", options["cycle_every"]),
        "mean_failure": _ticks("--mtbf", options["mtbf"] or "0s"),
        "repair": _ticks("--repair", options["repair"]),
        "until": _ticks("--until", options["until"]) if options["until"] else None,
    }
    return [
        Task(
            objects=scenery.objects,
            clusters=scenery.clusters,
            jobs=found.jobs,
            settings=Settings(policy=each, announce=options["announce"], seed=options["seed"], **times),
            node_events=events,
        )
        for each in _policies(options["config"], options["compared"])
    ]


def _policies(config: str | None, names: Sequence[str]) -> list["Policy"]:
    from reprieve.config import Configuration
    from reprieve.simulate import policy

    base = Configuration.read(config) if config else Configuration()
    found = [policy(name, base) for name in dict.fromkeys(names or (base.preemption.algorithm,))]
    if len({each.name for each in found}) < len(found):
        raise ReprieveError("--compare: two configurations have the same name; rename one of the files")
    return found


def _ticks(option: str, text: str) -> int:
    from reprieve.simulate import ticks

    seconds = parse_duration(text)
    if seconds < 0:
        raise ReprieveError(f"{option}: {text!r} is negative; write for instance 30m")
    return ticks(seconds)


def _document(trace: str, seed: int, found: "Trace", measured: "dict[str, Metrics]") -> dict[str, Any]:
    return {
        "apiVersion": well_known.API_VERSION,
        "kind": "Simulation",
        "trace": Path(trace).name,
        "jobs": len(found.jobs),
        "seed": seed,
        "notes": list(found.notes),
        "configurations": [each.to_dict() for each in measured.values()],
    }


def _speed(results: "Sequence[Result]") -> None:
    """How fast this machine decided; to standard error, since no seed repeats it."""
    for each in results:
        decisions, seconds = each.decisions + each.cycles, sum(each.seconds)
        if seconds:
            click.echo(
                f"{each.policy}: {decisions:,} decisions in {seconds:.1f} s of processor time "
                f"({decisions / seconds:,.0f} a second, {1000 * seconds / decisions:.2f} ms each)",
                err=True,
            )


@contextmanager
def _progress(jobs: int) -> "Iterator[Callable[[str, int, int], None] | None]":
    """A bar for each configuration, at a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress, TaskID

    with Progress(console=console(stderr=True), transient=True) as bars:
        known: dict[str, TaskID] = {}

        def heard(name: str, done: int, total: int) -> None:
            if name not in known:
                known[name] = bars.add_task(name, total=total or jobs)
            bars.update(known[name], completed=done)

        yield heard
