"""Manifests as an API server and its controllers would store them: for answers that no server was asked for.

A pod that is still to be created gets, in this order, what its RuntimeClass adds, what the LimitRanges of its
namespace give, a check against these and against the ResourceQuotas, and the claims that controllers make for
it. A claim for a volume that names no class gets the default class. What a server has stored has been through
all that, and is left as it is.
"""

from collections.abc import Iterable
from copy import deepcopy
from datetime import datetime
from typing import Any, NamedTuple

from reprieve.admission import limit_ranges, resource_quotas, runtime_classes, sentences
from reprieve.admission.claims import (
    binds_at_once,
    bound,
    default_class,
    device_claim,
    ephemeral_claim,
    needs_class,
)
from reprieve.admission.workload_priorities import WorkloadPriorities
from reprieve.objects import (
    Document,
    InvalidObject,
    Reference,
    ReprieveError,
    Source,
    decode,
    document_of,
    exact,
    group_key,
    kind_key,
    on_write,
    raw,
    well_known,
)

_MOST = ("Pod", "Node")
"""What most documents are: done with first."""
_CLAIM = ("", "PersistentVolumeClaim")
_WORKLOAD = (well_known.KUEUE_API, "Workload")
_TEMPLATE = (well_known.DEVICE_API, "ResourceClaimTemplate")
_GROUP = (well_known.SCHEDULING_API, "PodGroup")


class Completed(NamedTuple):
    documents: list[Document | Source]
    """The same documents in the same order, then the claims and volumes that were made."""
    refused: dict[Reference, str]
    """Pods that a server would not create, and why, in its words."""
    notes: list[str]
    """Sentences about what was given to pods, what is refused, and what is not among the documents."""

    @property
    def stored(self) -> list[Document | Source]:
        """The documents without the pods that a server would not create."""
        if not self.refused:
            return self.documents
        return [each for each in self.documents if Reference.read(document_of(each)) not in self.refused]


def complete(
    documents: Iterable[Document | Source], now: datetime | None = None, *, claims: bool = True
) -> Completed:
    """`now`: what has ended by then uses no ResourceQuota; without it these are not looked at.

    `claims`: whether claims are made for pods; who replays what controllers do makes them as time goes by.
    """
    given = list(documents)
    completing = Completing([*map(document_of, given)], now, claims)
    found = [completing.completed(each) for each in given]
    made = (*completing.claims.values(), *completing.volumes.values())
    return Completed([*found, *made], completing.refused, completing.notes())


def is_new(pod: Document) -> bool:
    """Whether no server has stored the pod."""
    return not (pod.get("metadata") or {}).get("uid") and not (pod.get("spec") or {}).get("nodeName")


def has_claims(pod: Document) -> bool:
    """Whether the pod claims devices or volumes."""
    spec = pod.get("spec") or {}
    volumes = raw.items(spec, "volumes")
    return bool(spec.get("resourceClaims")) or any(
        "ephemeral" in each or "persistentVolumeClaim" in each for each in volumes
    )


