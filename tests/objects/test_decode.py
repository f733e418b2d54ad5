"""Raw documents become typed views; spellings become one; errors name path and value."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from reprieve.objects import core, kueue, policy, scheduling
from reprieve.objects.decode import Source, decode, decode_all, decode_list, encode, json_decoder
from reprieve.objects.errors import InvalidObject, UnreadableInput
from reprieve.objects.kinds import KINDS, kind_key
from reprieve.objects.normalise import is_current, normalise
from tests import builders
from tests.objects.samples import SAMPLES, edited, sample


def bare_group(**spec: Any) -> dict[str, Any]:
    """With these fields and no others, in any spelling."""
    return builders.document("PodGroup", "g", spec=spec)


def refused(document: Any) -> InvalidObject:
    with pytest.raises(InvalidObject) as caught:
        decode(document)
    return caught.value


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(decode(each)) for each in SAMPLES} == set(KINDS.values())


@pytest.mark.parametrize("document", SAMPLES, ids=lambda each: each["kind"])
def test_a_view_survives_encoding_and_decoding(document: dict[str, Any]) -> None:
    view = decode(document)
    assert decode(encode(view)) == view
    assert decode(json.loads(json.dumps(encode(view)))) == view


def test_the_two_workloads_are_told_apart_by_their_group() -> None:
    assert isinstance(decode(sample("Workload", "scheduling.k8s.io")), scheduling.Workload)
    assert isinstance(decode(sample("Workload", "kueue.x-k8s.io")), kueue.Workload)


def test_unknown_fields_are_skipped_and_nulls_are_absent() -> None:
    view = decode(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "p",
                "labels": {"a": None, "b": "x"},
                "creationTimestamp": None,
                "future": 1,
            },
            "spec": {"containers": None, "overhead": None, "priority": None, "tolerations": [{"key": None}]},
            "status": None,
        }
    )
    assert isinstance(view, core.Pod)
    assert view.metadata.labels == {"b": "x"}
    assert view.spec == core.PodSpec(tolerations=(core.Toleration(),))


def test_decoding_does_not_change_the_document() -> None:
    document = bare_group(preemptionMode="PodGroup", x=None)
    before = json.dumps(document)
    decode(document)
    assert json.dumps(document) == before


def test_timestamps_are_instants() -> None:
    document = edited(sample("Pod"), "metadata.creationTimestamp", "2026-08-23T12:00:00.5+02:00")
    assert decode(document).metadata.creation_timestamp == datetime(2026, 8, 23, 10, 0, 0, 500000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("spec.priority", "high", "spec.priority: expected an integer, got string 'high'"),
        ("spec.priority", 1.5, "spec.priority: expected an integer, got number 1.5"),
        ("spec.priority", True, "spec.priority: expected an integer, got boolean True"),
        ("spec.priority", 2**70, f"spec.priority: expected an integer, got integer {2**70}"),
        ("spec.priority", 2**31, "spec.priority: must be at most 2147483647, got 2147483648"),
        ("spec.containers", {}, "spec.containers: expected a list, got object {}"),
        ("spec.containers.0", "c", "spec.containers[0]: expected an object, got string 'c'"),
        (
            "spec.containers.0.resources.requests.cpu",
            [],
            "spec.containers[0].resources.requests[cpu]: expected a string or",
        ),
        ("spec.nodeSelector", {"a": 5}, "spec.nodeSelector[a]: expected a string, got integer 5"),
        ("metadata.labels", ["a"], "metadata.labels: expected an object, got list ['a']"),
        ("metadata.creationTimestamp", "today", "metadata.creationTimestamp: expected a timestamp"),
        (
            "spec.topologySpreadConstraints.0.labelSelector.matchExpressions",
            [{"key": "a"}],
            "matchExpressions[0].operator: is required",
        ),
        ("kind", "Podd", "kind: v1 Podd is not known here"),
        ("kind", "", "kind: is required"),
        ("apiVersion", ..., "apiVersion: is required"),
        ("apiVersion", "v2", "apiVersion: version 'v2' is not one of v1"),
    ],
)
def test_what_does_not_fit_is_named_with_path_and_value(path: str, value: Any, message: str) -> None:
    error = refused(edited(sample("Pod"), path, value))
    assert message in str(error)
    assert error.message
    assert error.path


def test_what_is_no_object_at_all_is_refused() -> None:
    assert "expected an object" in str(refused([]))
    assert "expected an object" in str(refused("Pod"))


def test_a_naive_timestamp_is_no_instant() -> None:
    error = refused(edited(sample("Pod"), "metadata.creationTimestamp", "2026-08-23T12:00:00"))
    assert error.path == "metadata.creationTimestamp"


@pytest.mark.parametrize(
    ("spec", "whole"),
    [
        ({"disruptionMode": {"all": {}}}, True),
        ({"disruptionMode": "PodGroup"}, True),
        ({"preemptionMode": "PodGroup"}, True),
        ({"disruptionMode": {"single": {}}}, False),
        ({"disruptionMode": "Pod"}, False),
        ({"preemptionMode": "Pod"}, False),
        ({}, False),
    ],
)
def test_every_spelling_of_the_disruption_mode_is_understood(spec: dict[str, Any], whole: bool) -> None:
    view = decode(bare_group(schedulingPolicy={"basic": {}}, **spec))
    assert isinstance(view, scheduling.PodGroup)
    assert view.disrupted_as_a_whole is whole


def test_the_preemption_priority_class_is_a_field_or_an_annotation() -> None:
    by_field = decode(bare_group(preemptionPriorityClassName="high"))
    annotated = bare_group()
    annotated["metadata"]["annotations"] = {"reprieve.dev/preemption-priority-class": "high"}
    by_annotation = decode(annotated)
    for view in (by_field, by_annotation):
        assert isinstance(view, scheduling.PodGroup)
        assert view.spec.preemption_priority_class_name == "high"


def test_the_first_drafts_priorities_of_a_whole_workload_go_to_its_templates() -> None:
    document = edited(sample("Workload", "scheduling"), "spec.preemptionPriorityClassName", "high")
    view = decode(edited(document, "spec.podGroupTemplates.0.preemptionMode", "PodGroup"))
    assert isinstance(view, scheduling.Workload)
    assert view.spec.pod_group_templates[0].preemption_priority_class_name == "high"


def test_the_old_label_links_a_pod_to_its_group_unless_the_field_does() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"scheduling.x-k8s.io/pod-group": "g"}},
        "spec": {},
    }
    for document, expected in ((pod, "g"), (edited(pod, "spec.schedulingGroup", {"podGroupName": "h"}), "h")):
        view = decode(document)
        assert isinstance(view, core.Pod)
        assert view.spec.scheduling_group == core.SchedulingGroup(pod_group_name=expected)


def test_a_namespaced_object_without_a_namespace_lives_in_default() -> None:
    assert decode(bare_group()).key == "default/g"
    assert decode({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}).key == "n"


def test_old_names_of_flavor_fungibility_are_understood() -> None:
    document = edited(
        sample("ClusterQueue"),
        "spec.flavorFungibility",
        {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
    )
    view = decode(document)
    assert isinstance(view, kueue.ClusterQueue)
    assert view.spec.flavor_fungibility.when_can_borrow == "MayStopSearch"
    assert view.spec.flavor_fungibility.when_can_preempt == "MayStopSearch"


def old_version(kind: str, **parts: Any) -> Any:
    return decode({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": "x"}, **parts})


def test_kueue_v1beta1_becomes_v1beta2() -> None:
    queue = old_version("ClusterQueue", spec={"cohort": "c", "admissionChecks": ["a", "b"]})
    assert queue.api_version == "kueue.x-k8s.io/v1beta2"
    assert queue.spec.cohort_name == "c"
    assert [check.name for check in queue.spec.admission_checks_strategy.admission_checks] == ["a", "b"]
    source = "kueue.x-k8s.io/workloadpriorityclass"
    workload = old_version(
        "Workload", spec={"priorityClassName": "high", "priorityClassSource": source, "priority": 5}
    )
    assert workload.spec.priority_class_ref == kueue.PriorityClassRef(
        group="kueue.x-k8s.io", kind="WorkloadPriorityClass", name="high"
    )
    cluster = old_version("MultiKueueCluster", spec={"kubeConfig": {"location": "secret"}})
    assert cluster.spec.cluster_source.kube_config.location == "secret"
    for kind in (
        "Cohort",
        "LocalQueue",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
        "AdmissionCheck",
        "MultiKueueConfig",
    ):
        assert old_version(kind).api_version == "kueue.x-k8s.io/v1beta2"


def test_decode_all_takes_lists_apart_skips_foreign_kinds_and_says_where_an_error_is() -> None:
    skipped: list[str] = []
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    pods = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}]}
    views = decode_all([pods, {"kind": "List", "items": [secret, sample("Node")]}], skipped=skipped)
    assert [view.name for view in views] == ["a", "node-1"]
    assert skipped == ["v1 Secret"]
    broken = edited(sample("Pod"), "spec.priority", "x")
    with pytest.raises(InvalidObject, match=r"^f.yaml:3: spec.priority: expected"):
        decode_all([Source("f.yaml", "3", broken)])
    with pytest.raises(InvalidObject, match=r"^objects:2: spec.priority: expected"):
        decode_all([sample("Node"), broken])
    with pytest.raises(UnreadableInput, match=r"^objects:1: expected an object, got 'x'"):
        decode_all(["x"])  # type: ignore[list-item]


class TestDecodeList:
    """The fast way from a server's bytes, and the long way it falls back to."""

    def listed(self, *items: dict[str, Any]) -> bytes:
        return json.dumps({"kind": "PodList", "apiVersion": "v1", "items": items}).encode()

    def item(self, **changes: Any) -> dict[str, Any]:
        document = sample("Pod")
        del document["apiVersion"], document["kind"]
        return {**document, **changes}

    def test_items_become_views(self) -> None:
        (pod,) = decode_list(self.listed(self.item()), core.Pod)
        assert pod.metadata == decode(sample("Pod")).metadata

    def test_nulls_in_odd_places_are_no_obstacle(self) -> None:
        (pod,) = decode_list(
            self.listed(self.item(spec={"containers": None, "nodeSelector": {"a": None}})), core.Pod
        )
        assert pod.spec == core.PodSpec()

    def test_old_spellings_are_noticed(self) -> None:
        labelled = self.item(
            metadata={"name": "p", "labels": {"scheduling.x-k8s.io/pod-group": "g"}}, spec={}
        )
        (pod,) = decode_list(self.listed(labelled), core.Pod)
        assert pod.spec.scheduling_group == core.SchedulingGroup(pod_group_name="g")
        groups = {"kind": "PodGroupList", "apiVersion": "scheduling.k8s.io/v1alpha3"}
        data = json.dumps({**groups, "items": [bare_group(disruptionMode="PodGroup")]}).encode()
        (view,) = decode_list(data, scheduling.PodGroup)
        assert view.disrupted_as_a_whole

    def test_one_object_of_a_watch_is_read_as_a_file_is(self) -> None:
        label = {"name": "p", "namespace": "ns", "labels": {"scheduling.x-k8s.io/pod-group": "g"}}
        pods = json_decoder(core.Pod, "v1", "Pod")
        assert pods(json.dumps({"metadata": label, "spec": {}}).encode()).group_key == "ns/g"
        stated = {"schedulingGroup": {"podGroupName": "other"}}
        assert pods(json.dumps({"metadata": label, "spec": stated}).encode()).group_key == "ns/other"
        assert pods(json.dumps({"metadata": {"name": "p"}, "spec": None}).encode()).group_key == ""
        groups = json_decoder(scheduling.PodGroup, "scheduling.k8s.io/v1beta1", "PodGroup")
        assert groups(json.dumps(bare_group(preemptionMode="PodGroup")).encode()).disrupted_as_a_whole

    def test_what_does_not_fit_is_refused(self) -> None:
        with pytest.raises(InvalidObject, match=r"spec.priority"):
            decode_list(self.listed(self.item(spec={"priority": "x"})), core.Pod)
        with pytest.raises(InvalidObject):
            decode_list(b"not json", core.Pod)
        with pytest.raises(InvalidObject):
            decode_list(b'{"items": 5}', core.Pod)


@pytest.mark.parametrize("kind", ["Pod", "Node", "PodDisruptionBudget"])
def test_the_short_way_for_common_kinds_gives_the_same_view(kind: str) -> None:
    document = sample(kind)
    assert is_current(document)
    assert decode(document) == decode({**document, "spec": {**document["spec"], "unknown": None}})
    assert decode(document) == msgspec.convert(normalise(document), KINDS[kind_key(document)])


def test_every_kind_has_a_rule_of_the_door() -> None:
    from reprieve.objects.admission import _RULES

    assert set(_RULES) == set(KINDS)


def test_a_pod_group_of_the_stand_in_group_is_a_pod_group():
    document = bare_group(schedulingPolicy={"gang": {"minCount": 2}}) | {
        "apiVersion": "scheduling.reprieve.dev/v1beta1"
    }
    view = decode(document)
    assert isinstance(view, scheduling.PodGroup)
    assert view.min_count == 2


def test_budgets_of_old_servers_are_read():
    document = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    view = decode(document | {"spec": {"minAvailable": 1}})
    assert isinstance(view, policy.PodDisruptionBudget)
    assert view.spec.min_available == 1
