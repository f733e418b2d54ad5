"""What `reprieve simulate` reads: the jobs, and the cluster or clusters that they run on."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from reprieve.cli.sources import on_cluster, read_manifests
from reprieve.objects import Document, ReprieveError, Source, decode_all

if TYPE_CHECKING:
    from reprieve.objects import Object
    from reprieve.simulate import NodeEvent, Scenario, Trace

cluster_option = click.option(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="NAME=DIR|SPEC",
    help="A cluster of a fleet: its manifests, or its nodes as for --nodes. May be given several times; what "
    "-f and --nodes give is in each of them.",
)


class Given(NamedTuple):
    """What the options name."""

    filenames: Sequence[str]
    nodes: Sequence[str]
    clusters: Sequence[str]
    kubeconfig: str | None
    context: str | None


class Scenery(NamedTuple):
    objects: tuple["Object", ...]
    clusters: tuple[tuple[str, tuple["Object", ...]], ...] = ()


def read_input(
    given: Given, trace: str, chosen: "Scenario | None", *, drawn: bool
) -> tuple["Trace", Scenery]:
    documents = _documents(given)
    objects = decode_all(documents)
    found, queues = _jobs(trace, objects, drawn=drawn or chosen is not None)
    nodes = given.nodes
    if chosen is not None:
        found = chosen.cut(found)
        nodes = nodes or (() if documents else chosen.nodes)
    if not found.jobs:
        raise ReprieveError(f"{trace}: there is no job to simulate")
    made = [node for spec in nodes for node in _nodes(spec)]
    return found, Scenery((*objects, *queues, *decode_all(made)), _clusters(given.clusters))


def _documents(given: Given) -> Sequence[Document | Source]:
    """The manifests, or the cluster as it is with the manifests on top: its nodes and its queues."""
    manifests = read_manifests(given.filenames)
    if given.kubeconfig is None and given.context is None:
        return manifests
    parts = [on_cluster(manifests, given.kubeconfig, given.context, quota=quota) for quota in (False, True)]
    found: dict[tuple[str, ...], Document | Source] = {}
    for each in (each for part in parts for each in part):
        document = each.document if isinstance(each, Source) else each
        meta = document.get("metadata") or {}
        key = (document.get("apiVersion", ""), document.get("kind", ""), meta.get("namespace", ""))
        found[*key, meta.get("name", "")] = each
    return list(found.values())


def _jobs(trace: str, objects: Sequence["Object"], *, drawn: bool) -> tuple["Trace", list["Object"]]:
    """The jobs, and the queues that come with them."""
    from reprieve.simulate import read_generator, read_submitted, read_trace

    if not (Path(trace).is_dir() or trace.endswith((".yaml", ".yml", ".json"))):
        return read_trace(trace, drawn=drawn), []
    sources = read_manifests([trace])
    if any("cohorts" in each.document for each in sources):
        return read_generator(trace)
    return read_submitted(sources, objects), []


def _clusters(given: Sequence[str]) -> tuple[tuple[str, tuple["Object", ...]], ...]:
    found: dict[str, tuple[Object, ...]] = {}
    for text in given:
        name, equals, content = text.partition("=")
        if not equals or not name or not content or "/" in name:
            raise ReprieveError(f"--cluster {text}: write NAME=DIR or NAME=SPEC, e.g. eu=gpu=4:cpu=64")
        if name in found:
            raise ReprieveError(f"--cluster {name}: there are two clusters of this name")
        if Path(content).exists():
            found[name] = tuple(decode_all(read_manifests([content])))
        else:
            found[name] = tuple(decode_all(_nodes(content)))
    return tuple(found.items())


def _nodes(spec: str) -> list[Document]:
    from reprieve.server import NodeTemplate

    return NodeTemplate.parse(spec).nodes()


def check_nodes(events: "Sequence[NodeEvent]", scenery: Scenery) -> None:
    """Every event must be about a node that exists; in a fleet, about `cluster/node` or a whole cluster."""
    from reprieve.objects import Node, nearest

    known = {each.name for each in scenery.objects if isinstance(each, Node)}
    if scenery.clusters:
        common = known
        known = {
            f"{name}/{node}"
            for name, objects in scenery.clusters
            for node in (*common, *(each.name for each in objects if isinstance(each, Node)))
        }
    whole = {name for name, _ in scenery.clusters}
    for event in events:
        if event.node in whole and event.what == "drain":
            raise ReprieveError(f"--node-events: {event.node} is a cluster; drain its nodes one by one")
        if event.node not in known | whole:
            raise ReprieveError(
                f"--node-events: there is no node {event.node!r}{nearest(event.node, sorted(known | whole))}"
            )
