"""Claims of pods in a replay: what the controllers of a cluster would write meanwhile, at once.

- A pod that names a template of claims, or has an ephemeral volume, gets claims of its own when it is made.
- Before it is bound, its claims get the devices and volumes that were decided on; a volume that is to be made
  can be reached from every node.
- When it is gone, its own claims go with it, and devices that nobody else uses are free again. Volumes stay
  with their claims.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from reprieve.admission import binds_at_once
from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.forecast import sentences
from reprieve.objects import (
    ConsumerReference,
    Document,
    Object,
    ObjectMeta,
    OwnerReference,
    Pod,
    Reference,
    ResourceClaim,
    ResourceClaimTemplate,
    core,
    decode,
    devices,
    storage,
    well_known,
)
from reprieve.preemption import Plan, decide
from reprieve.scheduler import Bind, BindClaim, UseDevices
from reprieve.simulate import Host, Job, JobObjects, Scheduling


class SchedulingWithClaims(Scheduling):
    def __init__(
        self,
        config: Configuration,
        objects: JobObjects,
        host: Host,
        jobs: tuple[Job, ...],
        *,
        templates: Mapping[str, ResourceClaimTemplate],
        volumes: Mapping[str, storage.PersistentVolumeClaimSpec],
        explained: Collection[str],
    ) -> None:
        """`volumes`: what the claims of ephemeral volumes ask for, by name. `explained`: units that are told
        why they wait."""
        super().__init__(config, objects, host, jobs, grace=0)
        self._templates = templates
        self._volumes = volumes
        self._explained = explained

    def _decide(self, cluster: Cluster, unit: Reference, config: Configuration, now: int | None) -> Plan:
        return decide(cluster, unit, config, now, explain=str(unit) in self._explained)

    # --- made -----------------------------------------------------------------------------------------------

    def submit(self, index: int, created: int) -> None:
        super().submit(index, created)
        if self._templates or self._volumes:
            for key in self._keys[index]:
                self._make_claims(self._pods[key])

    def _make_claims(self, pod: Pod) -> None:
        for volume in pod.spec.volumes if self._volumes else ():
            key = f"{pod.key}-{volume.name}"
            if volume.ephemeral is not None and key in self._volumes and key not in self._claims:
                meta = _meta(pod, f"{pod.name}-{volume.name}")
                claim = storage.PersistentVolumeClaim(metadata=meta, spec=self._volumes[key])
                self._add(claim)
                if self._binds_at_once(claim):
                    ref = Reference.of("PersistentVolumeClaim", claim.key)
                    self._bind_volume(BindClaim(claim=ref, volume="", version=""))
        known = {each.name for each in pod.status.resource_claim_statuses}
        made = []
        for each in pod.spec.resource_claims:
            template = self._templates.get(f"{pod.namespace}/{each.resource_claim_template_name}")
            if each.name in known or template is None:
                continue
            name = f"{pod.name}-{each.name}-{pod.metadata.uid}"
            self._add(ResourceClaim(metadata=_meta(pod, name), spec=template.spec.spec))
            made.append(core.PodResourceClaimStatus(name=each.name, resource_claim_name=name))
        if made:
            statuses = (*pod.status.resource_claim_statuses, *made)
            self._change(pod, replace(pod, status=replace(pod.status, resource_claim_statuses=statuses)))

    def _binds_at_once(self, claim: storage.PersistentVolumeClaim) -> bool:
        """As `admission.binds_at_once` says of the class."""
        found = self.core.cluster.storage.classes.get(claim.storage_class)
        return found is not None and binds_at_once(
            {"volumeBindingMode": found.volume_binding_mode, "provisioner": found.provisioner}
        )

    # --- bound ----------------------------------------------------------------------------------------------

    def _bind(self, bind: Bind) -> None:
        for claim in bind.claims:
            self._bind_volume(claim)
        for use in bind.devices:
            self._use(use, self._pods[bind.pod.key])
        super()._bind(bind)

    def _bind_volume(self, bind: BindClaim) -> None:
        claim = self._claims[bind.claim.key]
        name = bind.volume or f"pvc-{claim.metadata.uid or claim.key}"
        own = storage.ClaimReference(namespace=claim.namespace, name=claim.name, uid=claim.metadata.uid)
        bound = storage.PersistentVolumeStatus(phase="Bound")
        if bind.volume:
            volume = self.core.cluster.storage.volumes[name]
            self._put(volume, replace(volume, spec=replace(volume.spec, claim_ref=own), status=bound))
        else:
            spec = storage.PersistentVolumeSpec(
                capacity={"storage": claim.request},
                access_modes=claim.spec.access_modes,
                storage_class_name=claim.storage_class,
                volume_mode=claim.spec.volume_mode,
                claim_ref=own,
            )
            self._add(storage.PersistentVolume(metadata=ObjectMeta(name=name), spec=spec, status=bound))
        notes = {**claim.metadata.annotations, well_known.BIND_COMPLETED: "yes"}
        self._put(
            claim,
            replace(
                claim,
                metadata=replace(claim.metadata, annotations=notes),
                spec=replace(claim.spec, volume_name=name),
                status=storage.PersistentVolumeClaimStatus(phase="Bound"),
            ),
        )

    def _use(self, use: UseDevices, pod: Pod) -> None:
        table = self.core.cluster.devices
        if use.extended is None:
            claim = table.claims[use.claim.key]
            if use.user not in claim.status.reserved_for:
                self._put(claim, _reserved(claim, use))
        else:
            meta = _meta(pod, f"{pod.name}-extended-resources-{pod.metadata.uid}")
            meta = replace(meta, annotations={devices.EXTENDED_CLAIM: "true"})
            self._add(_reserved(replace(use.extended.claim, metadata=meta), use))

    # --- gone -----------------------------------------------------------------------------------------------

    def gone(self, index: int) -> None:
        pods = [self._pods[key] for key in self._keys.get(index, ())]
        super().gone(index)
        table = self.core.cluster
        if table.devices.claims or table.storage.claims:
            for pod in pods:
                self._leave_claims(pod)

    def forget(self, index: int) -> None:
        super().forget(index)
        if self._jobs[index].pods > 1 and self.core.cluster.devices.claims:
            group = self._objects.group(self._jobs[index])
            named = {f"{group.namespace}/{each.resource_claim_name}" for each in group.spec.resource_claims}
            claims = self.core.cluster.devices.claims
            for claim in [claims[key] for key in named if key in claims]:
                self._leave(claim, group.metadata.uid)

    def _leave_claims(self, pod: Pod) -> None:
        uid, cluster = pod.metadata.uid, self.core.cluster
        used = cluster.devices.claims_used_by(pod.key, uid)
        for claim in [cluster.devices.claims[key] for key in used]:
            self._leave(claim, uid)
        names = [f"{pod.namespace}/{each.resource_claim_name}" for each in pod.status.resource_claim_statuses]
        own: list[Object] = [cluster.devices.claims[key] for key in names if key in cluster.devices.claims]
        keys = [f"{pod.key}-{each.name}" for each in pod.spec.volumes if each.ephemeral is not None]
        own += [self._claims[key] for key in keys if key in self._claims]
        for each in own:
            if _is_owned(each, uid):
                self._remove(each)

    def _leave(self, claim: ResourceClaim, uid: str) -> None:
        """One of its users is gone; with the last one its devices are free."""
        if _is_owned(claim, uid):
            self._remove(claim)
            return
        left = tuple(each for each in claim.status.reserved_for if each.uid != uid)
        kept = claim.status.allocation if left else None
        self._put(claim, replace(claim, status=replace(claim.status, reserved_for=left, allocation=kept)))

    # --- written --------------------------------------------------------------------------------------------

    @property
    def _claims(self) -> Mapping[str, storage.PersistentVolumeClaim]:
        return self.core.cluster.storage.claims

    def _add(self, obj: Object) -> None:
        self.core.observe("ADDED", None, obj, self._seconds)

    def _put(self, old: Object, new: Object) -> None:
        self.core.observe("MODIFIED", old, new, self._seconds)

    def _remove(self, obj: Object) -> None:
        self.core.observe("DELETED", obj, obj, self._seconds)


def _meta(pod: Pod, name: str) -> ObjectMeta:
    """Of a claim that is made for one pod."""
    owner = OwnerReference(kind="Pod", name=pod.name, uid=pod.metadata.uid, api_version="v1", controller=True)
    return ObjectMeta(name=name, namespace=pod.namespace, uid=f"of {name}", owner_references=(owner,))


def _reserved(claim: ResourceClaim, use: UseDevices) -> ResourceClaim:
    users: tuple[ConsumerReference, ...] = (*claim.status.reserved_for, use.user)
    given = use.allocation or claim.status.allocation
    return replace(claim, status=replace(claim.status, reserved_for=users, allocation=given))


def _is_owned(claim: Object, uid: str) -> bool:
    return any(each.controller and each.uid == uid for each in claim.metadata.owner_references)


def ephemeral_claims(documents: Iterable[Document]) -> dict[str, storage.PersistentVolumeClaimSpec]:
    """What the claims of the pods' ephemeral volumes ask for, by `NAMESPACE/POD-VOLUME`."""
    found = {}
    for each in documents:
        volumes = (each.get("spec") or {}).get("volumes") or () if each.get("kind") == "Pod" else ()
        for volume in volumes:
            template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
            if template is not None:
                key = f"{Reference.read(each).key}-{volume.get('name')}"
                spec = template.get("spec") or {}
                claim = decode({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec})
                assert isinstance(claim, storage.PersistentVolumeClaim)
                found[key] = claim.spec
    return found


def unfollowed(objects: Sequence[Object]) -> list[str]:
    """Sentences about claims of pods that nobody can make from what is there."""
    templates = {each.key for each in objects if isinstance(each, ResourceClaimTemplate)}
    return [
        sentences.claim_is_never_made(
            Reference.of("Pod", pod.key), each.name, each.resource_claim_template_name
        )
        for pod in objects
        if isinstance(pod, Pod) and not pod.spec.node_name
        for each in pod.spec.resource_claims
        if each.resource_claim_template_name
        and f"{pod.namespace}/{each.resource_claim_template_name}" not in templates
        and each.name not in {known.name for known in pod.status.resource_claim_statuses}
    ]
