"""Roles, bindings and network policies: kept as kube-apiserver keeps them, hidden from readers, enforced by
nobody.
"""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from reprieve.server import EmbeddedServer
from tests.server.kubectl_tool import Kubectl, find_kubectl
from tests.server.wire import Wire, connected

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = f"{RBAC}/namespaces/default/roles"
BINDINGS = f"{RBAC}/namespaces/default/rolebindings"
SECRETS = "/api/v1/namespaces/default/secrets"
READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


def named(name: str, **rest: object) -> dict[str, object]:
    return {"metadata": {"name": name}, **rest}


def binding(name: str = "b", **changes: object) -> dict[str, object]:
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": "default"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    return named(name, **{"subjects": [subject], "roleRef": reference, **changes})


async def test_a_right_may_have_a_name_that_a_pod_may_not(wire: Wire) -> None:
    made = await wire.post(ROLES, named("system:Node_Reader", rules=[READ_PODS]))
    assert made.status == 201
    assert made.body["rules"] == [READ_PODS]
    assert (await wire.get(f"{ROLES}/system:Node_Reader")).status == 200
    refused = await wire.post(ROLES, named("a/b", rules=[]))
    assert refused.status == 422
    assert "metadata.name" in refused.body["message"]
    assert "may not contain '/'" in refused.body["message"]


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"apiGroups": [""], "resources": ["pods"]}, "rules[0].verbs: Required value"),
        ({"verbs": ["get"], "resources": ["pods"]}, "rules[0].apiGroups: Required value"),
        ({"verbs": ["get"], "apiGroups": [""]}, "rules[0].resources: Required value"),
    ],
)
async def test_a_rule_says_verbs_groups_and_resources(
    wire: Wire, rule: dict[str, object], problem: str
) -> None:
    refused = await wire.post(ROLES, named("r", rules=[rule]))
    assert refused.status == 422
    assert problem in refused.body["message"]


async def test_a_rule_about_paths_needs_no_resources(wire: Wire) -> None:
    rule = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    assert (await wire.post(f"{RBAC}/clusterroles", named("r", rules=[rule]))).status == 201


async def test_a_bindings_role_cannot_be_changed(wire: Wire) -> None:
    made = (await wire.post(BINDINGS, binding())).body
    made["roleRef"]["name"] = "other"
    refused = await wire.put(f"{BINDINGS}/b", made)
    assert refused.status == 422
    assert "cannot change roleRef" in refused.body["message"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"roleRef": {"kind": "Role"}}, "roleRef.name: Required value"),
        ({"roleRef": {"kind": "Pod", "name": "r"}}, 'roleRef.kind: Unsupported value: "Pod"'),
        (
            {"roleRef": {"kind": "Role", "name": "r", "apiGroup": "x"}},
            'roleRef.apiGroup: Unsupported value: "x"',
        ),
        ({"subjects": [{"kind": "Robot", "name": "r"}]}, 'subjects[0].kind: Unsupported value: "Robot"'),
        ({"subjects": [{"kind": "User"}]}, "subjects[0].name: Required value"),
    ],
)
async def test_a_binding_names_a_role_and_people(wire: Wire, changes: dict[str, Any], problem: str) -> None:
    refused = await wire.post(BINDINGS, binding(**changes))
    assert refused.status == 422
    assert problem in refused.body["message"]


async def test_an_account_without_a_namespace_is_one_of_the_bindings_own(wire: Wire) -> None:
    subjects = [{"kind": "ServiceAccount", "name": "r"}]
    assert (await wire.post(BINDINGS, binding(subjects=subjects))).status == 201
    everywhere = binding(subjects=subjects) | {"roleRef": {"kind": "ClusterRole", "name": "r"}}
    refused = await wire.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", everywhere)
    assert (refused.status, "subjects[0].namespace: Required" in refused.message) == (422, True)


async def test_a_cluster_binding_gives_cluster_roles_only(wire: Wire) -> None:
    refused = await wire.post(f"{RBAC}/clusterrolebindings", binding())
    assert 'roleRef.kind: Unsupported value: "Role"' in refused.body["message"]


