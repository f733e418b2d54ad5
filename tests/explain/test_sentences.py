"""The text of every sentence that `explain` says: the only place in its tests where our English stands."""

import pytest

from reprieve.explain.sentences import advice, answers, changes
from tests.catalogues import without_a_row

ROWS = [
    # any object
    (answers.there_is_no("Job", "ml/a"), "There is no Job ml/a."),
    (answers.did_you_mean(["Pod/ml/a", "Job/ml/a"]), "Did you mean Pod/ml/a or Job/ml/a?"),
    (answers.about("ml/a", "It fits now."), "ml/a: It fits now."),
    # pods
    (answers.no_such_pod("ml/a"), "There is no pod ml/a, and no record or event tells of it."),
    (
        answers.pod_was_preempted("ml/a", "PodGroup/ml/train", "lowest priority"),
        "Pod ml/a is gone: it was preempted by PodGroup/ml/train (lowest priority).",
    ),
    (
        answers.pod_was_preempted("ml/a", "PodGroup/ml/train", ""),
        "Pod ml/a is gone: it was preempted by PodGroup/ml/train.",
    ),
    (
        answers.pod_was_preempted("ml/a", "", "lowest priority"),
        "Pod ml/a is gone: it was preempted: lowest priority.",
    ),
    (answers.pod_was_preempted("ml/a", "", ""), "Pod ml/a is gone: it was preempted."),
    (answers.pod_has_ended("ml/a", "Failed"), "Pod ml/a has ended: Failed."),
    (
        answers.pod_leaves_preempted("ml/a", "Pod/ml/b", "lowest priority"),
        "Pod ml/a is leaving: it was preempted by Pod/ml/b (lowest priority).",
    ),
    (
        answers.pod_leaves_deleted("ml/a"),
        "Pod ml/a is leaving: somebody deleted it; it was not preempted.",
    ),
    (answers.pod_runs("ml/a", "n"), "Pod ml/a runs on node n."),
    (
        answers.pod_waits("ml/a", "0/1 nodes are available"),
        "Pod ml/a waits: 0/1 nodes are available",
    ),
    (answers.held_by_gates(["x"]), "it is held by the scheduling gate x."),
    (answers.held_by_gates(["x", "y"]), "it is held by the scheduling gates x, y."),
    (
        answers.pod_waits_for_victims("ml/a", "n"),
        "Pod ml/a waits for its place on node n: victims there are still leaving.",
    ),
    (answers.belongs_to_group("ml/train"), "It belongs to PodGroup ml/train."),
    (
        answers.earlier_pod_preempted("Pod/ml/b", "lowest priority"),
        "An earlier pod of this name was preempted by Pod/ml/b (lowest priority).",
    ),
    (
        answers.waits_for_missing_group("ml/train"),
        "PodGroup ml/train, which does not exist or may not be seen",
    ),
    (
        answers.waits_for_other_scheduler("volcano"),
        "the scheduler volcano, which is not Reprieve's: whether it will place the pod cannot be said here",
    ),
    (
        answers.waits_for_pod_to_leave("ml/low", "n", "2026-11-15T20:59:00Z"),
        "ml/low to leave n (asked at 2026-11-15T20:59:00Z)",
    ),
    (answers.waits_for_more_pods(1), "1 more pod to leave"),
    (answers.waits_for_more_pods(2), "2 more pods to leave"),
    # groups and trees of groups
    (answers.no_such_group("ml/train"), "There is no pod group ml/train, and no pod names it."),
    (
        answers.group_was_preempted("ml/train", "Pod/ml/b", "why"),
        "PodGroup ml/train is gone: it was preempted by Pod/ml/b (why).",
    ),
    (
        answers.group_waits("ml/train", 1, 1, 1, 0),
        "PodGroup ml/train waits with 1 of 1 pod, 1 at once needed.",
    ),
    (
        answers.group_waits("ml/train", 2, 3, 0, 2),
        "PodGroup ml/train waits with 2 of 3 pods; 2 more are leaving.",
    ),
    (
        answers.group_runs("ml/train", 1, 2, 1),
        "PodGroup ml/train runs with 1 pod, 2 at once needed; 1 more is leaving.",
    ),
    (answers.group_runs("ml/train", 2, 0, 0), "PodGroup ml/train runs with 2 pods."),
    (
        answers.group_leaves_preempted("ml/train", 2, "PodGroup/ml/big", "why"),
        "PodGroup ml/train is leaving with 2 pods: it was preempted by PodGroup/ml/big (why).",
    ),
    (
        answers.group_leaves_deleted("ml/train", 1),
        "PodGroup ml/train is leaving with 1 pod: somebody deleted it; it was not preempted.",
    ),
    (answers.group_has_ended("ml/train", 1), "PodGroup ml/train has ended: 1 pod is done."),
    (answers.group_has_ended("ml/train", 2), "PodGroup ml/train has ended: 2 pods are done."),
    (answers.group_has_no_pods("ml/train", 0), "PodGroup ml/train has no pods."),
    (answers.group_has_no_pods("ml/train", 3), "PodGroup ml/train has no pods, 3 at once needed."),
    (answers.it_was_preempted("Pod/ml/b", "why"), "It was preempted by Pod/ml/b (why)."),
    (
        answers.placed_with_tree("tree"),
        "It waits and is placed with the tree of CompositePodGroup tree.",
    ),
    (
        answers.tree_has_nodes_for("CompositePodGroup/ml/tree", 0, 4, 2),
        "CompositePodGroup/ml/tree: 0 of 4 pods in 2 groups below it have a node.",
    ),
    (
        answers.tree_has_nodes_for("CompositePodGroup/ml/tree", 1, 1, 1),
        "CompositePodGroup/ml/tree: 1 of 1 pod in 1 group below it have a node.",
    ),
    (
        answers.no_such_tree("CompositePodGroup/ml/tree"),
        "CompositePodGroup/ml/tree does not exist, or may not be seen.",
    ),
    # what creates pods
    (
        answers.owner_has_pods("Job", "ml/a", running=1, wanted=1, waiting=0, leaving=0, done=0),
        "Job ml/a: 1 pod runs.",
    ),
    (
        answers.owner_has_pods("Job", "ml/a", running=0, wanted=1, waiting=2, leaving=0, done=0),
        "Job ml/a: 0 of 1 pod runs, 2 wait.",
    ),
    (
        answers.owner_has_pods("Job", "ml/a", running=1, wanted=4, waiting=1, leaving=1, done=1),
        "Job ml/a: 1 of 4 pods run, 1 waits, 1 is leaving, 1 is done.",
    ),
    (
        answers.owner_has_pods("Job", "ml/a", running=0, wanted=0, waiting=0, leaving=2, done=2),
        "Job ml/a: 0 pods run, 2 are leaving, 2 are done.",
    ),
    (
        answers.owner_has_ended("Job", "ml/a", "Failed", "BackoffLimitExceeded"),
        "Job ml/a has ended: Failed. BackoffLimitExceeded",
    ),
    (answers.owner_has_ended("Job", "ml/a", "Complete", ""), "Job ml/a has ended: Complete."),
    (
        answers.owner_without_workload("Job", "ml/a", "main"),
        "Job ml/a waits for quota in LocalQueue main, but has no Workload: no quota controller "
        "has seen it. Is one running (reprieve run --controllers quota)?",
    ),
    (
        answers.owner_is_suspended("Job", "ml/a", "spec.suspend"),
        "Job ml/a is suspended (spec.suspend: true), and nothing but a change of that field starts it.",
    ),
    (
        answers.owner_is_scheduled("CronJob", "ml/a", "0 3 * * *"),
        "CronJob ml/a has no pods now; its schedule is 0 3 * * *.",
    ),
    (
        answers.owner_is_scheduled("CronJob", "ml/a", ""),
        "CronJob ml/a has no pods now; its schedule is missing.",
    ),
    (
        answers.owner_wants_no_pods("Job", "ml/a"),
        "Job ml/a wants no pods (replicas or parallelism is 0).",
    ),
    (
        answers.owner_has_no_pods("Job", "ml/a"),
        "Job ml/a has no pods here: no controller has created any, or they are not among the objects.",
    ),
    (answers.pods_wait_for(["ml/a"], "0/1 nodes."), "1 pod (ml/a): 0/1 nodes."),
    (
        answers.pods_wait_for(["a", "b", "c", "d", "e", "f"], "0/1 nodes."),
        "6 pods (a, b, c, d, e and 1 more): 0/1 nodes.",
    ),
    (answers.causes_not_shown(1), "1 more cause not shown."),
    (answers.causes_not_shown(2), "2 more causes not shown."),
    # workloads
    (answers.workload_named("ml/w"), "Workload ml/w"),
    (answers.owner_with_workload("Job", "ml/a", "ml/w"), "Job ml/a (Workload ml/w)"),
    (answers.no_such_workload("ml/w"), "There is no workload ml/w."),
    (answers.workload_is_gone("ml/w"), "Workload ml/w is gone."),
    (
        answers.workload_has_finished("Workload ml/w", "Succeeded"),
        "Workload ml/w has finished: Succeeded",
    ),
    (
        answers.workload_is_evicted("Workload ml/w", "Preempted"),
        "Workload ml/w is being evicted: Preempted",
    ),
    (
        answers.workload_is_admitted("Workload ml/w", "cq", ""),
        "Workload ml/w is admitted in ClusterQueue cq.",
    ),
    (
        answers.workload_is_admitted("Workload ml/w", "cq", "east"),
        "Workload ml/w is admitted in ClusterQueue cq and runs on worker east.",
    ),
    (
        answers.workload_waits_for_checks("Workload ml/w", "cq"),
        "Workload ml/w has its quota in ClusterQueue cq and waits for its admission checks.",
    ),
    (
        answers.workload_is_inactive("Workload ml/w"),
        "Workload ml/w is deactivated (spec.active: false).",
    ),
    (answers.workload_waits_for_quota("Workload ml/w", "why"), "Workload ml/w waits for quota: why"),
    (answers.waits_for_gate("why"), "its preemption gate: why"),
    (answers.waits_for_check("budget", "Pending", ""), "admission check budget: Pending"),
    (
        answers.waits_for_check("budget", "Pending", "asking"),
        "admission check budget: Pending (asking)",
    ),
    (
        answers.has_quota_but("no node could ever hold a pod"),
        "It has quota, but no node could ever hold a pod.",
    ),
    (
        answers.given_to_worker("east"),
        "It was given to worker east: its pods are in that cluster, and so is the rest of the answer.",
    ),
    (
        answers.offered_to_workers(["east", "west"]),
        "It was offered to east, west; the first worker with quota for it gets it.",
    ),
    # queues
    (
        answers.queue_is_active("ClusterQueue", "cq", 0, 1),
        "ClusterQueue cq is active; no workload holds quota, 1 workload waits.",
    ),
    (
        answers.queue_is_active("ClusterQueue", "cq", 1, 2),
        "ClusterQueue cq is active; 1 workload holds quota, 2 workloads wait.",
    ),
    (
        answers.queue_is_active("ClusterQueue", "cq", 2, 0),
        "ClusterQueue cq is active; 2 workloads hold quota, no workload waits.",
    ),
    (
        answers.queue_is_stopped("LocalQueue", "ml/main", "stopPolicy is Hold", 0, 1),
        "LocalQueue ml/main admits nothing: stopPolicy is Hold; no workload holds quota, 1 workload waits.",
    ),
    (answers.stop_policy_is("Hold"), "stopPolicy is Hold"),
    (answers.no_cluster_queue("cq"), "ClusterQueue cq does not exist"),
    (answers.cluster_queue_stopped("cq", "why"), "its ClusterQueue cq: why"),
    (answers.more_wait_behind(1), "Behind these 1 workload waits."),
    (answers.more_wait_behind(2), "Behind these 2 workloads wait."),
    (answers.usage_unknown("why"), "Its usage cannot be worked out: why"),
    (answers.quota_used("cpu", "default", "3", "4", "0", "0"), "cpu in flavor default: 3 of 4 used"),
    (
        answers.quota_used("cpu", "default", "3", "4", "1", "2"),
        "cpu in flavor default: 3 of 4 used, 1 borrowed, 2 lent",
    ),
    # nodes
    (answers.no_such_node("n"), "There is no node n."),
    (answers.node_runs("n", 0, 0, 0), "Node n runs no pod."),
    (answers.node_runs("n", 1, 1, 0), "Node n runs 1 pod, 1 of which is leaving."),
    (
        answers.node_runs("n", 2, 2, 1),
        "Node n runs 2 pods, 2 of which are leaving; 1 more is nominated to it.",
    ),
    (answers.node_runs("n", 0, 0, 2), "Node n runs no pod; 2 more are nominated to it."),
    (answers.node_is_not_ready(""), "It is not ready: no reason given"),
    (answers.node_is_not_ready("kubelet stopped"), "It is not ready: kubelet stopped"),
    (answers.nominated_to_node("ml/a"), "ml/a is nominated to it."),
    # evictions
    (
        answers.evicted_by("Pod/ml/a", "2026-11-15T20:59:00Z", ["n"], "why"),
        "Pod/ml/a at 2026-11-15T20:59:00Z on n: why",
    ),
    (answers.evicted_by("", "", [], ""), "somebody"),
    (answers.evicted(["ml/a", "ml/b"], "", ["m", "n"], ""), "ml/a, ml/b on m, n"),
    (
        answers.evicted(["a", "b", "c", "d", "e", "f"], "", ["1", "2", "3", "4", "5", "6"], "why"),
        "a, b, c, d, e and 1 more pods on 1, 2, 3, 4, 5 and 1 more nodes: why",
    ),
    (
        answers.evicted_for(["ml/a"], "Pod/ml/b", "2026-11-15T20:59:00Z", [], "why"),
        "ml/a for Pod/ml/b at 2026-11-15T20:59:00Z: why",
    ),
    (
        answers.eviction_cost({"units": 1, "pods": 2, "groups": 0, "unknown": 1}),
        "cost: 1 unit, 2 pods",
    ),
    (
        answers.eviction_cost(
            {"budgetViolations": 1, "groups": 2, "highestPriority": 10, "lostPodSeconds": 7.5},
        ),
        "cost: 1 broken budget, 2 disrupted groups, highest priority 10, 7.5 lost pod seconds",
    ),
    (answers.eviction_cost({}), ""),
    (
        answers.instead("on node m: Pod/ml/y would make way"),
        "instead: on node m: Pod/ml/y would make way",
    ),
    (
        answers.alternative("on node m", ["Pod/ml/x", "Pod/ml/y"]),
        "on node m: Pod/ml/x, Pod/ml/y would make way",
    ),
    (answers.alternative("", []), "otherwise: nobody would have to go"),
    (
        answers.evicted_due_to("prioritization in the ClusterQueue"),
        "due to prioritization in the ClusterQueue",
    ),
    (answers.reason_and_message("InCohort", "why"), "InCohort: why"),
    (answers.reason_and_message("", "why"), "why"),
    (answers.reason_and_message("InCohort", ""), "InCohort"),
    # kube-scheduler's messages in plain words
    (
        answers.too_few_at_once(4, 0, 3),
        "4 pods must run at once (minCount), but no pod found a node before one found none, and "
        "3 pods were not tried any more",
    ),
    (
        answers.too_few_at_once(2, 1, 0),
        "2 pods must run at once (minCount), but 1 pod found a node before one found none",
    ),
    (
        answers.too_few_at_once(1, 2, 1),
        "1 pod must run at once (minCount), but 2 pods found a node before one found none, and 1 "
        "pod was not tried any more",
    ),
    # when it starts
    (answers.start_cannot_be_said("why"), "When it starts cannot be said: why."),
    (answers.ask_when_it_starts("Pod/ml/a"), "When it starts: ask `reprieve when Pod/ml/a`."),
    # what the reader may not see
    (answers.may_not_list("pods", ""), "pods of the whole cluster: you may not list them"),
    (answers.may_not_list("pods", "ml"), "pods in namespace ml: you may not list them"),
    (
        answers.may_not_list_jobs(["jobs", "cronjobs"]),
        "jobs, cronjobs of the whole cluster: you may not list them, nor know how long they run",
    ),
    (
        answers.may_not_read_decisions(1),
        "decisions about pods in 1 namespace: you may not read pods there",
    ),
    (
        answers.may_not_read_decisions(5),
        "decisions about pods in 5 namespaces: you may not read pods there",
    ),
    # advice
    (advice.fits_now([]), "It fits now; the next cycle places it."),
    (
        advice.fits_now(["a", "b", "c", "d"]),
        "It fits now (on a, b, c and 1 more); the next cycle places it.",
    ),
    (
        advice.preemption_would_help(["a", "b", "c", "d"]),
        "A preemption would make room: a, b, c and 1 more would make way.",
    ),
    (advice.why_victim("ml/a", "it holds the disk disk-1"), "ml/a: it holds the disk disk-1."),
    (
        advice.workload_is_admitted("ml/w"),
        "Workload ml/w is admitted: the quota controller releases its pods.",
    ),
    (advice.waits_for_workload("ml/w"), "It waits for Workload ml/w; what would help that:"),
    (advice.no_plan("why"), "No plan can be made from what is visible: why"),
    (
        advice.remedy(["free 1 more cpu on node n"], "it fits on n"),
        "Free 1 more cpu on node n: then it fits on n.",
    ),
    (
        advice.remedy(["create PodGroup ml/g", "free 1 more cpu on node n"], "it fits on n"),
        "All of this together: create PodGroup ml/g; free 1 more cpu on node n. Then it fits on n.",
    ),
    (advice.it_fits([], []), "it fits"),
    (
        advice.it_fits(["n"], ["a", "b", "c", "d"]),
        "it fits on n, and a, b, c and 1 more would make way",
    ),
    (advice.its_pods_fit(["a", "b", "c", "d"], []), "its pods fit on a, b, c and 1 more"),
    (advice.gets_quota([]), "it gets its quota"),
    (advice.gets_quota(["jobs/big"]), "it gets its quota, and jobs/big would make way"),
    # what stands in the way
    (
        advice.no_node_has_label("gpu", "a100"),
        "No node has the label gpu=a100, for which spec.nodeSelector asks.",
    ),
    (
        advice.only_others_have("4", "nvidia.com/gpu", ["a"]),
        "It asks for 4 nvidia.com/gpu, and no node that would take it has any; a has, and would not take it.",
    ),
    (
        advice.only_others_have("4", "nvidia.com/gpu", ["a", "b", "c", "d"]),
        "It asks for 4 nvidia.com/gpu, and no node that would take it has any; a, b, c and 1 "
        "more have, and would not take it.",
    ),
    (
        advice.no_node_has("1", "nvidia.com/gpus", ["cpu", "nvidia.com/gpu"]),
        "It asks for 1 nvidia.com/gpus, and no node that would take it has any; did you mean "
        "'nvidia.com/gpu'?",
    ),
    (
        advice.no_node_has("1", "nvidia.com/gpus", []),
        "It asks for 1 nvidia.com/gpus, and no node that would take it has any.",
    ),
    (
        advice.no_node_is_large_enough("64", "cpu", "2", "n"),
        "It asks for 64 cpu, and no node that would take it has more than 2 (n).",
    ),
    (
        advice.no_node_is_free_enough("2", "cpu", "1", "n"),
        "It needs 2 cpu free on one node; the most there is now is 1 (n).",
    ),
    (
        advice.never_enough_quota("main", "cpu", "16", "", "team", {"default": "4"}),
        "Pod set main asks for 16 cpu; ClusterQueue team can never have more than 4 in flavor "
        "default, with all that it may borrow: to wait is in vain.",
    ),
    (
        advice.never_enough_quota("second", "cpu", "3", "2", "team", {"a": "4", "b": "2"}),
        "Pod set second asks for 3 cpu, and those before it for 2; ClusterQueue team can never "
        "have more than 4 in flavor a and 2 in flavor b, with all that it may borrow: to wait is "
        "in vain.",
    ),
    (
        advice.quota_held_by([(1000, "jobs/big")]),
        "The quota that it lacks is held by jobs/big (priority 1000).",
    ),
    (
        advice.quota_held_by([(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, "f")]),
        "The quota that it lacks is held by a (priority 1), b (priority 2), c (priority 3), d "
        "(priority 4), e (priority 5) and 1 more.",
    ),
    (advice.no_such_workload("ml/w"), "there is no Workload ml/w"),
    # changes of nodes
    (changes.label_node("n", {"a": "1", "b": "2"}, []), "label node n with a=1, b=2"),
    (
        changes.label_node("n", {"a": "1"}, ["b", "c"]),
        "label node n with a=1 and take the label b, c off node n",
    ),
    (changes.uncordon("n"), "make node n schedulable again (kubectl uncordon n)"),
    (changes.remove_taints("n", ["a", "b"]), "bring node n back into service (taint a, b)"),
    (
        changes.free_on_node("n", {"cpu": "1", "memory": "1Gi", "pods": "1"}),
        "free 1 more cpu, 1Gi more memory and 1 more pod slot on node n",
    ),
    (changes.free_on_node("n", {"pods": "2"}), "free 2 more pod slots on node n"),
    (changes.add_nodes(1, {"cpu": "1", "pods": "1"}, {}), "add a node with 1 cpu free"),
    (
        changes.add_nodes(2, {"pods": "1"}, {"a": "1"}),
        "add 2 nodes with a pod slot free each, labelled a=1",
    ),
    # changes of other pods
    (changes.end_pods(["ml/a"], "", False), "wait until ml/a ends, or stop it"),
    (
        changes.end_pods(["a", "b", "c", "d"], "why", False),
        "wait until a, b, c and 1 more end, or stop them (why)",
    ),
    (changes.end_pods(["ml/a"], "why", True), "wait until ml/a ends (why)"),
    (changes.ports_in_use(["80", "81"], "n"), "host port 80, 81 of node n is in use there"),
    (changes.node_kept_for_them("n"), "node n is kept for them"),
    (changes.devices_held(1, "n"), "it holds devices that it needs on node n"),
    (changes.devices_held(2, "n"), "they hold devices that it needs on node n"),
    (changes.no_more_volumes("n", ["a", "b"]), "node n can have no more volumes of a and b"),
    (changes.start_pod("ml", {}, "n"), "start a pod in namespace ml on node n"),
    (
        changes.start_pod("ml", {"app": "cache"}, "n"),
        "start a pod labelled app=cache in namespace ml on node n",
    ),
    (
        changes.end_protection("Pod/ml/low"),
        "wait until the minimum run time of Pod/ml/low is over (reprieve.dev/min-runtime)",
    ),
    # changes of its own pods
    (
        changes.tolerate("Pod/ml/p", [{"key": "dedicated", "value": "team", "effect": "NoSchedule"}]),
        "add a toleration for dedicated=team:NoSchedule to the pod",
    ),
    (
        changes.tolerate(
            "Workload/ml/w",
            [{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoSchedule"}],
        ),
        "add tolerations for a:NoExecute and b:NoSchedule to its pod template",
    ),
    (changes.drop_host_ports("PodGroup/ml/g"), "do without hostPort in its pods"),
    (
        changes.drop_affinity("Pod/ml/p", "affinity.podAffinity.required"),
        "do without spec.affinity.podAffinity.required in the pod",
    ),
    (
        changes.drop_keys("Pod/ml/p", "nodeSelector", ["a", "b"]),
        "do without a, b in spec.nodeSelector of the pod",
    ),
    (
        changes.drop_keys("Pod/ml/p", "topologySpreadConstraints", []),
        "do without all in spec.topologySpreadConstraints of the pod",
    ),
    (
        changes.allow_skew("Pod/ml/p", "zone", 2),
        "raise maxSkew to 2 in the spread constraint over zone of the pod",
    ),
    (changes.ask_for_less("Pod/ml/p", "cpu", "2"), "ask for at most 2 cpu in the pod"),
    (changes.ask_for_less("Pod/ml/p", "cpu", "0"), "do without cpu in the pod"),
    (changes.set_priority(51), "give it a priority above 50"),
    (changes.allow_preemption("Pod/ml/p"), "set preemptionPolicy: PreemptLowerPriority in the pod"),
    (changes.use_scheduler("Pod/ml/p", "reprieve"), "set schedulerName: reprieve in the pod"),
    (changes.remove_gates(["x"]), "have the scheduling gate x removed by whoever put it there"),
    (
        changes.remove_gates(["x", "y"]),
        "have the scheduling gates x, y removed by whoever put it there",
    ),
    # changes of groups and trees of groups
    (changes.create_group("ml/g"), "create PodGroup ml/g, which spec.schedulingGroup names"),
    (changes.create_pods("ml/g", 1), "create 1 more pod of PodGroup ml/g"),
    (changes.create_pods("ml/g", 2), "create 2 more pods of PodGroup ml/g"),
    (changes.lower_min_count("ml/g", 2), "lower minCount of PodGroup ml/g to 2"),
    (
        changes.same_for_all("ml/g", "priority", 7),
        "give all pods of PodGroup ml/g the same priority: 7",
    ),
    (changes.lower_min_group_count("ml/t", 1), "lower minGroupCount of CompositePodGroup ml/t to 1"),
    (
        changes.drop_topology("PodGroup", "ml/g", "rack"),
        "do without rack in spec.schedulingConstraints.topology of PodGroup ml/g",
    ),
    (
        changes.create_composite("ml/t"),
        "create CompositePodGroup ml/t, which parentCompositePodGroupName names",
    ),
    # changes of queues
    (
        changes.name_queue("main"),
        "name the LocalQueue main in the label kueue.x-k8s.io/queue-name of its job",
    ),
    (changes.create_local_queue("ml/main", "cq"), "create LocalQueue ml/main with clusterQueue: cq"),
    (changes.create_cluster_queue("cq"), "create ClusterQueue cq"),
    (changes.resume("ClusterQueue/cq"), "set stopPolicy: None in ClusterQueue/cq"),
    (changes.create_flavors(["a", "b", "c"]), "create ResourceFlavor a, b and c"),
    (changes.create_checks(["a", "b"]), "create AdmissionCheck a and b and run its controller"),
    (changes.activate_checks(["a"]), "run the controller of AdmissionCheck a, which is not Active"),
    (changes.break_cycle("a"), "take parentName out of Cohort a, which ends the circle of parents"),
    (changes.correct_queue("cq", "why"), "correct ClusterQueue cq (why)"),
    (
        changes.raise_quota("cq", "default", "cpu", "4", "7"),
        "raise nominalQuota of cpu in flavor default of ClusterQueue cq from 4 to 7",
    ),
    (
        changes.cover_resource("cq", "default", "cpu", "4"),
        "cover cpu in ClusterQueue cq: nominalQuota 4 in flavor default",
    ),
    (changes.label_namespace("ml", {"a": "1"}), "label namespace ml with a=1"),
    (
        changes.select_namespace("cq", "ml"),
        "let namespaceSelector of ClusterQueue cq match namespace ml",
    ),
    # changes of workloads
    (changes.end_workloads(["a"]), "wait until a ends"),
    (changes.end_workloads(["a", "b", "c", "d"]), "wait until a, b, c and 1 more end"),
    (changes.activate("ml/w"), "set active: true in Workload ml/w"),
    (
        changes.open_gates(["x"]),
        "wait until the preemption gate x opens (on a worker, its manager opens it)",
    ),
    (
        changes.open_gates(["x", "y"]),
        "wait until the preemption gates x and y opens (on a worker, its manager opens it)",
    ),
    (
        changes.ungate("example.test"),
        "have example.test take its annotation kueue.x-k8s.io/admission-gated-by off",
    ),
    (changes.pass_checks(["a", "b"]), "have the controller of AdmissionCheck a and b accept it"),
    (
        changes.wait_until("2026-11-15T20:59:00Z"),
        "wait until 2026-11-15T20:59:00Z (it was evicted, and backs off)",
    ),
    (changes.wait_until(""), "wait until it may be queued again (it was evicted, and backs off)"),
    (changes.add_pod_set("ml/w"), "give Workload ml/w a pod set"),
    (
        changes.fewer_pods("main", 1),
        "run at most 1 pod of pod set main at once (a Job's parallelism)",
    ),
    (
        changes.fewer_pods("main", 2),
        "run at most 2 pods of pod set main at once (a Job's parallelism)",
    ),
    (
        changes.create_priority_class("WorkloadPriorityClass", "high"),
        "create WorkloadPriorityClass high",
    ),
    (changes.keep_to_limits("why"), "correct the requests of its pod template (why)"),
    (answers.NO_SCHEDULER_LOOKED, "no scheduler has looked at it yet"),
    (
        answers.GROUP_OBJECT_MISSING,
        "Pods name this group, but the PodGroup object does not exist (or may not be seen).",
    ),
    (answers.NO_CYCLE_LOOKED, "it has not been looked at yet"),
    (answers.NOT_LOOKED_AT, "not looked at yet"),
    (answers.CONDITION_IS_FALSE, "its condition Active is False"),
    (
        answers.NODE_IS_CORDONED,
        "It is cordoned: nothing new is placed here (kubectl uncordon takes that back).",
    ),
    (
        answers.not_understood("who knows"),
        'Reprieve does not know the message "who knows": what would help comes from the objects alone.',
    ),
    (answers.EVEN_WITH_PREEMPTION, "; even with preemption, "),
    (answers.HIDDEN, "something you may not see"),
    (advice.QUOTA_IS_FREE, "Its quota is free now; the next cycle gives it."),
    (advice.ADMITTED_NEXT, "Only time: it has its quota, and the quota controller admits it next."),
    (
        advice.VICTIMS_ARE_LEAVING,
        "Only time: it is nominated to its nodes and starts when those pods have ended; a "
        "finalizer or a long grace period can delay them.",
    ),
    (
        advice.QUOTA_FIRST,
        "Quota: it is not tried on any node, and preempts nobody, before its Workload is admitted.",
    ),
    (
        advice.BLIND,
        "What would help cannot be said from what you may see: what looks free may be taken. Ask "
        "somebody who may list pods and nodes of the whole cluster.",
    ),
    (advice.HOPELESS, "No change that Reprieve can try on a copy of the cluster would help."),
    (advice.IS_ADMITTED, "it is admitted"),
    (advice.DEACTIVATED, "it is deactivated (spec.active: false)"),
    (changes.FORMER_PODS, "a gang is tried again when its former pods are gone"),
    (changes.KEPT_AWAY_FROM, "spec.affinity.podAntiAffinity keeps it away from them"),
    (changes.KEPT_AWAY_BY, "their podAntiAffinity keeps this pod away"),
    (changes.DISK_NOT_SHARED, "a disk cannot be shared with them"),
    (changes.CLAIM_FOR_ONE_POD, "only one pod may use their claim (ReadWriteOncePod)"),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(answers, __file__)
    assert not without_a_row(advice, __file__)
    assert not without_a_row(changes, __file__)
