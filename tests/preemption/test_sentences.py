"""The text of every sentence of this room, once. Other tests name the sentence and its values."""

import pytest

from reprieve.preemption import sentences
from tests.catalogues import without_a_row

RACK = "topology.kubernetes.io/rack"
GROUP = "PodGroup/ml/train"

ROWS = [
    (sentences.GATED, "Scheduling is blocked due to non-empty scheduling gates"),
    (sentences.TOO_FEW_PODS, "waiting for minCount pods from a gang to appear in scheduling queue"),
    (sentences.NO_VICTIMS, "No preemption victims found for incoming preemptor"),
    (sentences.NO_VICTIMS_FOR_POD, "No preemption victims found for incoming pod"),
    (sentences.NOT_HELPFUL, "Preemption is not helpful for scheduling"),
    (sentences.NEVER_PREEMPTS, "not eligible due to preemptionPolicy=Never."),
    (sentences.VICTIM_IS_TERMINATING, "not eligible due to a terminating pod on the nominated node."),
    (sentences.ONGOING, "ongoing preemption on nominated nodes"),
    (
        sentences.group_is_missing("train"),
        'waiting for pods\'s pod group "train" to appear in scheduling queue',
    ),
    (sentences.below_quorum("tree"), 'waiting for composite pod group "tree" tree to meet quorum'),
    (
        sentences.parent_is_missing("ml/tree"),
        "failed to build hierarchy snapshot: parent composite pod group state not found for ml/tree",
    ),
    (sentences.device_filter_failed("no such key"), 'running "DynamicResources" filter plugin: no such key'),
    (sentences.devices_refused("claim is gone"), "DynamicResources: claim is gone"),
    (sentences.preemption_not_reached("0/1 nodes."), "0/1 nodes. not found"),
    (sentences.preemption_refused("0/1 nodes.", "not now."), "0/1 nodes. preemption: not now."),
    (
        sentences.group_preemption_refused("unschedulable", "not now."),
        "unschedulable, pod group preemption: not now.",
    ),
    (
        sentences.preempts_for_pod("0/1 nodes.", "n1", 2),
        "0/1 nodes. preemption: found a potential placement for pod on node n1, preempting 2 victims",
    ),
    (
        sentences.preempts_for_pod("", "n1", 1),
        "preemption: found a potential placement for pod on node n1, preempting 1 victims",
    ),
    (
        sentences.preempts_for_group("unschedulable", 2),
        "unschedulable, pod group preemption: found a placement for podgroup, preempting 2 victims",
    ),
    (
        sentences.preempts_for_group("", 2),
        "pod group preemption: found a placement for podgroup, preempting 2 victims",
    ),
    (
        sentences.schedulers_differ("default-scheduler", "volcano"),
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        'got: "default-scheduler" and "volcano"',
    ),
    (
        sentences.priority_differs("ml/train-0", 7, 100),
        "all pods in a single pod group should have the same priority as the pod group's priority, "
        "got 7 and 100 (ml/train-0)",
    ),
    (
        sentences.POLICY_DIFFERS_FROM_GROUP,
        "all pods in a single pod group should have the same preemption policy as the pod group's "
        "preemption policy, got Never and PreemptLowerPriority",
    ),
    (
        sentences.POLICIES_DIFFER,
        "all pods in a single pod group should have the same preemption policy, "
        "got Never and PreemptLowerPriority",
    ),
    (
        sentences.no_such_pod("ml/p", ["ml/b", "ml/a"]),
        "there is no pod 'ml/p' that could still run; known pods: ml/a, ml/b",
    ),
    (
        sentences.no_such_pod("ml/p", [f"ml/{letter}" for letter in "gfedcba"]),
        "there is no pod 'ml/p' that could still run; known pods: ml/a, ml/b, ml/c, ml/d, ml/e",
    ),
    (sentences.no_such_group("ml/g", ["ml/a"]), "there is no PodGroup 'ml/g'; known groups: ml/a"),
    (
        sentences.no_such_composite("ml/g", []),
        "there is no CompositePodGroup 'ml/g'; known ones: none",
    ),
    (
        sentences.gate_is_off(GROUP, "GenericWorkload"),
        "cannot plan for PodGroup/ml/train: the feature gate GenericWorkload is off",
    ),
    (sentences.pod_is_on_a_node("Pod/ml/p"), "Pod/ml/p is on a node already."),
    (sentences.group_is_on_nodes(GROUP, 1), "PodGroup/ml/train is on nodes already, with 1 pod."),
    (sentences.pod_fits("Pod/ml/p", "n1"), "Pod/ml/p fits on n1; nobody makes way."),
    (
        sentences.group_fits(GROUP, 2, 3),
        "PodGroup/ml/train fits: 2 of 3 pods would find a node; nobody makes way.",
    ),
    (
        sentences.DEVICES_COME_FREE,
        "It fits once claims that nobody uses give their devices back; nobody makes way.",
    ),
    (
        sentences.STILL_LEAVING,
        "Victims of an earlier preemption are still on their way out; the nominations stand and nobody "
        "else makes way.",
    ),
    (
        sentences.tree_is_incomplete(GROUP, "CompositePodGroup/ml/tree"),
        "PodGroup/ml/train is part of a tree that is not complete: CompositePodGroup/ml/tree does not "
        "exist, or is too far up.",
    ),
    (sentences.has_too_few_pods(GROUP, 1, 3), "PodGroup/ml/train has 1 pod and needs 3 at once."),
    (
        sentences.has_too_few_ready_groups("CompositePodGroup/ml/tree", 2, 3),
        "CompositePodGroup/ml/tree has 2 groups below it, and 3 must have the pods they need.",
    ),
    (
        sentences.fits_without_evictions(GROUP),
        "PodGroup/ml/train finds room without evicting anybody, if its pods go where the plan puts them.",
    ),
    (
        sentences.fits_once_others_made_way(GROUP, 1, 2, 3),
        "PodGroup/ml/train fits once 1 unit (2 pods) on 3 nodes made way.",
    ),
    (sentences.nobody_above_is_touched(5), "Nobody with a priority above 5 is touched."),
    (sentences.without_preemption("0/1 nodes."), "Without preemption: 0/1 nodes."),
    (sentences.without_preemption_in_tree("unschedulable"), "Without preemption: unschedulable."),
    (
        sentences.short_without_preemption(1, 4, 0, 4),
        "Without preemption 1 of 4 pods would find a node before one finds none; 4 must run at once.",
    ),
    (
        sentences.short_without_preemption(1, 4, 1, 4),
        "Without preemption 1 of 4 pods would find a node before one finds none, next to 1 that is there "
        "already; 4 must run at once.",
    ),
    (
        sentences.short_without_preemption(1, 4, 2, 4),
        "Without preemption 1 of 4 pods would find a node before one finds none, next to 2 that are there "
        "already; 4 must run at once.",
    ),
    (
        sentences.least_cost_search("no plan is cheaper"),
        "The search for the least cost: no plan is cheaper.",
    ),
    (sentences.evicted("too big", 1, 0, last_to_go=False), "too big"),
    (
        sentences.evicted("too big", 3, 1, last_to_go=True),
        "too big; its 3 pods go together; everything more important there was put back first; 1 pod beyond "
        "a disruption budget, for want of a way around it",
    ),
    (
        sentences.node_would_be_short("n1", "cpu", 1500, "ml/a", 0),
        "if it stayed, n1 would be 1500m cpu short for ml/a",
    ),
    (
        sentences.node_would_be_short("n1", "pods", 1, "ml/a", 2),
        "if it stayed, n1 would be a pod slot short for ml/a and 2 more",
    ),
    (
        sentences.filters_would_refuse("n1"),
        "next to it the preemptor's pods would not pass the filters on n1",
    ),
    (sentences.filters_would_refuse(""), "next to it the preemptor's pods would not pass the filters"),
    (sentences.holds_devices(["d/p/g"]), "it holds d/p/g, which the preemptor gets"),
    (
        sentences.holds_devices_of_the_pool(["d/p/1", "d/p/2", "d/p/3", "d/p/4"]),
        "it holds d/p/1, d/p/2, d/p/3 and 1 more of the pool that serves the preemptor",
    ),
    (
        sentences.uses_claim_for_one_pod("ml/data", "ml/p"),
        "it uses the claim ml/data, which only one pod may use (ReadWriteOncePod), for ml/p",
    ),
    (
        sentences.holds_disk("disk-1", "ml/p", "n1"),
        "it holds the disk disk-1, which ml/p cannot share with it on n1",
    ),
    (
        sentences.frees_volume_slots(2, "csi.example.com", "n1", "ml/p"),
        "evicting it frees 2 slots of csi.example.com on n1 for ml/p",
    ),
    (sentences.reprieved("n1", breaks_budget=False), "fits on n1 next to the preemptor's pods"),
    (
        sentences.reprieved("n1", breaks_budget=True),
        "fits on n1 next to the preemptor's pods; evicting it would break a disruption budget, so it was put "
        "back first",
    ),
    (
        sentences.budget_use("ml/b", 1, 1, 0),
        "ml/b allows 1 of its pods to be disrupted; the plan takes 1.",
    ),
    (
        sentences.budget_use("ml/b", -1, 2, 3),
        "ml/b allows -1 of its pods to be disrupted; the plan takes 2, 2 too many and spares 3.",
    ),
    (
        sentences.gang_lacks_nodes(1, 1, 2, 1, 2),
        "Even with 1 unit of lower priority gone, 1 of 2 pods would find a node; 1 more must, to run 2 at "
        "once.",
    ),
    (
        sentences.gang_lacks_nodes(0, 1, 2, 1, 2),
        "1 of 2 pods would find a node; 1 more must, to run 2 at once.",
    ),
    (
        sentences.tree_lacks_nodes(2, 1, 3),
        "Even with 2 units of lower priority gone, 1 of 3 pods would find a node, too few for the groups "
        "above them to be complete.",
    ),
    (sentences.first_pod_without_a_node("ml/p"), "The first pod without a node is ml/p."),
    (sentences.NO_NODE_ADMITS_ITS_PODS, "No node admits its pods, however empty it is."),
    (
        sentences.asks_for_more_than_can_be_free("cpu", 4000, 3000, 1),
        "Together its pods ask for 4 cpu; at most 3 can be free on 1 node that would take them.",
    ),
    (
        sentences.ROOM_ONLY_WHERE_A_LEADER_RUNS,
        "There is room only where a leader runs, and a member of its group may not go yet "
        "(reprieve.dev/min-runtime).",
    ),
    (sentences.CLAIMS_ARE_THE_PROBLEM, "That is about its claims: no eviction would help."),
    (
        sentences.volume_is_out_of_reach(1),
        "On 1 node a volume of one of its claims cannot be reached from there: no eviction would help there.",
    ),
    (
        sentences.no_volume_fits(2),
        "On 2 nodes no free volume fits its claims, and none can be made there: no eviction would help "
        "there.",
    ),
    (
        sentences.storage_is_too_small(2),
        "On 2 nodes the storage that the driver reports there is too small for its claims: no eviction would "
        "help there.",
    ),
    (
        sentences.volume_does_not_exist(2),
        "On 2 nodes one of its claims is bound to a volume that does not exist: no eviction would help "
        "there.",
    ),
    (
        sentences.volume_is_in_another_zone(2),
        "On 2 nodes a volume of one of its claims is in another zone: no eviction would help there.",
    ),
    (
        sentences.no_domain_is_enough(RACK, 2, "r2", 3, 4),
        "None of the 2 racks is enough: rack r2 comes closest, with 3 of 4 slots.",
    ),
    (sentences.goes_to_domain(RACK, "r1"), "It goes to rack r1."),
    (sentences.goes_to_domain("kubernetes.io/hostname", "n1"), "It goes to node n1."),
    (sentences.goes_to_domain("example.test/gpu-rack", "r1"), "It goes to rack r1."),
    (
        sentences.next_best_domain(RACK, "r2", 2, None),
        "The rack r2 is next best: it would need 2 more evictions.",
    ),
    (
        sentences.next_best_domain(RACK, "r2", 0, 50),
        "The rack r2 is next best: it would need as many evictions, up to priority 50.",
    ),
    (
        sentences.next_best_domain(RACK, "r2", -1, 50),
        "The rack r2 is next best: it would need 1 fewer eviction, up to priority 50.",
    ),
    (sentences.domain_needs_as_many(RACK, "r2"), "The rack r2 would need as many evictions."),
    (
        sentences.domain_is_cheaper_but_too_small(RACK, "r7", 3, 3, 4),
        "The rack r7 would need 3 fewer evictions but has 3 of 4 slots.",
    ),
    (sentences.AS_KUBE_SCHEDULER, "as kube-scheduler 1.37 decides"),
    (sentences.AS_KEP_5710, "as KEP-5710 decides"),
    (sentences.AT_THE_LEAST_COST, "at the least cost (minimal-cost)"),
    (sentences.with_only_the_pods_it_needs(1), "with only the 1 pod it needs to start"),
    (sentences.on_node("n1"), "on node n1"),
    (sentences.CHEAPEST, "no plan is cheaper"),
    (
        sentences.NOT_PROVEN_FOR_DEVICES,
        "not proven: the search does not reach into devices, and the victims are those of kep-5710",
    ),
    (
        sentences.fewer_violations_possible(0, 2, relaxed=False),
        "a plan with 0 instead of 2 budget violations is not ruled out",
    ),
    (sentences.no_victims_possible(relaxed=False), "a plan without victims is not ruled out"),
    (
        sentences.lower_victims_possible(5, relaxed=False),
        "a plan with no victim above priority 5 is not ruled out",
    ),
    (sentences.at_most_from_the_optimum(5, relaxed=False), "at most 0.05 % from the optimum"),
    (
        sentences.at_most_from_the_optimum(1250, relaxed=True),
        "at most 12.50 % from the optimum; the bound leaves rules between pods on different nodes out",
    ),
]


@pytest.mark.parametrize(("said", "text"), ROWS, ids=[text for _, text in ROWS])
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