class Completing:
    """By the documents of a question: completes others, one by one."""

    def __init__(
        self, documents: Iterable[Document], now: datetime | None = None, claims: bool = False
    ) -> None:
        self.claims: dict[Reference, Document] = {}
        self.volumes: dict[Reference, Document] = {}
        """By the claim that each is made for."""
        self.refused: dict[Reference, str] = {}
        self._requests_given: dict[tuple[str, ...], list[str]] = {}
        self._classes_missing: dict[tuple[str, str], None] = {}
        self._templates_missing: dict[tuple[str, str], None] = {}
        self._now, self._makes_claims = now, claims
        self._ranges: dict[str, dict[str, limit_ranges.Limits]] = {}
        self._quotas: dict[str, list[Document]] = {}
        self._runtimes: dict[str, Document] = {}
        self._templates: dict[str, Document] = {}
        self._groups: dict[str, Document] = {}
        self._known: set[Reference] = set()
        storage_classes, documents = [], list(documents)
        for each in documents:
            if each.get("kind") in _MOST:
                continue
            match kind_key(each):
                case ("", "LimitRange"):
                    self._add_range(each)
                case ("", "ResourceQuota") if now is not None:
                    self._quotas.setdefault(Reference.read(each).namespace, []).append(each)
                case ("node.k8s.io", "RuntimeClass"):
                    self._runtimes[Reference.read(each).name] = each
                case (well_known.STORAGE_API, "StorageClass"):
                    storage_classes.append(each)
                case key if key == _TEMPLATE:
                    self._templates[Reference.read(each).key] = each
                case key if key == _GROUP:
                    self._groups[Reference.read(each).key] = each
                case ("", "PersistentVolumeClaim") | (well_known.DEVICE_API, "ResourceClaim"):
                    self._known.add(Reference.read(each))
        self._default_class = default_class(storage_classes)
        self._immediate = {
            raw.at(each, "metadata", "name") for each in storage_classes if binds_at_once(each)
        }
        self._priorities = WorkloadPriorities.read(documents)
        if now is not None:
            self._quotas = {
                name: [_counted(each, documents, now) for each in quotas]
                for name, quotas in self._quotas.items()
            }

    def notes(self) -> list[str]:
        given = self._requests_given.items()
        found = [sentences.requests_from_limit_ranges(ranges, pods) for ranges, pods in given]
        if self._classes_missing:
            found.append(sentences.runtime_classes_are_missing([*self._classes_missing]))
        if self.refused:
            refused = [(str(ref), why) for ref, why in self.refused.items()]
            found.append(sentences.pods_are_refused(refused))
        if self.volumes:
            found.append(sentences.volumes_are_made([str(ref) for ref in self.volumes]))
        if self._templates_missing:
            found.append(sentences.claim_templates_are_missing([*self._templates_missing]))
        return found

    def _add_range(self, document: Document) -> None:
        decode(document)  # a mistake in it is told with its path
        stored = deepcopy(document)
        on_write(stored)
        ref = Reference.read(document)
        self._ranges.setdefault(ref.namespace, {})[f"LimitRange/{ref.key}"] = raw.items(
            stored, "spec", "limits"
        )

    def completed(self, given: Document | Source) -> Document | Source:
        document = given.document if isinstance(given, Source) else given
        kind = document.get("kind")
        if kind == "Pod":
            if not is_new(document):
                return given
            found = self._pod(document)
        elif kind == "Node":
            return given
        elif kind_key(document) == _CLAIM:
            found = self._with_class(document)
        elif kind_key(document) == _WORKLOAD:
            found = self._workload(document)
        else:
            return given
        if found is document:
            return given
        return given._replace(document=found) if isinstance(given, Source) else found

    def _pod(self, document: Document) -> Document:
        ref = Reference.read(document)
        ranges = self._ranges.get(ref.namespace, {})
        quotas = self._quotas.get(ref.namespace, ())
        runtime = runtime_classes.named(document)
        makes_claims = self._makes_claims and has_claims(document)
        ephemeral = any("ephemeral" in each for each in raw.items(document, "spec", "volumes"))
        if not (ranges or quotas or runtime or makes_claims or ephemeral):
            return document
        decode(document)  # a mistake in it is told with its path
        pod = deepcopy(document)
        raw.section(pod, "metadata")["namespace"] = ref.namespace
        raw.section(pod, "spec")
        problems = [self._add_runtime(pod, ref, runtime)] if runtime else []
        if ranges or quotas:
            on_write(pod)
            before = _requests(pod)
            limit_ranges.fill_in(pod, ranges.values())
            if ranges and _requests(pod) != before:
                self._requests_given.setdefault(tuple(ranges), []).append(str(ref))
            problems += limit_ranges.outside(pod, ranges.values())
        problems = [each for each in problems if each]
        if not problems:
            problems = self._charge(pod, quotas)
        if problems:
            self.refused[ref] = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        for volume in raw.items(pod, "spec", "volumes"):
            template = raw.at(volume, "ephemeral", "volumeClaimTemplate")
            if template and self._default_class and needs_class(template):
                template["spec"] = {**raw.mapping(template, "spec"), "storageClassName": self._default_class}
        if makes_claims:
            self._make_claims(pod, ref)
        return pod

    def _add_runtime(self, pod: Document, ref: Reference, name: str) -> str:
        if raw.at(pod, "spec", "overhead"):
            return ""  # somebody has written into the manifest what the class adds
        if name not in self._runtimes:
            self._classes_missing[name, str(ref)] = None
            return ""
        return runtime_classes.complete(pod, self._runtimes[name])

    def _charge(self, pod: Document, quotas: Iterable[Document]) -> list[str]:
        if self._now is None:
            return []
        charges = []
        for quota in quotas:
            problem, used = resource_quotas.charge(quota, "pods", pod, None, self._now)
            if problem:
                return [problem]
            charges.append((quota, used))
        for quota, used in charges:
            if used is not None:
                quota["status"]["used"] = used
        return []

    def _workload(self, document: Document) -> Document:
        """The priority of its class; the overhead of its pod sets (Kueue: handlePodOverhead)."""
        templates = [each.get("template") or {} for each in raw.items(document, "spec", "podSets")]
        names_class = (
            raw.at(document, "spec", "priorityClassRef") and raw.at(document, "spec", "priority") is None
        )
        if not names_class and not any(map(runtime_classes.named, templates)):
            return document
        workload = deepcopy(document)
        if names_class:
            self._priorities.fill_in(workload)
        for pod_set in raw.items(workload, "spec", "podSets"):
            template = pod_set.get("template") or {}
            if name := runtime_classes.named(template):
                self._add_runtime(template, Reference.read(document), name)
        return workload

    def _with_class(self, claim: Document) -> Document:
        if self._default_class and needs_class(claim):
            claim = {**claim, "spec": {**raw.mapping(claim, "spec"), "storageClassName": self._default_class}}
        return self._with_volume(claim)

    def _with_volume(self, claim: Document) -> Document:
        """A new claim of a class that does not wait for pods is bound before any pod is looked at. The status
        of a claim that a server has stored says how far it is."""
        spec = raw.mapping(claim, "spec")
        is_stored = raw.at(claim, "metadata", "uid") or raw.at(claim, "status", "phase")
        if is_stored or spec.get("volumeName") or spec.get("storageClassName") not in self._immediate:
            return claim
        claim, volume = bound(claim)
        self.volumes[Reference.read(claim)] = volume
        return claim

    # -- claims --------------------------------------------------------------------------------------------

    def _make_claims(self, pod: Document, ref: Reference) -> None:
        """An ephemeral volume becomes the claim that is made for it: who owns that is told by numbers that a
        pod has only once it is stored."""
        volumes: list[Document] = []
        for volume in raw.items(pod, "spec", "volumes"):
            claim = ephemeral_claim(pod, volume)
            if claim is not None:
                self._add_claim(claim)
                name = claim["metadata"]["name"]
                volume = {"name": volume.get("name"), "persistentVolumeClaim": {"claimName": name}}
            volumes.append(volume)
        pod["spec"]["volumes"] = volumes
        status, known = raw.mapping(pod, "status"), raw.items(pod, "status", "resourceClaimStatuses")
        made = [*self._from_templates(pod, ref, {each.get("name") for each in known})]
        if made:
            pod["status"] = {**status, "resourceClaimStatuses": [*known, *made]}

    def _from_templates(self, pod: Document, ref: Reference, known: set[Any]) -> Iterable[Document]:
        group = self._groups.get(group_key(pod))
        for each in raw.items(pod, "spec", "resourceClaims"):
            name, template = each.get("name"), each.get("resourceClaimTemplateName")
            if template is None or name in known:
                continue
            wanted = Reference("ResourceClaimTemplate", ref.namespace, template)
            if wanted.key not in self._templates:
                self._templates_missing[str(wanted), str(ref)] = None
                continue
            shared = group is not None and each in raw.items(group, "spec", "resourceClaims")
            owner = {**(group if shared and group is not None else pod)}
            owner["metadata"] = {**owner["metadata"], "namespace": ref.namespace}
            claim = device_claim(owner, str(name), self._templates[wanted.key])
            claim["metadata"]["name"] = claim["metadata"].pop("generateName").removesuffix("-")
            self._add_claim(claim)
            yield {"name": name, "resourceClaimName": claim["metadata"]["name"]}

    def _add_claim(self, claim: Document) -> None:
        ref = Reference.read(claim)
        if ref not in self._known:
            self.claims[ref] = self._with_volume(claim) if kind_key(claim) == _CLAIM else claim


