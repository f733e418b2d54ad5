"""What `reprieve simulate` reads: the jobs, and the cluster or clusters that they run on."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from reprieve.cli.sources import (
    context_option,
    filename_option,
    kubeconfig_option,
    on_cluster,
    read_manifests,
)
from reprieve.objects import Document, ReprieveError, Source, decode_all

if TYPE_CHECKING:
    from reprieve.objects import Object
    from reprieve.simulate import NodeEvent, Trace

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    filename_option,
    click.option(
        "--nodes",
        "nodes",
        multiple=True,
        metavar="SPEC",
        help="Nodes, as for `reprieve up`. May be given several times.",
    ),
    click.option(
        "--cluster",
        "clusters",
        multiple=True,
        metavar="NAME=DIR|SPEC",
        help="A cluster of a fleet: its manifests, or its nodes as for --nodes. May be given several times; "
        "what -f and --nodes give is in each of them.",
    ),
    kubeconfig_option,
    context_option,
    click.option(
        "--trace",
        metavar="FILE|DIR",
        help="The jobs: a CSV file in the common form, plain or gzipped, a generator file of Kueue (.yaml), "
        "or manifests of jobs that say when they arrive.  [required]",
    ),
    click.option(
        "--scenario",
        metavar="NAME",
        help="A window of a public trace and its cluster, e.g. philly-90.",
    ),
    click.option(
        "--priorities",
        type=click.Choice(["trace", "drawn"]),
        default="trace",
        show_default=True,
        help="drawn: jobs for which the trace states none get one by their name.",
    ),
)


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Scenery(NamedTuple):
    objects: tuple["Object", ...]
    clusters: tuple[tuple[str, tuple["Object", ...]], ...] = ()


class Input(NamedTuple):
    trace: "Trace"
    scenery: Scenery
    window: int | None
    """Ticks over which use is counted, where a scenario says so."""


def read_input(options: Mapping[str, Any]) -> Input:
    from msgspec.structs import replace

    from reprieve.simulate import scenario, unread

    chosen = scenario(options["scenario"]) if options["scenario"] else None
    documents = _documents(options)
    objects = decode_all(documents)
    drawn = options["priorities"] == "drawn" or chosen is not None
    found, queues = _jobs(options["trace"], objects, documents, drawn=drawn)
    nodes = options["nodes"]
    if chosen is not None:
        found = chosen.cut(found)
        nodes = nodes or (() if documents else chosen.nodes)
    if not found.jobs:
        raise ReprieveError(f"{options['trace']}: there is no job to simulate")
    made = [node for spec in nodes for node in _nodes(spec)]
    clusters = _clusters(options["clusters"])
    written = [*documents, *(each for part in clusters.values() for each in part)]
    found = replace(found, notes=(*found.notes, *unread(written)))
    workers = tuple((name, tuple(decode_all(part))) for name, part in clusters.items())
    scenery = Scenery((*objects, *queues, *decode_all(made)), workers)
    return Input(found, scenery, chosen.window if chosen is not None else None)


def _documents(options: Mapping[str, Any]) -> Sequence[Document | Source]:
    """The manifests, or the cluster as it is with the manifests on top: its nodes and its queues."""
    manifests = read_manifests(options["filenames"])
    kubeconfig, context = options["kubeconfig"], options["context"]
    if kubeconfig is None and context is None:
        return manifests
    return on_cluster(manifests, kubeconfig, context, nodes=True, quota=True)


def _jobs(
    trace: str, objects: Sequence["Object"], documents: Sequence[Document | Source], *, drawn: bool
) -> tuple["Trace", list["Object"]]:
    """The jobs, and the queues that come with them."""
    from reprieve.simulate import read_generator, read_submitted, read_trace

    if not (Path(trace).is_dir() or trace.endswith((".yaml", ".yml", ".json"))):
        return read_trace(trace, drawn=drawn), []
    sources = read_manifests([trace])
    if any("cohorts" in each.document for each in sources):
        return read_generator(trace)
    return read_submitted(sources, objects, documents), []


def _clusters(given: Sequence[str]) -> dict[str, Sequence[Document | Source]]:
    found: dict[str, Sequence[Document | Source]] = {}
    for text in given:
        name, equals, content = text.partition("=")
        if not equals or not name or not content or "/" in name:
            raise ReprieveError(f"--cluster {text}: write NAME=DIR or NAME=SPEC, e.g. eu=gpu=4:cpu=64")
        if name in found:
            raise ReprieveError(f"--cluster {name}: there are two clusters of this name")
        found[name] = read_manifests([content]) if Path(content).exists() else _nodes(content)
    return found


def _nodes(spec: str) -> list[Document]:
    from reprieve.objects import NodeTemplate

    return NodeTemplate.parse(spec).nodes()


def has_any(scenery: Scenery, kind: "type[Object]") -> bool:
    parts = (scenery.objects, *(objects for _, objects in scenery.clusters))
    return any(isinstance(each, kind) for part in parts for each in part)


def node_problem(scenery: Scenery) -> "Callable[[NodeEvent], str]":
    """What is wrong with an event: it must be about a node that exists; in a fleet, about `cluster/node` or a
    whole cluster."""
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

    def problem(event: "NodeEvent") -> str:
        if event.node in whole and event.what == "drain":
            return f"{event.node} is a cluster; drain its nodes one by one"
        if event.node not in known | whole:
            return f"there is no node {event.node!r}{nearest(event.node, sorted(known | whole))}"
        return ""

    return problem
