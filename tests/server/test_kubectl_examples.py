"""What people copy: every manifest of the examples, created by the real kubectl."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reprieve.server.embedded import EmbeddedServer
from reprieve.server.resources import builtin_resources
from tests.server.kubectl_tool import Kubectl, find_kubectl

pytestmark = pytest.mark.timeout(240)
EXAMPLES = Path(__file__).parents[2] / "examples"


def manifests() -> list[Path]:
    found = [p for p in sorted(EXAMPLES.rglob("*.yaml")) if "apiVersion:" in p.read_text()]
    return [p for p in found if "kind: ReprieveConfiguration" not in p.read_text()]


@pytest.mark.parametrize("manifest", manifests(), ids=lambda p: str(p.relative_to(EXAMPLES)))
def test_every_example_can_be_created(tmp_path: Path, manifest: Path) -> None:
    """On a server of its own, after the namespaces and priority classes that the folder's other files
    bring, and the definitions that the projects behind other kinds bring.
    """
    documents = documents_of(manifest)
    names = {(d["kind"], d["metadata"]["name"]) for d in documents}
    siblings = [d for path in manifest.parent.glob("*.yaml") for d in documents_of(path)]
    classes = [
        d
        for d in siblings
        if d.get("kind") == "PriorityClass" and ("PriorityClass", d["metadata"]["name"]) not in names
    ]
    with EmbeddedServer(controllers=False) as server:
        kubectl = Kubectl(find_kubectl(), server.kubeconfig, tmp_path, "")
        for namespace in sorted({d["metadata"].get("namespace", "default") for d in documents} - {"default"}):
            if ("Namespace", namespace) not in names:
                kubectl("create", "namespace", namespace)
        for document in classes:
            kubectl("create", "-f", "-", stdin=json.dumps(document))
        for document in filter(is_foreign, documents):
            kubectl("create", "-f", "-", stdin=json.dumps(definition(document)))
        assert kubectl("create", "-f", str(manifest)).count(" created") == len(documents)


def documents_of(manifest: Path) -> list[dict[str, Any]]:
    return [
        d for d in yaml.safe_load_all(manifest.read_text()) if d and d.get("kind") != "ReprieveConfiguration"
    ]


def is_foreign(document: dict[str, Any]) -> bool:
    kinds = {(each.api_version, each.kind) for each in builtin_resources()}
    return (document["apiVersion"], document["kind"]) not in kinds


def definition(document: dict[str, Any]) -> dict[str, Any]:
    """Of a kind that this server does not have, with a schema that allows everything."""
    group, _, version = document["apiVersion"].partition("/")
    plural = f"{document['kind'].lower()}s"
    approved = {"api-approved.kubernetes.io": "unapproved, for a test"}  # which groups of k8s.io must have
    open_schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": approved},
        "spec": {
            "group": group,
            "names": {"kind": document["kind"], "plural": plural},
            "scope": "Namespaced" if "namespace" in document["metadata"] else "Cluster",
            "versions": [
                {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": open_schema}}
            ],
        },
    }
