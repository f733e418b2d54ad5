"""Devices of fake nodes, from one option of their template.

    devices=CLASS:COUNT[:NAME=VALUE,...]

Every node gets COUNT devices of the driver CLASS.reprieve.dev in a pool of its own, and a DeviceClass selects
them by their driver. A value with a unit (80Gi) is a capacity; numbers, true and false, versions (1.2.3) and
words are attributes.
"""

import re
from typing import Any

import msgspec

from reprieve.objects.labels import dns_label
from reprieve.objects.meta import Document
from reprieve.objects.selectors import whole_number

DOMAIN = "reprieve.dev"
MOST_DEVICES = 128
"""In one ResourceSlice."""
MOST_PROPERTIES = 32
_CAPACITY = re.compile(r"\d+(\.\d+)?([KMGTPE]i|[kMGTPE])")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")


class FakeDevices(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Of the class."""
    count: int
    properties: dict[str, str] = {}

    @property
    def driver(self) -> str:
        return f"{self.name}.{DOMAIN}"

    @staticmethod
    def parse(text: str) -> "FakeDevices | None":
        """None for what cannot be understood."""
        name, _, rest = text.strip().partition(":")
        number, _, body = rest.partition(":")
        parts = [part.strip().partition("=") for part in body.split(",") if part.strip()]
        count = whole_number(number.strip())
        if dns_label(name) is not None or count is None:
            return None
        if not 0 < count <= MOST_DEVICES or len(parts) > MOST_PROPERTIES:
            return None
        if any(not value or not _NAME.fullmatch(key) or len(value) > 64 for key, _, value in parts):
            return None
        return FakeDevices(name=name, count=count, properties={key: value for key, _, value in parts})

    def device_class(self) -> Document:
        selector = {"cel": {"expression": f'device.driver == "{self.driver}"'}}
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": self.name},
            "spec": {"selectors": [selector]},
        }

    def slice(self, node: Document) -> Document:
        """What the driver on a node publishes. It goes with the node."""
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid, "controller": True}
        attributes: dict[str, Any] = {}
        capacity: dict[str, Any] = {}
        for key, value in self.properties.items():
            if _CAPACITY.fullmatch(value):
                capacity[key] = {"value": value}
            else:
                attributes[key] = _attribute(value)
        known = {"attributes": attributes, "capacity": capacity}
        what = {key: value for key, value in known.items() if value}
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{self.driver}", "ownerReferences": [owner]},
            "spec": {
                "driver": self.driver,
                "nodeName": name,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": f"{self.name}-{index}", **what} for index in range(self.count)],
            },
        }


def _attribute(value: str) -> Document:
    if value in ("true", "false"):
        return {"bool": value == "true"}
    if (number := whole_number(value)) is not None:
        return {"int": number}
    return {"version": value} if _VERSION.fullmatch(value) else {"string": value}
