"""kueue.x-k8s.io: ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, WorkloadPriorityClass."""

import difflib
from collections.abc import Callable

from reprieve.objects import well_known
from reprieve.objects.meta import Document
from reprieve.objects.structure import DUPLICATE, FORBIDDEN, Problem, nearest
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import (
    At,
    Problems,
    at_most_items,
    immutable,
    int32,
    label_key,
    label_map,
    nano_at,
    one_of,
    quantity,
    required,
    subdomain,
    unique,
)
from reprieve.objects.validation.shared import label_selector, taint, toleration

_LABELS = (
    well_known.WORKLOAD_PRIORITY_CLASS_LABEL,
    well_known.POD_GROUP_NAME_LABEL,
    well_known.PREBUILT_WORKLOAD_LABEL,
)
_QUEUE_NAMES = ("queue-name", "queue", "local-queue", "local-queue-name")
"""What people write behind the domain when they mean the label of the queue."""
Gate = Callable[[str], bool]

MOST_GROUPS = 16
MOST_LEVELS = 16
MOST_IN_GROUP = 64
MOST_IN_TOTAL = 256
MOST_PAIRS = 512
_STOP_POLICIES = ("None", "Hold", "HoldAndDrain")
_SEARCH = ("MayStopSearch", "TryNextFlavor")


def almost_queued(document: Document) -> list[Problem]:
    """Where something seems to name its queue and does not: a misspelt label, or an annotation of that name.
    It would run without quota, and nobody would say so."""
    meta, wanted = At(document).field("metadata"), well_known.QUEUE_LABEL
    if meta.field("labels").field(wanted).is_set:
        return []
    near = [name for name, _ in meta.field("labels").members() if _is_almost(str(name))]
    text = "nobody reads it"
    found = [Problem(f"metadata.labels[{name}]", None, text + nearest(name, [wanted])) for name in near]
    if meta.field("annotations").field(wanted).is_set:
        text = "nobody reads the annotation: a queue is named by the label"
        found.append(Problem(f"metadata.annotations[{wanted}]", None, f"{text} {wanted}"))
    return found


def _is_almost(label: str) -> bool:
    domain, _, name = label.rpartition("/")
    if "ueue" not in label.lower() or label in _LABELS:
        return False  # the quick answer for the labels of half a million pods
    if not difflib.get_close_matches(domain, [well_known.KUEUE_API], 1, 0.8):
        return False
    return bool(difflib.get_close_matches(name.lower(), _QUEUE_NAMES, 1, 0.8))


def cluster_queue(document: At, gate: Gate, old: At | None = None) -> Problems:
    spec = document.field("spec")
    cohort = spec.field("cohortName")
    yield from subdomain(cohort)
    yield from one_of(spec.field("queueingStrategy"), ("StrictFIFO", "BestEffortFIFO"))
    yield from one_of(spec.field("stopPolicy"), _STOP_POLICIES)
    yield from label_selector(spec.field("namespaceSelector"))
    yield from _fungibility(spec.field("flavorFungibility"))
    yield from _preemption(spec.field("preemption"))
    yield from _weight(spec.field("fairSharing"))
    yield from _resource_groups(
        spec.field("resourceGroups"),
        limits_allowed=bool(cohort.text),
        lending_capped=True,
        owner="cohortName",
    )
    yield from _checks_strategy(spec, gate, old)
    modes = ("UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing")
    yield from one_of(spec.field("admissionScope", "admissionMode"), modes)
    if old is not None:
        policy = "concurrentAdmissionPolicy"
        yield from immutable(spec.field(policy), old.field("spec", policy))


def cohort(document: At) -> Problems:
    spec = document.field("spec")
    parent = spec.field("parentName")
    yield from subdomain(parent)
    if parent.text and parent.text == document.field("metadata", "name").text:
        yield parent.problem("a cohort cannot be its own parent")
    yield from _weight(spec.field("fairSharing"))
    yield from _resource_groups(
        spec.field("resourceGroups"),
        limits_allowed=bool(parent.text),
        lending_capped=False,
        owner="parentName",
    )


