"""What `reprieve simulate` is asked to run: who decides, how jobs behave, what fails; one task a policy."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from reprieve.cli.simulate_input import Scenery, has_any, node_problem
from reprieve.cli.sources import seconds_of
from reprieve.objects import ReprieveError

if TYPE_CHECKING:
    from reprieve.simulate import Policy, Task, Trace

Decorator = Callable[[Any], Any]


def _duration(name: str, default: str, help: str) -> Decorator:
    return click.option(name, default=default, show_default=True, metavar="DURATION", help=help)


_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--config",
        "configs",
        type=click.Path(),
        multiple=True,
        help="A ReprieveConfiguration that all compared policies start from; several are compared.",
    ),
    click.option(
        "--compare",
        "compared",
        multiple=True,
        metavar="POLICY",
        help="kubernetes, kep-5710, minimal-cost, fifo, fifo-skip, or a configuration file. May be given "
        "several times; default: the algorithm of the configuration.",
    ),
    click.option("--until", metavar="DURATION", help="Stop at this moment of the simulation, e.g. 336h."),
    click.option(
        "--seed",
        type=int,
        default=0,
        show_default=True,
        help="Of everything that is drawn: failures of nodes.",
    ),
    _duration("--checkpoint", "30m", "How often a job saves its work; 0: never."),
    _duration("--restore", "0s", "What it costs to begin again after an eviction."),
    _duration("--grace", "0s", "How long evicted pods still hold their place."),
    click.option(
        "--announce-checkpoints",
        "announce",
        is_flag=True,
        help="Jobs say on their pods when they have saved their work (reprieve.dev/checkpointed-at).",
    ),
    _duration(
        "--cycle-every",
        "0s",
        "Quota cycles take place at multiples of this; 0: whenever somebody can be tried.",
    ),
    click.option(
        "--node-events", metavar="FILE", help="A CSV file with time_s, event (fail, drain, return) and node."
    ),
    click.option("--mtbf", metavar="DURATION", help="Nodes fail by chance, this far apart on average."),
    _duration("--repair", "1h", "How long a node that failed by chance is away."),
)


def task_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_tasks(options: Mapping[str, Any], found: "Trace", scenery: Scenery) -> list["Task"]:
    from reprieve.simulate import Settings, Task, read_node_events, seconds

    file = options["node_events"]
    events = tuple(read_node_events(file, node_problem(scenery))) if file else ()
    times: dict[str, Any] = {
        "checkpoint": _ticks("--checkpoint", options["checkpoint"]),
        "restore": _ticks("--restore", options["restore"]),
        "grace": _ticks("--grace", options["grace"]),
        "cycle_every": _ticks("--cycle-every", options["cycle_every"]),
        "mean_failure": _ticks("--mtbf", options["mtbf"] or "0s"),
        "repair": _ticks("--repair", options["repair"]),
        "until": _ticks("--until", options["until"]) if options["until"] else None,
    }
    _refuse_idle(times, scenery, announce=options["announce"])
    first = min(job.submit for job in found.jobs)
    if times["until"] is not None and times["until"] < first:
        raise ReprieveError(
            f"--until: {options['until']} is before the first job comes, at {seconds(first):,.0f} s; "
            "the clock begins at 0"
        )
    return [
        Task(
            objects=scenery.objects,
            clusters=scenery.clusters,
            jobs=found.jobs,
            settings=Settings(policy=each, announce=options["announce"], seed=options["seed"], **times),
            node_events=events,
        )
        for each in _policies(options["configs"], options["compared"])
    ]


def _refuse_idle(times: Mapping[str, Any], scenery: Scenery, *, announce: bool) -> None:
    """Options that would do nothing, and an answer that looks as if they had."""
    from reprieve.objects import ClusterQueue, Node

    if times["mean_failure"] and not has_any(scenery, Node):
        raise ReprieveError("--mtbf: there is no node that could fail; give --nodes, or manifests with Nodes")
    if times["cycle_every"] and not has_any(scenery, ClusterQueue):
        raise ReprieveError("--cycle-every: there is no quota that a cycle could give; give ClusterQueues")
    if announce and not times["checkpoint"]:
        raise ReprieveError("--announce-checkpoints: with --checkpoint 0 no job saves its work")


def _policies(configs: Sequence[str], compared: Sequence[str]) -> list["Policy"]:
    from reprieve.config import Configuration
    from reprieve.simulate import policy

    if len(configs) > 1 and compared:
        raise ReprieveError(
            "--config is there twice; what --compare names starts from one configuration. To compare "
            "configurations, write --compare FILE for each"
        )
    base = Configuration.read(configs[0]) if len(configs) == 1 else Configuration()
    names = compared or (configs if len(configs) > 1 else (base.preemption.algorithm,))
    found = [policy(name, base) for name in dict.fromkeys(names)]
    if len({each.name for each in found}) < len(found):
        raise ReprieveError("two configurations have the same name; rename one of the files")
    return found


def _ticks(option: str, text: str) -> int:
    from reprieve.simulate import LONGEST, ticks

    seconds = seconds_of(option, text)
    if seconds < 0:
        raise ReprieveError(f"{option}: {text!r} is negative; write for instance 30m")
    if seconds > LONGEST:
        raise ReprieveError(f"{option}: {text!r} is more than 100 years")
    if seconds and not ticks(seconds):
        raise ReprieveError(f"{option}: {text!r} is less than a microsecond, which is not counted")
    return ticks(seconds)
