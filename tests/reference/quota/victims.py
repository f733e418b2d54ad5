"""Victims by the rules, without any index: collect all candidates, sort them, take and give back one at a
time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.reference.quota.tree import Key, Node


@dataclass
class Job:
    """A workload: what it uses or asks for."""

    key: str
    uid: str
    priority: int
    created: float
    queue: Node
    usage: dict[Key, int]
    reserved: float = math.inf
    evicted: bool = False


@dataclass
class World:
    queues: list[Node]
    jobs: list[Job]
    policies: dict[str, dict[str, object]]
    """{queue: {within, reclaim, borrow, threshold}}"""
    out: set[str] = field(default_factory=set)

    def count(self) -> None:
        """Usage of all queues from scratch."""
        for queue in self.queues:
            queue.own_usage = {}
        for job in self.jobs:
            if job.key not in self.out:
                _add(job.queue.own_usage, job.usage)

    def take(self, job: Job) -> None:
        self.out.add(job.key)
        self.count()

    def give_back(self, job: Job) -> None:
        self.out.discard(job.key)
        self.count()


def _add(total: dict[Key, int], more: dict[Key, int]) -> None:
    for key, amount in more.items():
        total[key] = total.get(key, 0) + amount


def satisfies(policy: object, asking: Job, other: Job) -> bool:
    if policy == "LowerPriority":
        return asking.priority > other.priority
    if policy == "LowerOrNewerEqualPriority":
        return asking.priority > other.priority or (
            asking.priority == other.priority and asking.created < other.created
        )
    return policy == "Any"


def order(asking: Job, job: Job) -> tuple[object, ...]:
    return (not job.evicted, job.queue is asking.queue, job.priority, -job.reserved, job.uid)


def fits(asking: Job, request: dict[Key, int], borrowing: bool) -> bool:
    return all(
        (borrowing or not asking.queue.borrows(key, amount)) and amount <= asking.queue.available(key)
        for key, amount in request.items()
    )


def minimal(
    world: World, asking: Job, request: dict[Key, int], taken: list[tuple[Job, str]], borrowing: bool
) -> dict[str, str]:
    kept = list(taken)
    for job, reason in reversed(taken[:-1]):
        world.give_back(job)
        if fits(asking, request, borrowing):
            kept.remove((job, reason))
        else:
            world.take(job)
    world.out.clear()
    world.count()
    return {job.key: reason for job, reason in kept}


def classical(world: World, asking: Job, request: dict[Key, int], short: frozenset[Key]) -> dict[str, str]:
    world.count()
    policy = world.policies[asking.queue.name]
    listed = list(_candidates(world, asking, request, short))
    groups = ("hierarchy", "priority", "own")
    listed.sort(key=lambda each: (not each[0].evicted, groups.index(each[1]), *order(asking, each[0])))
    others = {name for _, name, _ in listed} - {"own"}
    never = policy["borrow"] == "Never"
    under = all(asking.queue.nominal(key) > asking.queue.usage(key) for key in short)
    if not others or (never and not under):
        attempts = [True]
    elif never and "hierarchy" not in others:
        attempts = [False, True]
    else:
        attempts = [True, False]
    for borrowing in attempts:
        taken: list[tuple[Job, str]] = []
        for job, name, watched in listed:
            reason = _reason(policy, asking, job, name)
            if borrowing and name == "priority" and reason == "InCohortReclamation":
                continue
            if any(node.within_nominal(short) for node in watched):
                continue
            world.take(job)
            taken.append((job, reason))
            if fits(asking, request, borrowing):
                return minimal(world, asking, request, taken, borrowing)
        world.out.clear()
        world.count()
    return {}


def _reason(policy: dict[str, object], asking: Job, job: Job, name: str) -> str:
    if name == "own":
        return "InClusterQueue"
    threshold = policy["threshold"]
    protected = job.priority >= asking.priority or (isinstance(threshold, int) and job.priority > threshold)
    if name == "hierarchy" or policy["borrow"] == "Never" or protected:
        return "InCohortReclamation"
    return "InCohortReclaimWhileBorrowing"


def _candidates(
    world: World, asking: Job, request: dict[Key, int], short: frozenset[Key]
) -> Iterator[tuple[Job, str, list[Node]]]:
    """(job, list it is in, nodes that must exceed their quota)"""
    policy = world.policies[asking.queue.name]
    advantage = all(not asking.queue.borrows(key, amount) for key, amount in request.items())
    rest = {key: max(0, amount - asking.queue.local_available(key)) for key, amount in request.items()}
    seen: set[int] = {id(asking.queue)}
    for job in world.jobs:
        if job.queue is asking.queue and satisfies(policy["within"], asking, job) and short & set(job.usage):
            yield job, "own", []
    for ancestor in asking.queue.ancestors():
        for queue in ancestor.queues():
            if id(queue) in seen:
                continue
            seen.add(id(queue))
            path = [queue]
            while path[-1].parent is not ancestor:
                path.append(path[-1].parent)  # type: ignore[arg-type]
            if any(node.within_nominal(short) for node in path):
                continue
            for job in world.jobs:
                if (
                    job.queue is queue
                    and satisfies(policy["reclaim"], asking, job)
                    and short & set(job.usage)
                ):
                    yield job, "hierarchy" if advantage else "priority", path
        advantage = advantage or all(not ancestor.borrows(key, amount) for key, amount in rest.items())
        rest = {key: max(0, amount - ancestor.local_available(key)) for key, amount in rest.items()}
