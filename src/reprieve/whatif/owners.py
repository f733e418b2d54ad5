"""Which controller the victims of a plan belong to, so that forty pods of one Job can be shown as one."""

from collections.abc import Iterable

import msgspec

from reprieve.objects import Document, Source, document_of
from reprieve.preemption import Plan


def with_owners(plan: Plan, documents: Iterable[Document | Source]) -> Plan:
    """The plan with the controller of each victim and of each reprieved pod."""
    alone = {
        each.unit: each.unit.removeprefix("Pod/") for each in plan.reprieved if each.unit.startswith("Pod/")
    }
    wanted = {victim.pod for victim in plan.victims} | set(alone.values())
    if not wanted:
        return plan
    owners = controllers(documents, wanted)
    victims = tuple(
        msgspec.structs.replace(victim, owner=owners.get(victim.pod, "")) for victim in plan.victims
    )
    reprieved = tuple(
        msgspec.structs.replace(each, owner=owners.get(alone.get(each.unit, ""), ""))
        for each in plan.reprieved
    )
    return msgspec.structs.replace(plan, victims=victims, reprieved=reprieved)


def controllers(documents: Iterable[Document | Source], pods: set[str]) -> dict[str, str]:
    """`namespace/name` of a pod to `Kind/namespace/name` of its controller, for those that have one."""
    found = {}
    for document in map(document_of, documents):
        if document.get("kind") != "Pod":
            continue
        metadata = document.get("metadata") or {}
        namespace = metadata.get("namespace") or "default"
        key = f"{namespace}/{metadata.get('name')}"
        if key in pods:
            for owner in metadata.get("ownerReferences") or ():
                if owner.get("controller"):
                    found[key] = f"{owner.get('kind')}/{namespace}/{owner.get('name')}"
    return found
