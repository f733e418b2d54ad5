"""Host ports in use, indexed by port: a check looks only at nodes where the port is taken."""

from collections import Counter

from reprieve.cluster.classes import WILDCARD, PodClass, Port


class PortTable:
    def __init__(self) -> None:
        self._users: dict[tuple[str, int], dict[int, Counter[str]]] = {}

    def add(self, cls: PodClass, slot: int) -> None:
        for address, protocol, number in cls.ports:
            on_nodes = self._users.setdefault((protocol, number), {})
            on_nodes.setdefault(slot, Counter())[address] += 1

    def remove(self, cls: PodClass, slot: int) -> None:
        for address, protocol, number in cls.ports:
            users = self._users[(protocol, number)][slot]
            users[address] -= 1
            if not users[address]:
                del users[address]
            if not users:
                del self._users[(protocol, number)][slot]

    def conflicts(self, cls: PodClass, slot: int) -> bool:
        return any(
            _conflict(address, other)
            for address, protocol, number in cls.ports
            for other in self._users.get((protocol, number), {}).get(slot, ())
        )

    def taken(self, cls: PodClass) -> set[int]:
        """Slots where a host port of the class is in use."""
        return {
            slot
            for address, protocol, number in cls.ports
            for slot, users in self._users.get((protocol, number), {}).items()
            if any(_conflict(address, other) for other in users)
        }


def ports_conflict(wanted: tuple[Port, ...], taken: tuple[Port, ...]) -> bool:
    """Same protocol and port, and either side takes every address or both name the same one."""
    return any(a[1:] == b[1:] and _conflict(a[0], b[0]) for a in wanted for b in taken)


def _conflict(one: str, other: str) -> bool:
    return WILDCARD in (one, other) or one == other