def local_queue(document: At, old: At | None = None) -> Problems:
    spec = document.field("spec")
    yield from subdomain(spec.field("clusterQueue"))
    yield from one_of(spec.field("stopPolicy"), _STOP_POLICIES)
    yield from _weight(spec.field("fairSharing"))
    if old is not None:
        yield from immutable(spec.field("clusterQueue"), old.field("spec", "clusterQueue"))


def resource_flavor(document: At, old: At | None = None) -> Problems:
    spec = document.field("spec")
    for name in ("nodeLabels", "nodeTaints", "tolerations"):
        yield from at_most_items(spec.field(name), 8)
    yield from label_map(spec.field("nodeLabels"))
    seen = set()
    for each in spec.field("nodeTaints").items():
        yield from taint(each)
        key = (each.field("key").text, each.field("effect").text)
        if key in seen:
            yield each.problem(f"a taint {key[0]}:{key[1]} is there twice", DUPLICATE)
        seen.add(key)
    for each in spec.field("tolerations").items():
        yield from toleration(each)
    topology = spec.field("topologyName")
    if topology.text and not spec.field("nodeLabels").members():
        yield spec.field("nodeLabels").problem("must have at least one label when topologyName is set")
    if old is not None and old.field("spec", "topologyName").text:
        yield from immutable(topology, old.field("spec", "topologyName"))


def topology(document: At, old: At | None = None) -> Problems:
    levels = document.field("spec", "levels")
    names = [each.field("nodeLabel") for each in levels.items()]
    if not names:
        yield levels.problem("must name at least one level")
    yield from at_most_items(levels, MOST_LEVELS)
    for name in names:
        yield from required(name)
        if name.text:
            yield from label_key(name)
    yield from unique(names)
    for name in names[:-1]:
        if name.text == well_known.HOSTNAME_LABEL:
            yield name.problem(f"{well_known.HOSTNAME_LABEL} can only be the last level", FORBIDDEN)
    if old is not None and not (_ends_in_hosts(document) and _ends_in_hosts(old)):
        yield from immutable(levels, old.field("spec", "levels"))


def _ends_in_hosts(document: At) -> bool:
    levels = document.field("spec", "levels").items()
    return bool(levels) and levels[-1].field("nodeLabel").text == well_known.HOSTNAME_LABEL


def workload_priority_class(document: At, old: At | None = None) -> Problems:
    value = document.field("value")
    if not value.is_set:
        yield from required(value)
    yield from int32(value)
    description = document.field("description")
    if len(description.text) > 2048:
        yield description.problem("must be no more than 2048 characters")
    if old is not None:
        yield from immutable(value, old.field("value"))


def _fungibility(place: At) -> Problems:
    borrow, preempt = place.field("whenCanBorrow"), place.field("whenCanPreempt")
    yield from one_of(borrow, _SEARCH)
    yield from one_of(preempt, _SEARCH)
    preference = place.field("preference")
    yield from one_of(preference, ("BorrowingOverPreemption", "PreemptionOverBorrowing"))
    if preference.text and not (borrow.text == preempt.text == "TryNextFlavor"):
        yield preference.problem("is only for whenCanBorrow and whenCanPreempt both TryNextFlavor", FORBIDDEN)


def _preemption(place: At) -> Problems:
    reclaim, borrow = place.field("reclaimWithinCohort"), place.field("borrowWithinCohort")
    yield from one_of(
        place.field("withinClusterQueue"), ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
    )
    yield from one_of(reclaim, ("Never", "LowerPriority", "Any"))
    yield from one_of(borrow.field("policy"), ("Never", "LowerPriority"))
    yield from int32(borrow.field("maxPriorityThreshold"))
    if reclaim.text in ("", "Never") and borrow.field("policy").text not in ("", "Never"):
        yield borrow.field("policy").problem("needs reclaimWithinCohort other than Never")


