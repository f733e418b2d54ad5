"""The recorded answers of upstream: everything that is in them, not only what decides."""

import gzip
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import reprieve
from reprieve.objects.times import format_time

DATA = Path(__file__).parent.parent / "corpus" / "kueue"
Row = dict[str, Any]


@cache
def rows(name: str) -> list[Row]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def config(row: Row) -> Row:
    gates = row["config"].get("featureGates", {})
    return {
        **row["config"],
        "featureGates": {g: on for g, on in gates.items() if not g.startswith(("TAS", "Topology"))},
    }


def plan(row: Row) -> Row:
    queue, given = row.get("targetClusterQueue"), row.get("given")
    answer = reprieve.plan(
        row["objects"], row["submit"], config=config(row), now=row["now"], cluster_queue=queue, given=given
    )
    found: Row = answer.to_dict()
    return found


def victims(answer: Row) -> list[tuple[str, str]]:
    return sorted((victim["workload"], victim["reason"]) for victim in answer.get("victims", []))


def flavors(answer: Row) -> Row:
    if answer["mode"] == "NoFit":
        return {"mode": "NoFit", "noFitReason": answer.get("noFitReason", "")}
    return {key: answer.get(key) for key in ("mode", "flavors", "modes", "counts", "borrowing", "usage")}


def preemption(row: Row) -> Iterator[tuple[object, object]]:
    yield victims(plan(row)), victims(row["expect"])


def flavor(row: Row) -> Iterator[tuple[object, object]]:
    got, want = plan(row), row["expect"]
    yield flavors(got), flavors(want)
    if want["mode"] != "NoFit":
        yield got["triedFlavorIdx"], want["triedFlavorIdx"]


def assign(row: Row) -> Iterator[tuple[object, object]]:
    got, want = plan(row), row["expect"]
    yield from flavor(row)
    yield victims(got), victims(want)
    yield bool(got.get("gated")), bool(want.get("gated"))
    if "withPartialAdmission" in want:
        part, wanted = got["withPartialAdmission"], want["withPartialAdmission"]
        yield victims(part), victims(wanted)
        yield part["mode"], wanted["mode"]
        if wanted["mode"] != "NoFit":
            yield part["counts"], wanted["counts"]


def lists(queues: Row | None) -> Row:
    return {name: sorted(keys) for name, keys in (queues or {}).items() if keys}


def admitted(workloads: Row) -> Row:
    return {k: {f: w[f] for f in ("clusterQueue", "flavors", "counts")} for k, w in workloads.items()}


def preempted(cycle: Row) -> list[tuple[str, ...]]:
    return sorted((v["workload"], v["reason"], v["preemptor"]) for v in cycle["preempted"])


def cycles(row: Row) -> Iterator[tuple[object, object]]:
    got = reprieve.admit(row["objects"], config=config(row), now=row["now"]).to_dict()
    want = row["expect"]
    yield got["converged"], want["converged"]
    yield admitted(got["admitted"]), admitted(want["admitted"])
    yield got["unadmitted"], sorted(want["unadmitted"] or [])
    yield got["evicted"], sorted(want["evicted"] or [])
    for mine, theirs in zip(got["cycles"], want["cycles"], strict=False):
        yield admitted(mine["admitted"]), admitted(theirs["admitted"])
        yield preempted(mine), preempted(theirs)
        yield lists(mine["pending"]), lists(theirs["pending"])
        yield lists(mine["inadmissible"]), lists(theirs["inadmissible"])


def schedule(row: Row) -> Iterator[tuple[object, object]]:
    want = row["expect"]
    deletions = (row.get("given") or {}).get("deleteAfterCycle")
    number = 2 if deletions else 1
    answer = reprieve.admit(
        row["objects"], config=config(row), now=row["now"], max_cycles=number, delete_after_cycle=deletions
    )
    if deletions:
        yield admitted(answer.to_dict()["admitted"]), admitted(want["assignments"])
        return
    got = answer.to_dict()["cycles"][0]
    yield admitted(got["admitted"]), admitted(want["admitted"])
    yield lists(got["pending"]), lists(want["pending"])
    yield lists(got["inadmissible"]), lists(want["inadmissible"])
    if "conditions" in want and "workload-slice" not in row["name"]:
        yield from told(answer, want)


def told(answer: Any, want: Row) -> Iterator[tuple[object, object]]:
    """Conditions and events, with reasons and messages."""
    outcome = answer.run.steps[0].outcome
    changed = [*outcome.reserved, *outcome.evicted, *outcome.waiting]
    for each in changed:
        if each.workload is not None:
            yield conditions(each.workload), by_type(want["conditions"][each.workload.key])
    assert {each.workload.key for each in changed if each.workload} == set(want["conditions"])
    events = [event.to_dict() for event in outcome.events]
    yield sorted(map(str_of, events)), sorted(map(str_of, want["events"]))


def conditions(workload: Any) -> Row:
    return {
        c.type: (c.status, c.reason, c.message, format_time(c.last_transition_time))
        for c in workload.status.conditions
    }


def by_type(wanted: list[Row]) -> Row:
    return {c["type"]: (c["status"], c["reason"], c["message"], c["lastTransitionTime"]) for c in wanted}


def str_of(event: Row) -> str:
    return json.dumps(event, sort_keys=True)


@pytest.mark.parametrize(
    ("family", "check"),
    [
        ("preemption-tables", preemption),
        ("flavor-tables", flavor),
        ("assign-generated", assign),
        ("schedule-tables", schedule),
        ("cycles-generated", cycles),
    ],
)
def test_answers_equal_upstream(family: str, check: Callable[[Row], Iterator[tuple[object, object]]]) -> None:
    for row in rows(family):
        for got, want in check(row):
            assert got == want, row["name"]


@pytest.mark.parametrize("row", rows("cycles-livelock"), ids=lambda row: row["name"])
def test_where_upstream_preempts_in_circles_we_settle(row: Row) -> None:
    got = reprieve.admit(row["objects"], config=config(row), now=row["now"]).to_dict()
    assert got["converged"] in ("steady", "queues-empty")
    first = [(admitted(c["admitted"]), preempted(c)) for c in row["expect"]["cycles"][:4]]
    assert [(admitted(c["admitted"]), preempted(c)) for c in got["cycles"][:4]] == first


def test_a_preemption_given_up_for_another_one_is_counted() -> None:
    name = "multiple preemptions skip preemption when shared limited resource"
    row = next(row for row in rows("schedule-tables") if row["name"] == name)
    run = reprieve.admit(row["objects"], config=config(row), now=row["now"], max_cycles=1).run
    assert sum(run.steps[0].outcome.skipped_preemptions.values()) == 1
