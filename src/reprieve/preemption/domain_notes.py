"""What the other domains of a group would cost, or lack, as sentences: for people who ask.

Each domain is a decision of its own, so the live loop does without.
"""

from collections.abc import Iterator
from typing import NamedTuple

from reprieve.cluster import Mask
from reprieve.placement import Domain, TreePlacer, domains_of, place_gang
from reprieve.preemption import sentences
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.plan import Plan
from reprieve.preemption.preemptor import Preemptor
from reprieve.preemption.units import NO_PRIORITY
from reprieve.preemption.view import View


class _Tried(NamedTuple):
    """A domain with every lower unit gone."""

    domain: Domain
    fits: bool
    slots: int
    """Pods that find a node there."""
    victims: int
    """Pods that make way for these."""
    highest: int
    """The priority of the most important of them."""


def domain_sentences(view: View, preemptor: Preemptor, plan: Plan) -> list[str]:
    """Which domain is next best, and which would need fewer evictions if it were larger."""
    key, domains = _domains(view, preemptor)
    if len(domains) < 2:
        return []
    needed = _needed(preemptor)
    tried = list(_try_each(view, preemptor, domains))
    if not plan.placements:
        closest = max(tried, key=lambda each: (each.slots, each.domain.name))
        name, slots = closest.domain.name, closest.slots
        return [sentences.no_domain_is_enough(key, len(domains), name, slots, needed)]
    taken, evictions = view.cluster.nodes.slot_of[next(iter(plan.placements.values()))], len(plan.victims)
    others = [each for each in tried if each.domain.nodes is not None and not each.domain.nodes[taken]]
    return [
        sentences.goes_to_domain(key, _name_of(tried, taken)),
        *_next_best(others, key, plan),
        *_too_small(others, key, evictions, needed),
    ]


def _next_best(others: list[_Tried], key: str, plan: Plan) -> Iterator[str]:
    fitting = [each for each in others if each.fits]
    if not fitting:
        return
    best = min(fitting, key=lambda each: (each.highest, each.victims, each.domain.name))
    more, ours = best.victims - len(plan.victims), plan.cost.highest_priority
    dearer = ours is not None and best.highest > ours
    if more > 0 or dearer:
        yield sentences.next_best_domain(key, best.domain.name, more, best.highest if dearer else None)
    elif more == 0:
        yield sentences.domain_needs_as_many(key, best.domain.name)


def _too_small(others: list[_Tried], key: str, evictions: int, needed: int) -> Iterator[str]:
    cheaper = [each for each in others if not each.fits and each.slots and each.victims < evictions]
    if cheaper:
        best = max(cheaper, key=lambda each: (each.slots, -each.victims, each.domain.name))
        fewer = evictions - best.victims
        name, slots = best.domain.name, best.slots
        yield sentences.domain_is_cheaper_but_too_small(key, name, fewer, slots, needed)


def _domains(view: View, preemptor: Preemptor) -> tuple[str, list[Domain]]:
    key = preemptor.group.topology_key
    if not key or not view.config.gate("TopologyAwareWorkloadScheduling"):
        return key, []
    if preemptor.gang.tree is None:
        return key, list(preemptor.domains)
    return key, domains_of(view.cluster, key, [int(view.home[row]) for row in preemptor.running])


def _try_each(view: View, preemptor: Preemptor, domains: list[Domain]) -> Iterator[_Tried]:
    search = GangSearch(view, preemptor.gang, domains)
    everyone, cluster = search.everyone(), view.cluster
    mark = cluster.checkpoint()
    cluster.detach_all(search.candidates.pods_of(everyone))
    try:
        for domain in domains:
            yield _try(search, preemptor, domain, everyone)
    finally:
        cluster.rollback(mark)


def _try(search: GangSearch, preemptor: Preemptor, domain: Domain, everyone: Mask) -> _Tried:
    view, gang = search.view, preemptor.gang
    if gang.tree is not None:
        found = TreePlacer(view.cluster, view.scoring, faithful=view.faithful, tolerant=True).inside(
            gang.tree, domain.nodes
        )
        assigned, fits = (found.assigned, True) if found.ok else (found.phantoms, False)
    else:
        gathered = place_gang(view.cluster, gang.rows, 1, 0, view.scoring, domain.nodes, view.faithful)
        assigned, fits = gathered.assigned, len(gathered.assigned) + gang.running >= gang.min_count
    if not assigned:
        return _Tried(domain, fits, 0, 0, NO_PRIORITY)
    selection = search.next_to(assigned, everyone)
    return _Tried(domain, fits, len(assigned), selection.pods, selection.highest)


def _needed(preemptor: Preemptor) -> int:
    gang = preemptor.gang
    if gang.tree is None:
        return max(1, gang.min_count - gang.running)
    return len(gang.rows)


def _name_of(tried: list[_Tried], slot: int) -> str:
    found = (each.domain for each in tried if each.domain.nodes is not None and each.domain.nodes[slot])
    return next(found).name
