"""What an object uses of a ResourceQuota, and which quotas it counts for. Pure.

Amounts are integers: cpu in thousandths of a core, everything else in whole units. Every object counts as
`count/RESOURCE.GROUP`, whatever its state; a pod that has ended, or should have stopped by now, uses nothing
else.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import msgspec

from reprieve.admission.pod_totals import pod_totals
from reprieve.objects import (
    Document,
    LabelSelector,
    amount,
    format_amount,
    matches,
    qos_class,
    raw,
    shifted,
    time_or_none,
    well_known,
)

Usage = dict[str, int]
_COUNTED = (
    "configmaps",
    "resourcequotas",
    "replicationcontrollers",
    "secrets",
    "services",
    "persistentvolumeclaims",
)
"""Kinds that are counted by their plain name, too."""
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_MUST_BE_STATED = tuple(f"{p}{r}" for p in ("", "requests.", "limits.") for r in ("cpu", "memory"))
_OF_A_CLASS = ".storageclass.storage.k8s.io/"


def base(name: str) -> str:
    """The resource that a name in a quota is about: `requests.cpu` is about cpu."""
    for prefix in ("requests.", "limits."):
        name = name.rpartition(_OF_A_CLASS)[2].removeprefix(prefix)
    return name


def parse(amounts: dict[str, str]) -> Usage:
    return {name: amount(base(name), quantity) for name, quantity in amounts.items()}


def show(usage: Usage) -> dict[str, str]:
    return {name: format_amount(base(name), number) for name, number in usage.items()}


def usage_of(storage_key: str, document: Document, now: datetime) -> Usage:
    used = {f"count/{storage_key}": 1}
    if storage_key in _COUNTED:
        used[storage_key] = 1
    if storage_key == "pods":
        return used | (_pod(document) if occupies(document, now) else {})
    if storage_key == "persistentvolumeclaims":
        return used | _claim(document)
    return used | _service(document) if storage_key == "services" else used


def occupies(pod: Document, now: datetime) -> bool:
    if raw.at(pod, "status", "phase") in well_known.TERMINAL_PHASES:
        return False
    due = overdue(pod)
    return due is None or now <= due


def overdue(pod: Document) -> datetime | None:
    """When a pod that is being deleted stops counting although it is still there."""
    deleted = time_or_none(pod["metadata"].get("deletionTimestamp"))
    if deleted is None:
        return None
    return shifted(deleted, int(pod["metadata"].get("deletionGracePeriodSeconds") or 0))


def _pod(pod: Document) -> Usage:
    requests, limits = pod_totals(pod["spec"])
    return {"pods": 1} | _compute(requests, limits)


def _compute(requests: Usage, limits: Usage) -> Usage:
    used: Usage = {}
    for name, number in requests.items():
        plain = name in _COMPUTE or name.startswith("hugepages-")
        used |= {f"requests.{name}": number} | ({name: number} if plain else {})
    return used | {f"limits.{name}": number for name, number in limits.items() if name in _COMPUTE}


def _claim(claim: Document) -> Usage:
    size = amount("storage", raw.at(claim, "spec", "resources", "requests", "storage", default=0))
    used = {"requests.storage": size}
    name = raw.at(claim, "spec", "storageClassName")
    if name:
        used |= {
            f"{name}{_OF_A_CLASS}requests.storage": size,
            f"{name}{_OF_A_CLASS}persistentvolumeclaims": 1,
        }
    return used


def _service(service: Document) -> Usage:
    kind, ports = raw.at(service, "spec", "type"), raw.items(service, "spec", "ports")
    if raw.at(service, "spec", "allocateLoadBalancerNodePorts") is False and kind == "LoadBalancer":
        ports = [port for port in ports if port.get("nodePort")]
    used = {"services.loadbalancers": int(kind == "LoadBalancer")}
    return used | {"services.nodeports": len(ports) if kind in ("NodePort", "LoadBalancer") else 0}


# -- which quotas --------------------------------------------------------------------------------------------


def concerns(storage_key: str, names: Iterable[str], pod_like: bool) -> list[str]:
    """Of the names in a quota those that objects of this resource can use."""
    return [name for name in names if _concerns(storage_key, name, pod_like)]


def _concerns(storage_key: str, name: str, pod_like: bool) -> bool:
    if name == f"count/{storage_key}" or (name == storage_key and storage_key in (*_COUNTED, "pods")):
        return True
    if pod_like:
        compute = name in _COMPUTE or base(name) in _COMPUTE or name.startswith("hugepages-")
        return compute or (name.startswith("requests.") and base(name) != "storage")
    if storage_key == "persistentvolumeclaims":
        return base(name) in ("storage", "persistentvolumeclaims")
    return storage_key == "services" and name.startswith("services.")


def in_scope(quota: Document, storage_key: str, document: Document) -> bool:
    """Whether an object is in all scopes of a quota; only pods are in any."""
    wanted = [
        {"scopeName": name, "operator": "Exists"} for name in raw.at(quota, "spec", "scopes", default=())
    ]
    wanted += raw.items(quota, "spec", "scopeSelector", "matchExpressions")
    return not wanted or (storage_key == "pods" and all(_in_scope(each, document) for each in wanted))


def _in_scope(wanted: Document, pod: Document) -> bool:
    spec, name = pod["spec"], str(wanted.get("scopeName"))
    if name in ("Terminating", "NotTerminating"):
        return has_deadline(pod) == (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        return (qos_class(spec) == "BestEffort") == (name == "BestEffort")
    if name == "PriorityClass":
        labels = {"PriorityClass": spec["priorityClassName"]} if spec.get("priorityClassName") else {}
        rule = {
            "key": "PriorityClass",
            "operator": wanted.get("operator"),
            "values": wanted.get("values") or [],
        }
        return matches(msgspec.convert({"matchExpressions": [rule]}, LabelSelector), labels)
    return name == "CrossNamespacePodAffinity" and _reaches_out(spec)


def has_deadline(pod: Document) -> bool:
    return raw.at(pod, "spec", "activeDeadlineSeconds") is not None


def _reaches_out(spec: Document) -> bool:
    """Whether an affinity term is about pods of other namespaces."""
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = raw.items(spec, "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution")
        weighted = raw.items(spec, "affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution")
        terms += [term for each in weighted if isinstance(term := each.get("podAffinityTerm"), dict)]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def unstated(pod: Document, names: Iterable[str]) -> str:
    """What the containers of a pod must state because a quota counts it; empty if they do."""
    if raw.at(pod, "spec", "resources", "requests") or raw.at(pod, "spec", "resources", "limits"):
        return ""
    missing: dict[str, list[str]] = {}
    for container in [*raw.items(pod, "spec", "containers"), *raw.items(pod, "spec", "initContainers")]:
        resources = container.get("resources") or {}
        stated = _compute(parse(resources.get("requests") or {}), parse(resources.get("limits") or {}))
        for name in names:
            if name in _MUST_BE_STATED and name not in stated:
                missing.setdefault(name, []).append(str(container.get("name", "")))
    parts = [f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing)]
    return f"must specify {'; '.join(parts)}" if parts else ""


class Charge(NamedTuple):
    """What a write would do to a quota."""

    problem: str = ""
    """Why the quota forbids it, as kube-apiserver says it (apiserver/pkg/admission/plugin/resourcequota)."""
    used: dict[str, str] | None = None
    """`status.used` after the write; None where nothing changes."""


def charge(
    quota: Document, storage_key: str, document: Document, old: Document | None, now: datetime
) -> Charge:
    """What a new or changed object would use of the quota, on top of what its status says is used."""
    name, status = raw.at(quota, "metadata", "name", default=""), quota.get("status") or {}
    hard, used = parse(status.get("hard") or {}), parse(status.get("used") or {})
    names = concerns(storage_key, hard, pod_like=storage_key == "pods")
    if not names or not in_scope(quota, storage_key, document):
        return Charge()
    if storage_key == "pods" and (problem := unstated(document, names)):
        return Charge(f"failed quota: {name}: {problem}")
    if any(each not in used for each in names):
        return Charge(f"status unknown for quota: {name}, resources: {','.join(sorted(names))}")
    more = usage_of(storage_key, document, now)
    if old is not None and in_scope(quota, storage_key, old):
        before = usage_of(storage_key, old, now)
        more = {each: max(0, number - before.get(each, 0)) for each, number in more.items()}
    asked = {each: number for each, number in more.items() if number and each in names}
    exceeded = sorted(each for each, number in asked.items() if used[each] + number > hard[each])
    if exceeded:
        return Charge(
            f"exceeded quota: {name}, requested: {_listed(asked, exceeded)}, "
            f"used: {_listed(used, exceeded)}, limited: {_listed(hard, exceeded)}"
        )
    if not asked:
        return Charge()
    total = {each: number + asked.get(each, 0) for each, number in used.items()}
    return Charge(used={**(status.get("used") or {}), **show(total)})


def _listed(usage: Usage, names: list[str]) -> str:
    shown = show({name: usage[name] for name in names})
    return ",".join(f"{name}={shown[name]}" for name in names)
