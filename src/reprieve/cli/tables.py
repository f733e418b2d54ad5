"""Answers about quota as tables for people. Nothing is computed here: a table shows what the answer holds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reprieve.cli.layout import Row, Screen
from reprieve.objects import counted, some

if TYPE_CHECKING:
    from reprieve.whatif import FleetPlan

MOST_ROWS = 12
MOST_HOSTS = 4
QUOTA_VERDICTS = {
    "scheduled": "fits: quota is free",
    "preempts": "fits once others made way",
    "gated": "could preempt, but its preemption gate is closed",
    "unschedulable": "does not fit",
}


def render_fleet_plan(screen: Screen, plan: "FleetPlan", *, everything: bool = False) -> None:
    where = plan.chosen.cluster if plan.chosen is not None else "no cluster"
    screen.line((f"Workload/{plan.workload}", "bold"), f": {plan.outcome} in ", (where, "bold"))
    for reason in plan.reasons:
        screen.paragraph(f"{reason}.")
    for note in plan.notes:
        screen.paragraph(note)
    screen.title("What each cluster would do")
    rows = []
    for candidate in plan.candidates:
        chosen = candidate is plan.chosen
        cells = (
            f"{'→' if chosen else ' '} {candidate.cluster}",
            candidate.outcome,
            str(len(candidate.victims) or "-"),
        )
        note = candidate.problem or candidate.cost_text
        rows.append(Row(cells, candidate.victims, note, "bold" if chosen else ""))
    screen.table(
        ("  cluster", "outcome", "victims"), rows, names="who", most=None if everything else MOST_ROWS
    )


def render_admissions(screen: Screen, data: Mapping[str, Any], *, everything: bool = False) -> None:
    """Queues, what happened cycle by cycle, who runs, who waits for what."""
    most, jobs = None if everything else MOST_ROWS, data.get("jobs", {})
    _queues(screen, data["queues"], most)
    _events(screen, data["cycles"], jobs, most)
    holding = [
        Row((jobs.get(key, key), got["clusterQueue"]), (), _flavors(got))
        for key, got in data["admitted"].items()
    ]
    _section(screen, "Have quota", ("workload", "queue"), holding, most)
    waiting = [
        Row((jobs.get(key, key), each["clusterQueue"] or "-", each["reason"]), (), each["message"])
        for key, each in data["waiting"].items()
    ]
    _section(screen, "Wait", ("workload", "queue", "reason"), waiting, most)
    endings = {
        "queues-empty": "nobody is left to try",
        "steady": "nothing changes any more",
        "stopped": "stopped here",
    }
    screen.line()
    screen.line(f"{counted(len(data['cycles']), 'cycle')}, then {endings[data['converged']]}.")


def _section(screen: Screen, title: str, titles: tuple[str, ...], rows: list[Row], most: int | None) -> None:
    if rows:
        screen.title(title)
        screen.table(titles, rows, most=most)


def _queues(screen: Screen, queues: Mapping[str, Any], most: int | None) -> None:
    screen.line(("Quota", "bold"))
    amounts = ("nominal", "used", "borrowed", "lent", "available")
    rows = [
        Row((name, queue["cohort"], line["flavor"], line["resource"], *(line[amount] for amount in amounts)))
        for name, queue in queues.items()
        for line in queue["quota"]
    ]
    screen.table(("queue", "cohort", "flavor", "resource", *amounts), rows, most=most)
    shares = [
        f"{name} {queue['weightedShare']}" for name, queue in queues.items() if "weightedShare" in queue
    ]
    if shares:
        screen.paragraph(f"Dominant shares (thousandths, by weight): {', '.join(shares)}", 0)
    for name, queue in queues.items():
        if not queue["active"]:
            screen.paragraph(f"ClusterQueue {name} is inactive. {queue.get('message', '')}".rstrip(), 0)


def _events(screen: Screen, cycles: list[dict[str, Any]], jobs: Mapping[str, str], most: int | None) -> None:
    """By the names of `jobs` where the user wrote a job and no workload."""
    lines = []
    for cycle in cycles:
        number = cycle["cycle"]
        for key, got in cycle["admitted"].items():
            who = jobs.get(key, key)
            lines.append(f"{number}  {who} gets quota in {got['clusterQueue']}: {_flavors(got)}")
        for victim in cycle["preempted"]:
            preemptor, who = victim["preemptor"], jobs.get(victim["workload"], victim["workload"])
            lines.append(
                f"{number}  {who} makes way for {jobs.get(preemptor, preemptor)} ({victim['reason']})"
            )
        lines += [
            f"{number}  {jobs.get(key, key)} could preempt, but its preemption gate is closed"
            for key in cycle["gated"]
        ]
    if lines:
        screen.title("What happened, cycle by cycle")
        for line in lines[:most]:
            screen.paragraph(line)
        screen.more(len(lines), len(lines[:most]))


def _flavors(got: Mapping[str, Any]) -> str:
    parts = []
    for pod_set, flavors in got["flavors"].items():
        used = ", ".join(f"{resource} on {flavor}" for resource, flavor in flavors.items())
        pods = counted(got["counts"].get(pod_set, 0), "pod")
        placement = got.get("topology", {}).get(pod_set)
        where = f", on {_hosts(placement)}" if placement else ""
        parts.append(f"{pod_set} with {pods}{f': {used}' if used else ''}{where}")
    return "; ".join(parts)


def _hosts(placement: Mapping[str, Any]) -> str:
    return some([" / ".join(domain["values"]) for domain in placement["domains"]], MOST_HOSTS)


def _domains(screen: Screen, answer: Mapping[str, Any], most: int | None) -> None:
    """Where the pods go; for a workload that waits, the domains that are kept free for it in this cycle."""
    titles = {"topology": "Domains", "reservedTopology": "Domains kept for it, though others hold them"}
    for field, title in titles.items():
        rows = [
            Row((pod_set, str(domain["count"]), " / ".join(domain["values"])))
            for pod_set, placement in answer.get(field, {}).items()
            for domain in placement["domains"]
        ]
        _section(screen, title, ("pod set", "pods", "domain"), rows, most)
    for pod_set in answer.get("delayedTopologyRequest", {}):
        screen.paragraph(f"Pod set {pod_set} is told its domains later, once its admission checks are ready.")


def render_quota_plan(screen: Screen, plan: Mapping[str, Any], *, everything: bool = False) -> None:
    """A quota plan: the verdict, flavors, victims and the reasons."""
    most = None if everything else MOST_ROWS
    answer = plan.get("withPartialAdmission", plan)
    screen.line(
        (plan["for"], "bold"), f" in ClusterQueue {plan['clusterQueue']} {QUOTA_VERDICTS[plan['outcome']]}."
    )
    for reason in plan["reasons"]:
        screen.paragraph(f"{reason}.".replace("..", "."))
    flavors = [
        Row((pod_set, str(answer["counts"][pod_set]), resource, flavor, answer["modes"][pod_set][resource]))
        for pod_set, chosen in answer["flavors"].items()
        for resource, flavor in chosen.items()
    ]
    _section(screen, "Flavors", ("pod set", "pods", "resource", "flavor", "mode"), flavors, most)
    _domains(screen, answer, most)
    known = {victim["workload"]: victim for victim in plan["victims"]}
    victims = []
    for victim in answer["victims"]:
        more = known.get(victim["workload"], victim)
        cells = (
            victim["workload"],
            more.get("clusterQueue", ""),
            str(more.get("priority", "")),
            victim["reason"] or "replaced",
        )
        victims.append(Row(cells))
    _section(screen, "Would make way", ("workload", "queue", "priority", "why"), victims, most)
