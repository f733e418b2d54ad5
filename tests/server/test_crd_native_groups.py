"""A definition cannot add a kind to a group version that Kubernetes itself serves."""

import pytest

from reprieve.server.errors import ApiError
from tests.server.rig import condition, running

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def definition(group: str, version: str = "v1") -> dict[str, object]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"widgets.{group}",
            "annotations": {"api-approved.kubernetes.io": "https://example.com/approved"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


async def test_a_kind_in_a_native_group_version_is_not_served_and_the_definition_says_so() -> None:
    async with running() as rig:
        await rig.create(DEFINITIONS, definition("networking.k8s.io"))
        assert rig.api.registry.find("networking.k8s.io", "v1", "widgets") is None
        stored = rig.get(DEFINITIONS, "widgets.networking.k8s.io", "")
        assert condition(stored, "Established") == "False/BuiltInGroupVersion"
        with pytest.raises(ApiError):
            await rig.api.create(
                "widgets.networking.k8s.io", {"metadata": {"name": "w", "namespace": "default"}}
            )


@pytest.mark.parametrize(("group", "version"), [("example.com", "v1"), ("kueue.x-k8s.io", "v1beta2")])
async def test_other_groups_and_kueues_are_open(group: str, version: str) -> None:
    async with running() as rig:
        await rig.create(DEFINITIONS, definition(group, version))
        assert rig.api.registry.find(group, version, "widgets") is not None
        stored = rig.get(DEFINITIONS, f"widgets.{group}", "")
        assert condition(stored, "Established").startswith("True")
