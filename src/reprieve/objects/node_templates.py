"""Nodes from one line of text.

    NAME=COUNT:RESOURCE=QUANTITY,...[;zones=A,B][;racks=N][;blocks=N]
        [;labels=K=V,...][;taints=K=V:EFFECT,...][;devices=CLASS:COUNT:NAME=VALUE,...]

Nodes are called NAME-0, NAME-1, …; zones and racks are dealt out in turn, neighbouring racks are in one
block; `pods` is 110 and `ephemeral-storage` 100Gi unless given. `devices` may be there several times, once
for each class (`device_templates`).
"""

from typing import Any

import msgspec

from reprieve.objects import well_known
from reprieve.objects.device_templates import MOST_DEVICES, FakeDevices
from reprieve.objects.errors import ReprieveError
from reprieve.objects.labels import dns_subdomain, label_key, label_value
from reprieve.objects.quantity import QuantityError, exact
from reprieve.objects.selectors import whole_number

MAX_NODES = 100_000
_USUAL = {"pods": "110", "ephemeral-storage": "100Gi"}
_OPTIONS = ("zones", "racks", "blocks", "labels", "taints", "devices")


class TemplateError(ReprieveError, ValueError):
    """A node specification that cannot be parsed; the message names the part."""


class NodeTemplate(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    count: int
    resources: dict[str, str]
    """As they were given; nodes have the usual ones, too."""
    labels: dict[str, str] = {}
    taints: tuple[dict[str, str], ...] = ()
    zones: tuple[str, ...] = ()
    racks: int = 0
    blocks: int = 0
    devices: tuple[FakeDevices, ...] = ()

    @staticmethod
    def parse(text: str) -> "NodeTemplate":
        head, *options = text.split(";")
        named, colon, resources = head.partition(":")
        name, equals, number = named.strip().partition("=")
        stated = number.strip() if equals else "1"
        count = whole_number(stated)
        if dns_subdomain(name) is not None:
            raise TemplateError(f"{text!r}: {name!r} is no name for nodes; write NAME=COUNT:cpu=…,memory=…")
        if count is None or not 0 < count <= MAX_NODES:
            raise TemplateError(f"{text!r}: {stated!r} is no number of nodes between 1 and {MAX_NODES}")
        if not colon:
            # Who writes a number alone means so many nodes, not a node of that name.
            wanted = f"node={name}" if not equals and name.isdecimal() else f"{name}={count}"
            raise TemplateError(f"{text!r}: no resources; write {wanted}:cpu=8,memory=32Gi")
        given = [_option(option, text) for option in options if option.strip()]
        found = dict(given)
        return NodeTemplate(
            name=name,
            count=count,
            resources=_quantities(resources, text),
            labels=_pairs(found.get("labels", ""), text),
            taints=tuple(_taint(item, text) for item in _split(found.get("taints", ""))),
            zones=tuple(_split(found.get("zones", ""))),
            racks=_number("racks", found.get("racks", "0"), text),
            blocks=_number("blocks", found.get("blocks", "0"), text),
            devices=_devices([value for option, value in given if option == "devices"], text),
        )

    def names(self) -> list[str]:
        return [f"{self.name}-{index}" for index in range(self.count)]

    def nodes(self) -> list[dict[str, Any]]:
        return [self._node(index, name) for index, name in enumerate(self.names())]

    def _node(self, index: int, name: str) -> dict[str, Any]:
        labels = {
            well_known.HOSTNAME_LABEL: name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "beta.kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": self.name,
        }
        if self.zones:
            labels[well_known.ZONE_LABEL] = self.zones[index % len(self.zones)]
        if self.racks:
            labels["topology.kubernetes.io/rack"] = f"{self.name}-rack-{index % self.racks}"
        if self.blocks:
            labels["topology.kubernetes.io/block"] = f"{self.name}-block-{self._block(index)}"
        node: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": labels | self.labels,
                "annotations": {well_known.FAKE_NODE_ANNOTATION: "true"},
            },
            "spec": {},
            "status": {"capacity": _USUAL | self.resources, "allocatable": _USUAL | self.resources},
        }
        if self.taints:
            node["spec"]["taints"] = [dict(taint) for taint in self.taints]
        return node

    def _block(self, index: int) -> int:
        """Racks next to each other share a block; without racks, nodes are dealt out in turn."""
        if not self.racks:
            return index % self.blocks
        return index % self.racks * self.blocks // self.racks


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _option(option: str, text: str) -> tuple[str, str]:
    name, equals, value = option.strip().partition("=")
    if name not in _OPTIONS or not equals:
        raise TemplateError(f"{text!r}: unknown option {option.strip()!r}; known are {', '.join(_OPTIONS)}")
    return name, value


def _pairs(body: str, text: str) -> dict[str, str]:
    pairs = {}
    for part in _split(body):
        key, equals, value = part.partition("=")
        if not equals or label_key(key) is not None or label_value(value) is not None:
            raise TemplateError(f"{text!r}: {part!r} is no label; write KEY=VALUE")
        pairs[key] = value
    return pairs


def _quantities(body: str, text: str) -> dict[str, str]:
    found = {}
    for part in _split(body):
        name, equals, quantity = part.partition("=")
        try:
            good = bool(equals) and exact(quantity) >= 0
        except QuantityError:
            good = False
        if not good or not name:
            raise TemplateError(f"{text!r}: {part!r} is no amount; write for instance cpu=8 or memory=32Gi")
        found[name] = quantity
    return found


def _devices(bodies: list[str], text: str) -> tuple[FakeDevices, ...]:
    found: list[FakeDevices] = []
    for body in bodies:
        devices = FakeDevices.parse(body)
        if devices is None or any(each.name == devices.name for each in found):
            raise TemplateError(
                f"{text!r}: devices={body!r} are no devices; write CLASS:COUNT:NAME=VALUE,…, for instance "
                f"devices=gpu:8:model=H100,memory=80Gi (each class once, at most {MOST_DEVICES} on a node)"
            )
        found.append(devices)
    return tuple(found)


def _taint(part: str, text: str) -> dict[str, str]:
    pair, _, effect = part.rpartition(":")
    key, _, value = pair.partition("=")
    if effect not in well_known.TAINT_EFFECTS or label_key(key) is not None:
        raise TemplateError(f"{text!r}: {part!r} is no taint; write KEY=VALUE:NoSchedule")
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


def _number(name: str, body: str, text: str) -> int:
    number = whole_number(body.strip())
    if number is None:
        raise TemplateError(f"{text!r}: {name}={body!r} is no number")
    return number
