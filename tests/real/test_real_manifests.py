"""Everything that `reprieve manifests` prints, for every choice, applied to a real kube-apiserver by kubectl:
accepted, and a second time nothing changes.
"""

import json
from typing import Any

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.manifests import KUEUE, SCHEDULING, crds, deployment, monitoring
from reprieve.objects import well_known
from tests.builders import Document
from tests.real.cluster import installation, kubectl

pytestmark = pytest.mark.real

CHOICES: dict[str, dict[str, Any]] = {
    "scheduler": {"controllers": ("scheduler",)},
    "quota": {"controllers": ("quota",)},
    "fleet": {"controllers": ("fleet",)},
    "all": {"controllers": ("scheduler", "quota", "fleet")},
    "webhook": {"controllers": ("scheduler", "quota"), "webhook": True},
    "page": {"controllers": ("scheduler", "quota", "fleet"), "webhook": True, "dashboard": True},
}
BUDGET = "poddisruptionbudget.policy/reprieve configured"


@pytest.fixture
def clean(plane: ControlPlane) -> None:
    """Without anything that another test has installed."""
    for kind in ("clusterrole", "clusterrolebinding", "mutatingwebhookconfiguration"):
        kubectl(plane, "delete", kind, "reprieve", "--ignore-not-found", "--wait")
    # Every choice with a fleet has this one. Nothing can be made in a namespace that is on its way out, and
    # tests of fleets leave theirs behind.
    fleets = f"namespace/{well_known.KUBECONFIG_NAMESPACE}"
    kubectl(plane, "delete", fleets, "--ignore-not-found", "--wait", "--timeout=120s")


@pytest.mark.parametrize("groups", [(SCHEDULING, KUEUE), (SCHEDULING,)], ids=["all", "without Kueue's"])
def test_the_definitions_are_accepted_in_both_ways(plane: ControlPlane, groups: tuple[str, ...]) -> None:
    documents = crds(groups)
    kubectl(plane, "delete", "--ignore-not-found", "--wait", "-f", "-", given=crds())
    assert _applied_in_both_ways(plane, documents) == set()
    kubectl(plane, "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    assert "podgroups" in kubectl(plane, "api-resources", "--api-group=scheduling.reprieve.dev")


@pytest.mark.parametrize("choice", CHOICES)
def test_every_deployment_is_accepted_in_both_ways(plane: ControlPlane, clean: None, choice: str) -> None:
    documents = deployment(installation(plane, namespace=f"tried-{choice}", **CHOICES[choice]))
    changed = _applied_in_both_ways(plane, documents)
    # Of every budget of policy/v1 kubectl sends the selector again (its patch strategy is "replace"), and
    # calls that a change. It is none: the object's generation stays.
    assert changed == ({BUDGET} if plane.version >= (1, 21) else set())
    kubectl(plane, "delete", "--wait=false", "-f", "-", given=documents)


def test_monitoring_is_accepted_in_both_ways(plane: ControlPlane) -> None:
    """With the kinds of the Prometheus operator defined as open: no operator is here."""
    kinds = [_open_definition("ServiceMonitor"), _open_definition("PrometheusRule")]
    kubectl(plane, "apply", "-f", "-", given=kinds)
    kubectl(plane, "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    where = installation(plane, namespace="tried-monitoring")
    kubectl(plane, "create", "namespace", where.namespace)
    assert _applied_in_both_ways(plane, monitoring(where)) == set()
    kubectl(plane, "delete", "--wait=false", "-f", "-", given=kinds)


def _open_definition(kind: str) -> Document:
    group, plural = "monitoring.coreos.com", f"{kind.lower()}s"
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def _applied_in_both_ways(plane: ControlPlane, documents: list[Document]) -> set[str]:
    """Lines of the second client-side apply that do not say "unchanged"."""
    kubectl(plane, "apply", "--server-side", "-f", "-", given=documents)
    before = _shown(plane, documents)
    assert "Warning" not in kubectl(plane, "apply", "--server-side", "-f", "-", given=documents)
    assert _shown(plane, documents) == before
    kubectl(plane, "delete", "--wait", "-f", "-", given=documents)
    assert "Warning" not in kubectl(plane, "apply", "-f", "-", given=documents)
    before = _shown(plane, documents)
    said = kubectl(plane, "apply", "-f", "-", given=documents)
    assert _shown(plane, documents) == before
    return {line for line in said.splitlines() if not line.endswith("unchanged")}


def _shown(plane: ControlPlane, documents: list[Document]) -> list[Document]:
    """The objects as the server has them, their generation too, without what controllers write."""
    items = json.loads(kubectl(plane, "get", "-f", "-", "-o", "json", given=documents))["items"]
    for item in items:
        item.pop("status", None)
        del item["metadata"]["resourceVersion"]
        item["metadata"].get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
    return items
