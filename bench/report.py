"""How large and how fluid is a report?  python bench/report.py [--trace FILE --nodes SPEC --compare POLICY]

Without a trace: a hundred thousand jobs that were made up (tests/report/studies.py), two configurations.
Prints the processor time that recording adds to a simulation and its memory, the page's size and the time to
make it, and, in a headless Chromium, how long it takes to open and the longest task while zooming and moving.
"""

import argparse
import asyncio
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from playwright.async_api import async_playwright

from reprieve.objects import NodeTemplate, decode_all
from reprieve.report import Study, page
from reprieve.simulate import Decided, Recorder, Settings, Task, Trace, measure, policy, read_trace, simulate

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.programs import program
from tests.report.studies import large

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "40-simulate" / "jobs.csv"
MOVES = (
    "in",
    "in",
    "later",
    "later",
    "out",
    "in",
    "in",
    "in",
    "earlier",
    "taller",
    "taller",
    "flatter",
    "all",
)
OBSERVE = """() => { window.tasks = []; new PerformanceObserver((list) => list.getEntries().forEach((each) =>
  window.tasks.push(each.duration))).observe({ type: "longtask", buffered: true }); }"""
DRAW = """(name) => new Promise((done) => { const begun = performance.now(); LOOKS[name]();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun))); })"""
PAINT = """() => { const canvas = document.querySelector(".gantt canvas"); const begun = performance.now();
  for (let i = 0; i < 10; i += 1) paint(drawn.runs[0], drawn.jobs, canvas.width, canvas.height, inks());
  return (performance.now() - begun) / 10; }"""


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def task_of(trace: Trace, nodes: str, name: str) -> Task:
    objects = tuple(decode_all(NodeTemplate.parse(nodes).nodes()))
    return Task(objects=objects, jobs=trace.jobs, settings=Settings(policy=policy(name)))


def recording() -> None:
    """What a recorder adds, and what not having one costs: nothing is described, nothing is kept."""
    task = task_of(read_trace(EXAMPLE), "gpu=4:nvidia.com/gpu=8", "kep-5710")
    simulate(task)
    without = min(cpu(lambda: simulate(task)) for _ in range(3))
    with_it = min(cpu(lambda: simulate(replace(task, record=True))) for _ in range(3))
    print(f"example, 160 jobs: {without:.2f} s without a recorder, {with_it:.2f} s with one")


def memory(jobs: int = 200_000, refusals: int = 3) -> None:
    """A recorder that heard of every job several times, with reasons that are all different."""
    study = large(100, 1)
    names = [replace(study.jobs[0], name=f"job-{index}") for index in range(jobs)]
    tracemalloc.start()
    recorder = Recorder(names)
    for time_ in range(refusals):
        for index in range(jobs):
            reasons = (f"0/106 nodes are available: {time_ + index % 106} Insufficient nvidia.com/gpu.",)
            recorder(Decided(time_, f"Pod/simulate/job-{index}", "unschedulable", {}, (), reasons))
            why = {f"Pod/simulate/job-{index}": f"If it stayed, gpu-{index % 106} would be 8 short."}
            by = f"Pod/simulate/job-{(index + 1) % jobs}"
            recorder(Decided(time_, by, "preempts", {}, (), ("It fits once 1 unit made way.",), why))
    print(
        f"recorder: {tracemalloc.get_traced_memory()[0] / 2**20:.0f} MiB for {jobs:,} jobs, each refused and"
    )
    print(f"          evicted {refusals} times, after {2 * jobs * refusals:,} decisions")
    tracemalloc.stop()


def study_of(path: str, nodes: str, names: list[str]) -> Study:
    trace = read_trace(path, drawn=True)
    tasks = [replace(task_of(trace, nodes, name), record=True) for name in names]
    results = [simulate(task) for task in tasks]
    return Study(Path(path).name, trace, tasks, results, {each.policy: measure(each) for each in results})


async def look(path: Path) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program("chromium", "chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        view = await browser.new_page(viewport={"width": 1440, "height": 900})
        await view.add_init_script(f"({OBSERVE})()")
        await view.goto(path.as_uri())
        await view.wait_for_selector("#gantts[data-ready]", timeout=120_000)
        opened = await view.evaluate("performance.now()")
        await view.wait_for_timeout(500)
        longest = max(await view.evaluate("tasks"), default=0)
        print(
            f"browser: ready after {opened:.0f} ms, longest task {longest:.0f} ms (wall time of this machine)"
        )
        await view.evaluate("window.tasks.length = 0")
        await view.locator(".gantt canvas").first.scroll_into_view_if_needed()
        drawn = [await view.evaluate(DRAW, move) for move in MOVES]
        longest = max(await view.evaluate("tasks"), default=0)
        print(f"zooming and moving: {max(drawn):.0f} ms the slowest step, longest task {longest:.0f} ms")
        print(f"painting all bars of one configuration: {await view.evaluate(PAINT):.1f} ms")
        await browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trace")
    parser.add_argument("--nodes", default="gpu=106:nvidia.com/gpu=8")
    parser.add_argument("--compare", action="append")
    options = parser.parse_args()
    recording()
    memory()
    names = options.compare or ["kubernetes", "minimal-cost"]
    study = study_of(options.trace, options.nodes, names) if options.trace else large()
    begun = time.process_time()
    text = page(study)
    seconds = time.process_time() - begun
    bars = sum(len(run.result.stretches) for run in study.runs)
    print(
        f"page: {len(study.jobs):,} jobs, {bars:,} runs of jobs, {len(text) / 1e6:.1f} MB in {seconds:.1f} s"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(text)
        asyncio.run(look(path))


if __name__ == "__main__":
    main()
