"""The answer: one sentence first, details after."""

from typing import Any

import msgspec


class Episode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One preemption, seen from either side."""

    by: str = ""
    """The unit that needed room."""
    victim: str = ""
    time: str = ""
    node: str = ""
    reason: str = ""
    cost: dict[str, float] = {}
    alternatives: list[str] = []
    source: str = ""
    """record, condition or event."""


class Explanation(msgspec.Struct, kw_only=True, rename="camel"):
    """`docs/explain.md` describes the JSON form."""

    for_: str = msgspec.field(name="for")
    state: str
    """waiting, running, leaving, preempted, finished, gone, unknown, ready, not-ready, active or stopped."""
    sentence: str
    details: list[str] = []
    preempted_by: list[Episode] = []
    preempted: list[Episode] = []
    waits_for: list[str] = []
    would_help: list[str] = []
    not_shown: list[str] = []
    """What the asker may not see, and why."""

    def to_dict(self) -> dict[str, Any]:
        document = msgspec.to_builtins(self)
        return {"apiVersion": "reprieve.dev/v1alpha1", "kind": "Explanation", **document}
