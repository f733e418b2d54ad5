"""Cluster addresses and node ports of Services, chosen where nobody asked for one.

Nothing answers at them: there is no network here. But clients and charts read them, `kubectl get services`
shows them, and a kube-apiserver without kube-proxy gives them out all the same.
"""

import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from reprieve.objects import Document
from reprieve.server.documents import at, items
from reprieve.server.storage import DELETED, Change, Store

_SERVICES = "services"
_RANGE = ip_network("10.96.0.0/12")
_NODE_PORTS = range(30000, 32768)
_KEPT = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
Place = tuple[str, str]


class ServiceAddresses:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[Place, set[str | int]] = {}
        """What every service has been given."""
        self._holders: Counter[str | int] = Counter()
        """By how many services each of these is held."""
        for record in store.collection(_SERVICES).scan(None):
            self._hold((record.namespace, record.name), set(_given(record.object)))
        store.listen(self._follow)

    def complete(self, document: Document, old: Document | None) -> None:
        """Fill in what the document leaves out: what it had before, or something that is free."""
        spec = document.get("spec")
        if not isinstance(spec, dict) or spec.get("type") == "ExternalName":
            return
        if old is not None:
            _keep(spec, old.get("spec") or {})
        meta = document["metadata"]
        seed = f"{meta.get('namespace', '')}/{meta.get('name', '')}"
        if not spec.get("clusterIP"):
            given = spec.get("clusterIPs")
            spec["clusterIP"] = given[0] if isinstance(given, list) and given else self._free_address(seed)
        if not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        _set_families(spec)
        if spec.get("type") in _WITH_NODE_PORTS and spec.get("allocateLoadBalancerNodePorts") is not False:
            self._set_ports(document, seed)

    def _set_ports(self, service: Document, seed: str) -> None:
        """Each its own: what others hold, and what this service has already, is taken."""
        without = [port for port in items(service, "spec", "ports") if not port.get("nodePort")]
        if not without:
            return
        taken = {*_given(service), *self._written()}
        free = [port for port in _NODE_PORTS if port not in self._holders and port not in taken]
        for port in without:
            wanted = _NODE_PORTS[
                _number(f"{seed}:{port.get('name', '')}:{port.get('port')}") % len(_NODE_PORTS)
            ]
            port["nodePort"] = free.pop(bisect_left(free, wanted) % len(free)) if free else 0

    def _free_address(self, seed: str) -> str:
        taken, start = self._written(), _number(seed)
        usable = _RANGE.num_addresses - 2
        found = (str(_RANGE[1 + (start + step) % usable]) for step in range(usable))
        return next((each for each in found if each not in self._holders and each not in taken), "")

    def _written(self) -> set[str | int]:
        """What services hold that are not committed yet: those that come together share a commit."""
        return {each for record in self._store.in_flight(_SERVICES) for each in _given(record.object)}

    def _hold(self, place: Place, given: set[str | int]) -> None:
        for each in self._held.pop(place, ()):
            self._holders[each] -= 1
            if not self._holders[each]:
                del self._holders[each]
        self._holders.update(given)
        if given:
            self._held[place] = given

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            record = change.record
            if record.storage_key == _SERVICES:
                given = () if change.type == DELETED else _given(record.object)
                self._hold((record.namespace, record.name), set(given))


def _number(seed: str) -> int:
    return zlib.crc32(seed.encode("utf-8", "replace"))


def _given(service: Document) -> Iterator[str | int]:
    addresses = at(service, "spec", "clusterIPs")
    yield from addresses if isinstance(addresses, list) else ()
    for port in items(service, "spec", "ports"):
        if port.get("nodePort"):
            yield port["nodePort"]


def _keep(spec: Document, before: Document) -> None:
    """Who writes a whole service and leaves its address out does not mean to lose it."""
    if before.get("type") == "ExternalName":
        return
    for field in _KEPT:
        if field in before and not spec.get(field):
            spec[field] = before[field]
    ports = {(port.get("port"), port.get("protocol")): port for port in items(before, "ports")}
    if spec.get("type") in _WITH_NODE_PORTS:
        for port in items(spec, "ports"):
            known = ports.get((port.get("port"), port.get("protocol")), {})
            if not port.get("nodePort") and known.get("nodePort"):
                port["nodePort"] = known["nodePort"]


def _set_families(spec: Document) -> None:
    headless = spec["clusterIP"] == "None"
    both = headless and not spec.get("selector")
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")
    if not spec.get("ipFamilies"):
        spec["ipFamilies"] = ["IPv4", "IPv6"] if both else [_family(spec["clusterIP"])]


def _family(address: str) -> str:
    try:
        return f"IPv{ip_address(address).version}"
    except ValueError:
        return "IPv4"
