"""`python -m tools.fidelity`: compare the embedded server with a real one, or record what that one says."""

import argparse
import asyncio
import sys
from collections import Counter
from pathlib import Path

from tools.fidelity import book, talk
from tools.fidelity.compare import Difference, Known, known
from tools.fidelity.recorder import listen
from tools.fidelity.run import differences_of, embedded, real, record
from tools.real_cluster import binaries


async def record_all(names: list[str]) -> None:
    async with real() as player:
        for name in names:
            await record(player, name)
            print(f"{name}: recorded", flush=True)
    major, minor = binaries.version(binaries.find("kube-apiserver"))
    book.VERSION.write_text(f"{major}.{minor}\n", encoding="utf-8")


async def compare_all(names: list[str], about: str, with_known: bool) -> int:
    listed = known()
    met: set[Known] = set()
    new: list[Difference] = []
    async with embedded() as player:
        for name in names:
            for difference in await differences_of(player, name):
                reasons = [each for each in listed if each.covers(difference)]
                met.update(reasons)
                if with_known or not reasons:
                    new.append(difference)
    for difference in new:
        if about in ("", difference.about):
            print(f"{difference.about:9} {difference}")
    for subject, count in Counter(difference.about for difference in new).most_common():
        print(f"# {count:4} {subject}")
    if names == talk.scenes():
        for each in listed:
            if each not in met:
                print(f"# known.yaml: differs no more: {each.why}")
    return 1 if new else 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.fidelity", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="start a real API server and write down its answers")
    recording.add_argument("scenes", nargs="*", help="which ones; all unless given")
    comparing = commands.add_parser("compare", help="list what the embedded server answers differently")
    comparing.add_argument("scenes", nargs="*", help="which ones; all unless given")
    comparing.add_argument("--about", default="", help="only these: status, errors, tables, ...")
    comparing.add_argument("--known", action="store_true", help="also those that known.yaml explains")
    listening = commands.add_parser("listen", help="a proxy that writes down a session as a scene")
    listening.add_argument("scene", type=Path, help="the file to write")
    listening.add_argument("--kubeconfig", type=Path, required=True, help="of the server to talk to")
    arguments = parser.parse_args()
    if arguments.command == "listen":
        scene = asyncio.run(listen(arguments.kubeconfig, f"Recorded: {arguments.scene.stem}."))
        talk.save(arguments.scene, scene)
        return
    names = arguments.scenes or talk.scenes()
    if arguments.command == "record":
        asyncio.run(record_all(names))
    else:
        sys.exit(asyncio.run(compare_all(names, arguments.about, arguments.known)))


if __name__ == "__main__":
    main()
