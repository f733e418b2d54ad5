"""Events that the small controllers write: what they could not do, and what people would ask about.

The same event about the same object is counted, not repeated.
"""

import hashlib

from reprieve.objects import Document
from reprieve.server.api import Api
from reprieve.server.errors import ApiError


async def record_event(
    api: Api,
    regarding: Document,
    reason: str,
    message: str,
    *,
    component: str,
    warning: bool = False,
    topic: str = "",
) -> None:
    """Events with the same topic (by default the message) are the same event.

    One that cannot be written is dropped: its namespace is on its way out.
    """
    meta = regarding["metadata"]
    namespace = meta.get("namespace") or "default"
    digest = hashlib.blake2b(f"{meta['uid']} {reason} {topic or message}".encode(), digest_size=8).hexdigest()
    name, now = f"{meta['name']}.{digest}", api.backend.timestamp()
    known = api.peek("events", name, namespace)
    try:
        if known is not None:
            again = {"count": int(known.get("count") or 1) + 1, "lastTimestamp": now}
            await api.patch("events", name, again, namespace, manager=component)
            return
        involved = {"apiVersion": regarding["apiVersion"], "kind": regarding["kind"], "uid": meta["uid"]}
        involved |= {key: meta[key] for key in ("name", "namespace", "resourceVersion") if key in meta}
        event: Document = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "reason": reason,
            "message": message[:1024],
            "source": {"component": component},
            "type": "Warning" if warning else "Normal",
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
        }
        event |= {"reportingComponent": component, "reportingInstance": ""}
        await api.create("events", event, namespace, manager=component)
    except ApiError as refusal:
        if refusal.code not in (403, 404, 409):
            raise
