"""The units of a situation as a simulation makes them: as they are now, and anew after an eviction."""

from msgspec.structs import replace

from reprieve.forecast.situation import Situation
from reprieve.objects import Pod, PodGroup, PodSpec, Workload, core, well_known
from reprieve.quota import injected
from reprieve.simulate import SCHEDULER, Job, JobObjects, instant

_GATES = (well_known.ADMISSION_GATE, well_known.TOPOLOGY_GATE)
"""Who has quota loses these."""
_GANG = 2
"""More than one pod makes a job a gang for the simulator; a group may have one pod."""


class UnitObjects(JobObjects):
    """Jobs of the simulator stand for units here: the name is the unit's number."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(None, shares=False, flavors=situation.flavors)
        self._units = situation.units
        self._begun: set[int] = set()
        self.given: dict[int, Workload] = {}
        """By unit, the workload whose quota it was given in this replay."""

    @staticmethod
    def jobs(situation: Situation) -> tuple[Job, ...]:
        return tuple(
            Job(name=str(number), submit=0, duration=0, pods=1 if unit.group is None else _GANG)
            for number, unit in enumerate(situation.units)
        )

    def group(self, job: Job) -> PodGroup:
        found = self._units[int(job.name)].group
        assert found is not None
        return found

    def pods(self, job: Job, created: int) -> list[Pod]:
        number = int(job.name)
        unit = self._units[number]
        if number in self._begun:
            return [self._anew(pod, number, created) for pod in unit.pods]
        self._begun.add(number)
        return [pod if pod.spec.node_name else self._waiting(pod, number, created) for pod in unit.pods]

    def placed(self, pod: Pod, job: Job, node: str, status: core.PodStatus) -> Pod:  # noqa: ARG002
        return replace(pod, spec=replace(pod.spec, node_name=node), status=status)

    def _waiting(self, pod: Pod, number: int, created: int) -> Pod:
        """As it waits; a pod that no server has seen is made now."""
        meta = pod.metadata
        if meta.creation_timestamp is None or not meta.uid:
            made = meta.creation_timestamp or instant(created)
            meta = replace(meta, creation_timestamp=made, uid=meta.uid or f"{meta.namespace}/{meta.name}")
        return replace(pod, metadata=meta, spec=self._made_for(pod, number))

    def _anew(self, pod: Pod, number: int, created: int) -> Pod:
        self._made += 1
        meta = replace(
            pod.metadata,
            uid=f"again-{self._made}",
            creation_timestamp=instant(created),
            deletion_timestamp=None,
        )
        return Pod(metadata=meta, spec=self._made_for(pod, number))

    def _made_for(self, pod: Pod, number: int) -> PodSpec:
        """For the scheduler of the replay, without the gates of quota, on the nodes of its flavors."""
        spec = replace(pod.spec, scheduler_name=SCHEDULER, node_name="")
        workload = self.given.get(number)
        if workload is None:
            return spec
        gates = tuple(gate for gate in spec.scheduling_gates if gate.name not in _GATES)
        pod_set = pod.metadata.labels.get(well_known.POD_SET_LABEL, "")
        labels, tolerations = injected(workload, pod_set, self._flavors)
        return replace(
            spec,
            scheduling_gates=gates,
            node_selector={**spec.node_selector, **labels},
            tolerations=(*spec.tolerations, *tolerations),
        )
