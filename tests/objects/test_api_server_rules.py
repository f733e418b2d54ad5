"""What an API server refuses of its own kinds that make no pods."""

from typing import Any

import pytest

from reprieve.objects import builtin_problems, definitions
from reprieve.objects.validation.builtin import _RULES

Doc = dict[str, Any]
RBAC = "rbac.authorization.k8s.io/v1"


def document(kind: str, api_version: str = "v1", **more: Any) -> Doc:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "a"}, **more}


def found(new: Doc, old: Doc | None = None) -> list[tuple[str, str]]:
    problems = builtin_problems(new, old)
    return sorted((problem.path, problem.reason.removeprefix("FieldValue")) for problem in problems)


def claim(**spec: Any) -> Doc:
    usual = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return document("PersistentVolumeClaim", spec=usual | spec)


def volume(**spec: Any) -> Doc:
    usual = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/"}}
    return document("PersistentVolume", spec=usual | spec)


def event(**more: Any) -> Doc:
    usual: Doc = {"involvedObject": {"kind": "Pod", "namespace": "a"}, "type": "Normal", "reason": "R"}
    newer = {"eventTime": "2026-01-01T00:00:00Z", "action": "A", "reportingInstance": "i"}
    return document("Event", **usual, **newer, reportingComponent="c") | more


def binding(**more: Any) -> Doc:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
    return document("ClusterRoleBinding", RBAC, roleRef=role) | more


def limits(**limit: Any) -> Doc:
    return document("LimitRange", spec={"limits": [{"type": "Container"} | limit]})


def quota(*scopes: str, **hard: str) -> Doc:
    return document("ResourceQuota", spec={"hard": hard, "scopes": list(scopes)})


def storage_class(**more: Any) -> Doc:
    return document("StorageClass", "storage.k8s.io/v1", provisioner="p") | more


@pytest.mark.parametrize(
    ("new", "problems"),
    [
        (document("ConfigMap", data={"a": "b"}, binaryData={"c": "ZA=="}), []),
        (document("ConfigMap", data={"a b": "c"}), [("data[a b]", "Invalid")]),
        (document("ConfigMap", binaryData={"a": "%"}), [("binaryData[a]", "Invalid")]),
        (document("ConfigMap", data={"a": "b"}, binaryData={"a": "ZA=="}), [("data[a]", "Invalid")]),
        (document("Secret", type="kubernetes.io/tls", stringData={"tls.crt": "x", "tls.key": "y"}), []),
        (
            document("Secret", type="kubernetes.io/tls", data={"tls.crt": "ZA=="}),
            [("data[tls.key]", "Required")],
        ),
        (document("Lease", "coordination.k8s.io/v1", spec={"leaseDurationSeconds": 15}), []),
        (
            document(
                "Lease", "coordination.k8s.io/v1", spec={"leaseDurationSeconds": 0, "leaseTransitions": -1}
            ),
            [("spec.leaseDurationSeconds", "Invalid"), ("spec.leaseTransitions", "Invalid")],
        ),
        (event(), []),
        (event(eventTime=None, action=""), []),
        (event(action="", type="Odd"), [("action", "Required"), ("type", "Invalid")]),
        (
            event(involvedObject={"kind": "Pod", "namespace": "b"}),
            [("involvedObject.namespace", "Invalid")],
        ),
        (limits(min={"cpu": "1"}, max={"cpu": "2"}, default={"cpu": "2"}), []),
        (limits(min={"cpu": "3"}, max={"cpu": "2"}), [("spec.limits[0].min[cpu]", "Invalid")]),
        (limits(type="", max={"cpu": "?"}, min={"cpu": "1"}), [
            ("spec.limits[0].min[cpu]", "Invalid"), ("spec.limits[0].type", "Required"),
        ]),
        (limits(type="Pod", default={"cpu": "1"}), [("spec.limits[0].default", "Forbidden")]),
        (quota("BestEffort", pods="3"), []),
        (
            quota("Odd", pods="1500m", cpu="-1"),
            [("spec.hard[cpu]", "Invalid"), ("spec.hard[pods]", "Invalid"), ("spec.scopes", "Invalid")],
        ),
        (claim(), []),
        (
            claim(accessModes=[], resources={}),
            [("spec.accessModes", "Required"), ("spec.resources[storage]", "Required")],
        ),
        (claim(accessModes=["Odd"]), [("spec.accessModes", "NotSupported")]),
        (volume(), []),
        (volume(capacity={}), [("spec.capacity", "Required")]),
        (volume(nfs={}), [("spec.nfs", "Forbidden")]),
        (document("PersistentVolume", spec={"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"}}),
         [("spec", "Required")]),
        (storage_class(reclaimPolicy="Retain"), []),
        (storage_class(provisioner="", volumeBindingMode="Odd"), [
            ("provisioner", "Required"), ("volumeBindingMode", "NotSupported"),
        ]),
        (document("RuntimeClass", "node.k8s.io/v1", handler="A b"), [("handler", "Invalid")]),
        (document("Role", RBAC, rules=[{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]), []),
        (document("Role", RBAC, rules=[{"nonResourceURLs": ["/"]}]), [
            ("rules[0].nonResourceURLs", "Invalid"), ("rules[0].verbs", "Required"),
        ]),
        (document("ClusterRole", RBAC, rules=[{"verbs": ["get"]}]), [
            ("rules[0].apiGroups", "Required"), ("rules[0].resources", "Required"),
        ]),
        (binding(subjects=[{"kind": "User", "name": "u"}]), []),
        (binding(roleRef={"kind": "ClusterRole", "name": "r"}), []),
        (binding(subjects=[{"kind": "ServiceAccount"}, {"kind": "Odd", "name": "o"}]), [
            ("subjects[0].name", "Required"), ("subjects[0].namespace", "Required"),
            ("subjects[1].kind", "NotSupported"),
        ]),
        (binding(roleRef={"apiGroup": "odd", "kind": "Role"}), [
            ("roleRef.apiGroup", "NotSupported"), ("roleRef.kind", "NotSupported"),
            ("roleRef.name", "Required"),
        ]),
    ],
)  # fmt: skip
def test_a_new_object_breaks_these_rules(new: Doc, problems: list[tuple[str, str]]) -> None:
    assert found(new) == problems


