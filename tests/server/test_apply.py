"""Server-side apply: owners, conflicts, taking over, letting go."""

import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reprieve.server.apply import server_side_apply, track_update
from reprieve.server.errors import ApiError
from reprieve.server.registry import ResourceInfo
from tests.server.kinds import CLUSTER_QUEUES, DEPLOYMENTS, NODES, PODS

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LATER = NOW + timedelta(minutes=5)
Doc = dict[str, Any]


def deployment(**spec: Any) -> Doc:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def apply(
    current: Doc | None,
    applied: Doc,
    manager: str = "me",
    force: bool = False,
    resource: ResourceInfo = DEPLOYMENTS,
) -> Doc:
    before = copy.deepcopy((current, applied))
    result = server_side_apply(current, applied, manager, force, resource, NOW)
    assert (current, applied) == before, "the arguments may not change"
    return result


def fields_of(doc: Doc, manager: str) -> Doc:
    entries = [e for e in doc["metadata"].get("managedFields", ()) if e["manager"] == manager]
    assert len(entries) <= 1
    return entries[0]["fieldsV1"] if entries else {}


def template(*containers: Doc) -> Doc:
    return {"spec": {"containers": list(containers)}}


def refusal(
    current: Doc, applied: Doc, manager: str = "me", resource: ResourceInfo = DEPLOYMENTS
) -> ApiError:
    with pytest.raises(ApiError) as caught:
        apply(current, applied, manager, resource=resource)
    return caught.value


def test_the_first_apply_creates_and_owns_what_it_says() -> None:
    created = apply(None, deployment(replicas=2, template=template({"name": "a", "image": "i"})))
    assert created["metadata"]["managedFields"] == [
        {
            "manager": "me",
            "operation": "Apply",
            "apiVersion": "apps/v1",
            "time": "2026-11-15T12:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:spec": {
                    "f:replicas": {},
                    "f:template": {
                        "f:spec": {"f:containers": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:image": {}}}}
                    },
                }
            },
        }
    ]


def test_a_field_of_another_manager_is_a_conflict_with_its_path_and_owner() -> None:
    current = apply(None, deployment(replicas=2), "alice")
    problem = refusal(current, deployment(replicas=3), "bob")
    assert (problem.code, problem.reason) == (409, "Conflict")
    assert problem.message == 'Apply failed with 1 conflict: conflict with "alice": .spec.replicas'
    assert problem.details == {
        "causes": [
            {"reason": "FieldManagerConflict", "message": 'conflict with "alice"', "field": ".spec.replicas"}
        ]
    }


def test_several_conflicts_are_listed_by_manager() -> None:
    current = apply(None, deployment(replicas=2, template=template({"name": "a", "image": "i"})), "alice")
    wanted = deployment(replicas=3, template=template({"name": "a", "image": "j"}))
    message = refusal(current, wanted, "bob").message
    assert message == (
        'Apply failed with 2 conflicts: conflicts with "alice":\n'
        "- .spec.replicas\n"
        '- .spec.template.spec.containers[name="a"].image'
    )


def test_an_updater_is_named_with_its_version_and_time() -> None:
    old = apply(None, deployment(replicas=1), "alice")
    new = copy.deepcopy(old)
    new["spec"]["replicas"] = 5
    updated = track_update(old, new, "kubectl-edit", "", LATER)
    expected = (
        'Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1 at 2026-11-15T12:05:00Z:'
        " .spec.replicas"
    )
    assert refusal(updated, deployment(replicas=1), "alice").message == expected


def test_force_takes_the_field_over() -> None:
    current = apply(None, deployment(replicas=2, paused=True), "alice")
    forced = apply(current, deployment(replicas=3), "bob", force=True)
    assert forced["spec"] == {"replicas": 3, "paused": True}
    assert fields_of(forced, "alice") == {"f:spec": {"f:paused": {}}}
    assert fields_of(forced, "bob") == {"f:spec": {"f:replicas": {}}}


