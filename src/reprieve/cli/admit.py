"""`reprieve admit`: run admission cycles over manifests, and show who holds and who waits for what.

Also draws quota plans for `reprieve plan --for Workload/...`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from reprieve.cli.output import NO, YES, Output, output_option, print_result
from reprieve.cli.sources import gather
from reprieve.objects import Document, ReprieveError, document_of, well_known

if TYPE_CHECKING:
    from rich.console import Console

_KUEUE = well_known.KUEUE_API


@click.command("admit")
@click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE|DIR|-",
    help="Manifests: a file, a folder, or - for standard input. May be given several times.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(),
    help="Ask this cluster as it is, with the manifests on top. Nothing is written.",
)
@click.option("--config", type=click.Path(), help="A ReprieveConfiguration: fair sharing, feature gates.")
@click.option("--now", metavar="TIME", help="The moment of the first cycle (RFC 3339); default: now.")
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop after so many cycles.")
@output_option
def command(
    filenames: tuple[str, ...],
    kubeconfig: str | None,
    config: str | None,
    now: str | None,
    max_cycles: int | None,
    output: Output,
) -> None:
    """Which workloads may run on the quota there is?

    Runs admission cycles until nothing changes: workloads get quota, preempt others, or wait. Nothing is changed anywhere.
    Exit code 0: everybody has quota; 1: somebody waits; 2: bad input.

    \b
    Examples:
      reprieve admit -f examples/10-flavors-preempt-before-spot
      kubectl get clusterqueues,cohorts,localqueues,resourceflavors,workloads.kueue.x-k8s.io -A -o yaml | reprieve admit -f -
      reprieve admit --kubeconfig ~/.kube/config
      reprieve admit -f examples/13-fair-sharing --config examples/13-fair-sharing/config.yaml -o json
    """
    import reprieve
    from reprieve.config import Configuration

    found = gather(filenames, kubeconfig)
    _check_question([*map(document_of, found)], "this cluster" if kubeconfig else "these manifests")
    configuration: Any = Configuration.read(config) if config else None
    data = reprieve.admit(found, config=configuration, now=now, max_cycles=max_cycles).to_dict()
    print_result(data, output, lambda screen: render_admissions(screen, data))
    raise SystemExit(NO if data["unadmitted"] else YES)


def _check_question(documents: Sequence[Document], where: str) -> None:
    """Without queues and workloads nobody asks for quota, and "everybody has quota" would mislead."""
    kinds = {each.get("kind") for each in documents if str(each.get("apiVersion")).startswith(_KUEUE)}
    missing = [kind for kind in ("ClusterQueue", "Workload") if kind not in kinds]
    if len(missing) == 2:
        hint = "; pods and pod groups ask for nodes, which is what `reprieve plan` answers"
        raise ReprieveError(
            f"there is neither a ClusterQueue nor a Workload ({_KUEUE}) in {where}: there is no quota, and nobody asks "
            f"for any{hint if any(each.get('kind') in ('Pod', 'PodGroup') for each in documents) else ''}"
        )
    if missing == ["Workload"]:
        click.echo(f"note: there is no Workload ({_KUEUE}) in {where}: nobody asks for quota", err=True)


def render_admissions(screen: "Console", data: dict[str, Any]) -> None:
    """Queues, what happened cycle by cycle, who runs, who waits for what."""
    _queues(screen, data["queues"])
    _events(screen, data["cycles"])
    _running(screen, data["admitted"])
    _waiting(screen, data["waiting"])
    endings = {
        "queues-empty": "nobody is left to try",
        "steady": "nothing changes any more",
        "stopped": "stopped here",
    }
    number = len(data["cycles"])
    screen.print(f"{number} cycle{'' if number == 1 else 's'}, then {endings[data['converged']]}.")


def _table(title: str, *columns: str, right: int = 0) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(
            column, justify="right" if index >= len(columns) - right else "left", overflow="fold"
        )
    return table


def _queues(screen: "Console", queues: dict[str, Any]) -> None:
    amounts = ("nominal", "used", "borrowed", "lent", "available")
    table = _table("Quota", "queue", "cohort", "flavor", "resource", *amounts, right=len(amounts))
    for name, queue in queues.items():
        for line in queue["quota"]:
            cells = [line["flavor"], line["resource"], *(line[amount] for amount in amounts)]
            table.add_row(name, queue["cohort"], *cells)
    screen.print(table)
    shares = [
        f"{name} {queue['weightedShare']}" for name, queue in queues.items() if "weightedShare" in queue
    ]
    if shares:
        screen.print(f"Dominant shares (thousandths, by weight): {', '.join(shares)}", markup=False)
    for name, queue in queues.items():
        if not queue["active"]:
            screen.print(f"ClusterQueue {name} is inactive. {queue.get('message', '')}", markup=False)


def _events(screen: "Console", cycles: list[dict[str, Any]]) -> None:
    table = _table("What happened", "cycle", "workload", "event")
    for cycle in cycles:
        for key, got in cycle["admitted"].items():
            table.add_row(str(cycle["cycle"]), key, f"gets quota in {got['clusterQueue']}: {_flavors(got)}")
        for victim in cycle["preempted"]:
            text = f"makes way for {victim['preemptor']} ({victim['reason']})"
            table.add_row(str(cycle["cycle"]), victim["workload"], text)
        for key in cycle["gated"]:
            table.add_row(str(cycle["cycle"]), key, "could preempt, but its preemption gate is closed")
    if table.row_count:
        screen.print(table)


def _flavors(got: dict[str, Any]) -> str:
    parts = []
    for pod_set, flavors in got["flavors"].items():
        used = ", ".join(f"{resource} on {flavor}" for resource, flavor in flavors.items())
        parts.append(f"{pod_set} x{got['counts'].get(pod_set, 0)} {used}".rstrip())
    return "; ".join(parts)


def _running(screen: "Console", admitted: dict[str, Any]) -> None:
    table = _table("Have quota", "workload", "queue", "flavors")
    for key, got in admitted.items():
        table.add_row(key, got["clusterQueue"], _flavors(got))
    if table.row_count:
        screen.print(table)


def _waiting(screen: "Console", waiting: dict[str, Any]) -> None:
    table = _table("Wait", "workload", "queue", "reason", "what for")
    for key, each in waiting.items():
        table.add_row(key, each["clusterQueue"] or "-", each["reason"], each["message"])
    if table.row_count:
        screen.print(table)


_VERDICTS = {
    "scheduled": "fits: quota is free",
    "preempts": "fits once others made way",
    "gated": "could preempt, but its preemption gate is closed",
    "unschedulable": "does not fit",
}


def render_quota_plan(screen: "Console", plan: dict[str, Any]) -> None:
    """A quota plan: the verdict, flavors, victims and the reasons."""
    answer = plan.get("withPartialAdmission", plan)
    screen.print(
        f"{plan['for']} in ClusterQueue {plan['clusterQueue']} {_VERDICTS[plan['outcome']]}.", markup=False
    )
    table = _table("Flavors", "pod set", "pods", "resource", "flavor", "mode")
    for pod_set, flavors in answer["flavors"].items():
        for resource, flavor in flavors.items():
            mode = answer["modes"][pod_set][resource]
            table.add_row(pod_set, str(answer["counts"][pod_set]), resource, flavor, mode)
    if table.row_count:
        screen.print(table)
    _victims(screen, plan, answer)
    for reason in plan["reasons"]:
        screen.print(f"- {reason}", markup=False)


def _victims(screen: "Console", plan: dict[str, Any], answer: dict[str, Any]) -> None:
    known = {victim["workload"]: victim for victim in plan["victims"]}
    table = _table("Would make way", "workload", "queue", "priority", "why")
    for victim in answer["victims"]:
        more = known.get(victim["workload"], victim)
        table.add_row(
            victim["workload"], more.get("clusterQueue", ""), str(more.get("priority", "")), victim["reason"]
        )
    if table.row_count:
        screen.print(table)
