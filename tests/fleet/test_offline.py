"""Which documents a step over plain documents is about."""

from copy import deepcopy
from typing import Any

import pytest

from reprieve.fleet import reconcile
from reprieve.fleet.offline import UnknownWorkload, find_group
from reprieve.objects import well_known
from tests.builders import Document, document
from tests.fleet.build import NOW, blocked, copy, is_so, local

KEY = "ml/train"
GATED = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}


def check(
    name: str = "mk", controller: str = well_known.MULTIKUEUE_CONTROLLER, config: str = "all"
) -> Document:
    return document(
        "AdmissionCheck", name, spec={"controllerName": controller, "parameters": {"name": config}}
    )


def config(name: str, *clusters: str) -> Document:
    return document("MultiKueueConfig", name, spec={"clusters": list(clusters)})


def named(workload: Document, name: str, namespace: str = "ml") -> Document:
    found = deepcopy(workload)
    found["metadata"] |= {"name": name, "namespace": namespace}
    return found


def held(*documents: Document) -> dict[str, Any]:
    """What a worker holds; copies say there what they are."""
    return {
        "objects": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload"} | each for each in documents]
    }


OBJECTS = [local(), check(), config("all", "a", "b")]


def test_of_several_workloads_the_named_one_is_stepped() -> None:
    others = [named(local(), "other"), named(local(), "train", "web")]
    found = find_group([*others, *OBJECTS], {}, KEY)
    assert found.local == local()


def test_only_a_workload_is_a_workload() -> None:
    group = document("PodGroup", "train", "ml")
    assert find_group([group, *OBJECTS], {}, KEY).local == local()
    remotes = {"a": {"objects": [group]}, "b": held(copy())}
    assert list(find_group(OBJECTS, remotes, KEY).copies) == ["b"]


def test_of_what_a_worker_holds_only_the_copy_counts() -> None:
    remotes = {"a": held(named(copy(), "other"), blocked(10)), "b": held(named(copy(), "other"))}
    assert find_group(OBJECTS, remotes, KEY).copies.keys() == {"a"}
    opened = reconcile(OBJECTS, remotes, f"Workload/{KEY}", config=GATED, now=NOW).to_dict()["gatesOpened"]
    assert [each["cluster"] for each in opened] == ["a"]


def test_a_worker_that_nobody_tells_about_is_out_of_reach() -> None:
    found = find_group(OBJECTS, {"a": held()}, KEY)
    assert [(remote.cluster, remote.connected) for remote in found.remotes] == [("a", True), ("b", False)]


def test_the_check_is_the_one_of_multikueue_that_the_workload_lists() -> None:
    """Other controllers, other checks and other kinds come first, and none of them counts."""
    workload = local()
    workload["status"]["admissionChecks"].insert(0, {"name": "budget", "state": "Ready"})
    others = [check("budget", "example.com/budget", "x"), check("unlisted", config="x"), config("x", "z")]
    lookalike = check() | {"kind": "Check"}
    lookalike["spec"] = {**lookalike["spec"], "parameters": {"name": "x"}}
    found = find_group([lookalike, *others, workload, *OBJECTS[1:]], {}, KEY)
    assert (found.check, [remote.cluster for remote in found.remotes]) == ("mk", ["a", "b"])


@pytest.mark.parametrize("missing", range(3))
def test_what_is_missing_is_refused(missing: int) -> None:
    with pytest.raises(UnknownWorkload):
        find_group([each for index, each in enumerate(OBJECTS) if index != missing], {}, KEY)


def test_without_a_time_it_is_the_latest_one_mentioned() -> None:
    objects = [local(is_so("QuotaReserved", 900)), *OBJECTS[1:]]
    remotes = {"a": held(copy(gate="Open", moved=100)), "b": held(blocked(40))}
    answer = reconcile(objects, remotes, f"Workload/{KEY}", config=GATED).to_dict()
    assert answer["requeueAfterSeconds"] == 240, "the turn that began 60 s before the latest signal goes on"


def test_nominations_end_with_the_winner() -> None:
    workload = local(nominatedClusterNames=["a", "b"])
    remotes = {"a": held(copy(is_so("Admitted"))), "b": held(copy())}
    answer = reconcile([workload, *OBJECTS[1:]], remotes, f"Workload/{KEY}", now=NOW).to_dict()
    assert (answer["clusterName"], answer["nominatedClusterNames"]) == ("a", [])
    assert answer["remoteDeleted"] == ["b"]
