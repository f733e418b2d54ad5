"""Small clusters as manifests: what the tests of this folder are written in."""

from functools import partial
from typing import Any

from hypothesis import strategies as st

from tests import builders
from tests.builders import Document
from tests.strategies.choices import Choices

NOW = "2026-06-01T12:00:00Z"
ZONE = "topology/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

node = partial(builders.node, memory="16Gi", pods=20)
pod = partial(builders.pod, memory="1Gi", labels={"app": "a"}, start="2026-06-01T00:00:00Z")
pod_group = builders.pod_group
budget = builders.budget
gang = partial(builders.gang, priority=1000, memory="1Gi", labels={"app": "a"})
"""The preemptor `PodGroup/default/gang` and its waiting pods."""


@st.composite
def full_clusters(draw: st.DrawFn) -> list[Document]:
    """A full cluster with a bit of everything, and a gang that wants in."""
    choices = Choices(draw)
    nodes = [
        node(f"node-{i}", choices.number(3, 8), labels={ZONE: f"zone-{i % 2}"})
        for i in range(choices.number(2, 6))
    ]
    teams = [
        pod_group(f"team-{i}", priority=choices.one_of((0, 10, 100)), mode=choices.one_of(("all", "single")))
        for i in range(choices.number(0, 3))
    ]
    budgets = [
        budget(f"budget-{i}", choices.number(0, 2), match={"app": choices.one_of("ab")})
        for i in range(choices.number(0, 2))
    ]
    size, minimum_less = choices.number(1, 4), choices.number(0, 3)
    wanting = gang(
        size,
        choices.number(1, 3),
        minimum=max(1, size - minimum_less),
        **{"labels": {"app": "gang"}, **_constraints(choices)},
    )
    return [*nodes, *teams, *_residents(choices, nodes, len(teams)), *budgets, *wanting]


def _residents(choices: Choices, nodes: list[Document], teams: int) -> list[Document]:
    free = {each["metadata"]["name"]: int(each["status"]["allocatable"]["cpu"]) for each in nodes}
    pods = []
    for number in range(choices.number(4, 23)):
        where, cpu = choices.one_of(list(free)), choices.number(1, 3)
        if free[where] >= cpu:
            free[where] -= cpu
            pods.append(_resident(choices, number, where, cpu, teams))
    return pods


def _resident(choices: Choices, number: int, where: str, cpu: int, teams: int) -> Document:
    spec: Document = {}
    if choices.chance(10):
        term = {"labelSelector": {"matchLabels": {"app": "gang"}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
    return pod(
        f"run-{number}",
        cpu,
        choices.one_of((0, 0, 10, 100)),
        on=where,
        group=f"team-{choices.number(0, teams - 1)}" if teams and choices.chance(40) else "",
        labels={"app": choices.one_of("abc")},
        start=f"2026-05-{1 + number % 28:02}T00:00:00Z",
        **spec,
    )


def _constraints(choices: Choices) -> dict[str, Any]:
    """What the gang's pods ask for besides free capacity."""
    selector = {"labelSelector": {"matchLabels": {"app": "gang"}}}
    kind = choices.number(1, 100)
    if kind > 80:
        term = {**selector, "topologyKey": choices.one_of(("kubernetes.io/hostname", ZONE))}
        return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
    if kind > 65:
        rule = {**selector, "topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
        return {"topologySpreadConstraints": [rule]}
    return {}
