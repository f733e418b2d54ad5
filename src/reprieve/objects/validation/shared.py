"""Rules that many kinds share: metadata, conditions, label and node selectors, tolerations, taints."""

from reprieve.objects import well_known
from reprieve.objects.selectors import parse_integer
from reprieve.objects.structure import REQUIRED
from reprieve.objects.validation.checks import (
    At,
    Problems,
    dns_label,
    label_key,
    label_map,
    one_of,
    required,
    subdomain,
)


def metadata(document: At, *, namespaced: bool) -> Problems:
    meta = document.field("metadata")
    name, namespace = meta.field("name"), meta.field("namespace")
    if not name.is_set and not meta.field("generateName").is_set:
        yield name.problem("is required (or metadata.generateName)", REQUIRED)
    yield from subdomain(name)
    if namespaced:
        yield from dns_label(namespace)
    elif namespace.text:
        yield namespace.problem(f"{document.field('kind').text} is not namespaced, so it must not be set")
    yield from label_map(meta.field("labels"))
    for condition in document.field("status", "conditions").items():
        yield from required(condition.field("type"))
        yield from one_of(condition.field("status"), ("True", "False", "Unknown"))


def unchanged_identity(new: At, old: At) -> Problems:
    """Name, namespace and UID stay; a UID may be left out of an update."""
    for name in ("name", "namespace", "uid"):
        before, after = old.field("metadata", name), new.field("metadata", name)
        if after.text and before.text and after.text != before.text:
            yield after.problem(f"cannot be changed from {before.text!r} to {after.text!r}")


def label_selector(place: At) -> Problems:
    yield from label_map(place.field("matchLabels"))
    for each in place.field("matchExpressions").items():
        yield from _requirement(each, ("In", "NotIn", "Exists", "DoesNotExist"))


def node_selector(place: At) -> Problems:
    if place.is_set:
        yield from required(place.field("nodeSelectorTerms"))
    for term in place.field("nodeSelectorTerms").items():
        yield from node_term(term)


def node_term(place: At) -> Problems:
    for each in place.field("matchExpressions").items():
        yield from _requirement(each, ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    for each in place.field("matchFields").items():
        yield from one_of(each.field("key"), ("metadata.name",))
        yield from one_of(each.field("operator"), ("In", "NotIn"))
        if len(each.field("values").items()) != 1:
            yield each.field("values").problem("must have exactly one value")


def _requirement(place: At, operators: tuple[str, ...]) -> Problems:
    yield from label_key(place.field("key"))
    operator, values = place.field("operator"), place.field("values")
    yield from one_of(operator, operators)
    count = len(values.items())
    if operator.text in ("In", "NotIn") and not count:
        yield values.problem(f"operator {operator.text} needs at least one value")
    elif operator.text in ("Exists", "DoesNotExist") and count:
        yield values.problem(f"operator {operator.text} takes no values")
    elif operator.text in ("Gt", "Lt") and (count != 1 or parse_integer(values.items()[0].text) is None):
        yield values.problem(f"operator {operator.text} needs one whole number")


def toleration(place: At) -> Problems:
    key, operator, effect = place.field("key"), place.field("operator"), place.field("effect")
    yield from label_key(key)
    yield from one_of(operator, ("", "Equal", "Exists", "Lt", "Gt"))
    yield from one_of(effect, ("", *well_known.TAINT_EFFECTS))
    if not key.text and operator.text != "Exists":
        yield operator.problem("must be Exists when the key is empty, which then means every key")
    if operator.text == "Exists" and place.field("value").text:
        yield place.field("value").problem("must be empty when the operator is Exists")
    if place.field("tolerationSeconds").is_set and effect.text != "NoExecute":
        yield effect.problem("must be NoExecute when tolerationSeconds is set")


def taint(place: At) -> Problems:
    yield from required(place.field("key"))
    yield from label_key(place.field("key"))
    yield from required(place.field("effect"))
    yield from one_of(place.field("effect"), well_known.TAINT_EFFECTS)
