"""A plan: where the preemptor goes, which pods are evicted, what it costs and why.

The format is versioned and documented in `docs/plan-format.md`.
"""

from typing import Any, dataclass_transform

import msgspec

from reprieve.objects import Ignored, PlanOutcome, well_known


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Frozen, camelCase on the wire."""


class Victim(_Part):
    """A pod to evict."""

    pod: str
    node: str
    unit: str
    """What is evicted together: `Pod/ns/name` or `PodGroup/ns/name`."""
    priority: int
    """Of the unit."""
    violates_budget: bool = False
    reason: str = ""
    terminating: bool = False
    """It is already terminating and need not be evicted."""
    owner: str = ""
    """Its controller, `Kind/ns/name`; only plans over manifests say."""


class Reprieved(_Part):
    """A unit that could have been evicted and stays."""

    unit: str
    nodes: tuple[str, ...]
    priority: int
    reason: str = ""
    owner: str = ""
    """The controller of a single pod, `Kind/ns/name`; only plans over manifests say."""


class BudgetUse(_Part):
    """How the plan uses a disruption budget."""

    budget: str
    allowed: int
    victims: int
    """Victims that it covers."""
    sentence: str = ""


class Cost(_Part):
    """What the plan costs: the terms in the order in which plans are compared."""

    budget_violations: int = 0
    highest_priority: int | None = None
    """Of the most important victim; None without victims."""
    units: int = 0
    pods: int = 0
    groups: int = 0


class Alternative(_Part):
    """An alternative plan, and what it would cost."""

    title: str
    outcome: PlanOutcome
    cost: Cost
    victims: tuple[str, ...] = ()
    """Units."""


class ClaimUse(_Part, omit_defaults=True):
    """What an unbound claim gets: a volume that exists, or one that is made for it."""

    volume: str = ""
    provision: str = ""
    """The node on which a volume is made for the claim."""


class Plan(_Part):
    for_: str = msgspec.field(name="for")
    outcome: PlanOutcome
    placements: dict[str, str] = {}
    devices: dict[str, dict[str, list[str]]] = {}
    """What the plan allocates: claim to request to devices (`driver/pool/device`), in order."""
    victims: tuple[Victim, ...] = ()
    pdb_violations: int = 0
    pod_group_disruptions: int = 0
    cost: Cost = Cost()
    reasons: tuple[str, ...] = ()
    """Sentences: the result first, then what led to it, then warnings."""
    alternatives: tuple[Alternative, ...] = ()
    reprieved: tuple[Reprieved, ...] = ()
    budgets: tuple[BudgetUse, ...] = ()
    algorithm: str = ""
    message: str = ""
    """What kube-scheduler would write into the condition."""
    lost_hours: dict[str, float] = {}
    """Work of the victims since their start or last checkpoint, in hours of each accelerator and of cpu."""
    without_start: int = 0
    """Victims that do not say when they started, so that their work is not counted."""
    ignored: tuple[Ignored, ...] = ()
    """Documents that were given and that no plan of nodes reads."""
    volumes: dict[str, ClaimUse] = {}
    """For each unbound claim (`namespace/name`) of pods that are placed: what it gets."""
    ongoing: bool = False
    """An earlier preemption for it is still under way: nothing new is evicted, the nominations stay."""

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("ignored", "devices"):
            if not document[name]:
                del document[name]
        return {"apiVersion": well_known.API_VERSION, "kind": "Plan", **document}
