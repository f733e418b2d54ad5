"""What clients ask for and this server does not have: a sentence where there is something to say."""

from reprieve.server.backend import Backend
from reprieve.server.errors import ApiError, unknown_resource
from reprieve.server.http.paths import Target
from reprieve.server.registry import ResourceInfo

_NO_CONTAINERS = "pods on fake nodes have no containers"
_OF_PODS = {
    "attach": f"{_NO_CONTAINERS} to attach to",
    "ephemeralcontainers": f"{_NO_CONTAINERS}, ephemeral ones neither",
    "exec": f"{_NO_CONTAINERS} to run a command in",
    "log": f"{_NO_CONTAINERS} that could write a log; `kubectl describe pod %s` shows what happened to it",
    "portforward": f"{_NO_CONTAINERS} that could listen on a port",
    "proxy": f"{_NO_CONTAINERS} that could answer",
}
_GROUPS = {
    "metrics.k8s.io": "there are no metrics here: pods on fake nodes use nothing that could be measured",
}


def missing_resource(target: Target) -> ApiError:
    sentence = _GROUPS.get(target.group)
    return ApiError(404, "NotFound", sentence, {}) if sentence else unknown_resource()


def missing_subresource(backend: Backend, resource: ResourceInfo, target: Target) -> ApiError:
    sentence = _OF_PODS.get(target.subresource, "") if resource.storage_key == "pods" else ""
    if not sentence:
        return unknown_resource()
    backend.existing(resource, target.namespace, target.name)
    details = {"name": target.name, "kind": "pods"}
    return ApiError(501, "NotImplemented", sentence.replace("%s", target.name), details)
