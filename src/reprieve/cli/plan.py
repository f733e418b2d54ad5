"""`reprieve plan`: would it fit, and if not, who makes way and why."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import click

from reprieve.cli.completion import complete_target
from reprieve.cli.output import NO, YES, Output, all_option, output_option, print_answer
from reprieve.cli.sources import (
    asks_cluster,
    context_option,
    filename_option,
    kubeconfig_option,
    nodes_option,
    now_option,
    on_cluster,
    read_manifests,
    workers_in,
    workers_of_manager,
)
from reprieve.objects import (
    Document,
    InvalidObject,
    Reference,
    ReprieveError,
    Source,
    document_of,
    kind_key,
    nearest_kind,
    outcomes,
    some,
)

if TYPE_CHECKING:
    from reprieve import FleetPlan, JobPlan, Plan, QuotaPlan
    from reprieve.cli.layout import Screen
    from reprieve.config import Configuration


@click.command("plan")
@filename_option
@click.option(
    "--for",
    "for_",
    metavar="KIND/NS/NAME",
    shell_complete=complete_target,
    help="A Pod, a PodGroup, a job of any kind or a Kueue Workload. Default: what the manifests create.",
)
@click.option("--config", type=click.Path(), help="A ReprieveConfiguration: algorithm, gates, scoring.")
@now_option("The moment of the plan (RFC 3339); default: now.")
@nodes_option
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
    for_: str | None,
    config: str | None,
    now: str | None,
    nodes: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    compare: bool,
    fleet: str | None,
    everything: bool,
    output: Output,
) -> None:
    """Would it fit, and if not: who makes way, on which node, and why?

    Nothing is changed anywhere. A job is expanded to the pods that its controller would make: Jobs, JobSets,
    Deployments, jobs of Kubeflow, Ray, Spark and more. Without --for everything is planned that the manifests
    would create, in order. Exit code 0: it fits, now or once others made way; 1: it does not fit, or not all
    of it; 2: bad input.

    \b
    Examples:
      reprieve plan -f examples/01-first-plan --for PodGroup/ml/train
      reprieve plan -f examples/20-any-job/cluster.yaml -f examples/20-any-job/jobset.yaml
      reprieve plan -f examples/20-any-job/statefulset.yaml --nodes 'node=4:cpu=32,memory=256Gi'
      kubectl get nodes,pods,podgroups,pdb,priorityclasses -A -o yaml \\
        | reprieve plan -f - --for Pod/default/train-0
      reprieve plan --kubeconfig ~/.kube/config --for PodGroup/default/train -o json
      reprieve plan -f examples/01-first-plan --for PodGroup/ml/train --compare
      reprieve plan --fleet examples/30-fleet/workers -f examples/30-fleet/urgent.yaml \\
        --for Workload/ml/urgent
    """
    import reprieve
    from reprieve.config import Configuration

    configuration = Configuration.read(config) if config else Configuration.load(None)
    submitted = read_manifests(filenames, nodes)
    documents: Sequence[Document | Source] = submitted
    targets = [_target(for_, configuration)] if for_ else _found(submitted, configuration)
    if fleet is not None:
        clusters = workers_in(Path(fleet)) if fleet else workers_of_manager(kubeconfig, context)
        chosen = _workload(submitted, targets)
        others = [source for source in submitted if source.document is not chosen]
        plan = reprieve.plan_fleet(chosen, clusters, config=configuration, now=now, others=others)
        print_answer(plan.to_dict(), output, lambda screen: _render_fleet(screen, plan, everything))
        raise SystemExit(YES if plan.chosen is not None else NO)
    if asks_cluster((*filenames, *nodes), kubeconfig, context):
        documents = _with_jobs(submitted, targets, kubeconfig, context, configuration)
    answered = _compare if compare else _plan
    raise SystemExit(answered(_Question(documents, targets, configuration, now, output, everything)))


NO_NODE = (
    "there is no Node in what was read; describe some with --nodes, give the cluster's nodes and pods too, "
    "or ask it with --kubeconfig"
)


class _Question(NamedTuple):
    documents: Sequence[Document | Source]
    targets: Sequence[Reference]
    config: "Configuration"
    now: str | None
    output: Output
    everything: bool


def _with_jobs(
    submitted: Sequence[Source],
    targets: Sequence[Reference],
    kubeconfig: str | None,
    context: str | None,
    config: "Configuration",
) -> Sequence[Document | Source]:
    """The cluster with the jobs that are asked about and were not given; no plan looks at other jobs."""
    from reprieve.jobs import names_queue
    from reprieve.objects import descendants

    given, table = {Reference.read(each.document) for each in submitted}, config.job_kinds()
    wanted = {each for each in targets if each not in given}
    kinds = {(row.group, row.kind): row for each in wanted for row in table.below(each.kind)}
    quota = any(each.kind == "Workload" for each in targets)
    quota = quota or any(names_queue(each.document, table) for each in submitted)
    nodes = any(each.kind != "Workload" for each in targets)
    found = on_cluster(submitted, kubeconfig, context, nodes=nodes, quota=quota, jobs=[*kinds.values()])
    ours = descendants(map(document_of, found), wanted) if kinds else wanted
    return [
        each
        for each in found
        if isinstance(each, Source) or kind_key(each) not in kinds or Reference.read(each) in ours
    ]


def _target(text: str, config: "Configuration") -> Reference:
    from reprieve.whatif import parse_target

    try:
        return parse_target(text, config)
    except ReprieveError as error:
        raise ReprieveError(f"cannot plan for {error}") from error


def _found(submitted: Sequence[Source], config: "Configuration") -> list[Reference]:
    """What the manifests would create."""
    from reprieve.objects import schemas
    from reprieve.whatif import targets, without_pods

    found = targets(submitted, config)
    if found:
        return found
    question = "what is to be planned?"
    if not submitted:
        raise click.UsageError(
            f"{question} Name it with --for KIND/NAMESPACE/NAME, or give its manifest with -f"
        )
    if any(kind_key(each.document) == ("apps", "DaemonSet") for each in submitted):
        raise click.UsageError(f"{question} A DaemonSet puts a pod on every node: give one of its pods")
    for each in submitted:
        for field in ("apiVersion", "kind"):
            if not isinstance(each.document.get(field), str):
                raise ReprieveError(f"{each.where}: {field}: is required")
    known = {*schemas.known_kinds(), *((each.group, each.kind) for each in config.job_kinds())}
    strange = [
        f"{each.document['kind']} of {each.document['apiVersion']}{nearest_kind(each.document, known)}"
        for each in submitted
        if kind_key(each.document) not in known
    ]
    if strange:
        named = some([*dict.fromkeys(strange)], 3)
        raise click.UsageError(
            f"{question} Not known here: {named}{'' if named.endswith('?') else '.'} Give its pods; or "
            "describe a kind that makes pods under jobs.kinds of --config (docs/jobs.md, A kind of your own)"
        )
    if lacking := without_pods(submitted):
        raise click.UsageError(f"{question} {lacking}")
    raise click.UsageError(
        f"{question} In the manifests nothing waits for a node: no pod, group, workload or job. "
        "Name it with --for KIND/NAMESPACE/NAME"
    )


def _plan(asked: _Question) -> int:
    from reprieve.objects import well_known
    from reprieve.whatif import plan_everything

    documents, targets = asked.documents, asked.targets
    on_nodes = any(target.kind != "Workload" for target in targets)
    nowhere = on_nodes and not any(document_of(each).get("kind") == "Node" for each in documents)
    try:
        answers = plan_everything(documents, targets, asked.config, asked.now)
    except InvalidObject as error:
        if nowhere and error.path.endswith("priorityClassName"):
            raise ReprieveError(f"{error}; {NO_NODE}") from error
        raise
    if nowhere:
        click.echo(f"note: {NO_NODE}", err=True)
    data = [answer.to_dict() for answer in answers]
    listed = {"apiVersion": well_known.API_VERSION, "kind": "PlanList", "items": data}

    def render(screen: "Screen") -> None:
        for number, (target, answer) in enumerate(zip(targets, answers, strict=True)):
            if number:
                screen.line()
            _render(screen, target.kind, answer, asked.everything)

    print_answer(data[0] if len(data) == 1 else listed, asked.output, render)
    fits = all(answer.outcome in (outcomes.SCHEDULED, outcomes.PREEMPTS) for answer in answers)
    return YES if fits else NO


def _compare(asked: _Question) -> int:
    if len(asked.targets) != 1:
        some_of_them = some([*map(str, asked.targets)], 3)
        raise click.UsageError(f"--compare is for one thing: choose with --for among {some_of_them}")
    target = asked.targets[0]
    if target.kind == "Workload":
        raise click.UsageError(
            "--compare compares node plans; a Workload has a quota plan, which knows one algorithm"
        )
    from reprieve.whatif import compare

    data = compare(asked.documents, str(target), config=asked.config, now=asked.now)

    def render(screen: "Screen") -> None:
        from reprieve.cli.plan_tables import render_comparison

        render_comparison(screen, data, everything=asked.everything)

    print_answer(data, asked.output, render)
    return YES if data["cheapest"] is not None else NO


def _workload(submitted: Sequence[Source], targets: Sequence[Reference]) -> Document:
    if len(targets) != 1:
        raise click.UsageError(
            f"--fleet is for one Workload: choose with --for among {some([*map(str, targets)], 3)}"
        )
    found = [source.document for source in submitted if Reference.read(source.document) == targets[0]]
    if not found:
        raise ReprieveError(
            f"--for {targets[0]}: there is no such Workload (kueue.x-k8s.io) in the files given with -f"
        )
    return found[0]


def _render_fleet(screen: "Screen", plan: "FleetPlan", everything: bool) -> None:
    from reprieve.cli.tables import render_fleet_plan

    render_fleet_plan(screen, plan, everything=everything)


def _render(screen: "Screen", kind: str, answer: "Plan | QuotaPlan | JobPlan", everything: bool) -> None:
    if kind not in ("Pod", "PodGroup", "CompositePodGroup", "Workload"):
        from reprieve.cli.plan_tables import render_job_plan

        render_job_plan(screen, cast("JobPlan", answer), everything=everything)
    elif kind == "Workload":
        from reprieve.cli.tables import render_quota_plan

        render_quota_plan(screen, answer.to_dict(), everything=everything)
    else:
        from reprieve.cli.plan_tables import render_plan

        render_plan(screen, cast("Plan", answer), everything=everything)
