"""Cluster addresses and node ports of Services, chosen where nobody asked for one.

Nothing answers at them: there is no network here. But clients and charts read them, `kubectl get services`
shows them, and a kube-apiserver without kube-proxy gives them out all the same.
"""

import zlib
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
        self._held: dict[Place, set[str | int]] = {}
        """What every service has been given."""
        for record in store.collection(_SERVICES).scan(None):
            self._held[record.namespace, record.name] = set(_given(record.object))
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
            for port in items(spec, "ports"):
                if not port.get("nodePort"):
                    port["nodePort"] = self._free_port(f"{seed}:{port.get('name', '')}:{port.get('port')}")

    def _free_address(self, seed: str) -> str:
        taken = self._taken()
        usable = _RANGE.num_addresses - 2
        start = zlib.crc32(seed.encode("utf-8", "replace"))
        found = (str(_RANGE[1 + (start + step) % usable]) for step in range(usable))
        return next((address for address in found if address not in taken), "")

    def _free_port(self, seed: str) -> int:
        taken = self._taken()
        start = zlib.crc32(seed.encode("utf-8", "replace"))
        found = (_NODE_PORTS[(start + step) % len(_NODE_PORTS)] for step in range(len(_NODE_PORTS)))
        return next((port for port in found if port not in taken), 0)

    def _taken(self) -> set[str | int]:
        return set().union(*self._held.values())

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            record = change.record
            if record.storage_key == _SERVICES:
                if change.type == DELETED:
                    self._held.pop((record.namespace, record.name), None)
                else:
                    self._held[record.namespace, record.name] = set(_given(record.object))


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
