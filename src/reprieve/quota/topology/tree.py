"""The domains of one topology over one set of nodes, as columns.

Domains of a level are numbered in the order of their paths (compared level by level), so that the number is
the last tie-break of every order, and the children of a domain are neighbours: `first[level][d]` to
`first[level][d + 1]` of the next level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reprieve.objects import Node, well_known

Ints = npt.NDArray[np.int64]
Path = tuple[str, ...]


class Tree:
    """Immutable. A leaf is one host where the lowest level is the hostname, else all nodes of one path."""

    def __init__(self, levels: Sequence[str], nodes: Sequence[Node]) -> None:
        self.levels = tuple(levels)
        self.by_host = bool(levels) and levels[-1] == well_known.HOSTNAME_LABEL
        groups: dict[str, list[Node]] = {}
        paths: dict[str, Path] = {}
        for node in nodes:
            path = tuple(node.metadata.labels[level] for level in self.levels)
            key = path[-1] if self.by_host else ",".join(path)
            paths.setdefault(key, path)
            groups.setdefault(key, []).append(node)
        keys = sorted(paths, key=paths.__getitem__)
        self.leaf_of: dict[str, int] = {key: index for index, key in enumerate(keys)}
        self.nodes: list[list[Node]] = [groups[key] for key in keys]
        self.leaf_of_node = {node.name: leaf for leaf, group in enumerate(self.nodes) for node in group}
        self.paths: list[list[Path]] = [[] for _ in self.levels]
        self.first: list[Ints] = []
        self.parent: list[Ints] = []
        self._build([paths[key] for key in keys])

    def _build(self, leaves: list[Path]) -> None:
        """From the leaves up. Two leaves may have one path only if hosts of one name lie under it."""
        self.paths[-1] = leaves
        first: list[Ints] = []
        parents: list[Ints] = []
        below = leaves
        for level in range(len(self.levels) - 2, -1, -1):
            own: list[Path] = []
            starts: list[int] = []
            parent: list[int] = []
            for index, path in enumerate(below):
                if not own or own[-1] != path[:-1]:
                    own.append(path[:-1])
                    starts.append(index)
                parent.append(len(own) - 1)
            first.append(np.array([*starts, len(below)], dtype=np.int64))
            parents.append(np.array(parent, dtype=np.int64))
            self.paths[level] = below = own
        self.first = first[::-1]
        self.parent = [np.empty(0, dtype=np.int64), *parents[::-1]]

    @property
    def depth(self) -> int:
        return len(self.levels)

    @property
    def leaves(self) -> int:
        return len(self.nodes)

    def size(self, level: int) -> int:
        return len(self.paths[level])

    def children(self, level: int, domains: Sequence[int]) -> Ints:
        """Of all the domains together, in order."""
        first = self.first[level]
        if len(domains) == 1:
            return np.arange(first[domains[0]], first[domains[0] + 1], dtype=np.int64)
        found = [np.arange(first[d], first[d + 1], dtype=np.int64) for d in sorted(domains)]
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def below(self, level: int, start: int, end: int) -> list[tuple[int, int, int]]:
        """(level, from, to) of the neighbouring domains and of everything below them."""
        found = [(level, start, end)]
        for each in range(level, self.depth - 1):
            start, end = int(self.first[each][start]), int(self.first[each][end])
            found.append((each + 1, start, end))
        return found

    def ancestor(self, leaf: int, level: int) -> int:
        domain = leaf
        for each in range(self.depth - 1, level, -1):
            domain = int(self.parent[each][domain])
        return domain

    def leaves_of(self, level: int, domain: int) -> tuple[int, int]:
        """From which to which leaf."""
        return self.below(level, domain, domain + 1)[-1][1:]

    def values(self, leaf: int) -> Path:
        """As an assignment writes them: the hostname alone, or one value for each level."""
        path = self.paths[-1][leaf]
        return path[-1:] if self.by_host else path

    @property
    def written_levels(self) -> tuple[str, ...]:
        return self.levels[-1:] if self.by_host else self.levels
