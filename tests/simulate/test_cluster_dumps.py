"""`reprieve simulate import --from events|audit`: what one's own cluster says of its jobs."""

import json

import pytest

from reprieve.simulate import TraceError, read_foreign
from tests.simulate.cluster_dumps import AUDIT, DAY, EVENTS, ITEMS


def listed(*items):
    return json.dumps({"apiVersion": "v1", "items": list(items), "kind": "List"}, indent=1) + "\n"


def read(tmp_path, format, content):
    path = tmp_path / "source"
    path.write_text(content)
    return read_foreign(format, path)


def test_what_a_list_cannot_say_is_counted(tmp_path):
    assert read(tmp_path, "events", EVENTS).notes == (
        "1 job had not ended, or never ran",
        "1 job of unknown size: the source has not what their pods ask for",
        "1 object left out that say nothing about jobs: Service",
    )


def test_what_an_audit_log_of_level_metadata_cannot_say_is_counted(tmp_path):
    assert read(tmp_path, "audit", AUDIT).notes == (
        "1 job of unknown size: the source has not what their pods ask for",
    )


def test_pods_of_daemonsets_are_part_of_a_node(tmp_path):
    pod = json.loads(json.dumps(ITEMS[3]))
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "proxy", "uid": "u", "controller": True}
    pod["metadata"] |= {"name": "proxy-x", "ownerReferences": [owner]}
    found = read(tmp_path, "events", listed(ITEMS[0], ITEMS[1], pod))
    assert [each.name for each in found.records] == ["ml.train"]
    assert "1 pod of DaemonSets and nodes left out: they are part of a node" in found.notes


def test_a_pod_that_took_the_place_of_a_failed_one_is_no_other(tmp_path):
    text = json.dumps(ITEMS[2]).replace("08:00:05Z", "08:31:00Z").replace("08:29:00Z", "08:40:00Z")
    found = read(tmp_path, "events", listed(ITEMS[1], json.loads(text)))
    assert [(each.name, each.pods, each.duration) for each in found.records] == [("ml.train", 1, 2395)]


def test_a_pod_group_is_one_job(tmp_path):
    pods = [json.loads(json.dumps(each)) for each in ITEMS[1:3]]
    for pod in pods:
        pod["spec"]["schedulingGroup"] = {"podGroupName": "gang"}
    (record,) = read(tmp_path, "events", listed(*pods)).records
    assert (record.name, record.kind, record.pods) == ("ml.gang", "PodGroup", 2)


def one_night(day, pod, job=""):
    """A pod that is made and runs for nine minutes, and the job that makes it, if any."""
    lines = AUDIT.splitlines()
    made, bound, ended = lines[1], lines[3], lines[6].replace("train-1", "train-0")
    if not job:
        made = made.replace('"ownerReferences"', '"x"')
    night = [*([lines[0]] if job else []), made, bound, ended, ""]
    return "\n".join(night).replace("train-0", pod).replace(DAY, f"2030-05-{day:02d}T")


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["in order", "two logs joined"])
@pytest.mark.parametrize("job", ["train", ""], ids=["a job", "a pod"])
def test_what_is_made_again_under_its_old_name_is_another_job(tmp_path, job, order):
    nights = [one_night(day, f"train-x{day}" if job else "train", job) for day in order]
    found = read(tmp_path, "audit", "".join(nights)).records
    assert [(each.name, each.duration, each.pods) for each in found] == [
        ("ml.train", 540, 1),
        ("ml.train#2", 540, 1),
    ]
    assert found[1].submit == 86400


def test_what_was_only_tried_is_no_job(tmp_path):
    dry = AUDIT.splitlines()[7].replace('"verb"', '"requestURI": "/api/v1/pods?dryRun=All", "verb"')
    names = [each.name for each in read(tmp_path, "audit", f"{AUDIT}{dry}\n").records]
    assert names == ["ml.train", "ml.bare"]


RESTARTED = {
    **ITEMS[5],
    "involvedObject": {"kind": "Pod", "namespace": "ml", "name": "alone"},
    "reason": "Killing",
    "message": "Container main failed liveness probe, will be restarted",
    "firstTimestamp": f"{DAY}08:20:00Z",
}


@pytest.mark.parametrize("items", [(ITEMS[3], RESTARTED), (RESTARTED, ITEMS[3])])
def test_a_pod_that_is_there_has_not_ended_whichever_of_its_containers_was_killed(tmp_path, items):
    found = read(tmp_path, "events", listed(ITEMS[1], *items))
    (alone,) = [each for each in found.records if each.name == "ml.alone"]
    assert (alone.duration, alone.outcome) == (None, "")
    assert "1 job had not ended, or never ran" in found.notes