@pytest.mark.parametrize(
    ("new", "old", "problems"),
    [
        (claim(storageClassName="fast"), claim(), []),
        (claim(volumeName="v", storageClassName="fast"), claim(storageClassName="fast"), []),
        (claim(storageClassName="fast"), claim(storageClassName="slow"), [("spec", "Forbidden")]),
        (volume(), volume(hostPath={"path": "/b"}), [("spec.persistentvolumesource", "Forbidden")]),
        (storage_class(), storage_class(provisioner="q"), [("provisioner", "Invalid")]),
        (storage_class(), storage_class(reclaimPolicy="Retain"), [("reclaimPolicy", "Forbidden")]),
        (document("RuntimeClass", "node.k8s.io/v1", handler="a"),
         document("RuntimeClass", "node.k8s.io/v1", handler="b"), [("handler", "Invalid")]),
        (quota("BestEffort"), quota(), [("spec.scopes", "Invalid")]),
        (binding(), binding(roleRef={"kind": "ClusterRole", "name": "s"}), [("roleRef", "Invalid")]),
        (event(), event(action="B"), [("action", "Invalid")]),
        (event(), event(eventTime=None, action="B"), []),
        (document("Secret", type="a"), document("Secret", type="b"), [("type", "Invalid")]),
        (document("ConfigMap", data={"a": "b"}), document("ConfigMap", data={}, immutable=True),
         [("data", "Forbidden"), ("immutable", "Forbidden")]),
    ],
)  # fmt: skip
def test_a_change_breaks_these_rules(new: Doc, old: Doc, problems: list[tuple[str, str]]) -> None:
    assert found(new, old) == problems


def test_a_refused_change_of_a_secret_does_not_show_it() -> None:
    old = document("Secret", data={"a": "aGlkZGVu"}, immutable=True)
    new = document("Secret", data={"a": "%hidden"}, immutable=True)
    assert [problem.value for problem in builtin_problems(new, old)] == [None, None]


def definition(schema: Any = ..., **spec: Any) -> Doc:
    version: Doc = {"name": "v1", "served": True, "storage": True}
    if schema is not ...:
        version["schema"] = {"openAPIV3Schema": schema}
    usual = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "lamps", "kind": "Lamp"},
        "versions": [version],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lamps.example.com"},
        "spec": usual | spec,
    }


