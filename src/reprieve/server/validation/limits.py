"""Limit ranges and resource quotas: what kube-apiserver refuses."""

from fractions import Fraction
from typing import Any

from reprieve.objects import Document, QuantityError, exact
from reprieve.server.documents import at, items
from reprieve.server.errors import Cause, forbidden_field, invalid_value, required

_COUNTED = {
    "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets",
    "services", "services.loadbalancers", "services.nodeports",
}  # fmt: skip
_SCOPES = {
    "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass",
}  # fmt: skip
_ORDER = (
    ("min", "max", "min"),
    ("min", "defaultRequest", "defaultRequest"),
    ("min", "default", "default"),
    ("defaultRequest", "max", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest"),
    ("default", "max", "default"),
)
"""The first may not be above the second; the third is the field that is blamed."""


def validate_limit_range(new: Document, old: Document | None) -> list[Cause]:
    del old
    causes = []
    for index, limit in enumerate(items(new, "spec", "limits")):
        path = f"spec.limits[{index}]"
        if not limit.get("type"):
            causes.append(required(f"{path}.type"))
        if limit.get("type") == "Pod":
            causes += [
                forbidden_field(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
                for field in ("default", "defaultRequest")
                if limit.get(field)
            ]
        causes += _in_order(limit, path)
    return causes


def _in_order(limit: Document, path: str) -> list[Cause]:
    causes = []
    for lower, upper, blamed in _ORDER:
        for name, amount in (limit.get(lower) or {}).items():
            other = (limit.get(upper) or {}).get(name)
            if other is not None and _amount(amount) > _amount(other):
                problem = f"{lower} value {amount} is greater than {upper} value {other}"
                causes.append(invalid_value(f"{path}.{blamed}[{name}]", amount, problem))
    return causes


def _amount(quantity: Any) -> Fraction:
    """What is no quantity is refused elsewhere."""
    try:
        return exact(quantity)
    except QuantityError:
        return Fraction(0)


def validate_resource_quota(new: Document, old: Document | None) -> list[Cause]:
    causes = []
    for name, quantity in (at(new, "spec", "hard") or {}).items():
        path, amount = f"spec.hard[{name}]", _amount(quantity)
        if amount < 0:
            causes.append(invalid_value(path, str(quantity), "must be greater than or equal to 0"))
        elif (name in _COUNTED or name.startswith("count/")) and amount.denominator != 1:
            causes.append(invalid_value(path, str(quantity), "must be an integer"))
    scopes = at(new, "spec", "scopes") or []
    if any(scope not in _SCOPES for scope in scopes):
        causes.append(invalid_value("spec.scopes", scopes, "unsupported scope"))
    if old is not None and sorted(scopes) != sorted(at(old, "spec", "scopes") or []):
        causes.append(invalid_value("spec.scopes", scopes, "field is immutable"))
    return causes
