"""What can be compared: the three algorithms of the scheduler, two plain queues, or any configuration.

    kubernetes, kep-5710, minimal-cost   preemption.algorithm of the real scheduler
    fifo                                 submission order, nobody preempts, everybody waits behind the first
    fifo-skip                            submission order, nobody preempts, who does not fit is passed over

The plain queues run on the same scheduler: their pods have preemptionPolicy Never and one priority, retries
have no pauses, and `fifo` shows the scheduler one job at a time.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from reprieve.config import Configuration
from reprieve.objects import Duration, ReprieveError, nearest

SELDOM = Duration(3600)
"""Retries although nothing has happened are a net under missed wake-ups; with thousands of jobs waiting for
weeks they would be most of the work, so they are at least this far apart (`scheduler.maxUnschedulable`)."""
ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")
QUEUES = ("fifo", "fifo-skip")


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    config: Configuration = Configuration()
    preempts: bool = True
    in_line: bool = False
    """Everybody waits behind the first one that does not fit."""


def policy(name: str, base: Configuration | None = None) -> Policy:
    """By its name, or by the path of a ReprieveConfiguration. `base`: the settings that it changes."""
    config = _seldom(base or Configuration())
    if name in ALGORITHMS:
        preemption = msgspec.structs.replace(config.preemption, algorithm=name)
        return Policy(name=name, config=msgspec.structs.replace(config, preemption=preemption))
    if name in QUEUES:
        at_once: Mapping[str, Any] = {"initial_backoff": Duration(0), "max_backoff": Duration(0)}
        scheduler = msgspec.structs.replace(config.scheduler, **at_once)
        config = msgspec.structs.replace(config, scheduler=scheduler)
        return Policy(name=name, config=config, preempts=False, in_line=name == "fifo")
    if Path(name).is_file():
        return Policy(name=Path(name).stem, config=_seldom(Configuration.read(name)))
    known = (*ALGORITHMS, *QUEUES)
    hint = nearest(name, known) or f"; known are {', '.join(known)}"
    raise ReprieveError(f"{name!r} is neither a policy nor a configuration file{hint}")


def _seldom(config: Configuration) -> Configuration:
    pause = max(config.scheduler.max_unschedulable, SELDOM)
    scheduler = msgspec.structs.replace(config.scheduler, max_unschedulable=pause)
    return msgspec.structs.replace(config, scheduler=scheduler)
