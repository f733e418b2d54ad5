"""`kubectl get` columns: every kind has some, ages read as kubectl writes them, custom columns follow their
paths.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reprieve.server.registry import PrinterColumn, ResourceInfo
from reprieve.server.resources import builtin_resources
from reprieve.server.tables import to_table
from reprieve.server.tables.column import human_duration, selector_text
from tests.server.kinds import JOBS, NODES, POD_GROUPS, PODS, resource

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)
Row = dict[str, Any]


def row(info: ResourceInfo, doc: Row) -> Row:
    """One object's cells by column name."""
    table = to_table(info, [doc], "None", NOW)
    return {
        c["name"]: cell for c, cell in zip(table["columnDefinitions"], table["rows"][0]["cells"], strict=True)
    }


def ago(**delta: int) -> str:
    return (NOW - timedelta(**delta)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "<invalid>"),
        (-0.5, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (9 * 60 + 59, "9m59s"),
        (600, "10m"),
        (179 * 60, "179m"),
        (3 * 3600, "3h"),
        (5 * 3600 + 180, "5h3m"),
        (8 * 3600, "8h"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (51 * 3600, "2d3h"),
        (8 * 86400, "8d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (740 * 86400, "2y10d"),
        (8 * 365 * 86400, "8y"),
    ],
)
def test_durations_have_kubectls_short_form(seconds: float, expected: str) -> None:
    assert human_duration(seconds) == expected


@pytest.mark.parametrize("info", builtin_resources(), ids=repr)
def test_every_kind_has_a_table_even_for_an_empty_object(info: ResourceInfo) -> None:
    table = to_table(info, [{"metadata": {"name": "x"}}, {}], "Metadata", NOW)
    assert len(table["rows"][0]["cells"]) == len(table["columnDefinitions"])
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert "x" in table["rows"][0]["cells"]


def test_rows_carry_metadata_the_whole_object_or_nothing() -> None:
    pod = {"metadata": {"name": "a"}, "spec": {}}
    assert to_table(PODS, [pod], "Object", NOW)["rows"][0]["object"] == pod
    assert "object" not in to_table(PODS, [pod], "None", NOW)["rows"][0]
    assert to_table(PODS, [pod], "Metadata", NOW)["rows"][0]["object"]["metadata"] == {"name": "a"}


def test_a_node_tells_its_state_roles_and_version() -> None:
    node = {
        "metadata": {
            "name": "n",
            "creationTimestamp": ago(hours=3),
            "labels": {"node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "worker"},
        },
        "spec": {"unschedulable": True},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.37.0"},
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        },
    }
    cells = row(NODES, node)
    assert cells["Status"] == "Ready,SchedulingDisabled"
    assert cells["Roles"] == "gpu,worker"
    assert (cells["Version"], cells["Age"], cells["Internal-IP"]) == ("v1.37.0", "3h", "10.0.0.1")
    assert (
        row(NODES, {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})["Status"]
        == "NotReady"
    )
    assert row(NODES, {})["Status"] == "Unknown"


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({"completions": 3}, {"succeeded": 1, "startTime": ago(minutes=5)}, ("Running", "1/3", "5m")),
        ({"parallelism": 4}, {}, ("Running", "0/1 of 4", "")),
        (
            {"parallelism": 1},
            {"conditions": [{"type": "Suspended", "status": "True"}]},
            ("Suspended", "0/1", ""),
        ),
        (
            {"completions": 1},
            {
                "succeeded": 1,
                "startTime": ago(minutes=5),
                "completionTime": ago(minutes=4),
                "conditions": [{"type": "Complete", "status": "True"}],
            },
            ("Complete", "1/1", "60s"),
        ),
        ({"completions": 1}, {"conditions": [{"type": "Failed", "status": "True"}]}, ("Failed", "0/1", "")),
    ],
)
def test_a_job_tells_its_progress(spec: Row, status: Row, expected: tuple[str, str, str]) -> None:
    cells = row(JOBS, {"spec": spec, "status": status})
    assert (cells["Status"], cells["Completions"], cells["Duration"]) == expected


def test_a_budget_shows_what_it_asks_for_and_what_it_allows() -> None:
    cells = row(
        resource("poddisruptionbudgets", "policy"),
        {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 2}},
    )
    assert (cells["Min Available"], cells["Max Unavailable"], cells["Allowed Disruptions"]) == (
        "50%",
        "N/A",
        2,
    )


