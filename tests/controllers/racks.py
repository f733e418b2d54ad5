"""A job whose pods must share a rack, and what can be seen of it on any API server."""

from reprieve.kube import EVENTS, KUEUE_WORKLOADS, NODES, PODS, Client
from reprieve.objects import Workload, decode_as, expanded
from tests import builders
from tests.builders import Document

HOST, RACK = "kubernetes.io/hostname", "topology.kubernetes.io/rack"
INDEX = "batch.kubernetes.io/job-completion-index"
REQUIRED = "kueue.x-k8s.io/podset-required-topology"
LEVELS = {"levels": [{"nodeLabel": RACK}, {"nodeLabel": HOST}]}


def training(count: int = 2, cpu: int = 4, name: str = "train", namespace: str = "default") -> Document:
    """Pods with ranks that must share a rack; they run until they are stopped."""
    return builders.job(
        name,
        cpu,
        count=count,
        queue="main",
        namespace=namespace,
        annotations={REQUIRED: RACK, "reprieve.dev/run-for": "1h"},
        pod={"schedulerName": "reprieve"},
        completionMode="Indexed",
        backoffLimit=100,
    )


class Racks:
    """What can be seen of one job in a cluster with racks."""

    def __init__(self, client: Client, job: str = "train", namespace: str = "default") -> None:
        self.client = client
        self.job = job
        self.namespace = namespace

    async def by_rank(self) -> dict[int, str]:
        """The nodes of its running pods."""
        found = {}
        for pod in (await self.client.listing(PODS.raw(), self.namespace)).items:
            meta = pod["metadata"]
            mine = meta["name"].startswith(self.job) and not meta.get("deletionTimestamp")
            if mine and pod["status"].get("phase") == "Running":
                found[int(meta["labels"][INDEX])] = pod["spec"]["nodeName"]
        return found

    async def workload(self) -> Document:
        listed = (await self.client.listing(KUEUE_WORKLOADS.raw(), self.namespace)).items
        return next((each for each in listed if each["metadata"]["name"].startswith(f"job-{self.job}-")), {})

    async def assigned(self) -> list[str]:
        """The hosts in the order of ranks."""
        found = await self.workload()
        admission = decode_as(found, Workload).status.admission if found else None
        assignments = admission.pod_set_assignments if admission is not None else ()
        placed = [each.topology_assignment for each in assignments if each.topology_assignment is not None]
        domains = [domain for each in placed for domain in expanded(each).domains]
        return [domain.values[-1] for domain in domains for _ in range(domain.pods)]

    async def runs(self) -> bool:
        """Every pod runs where it was sent, and all hosts exist and share a rack."""
        hosts = await self.assigned()
        nodes = {each["metadata"]["name"]: each for each in (await self.client.listing(NODES.raw())).items}
        racks = {nodes[host]["metadata"]["labels"][RACK] for host in hosts if host in nodes}
        whole = bool(hosts) and len(racks) == 1 and all(host in nodes for host in hosts)
        return whole and sorted((await self.by_rank()).values()) == sorted(hosts)

    async def runs_without(self, lost: str) -> bool:
        return lost not in await self.assigned() and await self.runs()

    async def sent_elsewhere(self, *former: str) -> bool:
        """Its pods follow when the job has waited long enough after the failures."""
        hosts = await self.assigned()
        return len(hosts) == 2 and not set(hosts) & set(former)

    async def told(self, reason: str, text: str) -> bool:
        events = (await self.client.listing(EVENTS.raw(), self.namespace)).items
        return any(each.get("reason") == reason and text in str(each.get("note")) for each in events)
