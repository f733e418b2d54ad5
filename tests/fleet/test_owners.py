"""What a workload stands for, and what of it travels to a worker."""

import pytest

from reprieve.fleet.owners import (
    POD,
    POD_GROUP,
    Key,
    Owner,
    claims_of,
    owner_keys,
    owner_of,
    owner_of_copy,
    workloads_named_by,
)
from reprieve.jobs import JobKinds
from reprieve.objects import Document, well_known
from tests.builders import owned_by, pod

LEADERS = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
JOB = Owner(("batch", "Job"), "train")


def owned(*references: Document, **metadata: object) -> Document:
    return {"metadata": {"name": "w", "ownerReferences": list(references), **metadata}}


def a_pod(name: str) -> Document:
    """How a workload of single pods names each of them: as an owner that is no controller."""
    return {"apiVersion": "v1", "kind": "Pod", "name": name}


def test_a_workload_stands_for_its_controller() -> None:
    other = owned_by("Job", "other") | {"controller": False}
    assert owner_of(owned(other, owned_by("Job", "train"))) == JOB
    assert owner_keys(owned(other, owned_by("Job", "train"))) == [JOB]
    assert owner_of(owned(other)) is None
    assert owner_keys(owned(other)) == []


def test_a_workload_of_single_pods_belongs_to_each_of_them() -> None:
    workload = owned(a_pod("a"), a_pod("b"))
    assert owner_of(workload) == Owner(POD, "a")
    assert owner_keys(workload) == [Owner(POD, "a"), Owner(POD, "b")]


@pytest.mark.parametrize("kind", [("apps", "StatefulSet"), LEADERS])
def test_what_makes_pods_that_ask_owns_its_workload_without_controlling_it(kind: Key) -> None:
    reference = {"apiVersion": f"{kind[0]}/v1", "kind": kind[1], "name": "s"}
    assert owner_of(owned(reference)) == Owner(kind, "s")


def test_a_pod_of_a_replica_belongs_to_the_workload_of_that_replica() -> None:
    """All of them have one owner; neither their workloads nor their pods name each other."""
    reference = {"apiVersion": f"{LEADERS[0]}/v1", "kind": LEADERS[1], "name": "s"}
    index = {well_known.COMPONENT_INDEX_ANNOTATION: "1"}
    [key] = owner_keys(owned(reference, annotations=index))
    labels = {"leaderworkerset.sigs.k8s.io/name": "s", "leaderworkerset.sigs.k8s.io/group-index": "1"}
    assert key in claims_of({"metadata": {"name": "a", "labels": labels}})
    other = labels | {"leaderworkerset.sigs.k8s.io/group-index": "0"}
    assert key not in claims_of({"metadata": {"name": "a", "labels": other}})


def test_a_group_and_its_pods_are_all_owners() -> None:
    workload = owned(owned_by("PodGroup", "g"), a_pod("a"))
    assert owner_keys(workload) == [Owner(POD_GROUP, "g"), Owner(POD, "a")]


def test_a_pod_belongs_to_itself_its_group_and_its_controller() -> None:
    member = pod("a", metadata={"ownerReferences": [owned_by("Job", "train"), a_pod("b")]}, group="g")
    assert claims_of(member) == [Owner(POD, "a"), Owner(POD_GROUP, "g"), JOB]


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ({}, []),
        ({well_known.POD_GROUP_NAME_LABEL: "w"}, ["w"]),
        (
            {well_known.POD_GROUP_NAME_LABEL: "w", "leaderworkerset.sigs.k8s.io/group-index": "0"},
            ["w", "w-0"],
        ),
        ({"leaderworkerset.sigs.k8s.io/group-index": "0"}, []),
    ],
)
def test_labels_name_the_workload_of_a_group_or_of_a_replica(
    labels: dict[str, str], named: list[str]
) -> None:
    assert workloads_named_by({"metadata": {"name": "a", "labels": labels}}) == named


@pytest.mark.parametrize("owner", [JOB, Owner(POD, "a"), Owner(POD_GROUP, "g")])
def test_a_copy_says_what_it_stands_for(owner: Owner) -> None:
    noted = {well_known.FLEET_OWNER_ANNOTATION: str(owner)}
    assert owner_of_copy(owned(owned_by("Job", "another"), annotations=noted)) == owner


def test_a_copy_without_a_note_belongs_to_its_job() -> None:
    assert owner_of_copy(owned(owned_by("Job", "train"), annotations=None)) == JOB


@pytest.mark.parametrize("empty", [{}, {"metadata": None}, {"metadata": {}}])
def test_what_has_no_metadata_has_no_owner(empty: Document) -> None:
    assert owner_of(empty) is owner_of_copy(empty) is None
    assert owner_keys(empty) == workloads_named_by(empty) == []


def test_an_owner_without_a_name_has_an_empty_one() -> None:
    nameless = {"apiVersion": "batch/v1", "kind": "Job", "controller": True}
    assert owner_of(owned(nameless)) == Owner(("batch", "Job"), "")


@pytest.mark.parametrize(
    ("key", "travelling"),
    [
        (("batch", "Job"), (("batch", "Job"),)),
        (POD, (POD,)),
        (POD_GROUP, (POD_GROUP, POD)),
        (("apps", "StatefulSet"), (POD,)),
        (("example.com", "Conveyor"), (POD,)),
    ],
)
def test_what_can_be_suspended_travels_itself_and_pods_for_the_rest(key, travelling) -> None:
    assert Owner(key, "x").travels_as(JobKinds()) == travelling