def test_equal_values_are_shared_without_conflict() -> None:
    current = apply(None, deployment(replicas=2), "alice")
    shared = apply(current, deployment(replicas=2), "bob")
    assert fields_of(shared, "alice") == fields_of(shared, "bob") == {"f:spec": {"f:replicas": {}}}


def test_a_field_no_longer_applied_goes() -> None:
    current = apply(None, deployment(replicas=2, paused=True))
    assert apply(current, deployment(replicas=2))["spec"] == {"replicas": 2}


def test_a_field_no_longer_applied_stays_while_another_owns_it() -> None:
    current = apply(apply(None, deployment(replicas=2, paused=True), "alice"), deployment(paused=True), "bob")
    after = apply(current, deployment(replicas=2), "alice")
    assert after["spec"] == {"replicas": 2, "paused": True}
    assert fields_of(after, "alice") == {"f:spec": {"f:replicas": {}}}


def test_a_field_that_the_server_defaulted_stays() -> None:
    current = apply(None, deployment(replicas=2))
    current["spec"]["progressDeadlineSeconds"] = 600
    assert apply(current, deployment(replicas=3))["spec"] == {"replicas": 3, "progressDeadlineSeconds": 600}


def test_an_item_no_longer_applied_goes_with_all_its_defaults() -> None:
    two = deployment(template=template({"name": "a", "image": "i"}, {"name": "b", "image": "i"}))
    current = apply(None, two)
    current["spec"]["template"]["spec"]["containers"][1]["imagePullPolicy"] = "Always"
    after = apply(current, deployment(template=template({"name": "a", "image": "i"})))
    assert after["spec"]["template"]["spec"]["containers"] == [{"name": "a", "image": "i"}]


def test_an_item_stays_when_another_manager_owns_a_part_of_it() -> None:
    current = apply(None, deployment(template=template({"name": "a"}, {"name": "b", "image": "i"})), "alice")
    current = apply(current, deployment(template=template({"name": "b", "stdin": True})), "bob")
    after = apply(current, deployment(template=template({"name": "a"})), "alice")
    assert after["spec"]["template"]["spec"]["containers"] == [{"name": "a"}, {"name": "b", "stdin": True}]


def test_an_apply_that_changes_nothing_returns_the_object_as_it_was() -> None:
    current = apply(None, deployment(replicas=2))
    again = server_side_apply(current, deployment(replicas=2), "me", False, DEPLOYMENTS, LATER)
    assert again == current


def test_an_object_from_before_the_first_apply_belongs_to_nobody_in_particular() -> None:
    current = deployment(replicas=2)
    message = refusal(current, deployment(replicas=3)).message
    assert message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using apps/v1: .spec.replicas'
    )


def test_kubectl_does_not_conflict_with_what_it_applied_from_the_client_side() -> None:
    current = deployment(replicas=2)
    note = '{"apiVersion":"apps/v1","spec":{"replicas":2,"paused":true}}'
    current["metadata"]["annotations"] = {LAST_APPLIED: note}
    assert apply(current, deployment(replicas=3), "kubectl")["spec"]["replicas"] == 3
    assert refusal(current, deployment(replicas=3), "other").code == 409


def test_kubectl_conflicts_where_somebody_changed_what_it_applied_from_the_client_side() -> None:
    current = deployment(replicas=4)
    note = '{"apiVersion":"apps/v1","spec":{"replicas":2}}'
    current["metadata"]["annotations"] = {LAST_APPLIED: note}
    assert refusal(current, deployment(replicas=3), "kubectl").code == 409


