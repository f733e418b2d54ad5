"""`reprieve admit`: admission cycles over manifests; which workloads get quota, what the others wait for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from reprieve.cli.output import NO, YES, Output, all_option, output_option, print_answer
from reprieve.cli.sources import (
    asks_cluster,
    context_option,
    filename_option,
    gather,
    kubeconfig_option,
    nodes_option,
    now_option,
)
from reprieve.objects import Document, ReprieveError, document_of, well_known

if TYPE_CHECKING:
    from reprieve.cli.layout import Screen

_KUEUE = well_known.KUEUE_API


@click.command("admit")
@filename_option
@nodes_option
@kubeconfig_option
@context_option
@click.option("--config", type=click.Path(), help="A ReprieveConfiguration: fair sharing, feature gates.")
@now_option("The moment of the first cycle (RFC 3339); default: now.")
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop after this many cycles.")
@all_option
@output_option
def command(
    filenames: tuple[str, ...],
    nodes: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    config: str | None,
    now: str | None,
    max_cycles: int | None,
    everything: bool,
    output: Output,
) -> None:
    """Which workloads may run within their quota?

    Runs admission cycles in memory until nothing changes: workloads get quota, preempt others, or wait. Exit
    code 0: every workload has quota; 1: some wait; 2: bad input.

    \b
    Examples:
      reprieve admit -f examples/10-flavors-preempt-before-spot
      kubectl get clusterqueues,cohorts,localqueues,resourceflavors,workloads.kueue.x-k8s.io -A -o yaml \\
        | reprieve admit -f -
      reprieve admit --kubeconfig ~/.kube/config
      reprieve admit -f examples/13-fair-sharing --config examples/13-fair-sharing/config.yaml -o json
    """
    import reprieve
    from reprieve.config import Configuration

    found = gather(filenames, kubeconfig, context, quota=True, nodes=nodes)
    where = "this cluster" if asks_cluster((*filenames, *nodes), kubeconfig, context) else "these manifests"
    configuration: Any = Configuration.read(config) if config else None
    answer = reprieve.admit(found, config=configuration, now=now, max_cycles=max_cycles)
    _check_question([*map(document_of, found)], where, asked=bool(answer.names))
    data = answer.to_dict()
    for sentence in answer.notes.sentences:
        click.echo(sentence[0].lower() + sentence[1:].removesuffix("."), err=True)

    def render(screen: "Screen") -> None:
        from reprieve.cli.tables import render_admissions

        render_admissions(screen, data, everything=everything)

    print_answer(data, output, render)
    raise SystemExit(NO if data["unadmitted"] else YES)


def _names_queue(document: Document) -> bool:
    """A job that asks for quota; its Workload is made of it."""
    labels = (document.get("metadata") or {}).get("labels") or {}
    return well_known.QUEUE_LABEL in labels


def _check_question(documents: Sequence[Document], where: str, *, asked: bool) -> None:
    """Without queues and workloads nothing is admitted, and "every workload has quota" would mislead.

    `asked`: workloads were made, also of what names its queue further inside (a CronJob in its template).
    """
    kinds = {each.get("kind") for each in documents if str(each.get("apiVersion")).startswith(_KUEUE)}
    asked = asked or "Workload" in kinds or any(map(_names_queue, documents))
    if not asked and "ClusterQueue" not in kinds:
        hint = "; pods and pod groups ask for nodes, which is what `reprieve plan` answers"
        raise ReprieveError(
            f"there is neither a ClusterQueue nor a Workload ({_KUEUE}) in {where}: there is no quota, and "
            "nobody asks "
            f"for any{hint if any(each.get('kind') in ('Pod', 'PodGroup') for each in documents) else ''}"
        )
    if not asked:
        click.echo(f"note: there is no Workload ({_KUEUE}) in {where}: nobody asks for quota", err=True)
