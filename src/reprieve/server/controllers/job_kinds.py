"""Jobs of other projects (Ray, Kubeflow, JobSet and more) on fake nodes, to try them on a laptop.

For each kind a CustomResourceDefinition of our own that accepts any spec, and one small controller for all of
them: it makes the pods that `reprieve.jobs` reads from the manifest, their gangs too, makes them anew when
they are gone or have failed, takes them away when the job is suspended, and says when it is over. Everything
else that the projects' own controllers do (services, rendezvous, autoscaling) does not happen here.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from reprieve.jobs import RUNTIMES, Expansion, JobKind, JobKinds, ending, expand, suspended_by
from reprieve.objects import Document, InvalidObject, ReprieveError, put_condition
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pod_owners import PodOwners
from reprieve.server.controllers.pods import Pod, PodIndex

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
MANAGER = "job-kinds"
_APPROVAL = "api-approved.kubernetes.io"
"""Groups below k8s.io are not defined without a word about it."""
PROJECTS = {
    "jobset": "jobset.x-k8s.io",
    "kubeflow": "kubeflow.org",
    "trainer": "trainer.kubeflow.org",
    "ray": "ray.io",
    "lws": "leaderworkerset.x-k8s.io",
    "appwrapper": "workload.codeflare.dev",
    "spark": "sparkoperator.k8s.io",
    "volcano": "batch.volcano.sh",
    "disaggregatedset": "disaggregatedset.x-k8s.io",
    "argo": "argoproj.io",
}
"""What people may ask for, and the API group with its kinds."""


def kinds_of(names: Sequence[str]) -> list[JobKind]:
    """The kinds of these projects; `all` for every one."""
    unknown = [name for name in names if name not in (*PROJECTS, "all")]
    if unknown:
        raise ReprieveError(f"--kinds {unknown[0]}: not known; known are {', '.join((*PROJECTS, 'all'))}")
    wanted = set(PROJECTS.values()) if "all" in names else {PROJECTS[name] for name in names}
    return [kind for kind in JobKinds() if kind.group in wanted]


class JobKindControllers:
    """Runs beside the server: defines the kinds, then makes their pods."""

    def __init__(self, kinds: Sequence[JobKind]) -> None:
        self._kinds = kinds

    async def __call__(self, api: Api) -> None:
        runtimes = [each for each in RUNTIMES if any(each[0] == kind.group for kind in self._kinds)]
        for kind in self._kinds:
            await _define(api, kind.group, kind.kind, kind.plural, kind.versions[0], kind.short_names)
        for group, name in runtimes:
            scope = "Cluster" if name.startswith("Cluster") else "Namespaced"
            await _define(api, group, name, f"{name.lower()}s", "v1alpha1", (), scope)
        pods = PodIndex.shared(api)
        async with asyncio.TaskGroup() as tasks:
            for kind in self._kinds:
                tasks.create_task(JobsOfKind(api, pods, kind).run())


async def _define(
    api: Api,
    group: str,
    kind: str,
    plural: str,
    version: str,
    short_names: Sequence[str],
    scope: str = "Namespaced",
) -> None:
    open_ = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": open_, "status": open_}}
    served = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}}
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": {_APPROVAL: "unapproved, a stand-in"}},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {**names, "shortNames": list(short_names)},
            "versions": [{**served, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    if api.peek(DEFINITIONS, f"{plural}.{group}") is None:  # else from an earlier run, or somebody's own
        await api.create(DEFINITIONS, definition, manager=MANAGER)


class JobsOfKind(PodOwners):
    """The pods of all jobs of one kind."""

    def __init__(self, api: Api, pods: PodIndex, kind: JobKind) -> None:
        self.resource = f"{kind.plural}.{kind.group}"
        self.kind = kind.kind
        self._kind = kind
        self._kinds = JobKinds()
        super().__init__(api, pods)

    async def reconcile(self, key: Key) -> datetime | None:
        job = self.api.peek(self.resource, key[1], key[0])
        if job is None or job["metadata"].get("deletionTimestamp"):
            return None
        pods = self.pods.of_controller(job["metadata"]["uid"])
        if suspended_by(job, self._kinds) or ending(job) is not None:
            await self.delete_pods([pod for pod in pods if pod.active])
            await self._report_stopped(job, pods)
        else:
            await self._keep(job, pods)
        return None

    async def _report_stopped(self, job: Document, pods: list[Pod]) -> None:
        try:
            expansion = expand(job, self._kinds, self._runtimes())
        except InvalidObject:
            return
        if job.get("status") and ending(job) is None:
            await self._report(job, expansion, pods, over=False)

    async def _keep(self, job: Document, pods: list[Pod]) -> None:
        try:
            expansion = expand(job, self._kinds, self._runtimes())
        except InvalidObject as error:
            await record_event(self.api, job, "InvalidJob", str(error), component=MANAGER, warning=True)
            return
        there = {pod.name: pod for pod in pods}
        wanted = {pod["metadata"]["name"]: pod for each in expansion.pods.values() for pod in each}
        over = bool(self._kind.ended) and self._is_over(expansion, there)
        surplus = [pod for pod in pods if over or pod.name not in wanted or pod.phase == "Failed"]
        await self.delete_pods([pod for pod in surplus if not pod.deleting and pod.phase != "Succeeded"])
        if not over:
            for group in expansion.groups:
                name = group["metadata"]["name"]
                if self.api.peek("podgroups.scheduling.k8s.io", name, job["metadata"]["namespace"]) is None:
                    await self.api.create("podgroups.scheduling.k8s.io", group, manager=MANAGER)
            missing = [self._prepared(pod) for name, pod in wanted.items() if name not in there]
            await in_parallel(partial(self.api.create, "pods", pod, manager=MANAGER) for pod in missing)
        await self._report(job, expansion, pods, over)

    def _runtimes(self) -> list[Document]:
        registry = self.api.registry
        keys = [f"{kind.lower()}s.{group}" for group, kind in sorted(RUNTIMES) if group == self._kind.group]
        return [each for key in keys if registry.by_storage_key(key) for each in self.api.select(key)]

    def _prepared(self, pod: Document) -> Document:
        """Pods of a job that ends are not started again in place: the job makes new ones."""
        if not self._kind.ended or "restartPolicy" in pod["spec"]:
            return pod
        return {**pod, "spec": {**pod["spec"], "restartPolicy": "Never"}}

    def _is_over(self, expansion: Expansion, there: dict[str, Pod]) -> bool:
        """All pods of the set that decides have succeeded, or all pods of all sets."""
        decisive = self._kind.ended_by if self._kind.ended_by in expansion.pods else ""
        sets = [expansion.pods[decisive]] if decisive else expansion.pods.values()
        names = [pod["metadata"]["name"] for each in sets for pod in each]
        return bool(names) and all(name in there and there[name].phase == "Succeeded" for name in names)

    async def _report(self, job: Document, expansion: Expansion, pods: list[Pod], over: bool) -> None:
        """The status in the fields in which the kind has it; what has none of its own gets plain numbers."""
        before, rule = job.get("status") or {}, self._kind.status
        status = {**before, "conditions": [dict(each) for each in before.get("conditions") or ()]}
        status["active"] = sum(pod.active for pod in pods)
        status["ready"] = sum(pod.ready for pod in pods)
        status["succeeded"] = sum(pod.phase == "Succeeded" for pod in pods)
        if rule.pod_sets:
            _put(status, rule.pod_sets, _parts(expansion, pods, as_map=rule.pod_sets.endswith("{}")))
        if rule.phase:
            _put(status, rule.phase, rule.succeeded_phases[0] if over else "Running")
        if over:
            now = self.api.backend.timestamp()
            text = {"reason": "PodsSucceeded", "message": "all pods that count have succeeded"}
            put_condition(status, now, type=self._kind.ended, status="True", **text)
        if status != before:
            await self.api.update_status(self.resource, {**job, "status": status}, manager=MANAGER)


def _parts(expansion: Expansion, pods: list[Pod], as_map: bool) -> Any:
    """For each pod set how many of its pods, or of the jobs that its pods are in, run and have succeeded."""
    phases = {pod.name: pod.phase for pod in pods}
    active = {pod.name for pod in pods if pod.active}
    parts: dict[str, dict[str, int]] = {}
    for each in expansion.sets:
        names = [pod["metadata"]["name"] for pod in expansion.pods[each.name]]
        inner = each.factors[-1] if len(each.factors) > 1 else 1
        units = [names[start : start + inner] for start in range(0, len(names), inner or 1)]
        done = sum(all(phases.get(name) == "Succeeded" for name in unit) for unit in units)
        parts[each.name] = {
            "active": sum(any(name in active for name in unit) for unit in units),
            "succeeded": done,
        }
    if as_map:
        return {name.capitalize(): numbers for name, numbers in parts.items()}
    return [{"name": name, **numbers} for name, numbers in parts.items()]


def _put(status: Document, path: str, value: Any) -> None:
    """At a path that begins with `status`."""
    *above, last = path.removesuffix("[]").removesuffix("{}").split(".")[1:]
    for step in above:
        status[step] = dict(status.get(step) or {})
        status = status[step]
    status[last] = value
