"""Whatever a client sends as a patch or an apply: it is done or refused, and nothing else."""

import copy
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.apply import server_side_apply, track_update
from reprieve.server.errors import ApiError
from reprieve.server.patch import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, apply_patch
from tests.scale import examples
from tests.server.kinds import PODS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = [
    "metadata",
    "spec",
    "status",
    "containers",
    "name",
    "env",
    "ports",
    "containerPort",
    "labels",
    "finalizers",
    "conditions",
    "type",
    "tolerations",
    "volumes",
    "managedFields",
    "fieldsV1",
    "operation",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$setElementOrder/finalizers",
    "$deleteFromPrimitiveList/finalizers",
    "$deleteFromPrimitiveList/containers",
]
WORDS = ["a", "b", "delete", "replace", "merge", "Apply", "Update", "", "\U0001f600"]
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.sampled_from(WORDS)
values = st.recursive(
    scalars,
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.sampled_from(KEYS), children, max_size=4)
    ),
    max_leaves=15,
)
documents = st.dictionaries(st.sampled_from(KEYS[:3]), values)
operations = st.lists(
    st.dictionaries(st.sampled_from(["op", "path", "from", "value"]), values)
    | st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
            "path": st.lists(st.sampled_from([*KEYS[:6], "0", "-", "~0", "~2"]), max_size=4).map(
                lambda parts: "".join(f"/{p}" for p in parts)
            ),
        },
        optional={"value": values, "from": st.sampled_from(["/spec", "/metadata/labels", "", "x"])},
    ),
    max_size=4,
)


@given(st.sampled_from([MERGE_PATCH, STRATEGIC_MERGE_PATCH]), documents, values | documents)
@examples(100)
def test_merge_patches(content_type: str, current: Any, patch: Any) -> None:
    before = copy.deepcopy(current)
    try:
        assert isinstance(apply_patch(content_type, current, patch, PODS), dict)
    except ApiError as refusal:
        if refusal.code not in (400, 422):
            raise
    assert current == before


@given(documents, operations | values)
@examples(100)
def test_json_patches(current: Any, patch: Any) -> None:
    before = copy.deepcopy(current)
    try:
        assert isinstance(apply_patch(JSON_PATCH, current, patch, PODS), dict)
    except ApiError as refusal:
        if refusal.code not in (400, 413, 422):
            raise
    assert current == before


@given(documents, documents, st.booleans(), st.sampled_from(["", "status"]))
@examples(100)
def test_applies_and_updates(current: Any, applied: Any, force: bool, subresource: str) -> None:
    """Metadata is an object by then: the server checked it."""
    current, applied = ({**doc, "metadata": as_object(doc.get("metadata"))} for doc in (current, applied))
    try:
        created = server_side_apply(None, applied, "a", force, PODS, NOW, subresource)
        server_side_apply(current, applied, "a", force, PODS, NOW, subresource)
        server_side_apply(created, current, "b", force, PODS, NOW, subresource)
        track_update(current, applied, "c", subresource, NOW, PODS)
    except ApiError as refusal:
        if refusal.code not in (400, 409):
            raise


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
