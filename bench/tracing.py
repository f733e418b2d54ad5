"""What traces cost the scheduler's loop: off, with nothing sampled, and with everything sampled.

The loop runs over actions that succeed at once, so that no API call hides the difference. CPU time of one
process, least of some runs, taken in turns.
"""

import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # builders of objects live in tests/

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from reprieve.config import Configuration
from reprieve.controllers.scheduler.shell import Shell
from reprieve.kube import Change
from reprieve.objects.decode import decode
from reprieve.runtime.tracing import Tracing
from reprieve.scheduler.core import Core
from tests.builders import node
from tests.scheduler.recorded import Recorded
from tests.scheduler.world import pod

PODS, NODES, ROUNDS = 1000, 100, 5


def tracing(rate: float | None) -> Tracing | None:
    if rate is None:
        return None
    provider = TracerProvider(sampler=TraceIdRatioBased(rate))
    provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    return Tracing(provider.get_tracer("bench"), end=provider.shutdown)


async def run(rate: float | None) -> float:
    """CPU seconds to schedule all pods."""
    traces, actions = tracing(rate), Recorded()
    shell = Shell(Core(Configuration.load(None), "reprieve"), actions, tracing=traces)
    if traces is not None:
        shell.records.follower = traces.decided
    for document in (
        *(node(f"node-{number}", 64) for number in range(NODES)),
        *(pod(f"pod-{number}", 1) for number in range(PODS)),
    ):
        document["metadata"].setdefault("uid", f"uid-{document['metadata']['name']}")
        shell.observe(Change("ADDED", None, decode(document)))
    started = time.process_time()
    task = asyncio.create_task(shell.run())
    while sum(verb == "bind" for verb, *_ in actions.calls) < PODS:
        await asyncio.sleep(0.005)
    taken = time.process_time() - started
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    if traces is not None:
        traces.close()
    return taken


def main() -> None:
    choices = {"off": None, "on, none sampled": 0.0, "on, all sampled": 1.0}
    least = dict.fromkeys(choices, float("inf"))
    for _ in range(ROUNDS):
        for name, rate in choices.items():
            least[name] = min(least[name], asyncio.run(run(rate)))
    for name, seconds in least.items():
        ratio = seconds / least["off"]
        print(f"{name:18} {seconds / PODS * 1e6:8.0f} µs of CPU a pod   {ratio:.2f} of off")


if __name__ == "__main__":
    main()
