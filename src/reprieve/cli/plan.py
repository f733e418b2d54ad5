"""`reprieve plan`: would it fit, and if not, who makes way and why."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from reprieve.cli.completion import complete_target
from reprieve.cli.output import NO, YES, Output, all_option, output_option, print_answer
from reprieve.cli.sources import (
    context_option,
    filename_option,
    gather,
    kubeconfig_option,
    read_manifests,
    workers_in,
    workers_of_manager,
)
from reprieve.objects import Document, Reference, ReprieveError, Source, document_of, outcomes

if TYPE_CHECKING:
    from reprieve import FleetPlan, Plan, QuotaPlan
    from reprieve.cli.layout import Screen

_KINDS = ("Pod", "PodGroup", "Workload")


@click.command("plan")
@filename_option
@click.option(
    "--for",
    "for_",
    required=True,
    metavar="KIND/NS/NAME",
    shell_complete=complete_target,
    help="A Pod, a PodGroup or a Kueue Workload.",
)
@click.option("--config", type=click.Path(), help="A ReprieveConfiguration: algorithm, gates, scoring.")
@click.option("--now", metavar="TIME", help="The moment of the plan (RFC 3339); default: now.")
@kubeconfig_option
@context_option
@click.option("--compare", is_flag=True, help="What the three algorithms cost, and where they differ.")
@click.option(
    "--fleet",
    is_flag=False,
    flag_value="",
    metavar="[DIR]",
    help="Which cluster would get a Workload: a folder with one file or folder for each worker; without DIR, "
    "the workers of the manager behind --kubeconfig.",
)
@all_option
@output_option
def command(
    filenames: tuple[str, ...],
    for_: str,
    config: str | None,
    now: str | None,
    kubeconfig: str | None,
    context: str | None,
    compare: bool,
    fleet: str | None,
    everything: bool,
    output: Output,
) -> None:
    """Would it fit, and if not: who makes way, on which node, and why?

    Nothing is changed anywhere. Exit code 0: it fits, now or once others made way; 1: it does not fit; 2: bad
    input.

    \b
    Examples:
      reprieve plan -f examples/01-first-plan --for PodGroup/ml/train
      kubectl get nodes,pods,podgroups,pdb,priorityclasses -A -o yaml \\
        | reprieve plan -f - --for Pod/default/train-0
      reprieve plan --kubeconfig ~/.kube/config --for PodGroup/default/train -o json
      reprieve plan -f examples/01-first-plan --for PodGroup/ml/train --compare
      reprieve plan --fleet examples/30-fleet/workers -f examples/30-fleet/urgent.yaml \\
        --for Workload/ml/urgent
    """
    import reprieve
    from reprieve.config import Configuration

    target = _target(for_)
    configuration: Any = Configuration.read(config) if config else None
    if fleet is not None:
        clusters = workers_in(Path(fleet)) if fleet else workers_of_manager(kubeconfig, context)
        plan = reprieve.plan_fleet(_workload(filenames, target), clusters, config=configuration, now=now)
        print_answer(plan.to_dict(), output, lambda screen: _render_fleet(screen, plan, everything))
        raise SystemExit(YES if plan.chosen is not None else NO)
    documents = gather(filenames, kubeconfig, context, quota=target.kind == "Workload")
    if compare:
        raise SystemExit(_compare(documents, target, configuration, now, output, everything))
    answer = reprieve.plan(documents, str(target), config=configuration, now=now)
    if target.kind != "Workload" and not any(document_of(each).get("kind") == "Node" for each in documents):
        click.echo(
            "note: there is no Node in what was read; give the cluster's nodes and pods too, "
            "or ask it with --kubeconfig",
            err=True,
        )
    print_answer(answer.to_dict(), output, lambda screen: _render(screen, target.kind, answer, everything))
    raise SystemExit(NO if answer.outcome in (outcomes.UNSCHEDULABLE, outcomes.GATED) else YES)


def _target(text: str) -> Reference:
    try:
        return Reference.parse(text, _KINDS)
    except ReprieveError as error:
        raise ReprieveError(f"cannot plan for {error}") from error


def _compare(
    documents: Sequence[Document | Source],
    target: Reference,
    config: Any,
    now: str | None,
    output: Output,
    everything: bool,
) -> int:
    if target.kind == "Workload":
        raise click.UsageError(
            "--compare compares node plans; a Workload has a quota plan, which knows one algorithm"
        )
    from reprieve.whatif import compare

    data = compare(documents, str(target), config=config, now=now)

    def render(screen: "Screen") -> None:
        from reprieve.cli.plan_tables import render_comparison

        render_comparison(screen, data, everything=everything)

    print_answer(data, output, render)
    return YES if data["cheapest"] is not None else NO


def _workload(filenames: Sequence[str], target: Reference) -> Document:
    submitted = (source.document for source in read_manifests(filenames))
    workload = next((document for document in submitted if Reference.read(document) == target), None)
    if workload is None:
        raise ReprieveError(
            f"--for {target}: there is no such Workload (kueue.x-k8s.io) in the files given with -f"
        )
    return workload


def _render_fleet(screen: "Screen", plan: "FleetPlan", everything: bool) -> None:
    from reprieve.cli.tables import render_fleet_plan

    render_fleet_plan(screen, plan, everything=everything)


def _render(screen: "Screen", kind: str, answer: "Plan | QuotaPlan", everything: bool) -> None:
    if kind == "Workload":
        from reprieve.cli.tables import render_quota_plan

        render_quota_plan(screen, answer.to_dict(), everything=everything)
    else:
        from reprieve.cli.plan_tables import render_plan

        render_plan(screen, cast("Plan", answer), everything=everything)
