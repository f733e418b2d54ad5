"""The deployment: two replicas of which one leads, the least rights, and nothing that is not needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from reprieve.jobs import JobKinds
from reprieve.manifests.rights import KUBECONFIGS, LEASE, WEBHOOK_ACCESS, WEBHOOK_SECRET, rules
from reprieve.objects import Document, format_yaml, well_known

PORT = 8080
WEBHOOK_PORT = 9443
NAME = "reprieve"
LABELS = {"app.kubernetes.io/name": NAME}
TOKEN_SECRET = "reprieve-dashboard"
"""Created by the person who installs, not by us: a printed secret is not secret."""
USER = 65532


@dataclass(frozen=True)
class Installation:
    image: str = f"reprieve:{version('reprieve')}"
    namespace: str = "reprieve-system"
    controllers: Sequence[str] = ("scheduler",)
    scheduler_name: str = "reprieve"
    replicas: int = 2
    policy_version: str = "v1"
    """Of the PodDisruptionBudget: v1 from Kubernetes 1.21 on, v1beta1 before."""
    dashboard: bool = False
    """Serve the web page: more rights to read, and a Secret with the token that visitors need."""
    webhook: bool = False
    """Hold jobs at their creation; else the quota controller does that a moment later."""
    tracing: str = ""
    """Where spans are sent (`tracing.endpoint`): the network policy lets them out."""


def deployment(installation: Installation) -> list[Document]:
    """Everything, in an order in which it can be applied."""
    return [
        _namespace(installation),
        labelled("v1", "ServiceAccount", installation, automountServiceAccountToken=False),
        *_access(installation),
        _configuration(installation),
        _pods(installation),
        _service(installation),
        _budget(installation),
        _network(installation),
        *([_webhook(installation)] if installation.webhook else ()),
    ]


def labelled(
    api_version: str, kind: str, where: Installation | None, name: str = NAME, **body: Any
) -> Document:
    metadata: Document = {"name": name, "labels": dict(LABELS)}
    if where is not None:
        metadata["namespace"] = where.namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def _namespace(installation: Installation) -> Document:
    document = labelled("v1", "Namespace", None, installation.namespace)
    document["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "restricted"
    return document


def _access(installation: Installation) -> list[Document]:
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": installation.namespace}
    rbac = "rbac.authorization.k8s.io"

    def reference(kind: str) -> Document:
        return {"apiGroup": rbac, "kind": kind, "name": NAME}

    api = f"{rbac}/v1"
    everywhere = rules(installation.controllers, installation.dashboard)
    here: list[Document] = [dict(rule) for rule in LEASE]
    if installation.webhook:
        everywhere += [dict(rule) for rule in WEBHOOK_ACCESS]
        here += [dict(rule) for rule in WEBHOOK_SECRET]
    return [
        labelled(api, "ClusterRole", None, rules=everywhere),
        labelled(api, "ClusterRoleBinding", None, roleRef=reference("ClusterRole"), subjects=[subject]),
        labelled(api, "Role", installation, rules=here),
        labelled(api, "RoleBinding", installation, roleRef=reference("Role"), subjects=[subject]),
        *(_access_to_workers(api, reference("Role"), subject) if "fleet" in installation.controllers else ()),
    ]


def _access_to_workers(api: str, role: Document, subject: Document) -> list[Document]:
    """The kubeconfigs of the workers lie in a namespace of their own; it may exist already."""
    there = Installation(namespace=well_known.KUBECONFIG_NAMESPACE)
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": well_known.KUBECONFIG_NAMESPACE}},
        labelled(api, "Role", there, rules=[dict(rule) for rule in KUBECONFIGS]),
        labelled(api, "RoleBinding", there, roleRef=role, subjects=[subject]),
    ]


def _configuration(installation: Installation) -> Document:
    settings: Document = {
        "apiVersion": well_known.API_VERSION,
        "kind": "ReprieveConfiguration",
        "scheduler": {
            "schedulerName": installation.scheduler_name,
            "leaderElection": {"namespace": installation.namespace, "name": NAME},
        },
    }
    if installation.webhook:
        settings["quota"] = {"webhook": {"port": WEBHOOK_PORT, "name": NAME}}
    if installation.tracing:
        settings["tracing"] = {"endpoint": installation.tracing}
    return labelled("v1", "ConfigMap", installation, data={"config.yaml": format_yaml([settings])})


def _pods(installation: Installation) -> Document:
    spread = {
        "maxSkew": 1,
        "topologyKey": well_known.HOSTNAME_LABEL,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(LABELS)},
    }
    spec = {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "priorityClassName": well_known.SYSTEM_CLUSTER_CRITICAL,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [spread],
        "containers": [_container(installation)],
        "volumes": [
            {"name": "config", "configMap": {"name": NAME}},
            *([{"name": "tmp", "emptyDir": {"medium": "Memory"}}] if installation.webhook else ()),
        ],
    }
    template = {"metadata": {"labels": dict(LABELS)}, "spec": spec}
    body = {
        "replicas": installation.replicas,
        "selector": {"matchLabels": dict(LABELS)},
        "template": template,
    }
    return labelled("apps/v1", "Deployment", installation, spec=body)


def _container(installation: Installation) -> Document:
    def probe(path: str, **times: int) -> Document:
        return {"httpGet": {"path": path, "port": "http"}, **times}

    source = {"secretKeyRef": {"name": TOKEN_SECRET, "key": "token"}}
    page: Document = (
        {"env": [{"name": "REPRIEVE_TOKEN", "valueFrom": source}]} if installation.dashboard else {}
    )
    return {
        "name": NAME,
        "image": installation.image,
        "args": [
            "run",
            *("--controllers", ",".join(installation.controllers)),
            *("--config", "/etc/reprieve/config.yaml"),
            *("--listen", f"0.0.0.0:{PORT}"),
            *("--log-format", "json"),
            *(["--dashboard"] if installation.dashboard else []),
        ],
        **page,
        "ports": [
            {"name": name, "containerPort": number, "protocol": "TCP"}
            for name, number in _ports(installation).items()
        ],
        "livenessProbe": probe("/healthz", periodSeconds=10, failureThreshold=3),
        "readinessProbe": probe("/readyz", periodSeconds=5),
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "4Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/reprieve", "readOnly": True},
            *([{"name": "tmp", "mountPath": "/tmp"}] if installation.webhook else ()),
        ],
    }


def _service(installation: Installation) -> Document:
    # The protocol is a key of the list: servers before 1.22 refuse to apply (server-side) what leaves it out.
    ports = [
        {"name": name, "port": 443 if name == "webhook" else number, "targetPort": name, "protocol": "TCP"}
        for name, number in _ports(installation).items()
    ]
    return labelled("v1", "Service", installation, spec={"selector": dict(LABELS), "ports": ports})


def _ports(installation: Installation) -> dict[str, int]:
    return {"http": PORT, **({"webhook": WEBHOOK_PORT} if installation.webhook else {})}


def _webhook(installation: Installation) -> Document:
    """For new pods and jobs of queues. Ignored if nobody answers: the controller holds them soon after."""
    groups: dict[tuple[str, str], list[str]] = {("", "v1"): ["pods"]}
    for kind in JobKinds():
        if kind.asks != "none":
            groups.setdefault((kind.group, kind.versions[0]), []).append(kind.plural)
    # The scope is said since the API server adds it, and kubectl would take that for a change each time.
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "resources": names,
            "operations": ["CREATE"],
            "scope": "Namespaced",
        }
        for (group, version), names in groups.items()
    ]
    kept_out = [*well_known.UNMANAGED_NAMESPACES, installation.namespace]
    where = {"key": well_known.NAMESPACE_NAME_LABEL, "operator": "NotIn", "values": kept_out}
    service = {
        "name": NAME,
        "namespace": installation.namespace,
        "path": well_known.WEBHOOK_PATH,
        "port": 443,
    }
    hook = {
        "name": "hold.reprieve.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "failurePolicy": "Ignore",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": 5,
        "namespaceSelector": {"matchExpressions": [where]},
        "objectSelector": {"matchExpressions": [{"key": well_known.QUEUE_LABEL, "operator": "Exists"}]},
        "rules": rules,
    }
    api = "admissionregistration.k8s.io/v1"
    return labelled(api, "MutatingWebhookConfiguration", None, webhooks=[hook])


def _budget(installation: Installation) -> Document:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": dict(LABELS)}}
    return labelled(f"policy/{installation.policy_version}", "PodDisruptionBudget", installation, spec=spec)


def _network(installation: Installation) -> Document:
    """In: only the HTTP port. Out: the API server (its address is not known here, so its ports), names, and
    the collector of spans, if there is one."""
    egress: list[Document] = [
        {"ports": [{"protocol": "TCP", "port": 443}, {"protocol": "TCP", "port": 6443}]},
        {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
    ]
    if installation.tracing:
        egress.append({"ports": [{"protocol": "TCP", "port": _port_of(installation.tracing)}]})
    spec = {
        "podSelector": {"matchLabels": dict(LABELS)},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": [{"protocol": "TCP", "port": port} for port in _ports(installation).values()]}],
        "egress": egress,
    }
    return labelled("networking.k8s.io/v1", "NetworkPolicy", installation, spec=spec)


def _port_of(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)
