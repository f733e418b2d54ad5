"""Writing conditions into raw documents as Kubernetes does: the time moves only when the status does."""

from datetime import datetime

from reprieve.objects import Document, format_time

LONGEST_MESSAGE = 32 * 1024


def set_condition(
    document: Document, type: str, status: bool, reason: str, message: str, now: datetime
) -> bool:
    """Write the condition; false when it already said exactly this."""
    conditions = document.setdefault("status", {}).setdefault("conditions", [])
    text, wanted = message[:LONGEST_MESSAGE], "True" if status else "False"
    entry = next((known for known in conditions if known.get("type") == type), None)
    if entry is None:
        entry = {"type": type}
        conditions.append(entry)
    elif (entry.get("status"), entry.get("reason"), entry.get("message")) == (wanted, reason, text):
        return False
    if entry.get("status") != wanted:
        entry["lastTransitionTime"] = format_time(now.replace(microsecond=0))
    entry.update({"status": wanted, "reason": reason, "message": text})
    generation = (document.get("metadata") or {}).get("generation")
    if generation is not None:
        entry["observedGeneration"] = generation
    return True
