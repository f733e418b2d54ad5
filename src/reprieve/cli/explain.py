"""`reprieve explain`: the story of one object, one sentence first."""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

from reprieve.cli.completion import complete_target
from reprieve.cli.output import NO, Output, output_option, print_result
from reprieve.cli.sources import read_manifests, records_options
from reprieve.jobs import RUNTIMES, JobKinds
from reprieve.objects import KINDS, Ignored, Reference, ReprieveError, ignored, ignored_sentence

if TYPE_CHECKING:
    from rich.console import Console

    from reprieve.explain import Evidence, Explanation
    from reprieve.records import Kept

_READ = frozenset(
    {
        *KINDS,
        *(("", kind) for kind in ("Event", "Service", "ReplicationController")),
        ("events.k8s.io", "Event"),
        ("apps", "DaemonSet"),
        ("", "ResourceQuota"),
        ("node.k8s.io", "RuntimeClass"),
        *RUNTIMES,
        *((kind.group, kind.kind) for kind in JobKinds()),
    }
)
"""Kinds that some explanation reads."""


@click.command("explain")
@click.argument("target", metavar="KIND/NAMESPACE/NAME", shell_complete=complete_target)
@click.option(
    "-f",
    "--filename",
    "files",
    metavar="FILE|DIR|-",
    multiple=True,
    help="Explain from manifests instead of a cluster.",
)
@records_options
@click.option(
    "--kubeconfig", type=click.Path(), help="As for kubectl; default: KUBECONFIG, then ~/.kube/config."
)
@click.option("--context", help="The kubeconfig's context.")
@output_option
def command(
    target: str,
    files: tuple[str, ...],
    kept: "Kept",
    kubeconfig: str | None,
    context: str | None,
    output: Output,
) -> None:
    """Why is it pending? Who preempted it, for whom, and what would help?

    KIND is pod, podgroup, workload, clusterqueue, localqueue, node, daemonset, or a kind of job: job,
    cronjob, deployment, statefulset, jobset, rayjob, pytorchjob and more (docs/jobs.md).

    \b
    Examples:
      reprieve explain pod/default/train-0
      reprieve explain podgroup/default/train --controller http://127.0.0.1:8088
      reprieve explain job/default/report
      reprieve explain node/node-1 -f examples/01-first-plan -o json
    """
    from reprieve.explain import explain
    from reprieve.records import RunningController

    if files and isinstance(kept, RunningController):
        raise click.UsageError(
            "-f explains from manifests, --controller from what happened on a cluster: give one of them"
        )
    named = _target(target)
    left: tuple[Ignored, ...] = ()
    if files:
        evidence, left = asyncio.run(_from_files(files, kept))
    else:
        evidence = asyncio.run(_from_cluster(named, kubeconfig, context, kept))
    answer = explain(str(named), evidence, datetime.now(UTC), ahead=True)
    data = answer.to_dict()
    if left:
        click.echo(f"note: {ignored_sentence(left)}", err=True)
        data["ignored"] = [*map(msgspec.to_builtins, left)]
    print_result(data, output, lambda console: _render(console, answer))
    if answer.state in ("gone", "unknown"):
        raise SystemExit(NO)


async def _from_files(files: tuple[str, ...], kept: "Kept") -> "tuple[Evidence, tuple[Ignored, ...]]":
    from reprieve.explain import Evidence
    from reprieve.objects import decode_all

    sources = read_manifests(files)
    decode_all(sources)  # an error names the place of what cannot be read
    left = ignored(sources, _READ, "")
    if sources and sum(each.count for each in left) == len(sources):
        raise ReprieveError(f"nothing that was given can be used here; {ignored_sentence(left)}")
    documents = [source.document for source in sources]
    events = [d for d in documents if d.get("kind") == "Event"]
    objects = [d for d in documents if d.get("kind") != "Event"]
    return Evidence(objects, events, await kept.decisions(), runs=await kept.runs()), left


def _target(text: str) -> Reference:
    from reprieve.explain import parse_target

    try:
        return parse_target(text)
    except ReprieveError as error:
        raise ReprieveError(f"cannot explain {error}") from error


async def _from_cluster(
    target: Reference, kubeconfig: str | None, context: str | None, kept: "Kept"
) -> "Evidence":
    from reprieve.explain import from_cluster
    from reprieve.kube import INTERACTIVE_ATTEMPTS, Client

    decisions, runs = await kept.decisions(), await kept.runs()
    async with Client.from_kubeconfig(kubeconfig, context, attempts=INTERACTIVE_ATTEMPTS) as client:
        return await from_cluster(client, target, decisions, runs)


def _render(console: "Console", answer: "Explanation") -> None:
    from reprieve.explain import render

    console.print(f"[bold]{_plain(answer.sentence)}[/bold]")
    for line in answer.details:
        console.print(f"  {_plain(line)}")
    if answer.when is not None:
        _list(console, "When", [answer.when.sentence, *answer.when.assumptions])
    _list(console, "Waits for", [line for line in answer.waits_for if line not in answer.sentence])
    if answer.for_.startswith("Node/"):
        _list(console, "Preempted here", render(answer.preempted_by, "both"))
    else:
        _list(console, "Preempted by", render(answer.preempted_by, "by"))
    _list(console, "Preempted", render(answer.preempted, "victim"))
    _list(console, "What would help", answer.would_help)
    _list(console, "Not shown", answer.not_shown)


def _list(console: "Console", title: str, lines: list[str]) -> None:
    if lines:
        console.print(f"\n[dim]{title}[/dim]")
        for line in lines:
            console.print(f"  - {_plain(line)}")


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
