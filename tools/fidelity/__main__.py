"""`python -m tools.fidelity`: compare the embedded server with a real one, or record what that one says."""

import argparse
import asyncio
import sys
from collections import Counter
from pathlib import Path

from tools.ending import run_until_told
from tools.fidelity import book, talk
from tools.fidelity.compare import Difference, Known, known
from tools.fidelity.recorder import listen
from tools.fidelity.run import differences_of, embedded, real, record
from tools.fidelity.sessions import SESSIONS, take_down
from tools.real_cluster import binaries


async def record_all(names: list[str]) -> None:
    async with real() as (player, _):
        for name in names:
            await record(player, name)
            print(f"{name}: recorded", flush=True)
    major, minor = binaries.version(binaries.find("kube-apiserver"))
    book.VERSION.write_text(f"{major}.{minor}\n", encoding="utf-8")


async def take_down_all(names: list[str]) -> None:
    async with real() as (player, kubeconfig):
        for name in names:
            await take_down(player, kubeconfig, name)


async def compare_all(names: list[str], about: str, with_known: bool) -> int:
    """Prints what differs, and how much of it is explained; 1 if something is not."""
    listed = known()
    met: Counter[Known] = Counter()
    found: list[tuple[Difference, bool]] = []
    async with embedded() as player:
        for name in names:
            for difference in await differences_of(player, name):
                reasons = [each for each in listed if each.covers(difference)]
                met.update(reasons[:1])
                found.append((difference, bool(reasons)))
    for difference, explained in found:
        if about in ("", difference.about) and (with_known or not explained):
            print(f"{difference.about:9} {difference}")
    for reason, count in met.most_common() if with_known else ():
        print(f"# {count:4} {reason.why}")
    for subject, count in Counter(difference.about for difference, _ in found).most_common():
        print(f"# {count:4} {subject}")
    if names == talk.scenes():
        for each in listed:
            if each not in met:
                print(f"# known.yaml: differs no more: {each.why}")
    exchanges = sum(len(list(talk.load(name).all())) for name in names)
    unexplained = sum(not explained for _, explained in found)
    print(
        f"{exchanges} exchanges in {len(names)} scenes: {len(found)} differences, "
        f"{len(found) - unexplained} of them explained ({len(met)} reasons), {unexplained} not"
    )
    return 1 if unexplained else 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.fidelity", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="start a real API server and write down its answers")
    recording.add_argument("scenes", nargs="*", help="which ones; all unless given")
    comparing = commands.add_parser("compare", help="list what the embedded server answers differently")
    comparing.add_argument("scenes", nargs="*", help="which ones; all unless given")
    comparing.add_argument("--about", default="", help="only these: status, errors, tables, ...")
    comparing.add_argument("--known", action="store_true", help="also those that known.yaml explains")
    sessions = commands.add_parser("sessions", help="write down what kubectl and client libraries send")
    sessions.add_argument("scenes", nargs="*", help=f"which ones ({', '.join(SESSIONS)}); all unless given")
    listening = commands.add_parser("listen", help="a proxy that writes down a session as a scene")
    listening.add_argument("scene", type=Path, help="the file to write")
    listening.add_argument("--kubeconfig", type=Path, required=True, help="of the server to talk to")
    arguments = parser.parse_args()
    if arguments.command == "listen":
        scene = asyncio.run(listen(arguments.kubeconfig, f"Recorded: {arguments.scene.stem}."))
        talk.save(arguments.scene, scene)
        return
    if arguments.command == "sessions":
        run_until_told(take_down_all(arguments.scenes or list(SESSIONS)))
        return
    names = arguments.scenes or talk.scenes()
    if arguments.command == "record":
        run_until_told(record_all(names))
    else:
        sys.exit(asyncio.run(compare_all(names, arguments.about, arguments.known)))


if __name__ == "__main__":
    main()
