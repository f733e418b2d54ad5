"""`python -m tools.real_cluster`: build it, run it, try Reprieve on it."""

import argparse
import contextlib
import tempfile
from pathlib import Path

from tools.ending import run_until_told
from tools.real_cluster import binaries
from tools.real_cluster.control_plane import ControlPlane
from tools.real_cluster.kubelet import Kubelet

from reprieve.kube import Client
from reprieve.objects import NodeTemplate
from reprieve.server.fake_nodes import Habits


async def up(home: Path, nodes: list[str], with_scheduler: bool) -> None:
    with ControlPlane(home) as plane:
        if with_scheduler:
            plane.run("kube-scheduler", plane.scheduler_flags())
        async with Client.from_kubeconfig(plane.kubeconfig("admin")) as client:
            kubelet = Kubelet(client, Habits(terminate_after=1.0))
            await kubelet.create_nodes(NodeTemplate.parse(text) for text in nodes)
            print(f"export KUBECONFIG={plane.kubeconfig('admin')}", flush=True)
            print(f"# logs are in {home}; Ctrl-C ends it", flush=True)
            await kubelet.run()


def main() -> None:
    parser = argparse.ArgumentParser(prog="tools.real_cluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the programs that are not there yet")
    running = commands.add_parser("up", help="run a control plane with fake nodes until Ctrl-C")
    running.add_argument(
        "--home", type=Path, help="where data, logs and keys go (default: a temporary directory)"
    )
    running.add_argument("--nodes", action="append", help="NAME=COUNT:cpu=8,memory=32Gi; may be repeated")
    running.add_argument(
        "--kube-scheduler", action="store_true", help="kube-scheduler beside it, for default-scheduler's pods"
    )
    arguments = parser.parse_args()
    if arguments.command == "build":
        binaries.build()
        print(
            "all programs are there: "
            f"{', '.join(str(binaries.find(name)) for name in ('etcd', *binaries.KUBERNETES))}"
        )
        return
    nodes = arguments.nodes or ["node=3:cpu=8,memory=32Gi"]
    with contextlib.ExitStack() as stack:
        home = arguments.home or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="reprieve-real-"))
        )
        run_until_told(up(home, nodes, arguments.kube_scheduler))


if __name__ == "__main__":
    main()
