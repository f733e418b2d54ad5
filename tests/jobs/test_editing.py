"""Jobs of every kind held, started and put back exactly as they were; and how far they say they are."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.jobs import JobKinds, pod_sets
from reprieve.jobs.editing import Additions, merge_patch, pointer, restored, started, suspended, was_changed
from reprieve.jobs.gating import (
    gate_additions,
    group_label,
    held,
    held_pod,
    needs_hold,
)
from reprieve.jobs.progress import ending, has_failed, pod_labels, progress
from reprieve.jobs.queueing import replica_names
from reprieve.objects import Document, LabelSelector, read_documents, well_known
from tests.scale import examples

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
KINDS = JobKinds()
GATE = {"name": well_known.ADMISSION_GATE}
ADDED = Additions(
    node_selector={"pool": "stable"},
    tolerations=[{"key": "stable", "operator": "Exists"}],
    labels={"team": "a"},
    annotations={"why": "quota"},
)


def sources() -> dict[str, list[Document]]:
    """Every example by its kind, its job first."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        documents = [source.document for source in read_documents(str(path))]
        jobs = [each for each in documents if KINDS.find(each) is not None]
        if jobs and path.stem != "cluster":
            found[path.stem] = [jobs[-1], *(each for each in documents if each is not jobs[-1])]
    return found


JOBS = sources()
SUSPENDED = [name for name, (job, *_) in JOBS.items() if (kind := KINDS.find(job)) and kind.asks == "job"]
GATED = [name for name in JOBS if name not in SUSPENDED]


def of(name: str) -> tuple[Document, Any, list[Any]]:
    job, *others = copy.deepcopy(JOBS[name])
    kind = KINDS.find(job)
    assert kind is not None
    return job, kind, list(pod_sets(job, KINDS, others))


def test_the_examples_cover_both_ways_to_hold_a_job():
    assert len(SUSPENDED) > 8
    assert {"deployment", "statefulset", "leaderworkerset"} <= set(GATED)


@pytest.mark.parametrize("name", SUSPENDED)
def test_a_job_that_was_started_is_put_back_exactly(name):
    job, kind, sets = of(name)
    written = copy.deepcopy(job)
    running = started(job, kind, sets, {each.name: ADDED for each in sets}, 1)
    assert job == written, "what was given stays as it is"
    assert was_changed(running)
    text = json.dumps(running)
    assert text.count('"pool": "stable"') >= 1
    assert text.count('"key": "stable"') >= 1
    stopped = suspended(restored(running, sets), kind)
    assert stopped == suspended(job, kind)
    assert not was_changed(stopped)


@pytest.mark.parametrize("name", SUSPENDED)
def test_starting_twice_notes_what_the_user_wrote_and_not_what_we_did(name):
    job, kind, sets = of(name)
    additions = {each.name: ADDED for each in sets}
    once = started(job, kind, sets, additions)
    other = {each.name: Additions(node_selector={"pool": "spot"}) for each in sets}
    again = started(restored(once, sets), kind, sets, other)
    assert '"stable"' not in json.dumps(again["spec"])
    assert suspended(restored(again, sets), kind) == suspended(job, kind)


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_new_job_in_a_queue_is_held_by_its_kinds_own_means(name):
    job, *others = copy.deepcopy(JOBS[name])
    kind = KINDS.find(job)
    assert kind is not None
    job["metadata"].setdefault("labels", {})[well_known.QUEUE_LABEL] = "team"
    made = held(job, KINDS, others)
    if kind.asks in ("job", "none"):
        assert made == (suspended(job, kind) if kind.asks == "job" else job)
        return
    assert GATE["name"] in json.dumps(made)
    assert made == held(made, KINDS, others), "held once is held"
    sets = list(pod_sets(job, KINDS, others))
    assert restored(made, sets) == job


def test_pods_of_a_group_name_it_and_replicas_have_workloads_of_their_own():
    job, kind, sets = of("statefulset")
    job["metadata"].setdefault("labels", {})[well_known.QUEUE_LABEL] = "team"
    added = gate_additions(job, kind, sets)
    labels = {each.labels[well_known.POD_GROUP_NAME_LABEL] for each in added.values()}
    assert labels == {group_label(job, kind)}
    assert len(group_label({"metadata": {"name": "x" * 253}}, kind)) <= 63

    job, kind, sets = of("leaderworkerset")
    names = replica_names(job, kind, sets)
    assert len(names) == len(set(names)) == max(each.factors[0] for each in sets)


