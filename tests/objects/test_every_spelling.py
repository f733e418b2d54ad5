"""Every spelling of the five proposals means something here, or is refused with a sentence; none is ignored.

The manifests are the proposals' own, restated: KEP-5710 (final and first draft), KEP-582, KEP-8303, and what
the versions of Kubernetes between them wrote. KEP-4832 adds no field: what it reads and writes is in a pod's
status.
"""

import json
from copy import deepcopy
from typing import Any

import pytest

from reprieve.config import Configuration, ConfigurationError
from reprieve.objects import InvalidObject, Source, decode, json_decoder, kind_key, review
from reprieve.objects.decode import decode_list
from reprieve.objects.kinds import KINDS
from reprieve.objects.normalise import respell
from tests.builders import (
    Document,
    cluster_queue,
    document,
    node,
    pod,
    pod_group,
    priority_class,
    workload,
)
from tests.objects.door import CONTEXT, admit, context

HIGH, LOW = priority_class("high", 100), priority_class("low", 1)
KNOWN = context(HIGH, LOW, config={"featureGates": {"PodGroupPreemptionPolicy": True}})
DEFAULTS: tuple[Any, ...] = ("Pod", {"single": {}})
"""What a server writes into every group that says nothing."""


def scheduling_workload(**spec: Any) -> Document:
    template = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}}
    made = document("Workload", "train", "default", spec={"podGroupTemplates": [template], **spec})
    return {**made, "apiVersion": "scheduling.k8s.io/v1beta1"}


def with_at(document: Document, path: str, value: Any) -> Document:
    """A copy that says so at the path; numbers count into lists."""
    made = deepcopy(document)
    place: Any = made
    steps: list[Any] = [int(each) if each.isdigit() else each for each in path.split("/")]
    *above, last = steps
    for step in above:
        place = place[step] if isinstance(place, list) else place.setdefault(step, {})
    place[last] = value
    return made


GROUP = pod_group("g", 2)
TEMPLATED = scheduling_workload()
QUEUE = cluster_queue("cq", 4)
QUOTA = workload("w")
GATED = {**QUOTA, "spec": {**QUOTA["spec"], "preemptionGates": [{"name": "kueue.x-k8s.io/multikueue"}]}}
POSITION = {"name": "kueue.x-k8s.io/multikueue", "lastTransitionTime": "2026-01-01T00:00:00Z"}

MODES: tuple[Any, ...] = ("Pod", "PodGroup", {"single": {}}, {"all": {}})

