"""What would help a unit that waits: the planner's own words on the state as it is, and what a change would bring."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.evictions import in_words
from reprieve.explain.evidence import Evidence
from reprieve.explain.remedies import remedies
from reprieve.objects import ReprieveError
from reprieve.whatif import plan

NAMED = 3
BLIND = (
    "What would help cannot be said from what you may see: what looks free may be taken. "
    "Ask somebody who may list pods and nodes of the whole cluster."
)


def advice(unit: str, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime) -> list[str]:
    """Sentences; a state the planner cannot read is said, not hidden."""
    if evidence.partial:
        return [BLIND]
    try:
        answer = plan(evidence.objects, unit, config=config, now=now).to_dict()
    except ReprieveError as error:
        return [f"No plan can be made from what is visible: {error}"]
    outcome = answer.get("outcome") or answer.get("mode")
    # Notes are about how a plan was made; whoever waits has no use for them.
    lines = [str(reason) for reason in answer.get("reasons", ()) if not str(reason).startswith("Note:")]
    victims = [v.get("pod") or v.get("workload") for v in answer.get("victims", ())]
    if outcome in ("scheduled", "Fit"):
        lines.insert(0, "It fits now; the next cycle places it.")
    elif victims:
        some = ", ".join(victims[:NAMED]) + (
            f" and {len(victims) - NAMED} more" if len(victims) > NAMED else ""
        )
        lines.insert(0, f"A preemption would make room: {some} would make way.")
    elif outcome == "unschedulable":
        lines += remedies(unit, evidence.objects, config, now)
    lines += [in_words(other) for other in answer.get("alternatives", ())]
    return lines
