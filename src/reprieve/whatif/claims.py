"""Claims that controllers make for pods when these are created: from templates of devices, and for ephemeral
volumes. A manifest that no server has seen has none yet, and its pods would fit nowhere.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from reprieve.cluster import Cluster
from reprieve.objects import (
    ConsumerReference,
    Document,
    Reference,
    Source,
    document_of,
    group_key,
    kind_key,
    split_key,
    well_known,
)
from reprieve.placement import device_filter
from reprieve.preemption import Plan
from reprieve.whatif import sentences

if TYPE_CHECKING:
    from reprieve.whatif.jobs import JobPlan

_TEMPLATE = ("resource.k8s.io", "ResourceClaimTemplate")
_GROUP = (well_known.SCHEDULING_API, "PodGroup")
_Answer = TypeVar("_Answer", "Plan", "JobPlan")


def has_claims(pod: Document) -> bool:
    """Whether anything is claimed for the pod: devices, or volumes."""
    spec = pod.get("spec") or {}
    volumes = spec.get("volumes") or ()
    return bool(spec.get("resourceClaims")) or any(
        "ephemeral" in each or "persistentVolumeClaim" in each for each in volumes
    )


def with_claims(documents: list[Document | Source], notes: list[str] | None) -> list[Document | Source]:
    """The documents, and claims of pods that are still to be created; missing templates go into `notes`."""
    if not any(_is_new(each) for each in map(document_of, documents)):
        return documents
    making = _Making(map(document_of, documents))
    found = [making.completed(each) if _is_new(document_of(each)) else each for each in documents]
    if making.missing and notes is not None:
        notes.append(sentences.claim_templates_are_missing([*making.missing]))
    return [*found, *making.claims.values()]


def _is_new(document: Document) -> bool:
    """A pod with claims that waits and that no server has stored."""
    # Most documents are pods that a server has stored, or that run: they are done with first.
    if document.get("kind") != "Pod" or (document.get("metadata") or {}).get("uid"):
        return False
    return not (document.get("spec") or {}).get("nodeName") and has_claims(document)


class _Making:
    def __init__(self, documents: Iterator[Document]) -> None:
        self._templates: dict[str, Document] = {}
        self._groups: dict[str, Document] = {}
        self._known: set[Reference] = set()
        self.claims: dict[Reference, Document] = {}
        self.missing: dict[tuple[str, str], None] = {}
        for each in documents:
            reference = Reference.read(each)
            self._known.add(reference)
            if kind_key(each) == _TEMPLATE:
                self._templates[reference.key] = each
            elif kind_key(each) == _GROUP:
                self._groups[reference.key] = each

    def completed(self, found: Document | Source) -> Document | Source:
        pod = document_of(found)
        complete, status = dict(pod), pod.get("status") or {}
        known = status.get("resourceClaimStatuses") or []
        made = [*self._from_templates(pod, {each.get("name") for each in known})]
        if made:
            complete["status"] = {**status, "resourceClaimStatuses": [*known, *made]}
        volumes = pod["spec"].get("volumes") or ()
        complete["spec"] = {**pod["spec"], "volumes": [self._volume(each, pod) for each in volumes]}
        return found._replace(document=complete) if isinstance(found, Source) else complete

    def _volume(self, volume: Document, pod: Document) -> Document:
        """An ephemeral volume as the claim that is made for it: who owns that is told by numbers that a pod
        has only once it is stored."""
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is None:
            return volume
        name = f"{Reference.read(pod).name}-{volume.get('name')}"
        self._make("v1", "PersistentVolumeClaim", name, pod, template.get("spec") or {})
        return {"name": volume.get("name"), "persistentVolumeClaim": {"claimName": name}}

    def _from_templates(self, pod: Document, known: set[Any]) -> Iterator[Document]:
        reference = Reference.read(pod)
        group = self._groups.get(group_key(pod))
        for each in pod["spec"].get("resourceClaims") or ():
            name, template = each.get("name"), each.get("resourceClaimTemplateName")
            if template is None or name in known:
                continue
            wanted = Reference("ResourceClaimTemplate", reference.namespace, template)
            if wanted.key not in self._templates:
                self.missing[str(wanted), str(reference)] = None
                continue
            shared = group is not None and each in ((group.get("spec") or {}).get("resourceClaims") or ())
            owner = group if shared and group is not None else pod
            made, body = f"{Reference.read(owner).name}-{name}", self._templates[wanted.key]
            spec = (body.get("spec") or {}).get("spec") or {}
            self._make(str(body["apiVersion"]), "ResourceClaim", made, owner, spec)
            yield {"name": name, "resourceClaimName": made}

    def _make(self, api_version: str, kind: str, name: str, owner: Document, spec: Document) -> None:
        of = Reference.read(owner)
        claim = Reference(kind, of.namespace, name)
        if claim in self._known:
            return
        controller = {"apiVersion": owner["apiVersion"], "kind": of.kind, "name": of.name, "uid": ""}
        meta = {
            "name": name,
            "namespace": of.namespace,
            "ownerReferences": [{**controller, "controller": True}],
        }
        self.claims[claim] = {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


def with_note(answer: _Answer, taken: bool) -> _Answer:
    """`taken`: plans before this one give devices or volumes away, of which the documents know nothing."""
    return replace(answer, reasons=(*answer.reasons, sentences.CLAIMS_NOT_COUNTED)) if taken else answer


def take(cluster: Cluster, plan: Plan) -> None:
    """The claims of the pods that a plan places get its devices and volumes. Where a volume is to be made
    nobody knows who else can reach it: such a claim stays free to choose."""
    for pod, node in plan.placements.items():
        _take_devices(cluster, pod, node)
    cluster.storage.reserve({use.volume: claim for claim, use in plan.volumes.items() if use.volume}, {})


def _take_devices(cluster: Cluster, pod: str, node: str) -> None:
    row, slot = cluster.pods.row_of[pod], cluster.nodes.slot_of[node]
    own = device_filter(cluster, row)
    if own is None:
        return
    taken, claims = own.allocations(slot), cluster.devices.claims
    user = ConsumerReference(resource="pods", name=split_key(pod)[1], uid=cluster.pods.info[row].uid)
    found = [claims[key] for key in dict.fromkeys(own.claims) if key in claims]
    extended = own.extended(slot)
    if extended is not None and extended.claim.key in taken:
        found.append(extended.claim)
    for claim in found:
        given = taken.get(claim.key, claim.status.allocation)
        status = replace(claim.status, allocation=given, reserved_for=(*claim.status.reserved_for, user))
        cluster.set(replace(claim, status=status))
