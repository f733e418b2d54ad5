"""Alternatives to a plan and their cost. Each is a decision of its own, so the live loop asks for none."""

from collections.abc import Sequence

import msgspec

from reprieve.objects import PlanOutcome, outcomes
from reprieve.placement import GangPlacement
from reprieve.preemption import sentences
from reprieve.preemption.algorithms import select_for_gang
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.minimal.decide import improve
from reprieve.preemption.plan import Alternative
from reprieve.preemption.pods import choice_key
from reprieve.preemption.preemptor import Preemptor
from reprieve.preemption.reasons import unit_name
from reprieve.preemption.rendering import cost_of
from reprieve.preemption.units import Selection
from reprieve.preemption.view import View

MOST = 3
"""How many other nodes are shown for a pod."""

TITLES = {"kubernetes": sentences.AS_KUBE_SCHEDULER, "kep-5710": sentences.AS_KEP_5710}


def for_gang(view: View, preemptor: Preemptor, chosen: Selection) -> tuple[Alternative, ...]:
    """What the other algorithms choose, and what the gang costs without the pods beyond its minimum."""
    found = []
    for algorithm, title in TITLES.items():
        if algorithm != view.config.preemption.algorithm:
            other = _with_algorithm(view, algorithm)
            answer = select_for_gang(GangSearch(other, preemptor.gang, preemptor.domains))
            found.append(_alternative(other, title, answer))
    if view.config.preemption.algorithm != "minimal-cost":
        found.append(_cheapest(view, preemptor, chosen))
    needed = preemptor.gang.min_count - preemptor.gang.running
    if 0 < needed < len(preemptor.gang.rows):
        smaller = preemptor.gang._replace(rows=preemptor.gang.rows[:needed])
        answer = select_for_gang(GangSearch(view, smaller, preemptor.domains))
        found.append(_alternative(view, sentences.with_only_the_pods_it_needs(needed), answer))
    same = (cost_of(chosen), _victims(view, chosen))
    return tuple(each for each in found if each is not None and (each.cost, each.victims) != same)


def for_pod(view: View, choices: Sequence[Selection], chosen: Selection) -> tuple[Alternative, ...]:
    """The next best nodes."""
    others = sorted((each for each in choices if each is not chosen), key=lambda each: choice_key(view, each))
    slots, names = [each.assigned[0].slot for each in others[:MOST]], view.cluster.nodes.names
    titles = [sentences.on_node(names[slot]) for slot in slots]
    found = [_alternative(view, title, each) for title, each in zip(titles, others, strict=False)]
    return tuple(each for each in found if each is not None)


def _cheapest(view: View, preemptor: Preemptor, chosen: Selection) -> Alternative | None:
    other = _with_algorithm(view, "minimal-cost")
    found = improve(
        other, preemptor.gang, lambda _ceiling: chosen, [each.nodes for each in preemptor.domains], None
    )
    return None if found is None else _alternative(other, sentences.AT_THE_LEAST_COST, found.selection)


def _with_algorithm(view: View, algorithm: str) -> View:
    preemption = msgspec.structs.replace(view.config.preemption, algorithm=algorithm)
    return View(view.cluster, msgspec.structs.replace(view.config, preemption=preemption), view.now)


def _alternative(view: View, title: str, answer: Selection | GangPlacement) -> Alternative | None:
    if isinstance(answer, GangPlacement):
        return None
    outcome: PlanOutcome = outcomes.PREEMPTS if answer.victims else outcomes.SCHEDULED
    return Alternative(title=title, outcome=outcome, cost=cost_of(answer), victims=_victims(view, answer))


def _victims(view: View, selection: Selection) -> tuple[str, ...]:
    return tuple(unit_name(view, unit) for unit in selection.victims)
