"""A job as the simulator knows it: when it comes, what it asks for, how long it works. Times are ticks."""

import zlib

import msgspec

TICKS = 1_000_000
"""Ticks in a second. Whole numbers: adding up months of them loses nothing."""
LONGEST = 100 * 366 * 86_400
"""Seconds of any time that is given, a hundred years: what is longer was written in another unit."""
SHARE = 1000
"""GPUs are counted in thousandths, so that shares of one add up exactly."""
CLASSES = {2: ("high", 1000), 1: ("normal", 100), 0: ("low", 0)}
"""`priority_hint` of a trace to the name of the class and its Kubernetes priority."""
STOPPED = frozenset(
    (
        "canceled",
        "cancelled",
        "deleted",
        "evicted",
        "failed",
        "killed",
        "killing",
        "pending",
        "preempted",
        "running",
    )
)
"""Outcomes of runs that did not come to their end, or have not yet."""
UNCLASSED = ("normal", 0)
"""Jobs of a trace that knows no classes: they are all equal."""


class TopologyRequest(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True
):
    """Which domain its pods, or slices of them, are to share: as a pod set of Kueue says it."""

    required: str = ""
    preferred: str = ""
    pod_set_slice_required_topology: str = ""
    pod_set_slice_size: int = 0


class Job(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    submit: int
    duration: int
    """Ticks of work until it ends by itself."""
    pods: int = 1
    """They run together or not at all."""
    cpu: int = 0
    """Thousandths of a core, of each pod."""
    memory: int = 0
    """MiB of each pod."""
    gpu: int = 0
    """Thousandths of a GPU, of each pod."""
    priority: int = 0
    klass: str = "normal"
    queue: str = ""
    user: str = ""
    kind: str = ""
    outcome: str = ""
    deadline: int | None = None
    """Ticks after its submission."""
    topology: TopologyRequest | None = None
    """Quota that counts nodes keeps it, no scheduler does."""

    @property
    def was_stopped(self) -> bool:
        """It did not run for as long as it would have, as the trace says."""
        return self.outcome.casefold() in STOPPED

    @property
    def gpus(self) -> int:
        """Thousandths of a GPU of all its pods."""
        return self.pods * self.gpu


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs in the order of their submission, and what had to be said about the file."""

    jobs: tuple[Job, ...]
    notes: tuple[str, ...] = ()
    never_ran: int = 0
    """Rows without a run time: in the source they never ran, so nothing is known to simulate."""


def ticks(seconds: float) -> int:
    return round(seconds * TICKS)


def seconds(ticks: int) -> float:
    return ticks / TICKS


def drawn_class(name: str) -> tuple[str, int]:
    """Where a trace has no classes and some are wanted: 10 % high, 30 % normal, 60 % low, by the name."""
    digit = zlib.crc32(name.encode()) % 10
    return CLASSES[2 if digit == 0 else 1 if digit <= 3 else 0]