def test_who_has_to_wait_for_quota():
    queue = {well_known.QUEUE_LABEL: "team"}
    plain = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "ml"}}
    service = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "ml"}}
    owned = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "s", "controller": True}
    lone = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": queue}}

    def labelled(document: Document, **more: Any) -> Document:
        return {**document, "metadata": {**document["metadata"], "labels": queue, **more}}

    assert needs_hold(labelled(plain), KINDS)
    assert not needs_hold(labelled(plain, ownerReferences=[owned]), KINDS), "its JobSet has the quota"
    assert needs_hold(lone, KINDS)
    assert not needs_hold(labelled(lone, ownerReferences=[owned]), KINDS)
    assert not needs_hold(plain, KINDS)
    assert needs_hold(plain, KINDS, all_jobs=True)
    assert not needs_hold(service, KINDS, all_jobs=True), "a service, unless a selector says so"
    here = LabelSelector(match_labels={"quota": "yes"})
    assert needs_hold(service, KINDS, True, here, {"quota": "yes"})
    assert not needs_hold(service, KINDS, True, here, {})


def test_a_pod_is_gated_once_and_never_when_it_is_bound():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    once = held_pod(pod)
    assert once["spec"]["schedulingGates"] == [GATE]
    assert held_pod(once) == once
    bound = {**pod, "spec": {"nodeName": "n"}}
    assert held_pod(bound) == bound


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from("xyz"), VALUES.filter(lambda each: each is not None), max_size=3)


def applied(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    made = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = applied(made.get(key), value)
    return made


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return value


@examples(200)
@given(OBJECTS.map(without_nulls), OBJECTS.map(without_nulls))
def test_a_merge_patch_makes_the_new_of_the_old(old: Document, new: Document) -> None:
    assert applied(old, merge_patch(old, new)) == new
    assert (merge_patch(old, new) == {}) == (old == new)


def test_a_note_that_somebody_else_wrote_is_taken_off_and_nothing_else():
    job, _, sets = of("job")
    job["metadata"]["annotations"] = {well_known.BEFORE_START_ANNOTATION: "not ours"}
    made = restored(job, sets)
    assert "annotations" not in made["metadata"]
    assert made["spec"] == job["spec"]


def test_paths_with_numbers_are_read_step_by_step():
    assert pointer("spec.workers[0].template") == ("spec", "workers", 0, "template")


@pytest.mark.parametrize(
    ("name", "status", "expected"),
    [
        ("job", {"conditions": [{"type": "Complete", "status": "True"}]}, "Complete"),
        ("job", {"conditions": [{"type": "Failed", "status": "True"}]}, "Failed"),
        ("job", {"conditions": [{"type": "Complete", "status": "False"}]}, None),
        ("rayjob", {"jobDeploymentStatus": "Complete"}, "Succeeded"),
        ("rayjob", {"jobDeploymentStatus": "Failed"}, "Failed"),
        ("rayjob", {"jobDeploymentStatus": "Running"}, None),
    ],
)
def test_a_job_is_over_when_its_kind_says_so(name, status, expected):
    job, _, _ = of(name)
    end = ending({**job, "status": status}, KINDS)
    assert (end or {}).get("type") == expected
    if end is not None:
        assert has_failed(end) == (expected == "Failed")


def test_pods_that_are_done_are_given_back():
    job, kind, sets = of("job")
    job["spec"] |= {"parallelism": 4, "completions": 5}
    sets = list(pod_sets(job, KINDS, []))
    seen = progress({**job, "status": {"active": 2, "succeeded": 3}}, kind, sets)
    assert (seen.pods, seen.done) == (2, {sets[0].name: 2})
    assert progress({**job, "status": {"active": "many"}}, kind, sets).pods == 0
    assert progress(job, kind, sets).done == {}


def test_a_jobset_counts_by_its_replicated_jobs():
    job, kind, sets = of("jobset")
    name = sets[0].name
    status = {"replicatedJobsStatus": [{"name": name, "succeeded": 1, "active": 1}]}
    seen = progress({**job, "status": status}, kind, sets)
    assert seen.done[name] >= 1
    assert seen.pods >= 1


@pytest.mark.parametrize("name", sorted(JOBS))
def test_labels_by_which_pods_are_known_are_texts(name):
    job, kind, _ = of(name)
    job["metadata"] |= {"uid": "u", "name": "n"}
    assert all(isinstance(value, str) and value for value in pod_labels(job, kind).values())
