"""Jobs between clusters: created on the winning worker, their status copied back, removed with their copy."""

from reprieve.controllers.fleet.connection import Connection
from reprieve.controllers.fleet.manager_cluster import ManagerCluster
from reprieve.controllers.fleet.shapes import is_over, remote_job, status_for_home
from reprieve.fleet import Owner
from reprieve.jobs import JobKind
from reprieve.kube import ApiError, Resource
from reprieve.objects import Document, split_key


async def sync_job(
    manager: ManagerCluster,
    worker: Connection,
    key: str,
    owner: Owner,
    kind: JobKind,
    origin: str,
    final: bool,
) -> None:
    """Make the job on the worker, or copy its status back. `final`: it is over, or was evicted: create none,
    and read it from the server, since the watch may lag behind."""
    namespace, workload = split_key(key)
    job = manager.owned(owner, namespace)
    if job is None:
        return
    if final:
        remote = await _fresh(worker, worker.resource(owner.key), owner.name, namespace)
    else:
        remote = worker.object(owner.key, owner.name, namespace)
    if remote is not None:
        status = status_for_home(job, remote, is_over(worker.copy(key)))
        if status is not None:
            await manager.set_status(owner.key, owner.name, namespace, status)
    elif not final:
        await worker.create(owner.key, remote_job(job, kind, workload, origin))


async def _fresh(worker: Connection, resource: Resource, name: str, namespace: str) -> Document | None:
    """The worker's job as its server has it now; None when there is none."""
    try:
        found: Document = await worker.call(lambda client: client.get(resource.raw(), name, namespace))
    except ApiError as error:
        if error.not_found:
            return None
        raise
    return found
