"""What a queue gives a target: data, for plans that need not know how quota is decided."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from reprieve.config import Configuration
from reprieve.objects import Document, Reference, Source, document_of, kind_key, outcomes, well_known
from reprieve.preemption import Plan, Victim
from reprieve.whatif import sentences

_QUEUE = (well_known.KUEUE_API, "ClusterQueue")


class Share(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one Workload of a target gets."""

    workload: str
    cluster_queue: str = ""
    flavors: dict[str, dict[str, str]] = {}
    """By pod set and resource."""
    counts: dict[str, int] = {}
    """By pod set; fewer than it asked for where it may shrink."""
    message: str = ""
    """Why it gets no quota."""


class Grant(NamedTuple):
    """What all Workloads of a target get."""

    shares: list[Share]
    documents: list[Document | Source]
    """As they are then: pods of the target on the nodes of their flavors; without its pods that do not start,
    and without the victims and their Workloads."""
    refused: dict[Reference, str]
    """Pods of the target without quota, and why."""
    left_out: set[Reference]
    """Pods that the target starts without: it may start with fewer, and gets quota for fewer."""
    victims: tuple[Victim, ...]
    """Pods of Workloads that lose their quota."""
    notes: list[str]
    asked: list[Document]
    """The Workloads that the target asks with, as the quota controller would make them."""

    @property
    def refusal(self) -> str:
        """Why nothing of the target gets quota; empty if some of it does."""
        messages = [each.message for each in self.shares]
        return "" if any(each.cluster_queue for each in self.shares) else next(iter(messages), "")

    @property
    def sentences(self) -> list[str]:
        """For a plan of nodes: what its target gets, and from which flavors."""
        with_flavors = [each for each in self.shares if any(each.flavors.values())]
        given = [sentences.gets_quota(each.cluster_queue, each.flavors) for each in with_flavors]
        preempts = [each.pod for each in self.victims]
        if preempts:
            given.append(sentences.preempts_for_quota(preempts))
        smaller = [sentences.starts_smaller(len(self.left_out))] if self.left_out else []
        return [*dict.fromkeys(given), *smaller, *self.notes]

    def with_victims(self, plan: Plan) -> Plan:
        """The plan with the pods that it takes quota from, before those that it takes nodes from."""
        if not self.victims:
            return plan
        units = {victim.unit: victim.priority for victim in self.victims}
        cost, highest = plan.cost, [*units.values()]
        if cost.highest_priority is not None:
            highest.append(cost.highest_priority)
        cost = msgspec.structs.replace(
            cost,
            units=cost.units + len(units),
            pods=cost.pods + len(self.victims),
            highest_priority=max(highest),
        )
        outcome = outcomes.PREEMPTS if plan.outcome == outcomes.SCHEDULED else plan.outcome
        victims = (*self.victims, *plan.victims)
        return msgspec.structs.replace(plan, outcome=outcome, cost=cost, victims=victims)


def grant(
    given: Sequence[Document | Source],
    documents: Sequence[Document | Source],
    target: Reference,
    pods: Mapping[str, Sequence[Document]],
    config: Configuration,
    now: datetime,
) -> Grant | None:
    """What the queue of a target gives it; None where it asks for no quota, or no ClusterQueue is there.

    `documents`: those that were given, with the pods of the target. `pods`: these, by pod set. Quota is only
    imported where there are queues.
    """
    if not any(kind_key(document_of(each)) == _QUEUE for each in given):
        return None
    from reprieve.whatif.quota_first import decide

    return decide(given, documents, target, pods, config, now)
