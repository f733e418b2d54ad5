"""The four cases of preemptor and victim on a real kube-apiserver, claims, devices and trees, with exactly
the rights that `manifests deploy` gives the scheduler: none is missing, none is left over.
"""

import asyncio
from pathlib import Path

import pytest
from tools.real_cluster import audit
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import CLAIMS, EVENTS, POD_GROUPS, PODS, RESOURCE_CLAIMS
from reprieve.manifests.rights import DEVICES, LEASE, rules
from tests.real.cluster import ACCOUNT, Place, Run, kubectl, on_node, place
from tests.real.devices import asking, claim, equipped, holders, left_for, using
from tests.real.trees import clear, tree
from tests.real.volumes import Provisioner, classes, with_claims
from tests.real.volumes import claim as volume_claim

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


async def _four_cases(here: Place) -> None:
    """A pod or a gang makes way for a pod or a gang; each has a node to itself."""
    await here.create(
        POD_GROUPS,
        here.own_group("vg2", 2, mode="all"), here.own_group("vg3", 2, mode="all"),
        here.own_group("hg1", 2, "high"), here.own_group("hg3", 2, "high"),
    )  # fmt: skip
    await here.create(
        PODS,
        *(here.own_pod(f"v{case}-{i}", 2, **on_node(here, case)) for case in (0, 1) for i in range(2)),
        *(
            here.own_pod(f"v{case}-{i}", 2, group=f"vg{case}", **on_node(here, case))
            for case in (2, 3) for i in range(2)
        ),
    )  # fmt: skip
    await here.until_bound("v", 8)
    await here.create(
        PODS,
        *(here.own_pod(f"h{case}-0", 2, "high", **on_node(here, case)) for case in (0, 2)),
        *(
            here.own_pod(f"h{case}-{i}", 2, "high", group=f"hg{case}", **on_node(here, case))
            for case in (1, 3)
            for i in range(2)
        ),
    )
    await here.until_bound("h", 6)


async def _has_started(here: Place, group: str) -> bool:
    served = await here.client.served(POD_GROUPS)
    assert served is not None
    found = await here.client.get(served.raw(), group, here.name)
    conditions = {c["type"]: c["status"] for c in (found.get("status") or {}).get("conditions", ())}
    return conditions.get("PodGroupInitiallyScheduled") == "True"


async def _volumes(here: Place) -> None:
    """A volume that exists is bound, another one is made."""
    async with classes(here, nodes=4, each=1) as (made, local):
        async with Provisioner(here.client, here, made).running():
            await here.create(CLAIMS, *(volume_claim(here, name, name) for name in (made, local)))
            await here.create(PODS, *(with_claims(here, f"stores-{name}", name) for name in (made, local)))
            await here.until_bound("stores", 2)
        await here.clear()


async def _devices(here: Place) -> None:
    """A claim of the pod's own, one for an extended resource, and what an attempt at one has left."""
    async with equipped(here, 4, 1):
        await here.create(RESOURCE_CLAIMS, claim(here, "named"))
        await here.create(PODS, using(here, "named", "named", **on_node(here, 0)))
        await here.until_bound("named", 1)
        await here.create(PODS, asking(here, "extended", **on_node(here, 0)))
        [waiting] = [pod for pod in await here.pods() if pod["metadata"]["name"] == "extended"]
        await here.create(RESOURCE_CLAIMS, left_for(waiting))
        await here.client.delete(PODS, "named", here.name)
        await here.until_bound("extended", 1)

        async def only_its_own() -> bool:
            return list((await holders(here)).values()) == [["extended"]]

        await here.until(only_its_own)


async def _an_event_happens_again(here: Place) -> None:
    """This pod is looked at twice, and fits neither time."""

    async def told(times: int) -> bool:
        found = (await here.client.listing(EVENTS.raw(), here.name)).items
        about = [each for each in found if each["regarding"].get("name") == "huge"]
        return any((each.get("series") or {"count": 1})["count"] >= times for each in about)

    here_alone = on_node(here, 0)
    await here.create(PODS, *(here.own_pod(f"other-{i}", 2, "high", **here_alone) for i in range(2)))
    await here.until_bound("other", 2)
    await here.create(PODS, here.own_pod("huge", 4, **here_alone))
    await here.until(lambda: told(1))
    await here.client.delete(PODS, "other-0", here.name)
    await here.until(lambda: told(2))
    await here.clear()


async def test_the_four_cases_with_exactly_the_rights_that_were_given(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    # The lease of a test before this one: it is to be made, too.
    kubectl(plane, "delete", "lease", "reprieve", "-n", "reprieve-system", "--ignore-not-found")
    since = plane.audit_log.stat().st_size
    async with place(plane, "four", nodes=4) as here:
        run = Run(account, tmp_path / "log")
        try:
            await _four_cases(here)
            assert len(await here.bound("v0")) == 1, "the pod takes the room of one pod"
            assert await here.bound("v1") == []
            assert await here.bound("v2") == [], "a group in mode all goes whole"
            assert await here.bound("v3") == []
            assert await here.overcommitted(4) == {}
            await here.until(lambda: _has_started(here, "hg3"))
            await here.clear()
            await _volumes(here)
            await _an_event_happens_again(here)
            if plane.native_groups:
                await _devices(here)
                await tree(here, "tree")
                await here.until_bound("tree", 4)
                await clear(here)
            await asyncio.sleep(1)  # real: whatever it would still send is to be in the audit log
        finally:
            assert run.stop() == 0
    assert run.complaints() == []
    entries = list(audit.entries(plane.audit_log, ACCOUNT, since))
    # 422: the streaming list that old versions do not know. 404: kinds and the lease that are looked for.
    assert set(audit.codes(entries)) <= {200, 201, 404, 422}, audit.codes(entries)
    unneeded = audit.unneeded([*rules(["scheduler"]), *LEASE], entries, plane.version)
    if not plane.native_groups:  # nor devices, then
        unneeded = {right for right in unneeded if right[0] != DEVICES}
    # Not a request of its own: the API server asks for it when the status of a claim is written.
    assert unneeded - {(DEVICES, "resourceclaims/binding", "patch")} == set()
