"""The documents that commands print, as types: what `reprieve schema` is made of.

Within a version a field is never renamed or removed, and fields may be added: the schemas allow fields that
they do not name. Tests hold every answer against its schema, and there no field may be unknown.
"""

from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import msgspec

from reprieve.explain import Explanation
from reprieve.forecast import Forecast
from reprieve.objects import Ignored, PlanOutcome, well_known
from reprieve.preemption import Bill, BilledVictim, Plan
from reprieve.records import Decision
from reprieve.simulate import Metrics
from reprieve.whatif import JobPlan

Version = Literal["reprieve.dev/v1alpha1"]
ByPodSet = dict[str, dict[str, str]]
"""{pod set: {resource: flavor or mode}}"""


class PlanDocument(Plan, frozen=True, kw_only=True, rename="camel"):
    """A plan for a pod or a pod group."""

    api_version: Version
    kind: Literal["Plan"]
    victims: tuple[BilledVictim, ...] = ()
    cost: Bill = Bill()


class JobPlanDocument(JobPlan, frozen=True, kw_only=True, rename="camel"):
    """A plan for a job of any kind: what becomes of all its pods."""

    api_version: Version
    kind: Literal["JobPlan"]
    plans: tuple[PlanDocument, ...] = ()


class ForecastDocument(Forecast, frozen=True, kw_only=True, rename="camel"):
    """When something starts, or why that cannot be said."""

    api_version: Version
    kind: Literal["Forecast"]


class ExplanationDocument(Explanation, kw_only=True, rename="camel"):
    """Why an object is as it is, and what would help."""

    api_version: Version
    kind: Literal["Explanation"]
    ignored: tuple[Ignored, ...] = ()


class QuotaVictim(TypedDict):
    workload: str
    reason: str
    clusterQueue: NotRequired[str]
    priority: NotRequired[int]
    message: NotRequired[str]


class DomainCount(TypedDict):
    values: list[str]
    count: int


class PlacementDocument(TypedDict):
    levels: list[str]
    domains: list[DomainCount]


class Domains(TypedDict):
    """Where the pods of a workload go, for flavors with a topology."""

    topology: NotRequired[dict[str, PlacementDocument]]
    reservedTopology: NotRequired[dict[str, PlacementDocument]]
    delayedTopologyRequest: NotRequired[dict[str, str]]


class Proposal(Domains):
    """Flavors for a workload, and the victims whose quota it would take."""

    mode: Literal["Fit", "Preempt", "NoFit"]
    flavors: ByPodSet
    counts: dict[str, int]
    borrowing: int
    modes: ByPodSet
    usage: dict[str, dict[str, str]]
    triedFlavorIdx: dict[str, dict[str, int]]
    attempts: dict[str, list[str]]
    victims: list[QuotaVictim]


_About = TypedDict("_About", {"apiVersion": Version, "for": str})
"""What an answer is about; `for` cannot be written in a class."""


class QuotaPlanDocument(_About, Proposal):
    """A plan for a Kueue workload."""

    kind: Literal["Plan"]
    outcome: PlanOutcome
    clusterQueue: str
    gated: bool
    reasons: list[str]
    noFitReason: NotRequired[str]
    ignored: NotRequired[list[Ignored]]
    withPartialAdmission: NotRequired[Proposal]


class ComparedPlan(TypedDict):
    algorithm: Literal["kubernetes", "kep-5710", "minimal-cost"]
    outcome: PlanOutcome
    placements: dict[str, str]
    victims: list[str]
    also: list[str]
    cost: Bill
    lostHours: dict[str, float]
    withoutStart: int
    displacing: int
    message: str


class PlanComparisonDocument(_About):
    """What each algorithm would do, and at what cost."""

    kind: Literal["PlanComparison"]
    cheapest: str | None
    common: list[str]
    owners: dict[str, str]
    plans: list[ComparedPlan]
    warnings: list[str]
    ignored: NotRequired[list[Ignored]]


class FleetCost(TypedDict):
    highestPriority: int
    lostPodSeconds: int
    victims: int


class FleetCandidate(TypedDict):
    cluster: str
    outcome: PlanOutcome
    mode: NotRequired[str]
    flavors: NotRequired[ByPodSet]
    victims: NotRequired[list[QuotaVictim]]
    reasons: NotRequired[list[str]]
    cost: NotRequired[FleetCost]
    ignored: NotRequired[list[Ignored]]


