"""`reprieve simulate`: what would happen to these jobs on that cluster, under one policy or several."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from reprieve.cli.output import NO, YES, Output, all_option, console, print_answer
from reprieve.cli.simulate_import import import_command
from reprieve.cli.simulate_input import input_options, read_input
from reprieve.cli.simulate_report import Format, report_options, wanted
from reprieve.cli.simulate_tasks import read_tasks, task_options
from reprieve.objects import nearest, well_known

if TYPE_CHECKING:
    from reprieve.cli.layout import Screen
    from reprieve.simulate import Checked, Metrics, Result, Trace


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
@input_options
@task_options
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
    assertions: tuple[str, ...],
    processes: int | None,
    everything: bool,
    output: Format,
    **options: Any,
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
    if options["trace"] is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'--trace'", param_type="option")
    from reprieve.simulate import check, compare, measure, understood

    found, scenery, window = read_input(options)
    report = wanted(output, options["out"], options["plots"])
    tasks = report.recorded(read_tasks(options, found, scenery))
    for expression in assertions:
        understood(expression, [each.settings.policy.name for each in tasks], found.jobs)
    with _progress(len(found.jobs)) as heard:
        results = compare(tasks, heard, processes)
    measured = {each.policy: measure(each, window) for each in results}
    checked = [each for expression in assertions for each in check(expression, measured)]
    name = Path(options["trace"]).name
    report.write(name, found, tasks, results, measured)
    if output != "html":
        _print(_document(name, options["seed"], found, measured, checked), output, everything=everything)
    _speed(results)
    for each in checked:
        click.echo(each.sentence(), err=True)
    raise SystemExit(YES if all(each.holds for each in checked) else NO)


command.add_command(import_command)


def _print(data: dict[str, Any], output: Output, *, everything: bool) -> None:
    def render(screen: "Screen") -> None:
        from reprieve.cli.simulate_tables import render_simulation

        render_simulation(screen, data, everything=everything)

    print_answer(data, output, render)


def _document(
    name: str, seed: int, found: "Trace", measured: "dict[str, Metrics]", checked: "Sequence[Checked]"
) -> dict[str, Any]:
    return {
        "apiVersion": well_known.API_VERSION,
        "kind": "Simulation",
        "trace": name,
        "jobs": len(found.jobs),
        "seed": seed,
        "notes": list(found.notes),
        "configurations": [each.to_dict() for each in measured.values()],
        "assertions": [each._asdict() for each in checked],
    }


def _speed(results: "Sequence[Result]") -> None:
    """How fast this machine decided; to standard error, since no seed repeats it."""
    for each in results:
        decisions, seconds = each.decisions + each.cycles, sum(each.seconds)
        if seconds and decisions:
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
