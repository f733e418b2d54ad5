"""Rights: what stored roles give, who may act as somebody else, tokens of service accounts, reviews."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from reprieve.server import EmbeddedServer
from reprieve.server.controllers.delaying_queue import ManualClock
from reprieve.server.storage import DataDirectoryUnusable
from tests.server.wire import CONFIG_MAPS, PODS, Answer, Wire, connected, pod

RBAC = "/apis/rbac.authorization.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


async def grant(wire: Wire, subject: dict[str, Any], rules: list[dict[str, Any]], name: str = "r") -> None:
    """A role in the namespace `default`, bound to somebody."""
    roles = f"{RBAC}/namespaces/default"
    assert (await wire.post(f"{roles}/roles", {"metadata": {"name": name}, "rules": rules})).status == 201
    binding = {
        "metadata": {"name": name},
        "subjects": [subject],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
    }
    assert (await wire.post(f"{roles}/rolebindings", binding)).status == 201


async def as_user(wire: Wire, user: str, method: str, path: str, body: Any = None, **more: str) -> Answer:
    return await wire(method, path, body, {"Impersonate-User": user, **more})


USER = {"kind": "User", "name": "alice"}
READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}


async def test_as_somebody_else_only_their_roles_count(wire: Wire) -> None:
    refused = await as_user(wire, "alice", "GET", PODS)
    assert (refused.status, refused.reason) == (403, "Forbidden")
    assert refused.message == (
        'pods is forbidden: User "alice" cannot list resource "pods" in API group "" '
        'in the namespace "default"'
    )
    await grant(wire, USER, [READ_PODS])
    assert (await as_user(wire, "alice", "GET", PODS)).status == 200
    assert (await as_user(wire, "bob", "GET", PODS)).status == 403
    assert (await as_user(wire, "alice", "GET", "/api/v1/pods")).status == 403, (
        "a role holds in its namespace"
    )
    assert (await as_user(wire, "alice", "POST", PODS, pod("p"))).status == 403
    assert (await as_user(wire, "alice", "GET", CONFIG_MAPS)).status == 403


async def test_groups_extra_and_uid_are_taken_over_too(wire: Wire) -> None:
    await grant(wire, {"kind": "Group", "name": "developers"}, [READ_PODS])
    assert (await as_user(wire, "bob", "GET", PODS)).status == 403
    assert (await as_user(wire, "bob", "GET", PODS, **{"Impersonate-Group": "developers"})).status == 200
    review = {"Impersonate-Uid": "u-1", "Impersonate-Extra-Example.com%2fproject": "x"}
    answer = await as_user(wire, "bob", "POST", f"{AUTHENTICATION}/selfsubjectreviews", {}, **review)
    assert answer.body["status"]["userInfo"] == {
        "username": "bob",
        "uid": "u-1",
        "groups": ["system:authenticated"],
        "extra": {"example.com/project": ["x"]},
    }


async def test_only_those_with_the_right_act_as_others(wire: Wire) -> None:
    reader = {"Authorization": f"Bearer {wire.server.reader_token}", "Impersonate-User": "alice"}
    refused = await wire("GET", PODS, None, reader)
    assert refused.status == 403
    assert 'User "reprieve-reader" cannot impersonate resource "users"' in refused.message
    nobody = await wire("GET", PODS, None, {"Impersonate-Group": "system:masters"})
    assert (nobody.status, "name one with --as" in nobody.message) == (400, True)
    role = {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["bob"]}
    await wire.post(f"{RBAC}/clusterroles", {"metadata": {"name": "actor"}, "rules": [role]})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "actor"}
    reader_subject = {"kind": "User", "name": "reprieve-reader"}
    binding = {"metadata": {"name": "actor"}, "subjects": [reader_subject], "roleRef": reference}
    await wire.post(f"{RBAC}/clusterrolebindings", binding)
    review = f"{AUTHENTICATION}/selfsubjectreviews"
    assert (await wire("POST", review, {}, {**reader, "Impersonate-User": "bob"})).status == 201
    assert (await wire("POST", review, {}, reader)).status == 403
    for header, value, what in (
        ("Impersonate-Group", "system:masters", 'resource "groups"'),
        ("Impersonate-Extra-Scopes", "all", 'resource "userextras/scopes"'),
        ("Impersonate-Uid", "u-1", 'resource "uids"'),
    ):  # to act as somebody is no right to be more than that
        refused = await wire("POST", review, {}, {**reader, "Impersonate-User": "bob", header: value})
        assert (refused.status, what in refused.message) == (403, True), header


async def test_nobody_gives_themselves_rights(wire: Wire) -> None:
    rule = {"apiGroups": ["*"], "resources": ["rolebindings", "roles"], "verbs": ["*"]}
    await grant(wire, USER, [rule])
    refused = await as_user(
        wire, "alice", "POST", f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "x"}, "rules": []}
    )
    assert (refused.status, "only members of system:masters" in refused.message) == (403, True)
    assert (await as_user(wire, "alice", "GET", f"{RBAC}/namespaces/default/roles")).status == 200


async def test_names_and_subresources_limit_a_rule(wire: Wire) -> None:
    await wire.post(PODS, pod("mine"))
    await wire.post(PODS, pod("other"))
    named = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["mine"]}
    status = {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]}
    await grant(wire, USER, [named, status])
    assert (await as_user(wire, "alice", "GET", f"{PODS}/mine")).status == 200
    assert (await as_user(wire, "alice", "GET", f"{PODS}/other")).status == 403
    assert (await as_user(wire, "alice", "GET", PODS)).status == 403
    patch = {"Content-Type": "application/merge-patch+json"}
    assert (await as_user(wire, "alice", "PATCH", f"{PODS}/other/status", {}, **patch)).status == 200
    assert (await as_user(wire, "alice", "PATCH", f"{PODS}/other", {}, **patch)).status == 403


async def test_an_aggregated_role_has_the_rules_of_those_it_collects(wire: Wire) -> None:
    collected = {"metadata": {"name": "part", "labels": {"to": "whole"}}, "rules": [READ_PODS]}
    selector = {"clusterRoleSelectors": [{"matchLabels": {"to": "whole"}}]}
    await wire.post(f"{RBAC}/clusterroles", collected)
    await wire.post(f"{RBAC}/clusterroles", {"metadata": {"name": "whole"}, "aggregationRule": selector})
    reference = {"kind": "ClusterRole", "name": "whole"}
    binding = {"metadata": {"name": "b"}, "subjects": [USER], "roleRef": reference}
    await wire.post(f"{RBAC}/clusterrolebindings", binding)
    assert (await as_user(wire, "alice", "GET", "/api/v1/pods")).status == 200


@pytest.mark.parametrize("role", ["cluster-admin", "admin", "edit", "view"])
async def test_the_roles_that_every_cluster_has_can_be_bound(wire: Wire, role: str) -> None:
    reference = {"kind": "ClusterRole", "name": role}
    binding = {"metadata": {"name": "b"}, "subjects": [USER], "roleRef": reference}
    await wire.post(f"{RBAC}/namespaces/default/rolebindings", binding)
    assert (await as_user(wire, "alice", "GET", PODS)).status == 200
    made = await as_user(wire, "alice", "POST", PODS, pod("p"))
    assert made.status == (403 if role == "view" else 201)
    secrets = await as_user(wire, "alice", "GET", "/api/v1/namespaces/default/secrets")
    assert secrets.status == (403 if role == "view" else 200)
    roles = await as_user(wire, "alice", "GET", f"{RBAC}/namespaces/default/roles")
    assert roles.status == (200 if role in ("admin", "cluster-admin") else 403)
    assert (await as_user(wire, "alice", "GET", "/api/v1/nodes")).status == 403


# -- tokens --------------------------------------------------------------------------------------------------


async def token_of(wire: Wire, name: str = "robot", **spec: Any) -> Answer:
    await wire.post(ACCOUNTS, {"metadata": {"name": name}})
    return await wire.post(f"{ACCOUNTS}/{name}/token", {"spec": spec})


async def test_a_service_account_speaks_by_its_token(wire: Wire) -> None:
    asked = await token_of(wire)
    assert (asked.status, asked.body["kind"], asked.body["spec"]["expirationSeconds"]) == (
        201,
        "TokenRequest",
        3600,
    )
    bearer = {"Authorization": f"Bearer {asked.body['status']['token']}"}
    me = await wire("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}, bearer)
    user = me.body["status"]["userInfo"]
    assert user["username"] == "system:serviceaccount:default:robot"
    assert user["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]
    assert (await wire("GET", PODS, None, bearer)).status == 403
    await grant(wire, {"kind": "ServiceAccount", "name": "robot", "namespace": "default"}, [READ_PODS])
    assert (await wire("GET", PODS, None, bearer)).status == 200
    assert (await as_user(wire, "system:serviceaccount:default:robot", "GET", PODS)).status == 200
    await wire.delete(f"{ACCOUNTS}/robot")
    assert (await wire("GET", PODS, None, bearer)).status == 401


async def test_a_token_ends_with_its_time_and_with_what_it_is_bound_to() -> None:
    clock = ManualClock()
    async with connected(clock=clock) as wire:
        await wire.post(PODS, pod("p"))
        bound = {"apiVersion": "v1", "kind": "Pod", "name": "p"}
        tokens = [
            (await token_of(wire, expirationSeconds=600)).body["status"]["token"],
            (await token_of(wire, boundObjectRef=bound)).body["status"]["token"],
        ]
        path = f"{AUTHENTICATION}/selfsubjectreviews"

        async def accepted() -> list[int]:
            return [
                (await wire("POST", path, {}, {"Authorization": f"Bearer {token}"})).status
                for token in tokens
            ]

        assert await accepted() == [201, 201]
        clock.advance(600)
        assert await accepted() == [401, 201]
        await wire.delete(f"{PODS}/p")
        assert await accepted() == [401, 401]


async def test_tokens_that_are_forged_or_for_others_are_refused(wire: Wire) -> None:
    token = (await token_of(wire)).body["status"]["token"]
    head, claims, signature = token.split(".")
    other = (await token_of(wire, audiences=["vault"])).body["status"]["token"]
    path = f"{AUTHENTICATION}/selfsubjectreviews"
    forged = [
        f"{head}.{claims}.{signature[:-2]}AA",
        f"{head}.{claims}.",
        f"{head}x.{claims}.{signature}",
        other,
    ]
    for bad in forged:
        assert (await wire("POST", path, {}, {"Authorization": f"Bearer {bad}"})).status == 401
    short = await token_of(wire, expirationSeconds=60)
    assert (short.status, "less than 10 minutes" in short.message) == (422, True)
    assert (await wire.post(f"{ACCOUNTS}/nobody/token", {"spec": {}})).status == 404
    review = await wire.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": token}})
    assert review.body["status"]["user"]["username"] == "system:serviceaccount:default:robot"
    assert review.body["status"]["authenticated"] is True
    review = await wire.post(
        f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": other, "audiences": ["vault"]}}
    )
    assert review.body["status"]["audiences"] == ["vault"]
    review = await wire.post(f"{AUTHENTICATION}/tokenreviews", {"spec": {"token": forged[0]}})
    assert review.body["status"] == {"user": {}, "error": "invalid bearer token"}


async def test_a_token_outlives_a_restart(tmp_path: Path) -> None:
    async with connected(data_dir=tmp_path) as wire:
        token = (await token_of(wire)).body["status"]["token"]
    async with connected(data_dir=tmp_path) as wire:
        bearer = {"Authorization": f"Bearer {token}"}
        assert (await wire("POST", f"{AUTHENTICATION}/selfsubjectreviews", {}, bearer)).status == 201


@pytest.mark.parametrize("content", [b"", b"short"])
async def test_a_damaged_key_makes_no_tokens(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "service-accounts.key").write_bytes(content)
    with pytest.raises(DataDirectoryUnusable, match=r"service-accounts\.key holds no key"):
        await EmbeddedServer(data_dir=tmp_path, controllers=False).start()


# -- reviews -------------------------------------------------------------------------------------------------


async def test_reviews_say_what_a_request_would_be_told(wire: Wire) -> None:
    await grant(wire, USER, [READ_PODS])
    for verb, allowed in (("list", True), ("delete", False)):
        attributes = {"verb": verb, "resource": "pods", "namespace": "default"}
        spec = {"user": "alice", "groups": [], "resourceAttributes": attributes}
        other = await wire.post(f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec})
        assert other.body["status"]["allowed"] is allowed
        local = f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"
        assert (await wire.post(local, {"spec": spec})).body["status"]["allowed"] is allowed
        path = f"{AUTHORIZATION}/selfsubjectaccessreviews"
        mine = await as_user(wire, "alice", "POST", path, {"spec": {"resourceAttributes": attributes}})
        assert mine.body["status"]["allowed"] is allowed
    question = {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}}
    own = await wire.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": question})
    assert own.body["status"]["allowed"] is True


async def test_everything_that_somebody_may_do_can_be_listed(wire: Wire) -> None:
    await grant(wire, USER, [READ_PODS])
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    admin = await wire.post(path, {"spec": {"namespace": "default"}})
    assert admin.body["status"]["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    alice = await as_user(wire, "alice", "POST", path, {"spec": {"namespace": "default"}})
    assert READ_PODS in alice.body["status"]["resourceRules"]
    reader = {"Authorization": f"Bearer {wire.server.reader_token}"}
    read = await wire("POST", path, {"spec": {"namespace": "default"}}, reader)
    core = next(r for r in read.body["status"]["resourceRules"] if r["apiGroups"] == [""])
    assert "pods" in core["resources"]
    assert "secrets" not in core["resources"]
    assert "rbac.authorization.k8s.io" not in json.dumps(read.body["status"])


@pytest.mark.parametrize("odd", [5, True, "abc", {"a": 1}, [None], [["x"]]], ids=str)
async def test_a_review_whose_lists_are_none_is_a_bad_request(wire: Wire, odd: Any) -> None:
    question = {"resourceAttributes": {"verb": "get", "resource": "pods"}}
    for path, spec in (
        (f"{AUTHORIZATION}/subjectaccessreviews", {"groups": odd, **question}),
        (f"{AUTHENTICATION}/tokenreviews", {"audiences": odd, "token": wire.server.token}),
    ):
        refused = await wire.post(path, {"spec": spec})
        assert (refused.status, "expected a list of strings" in refused.message) == (400, True)
