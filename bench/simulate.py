"""How fast is the simulator?  python bench/simulate.py [--quick] [--traces FOLDER] [--reference [NAME ...]]

All jobs of two public traces, where they are at hand (philly.csv.gz and surf-halfyear.csv.gz in FOLDER, by
default ../shared/traces or ../../shared/traces): Philly with gangs, and with quota too, on 106 nodes of eight
GPUs; SURF on 512 nodes of 16 cores. Elsewhere a load that is drawn. Prints jobs and decisions a second, where
the time goes, and memory. --reference compares start and end of every job of the nine scenarios (or of those
that are named, e.g. openb-110) with the reference program next to the traces, and its metrics with
reference.jsonl.
"""

import importlib.util
import json
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reprieve.objects import NodeTemplate, Object, decode_all
from reprieve.simulate import (
    SCENARIOS,
    Group,
    Job,
    Metrics,
    Settings,
    Task,
    measure,
    policy,
    read_trace,
    simulate,
    ticks,
)

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT.parent / "shared" / "traces", ROOT.parents[1] / "shared" / "traces")
GPU = "nvidia.com/gpu"


def cluster(spec: str) -> list[Object]:
    return list(decode_all(NodeTemplate.parse(spec).nodes()))


def quota(jobs: tuple[Job, ...], gpus: int) -> list[Object]:
    """A queue for each virtual cluster, with an even part of the GPUs; they lend it to each other."""
    names = sorted({job.queue for job in jobs})
    documents: list[dict[str, Any]] = [_kueue("ResourceFlavor", "gpu", {})]
    for name in names:
        resources = [{"name": GPU, "nominalQuota": str(gpus // len(names))}]
        group = {"coveredResources": [GPU], "flavors": [{"name": "gpu", "resources": resources}]}
        preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
        spec = {
            "cohortName": "all",
            "namespaceSelector": {},
            "preemption": preemption,
            "resourceGroups": [group],
        }
        documents.append(_kueue("ClusterQueue", name, spec))
        documents.append(_kueue("LocalQueue", name, {"clusterQueue": name}, namespace="jobs"))
    return list(decode_all(documents))


def _kueue(kind: str, name: str, spec: dict[str, Any], **metadata: str) -> dict[str, Any]:
    meta = {"name": name, **metadata}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, "spec": spec}


def drawn(number: int) -> tuple[Job, ...]:
    """Like Philly: most jobs are small and short, a few gangs hold most of the work."""
    chance = random.Random(7)
    jobs, now = [], 0.0
    for index in range(number):
        now += chance.expovariate(1 / 55)
        gpus = chance.choices((1, 2, 4, 8, 16, 32), (76, 5, 6, 8, 4, 1))[0]
        pods = max(1, gpus // 8)
        klass, priority = chance.choices((("high", 1000), ("normal", 100), ("low", 0)), (1, 3, 6))[0]
        duration = min(200_000.0, chance.lognormvariate(7.2, 1.8))
        jobs.append(
            Job(
                name=f"j{index}",
                submit=ticks(now),
                duration=ticks(duration),
                pods=pods,
                gpu=gpus // pods * 1000,
                klass=klass,
                priority=priority,
                queue=f"vc{index % 11}",
            )
        )
    return tuple(jobs)


def measured(title: str, jobs: tuple[Job, ...], objects: list[Object], name: str = "kep-5710") -> None:
    begun, cpu = time.perf_counter(), time.process_time()
    result = simulate(Task(objects=tuple(objects), jobs=jobs, settings=Settings(policy=policy(name))))
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    scheduling, admission = result.seconds
    decisions = result.decisions + result.cycles
    ended = sum(1 for fate in result.fates if fate.finish >= 0)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{title}: {ended:,} of {len(jobs):,} jobs ended under {name}")
    rates = f"{len(jobs) / cpu:,.0f} jobs and {decisions / cpu:,.0f} decisions a second"
    print(f"  {wall:.1f} s ({cpu:.1f} s of processor time): {rates}")
    each = 1e6 * scheduling / max(1, result.decisions)
    print(f"  scheduling cycles {100 * scheduling / cpu:.0f} % ({result.decisions:,}, {each:.0f} µs each)")
    print(f"  quota cycles {100 * admission / cpu:.0f} % ({result.cycles:,})")
    print(f"  pods coming and going, and the rest {100 * (cpu - scheduling - admission) / cpu:.0f} %")
    print(f"  {sum(fate.preempted for fate in result.fates):,} preemptions; at most {memory:,.0f} MiB so far")


def speed(folder: Path | None, quick: bool) -> None:
    if quick or folder is None:
        print(
            "a load that is drawn"
            if quick
            else "the traces are not here (../shared/traces): a load that is drawn"
        )
        jobs = drawn(2_000 if quick else 20_000)
        measured("drawn, 106 x 8 GPUs", jobs, cluster(f"n=106:{GPU}=8"))
        measured("drawn, with quota", jobs, [*cluster(f"n=106:{GPU}=8"), *quota(jobs, 848)])
        return
    philly = read_trace(folder / "philly.csv.gz", drawn=True).jobs
    measured("Philly, 106 x 8 GPUs", philly, cluster(f"n=106:{GPU}=8"))
    measured("Philly with quota", philly, [*cluster(f"n=106:{GPU}=8"), *quota(philly, 848)])
    surf = read_trace(folder / "surf-halfyear.csv.gz").jobs
    measured("SURF, 512 x 16 cores", surf, cluster("n=512:cpu=16,memory=128Gi"))


def unlike(ours: Metrics, theirs: dict[str, Any]) -> float:
    """The largest difference of a metric, as a share of it."""
    assert ours.jct is not None
    assert ours.delay is not None
    assert ours.fairness is not None
    pairs = [
        (ours.makespan_hours, theirs["makespan_h"]),
        (ours.utilisation_window, theirs["utilisation_window"]),
        (ours.utilisation, theirs["utilisation_makespan"]),
        (ours.lost_hours, theirs["lost_gpu_h"]),
        (ours.goodput, theirs["goodput"]),
        (ours.preemptions, theirs["preemptions"]),
        (ours.preemptions_per_job, theirs["preemptions_per_job"]),
        (ours.jain, theirs["jain"]),
        (ours.fairness.p50, theirs["ftf"]["p50"]),
        (ours.fairness.p99, theirs["ftf"]["p99"]),
        (ours.fairness.max, theirs["ftf"]["max"]),
        (ours.fairness.above_one, theirs["ftf"]["above_1"]),
        (ours.deadlines_missed, theirs.get("deadline_missed")),
        *_spreads(ours, theirs),
        *(pair for label, each in theirs["by_class"].items() for pair in _spreads(ours.classes[label], each)),
    ]
    return max(abs((mine or 0) - (other or 0)) / max(1, abs(other or 0)) for mine, other in pairs)


def _spreads(ours: Metrics | Group, theirs: dict[str, Any]) -> Iterator[tuple[float, float]]:
    for mine, other in ((ours.jct, theirs["jct"]), (ours.delay, theirs["delay"])):
        assert mine is not None
        yield from ((mine.mean, other["avg"]), (mine.p50, other["p50"]), (mine.p99, other["p99"]))


def reference(folder: Path, names: Sequence[str]) -> bool:
    """Whether start and end of every job are the reference's, for both plain queues."""
    spec = importlib.util.spec_from_file_location("reference_fifo", folder / "reference_fifo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = map(json.loads, (folder / "reference.jsonl").read_text().splitlines())
    kept = {(f"{each['scenario']}-{each['level'].split()[0]}", each["policy"]): each for each in lines}
    good = True
    for scenario in (SCENARIOS[name] for name in names):
        trace = scenario.cut(read_trace(folder / scenario.trace, drawn=True))
        jobs = module.load(**module.SCENARIOS[scenario.name.split("-")[0]][1])
        pool = cluster(f"pool=1:{GPU}={scenario.gpus},pods=100000")
        for name in ("fifo", "fifo-skip"):
            result = simulate(
                Task(objects=tuple(pool), jobs=trace.jobs, settings=Settings(policy=policy(name)))
            )
            expected = module.simulate(jobs, scenario.gpus * module.UNIT, *module.POLICIES[name])
            times = zip(result.fates, expected.first, expected.finish, strict=True)
            wrong = sum(
                (fate.first, fate.finish) != (ticks(first), ticks(last)) for fate, first, last in times
            )
            off = unlike(measure(result, scenario.window), kept[scenario.name, name])
            print(
                f"{scenario.name:12}{name:10}{len(jobs):7,} jobs, {wrong} differ; metrics within {off:.0e}",
                flush=True,
            )
            good = good and not wrong and off < 1e-9
    return good


def main() -> int:
    if "--help" in sys.argv:
        print(__doc__)
        return 0
    given = sys.argv[sys.argv.index("--traces") + 1 :][:1] if "--traces" in sys.argv else []
    folder = next((each for each in (*map(Path, given), *FOLDERS) if each.is_dir()), None)
    if "--reference" in sys.argv:
        if folder is None:
            print("the reference is not here (../shared/traces)")
            return 1
        names = [each for each in sys.argv if each in SCENARIOS]
        return 0 if reference(folder, names or list(SCENARIOS)) else 1
    speed(folder, "--quick" in sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
