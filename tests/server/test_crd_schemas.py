"""The schema files, and what is read with their help: unknown fields, wrong types, protobuf bodies,
JSONPath.
"""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import SchemaNode, schemas
from reprieve.server.errors import ApiError
from reprieve.server.field_validation import unknown_fields, wrong_types
from reprieve.server.http import protobuf
from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources
from tests.server.kinds import CLUSTER_QUEUES, PODS, resource


def walk(node: SchemaNode, seen: set[str]) -> int:
    """Visits every type once; parsing all lines is the test."""
    if node.type_name and node.type_name in seen:
        return 0
    seen.add(node.type_name)
    below = [*node.fields.values()] if node.shape == "object" else []
    return 1 + sum(walk(child, seen) for child in [*below, *([node.item] if node.item else [])])


@pytest.mark.parametrize("info", builtin_resources(), ids=repr)
def test_every_kind_we_serve_is_described_to_the_last_field(info: ResourceInfo) -> None:
    root = schemas.builtin_schema(info.group, info.version, info.kind)
    assert root is not None
    assert walk(root, set()) > 3
    assert root.fields["metadata"].type_name.endswith("ObjectMeta")


def test_merge_keys_name_fields_of_the_items() -> None:
    def check(node: SchemaNode, seen: set[str]) -> None:
        if node.type_name in seen:
            return
        if node.type_name:
            seen.add(node.type_name)
        if node.item is not None:
            keys = {*node.keys, node.merge_key} - {""}
            assert keys <= set(node.item.fields), (node, keys)
            check(node.item, seen)
        for child in node.fields.values() if node.shape == "object" else ():
            check(child, seen)

    for info in builtin_resources():
        root = schemas.builtin_schema(info.group, info.version, info.kind)
        assert root is not None
        check(root, set())


def test_unknown_fields_are_named_with_their_paths() -> None:
    pod = {
        "metadata": {"name": "p", "labels": {"any": "thing"}, "colour": "red"},
        "spec": {
            "containers": [{"name": "c", "imag": "i", "resources": {"limits": {"example.com/any": 1}}}],
            "nodeSelector": {"any": "label"},
        },
        "extra": 1,
    }
    assert unknown_fields(PODS, pod) == ["metadata.colour", "spec.containers[0].imag", "extra"]


def test_both_versions_of_kueue_kinds_know_their_spellings() -> None:
    queue = {"spec": {"cohort": "x", "cohortName": "y", "flavorFungibility": {"whenCanBorrow": "Borrow"}}}
    assert unknown_fields(CLUSTER_QUEUES, queue) == []
    assert unknown_fields(resource("clusterqueues", "kueue.x-k8s.io", "v1beta1"), queue) == []


def test_wrong_types_are_named_with_path_value_and_type() -> None:
    pod = {
        "spec": {
            "containers": {"name": "c"},
            "priority": "high",
            "hostNetwork": 1,
            "nodeSelector": [],
            "tolerations": None,
        }
    }
    assert wrong_types(PODS, pod) == [
        ("spec.containers", {"name": "c"}, "array"),
        ("spec.priority", "high", "integer"),
        ("spec.hostNetwork", 1, "boolean"),
        ("spec.nodeSelector", [], "object"),
    ]


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.sampled_from(["spec", "containers", "env", "metadata", "labels", "x"]), children)
    ),
    max_leaves=10,
)


@given(junk)
def test_junk_is_no_crash(value: Any) -> None:
    unknown_fields(PODS, {"spec": value})
    wrong_types(PODS, {"spec": value})


# -- protobuf ------------------------------------------------------------------------------------------------


def field(number: int, body: bytes) -> bytes:
    assert len(body) < 128
    return bytes([number << 3 | 2, len(body)]) + body


def number(position: int, value: int) -> bytes:
    assert value < 128
    return bytes([position << 3, value])


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\x00" + field(1, field(1, api_version.encode()) + field(2, kind.encode())) + field(2, raw)


