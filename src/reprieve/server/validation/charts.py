"""Kinds that charts bring: what kube-apiserver refuses of ingresses, autoscalers, storage, webhooks."""

from collections.abc import Callable, Iterator

from reprieve.objects import Document, dns_label
from reprieve.server.documents import at, items
from reprieve.server.errors import Cause, forbidden_field, invalid_value, not_supported, required

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_ADDRESS_TYPES = ("IPv4", "IPv6", "FQDN")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")

Rule = Callable[[Document, Document | None], list[Cause]]


def _fixed(new: Document, old: Document | None, *paths: tuple[str, ...]) -> Iterator[Cause]:
    for path in paths if old is not None else ():
        if at(new, *path) != at(old, *path):
            yield invalid_value(".".join(path), at(new, *path), "field is immutable")


def validate_ingress(new: Document, old: Document | None) -> list[Cause]:
    del old
    spec = new.get("spec") or {}
    causes: list[Cause] = []
    if not spec.get("rules") and not spec.get("defaultBackend"):
        message = "either `defaultBackend` or `rules` must be specified"
        causes.append(invalid_value("spec", spec, message))
    if spec.get("defaultBackend"):
        causes += _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(items(spec, "rules")):
        for number, path in enumerate(items(rule, "http", "paths")):
            causes += _ingress_path(path, f"spec.rules[{index}].http.paths[{number}]")
    return causes


def _ingress_path(path: Document, where: str) -> Iterator[Cause]:
    kind = path.get("pathType")
    if not kind:
        yield required(f"{where}.pathType", "pathType must be specified")
    elif kind not in _PATH_TYPES:
        yield not_supported(f"{where}.pathType", kind, _PATH_TYPES)
    elif kind != "ImplementationSpecific" and not str(path.get("path", "")).startswith("/"):
        yield invalid_value(f"{where}.path", path.get("path", ""), "must be an absolute path")
    yield from _backend(path.get("backend") or {}, f"{where}.backend")


def _backend(backend: Document, where: str) -> Iterator[Cause]:
    service, resource = backend.get("service"), backend.get("resource")
    if service and resource:
        yield invalid_value(where, "", "cannot set both resource and service backends")
    elif not service and not resource:
        yield required(where, "port name or number is required")
    elif service:
        if not service.get("name"):
            yield required(f"{where}.service.name")
        port = service.get("port") or {}
        if bool(port.get("name")) == bool(port.get("number")):
            message = "cannot set both port name & port number" if port.get("name") else ""
            yield required(f"{where}.service.port", message or "port name or number is required")


def validate_ingress_class(new: Document, old: Document | None) -> list[Cause]:
    controller = at(new, "spec", "controller", default="")
    causes = list(_fixed(new, old, ("spec", "controller")))
    if "/" not in str(controller):
        message = 'must be a domain-prefixed path (such as "acme.io/foo")'
        causes.append(invalid_value("spec.controller", controller, message))
    return causes


def validate_autoscaler(new: Document, old: Document | None) -> list[Cause]:
    del old
    causes = [
        required(f"spec.scaleTargetRef.{field}")
        for field in ("kind", "name")
        if not at(new, "spec", "scaleTargetRef", field)
    ]
    least, most = at(new, "spec", "minReplicas", default=1), at(new, "spec", "maxReplicas", default=0)
    if least < 1:
        causes.append(invalid_value("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        causes.append(invalid_value("spec.maxReplicas", most, "must be greater than 0"))
    elif most < least:
        message = "must be greater than or equal to `minReplicas`"
        causes.append(invalid_value("spec.maxReplicas", most, message))
    return causes


def validate_storage_class(new: Document, old: Document | None) -> list[Cause]:
    causes = [] if new.get("provisioner") else [required("provisioner")]
    for field, values in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        if new.get(field) not in values:
            causes.append(not_supported(field, new.get(field), values))
    if old is None:
        return causes
    return causes + [
        invalid_value(field, new.get(field), "field is immutable")
        if field == "provisioner"
        else forbidden_field(field, f"updates to {field} are forbidden.")
        for field in ("parameters", "provisioner", "reclaimPolicy")
        if new.get(field) != old.get(field)
    ]


def validate_runtime_class(new: Document, old: Document | None) -> list[Cause]:
    handler = new.get("handler", "")
    problem = dns_label(handler)
    causes = [invalid_value("handler", handler, problem)] if problem else []
    return causes + list(_fixed(new, old, ("handler",)))


def validate_webhooks(new: Document, old: Document | None) -> list[Cause]:
    del old
    causes: list[Cause] = []
    for index, webhook in enumerate(items(new, "webhooks")):
        where = f"webhooks[{index}]"
        if str(webhook.get("name", "")).count(".") < 2:
            message = "should be a domain with at least three segments separated by dots"
            causes.append(invalid_value(f"{where}.name", webhook.get("name", ""), message))
        if webhook.get("sideEffects") not in _SIDE_EFFECTS:
            causes.append(not_supported(f"{where}.sideEffects", webhook.get("sideEffects"), _SIDE_EFFECTS))
        if not webhook.get("admissionReviewVersions"):
            message = "must specify one of v1, v1beta1"
            causes.append(required(f"{where}.admissionReviewVersions", message))
        client = webhook.get("clientConfig") or {}
        if bool(client.get("url")) == bool(client.get("service")):
            causes.append(required(f"{where}.clientConfig", "exactly one of url or service is required"))
    return causes


def validate_endpoint_slice(new: Document, old: Document | None) -> list[Cause]:
    kind = new.get("addressType")
    causes = [] if kind in _ADDRESS_TYPES else [not_supported("addressType", kind or "", _ADDRESS_TYPES)]
    return causes + list(_fixed(new, old, ("addressType",)))


CHART_RULES: dict[str, Rule] = {
    "ingresses.networking.k8s.io": validate_ingress,
    "ingressclasses.networking.k8s.io": validate_ingress_class,
    "horizontalpodautoscalers.autoscaling": validate_autoscaler,
    "storageclasses.storage.k8s.io": validate_storage_class,
    "runtimeclasses.node.k8s.io": validate_runtime_class,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": validate_webhooks,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": validate_webhooks,
    "endpointslices.discovery.k8s.io": validate_endpoint_slice,
}
