"""kueue.x-k8s.io Workload: what it requests, and what may still change once quota is reserved."""

from reprieve.objects import well_known
from reprieve.objects.quantity import QuantityError, milli_value
from reprieve.objects.selectors import parse_integer
from reprieve.objects.structure import FORBIDDEN, Problem
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import (
    INT32,
    At,
    Problems,
    at_most_items,
    immutable,
    int32,
    label_key,
    one_of,
    quantities,
    required,
    subdomain,
    unique,
)
from reprieve.objects.validation.pods import pod_spec
from reprieve.objects.validation.resources import pod_amounts

_MOST_POD_SETS = 18
_MOST_SLICE_LAYERS = 3


def workload(document: At) -> Problems:
    spec = document.field("spec")
    pod_sets = spec.field("podSets")
    yield from required(pod_sets)
    yield from at_most_items(pod_sets, _MOST_POD_SETS)
    yield from unique(each.field("name") for each in pod_sets.items())
    for each in pod_sets.items():
        yield from _pod_set(each)
    partial = [each for each in pod_sets.items() if each.field("minCount").is_set]
    for each in partial[1:]:
        yield each.field("minCount").problem("only one podset of a workload may have minCount", FORBIDDEN)
    yield from subdomain(spec.field("queueName"))
    yield from int32(spec.field("priority"))
    yield from _priority_class(spec)
    yield from int32(spec.field("maximumExecutionTimeSeconds"), 1)
    yield from _boost(document)
    yield from _gates(spec.field("preemptionGates"))
    yield from _status(document, pod_sets)


def workload_update(new: At, old: At) -> Problems:
    """While quota is reserved, what was requested must not change."""
    spec, before = new.field("spec"), old.field("spec")
    if _is_true(old, well_known.QUOTA_RESERVED) and _is_true(new, well_known.QUOTA_RESERVED):
        for name in ("podSets", "queueName"):
            yield from immutable(spec.field(name), before.field(name))
        reference, earlier = spec.field("priorityClassRef"), before.field("priorityClassRef")
        for name in ("group", "kind"):
            yield from immutable(reference.field(name), earlier.field(name))
        if earlier.field("kind").text == "PriorityClass":
            yield from immutable(reference.field("name"), earlier.field("name"))
        yield from _reclaimable_grows(new, old)
    if _is_true(old, well_known.ADMITTED):
        name = "maximumExecutionTimeSeconds"
        yield from immutable(spec.field(name), before.field(name))
    admission, earlier = new.field("status", "admission"), old.field("status", "admission")
    if admission.is_set and earlier.is_set:
        yield from immutable(_fixed_part(admission), _fixed_part(earlier))
    yield from _cluster_name_update(new.field("status"), old.field("status"))


def _pod_set(place: At) -> Problems:
    name, count, least = place.field("name"), place.field("count"), place.field("minCount")
    if len(name.text) > 63:
        yield name.problem("must be no more than 63 characters")
    yield from int32(count, 0)
    yield from int32(least, 1)
    if least.number is not None and least.number > (count.number if count.number is not None else 1):
        yield least.problem(f"must not be more than count, {count.value}")
    yield from _topology_request(place.field("topologyRequest"), count)
    template = place.field("template", "spec")
    # Kueue stores what a pod could not have, such as devices without limits; not what nobody can count.
    yield from pod_spec(template, pod_amounts)
    for container in [*template.field("containers").items(), *template.field("initContainers").items()]:
        for kind in ("requests", "limits"):
            pods = container.field("resources", kind, "pods")
            if pods.is_set:
                yield pods.problem("the resource 'pods' is counted by Kueue itself", FORBIDDEN)


def _topology_request(request: At, count: At) -> Problems:
    for name in ("required", "preferred", "podSetSliceRequiredTopology"):
        if request.field(name).text:
            yield from label_key(request.field(name))
    size, where = request.field("podSetSliceSize"), request.field("podSetSliceRequiredTopology")
    yield from int32(size, 1)
    if size.is_set != where.is_set:
        missing, given = (where, "podSetSliceSize") if size.is_set else (size, "podSetSliceRequiredTopology")
        yield missing.problem(f"is required together with {given}")
    layers = request.field("podsetSliceRequiredTopologyConstraints")
    yield from at_most_items(layers, _MOST_SLICE_LAYERS)
    for each in layers.items():
        yield from label_key(each.field("topology"))
        yield from int32(each.field("size"), 1)
    for each in (size, *(layer.field("size") for layer in layers.items())):
        if each.number is not None and count.number is not None and each.number > count.number:
            yield each.problem(f"a slice must not be larger than the pod set, which has {count.number} pods")


def _priority_class(spec: At) -> Problems:
    reference = spec.field("priorityClassRef")
    if not reference.is_set:
        return
    group, kind = reference.field("group"), reference.field("kind")
    yield from one_of(group, tuple(well_known.PRIORITY_CLASS_KINDS))
    expected = well_known.PRIORITY_CLASS_KINDS.get(group.text, kind.text)
    if kind.text != expected:
        yield kind.problem(f"must be {expected} for group {group.text}, got {shown(kind.value)}")
    yield from required(reference.field("name"))
    yield from subdomain(reference.field("name"))
    if not spec.field("priority").is_set:
        yield spec.field("priority").problem("is required together with priorityClassRef")