def test_a_job_in_protobuf_reads_as_its_author_meant_it() -> None:
    container = field(1, b"pi") + field(2, b"perl") + field(3, b"perl") + field(5, b"")
    pod_spec = field(2, container) + field(3, b"Never") + number(11, 0)
    spec = number(1, 3) + number(2, 5) + number(10, 0) + field(6, field(1, b"") + field(2, pod_spec))
    labels = field(11, field(1, b"app") + field(2, b"x"))
    meta = field(1, b"pi") + field(2, b"") + labels + field(8, b"")
    document = protobuf.decode(envelope("batch/v1", "Job", field(1, meta) + field(2, spec) + field(3, b"")))
    assert document == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "pi", "labels": {"app": "x"}},
        "spec": {
            "parallelism": 3,
            "completions": 5,
            "suspend": False,
            "template": {
                "metadata": {},
                "spec": {
                    "containers": [{"name": "pi", "image": "perl", "command": ["perl"]}],
                    "restartPolicy": "Never",
                },
            },
        },
        "status": {},
    }


def test_secrets_quantities_times_and_ports_have_their_json_form() -> None:
    secret = field(2, field(1, b"k") + field(2, b"\x00\xff"))
    assert protobuf.decode(envelope("v1", "Secret", secret))["data"] == {"k": "AP8="}
    budget = field(2, field(1, number(1, 1) + field(3, b"50%")))
    assert protobuf.decode(envelope("policy/v1", "PodDisruptionBudget", budget))["spec"] == {
        "minAvailable": "50%"
    }
    budget = field(2, field(1, number(1, 0) + number(2, 3)))
    assert protobuf.decode(envelope("policy/v1", "PodDisruptionBudget", budget))["spec"] == {
        "minAvailable": 3
    }
    lease = field(2, field(4, number(1, 60)))
    assert protobuf.decode(envelope("coordination.k8s.io/v1", "Lease", lease))["spec"] == {
        "renewTime": "1970-01-01T00:01:00.000000Z"
    }
    quota = field(2, field(1, field(1, b"cpu") + field(2, field(1, b"500m"))))
    assert protobuf.decode(envelope("v1", "ResourceQuota", quota))["spec"] == {"hard": {"cpu": "500m"}}


def test_inlined_messages_become_plain_fields() -> None:
    source = field(1, field(1, b"settings")) + field(2, b"key")
    env = field(1, b"A") + field(3, field(3, source))
    volume = field(1, b"v") + field(2, field(2, b""))
    pod = field(2, field(1, volume) + field(2, field(1, b"c") + field(7, env)))
    spec = protobuf.decode(envelope("v1", "Pod", pod))["spec"]
    assert spec["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert spec["containers"][0]["env"][0]["valueFrom"] == {
        "configMapKeyRef": {"name": "settings", "key": "key"}
    }


def test_fields_that_nobody_knows_are_skipped() -> None:
    raw = (
        field(1, field(1, b"p") + b"\xf8\x07\x05")
        + bytes([15 << 3 | 1])
        + b"12345678"
        + bytes([14 << 3 | 5])
        + b"1234"
    )
    assert protobuf.decode(envelope("v1", "ConfigMap", raw))["metadata"] == {"name": "p"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", 400),
        (b"{}", 400),
        (b"k8s\x00\xff", 400),
        (b"k8s\x00" + field(1, b"\x0a\x7f"), 400),
        (envelope("v1", "Pod", b"\x0a\x7f"), 400),
        (envelope("v1", "Pod", b"\x0b"), 400),
        (envelope("v1", "Pod", number(1, 1)), 400),
        (envelope("v1", "Pod", field(1, field(1, b"\xff\xfe"))), 400),
        (envelope("example.com/v1", "Foo", b""), 415),
        (envelope("kueue.x-k8s.io/v1beta2", "ClusterQueue", b""), 415),
    ],
)
def test_what_is_no_protobuf_of_ours_is_refused(body: bytes, code: int) -> None:
    with pytest.raises(ApiError) as caught:
        protobuf.decode(body)
    assert caught.value.code == code


@given(st.binary(max_size=60), st.sampled_from(["Pod", "SchemaNode", "Secret", "ConfigMap"]))
def test_random_bytes_are_read_or_refused_but_never_a_crash(raw: bytes, kind: str) -> None:
    with contextlib.suppress(ApiError):
        protobuf.decode(envelope("v1", kind, raw))


# -- JSONPath ------------------------------------------------------------------------------------------------