def test_a_container_that_is_restarted_is_not_the_end_of_a_pod_that_is_gone_by_now(tmp_path):
    """The API server keeps its events for a while."""
    scheduled = {**RESTARTED, "reason": "Scheduled", "firstTimestamp": f"{DAY}08:10:00Z"}
    stopped = {**RESTARTED, "message": "Stopping container main", "firstTimestamp": f"{DAY}08:40:00Z"}
    (alone,) = read(tmp_path, "events", listed(scheduled, RESTARTED, stopped)).records
    assert alone.duration == 1800


def test_a_pod_that_ended_at_an_unknown_time_is_counted_and_stops_nobody_else(tmp_path):
    """As when a kubelet refuses a pod for want of devices: no container ever had a status."""
    refused = {**ITEMS[1], "status": {"phase": "Failed", "startTime": f"{DAY}08:00:05Z"}}
    refused["metadata"] = {**ITEMS[1]["metadata"], "name": "train-2"}
    lone = {**ITEMS[3], "status": refused["status"]}
    found = read(tmp_path, "events", listed(*ITEMS[:3], refused, lone))
    assert [(each.name, each.pods, each.duration) for each in found.records] == [
        ("ml.train", 2, 1800),
        ("ml.alone", 1, None),
    ]
    assert "2 pods have ended, and nothing says when" in found.notes


def test_a_pod_whose_first_containers_failed_ended_with_them(tmp_path):
    failed = {"state": {"terminated": {"exitCode": 1, "finishedAt": f"{DAY}08:11:00Z"}}}
    status = {"phase": "Failed", "startTime": f"{DAY}08:10:00Z", "initContainerStatuses": [failed]}
    (alone,) = read(tmp_path, "events", listed({**ITEMS[3], "status": status})).records
    assert (alone.duration, alone.outcome) == (60, "failed")


WRONG = {
    "a missing time": ("events", EVENTS, f'"creationTimestamp": "{DAY}08:00:00Z"', '"x": ""', "is missing"),
    "no zone": ("events", EVENTS, "08:30:05Z", "08:30:05", "completionTime is no time with a zone"),
    "no time": ("events", EVENTS, f"{DAY}08:29:00Z", "May", "finishedAt is no time with a zone: 'May'"),
    "an end before its start": ("events", EVENTS, "T08:30:05Z", "T07:30:05Z", "ends before it begins"),
    "a quantity": ("events", EVENTS, '"1Gi"', '"1Go"', "Pod ml/train-0"),
    "no name": ("events", EVENTS, '"name": "alone"', '"name": ""', "metadata.name is missing"),
    "no object": ("events", EVENTS, '"items": [', '"items": [\n7,', "an object was expected, not '7'"),
    "one object": (
        "events",
        EVENTS,
        '"items": [',
        '"x": {"items": []}, "y": [',
        "no list of objects in JSON",
    ),
    "no list": ("events", EVENTS, '"items"', '"things"', "this is no list of objects in JSON"),
    "a missing time in a log": ("audit", AUDIT, "requestReceivedTimestamp", "when", "is missing"),
    "no zone in a log": ("audit", AUDIT, f"{DAY}08:00:01Z", f"{DAY}08:00:01", "is no time with a zone"),
    "no audit event": ("audit", AUDIT, "auditID", "id", "auditID is missing"),
    "no JSON": ("audit", AUDIT, '{"kind"', "kind", "this is no JSON"),
}


@pytest.mark.parametrize(("format", "sample", "old", "new", "problem"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_right_is_named_by_file_and_line(tmp_path, format, sample, old, new, problem):
    assert old in sample
    with pytest.raises(TraceError) as error:
        read(tmp_path, format, sample.replace(old, new, 1))
    assert problem in str(error.value)
    place = str(error.value).removeprefix(f"{tmp_path / 'source'}:")
    assert place.partition(":")[0].isdigit()


def test_the_line_is_that_of_the_object(tmp_path):
    sample = EVENTS.replace('"name": "alone"', '"name": ""')
    with pytest.raises(TraceError) as error:
        read(tmp_path, "events", sample)
    line = int(str(error.value).split(":")[1])
    lines = sample.splitlines()
    assert lines[line - 1].strip() == "{"
    assert any('"name": ""' in each for each in lines[line : line + 10])
