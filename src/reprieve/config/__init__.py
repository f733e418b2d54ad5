"""ReprieveConfiguration: one YAML file, every field defaulted, unknown ones refused with their path.

Reads what it is given, once, at start. Knows nothing of the parts it configures.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from reprieve.config import gates
from reprieve.config.sections import (
    Admission,
    AdmissionFairSharing,
    FairSharing,
    Fleet,
    Jobs,
    Placement,
    Preemption,
    Quota,
    Records,
    Resources,
    Scheduler,
    ScoringStrategy,
    Section,
    Tracing,
    WaitForPodsReady,
)
from reprieve.jobs import JobKinds
from reprieve.objects import (
    Context,
    Duration,
    PriorityClasses,
    Problem,
    ReprieveError,
    misfits,
    parse_duration,
    read_documents,
    shown,
    well_known,
    without_nulls,
)

__all__ = ["KIND", "Configuration", "ConfigurationError", "ScoringStrategy", "WaitForPodsReady"]

KIND = "ReprieveConfiguration"
_LEGAL_STRATEGIES = (
    ("LessThanOrEqualToFinalShare",),
    ("LessThanInitialShare",),
    ("LessThanOrEqualToFinalShare", "LessThanInitialShare"),
)


class ConfigurationError(ReprieveError):
    """All that is wrong with a configuration."""

    def __init__(self, problems: list[Problem], where: str = "") -> None:
        self.problems = problems
        lines = [f"{where}: {problem}" if where else str(problem) for problem in problems]
        super().__init__("\n".join(lines))


class Configuration(Section):
    api_version: str = well_known.API_VERSION
    kind: str = KIND
    feature_gates: dict[str, bool] = msgspec.field(default_factory=dict)
    """Only what differs from the defaults; ask `gate()`."""
    preemption: Preemption = Preemption()
    placement: Placement = Placement()
    fair_sharing: FairSharing | None = None
    admission_fair_sharing: AdmissionFairSharing | None = None
    quota: Quota = Quota()
    resources: Resources = Resources()
    fleet: Fleet = Fleet()
    scheduler: Scheduler = Scheduler()
    records: Records = Records()
    tracing: Tracing = Tracing()
    admission: Admission = Admission()
    jobs: Jobs = Jobs()

    @classmethod
    def load(cls, document: "Mapping[str, Any] | Configuration | None") -> "Configuration":
        """From a plain document without `apiVersion` and `kind`, or with the right ones.

        Raises `ConfigurationError` with all problems.
        """
        if isinstance(document, Configuration):
            return document
        given = without_nulls(dict(document or {}))
        problems = misfits(given, cls, known_fields_only=True)
        if not problems:
            problems = _inconsistencies(given)
        if problems:
            raise ConfigurationError(problems)
        loaded = msgspec.convert(given, cls, dec_hook=_decode_duration)
        if problems := _negative_durations(loaded, ""):
            raise ConfigurationError(problems)
        return loaded

    @classmethod
    def read(cls, path: str | Path) -> "Configuration":
        """From a YAML file (`-`: standard input)."""
        documents = list(read_documents(path))
        if len(documents) != 1:
            raise ConfigurationError(
                [Problem("", None, f"expected one document, found {len(documents)}")], str(path)
            )
        try:
            return cls.load(documents[0].document)
        except ConfigurationError as error:
            raise ConfigurationError(error.problems, str(path)) from error

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on, its defaults and its needs considered."""
        return gates.is_on(name, self.feature_gates)

    def job_kinds(self) -> JobKinds:
        """The kinds of jobs that are known, those of the configuration included."""
        return JobKinds(self.jobs.kinds)

    def admission_context(self, classes: PriorityClasses | None = None) -> Context:
        """What admission needs to know. Without `classes`, the cluster's priority classes are unknown."""
        return Context(
            gate=self.gate,
            classes=classes if classes is not None else PriorityClasses(complete=False),
            allow_whole_group_disruption_for_basic=self.admission.allow_whole_group_disruption_for_basic,
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole configuration, defaults written out, as `load` reads it."""
        result: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        return result


def _negative_durations(section: Any, path: str) -> list[Problem]:
    found = []
    for field in msgspec.structs.fields(section):
        value, place = getattr(section, field.name), f"{path}.{field.encode_name}".lstrip(".")
        if isinstance(value, Duration) and value < 0:
            found.append(Problem(place, str(value), f"must not be negative, got {value}"))
        elif isinstance(value, Section):
            found += _negative_durations(value, place)
    return found


def _decode_duration(expected: type, value: Any) -> Any:
    if expected is Duration:
        return Duration(parse_duration(value))
    raise NotImplementedError(expected)


def _inconsistencies(given: dict[str, Any]) -> list[Problem]:
    """What is wrong although every field by itself is well formed."""
    found = []
    for field, expected in (("apiVersion", well_known.API_VERSION), ("kind", KIND)):
        if given.get(field, expected) != expected:
            found.append(Problem(field, given[field], f"expected {expected}, got {shown(given[field])}"))
    found += gates.problems(given.get("featureGates", {}))
    strategies = given.get("fairSharing", {}).get("preemptionStrategies")
    if strategies is not None and tuple(strategies) not in _LEGAL_STRATEGIES:
        message = "expected one strategy, or LessThanOrEqualToFinalShare and then LessThanInitialShare"
        found.append(Problem("fairSharing.preemptionStrategies", strategies, f"{message}; got {strategies}"))
    found += _shape_problems(given.get("placement", {}).get("scoringStrategy", {}))
    found += _order_problems(given.get("scheduler", {}), given.get("preemption", {}))
    return found


def _shape_problems(strategy: dict[str, Any]) -> list[Problem]:
    path = "placement.scoringStrategy.shape"
    shape = strategy.get("shape", [])
    if strategy.get("type") != "RequestedToCapacityRatio":
        return [Problem(path, shape, "only RequestedToCapacityRatio has a shape")] if shape else []
    points = [point["utilization"] for point in shape]
    if not points:
        return [
            Problem(path, shape, "RequestedToCapacityRatio needs at least one point {utilization, score}")
        ]
    if points != sorted(set(points)):
        return [Problem(path, points, f"utilization must rise from point to point, got {points}")]
    return []


def _order_problems(scheduler: dict[str, Any], preemption: dict[str, Any]) -> list[Problem]:
    """Pairs of durations of which the first must not exceed the second."""
    settings = msgspec.convert(scheduler, Scheduler, dec_hook=_decode_duration)
    pauses = msgspec.convert(preemption, Preemption, dec_hook=_decode_duration)
    lease = settings.leader_election
    pairs = (
        (
            "preemption.returnPause",
            pauses.return_pause,
            "preemption.maxReturnPause",
            pauses.max_return_pause,
        ),
        (
            "scheduler.initialBackoff",
            settings.initial_backoff,
            "scheduler.maxBackoff",
            settings.max_backoff,
        ),
        (
            "scheduler.leaderElection.renewDeadline",
            lease.renew_deadline,
            "scheduler.leaderElection.leaseDuration",
            lease.lease_duration,
        ),
        (
            "scheduler.leaderElection.retryPeriod",
            lease.retry_period,
            "scheduler.leaderElection.renewDeadline",
            lease.renew_deadline,
        ),
    )
    return [
        Problem(small, str(low), f"{low} is longer than {large}, which is {high}")
        for small, low, large, high in pairs
        if low > high
    ]
