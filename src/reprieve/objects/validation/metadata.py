"""Names, labels, annotations and conditions, common to every kind."""

from reprieve.objects.structure import REQUIRED
from reprieve.objects.validation.checks import At, Problems, dns_label, label_map, one_of, required, subdomain


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