SPELLINGS: list[tuple[str, Document, str, Any]] = [
    *(
        (f"5710 {place} {mode}", GROUP, place, mode)
        for place in (
            "spec/disruptionMode",
            "spec/preemptionMode",
            "spec/schedulingPolicy/disruptionMode",
            "spec/schedulingPolicy/preemptionMode",
            "spec/schedulingPolicy/gang/disruptionMode",
            "spec/schedulingPolicy/gang/preemptionMode",
        )
        for mode in MODES
    ),
    ("5710 group's class", GROUP, "spec/priorityClassName", "high"),
    ("5710 group's priority", GROUP, "spec/priority", 100),
    ("5710 draft: group's preemption class", GROUP, "spec/preemptionPriorityClassName", "high"),
    ("5710 group's policy", GROUP, "spec/preemptionPolicy", "Never"),
    ("5710 group's template", GROUP, "spec/workloadRef", {"workloadName": "w", "templateName": "t"}),
    (
        "1.36: group's template",
        GROUP,
        "spec/podGroupTemplateRef",
        {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
    ),
    *(
        (f"5710 template {field}", TEMPLATED, f"spec/podGroupTemplates/0/{field}", value)
        for field, value in (
            ("disruptionMode", "PodGroup"),
            ("schedulingPolicy/disruptionMode", "PodGroup"),
            ("schedulingPolicy/gang/preemptionMode", "PodGroup"),
            ("priorityClassName", "high"),
            ("priority", 100),
            ("preemptionPolicy", "Never"),
            ("preemptionPriorityClassName", "high"),
        )
    ),
    ("5710 draft: Workload's class", TEMPLATED, "spec/priorityClassName", "high"),
    ("5710 draft: Workload's preemption class", TEMPLATED, "spec/preemptionPriorityClassName", "high"),
    ("5710 draft: status.priority", TEMPLATED, "status", {"priority": 5}),
    ("5710 draft: status.preemptionPriority", TEMPLATED, "status", {"preemptionPriority": 5}),
    ("5710 draft: status.conditions", TEMPLATED, "status", {"conditions": []}),
    ("5710 draft: PodSubGroup", GROUP, "spec/disruptionMode", "PodSubGroup"),
    ("1.35: pod groups in the Workload", TEMPLATED, "spec/podGroups", [{"name": "g"}]),
    ("1.35: pod's link", pod("p"), "spec/workloadRef", {"name": "w", "podGroup": "g"}),
    ("1.36: pod's link", pod("p"), "spec/schedulingGroup", {"podGroupName": "g"}),
    ("4832 nomination", pod("p"), "status/nominatedNodeName", "n"),
    *(
        (f"582 {place}/{field}", QUEUE, place, {field: value})
        for place in ("spec/flavorFungibility", "spec/preemption/flavorFungibility")
        for field, value in (
            ("whenCanBorrow", "TryNextFlavor"),
            ("whenCanPreempt", "Preempt"),
            ("whenCanPreempt", "MayStopSearch"),
            ("whenCanPreempt", "BeforeNextFlavor"),
        )
    ),
    ("582 podSets[].spec", QUOTA, "spec/podSets/0/spec", {"containers": []}),
    ("8303 gates", QUOTA, "spec/preemptionGates", [{"name": "example.com/review"}]),
    *(
        (f"8303 {field} {value}", GATED, "status/preemptionGates", [{**POSITION, field: value}])
        for field in ("state", "position")
        for value in ("Open", "Closed")
    ),
    *(
        (f"8303 {name}", QUOTA, "metadata/annotations", {f"kueue.x-k8s.io/{name}": "true"})
        for name in ("preemption-gated", "cannot-preempt")
    ),
]


def is_refused(found: Document) -> bool:
    sources = [Source("f", str(n), each) for n, each in enumerate((HIGH, LOW, found), 1)]
    return any(not each.warning and each.where == "f:3" for each in review(sources, CONTEXT))


@pytest.mark.parametrize(
    ("base", "path", "value"), [each[1:] for each in SPELLINGS], ids=[each[0] for each in SPELLINGS]
)
def test_no_spelling_of_a_proposal_is_ignored(base: Document, path: str, value: Any) -> None:
    said = with_at(base, path, value)
    if is_refused(said):
        return
    meant = decode(said)
    assert meant != decode(base), "offline it means something"
    view = KINDS[kind_key(said)]
    wire = json.dumps(said, separators=(",", ":")).encode()  # as an API server writes it
    assert json_decoder(view, said["apiVersion"], said["kind"])(wire) == meant, "and the same in a watch"
    listed = {"apiVersion": said["apiVersion"], "kind": f"{said['kind']}List", "items": [said]}
    assert decode_list(json.dumps(listed, separators=(",", ":")).encode(), view) == [meant], "and in a list"
    stored, problems = admit(said, KNOWN)
    if problems:
        return  # the server refuses it, with the sentence
    assert decode(stored) == decode(admit(respell(said), KNOWN)[0]), "the server means the same"
    assert value in DEFAULTS or decode(stored) != decode(admit(base, KNOWN)[0]), "and keeps it"


def test_the_walk_refuses_and_honours() -> None:
    """It would be worth nothing if it only refused, or if nothing in it could fail."""
    refused = {each[0] for each in SPELLINGS if is_refused(with_at(*each[1:]))}
    assert "1.35: pod's link" in refused
    assert "582 spec/flavorFungibility/whenCanPreempt" in refused, "BeforeNextFlavor is no value"
    assert len(refused) < len(SPELLINGS) / 2
    assert not is_refused(node("n"))
    assert decode(with_at(GROUP, "metadata/labels", {})) == decode(GROUP)


def test_the_proposals_place_of_the_timeout_is_refused_with_ours() -> None:
    with pytest.raises(ConfigurationError):
        Configuration.load({"multiKueue": {"singleClusterPreemptionTimeout": "5m"}})


def test_a_workload_of_the_draft_that_cannot_be_read_is_refused_by_every_reader() -> None:
    old = {**TEMPLATED, "apiVersion": "scheduling.k8s.io/v1alpha1", "spec": {"podGroups": [{"name": "g"}]}}
    with pytest.raises(InvalidObject):
        decode(old)
    assert is_refused(old)
