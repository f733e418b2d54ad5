"""Devices as quota: how many of each DeviceClass the claim templates of a workload ask for.

`resources.deviceClassMappings` says which resource of a ClusterQueue a class is counted as; without it claims
are not counted. As in Kueue only templates with exact counts can be counted; everything else makes the
workload inadmissible, with the reason. Requests with admin access count for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reprieve.objects import PodSet, ResourceClaimSpec, ResourceClaimTemplate, Workload, devices
from reprieve.quota import sentences


class Uncountable(Exception):
    """What quota cannot count."""


class DeviceDemand(NamedTuple):
    requests: tuple[Mapping[str, int], ...] = ()
    """For each pod set, what one pod asks for."""
    problem: str = ""


NO_DEVICES = DeviceDemand()


def device_demand(
    workload: Workload, templates: Mapping[str, ResourceClaimTemplate], classes: Mapping[str, str]
) -> DeviceDemand:
    """`classes`: the resource as which each DeviceClass is counted."""
    if not classes or not names_claims(workload):
        return NO_DEVICES
    found = []
    for index, pod_set in enumerate(workload.spec.pod_sets):
        try:
            path = f"spec.podSets[{index}].template.spec.resourceClaims"
            found.append(_of_pod_set(pod_set, path, workload.namespace, templates, classes))
        except Uncountable as wrong:
            return DeviceDemand(problem=str(wrong))
    return DeviceDemand(tuple(found))


def names_claims(workload: Workload) -> bool:
    return any(each.template.spec.resource_claims for each in workload.spec.pod_sets)


def _of_pod_set(
    pod_set: PodSet,
    claims: str,
    namespace: str,
    templates: Mapping[str, ResourceClaimTemplate],
    classes: Mapping[str, str],
) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, named in enumerate(pod_set.template.spec.resource_claims):
        path, name = f"{claims}[{index}]", named.resource_claim_template_name
        if name is None:
            raise Uncountable(sentences.claim_without_template(path, str(named.resource_claim_name)))
        template = templates.get(f"{namespace}/{name}")
        if template is None:
            raise Uncountable(sentences.no_such_template(path, name))
        for cls, number in _by_class(template.spec.spec, path, name).items():
            resource = classes.get(cls)
            if resource is None:
                raise Uncountable(sentences.device_class_is_not_mapped(path, cls, name))
            found[resource] = found.get(resource, 0) + number
    return found


def _by_class(spec: ResourceClaimSpec, path: str, template: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for request in spec.devices.requests:
        ask = request.exactly
        if ask is None:
            raise Uncountable(sentences.request_has_alternatives(path, request.name, template))
        if ask.admin_access:
            continue
        if ask.allocation_mode not in ("", devices.EXACT_COUNT):
            mode = ask.allocation_mode
            raise Uncountable(sentences.request_has_no_count(path, request.name, template, mode))
        found[ask.device_class_name] = found.get(ask.device_class_name, 0) + ask.count
    return found
