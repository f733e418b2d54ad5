"""Small simulations in a line, and what any of them must keep."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from reprieve.simulate import Job, NodeEvent, Result, Scene, Settings, Simulation, policy, ticks
from tests.builders import Document, document, node, views

GPU = "nvidia.com/gpu"
PRIORITIES = {"high": 1000, "normal": 100, "low": 0}


def gpu_nodes(count: int, gpus: int = 8, pods: int = 110) -> list[Any]:
    offer = {GPU: str(gpus)}
    return views(*(node(f"n{number}", 1000, pods=pods, allocatable=offer) for number in range(count)))


def queue(name: str, gpus: int, **more: Any) -> list[Document]:
    """A ClusterQueue of so many GPUs and its LocalQueue."""
    group = {
        "coveredResources": [GPU],
        "flavors": [{"name": "f", "resources": [{"name": GPU, "nominalQuota": gpus}]}],
    }
    spec = {"namespaceSelector": {}, "resourceGroups": [group], **more}
    local = document("LocalQueue", name, "ns", spec={"clusterQueue": name})
    return [document("ClusterQueue", name, spec=spec), local]


def queues(*found: list[Document]) -> list[Any]:
    return views(document("ResourceFlavor", "f", spec={}), *(each for pair in found for each in pair))


def one(
    name: str, submit: float = 0, duration: float = 10, gpus: float = 1, klass: str = "low", **more: Any
) -> Job:
    """A job; times in seconds."""
    return Job(
        name=name,
        submit=ticks(submit),
        duration=ticks(duration),
        gpu=round(gpus * 1000),
        klass=klass,
        priority=PRIORITIES[klass],
        **more,
    )


def simulation(
    jobs: Sequence[Job],
    objects: Sequence[Any],
    name: str = "kep-5710",
    *,
    node_events: Sequence[NodeEvent] = (),
    listener: Any = None,
    **settings: Any,
) -> Simulation:
    """Settings in seconds."""
    times: dict[str, Any] = {
        key: ticks(value) for key, value in settings.items() if key not in ("seed", "announce")
    }
    rest = {key: value for key, value in settings.items() if key in ("seed", "announce")}
    made = Settings(policy=policy(name), **times, **rest)
    return Simulation(Scene(objects, jobs), jobs, made, node_events, listener)


def run(*args: Any, **more: Any) -> Result:
    return simulation(*args, **more).run()


def times(result: Result) -> dict[str, tuple[float, float]]:
    """First start and end of each job, in seconds."""
    found = zip(result.jobs, result.fates, strict=True)
    return {job.name: (fate.first / 1e6, fate.finish / 1e6) for job, fate in found}


def overcommitted(result: Result, capacity: int) -> list[tuple[int, str]]:
    """Moments and nodes at which more GPUs (thousandths) were held than there are."""
    changes: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for stretch in result.stretches:
        for name, pods in Counter(stretch.nodes).items():
            held = pods * result.jobs[stretch.job].gpu
            changes[name] += [(stretch.start, held), (stretch.end, -held)]
    found = []
    for name, each in changes.items():
        used = 0
        for time, change in sorted(each):
            used += change
            if used > capacity:
                found.append((time, name))
    return found


@st.composite
def workloads(draw: st.DrawFn, most: int = 12) -> list[Job]:
    """Jobs of all classes and sizes, gangs among them, in the order of their submission."""
    number = draw(st.integers(1, most))
    submits = sorted(draw(st.lists(st.integers(0, 400), min_size=number, max_size=number)))
    return [
        one(
            f"j{index:02d}",
            submit,
            draw(st.integers(1, 300)),
            draw(st.sampled_from((1, 1, 2, 4, 8))),
            draw(st.sampled_from(("high", "normal", "low", "low"))),
            pods=draw(st.sampled_from((1, 1, 1, 2, 3))),
        )
        for index, submit in enumerate(submits)
    ]


STEADY = str(Path(__file__).parents[2] / "examples" / "40-simulate" / "steady.yaml")
"""A configuration with headroom and pauses."""
POLICIES = ("kubernetes", "kep-5710", "minimal-cost", STEADY, "fifo", "fifo-skip")