def _requests(pod: Document) -> list[Any]:
    containers = [*raw.items(pod, "spec", "containers"), *raw.items(pod, "spec", "initContainers")]
    return [raw.at(each, "resources", "requests", default={}) for each in containers]


def _counted(quota: Document, documents: Iterable[Document], now: datetime) -> Document:
    """A copy with a status: where nobody has counted yet, what the stored pods of the namespace use."""
    status, ref = raw.mapping(quota, "status"), Reference.read(quota)
    hard = raw.mapping(status, "hard") or raw.mapping(quota, "spec", "hard")
    used = raw.mapping(status, "used") or None
    for path, amounts in (("spec.hard", hard), ("status.used", used or {})):
        _refuse_wrong_amounts(amounts, path, ref)
    if used is None:
        total, namespace = dict.fromkeys(map(str, hard), 0), ref.namespace
        for each in documents:
            if each.get("kind") != "Pod" or is_new(each) or Reference.read(each).namespace != namespace:
                continue
            if resource_quotas.in_scope(quota, "pods", each):
                for name, number in resource_quotas.usage_of("pods", each, now).items():
                    if name in total:
                        total[name] += number
        used = resource_quotas.show(total)
    return {**quota, "status": {**status, "hard": hard, "used": dict(used)}}


def _refuse_wrong_amounts(amounts: Document, path: str, ref: Reference) -> None:
    for name, quantity in amounts.items():
        try:
            exact(quantity if isinstance(quantity, str | int | float) else str(quantity))
        except ReprieveError as error:
            raise InvalidObject(f"{path}[{name}]", quantity, str(error), str(ref)) from error
