"""Writing to a copy: its gate, its spec, its end. Every write names the version it is based on.

That matters for the gate: an opening that was delayed on its way must not land after the closing that followed it.
"""

from collections.abc import Callable
from datetime import datetime

from reprieve.controllers import set_condition
from reprieve.controllers.fleet.connection import Connection
from reprieve.fleet import CLOSED, DEACTIVATION_TARGET, EVICTED_ON_MANAGER, GATE, OPEN
from reprieve.kube import KUEUE_WORKLOADS, ApiError, Client
from reprieve.objects import Document, format_time

Change = Callable[[Document], bool]


async def open_gate(worker: Connection, key: str, uid: str, at: datetime) -> None:
    """Open the gate of exactly the copy that asked: a namesake made since then starts closed."""

    def change(copy: Document) -> bool:
        if copy["metadata"].get("uid") != uid:
            raise ApiError(409, "Conflict", f"the copy of {key} in {worker.cluster} is another one by now")
        return _move(copy, OPEN, at)

    await _update(worker, key, change, "status")


async def close_gate(worker: Connection, key: str, at: datetime) -> None:
    """Close the gate. Even a gate that is closed is written: an opening on its way must find a newer version.

    A copy that is gone has no gate to close.
    """
    try:
        await _update(worker, key, lambda copy: _move(copy, CLOSED, at, always=True), "status")
    except ApiError as error:
        if not error.not_found:
            raise


async def update_spec(worker: Connection, key: str, spec: Document) -> None:
    def change(copy: Document) -> bool:
        copy["spec"] = spec
        return True

    await _update(worker, key, change, "")


async def deactivate(worker: Connection, key: str, message: str, at: datetime) -> None:
    def change(copy: Document) -> bool:
        return set_condition(copy, DEACTIVATION_TARGET, True, EVICTED_ON_MANAGER, message, at)

    await _update(worker, key, change, "status")


async def _update(worker: Connection, key: str, change: Change, subresource: str) -> None:
    namespace, name = key.split("/")

    async def make(client: Client) -> Document:
        return await client.update_with_retries(
            KUEUE_WORKLOADS, name, namespace, change, subresource=subresource
        )

    await worker.write_copy(key, make)


def _move(copy: Document, position: str, at: datetime, always: bool = False) -> bool:
    gates = copy.setdefault("status", {}).setdefault("preemptionGates", [])
    entry = next((gate for gate in gates if gate.get("name") == GATE), None)
    if entry is not None and entry.get("position") == position and not always:
        return False
    moved = {"name": GATE, "position": position, "lastTransitionTime": format_time(at.replace(microsecond=0))}
    copy["status"]["preemptionGates"] = [gate for gate in gates if gate is not entry] + [moved]
    return True
