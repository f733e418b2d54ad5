"""LimitRanges: what a namespace gives to containers that ask for nothing, and how much they may ask for."""

from collections.abc import Iterator

from reprieve.objects import Document, amount, exact, format_amount
from reprieve.server.documents import items
from reprieve.server.errors import forbidden
from reprieve.server.pod_totals import pod_totals, quantities
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import DELETED, Change, Record, Store

_RESOURCE = "limitranges"
ANNOTATION = "kubernetes.io/limit-ranger"
Amounts = dict[str, str]


class LimitRanges:
    """The limits of each namespace that has any."""

    def __init__(self, store: Store) -> None:
        self._limits: dict[str, dict[str, list[Document]]] = {}
        for record in store.collection(_RESOURCE).scan(None):
            self._note(record, gone=False)
        store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key == _RESOURCE:
                self._note(change.record, change.type == DELETED)

    def _note(self, record: Record, gone: bool) -> None:
        ranges = self._limits.setdefault(record.namespace, {})
        ranges.pop(record.name, None)
        if not gone:
            ranges[record.name] = items(record.object, "spec", "limits")
        if not ranges:
            del self._limits[record.namespace]

    def apply_to(self, namespace: str) -> bool:
        return namespace in self._limits

    def complete(self, pod: Document) -> None:
        """Give containers the defaults of their namespace."""
        for limits in self._of(pod):
            said: list[str] = []
            for word, field in (("container", "containers"), ("init container", "initContainers")):
                for container in items(pod, "spec", field):
                    said += _complete(container, limits, word)
            if said:
                annotations = pod["metadata"].setdefault("annotations", {})
                annotations[ANNOTATION] = "LimitRanger plugin set: " + "; ".join(said)

    def check(self, resource: ResourceInfo, document: Document) -> None:
        """403 with everything that is too much, too little or missing."""
        kind = {"pods": _pod_problems, "persistentvolumeclaims": _claim_problems}.get(resource.storage_key)
        problems = [p for limits in self._of(document) for p in kind(limits, document)] if kind else []
        if problems:
            text = problems[0] if len(problems) == 1 else "[" + ", ".join(problems) + "]"
            raise forbidden(resource.group, resource.plural, document["metadata"].get("name", ""), text)

    def _of(self, document: Document) -> list[list[Document]]:
        return list(self._limits.get(document["metadata"].get("namespace", ""), {}).values())


def _complete(container: Document, limits: list[Document], word: str) -> Iterator[str]:
    resources = container.setdefault("resources", {})
    for name, field, source in (("request", "requests", "defaultRequest"), ("limit", "limits", "default")):
        given = resources.get(field) or {}
        usual = {
            k: v
            for item in limits
            if item.get("type") == "Container"
            for k, v in (item.get(source) or {}).items()
        }
        missing = {k: v for k, v in usual.items() if k not in given}
        if missing:
            resources[field] = {**given, **missing}
            yield f"{', '.join(sorted(missing))} {name} for {word} {container.get('name', '')}"


def _pod_problems(limits: list[Document], pod: Document) -> Iterator[str]:
    containers = [*items(pod, "spec", "containers"), *items(pod, "spec", "initContainers")]
    for item in limits:
        if item.get("type") == "Container":
            for container in containers:
                resources = container.get("resources") or {}
                yield from _problems(item, resources.get("requests") or {}, resources.get("limits") or {})
        elif item.get("type") == "Pod":
            requests, most = pod_totals(pod["spec"])
            yield from _problems(item, quantities(requests), quantities(most))


def _problems(item: Document, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = item["type"]
    for name, least in (item.get("min") or {}).items():
        yield from _too_little(kind, name, least, requests, limits)
    for name, most in (item.get("max") or {}).items():
        yield from _too_much(kind, name, most, requests, limits)
    for name, ratio in (item.get("maxLimitRequestRatio") or {}).items():
        yield from _too_far_apart(kind, name, ratio, requests, limits)


def _too_little(kind: str, name: str, least: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    rule = f"minimum {name} usage per {kind} is {_shown(name, least)}"
    if name not in requests:
        yield f"{rule}.  No request is specified"
    elif exact(requests[name]) < exact(least):
        yield f"{rule}, but request is {_shown(name, requests[name])}"
    elif name in limits and exact(limits[name]) < exact(least):
        yield f"{rule}, but limit is {_shown(name, limits[name])}"


def _too_much(kind: str, name: str, most: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    rule = f"maximum {name} usage per {kind} is {_shown(name, most)}"
    if name not in limits:
        yield f"{rule}.  No limit is specified"
    elif exact(limits[name]) > exact(most):
        yield f"{rule}, but limit is {_shown(name, limits[name])}"
    elif name in requests and exact(requests[name]) > exact(most):
        yield f"{rule}, but request is {_shown(name, requests[name])}"


def _too_far_apart(kind: str, name: str, ratio: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    rule = f"{name} max limit to request ratio per {kind} is {_shown(name, ratio)}"
    request, limit = exact(requests.get(name, 0)), exact(limits.get(name, 0))
    if not request:
        yield f"{rule}, but no request is specified or request is 0"
    elif not limit:
        yield f"{rule}, but no limit is specified or limit is 0"
    elif limit / request > exact(ratio):
        yield f"{rule}, but provided ratio is {float(limit / request):f}"


def _claim_problems(limits: list[Document], claim: Document) -> Iterator[str]:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    for item in limits:
        if item.get("type") == "PersistentVolumeClaim":
            for name, least in (item.get("min") or {}).items():
                yield from _too_little(item["type"], name, least, requests, {})
            for name, most in (item.get("max") or {}).items():
                rule = f"maximum {name} usage per {item['type']} is {_shown(name, most)}"
                if name not in requests:
                    yield f"{rule}.  No request is specified"
                elif exact(requests[name]) > exact(most):
                    yield f"{rule}, but request is {_shown(name, requests[name])}"


def _shown(name: str, quantity: str) -> str:
    return format_amount(name, amount(name, quantity))
