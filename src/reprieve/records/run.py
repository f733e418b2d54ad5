"""How long something ran, noted when it ended: what forecasts learn from."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Literal

import msgspec

End = Literal["ended", "failed", "stopped"]
"""By itself; by itself, in vain; somebody else ended it: it would have run for longer."""

LONGEST = 1e10
"""Seconds, three hundred years: what is beyond is no run."""


class Run(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One run of what a person wrote: a job, or a pod that nothing made. A line of the file of records."""

    ran: Annotated[str, msgspec.Meta(pattern="^[^/]+/[^/]*/[^/]+$")]
    """`KIND/NAMESPACE/NAME`."""
    time: datetime
    """When it was over."""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=LONGEST)]
    end: End
    uid: str = ""
    """Of what ran: its pods, and its workload, are noted one by one."""
    queue: str = ""


def runs_in(lines: Iterable[bytes]) -> list[Run]:
    """Those among the lines of a file of records; the others are decisions, or torn."""
    found: list[Run] = []
    for line in lines:
        if b'"ran"' in line:
            with suppress(msgspec.MsgspecError, RecursionError, ValueError):
                found.append(msgspec.json.decode(line, type=Run))
    return found
