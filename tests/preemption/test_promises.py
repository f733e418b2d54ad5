"""What every plan promises, on generated clusters; each test has the name of its promise in
docs/promises.md.
"""

from hypothesis import given

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.preemption import Plan, decide
from reprieve.whatif.pods import load
from tests.builders import Document
from tests.reference.core.filters import State, dynamic, static
from tests.reference.core.model import P, World
from tests.scale import examples
from tests.strategies.cluster import Scene, scenes

many = examples(250)


def decided(documents: list[Document], target: str, algorithm: str = "kep-5710") -> Plan:
    config = {"preemption": {"algorithm": algorithm}, "featureGates": {"PodGroupPreemptionPolicy": False}}
    return decide(load(documents), Reference.parse(target), Configuration.load(config), 0)


def members(world: World, target: str) -> list[P]:
    kind, key = Reference.parse(target).kind, Reference.parse(target).key
    return [pod for pod in world.pods if (pod.key if kind == "Pod" else pod.group) == key]


def after(documents: list[Document], plan: Plan) -> World:
    """The cluster once the victims are gone."""
    gone = {victim.pod for victim in plan.victims}
    return World([each for each in documents if each["kind"] != "Pod" or _key(each) not in gone])


def _key(document: Document) -> str:
    return f"{document['metadata']['namespace']}/{document['metadata']['name']}"


def stands(world: World, plan: Plan) -> bool:
    """Whether the preemptor's pods pass every filter where the plan puts them, one after the other."""
    pods = {pod.key: pod for pod in world.pods}
    for key, name in plan.placements.items():
        node = world.nodes[name]
        state = State(world, pods[key], faithful=False)
        if not static(pods[key], node) or not dynamic(state, node, []):
            return False
        world.put(pods[key], name)
    return True


@many
@given(scenes())
def test_no_eviction_without_a_placement(scene: Scene) -> None:
    """Victims are named only together with places that do hold once they are gone."""
    documents, target = scene
    plan = decided(documents, target)
    if plan.outcome in ("scheduled", "preempts"):
        assert stands(after(documents, plan), plan)
    else:
        assert not plan.victims


@many
@given(scenes())
def test_gangs_all_or_none(scene: Scene) -> None:
    documents, target = scene
    plan = decided(documents, target)
    if not target.startswith("PodGroup/"):
        return
    world = World(documents)
    group = world.groups[target.removeprefix("PodGroup/")]
    running = sum(pod.node is not None for pod in members(world, target))
    assert not plan.placements or running + len(plan.placements) >= group.min_count


@many
@given(scenes())
def test_units_go_whole_and_only_lower_ones_go(scene: Scene) -> None:
    documents, target = scene
    plan = decided(documents, target)
    world = World(documents)
    gone = {victim.pod for victim in plan.victims}
    first = members(world, target)[0]
    priority = (world.groups[first.group].spec.priority or 0) if first.group else first.priority
    for victim in plan.victims:
        assert victim.priority < priority
        if victim.unit.startswith("PodGroup/"):
            group = victim.unit.removeprefix("PodGroup/")
            assert {pod.key for pod in world.running() if pod.group == group} <= gone


@many
@given(scenes())
def test_no_victim_could_have_stayed(scene: Scene) -> None:
    """Put any one unit back, and the preemptor no longer stands where the plan puts it."""
    documents, target = scene
    plan = decided(documents, target)
    for unit in {victim.unit for victim in plan.victims}:
        kept = [victim for victim in plan.victims if victim.unit != unit]
        fewer = Plan(for_=plan.for_, outcome=plan.outcome, placements=plan.placements, victims=tuple(kept))
        assert not stands(after(documents, fewer), fewer), unit


@many
@given(scenes())
def test_a_resubmitted_victim_preempts_nobody_back(scene: Scene) -> None:
    """A victim that comes back while its preemptor runs never evicts the preemptor."""
    documents, target = scene
    plan = decided(documents, target)
    if not plan.victims or target.startswith("PodGroup/"):
        return
    gone = {victim.pod for victim in plan.victims}
    returned = []
    for each in documents:
        if each["kind"] == "Pod" and _key(each) in plan.placements:
            each = {**each, "spec": {**each["spec"], "nodeName": plan.placements[_key(each)]}}
            each["status"] = {"phase": "Running", "startTime": "2026-05-01T00:00:00Z"}
        elif each["kind"] == "Pod" and _key(each) in gone:
            spec = {k: v for k, v in each["spec"].items() if k not in ("nodeName", "schedulingGroup")}
            meta = {k: v for k, v in each["metadata"].items() if k != "deletionTimestamp"}
            each = {**each, "metadata": meta, "spec": spec, "status": {"phase": "Pending"}}
        returned.append(each)
    for key in gone:
        if (
            next(each for each in documents if each["kind"] == "Pod" and _key(each) == key)["spec"][
                "priority"
            ]
            < 10
        ):
            again = decided(returned, f"Pod/{key}")
            assert not {victim.pod for victim in again.victims} & set(plan.placements)


@many
@given(scenes())
def test_kep_5710_never_touches_a_higher_priority_than_kubernetes(scene: Scene) -> None:
    """Except where kubernetes' own plan would not stand: its gang what-if overlooks anti-affinity of pods it
    puts back.
    """
    documents, target = scene
    ours, theirs = decided(documents, target), decided(documents, target, "kubernetes")
    if theirs.outcome != "preempts" or not stands(after(documents, theirs), theirs):
        return
    assert ours.outcome in ("preempts", "scheduled")
    highest = max((victim.priority for victim in theirs.victims), default=-(2**62))
    assert all(victim.priority <= highest for victim in ours.victims)


@many
@given(scenes())
def test_deciding_changes_nothing(scene: Scene) -> None:
    documents, target = scene
    cluster = load(documents)
    config = Configuration.load(None)
    before = (cluster.nodes.used.copy(), cluster.nodes.filled.copy(), cluster.pods.node.copy())
    first = decide(cluster, Reference.parse(target), config, 0, alternatives=False)
    assert (cluster.nodes.used == before[0]).all()
    assert (cluster.nodes.filled == before[1]).all()
    assert (cluster.pods.node == before[2]).all()
    assert decide(cluster, Reference.parse(target), config, 0) == first