def test_a_pod_group_shows_policy_disruption_and_what_the_scheduler_made_of_it() -> None:
    group = {
        "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}, "disruptionMode": {"all": {}}, "priority": 7},
        "status": {
            "conditions": [
                {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}
            ]
        },
    }
    cells = row(POD_GROUPS, group)
    assert [cells[c] for c in ("Policy", "Disruption", "Priority", "Status")] == [
        "Gang(4)",
        "All",
        7,
        "Unschedulable",
    ]
    assert row(POD_GROUPS, {"spec": {}})["Status"] == "Pending"


def test_an_event_shows_when_what_and_to_whom() -> None:
    event = {
        "metadata": {"name": "e"},
        "type": "Normal",
        "reason": "Preempted",
        "message": " by x\n",
        "involvedObject": {"kind": "Pod", "name": "a"},
        "lastTimestamp": ago(seconds=30),
        "count": 3,
        "source": {"component": "reprieve", "host": "n1"},
    }
    cells = row(resource("events"), event)
    assert [cells[c] for c in ("Last Seen", "Object", "Message", "Count", "Source")] == [
        "30s",
        "pod/a",
        "by x",
        3,
        "reprieve, n1",
    ]


def test_an_event_of_the_newer_api_shows_the_same() -> None:
    event = {
        "note": "by x",
        "reason": "Preempted",
        "regarding": {"kind": "Pod", "name": "a"},
        "deprecatedLastTimestamp": ago(seconds=30),
        "deprecatedCount": 3,
        "reportingController": "reprieve",
    }
    cells = row(resource("events", "events.k8s.io"), event)
    assert [cells[c] for c in ("Last Seen", "Object", "Message", "Count", "Source")] == [
        "30s",
        "pod/a",
        "by x",
        3,
        "reprieve",
    ]


def test_a_kueue_workload_shows_its_queue_and_where_quota_is_reserved() -> None:
    workload = {
        "spec": {"queueName": "main"},
        "status": {
            "admission": {"clusterQueue": "team-a"},
            "conditions": [{"type": "Admitted", "status": "True"}],
        },
    }
    cells = row(resource("workloads", "kueue.x-k8s.io", "v1beta2"), workload)
    assert (cells["Queue"], cells["Reserved in"], cells["Admitted"], cells["Finished"]) == (
        "main",
        "team-a",
        "True",
        "",
    )


def test_selectors_are_written_as_people_type_them() -> None:
    selector = {
        "matchLabels": {"b": "1", "a": "2"},
        "matchExpressions": [
            {"key": "x", "operator": "In", "values": ["2", "1"]},
            {"key": "y", "operator": "Exists"},
            {"key": "z", "operator": "DoesNotExist"},
        ],
    }
    assert selector_text(selector) == "a=2,b=1,x in (1,2),y,!z"
    assert selector_text(None) == selector_text({}) == "<none>"


def test_custom_columns_follow_their_paths_types_and_priorities() -> None:
    columns = (
        PrinterColumn(name="Replicas", type="integer", json_path=".spec.replicas"),
        PrinterColumn(
            name="Ready", type="string", json_path='.status.conditions[?(@.type=="Ready")].status', priority=1
        ),
        PrinterColumn(name="Since", type="date", json_path=".metadata.creationTimestamp"),
        PrinterColumn(name="Odd", type="boolean", json_path=".spec.replicas"),
        PrinterColumn(name="Broken", type="string", json_path="..["),
    )
    info = ResourceInfo(
        group="x.io", version="v1", kind="Foo", plural="foos", custom=True, printer_columns=columns
    )
    doc = {
        "metadata": {"name": "f", "creationTimestamp": ago(hours=1)},
        "spec": {"replicas": 3},
        "status": {"conditions": [{"type": "A", "status": "False"}, {"type": "Ready", "status": "True"}]},
    }
    assert row(info, doc) == {
        "Name": "f",
        "Replicas": 3,
        "Ready": "True",
        "Since": "60m",
        "Odd": None,
        "Broken": None,
    }
    definitions = to_table(info, [], "None", NOW)["columnDefinitions"]
    assert [d["priority"] for d in definitions] == [0, 0, 1, 0, 0, 0]
