"""Roles and their bindings: what kube-apiserver refuses."""

from reprieve.objects.structure import REQUIRED, UNSUPPORTED
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import At, Problems, required
from reprieve.objects.well_known import RBAC_API

_SUBJECTS = ("ServiceAccount", "User", "Group")


def role(new: At, _old: At | None) -> Problems:
    for rule in new.field("rules").items():
        if not rule.field("verbs").value:
            yield rule.field("verbs").problem("verbs must contain at least one value", REQUIRED)
        urls = rule.field("nonResourceURLs")
        if urls.value and new.field("kind").text == "Role":
            yield urls.problem("namespaced rules cannot apply to non-resource URLs")
        for name in () if urls.value else ("apiGroups", "resources"):
            if not rule.field(name).value:
                text = f"resource rules must supply at least one of {name}"
                yield rule.field(name).problem(text, REQUIRED)


def binding(new: At, old: At | None) -> Problems:
    """An account without a namespace is one of the binding's own, if that has one."""
    in_namespace = new.field("kind").text == "RoleBinding"
    role_ref = new.field("roleRef")
    if role_ref.field("apiGroup").is_set:  # who leaves it out means this one
        yield from _one_of(role_ref.field("apiGroup"), (RBAC_API,))
    yield from _one_of(role_ref.field("kind"), ("Role", "ClusterRole") if in_namespace else ("ClusterRole",))
    yield from required(role_ref.field("name"))
    for subject in new.field("subjects").items():
        yield from required(subject.field("name"))
        yield from _one_of(subject.field("kind"), _SUBJECTS)
        if subject.field("kind").text == "ServiceAccount" and not in_namespace:
            yield from required(subject.field("namespace"))
    if old is not None and role_ref.value != old.field("roleRef").value:
        yield role_ref.problem("cannot change roleRef")


def _one_of(place: At, allowed: tuple[str, ...]) -> Problems:
    """It must be there, too."""
    if place.value not in allowed:
        text = f"expected one of {', '.join(allowed)}; got {shown(place.value)}"
        yield place.problem(text, UNSUPPORTED)
