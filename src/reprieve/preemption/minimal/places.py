"""Which waiting pod goes to which node: an answer only counts pods of a class."""

from dataclasses import replace

import numpy as np

from reprieve.preemption.minimal.problem import Answer, Problem
from reprieve.preemption.minimal.translation import Translation


def places(translation: Translation, answer: Answer, nominated: dict[int, int]) -> list[tuple[int, int, int]]:
    """(class, node, pod): pods in queue order on nodes in the scheduler's order.

    A pod with a nominated node gets it if any pod goes there, and is placed first: until then the capacity of
    that node is kept from the others.
    """
    found = []
    for number, rows in enumerate(translation.classes):
        nodes = np.repeat(np.arange(translation.problem.nodes), answer.placed[number]).tolist()
        kept = {}
        for row in rows:
            node = translation.node(nominated[row]) if row in nominated else None
            if node in nodes:
                nodes.remove(node)
                kept[row] = node
        others = zip(nodes, (row for row in rows if row not in kept), strict=False)
        found += [
            (number, node, row) for node, row in [*((node, row) for row, node in kept.items()), *others]
        ]
    return sorted(found, key=lambda each: (each[2] not in nominated, each[2]))


def without_place(problem: Problem, cls: int, node: int) -> Problem:
    """The problem without any place for the class on the node."""
    most = problem.most.copy()
    most[cls, node] = 0
    return replace(problem, most=most)
