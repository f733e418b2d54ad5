"""Reading raw workload documents. Raw, because a copy carries every field, also unknown ones."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.objects import Document, condition_of, has_condition, parse_time, well_known


def key_of(document: Document) -> str:
    metadata = document.get("metadata") or {}
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"


def status_of(document: Document) -> Mapping[str, Any]:
    return document.get("status") or {}


def queue_of(document: Document) -> str:
    """The ClusterQueue whose quota the workload holds; empty for none."""
    return str((status_of(document).get("admission") or {}).get("clusterQueue", ""))


def moment(value: object) -> datetime | None:
    """A timestamp of the wire; an invalid one counts as missing."""
    if not isinstance(value, str):
        return None
    try:
        return parse_time(value)
    except ValueError:
        return None


def true_since(document: Document, type: str) -> datetime | None:
    """Since when the condition is true; None when it is not, or without a valid time."""
    if not has_condition(document, type):
        return None
    return moment(condition_of(document, type).get("lastTransitionTime"))


def declares_gate(document: Document) -> bool:
    """Whether the copy has our gate in its spec; without that, a position in the status means nothing."""
    gates = (document.get("spec") or {}).get("preemptionGates") or ()
    return any(gate.get("name") == well_known.MULTIKUEUE_GATE for gate in gates)


def gate_entry(document: Document) -> Mapping[str, Any] | None:
    for entry in status_of(document).get("preemptionGates") or ():
        if entry.get("name") == well_known.MULTIKUEUE_GATE:
            found: Mapping[str, Any] = entry
            return found
    return None


def gate_is_open(document: Document) -> bool:
    """A gate in the spec without a position in the status is closed. KEP-8303 called it the gate's state."""
    entry = gate_entry(document)
    return entry is not None and entry.get("position", entry.get("state")) == well_known.GATE_OPEN


def blocked_by_gate(document: Document) -> Mapping[str, Any] | None:
    """The condition by which a worker says that it would preempt if its gate was open; None: it does not.

    KEP-8303 says it with the reason of `QuotaReserved`, Kueue with a condition of its own.
    """
    if has_condition(document, well_known.BLOCKED_ON_PREEMPTION_GATES):
        return condition_of(document, well_known.BLOCKED_ON_PREEMPTION_GATES)
    reserved = condition_of(document, well_known.QUOTA_RESERVED)
    gated = reserved.get("status") == "False" and reserved.get("reason") == well_known.PREEMPTION_GATED
    return reserved if gated else None


def opened_at(document: Document) -> datetime | None:
    entry = gate_entry(document)
    return moment(entry.get("lastTransitionTime")) if entry and gate_is_open(document) else None