async def test_what_a_binding_leaves_out_is_written_in(wire: Wire) -> None:
    people = [{"kind": "User", "name": "alice"}, {"kind": "ServiceAccount", "name": "r", "namespace": "x"}]
    made = await wire.post(BINDINGS, binding(subjects=people, roleRef={"kind": "Role", "name": "r"}))
    assert made.body["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    assert [s.get("apiGroup") for s in made.body["subjects"]] == ["rbac.authorization.k8s.io", None]


async def test_readers_see_neither_secrets_nor_rights(wire: Wire) -> None:
    """As Kubernetes' role `view`: a secret can be the key to more than reading."""
    assert (await wire.post(SECRETS, named("key", stringData={"a": "b"}))).status == 201
    wire.session.headers["Authorization"] = f"Bearer {wire.server.reader_token}"
    for path in (f"{SECRETS}/key", SECRETS, "/api/v1/secrets", "/api/v1/secrets?watch=1", ROLES, BINDINGS):
        refused = await wire.get(path)
        assert (refused.status, refused.body["reason"]) == (403, "Forbidden"), path
    assert (
        'cannot list resource "secrets" in API group "" at the cluster scope'
        in ((await wire.get("/api/v1/secrets")).body["message"])
    )
    assert (await wire.get("/api/v1/configmaps")).status == 200


@pytest.mark.parametrize(
    ("attributes", "allowed"),
    [
        ({"verb": "get", "resource": "pods"}, True),
        ({"verb": "get", "resource": "secrets"}, False),
        ({"verb": "list", "resource": "*", "group": "*"}, False),
        ({"verb": "list", "resource": "roles", "group": "rbac.authorization.k8s.io"}, False),
    ],
)
async def test_readers_are_told_what_they_may_not_see(
    wire: Wire, attributes: dict[str, str], allowed: bool
) -> None:
    wire.session.headers["Authorization"] = f"Bearer {wire.server.reader_token}"
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    review = await wire.post(path, {"spec": {"resourceAttributes": attributes}})
    assert review.body["status"]["allowed"] is allowed


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    with EmbeddedServer(controllers=False) as server:
        yield Kubectl(find_kubectl(), server.kubeconfig, tmp_path_factory.mktemp("home"), "")


def test_the_whole_installation_can_be_applied(kubectl: Kubectl) -> None:
    command = [sys.executable, "-m", "reprieve", "manifests", "deploy", "--controllers=scheduler,quota,fleet"]
    manifests = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kinds = [line.removeprefix("kind: ") for line in manifests.splitlines() if line.startswith("kind: ")]
    applied = kubectl("apply", "-f", "-", stdin=manifests).splitlines()
    assert len(applied) == len(kinds)
    assert all(line.endswith(" created") for line in applied), applied
    versions = ["get", "-f", "-", "-o", "jsonpath={.items[*].metadata.resourceVersion}"]
    first = kubectl(*versions, stdin=manifests)
    kubectl("apply", "-f", "-", stdin=manifests)
    assert kubectl(*versions, stdin=manifests) == first, "applying the same again writes nothing"
    taken_over = kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=manifests)
    assert taken_over.count("serverside-applied") == len(kinds)
    bound = kubectl.rows("clusterrolebindings", "-o", "wide")
    assert bound[0] == ["NAME", "ROLE", "AGE", "USERS", "GROUPS", "SERVICEACCOUNTS"]
    assert bound[1][:2] == ["reprieve", "ClusterRole/reprieve"]
    assert bound[1][-1] == "reprieve-system/reprieve"
    assert kubectl.rows("networkpolicies", "-n", "reprieve-system")[1][0] == "reprieve"
    assert kubectl("get", "clusterroles").splitlines()[0].split(maxsplit=1) == ["NAME", "CREATED AT"]


def test_a_kind_of_a_group_that_is_not_served_is_refused_as_by_a_real_server(
    kubectl: Kubectl, tmp_path: Path
) -> None:
    file = tmp_path / "foo.yaml"
    file.write_text("apiVersion: nowhere.example/v1\nkind: Foo\nmetadata: {name: x}\n")
    for verb in ("apply", "create"):
        said = kubectl.fails(verb, "-f", str(file))
        assert 'no matches for kind "Foo" in version "nowhere.example/v1"' in said
        assert "mime" not in said
    assert kubectl.fails("get", "foos.nowhere.example") == (
        'error: the server doesn\'t have a resource type "foos"\n'
    )
