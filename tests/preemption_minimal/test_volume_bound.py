"""With volumes what a plan says about the optimum is true: CSI slots and claims that only one pod may use."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import reprieve
from reprieve.preemption import sentences
from tests.builders import Document
from tests.preemption_minimal.exhaustive import GANG, MINIMAL, cheapest_of_all, claimed
from tests.preemption_minimal.manifests import NOW, gang, node, pod
from tests.reached import enough
from tests.scale import examples
from tests.strategies.choices import Choices

DRIVER = "csi.example.com"


def bound_claim(name: str, mode: str = "ReadWriteOnce") -> list[Document]:
    """A claim with a CSI volume of its own."""
    common: Document = {"accessModes": [mode], "storageClassName": "fast"}
    meta = {"name": name, "namespace": "default", "uid": f"u-{name}"}
    notes = {"pv.kubernetes.io/bind-completed": "yes"}
    asked = {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": f"pv-{name}"}
    held = {"capacity": {"storage": "1Gi"}, "csi": {"driver": DRIVER, "volumeHandle": name}, "claimRef": meta}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {**meta, "annotations": notes},
            "spec": {**common, **asked},
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{name}"},
            "spec": {**common, **held},
            "status": {"phase": "Bound"},
        },
    ]


def slots(name: str, count: int) -> Document:
    drivers = [{"name": DRIVER, "nodeID": name, "allocatable": {"count": count}}]
    meta = {"name": name}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": meta,
        "spec": {"drivers": drivers},
    }


def with_claims(document: Document, *claims: str) -> Document:
    volumes = [{"name": f"v{k}", "persistentVolumeClaim": {"claimName": c}} for k, c in enumerate(claims)]
    return {**document, "spec": {**document["spec"], "volumes": volumes}}


@st.composite
def stored(draw: st.DrawFn) -> list[Document]:
    """Three nodes with one or two CSI slots, pods that hold them, and a gang that brings its own claims."""
    choices = Choices(draw)
    objects: list[Document] = []
    for number in range(3):
        name = f"n{number}"
        objects += [node(name, 4), slots(name, choices.number(1, 2))]
        for at in range(choices.number(1, 3)):
            key = f"run-{number}-{at}"
            running = pod(key, choices.number(1, 2), choices.one_of((0, 0, 10)), on=name)
            if choices.chance(60):
                objects += bound_claim(key)
                running = with_claims(running, key)
            objects.append(running)
    return [*objects, *_wanting(choices)]


def _wanting(choices: Choices) -> list[Document]:
    """A gang of two pods with a claim each."""
    group, *pods = gang(2, choices.number(1, 3))
    own: list[Any] = [group]
    for each in pods:
        name = each["metadata"]["name"]
        own += [*bound_claim(name), with_claims(each, name)]
    return own


def alone(objects: list[Document]) -> list[Document]:
    """The same, and the first pod of the gang wants the claim of a running pod that nobody may share."""
    held = next((o["metadata"]["name"] for o in objects if o["kind"] == "PersistentVolumeClaim"), "")
    mode = {"accessModes": ["ReadWriteOncePod"]}
    changed = [
        {**each, "spec": {**each["spec"], **mode}}
        if each["metadata"]["name"] in (held, f"pv-{held}") and each["kind"].startswith("Persistent")
        else each
        for each in objects
    ]
    return [with_claims(each, held) if each["metadata"]["name"] == "gang-0" else each for each in changed]


def test_no_set_of_victims_undercuts_what_a_plan_with_volumes_claims() -> None:
    drawn = proven = preempting = 0

    @examples(60, least=40)
    @given(stored(), st.booleans())
    def holds(objects: list[Document], exclusive: bool) -> None:
        nonlocal drawn, proven, preempting
        drawn += 1
        objects = alone(objects) if exclusive else objects
        plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
        assert isinstance(plan, reprieve.Plan)
        if plan.outcome != "preempts":
            return
        preempting += 1
        best = cheapest_of_all(objects)
        assert best is not None
        floor = claimed(plan)
        assert floor[:2] < best[:2] or (floor[:2] == best[:2] and floor[2] <= best[2] + 1e-6)
        proven += plan.to_dict()["cost"]["optimality"] == sentences.CHEAPEST

    holds()
    enough(preempting, of=drawn, least_share=0.15, what="plans that preempt")
    enough(proven, of=drawn, least_share=0.05, what="plans that are proven to be the cheapest")
