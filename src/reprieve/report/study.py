"""What a report is about: the runs that are compared, and what was assumed."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from reprieve.objects import counted
from reprieve.report.columns import Columns
from reprieve.report.wording import amount, span
from reprieve.simulate import Metrics, Result, Scene, Settings, Task, Trace, seconds


class Run:
    """One configuration: what came of it, and how it is judged."""

    def __init__(self, result: Result, metrics: Metrics, settings: Settings) -> None:
        self.name = result.policy
        self.result = result
        self.metrics = metrics
        self.settings = settings

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.result, by_gpu=self.metrics.unit == "gpu")


class Study:
    """`tasks` and `results` in one order; the first is what the others are compared with."""

    def __init__(
        self,
        name: str,
        trace: Trace,
        tasks: Sequence[Task],
        results: Sequence[Result],
        metrics: Mapping[str, Metrics],
    ) -> None:
        self.name = name
        self.trace = trace
        self.jobs = trace.jobs
        self.tasks = tasks
        self.runs = [
            Run(result, metrics[result.policy], task.settings)
            for task, result in zip(tasks, results, strict=True)
        ]
        self.scenes = _scenes(tasks[0])
        self.by_gpu = self.runs[0].metrics.unit == "gpu"
        self.unit = "GPU" if self.by_gpu else "core"
        self.end = max(1.0, *(seconds(each.result.end) for each in self.runs))
        """Seconds after which nothing happens in any of the runs."""

    @cached_property
    def nodes(self) -> dict[str, int]:
        """Name to thousandths of GPUs or cores; in a fleet `CLUSTER/NAME`, as the runs of jobs name them."""
        return {
            f"{before}{each.name}": scene.gpus_of(each) if self.by_gpu else scene.cores_of(each)
            for before, scene in self.scenes.items()
            for each in scene.nodes
        }

    @cached_property
    def classes(self) -> list[str]:
        """The most important first."""
        best: dict[str, int] = {}
        for job in self.jobs:
            best[job.klass] = max(job.priority, best.get(job.klass, job.priority))
        return sorted(best, key=lambda name: (-best[name], name))

    @property
    def capacity(self) -> float:
        """GPUs or cores of all nodes."""
        return sum(self.nodes.values()) / 1000

    def subtitle(self) -> str:
        parts = [counted_jobs(len(self.jobs))]
        if self.nodes:
            nodes = counted(len(self.nodes), "node")
            parts.append(f"{nodes} with {amount(self.capacity)} {plural(self.capacity, self.unit)}")
        if self.tasks[0].clusters:
            parts.append(counted(len(self.scenes), "cluster"))
        queues = {each.name for scene in self.scenes.values() for each in scene.queues}
        if queues:
            parts.append(counted(len(queues), "queue"))
        names = [each.name for each in self.runs]
        parts.append(names[0] if len(names) == 1 else f"{len(names)} configurations compared")
        return ", ".join(parts)

    def assumptions(self) -> list[str]:
        """What the numbers rest on, as sentences."""
        return [*_behaviour(self.runs[0].settings), *self._limits(), *self._left_out()]

    def _limits(self) -> list[str]:
        settings = self.runs[0].settings
        found = []
        if settings.until is not None:
            found.append(f"The simulation stops after {span(seconds(settings.until))}.")
        if settings.mean_failure:
            found.append(
                f"Nodes fail by chance, {span(seconds(settings.mean_failure))} apart on average, and return "
                f"after {span(seconds(settings.repair))} (seed {settings.seed})."
            )
        if self.tasks[0].node_events:
            found.append(f"{counted(len(self.tasks[0].node_events), 'event')} of nodes from a file.")
        return found

    def _left_out(self) -> list[str]:
        found = []
        notes = dict.fromkeys([*self.trace.notes, *(note for run in self.runs for note in run.result.notes)])
        found += [f"{note[0].upper()}{note[1:]}." for note in notes]
        found.append("Binding, creating and deleting pods takes no time.")
        return found


def _scenes(task: Task) -> dict[str, Scene]:
    """By what stands before the names of its nodes."""
    if not task.clusters:
        return {"": Scene(task.objects, task.jobs)}
    return {f"{name}/": Scene((*task.objects, *own), task.jobs) for name, own in task.clusters}


def _behaviour(settings: Settings) -> list[str]:
    checkpoint = seconds(settings.checkpoint)
    told = " and says so on its pods" if settings.announce else ""
    found = [
        f"A job saves its work every {span(checkpoint)}{told}; evicted in between it loses the rest."
        if checkpoint
        else "Jobs never save their work: an evicted one begins anew."
    ]
    restore, grace = seconds(settings.restore), seconds(settings.grace)
    found.append(
        f"Beginning again costs {span(restore)}." if restore else "Beginning again after an eviction is free."
    )
    if grace:
        found.append(f"Evicted pods hold their place for another {span(grace)}.")
    return found


def counted_jobs(number: int) -> str:
    return f"{number:,} {plural(number, 'job')}"


def plural(number: float, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"
