"""The kinds that make pods: what an API server demands of them and of their changes."""

import msgspec

from reprieve.objects.meta import Document, LabelSelector
from reprieve.objects.schedules import Schedule, ScheduleError, zone_named
from reprieve.objects.selectors import matches
from reprieve.objects.structure import FORBIDDEN, INVALID, REQUIRED, UNSUPPORTED, Problem
from reprieve.objects.validation.checks import At, Problems, between, int32, one_of, required
from reprieve.objects.validation.pods import pod_spec
from reprieve.objects.validation.runnable import runnable_spec, template
from reprieve.objects.well_known import JOB_CONTROLLER_UID_LABEL

_STATEFUL_MUTABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_NEVER_NEGATIVE = (
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
    "backoffLimit",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_FREE_WHILE_SUSPENDED = (
    "labels",
    "annotations",
    "nodeSelector",
    "affinity",
    "tolerations",
    "schedulingGates",
)
_LONGEST_CRON_JOB = 52
"""Its jobs are called after it, with eleven characters more."""


def replication_controller(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from int32(spec.field("replicas"), 0)
    if not spec.field("template").is_set:
        return
    if old is None:
        yield from template(spec.field("template", "spec"))
        yield from _always(spec.field("template", "spec"))
    selector = spec.field("selector").value
    if isinstance(selector, dict) and selector:
        yield from _matching({"matchLabels": selector}, spec)


def deployment(new: At, old: At | None) -> Problems:
    yield from replicated(new, old)
    strategy = new.field("spec", "strategy")
    kind, rolling = strategy.field("type").text, strategy.field("rollingUpdate")
    if kind == "Recreate" and rolling.is_set:
        yield rolling.problem("may not be specified when strategy `type` is 'Recreate'", FORBIDDEN)
    elif kind not in ("", "Recreate", "RollingUpdate"):
        yield Problem(strategy.path, kind, "expected one of Recreate, RollingUpdate", UNSUPPORTED)
    elif rolling.is_set and _is_nothing(rolling, "maxUnavailable") and _is_nothing(rolling, "maxSurge"):
        yield rolling.field("maxUnavailable").problem("may not be 0 when `maxSurge` is 0")


def _is_nothing(rolling: At, name: str) -> bool:
    return rolling.field(name).value in (0, "0%")


def replicated(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from int32(spec.field("replicas"), 0)
    if old is None:
        claims = spec.field("volumeClaimTemplates").items()
        yield from template(
            spec.field("template", "spec"), [claim.field("metadata", "name").text for claim in claims]
        )
        yield from _always(spec.field("template", "spec"))
    selector = spec.field("selector")
    if not isinstance(selector.value, dict):
        yield selector.problem("is required", REQUIRED)
    elif not selector.value.get("matchLabels") and not selector.value.get("matchExpressions"):
        yield selector.problem("empty selector is invalid for a controller of pods")
        return
    yield from _matching(selector.value, spec)
    if old is not None:
        yield from _unchanged(spec, old.field("spec"), ["selector"])


def _matching(selector: object, spec: At) -> Problems:
    """The pods that it makes are its own; without a selector none are."""
    labels = spec.field("template", "metadata", "labels")
    try:
        view = msgspec.convert(selector, LabelSelector) if selector is not None else None
    except msgspec.ValidationError as error:
        yield spec.field("selector").problem(str(error))
        return
    if view is None or not matches(view, labels.value if isinstance(labels.value, dict) else {}):
        yield Problem(labels.path, labels.value or {}, "`selector` does not match template `labels`")


def stateful_set(new: At, old: At | None) -> Problems:
    yield from replicated(new, old)
    spec = new.field("spec")
    policy, strategy = spec.field("podManagementPolicy"), spec.field("updateStrategy")
    if policy.text not in ("", "OrderedReady", "Parallel"):
        yield policy.problem("must be 'OrderedReady' or 'Parallel'")
    if strategy.field("type").text not in ("", "RollingUpdate", "OnDelete"):
        yield strategy.problem("must be 'RollingUpdate' or 'OnDelete'")
    if old is not None:
        before = old.field("spec")
        names = {*(spec.value or {}), *(before.value or {})} - {*_STATEFUL_MUTABLE, "selector"}
        yield from _unchanged(spec, before, sorted(names))


def job(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    if old is not None:
        yield from _job_change(spec, old.field("spec"))
        return
    yield from _job_spec(spec)
    yield from _job_selector(spec, new.field("metadata", "uid").text)


def cron_job(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from required(spec.field("schedule"))
    for name, read in (("schedule", Schedule.parse), ("timeZone", zone_named)):
        stated = spec.field(name)
        if stated.text and (old is None or stated.value != old.field("spec", name).value):
            try:
                read(stated.text)
            except ScheduleError as error:
                yield stated.problem(str(error))
    yield from one_of(spec.field("concurrencyPolicy"), ("Allow", "Forbid", "Replace"))
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit", "startingDeadlineSeconds"):
        yield from between(spec.field(name), 0, None)
    if old is None:
        yield from pod_spec(spec.field("jobTemplate", "spec", "template", "spec"))
        yield from _job_spec(spec.field("jobTemplate", "spec"))
        own = new.field("metadata", "name")
        if len(own.text) > _LONGEST_CRON_JOB:
            yield own.problem(f"must be no more than {_LONGEST_CRON_JOB} characters")


def _job_spec(spec: At) -> Problems:
    inside = spec.field("template", "spec")
    yield from runnable_spec(inside)
    policy = inside.field("restartPolicy")
    if policy.text not in ("OnFailure", "Never"):
        yield policy.problem('valid values: "OnFailure", "Never"', REQUIRED)
    elif spec.field("podFailurePolicy").is_set and policy.text != "Never":
        yield policy.problem('only "Never" is supported when podFailurePolicy is specified')
    for name in _NEVER_NEGATIVE:
        yield from between(spec.field(name), 0, None)
    yield from one_of(spec.field("completionMode"), ("NonIndexed", "Indexed"))
    if spec.field("completionMode").text != "Indexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.field(name).is_set:
                yield spec.field(name).problem("requires indexed completion mode")


def _job_selector(spec: At, uid: str) -> Problems:
    """Of a job that does not say `manualSelector`, one that the server wrote."""
    selector = spec.field("selector").value
    if spec.field("manualSelector").value or not isinstance(selector, dict) or not uid:
        return
    if selector != {"matchLabels": {JOB_CONTROLLER_UID_LABEL: uid}}:
        yield Problem(spec.field("selector").path, selector, "`selector` not auto-generated", INVALID)
    yield from _matching(selector, spec)


def _job_change(spec: At, before: At) -> Problems:
    fixed = ["selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy"]
    if spec.field("completionMode").value != "Indexed":
        fixed.append("completions")
    yield from _unchanged(spec, before, fixed)
    suspended = bool(before.field("suspend").value)
    for name in ("metadata", "spec"):
        new, old = spec.field("template", name), before.field("template", name)
        if _fixed(new.value, suspended) != _fixed(old.value, suspended):
            yield Problem(new.path, "", "field is immutable")


def _fixed(part: Document | None, suspended: bool) -> Document:
    """What must stay of a template. While its job is suspended, it may still be said where its pods go and
    what they get there; that is how queues start jobs."""
    if not suspended:
        return part or {}
    kept = {name: value for name, value in (part or {}).items() if name not in _FREE_WHILE_SUSPENDED}
    for name in ("containers", "initContainers"):
        if isinstance(kept.get(name), list):
            kept[name] = [{k: v for k, v in each.items() if k != "resources"} for each in kept[name]]
    return kept


def _always(inside: At) -> Problems:
    """Pods that a controller keeps running."""
    if inside.field("restartPolicy").text:
        yield from one_of(inside.field("restartPolicy"), ("Always",))


def _unchanged(new: At, old: At, names: list[str]) -> Problems:
    for name in names:
        if _meant(new.field(name).value) != _meant(old.field(name).value):
            yield Problem(new.field(name).path, "", "field is immutable")


def _meant(value: Document | None) -> object:
    """An empty value and none are the same."""
    return value or None
