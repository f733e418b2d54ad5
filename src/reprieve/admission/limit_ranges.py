"""LimitRanges: what a namespace gives to containers that ask for nothing, and how much they may ask for.

As kube-apiserver's LimitRanger does it (plugin/pkg/admission/limitranger/admission.go). A LimitRange is given
as its `spec.limits`, with the defaults of an API server filled in (`objects.on_write`).
"""

from collections.abc import Iterable, Iterator

from reprieve.admission.pod_totals import pod_totals, quantities
from reprieve.objects import Document, amount, exact, format_amount, raw

Limits = list[Document]
"""`spec.limits` of one LimitRange."""
Amounts = dict[str, str]
ANNOTATION = "kubernetes.io/limit-ranger"


def fill_in(pod: Document, ranges: Iterable[Limits]) -> None:
    """Give containers the defaults of their namespace, in place. Of several ranges the first one counts."""
    for limits in ranges:
        said: list[str] = []
        for word, field in (("container", "containers"), ("init container", "initContainers")):
            for container in raw.items(pod, "spec", field):
                said += _complete(container, limits, word)
        if said:
            annotations = raw.section(pod, "metadata", "annotations")
            annotations[ANNOTATION] = "LimitRanger plugin set: " + "; ".join(said)


def outside(document: Document, ranges: Iterable[Limits]) -> list[str]:
    """Everything that is too much, too little or missing in a pod or a claim for a volume."""
    problems = {"Pod": _pod_problems, "PersistentVolumeClaim": _claim_problems}.get(document.get("kind", ""))
    return [each for limits in ranges for each in problems(limits, document)] if problems else []


def _complete(container: Document, limits: Limits, word: str) -> Iterator[str]:
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


def _pod_problems(limits: Limits, pod: Document) -> Iterator[str]:
    containers = [*raw.items(pod, "spec", "containers"), *raw.items(pod, "spec", "initContainers")]
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


def _claim_problems(limits: Limits, claim: Document) -> Iterator[str]:
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