def test_the_note_of_the_client_side_follows_what_kubectl_applies_from_the_server_side() -> None:
    """As Go writes it: sorted, without itself, with <, > and & escaped, and a newline."""
    current = deployment(replicas=2)
    current["metadata"]["annotations"] = {LAST_APPLIED: '{"apiVersion":"apps/v1","spec":{"replicas":2}}'}
    applied = deployment(replicas=3)
    applied["metadata"]["annotations"] = {"a": "<b>"}
    note = apply(current, applied, "kubectl")["metadata"]["annotations"][LAST_APPLIED]
    assert json.loads(note) == applied
    assert note.endswith("}\n")
    assert '"annotations":{"a":"\\u003cb\\u003e"}' in note
    other = apply(current, applied, "other", force=True)["metadata"]["annotations"][LAST_APPLIED]
    assert other == current["metadata"]["annotations"][LAST_APPLIED]


def test_atomic_lists_have_one_owner() -> None:
    def tainted(*taints: str) -> Doc:
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n"},
            "spec": {"taints": [{"key": t, "effect": "NoSchedule"} for t in taints]},
        }

    current = apply(None, tainted("a"), "alice", resource=NODES)
    assert fields_of(current, "alice") == {"f:spec": {"f:taints": {}}}
    assert ".spec.taints" in refusal(current, tainted("b"), "bob", NODES).message


def test_sets_merge_value_by_value() -> None:
    def held(*finalizers: str) -> Doc:
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "finalizers": list(finalizers)}}

    current = apply(apply(None, held("a"), "alice", resource=PODS), held("b"), "bob", resource=PODS)
    assert current["metadata"]["finalizers"] == ["a", "b"]
    assert fields_of(current, "bob") == {"f:metadata": {"f:finalizers": {'v:"b"': {}}}}
    assert apply(current, held(), "alice", resource=PODS)["metadata"]["finalizers"] == ["b"]


def test_ports_are_told_apart_by_number_and_protocol_with_its_default() -> None:
    def with_ports(*ports: Doc) -> Doc:
        return deployment(template=template({"name": "a", "ports": list(ports)}))

    current = apply(None, with_ports({"containerPort": 80, "protocol": "TCP"}), "alice")
    current = apply(
        current, with_ports({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}), "bob"
    )
    ports = current["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert ports == [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP"}]


def test_labels_have_an_owner_each() -> None:
    def labelled(**labels: str) -> Doc:
        return deployment() | {"metadata": {"name": "d", "labels": labels}}

    current = apply(apply(None, labelled(a="1"), "alice"), labelled(b="2"), "bob")
    assert current["metadata"]["labels"] == {"a": "1", "b": "2"}
    after = apply(current, labelled(), "bob")
    assert after["metadata"]["labels"] == {"a": "1"}


def test_status_is_not_applied_through_the_main_resource() -> None:
    applied = deployment(replicas=1) | {"status": {"replicas": 9}}
    assert "status" not in apply(None, applied)


def test_the_status_has_owners_of_its_own() -> None:
    current = apply(None, deployment(replicas=1))
    applied = deployment(replicas=7) | {"status": {"replicas": 1}}
    after = server_side_apply(current, applied, "me", False, DEPLOYMENTS, NOW, "status")
    assert after["spec"] == {"replicas": 1}
    assert [e.get("subresource", "") for e in after["metadata"]["managedFields"]] == ["", "status"]


def test_kueue_flavors_merge_by_name_inside_an_atomic_list_of_groups() -> None:
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "q"},
        "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": []}]},
    }
    current = apply(None, queue, "alice", resource=CLUSTER_QUEUES)
    assert fields_of(current, "alice") == {"f:spec": {"f:resourceGroups": {}}}


@pytest.mark.parametrize(
    ("containers", "said"),
    [
        ([{"name": "a"}, {"name": "a"}], "duplicate entries"),
        ([{"image": "i"}], "omits key field"),
        (["text"], "expected a map"),
    ],
)
def test_lists_that_make_no_sense_are_bad_requests(containers: list[Any], said: str) -> None:
    with pytest.raises(ApiError) as caught:
        apply(None, deployment(template=template(*containers)))
    assert caught.value.code == 400
    assert said in caught.value.message


def test_an_apply_without_a_manager_is_refused() -> None:
    with pytest.raises(ApiError, match="fieldManager is required"):
        apply(None, deployment(), manager="")
