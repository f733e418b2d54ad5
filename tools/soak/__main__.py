"""python -m tools.soak --minutes 60 --out docs/images: an hour under load, and its plots."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from tools.ending import run_until_told
from tools.soak.load import Load, furnish
from tools.soak.measure import Observer, Sample
from tools.soak.plot import chart
from tools.soak.processes import Programs

from reprieve.kube import Client

EVERY_SECONDS = 10.0
LONGEST_END_SECONDS = 300.0
HEAD = "minute   server MiB  controllers MiB  files  stored MiB  running  waiting  bound/s  median s  slow s"


async def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="reprieve-soak-") as name:
        programs = Programs(Path(name))
        try:
            await programs.start()
            samples, observer, load = await _soak(programs, Path(name), options)
        finally:
            await programs.stop()
    print(
        f"created {load.created}, refused {load.refused}, evicted {observer.evicted}, "
        f"controllers killed {programs.kills} times, "
        f"{load.skipped} seconds skipped because too many waited, {samples[-1].waiting} still wait at the end"
    )
    _draw(samples, options.out)
    if options.samples:
        (options.out / "soak.json").write_bytes(msgspec.json.encode(samples))
    return 0


async def _soak(
    programs: Programs, folder: Path, options: argparse.Namespace
) -> tuple[list[Sample], Observer, Load]:
    async with Client.from_kubeconfig(programs.kubeconfig, qps=0) as client:
        await furnish(client)
        observer = Observer(client, programs, folder)
        load = Load(client, options.rate, options.seed, lambda: observer.waiting)
        samples: list[Sample] = []
        async with observer.pods:
            working = asyncio.create_task(load.run())
            print(HEAD)
            begin = time.monotonic()
            end = begin + options.minutes * 60
            next_kill = begin + options.kill_every
            while time.monotonic() < end and not working.done():
                await asyncio.sleep(EVERY_SECONDS)
                samples.append(_sampled(observer))
                # None in the second half: what grows in a process that is killed in time shows nowhere.
                if next_kill < min(time.monotonic(), (begin + end) / 2):
                    await programs.kill_controllers()
                    next_kill += options.kill_every
            if working.done():
                working.result()  # raises what ended it
            load.stopping = True
            print("no more work; what waits gets its turn:")
            end = time.monotonic() + LONGEST_END_SECONDS
            while samples[-1].waiting and time.monotonic() < end:
                await asyncio.sleep(EVERY_SECONDS)
                samples.append(_sampled(observer))
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        return samples, observer, load


def _sampled(observer: Observer) -> Sample:
    sample = observer.sample()
    _print(sample)
    return sample


def _print(s: Sample) -> None:
    files = s.server_files + s.controllers_files
    print(
        f"{s.minute:6.1f} {s.server_mib:12.0f} {s.controllers_mib:16.0f} {files:6d} {s.stored_mib:11.0f}"
        f" {s.running:8d} {s.waiting:8d} {s.bound / EVERY_SECONDS:8.1f} {s.median_seconds:9.2f}"
        f" {s.slow_seconds:7.2f}",
        flush=True,
    )


def _draw(samples: list[Sample], out: Path) -> None:
    minutes = [each.minute for each in samples]
    out.mkdir(parents=True, exist_ok=True)
    plots = {
        "memory": ("Memory", "MiB", {"server": "server_mib", "controllers": "controllers_mib"}),
        "files": ("Open files", "", {"server": "server_files", "controllers": "controllers_files"}),
        "storage": ("Stored", "MiB", {"data directory": "stored_mib"}),
        "pods": ("Pods", "", {"on nodes": "running", "waiting": "waiting"}),
        "latency": (
            "From creation to a node",
            "s",
            {"median": "median_seconds", "99 %": "slow_seconds"},
        ),
    }
    for name, (title, unit, fields) in plots.items():
        lines = {label: [float(getattr(each, field)) for each in samples] for label, field in fields.items()}
        (out / f"soak-{name}.svg").write_text(chart(title, unit, minutes, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=50, help="pods a second")
    parser.add_argument("--kill-every", type=float, default=300, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/soak"), help="where the plots go")
    parser.add_argument("--samples", action="store_true", help="write soak.json with every sample, too")
    sys.exit(run_until_told(main(parser.parse_args())))