def _boost(document: At) -> Problems:
    boost = document.field("metadata", "annotations").field(well_known.PRIORITY_BOOST_ANNOTATION)
    if not boost.is_set:
        return
    number = parse_integer(boost.text)
    if number is None or not INT32[0] <= number <= INT32[1]:
        yield boost.problem(f"must be a whole number of 32 bits, got {shown(boost.value)}")


def _gates(gates: At) -> Problems:
    yield from at_most_items(gates, 8)
    yield from unique(each.field("name") for each in gates.items())
    for each in gates.items():
        yield from required(each.field("name"))
        if len(each.field("name").text) > 63:
            yield each.field("name").problem("must be no more than 63 characters")


def _status(document: At, pod_sets: At) -> Problems:
    status = document.field("status")
    yield from at_most_items(status.field("conditions"), 16)
    yield from at_most_items(status.field("admissionChecks"), 8)
    for check in status.field("admissionChecks").items():
        yield from one_of(check.field("state"), ("Pending", "Ready", "Retry", "Rejected"))
    yield from _gates(status.field("preemptionGates"))
    for each in status.field("preemptionGates").items():
        yield from one_of(each.field("position"), ("Open", "Closed"))
    yield from at_most_items(status.field("nominatedClusterNames"), 20)
    if status.field("clusterName").text and status.field("nominatedClusterNames").items():
        message = "cannot be set together with nominatedClusterNames"
        yield status.field("clusterName").problem(message, FORBIDDEN)
    yield from _admission(document, pod_sets)
    counts = {each.field("name").text or "main": each.field("count").number for each in pod_sets.items()}
    for each in status.field("reclaimablePods").items():
        most, number = counts.get(each.field("name").text), each.field("count").number
        if each.field("name").text not in counts:
            yield each.field("name").problem("names no podset of this workload")
        elif most is not None and number is not None and number > most:
            yield each.field("count").problem(f"must not be more than the podset's count, {most}")


def _admission(document: At, pod_sets: At) -> Problems:
    admission = document.field("status", "admission")
    if not admission.is_set:
        if _is_true(document, well_known.QUOTA_RESERVED):
            yield admission.problem("must be set while QuotaReserved is True")
        return
    yield from required(admission.field("clusterQueue"))
    assignments = admission.field("podSetAssignments")
    have, want = len(assignments.items()), len(pod_sets.items())
    if have != want:
        yield Problem(
            assignments.path, have, f"must have one entry for each of the {want} podsets, has {have}"
        )
    names = [each.field("name").text or "main" for each in pod_sets.items()]
    for each in assignments.items():
        if (each.field("name").text or "main") not in names:
            yield each.field("name").problem("names no podset of this workload")
        yield from quantities(each.field("resourceUsage"))
        count = each.field("count").number
        for _, usage in each.field("resourceUsage").members() if count else ():
            if not _divides(usage, count or 1):
                yield usage.problem(f"must be a multiple of the count, {count}")


def _divides(usage: At, count: int) -> bool:
    """Counted in thousandths; what is no quantity at all is named elsewhere."""
    if isinstance(usage.value, bool) or not isinstance(usage.value, str | int | float):
        return True
    try:
        return milli_value(usage.value) % count == 0
    except QuantityError:
        return True


def _reclaimable_grows(new: At, old: At) -> Problems:
    counts = {
        each.field("name").text: each.field("count").number or 0
        for each in new.field("status", "reclaimablePods").items()
    }
    for each in old.field("status", "reclaimablePods").items():
        name, before = each.field("name").text, each.field("count").number or 0
        if counts.get(name, 0) < before:
            place = new.field("status", "reclaimablePods")
            yield place.problem(f"{name!r} must not shrink from {before} while quota is reserved", FORBIDDEN)


def _cluster_name_update(status: At, before: At) -> Problems:
    name, earlier = status.field("clusterName"), before.field("clusterName")
    if earlier.text and name.text:
        yield from immutable(name, earlier)
    elif name.text:
        nominated = [each.text for each in before.field("nominatedClusterNames").items()]
        if nominated and name.text not in nominated:
            yield name.problem(f"must be one of the nominated clusters {nominated}")


def _fixed_part(admission: At) -> At:
    """An admission without the topology parts, which may still be filled in."""
    assignments = [
        {
            key: value
            for key, value in each.value.items()
            if key not in ("topologyAssignment", "delayedTopologyRequest")
        }
        for each in admission.field("podSetAssignments").items()
        if isinstance(each.value, dict)
    ]
    return At(
        {"clusterQueue": admission.field("clusterQueue").value, "podSetAssignments": assignments},
        admission.path,
    )


def _is_true(document: At, condition: str) -> bool:
    return any(
        each.field("type").value == condition and each.field("status").value == "True"
        for each in document.field("status", "conditions").items()
    )
