"""What would help a unit that waits: sentences, and the changes behind them as data.

Every remedy was carried out on a copy of the cluster, and the planner said that it helps.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.config import Configuration
from reprieve.explain.advice import units, workloads
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.advice.facts import quota_facts, unit_facts
from reprieve.explain.advice.holds import holds
from reprieve.explain.advice.quota_scene import QuotaScene
from reprieve.explain.advice.remedy import Remedy, result_of
from reprieve.explain.advice.scene import Scene, Views
from reprieve.explain.advice.trees import TREE_WAYS, below_quorum, missing_parent, tree_around
from reprieve.explain.advice.ways import ways_out
from reprieve.explain.answer import Advice
from reprieve.explain.evictions import in_words
from reprieve.explain.evidence import Evidence
from reprieve.explain.sentences import advice as sentences
from reprieve.objects import Reference, ReprieveError, outcomes
from reprieve.preemption import Plan

NAMED = 3


def advice(unit: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime) -> Advice:
    """For a pod, a group, a tree or a workload that waits. If no plan can be made, a sentence says why.

    What is in a tree waits with the whole tree.
    """
    if evidence.partial:
        return Advice([sentences.BLIND])
    try:
        settings, draft = Configuration.load(config), Draft(evidence.objects)
        if unit.kind == "Workload":
            return _quota_advice(QuotaScene(draft, unit, settings, now, Views()))
        if settings.gate("CompositePodGroup"):
            unit = tree_around(draft, unit)
        return _advice(Scene(draft, unit, settings, now))
    except ReprieveError as error:
        return Advice([sentences.no_plan(str(error))])


def _advice(scene: Scene) -> Advice:
    if not _holds(scene) and scene.works:
        return Advice(_by_itself(scene))
    ways = TREE_WAYS if scene.unit.kind == "CompositePodGroup" else units.WAYS
    found = ways_out(scene, _holds, ways, lambda after: result_of(after.plan))
    return _with_facts(found, unit_facts(scene))


def _holds(scene: Scene) -> list[Change]:
    """What keeps the unit from being tried, or the tree that it is in."""
    changes: list[Change] = [*missing_parent(scene)]
    changes += holds(scene.after(changes))
    return [*changes, *below_quorum(scene.after(changes))]


def _with_facts(remedies: list[Remedy], facts: list[str]) -> Advice:
    return Advice([each.sentence for each in remedies] or [sentences.HOPELESS], remedies, facts)


def _quota_advice(scene: QuotaScene) -> Advice:
    if not scene.works:
        return _with_facts(workloads.remedies(scene), quota_facts(scene))
    victims = scene.victims()
    return Advice([sentences.preemption_would_help(victims) if victims else sentences.QUOTA_IS_FREE])


def _by_itself(scene: Scene) -> list[str]:
    """Nothing has to be changed."""
    plan = scene.plan_with_alternatives()
    reasons = list(plan.reasons)
    others = [in_words(other) for other in plan.to_dict()["alternatives"]]
    if plan.outcome == outcomes.SCHEDULED:
        nodes = sorted(set(plan.placements.values()))
        return [sentences.fits_now(nodes), *reasons]
    victims = [victim.pod for victim in plan.victims]
    if not victims:
        return reasons
    return [sentences.preemption_would_help(victims), *_held(scene, plan), *reasons, *others]


def _held(scene: Scene, plan: Plan) -> list[str]:
    """Of a unit with volumes: why each of the first victims, which may hold a claim, a disk or a slot."""
    storage = scene.cluster.storage.pods
    if not storage or not any(row in storage for row in scene.waiting_rows()):
        return []
    return [sentences.why_victim(victim.pod, victim.reason) for victim in plan.victims[:NAMED]]
