"""A loaded state as the reference sees it."""

from reprieve.quota.state import Quota
from reprieve.quota.tree import CohortNode, QuotaNode
from reprieve.quota.workload_info import WorkloadInfo
from tests.reference.quota.tree import Node
from tests.reference.quota.victims import Job, World


def naive_trees(quota: Quota) -> dict[int, Node]:
    """{id of the fast node: its naive twin}"""
    twins: dict[int, Node] = {}
    nodes: list[QuotaNode] = [*quota.cache.forest.cohorts.values(), *quota.cache.queues.values()]
    for node in nodes:
        twin = Node(node.name, weight=node.weight, is_queue=not isinstance(node, CohortNode))
        twin.limits = {key: tuple(limits) for key, limits in node.limits.items()}  # type: ignore[misc]
        twins[id(node)] = twin
    for node in nodes:
        if node.parent is not None:
            twins[id(node)].parent = twins[id(node.parent)]
            twins[id(node.parent)].children.append(twins[id(node)])
    return twins


def naive_job(info: WorkloadInfo, queue: Node) -> Job:
    return Job(
        info.key,
        info.uid,
        info.priority,
        info.queued_at,
        queue,
        dict(info.usage),  # type: ignore[arg-type]
        -info.rank[1],
        info.evicted,
    )


def naive_world(quota: Quota, twins: dict[int, Node]) -> World:
    queues = quota.cache.queues
    jobs = [naive_job(info, twins[id(queues[info.queue])]) for info in quota.cache.workloads.values()]
    policies: dict[str, dict[str, object]] = {
        name: {
            "within": node.within_policy,
            "reclaim": node.reclaim_policy,
            "borrow": node.borrow_policy,
            "threshold": node.borrow_threshold,
        }
        for name, node in queues.items()
    }
    return World([twins[id(node)] for node in queues.values()], jobs, policies)