class FleetPlanDocument(_About):
    """Which cluster would get a workload, and what every other would have done."""

    kind: Literal["FleetPlan"]
    outcome: PlanOutcome
    cluster: str | None
    gatePolicy: Literal["first-come", "least-cost"]
    victims: list[QuotaVictim]
    reasons: list[str]
    clusters: list[FleetCandidate]
    ignored: NotRequired[list[Ignored]]


class Holding(Domains):
    clusterQueue: str
    flavors: ByPodSet
    counts: dict[str, int]


class Waiting(TypedDict):
    clusterQueue: NotRequired[str]
    reason: str
    message: str


class Preempted(TypedDict):
    workload: str
    reason: str
    preemptor: str


class Cycle(TypedDict):
    cycle: int
    time: str
    admitted: dict[str, Holding]
    preempted: list[Preempted]
    pending: dict[str, list[str]]
    inadmissible: dict[str, list[str]]
    gated: list[str]
    waiting: dict[str, Waiting]


class QuotaLine(TypedDict):
    flavor: str
    resource: str
    nominal: str
    used: str
    borrowed: str
    lent: str
    available: str


class Queue(TypedDict):
    cohort: str
    active: bool
    quota: list[QuotaLine]
    message: NotRequired[str]
    weightedShare: NotRequired[int]


class AdmissionsDocument(TypedDict):
    """Admission cycles over all workloads."""

    apiVersion: Version
    kind: Literal["Admissions"]
    converged: Literal["queues-empty", "steady", "stopped"]
    admitted: dict[str, Holding]
    unadmitted: list[str]
    evicted: list[str]
    pending: dict[str, list[str]]
    inadmissible: dict[str, list[str]]
    waiting: dict[str, Waiting]
    queues: dict[str, Queue]
    cycles: list[Cycle]
    jobs: NotRequired[dict[str, str]]
    ignored: NotRequired[list[Ignored]]


class Finding(TypedDict):
    file: str
    document: str
    path: str
    value: str | float | bool | None
    message: str


class ValidationDocument(TypedDict):
    """Every problem of the manifests."""

    apiVersion: Version
    kind: Literal["Validation"]
    documents: int
    problems: list[Finding]
    warnings: list[Finding]
    notChecked: list[Finding]


class CheckedAssertion(TypedDict):
    expression: str
    policy: str
    holds: bool
    left: float
    right: float


class SimulationDocument(TypedDict):
    """What became of the jobs of a trace, by configuration."""

    apiVersion: Version
    kind: Literal["Simulation"]
    trace: str
    jobs: int
    seed: int
    notes: list[str]
    configurations: list[Metrics]
    assertions: list[CheckedAssertion]


class ListOf(NamedTuple):
    """What a command prints that was asked about several things: `items` in these formats."""

    formats: tuple[str, ...]


FORMATS: dict[str, Any] = {
    "Plan": PlanDocument,
    "JobPlan": JobPlanDocument,
    "QuotaPlan": QuotaPlanDocument,
    "PlanList": ListOf(("Plan", "JobPlan", "QuotaPlan")),
    "PlanComparison": PlanComparisonDocument,
    "FleetPlan": FleetPlanDocument,
    "Admissions": AdmissionsDocument,
    "Forecast": ForecastDocument,
    "ForecastList": ListOf(("Forecast",)),
    "Explanation": ExplanationDocument,
    "Validation": ValidationDocument,
    "Decision": Decision,
    "Simulation": SimulationDocument,
}
"""Every format for programs, by the name that `reprieve schema` takes."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a format."""
    kind = FORMATS[name]
    found = _of_list(name, kind) if isinstance(kind, ListOf) else msgspec.json.schema(kind)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://reprieve.dev/schemas/v1alpha1/{name}.json",
        "title": name,
        **found,
    }


def _of_list(name: str, kind: ListOf) -> dict[str, Any]:
    """Written by hand: items of several formats are told apart by their fields, not by a tag."""
    items = [msgspec.json.schema(FORMATS[each]) for each in kind.formats]
    described = {
        "title": name,
        "type": "object",
        "properties": {
            "apiVersion": {"enum": [well_known.API_VERSION]},
            "kind": {"enum": [name]},
            "items": {"type": "array", "items": {"anyOf": [{"$ref": each["$ref"]} for each in items]}},
        },
        "required": ["apiVersion", "kind", "items"],
    }
    parts = {part: each for one in items for part, each in one["$defs"].items()}
    return {"$ref": f"#/$defs/{name}", "$defs": {**parts, name: described}}
