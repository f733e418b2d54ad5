"""What an API server writes into objects that leave it out: parts of pods, quantities."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import on_create, on_write, qos_class
from reprieve.objects.quantity import canonical, nano
from reprieve.objects.schemas import builtin_schema, spell_quantities
from tests.builders import document


def defaulted(kind: str, api_version: str = "v1", **members: Any) -> dict[str, Any]:
    made = document(kind, "x", "default", **members)
    made["apiVersion"] = api_version
    on_write(made)
    return made


def container(**members: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i:1", **members}]}
    found: dict[str, Any] = defaulted("Pod", spec=spec)["spec"]["containers"][0]
    return found


def volume(**source: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", **source}]}
    found: dict[str, Any] = defaulted("Pod", spec=spec)["spec"]["volumes"][0]
    return found


PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


@pytest.mark.parametrize("probe", ["livenessProbe", "readinessProbe", "startupProbe"])
def test_a_probe_says_how_often_and_how_long(probe: str) -> None:
    made = container(**{probe: {"httpGet": {"port": 80}, "periodSeconds": 5, "timeoutSeconds": 0}})
    request = {"port": 80, "path": "/", "scheme": "HTTP"}
    assert made[probe] == {**PROBE, "periodSeconds": 5, "httpGet": request}
    assert container(**{probe: {"grpc": {"port": 1}}})[probe]["grpc"] == {"port": 1, "service": ""}


def test_a_hook_asks_for_the_root_over_http() -> None:
    made = container(lifecycle={"preStop": {"httpGet": {"port": 1}}, "postStart": {"exec": {"command": []}}})
    assert made["lifecycle"]["preStop"]["httpGet"] == {"port": 1, "path": "/", "scheme": "HTTP"}
    assert made["lifecycle"]["postStart"] == {"exec": {"command": []}}


def test_variables_from_fields_name_the_version_of_the_field() -> None:
    made = container(
        env=[
            {"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "b", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "c", "value": "plain"},
        ]
    )
    assert made["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert made["env"][1]["valueFrom"]["resourceFieldRef"]["divisor"] == "0"
    assert made["env"][2] == {"name": "c", "value": "plain"}


@pytest.mark.parametrize(
    ("source", "stored"),
    [
        ({}, {"emptyDir": {}}),
        ({"emptyDir": {"medium": "Memory"}}, {"emptyDir": {"medium": "Memory"}}),
        ({"secret": {"secretName": "s"}}, {"secret": {"secretName": "s", "defaultMode": 420}}),
        ({"configMap": {"name": "m"}}, {"configMap": {"name": "m", "defaultMode": 420}}),
        ({"configMap": {"defaultMode": 0}}, {"configMap": {"defaultMode": 0}}),
        ({"hostPath": {"path": "/"}}, {"hostPath": {"path": "/", "type": ""}}),
        (
            {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {
                "downwardAPI": {
                    "defaultMode": 420,
                    "items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}],
                }
            },
        ),
        (
            {"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
                }
            },
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            {"ephemeral": {"volumeClaimTemplate": {"spec": {"volumeMode": "Filesystem"}}}},
        ),
        ({"image": {"reference": "a"}}, {"image": {"reference": "a", "pullPolicy": "Always"}}),
    ],
)
def test_a_volume_says_where_its_files_come_from(source: dict[str, Any], stored: dict[str, Any]) -> None:
    assert volume(**source) == {"name": "v", **stored}


@pytest.mark.parametrize(
    ("kind", "api_version", "path"),
    [
        ("Deployment", "apps/v1", ("template",)),
        ("ReplicaSet", "apps/v1", ("template",)),
        ("DaemonSet", "apps/v1", ("template",)),
        ("StatefulSet", "apps/v1", ("template",)),
        ("Job", "batch/v1", ("template",)),
        ("CronJob", "batch/v1", ("jobTemplate", "spec", "template")),
    ],
)
def test_templates_get_what_pods_get_except_what_only_a_pod_has(
    kind: str, api_version: str, path: tuple[str, ...]
) -> None:
    inner: dict[str, Any] = {
        "spec": {
            "containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}],
            "volumes": [{"name": "v"}],
        }
    }
    for name in reversed(path):
        inner = {name: inner}
    found = defaulted(kind, api_version, spec=inner)["spec"]
    for name in path:
        found = found[name]
    spec = found["spec"]
    assert spec["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert "enableServiceLinks" not in spec


def test_a_pod_may_not_take_less_than_no_time_to_stop() -> None:
    spec = {"terminationGracePeriodSeconds": -5, "containers": []}
    assert defaulted("Pod", spec=spec)["spec"]["terminationGracePeriodSeconds"] == 1


def test_services_say_how_traffic_reaches_them() -> None:
    plain = defaulted("Service", spec={"ports": [{"port": 80}]})
    assert plain["spec"] == {
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "internalTrafficPolicy": "Cluster",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
    }
    assert plain["status"] == {"loadBalancer": {}}
    sticky = defaulted("Service", spec={"sessionAffinity": "ClientIP", "type": "LoadBalancer"})["spec"]
    assert sticky["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}
    assert sticky["externalTrafficPolicy"] == "Cluster"
    assert sticky["allocateLoadBalancerNodePorts"] is True


def test_claims_and_volumes_are_file_systems_that_are_pending() -> None:
    claim = defaulted("PersistentVolumeClaim", spec={"resources": {"requests": {"storage": "1Gi"}}})
    assert claim["spec"]["volumeMode"] == "Filesystem"
    assert claim["status"] == {"phase": "Pending"}
    held = defaulted("PersistentVolume", spec={"hostPath": {"path": "/x"}})
    assert held["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert held["spec"]["hostPath"]["type"] == ""
    owner = defaulted("StatefulSet", "apps/v1", spec={"volumeClaimTemplates": [{"metadata": {"name": "d"}}]})
    template = owner["spec"]["volumeClaimTemplates"][0]
    assert (template["kind"], template["apiVersion"]) == ("PersistentVolumeClaim", "v1")
    assert template["status"] == {"phase": "Pending"}


@pytest.mark.parametrize(("own", "kept"), [({}, False), ({"app": "x"}, True)])
def test_a_job_without_labels_gets_those_of_its_pods(own: dict[str, str], kept: bool) -> None:
    job = document("Job", "j", "default", spec={"template": {"metadata": {"labels": {"app": "x"}}}})
    job["apiVersion"] = "batch/v1"
    job["metadata"] |= {"uid": "u", "labels": dict(own)}
    on_write(job)
    on_create(job, "2026-01-01T00:00:00Z")
    pods = job["spec"]["template"]["metadata"]["labels"]
    assert pods == {
        "app": "x",
        "batch.kubernetes.io/controller-uid": "u",
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": "u",
        "job-name": "j",
    }
    assert job["metadata"]["labels"] == (own if kept else pods)


@pytest.mark.parametrize(
    ("given_", "stored"),
    [
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("1000Mi", "1000Mi"),
        ("512Ki", "512Ki"),
        ("0.1Ki", "102400m"),
        ("0", "0"),
        ("0Gi", "0"),
        ("-1500m", "-1500m"),
        ("+1", "1"),
        (2, "2"),
        (0.25, "250m"),
        ("9223372036854775807Gi", "9223372036854775807"),
    ],
)
def test_quantities_have_one_spelling(given_: str | float, stored: str) -> None:
    assert canonical(given_) == stored


@given(
    st.integers(min_value=-(10**6), max_value=10**6),
    st.integers(min_value=0, max_value=3),
    st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3"]),
)
def test_one_spelling_means_the_same_and_is_the_last_one(number: int, places: int, suffix: str) -> None:
    text = f"{number / 10**places:.{places}f}{suffix}"
    assert nano(canonical(text)) == nano(text)
    assert canonical(canonical(text)) == canonical(text)


def test_amounts_of_resources_are_rounded_up_to_thousandths_and_others_are_not() -> None:
    schema = builtin_schema("", "v1", "Pod")
    assert schema is not None
    pod = document(
        "Pod",
        "p",
        spec={
            "containers": [
                {"resources": {"requests": {"cpu": "1u", "memory": "1024Mi"}, "limits": {"x": "?"}}}
            ],
            "volumes": [{"emptyDir": {"sizeLimit": "2048Ki"}}],
        },
    )
    assert spell_quantities(pod, schema) == [("spec.containers[0].resources.limits.x", "?")]
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1m", "memory": "1Gi"}
    assert pod["spec"]["volumes"][0]["emptyDir"]["sizeLimit"] == "2Mi"


TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@pytest.mark.parametrize(
    ("own", "added"),
    [
        ([], TAINTS),
        ([{"operator": "Exists"}], ()),
        ([{"operator": "Exists", "effect": "NoExecute"}], ()),
        ([{"operator": "Exists", "effect": "NoSchedule"}], TAINTS),
        ([{"key": TAINTS[0], "operator": "Exists", "effect": "NoExecute"}], TAINTS[1:]),
        ([{"key": TAINTS[0], "operator": "Exists"}], TAINTS[1:]),
        ([{"key": TAINTS[0], "operator": "Exists", "effect": "NoSchedule"}], TAINTS),
        ([{"key": "other", "operator": "Exists"}], TAINTS),
    ],
)
def test_a_pod_stays_five_minutes_on_a_lost_node_unless_it_says_otherwise(
    own: list[dict[str, str]], added: tuple[str, ...]
) -> None:
    made = document("Pod", "p", "default", spec={"containers": [{"name": "c"}], "tolerations": own})
    on_create(made, "2026-01-01T00:00:00Z")
    found = made["spec"]["tolerations"][len(own) :]
    assert [each["key"] for each in found] == list(added)
    assert all(each["tolerationSeconds"] == 300 and each["effect"] == "NoExecute" for each in found)


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("containers", "init", "found"),
    [
        ([{}], [], "BestEffort"),
        ([{"resources": None}], [], "BestEffort"),
        ([{"resources": {"limits": {"example.com/gpu": "1"}}}], [], "BestEffort"),
        ([{"resources": {"requests": {"cpu": "1"}}}], [], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1"}}}], [], "Burstable"),
        ([{"resources": {"requests": BOTH, "limits": BOTH}}], [], "Guaranteed"),
        ([{"resources": {"requests": BOTH, "limits": {**BOTH, "cpu": "2"}}}], [], "Burstable"),
        ([{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}], [], "Burstable"),
        ([{"resources": {"requests": BOTH, "limits": BOTH}}, {}], [], "Burstable"),
        ([{"resources": {"requests": BOTH, "limits": BOTH}}], [{}], "Burstable"),
    ],
)
def test_the_class_of_service_follows_from_requests_and_limits(containers, init, found: str) -> None:
    assert qos_class({"containers": containers, "initContainers": init}) == found
