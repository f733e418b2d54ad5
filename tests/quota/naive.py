"""A loaded state as the reference sees it."""

from reprieve.quota.claims import Claim
from reprieve.quota.state import Quota
from reprieve.quota.tree import CohortNode
from reprieve.quota.tree import Node as FastNode
from tests.reference.quota.tree import Node
from tests.reference.quota.victims import Job, World


def naive_trees(quota: Quota) -> dict[int, Node]:
    """{id of the fast node: its naive twin}"""
    twins: dict[int, Node] = {}
    nodes: list[FastNode] = [*quota.ledger.forest.cohorts.values(), *quota.ledger.queues.values()]
    for node in nodes:
        twin = Node(node.name, weight=node.weight, is_queue=not isinstance(node, CohortNode))
        twin.limits = {key: tuple(limits) for key, limits in node.limits.items()}  # type: ignore[misc]
        twins[id(node)] = twin
    for node in nodes:
        if node.parent is not None:
            twins[id(node)].parent = twins[id(node.parent)]
            twins[id(node.parent)].children.append(twins[id(node)])
    return twins


def naive_job(claim: Claim, queue: Node) -> Job:
    return Job(
        claim.key,
        claim.uid,
        claim.priority,
        claim.queued_at,
        queue,
        dict(claim.held),  # type: ignore[arg-type]
        -claim.rank[1],
        claim.evicted,
    )


def naive_world(quota: Quota, twins: dict[int, Node]) -> World:
    queues = quota.ledger.queues
    jobs = [naive_job(claim, twins[id(queues[claim.queue])]) for claim in quota.ledger.claims.values()]
    policies = {
        name: {
            "within": node.within_policy,
            "reclaim": node.reclaim_policy,
            "borrow": node.borrow_policy,
            "threshold": node.borrow_threshold,
        }
        for name, node in queues.items()
    }
    return World([twins[id(node)] for node in queues.values()], jobs, policies)
