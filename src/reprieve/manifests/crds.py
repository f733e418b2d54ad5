"""CustomResourceDefinitions for clusters that do not serve the kinds themselves."""

from collections.abc import Iterable
from typing import Any

from reprieve.manifests.structural import root_schema
from reprieve.objects import STAND_IN_GROUP
from reprieve.server import ResourceInfo, builtin_resources, builtin_schema

SCHEDULING, KUEUE = "scheduling.k8s.io", "kueue.x-k8s.io"
KINDS = {SCHEDULING: ("PodGroup", "Workload")}
DEFINED_IN = {SCHEDULING: STAND_IN_GROUP}
"""Groups that the API server keeps for itself: their kinds are defined elsewhere."""

_COLUMNS = {
    "PodGroup": [
        {"name": "MinCount", "type": "integer", "jsonPath": ".spec.schedulingPolicy.gang.minCount"},
        {"name": "Priority", "type": "integer", "jsonPath": ".spec.priority"},
        {
            "name": "Scheduled",
            "type": "string",
            "jsonPath": '.status.conditions[?(@.type=="PodGroupInitiallyScheduled")].status',
        },
    ],
}
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def crds(groups: Iterable[str] = (SCHEDULING, KUEUE)) -> list[dict[str, Any]]:
    """The definitions of these groups, newest version stored; sorted by name."""
    wanted = set(groups)
    found: dict[str, list[ResourceInfo]] = {}
    for resource in builtin_resources():
        if resource.group in wanted and resource.kind in KINDS.get(resource.group, (resource.kind,)):
            group = DEFINED_IN.get(resource.group, resource.group)
            found.setdefault(f"{resource.plural}.{group}", []).append(resource)
    return [_definition(name, found[name]) for name in sorted(found)]


def _definition(name: str, versions: list[ResourceInfo]) -> dict[str, Any]:
    first = versions[0]
    names: dict[str, Any] = {
        "kind": first.kind,
        "listKind": f"{first.kind}List",
        "plural": first.plural,
        "singular": first.kind.lower(),
    }
    if first.short_names:
        names["shortNames"] = list(first.short_names)
    if first.categories:
        names["categories"] = list(first.categories)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "reprieve"}},
        "spec": {
            "group": DEFINED_IN.get(first.group, first.group),
            "names": names,
            "scope": "Namespaced" if first.namespaced else "Cluster",
            "versions": [_version(each, storage=each is first) for each in versions],
        },
    }


def _version(resource: ResourceInfo, *, storage: bool) -> dict[str, Any]:
    node = builtin_schema(resource.group, resource.version, resource.kind)
    assert node is not None, f"{resource.kind} is not described"
    version: dict[str, Any] = {
        "name": resource.version,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": root_schema(node)},
        "additionalPrinterColumns": [*_COLUMNS.get(resource.kind, ()), _AGE],
    }
    if "status" in resource.subresources:
        version["subresources"] = {"status": {}}
    return version
