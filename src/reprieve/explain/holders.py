"""Who holds a ClusterQueue's quota, and how much of it is used: what a waiting workload waits for."""

from collections.abc import Iterable
from datetime import datetime

from reprieve.config import Configuration
from reprieve.explain.evidence import condition, key_of
from reprieve.objects import Document, ReprieveError, decode_all
from reprieve.quota import Rules, load, quota_lines

SHOWN = 5


def queue_of(workload: str, objects: Iterable[Document]) -> str:
    """The ClusterQueue that a waiting workload stands in; empty if that cannot be told."""
    documents = list(objects)
    found = next((d for d in documents if d.get("kind") == "Workload" and key_of(d) == workload), {})
    local = f"{workload.split('/')[0]}/{(found.get('spec') or {}).get('queueName', '')}"
    queue = next((d for d in documents if d.get("kind") == "LocalQueue" and key_of(d) == local), {})
    return str((queue.get("spec") or {}).get("clusterQueue", ""))


def holders(queue: str, objects: Iterable[Document]) -> list[str]:
    """Who holds quota of this queue, the least important first."""
    admitted = [
        (int((d.get("spec") or {}).get("priority") or 0), key_of(d))
        for d in objects
        if d.get("kind") == "Workload"
        and ((d.get("status") or {}).get("admission") or {}).get("clusterQueue") == queue
        and condition(d, "QuotaReserved").get("status") == "True"
        and condition(d, "Finished").get("status") != "True"
    ]
    if not admitted:
        return []
    names = [f"{key} (priority {priority})" for priority, key in sorted(admitted)]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [
        f"The quota of ClusterQueue {queue} is held by {', '.join(names[:SHOWN])}{more}: it waits until one of them ends."
    ]


def usage(queue: str, objects: Iterable[Document], now: datetime) -> list[str]:
    """A sentence for each flavor's resource of a ClusterQueue."""
    try:
        quota = load(decode_all(list(objects)), Rules.of(Configuration.load({})), now)
    except ReprieveError as error:
        return [f"Its usage cannot be worked out: {error}"]
    told = []
    for line in quota_lines(quota):
        if line.queue.name == queue:
            amounts = line.to_dict()
            extra = [f"{amounts[word]} {word}" for word in ("borrowed", "lent") if amounts[word] != "0"]
            told.append(
                f"{amounts['resource']} in flavor {amounts['flavor']}: "
                + ", ".join([f"{amounts['used']} of {amounts['nominal']} used", *extra])
            )
    return told
