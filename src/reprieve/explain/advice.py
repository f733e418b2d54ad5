"""What would help a unit that waits: the planner's own words on the state as it is."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.evidence import Evidence, in_words
from reprieve.objects.errors import ReprieveError
from reprieve.whatif import plan


def advice(unit: str, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime) -> list[str]:
    """Sentences; a state the planner cannot read is said, not hidden."""
    try:
        answer = plan(evidence.objects, unit, config=config, now=now).to_dict()
    except ReprieveError as error:
        return [f"No plan can be made from what is visible: {error}"]
    outcome = answer.get("outcome") or answer.get("mode")
    lines = [str(reason) for reason in answer.get("reasons", ())]
    victims = [v.get("pod") or v.get("workload") for v in answer.get("victims", ())]
    if outcome in ("scheduled", "Fit"):
        lines.insert(0, "It fits now; the next cycle places it.")
    elif victims:
        some = ", ".join(victims[:3]) + (f" and {len(victims) - 3} more" if len(victims) > 3 else "")
        lines.insert(0, f"A preemption would make room: {some} would make way.")
    lines += [in_words(other) for other in answer.get("alternatives", ())]
    return lines