GOOD = {"type": "object", "properties": {"spec": {"type": "object"}}}
SCHEMA = "spec.versions[0].schema.openAPIV3Schema"


@pytest.mark.parametrize(
    ("new", "problems"),
    [
        (definition(GOOD), []),
        (definition(GOOD, scope="Odd"), [("spec.scope", "NotSupported")]),
        (definition(GOOD, group="com"), [("metadata.name", "Invalid"), ("spec.group", "Invalid")]),
        (definition(GOOD, group="batch.k8s.io"),
         [("metadata.annotations[api-approved.kubernetes.io]", "Required"), ("metadata.name", "Invalid")]),
        (definition(GOOD, names={"plural": "lamps", "kind": ""}), [("spec.names.kind", "Invalid")]),
        (definition(GOOD, versions=[]), [("spec.versions", "Required")]),
        (definition(GOOD, versions="v1"), [("spec", "Invalid")]),
        ({**definition(GOOD), "spec": None}, [("spec", "Required")]),
        (definition(), [(SCHEMA, "Required")]),
        (definition(preserveUnknownFields=True), []),
        (definition({"type": "string"}), [(f"{SCHEMA}.type", "Invalid")]),
        (definition({"type": "object", "properties": []}), [(f"{SCHEMA}.properties", "Invalid")]),
        (definition({"type": "object", "properties": {"a": 1}}), [(f"{SCHEMA}.properties[a]", "Invalid")]),
        (definition({"type": "object", "properties": {"a": {}}}),
         [(f"{SCHEMA}.properties[a].type", "Required")]),
        (definition({"type": "object", "properties": {"a": {"type": "odd"}}}),
         [(f"{SCHEMA}.properties[a].type", "NotSupported")]),
        (definition({"type": "object", "properties": {"a": {"type": "array"}}}),
         [(f"{SCHEMA}.properties[a].items", "Required")]),
        (definition({"type": "object", "properties": {"a": {"type": "string"}},
                     "additionalProperties": {"type": "string"}}), [(SCHEMA, "Forbidden")]),
        (definition({"type": "object", "anyOf": [{"pattern": "("}]}),
         [(f"{SCHEMA}.anyOf[0].pattern", "Invalid")]),
    ],
)  # fmt: skip
def test_a_definition_breaks_these_rules(new: Doc, problems: list[tuple[str, str]]) -> None:
    assert found(new) == problems
    definitions.learn_schemas(new)
    assert found(new) == problems, "what is wrong is not remembered as right"


def test_a_schema_of_endless_depth_is_refused() -> None:
    deep: Doc = {"type": "object"}
    for _ in range(70):
        deep = {"type": "object", "properties": {"a": deep}}
    assert [reason for _, reason in found(definition(deep))] == ["Invalid"]


ODD = ["x", 1, [1], {"a": 1}, None, "\ud800", [[1]], [{"a": [1]}], {None: 1}]
FIELDS = (
    "spec", "data", "binaryData", "stringData", "rules", "roleRef", "subjects", "handler", "provisioner",
    "parameters", "reclaimPolicy", "type", "eventTime", "involvedObject", "immutable",
)  # fmt: skip
IN_SPEC = (
    "limits", "hard", "scopes", "accessModes", "capacity", "resources", "schedule", "timeZone", "names",
    "versions", "scope", "group",
)  # fmt: skip


@pytest.mark.parametrize("kind", sorted(_RULES), ids="/".join)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_no_rule_fails_on_an_object_of_any_shape(kind: tuple[str, str], odd: Any) -> None:
    group, name = kind
    plain = document(name, f"{group}/v1" if group else "v1")
    for new in (*({**plain, f: odd} for f in FIELDS), *({**plain, "spec": {f: odd}} for f in IN_SPEC)):
        builtin_problems(new, None)  # a stored object has the right types
    builtin_problems(definition({"type": "object", "description": odd}), None)


def test_the_scope_of_a_definition_stays() -> None:
    assert found(definition(GOOD), definition(GOOD, scope="Cluster")) == [("spec.scope", "Invalid")]