def _weight(sharing: At) -> Problems:
    weight = sharing.field("weight")
    yield from quantity(weight)
    if nano_at(weight) == 1:
        yield weight.problem(f"must be 0 or more than one billionth, got {shown(weight.value)}")


def _resource_groups(groups: At, *, limits_allowed: bool, lending_capped: bool, owner: str) -> Problems:
    yield from at_most_items(groups, MOST_GROUPS)
    covered = [each for group in groups.items() for each in group.field("coveredResources").items()]
    flavors = [each.field("name") for group in groups.items() for each in group.field("flavors").items()]
    yield from at_most_items(At(covered, f"{groups.path}[*].coveredResources"), MOST_IN_TOTAL)
    yield from at_most_items(At(flavors, f"{groups.path}[*].flavors"), MOST_IN_TOTAL)
    yield from unique(covered)
    yield from unique(flavors)
    for group in groups.items():
        yield from _resource_group(group)
        for flavor in group.field("flavors").items():
            for resource in flavor.field("resources").items():
                yield from _resource_quota(resource, limits_allowed, lending_capped, owner)


def _resource_group(group: At) -> Problems:
    covered, flavors = group.field("coveredResources"), group.field("flavors")
    for place in (covered, flavors):
        yield from required(place)
        yield from at_most_items(place, MOST_IN_GROUP)
    for each in covered.items():
        yield from label_key(each)
    pairs = len(covered.items()) * len(flavors.items())
    if pairs > MOST_PAIRS:
        yield group.problem(f"must have at most {MOST_PAIRS} pairs of flavor and resource, has {pairs}")
    names = [each.text for each in covered.items()]
    for flavor in flavors.items():
        yield from required(flavor.field("name"))
        yield from subdomain(flavor.field("name"))
        listed = [each.field("name").text for each in flavor.field("resources").items()]
        if listed != names:
            yield flavor.field("resources").problem(
                f"must list exactly the covered resources in their order {names}, lists {listed}"
            )


def _resource_quota(resource: At, limits_allowed: bool, lending_capped: bool, owner: str) -> Problems:
    nominal = resource.field("nominalQuota")
    if not nominal.is_set:
        yield from required(nominal)
    yield from quantity(nominal)
    for name in ("borrowingLimit", "lendingLimit"):
        limit = resource.field(name)
        yield from quantity(limit)
        if limit.is_set and not limits_allowed:
            yield limit.problem(f"has no meaning without {owner}", FORBIDDEN)
    lending, most = nano_at(resource.field("lendingLimit")), nano_at(nominal)
    if lending_capped and lending is not None and most is not None and lending > most:
        yield resource.field("lendingLimit").problem(
            f"must not be more than nominalQuota, {shown(nominal.value)}"
        )


def _checks_strategy(spec: At, gate: Gate, old: At | None) -> Problems:
    checks = spec.field("admissionChecksStrategy", "admissionChecks")
    if checks.is_set and checks.value == []:
        yield from required(checks)
    yield from at_most_items(checks, 64)
    yield from unique(check.field("name") for check in checks.items())
    strategy = spec.field("admissionChecksStrategy")
    unchanged = old is not None and old.field("spec", "admissionChecksStrategy").value == strategy.value
    flavors = {
        flavor.field("name").text
        for group in spec.field("resourceGroups").items()
        for flavor in group.field("flavors").items()
    }
    for check in checks.items():
        yield from required(check.field("name"))
        yield from at_most_items(check.field("onFlavors"), 64)
        if unchanged and not gate("RejectUpdatesToCQWithInvalidOnFlavors"):
            continue
        for flavor in check.field("onFlavors").items():
            if flavor.text not in flavors:
                yield flavor.problem(f"{flavor.text!r} is no flavor of this ClusterQueue")
