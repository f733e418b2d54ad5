"""Limit ranges and resource quotas: what kube-apiserver refuses."""

from fractions import Fraction
from typing import Any

from reprieve.objects.quantity import QuantityError, exact
from reprieve.objects.structure import FORBIDDEN, Problem
from reprieve.objects.validation.checks import At, Problems, required

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


def limit_range(new: At, _old: At | None) -> Problems:
    for limit in new.field("spec", "limits").items():
        yield from required(limit.field("type"))
        for name in ("default", "defaultRequest") if limit.field("type").text == "Pod" else ():
            if limit.field(name).value:
                yield limit.field(name).problem("may not be specified when `type` is 'Pod'", FORBIDDEN)
        for lower, upper, blamed in _ORDER:
            most = dict(limit.field(upper).members())
            for name, least in limit.field(lower).members():
                if name in most and _amount(least.value) > _amount(most[name].value):
                    text = f"{lower} value {least.value} is greater than {upper} value {most[name].value}"
                    yield Problem(f"{limit.field(blamed).path}[{name}]", least.value, text)


def _amount(quantity: Any) -> Fraction:
    """What is no quantity is refused elsewhere."""
    try:
        return exact(quantity)
    except (QuantityError, ValueError, TypeError):
        return Fraction(0)


def resource_quota(new: At, old: At | None) -> Problems:
    for name, hard in new.field("spec", "hard").members():
        amount = _amount(hard.value)
        if amount < 0:
            yield hard.problem("must be greater than or equal to 0")
        elif (name in _COUNTED or name.startswith("count/")) and amount.denominator != 1:
            yield hard.problem("must be an integer")
    scopes = new.field("spec", "scopes")
    if any(scope.text not in _SCOPES for scope in scopes.items()):
        yield scopes.problem("unsupported scope")
    if old is not None and _texts(scopes) != _texts(old.field("spec", "scopes")):
        yield scopes.problem("field is immutable")


def _texts(places: At) -> list[str]:
    return sorted(each.text for each in places.items())
