"""Pods with claims on a real kube-apiserver: kube-controller-manager binds, a small provisioner of ours plays
the CSI driver, the scheduler is killed in between. Nothing is bound twice, every pod gets what it claims."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tools.real_cluster.control_plane import ControlPlane

from reprieve.kube import CLAIMS, PODS, VOLUMES, Informer
from tests.real.cluster import Mortal, Place, Run, place
from tests.real.volumes import Provisioner, claim, classes, with_claims
from tests.scale import scaled
from tests.scheduler.test_volumes_killed import VolumeJudge

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(900)]

HOSTS, COUNT = 2, 6
KILLS = scaled(4, least=2)


@asynccontextmanager
async def judged(here: Place) -> AsyncIterator[None]:
    judge = VolumeJudge()
    async with (
        Informer(here.client, VOLUMES.raw(), lambda change: judge.see_volume(change.new)),
        Informer(here.client, CLAIMS.raw(), lambda change: judge.see_claim(change.new), namespace=here.name),
    ):
        yield
    assert judge.complaints == []


async def submit(here: Place, made: str, local: str) -> None:
    names = [str(index) for index in range(COUNT)]
    await here.create(CLAIMS, *(claim(here, f"made-{name}", made) for name in names))
    await here.create(CLAIMS, *(claim(here, f"local-{name}", local) for name in names))
    for name in names:
        await here.create(PODS, with_claims(here, f"p{name}", f"made-{name}", f"local-{name}"))


async def check(here: Place) -> None:
    """Every claim has a volume of its own, and the pod's node reaches it."""
    claims = {
        each["metadata"]["name"]: each for each in (await here.client.listing(CLAIMS.raw(), here.name)).items
    }
    volumes = {each["metadata"]["name"]: each for each in (await here.client.listing(VOLUMES.raw())).items}
    given = [each["spec"]["volumeName"] for each in claims.values()]
    assert len(set(given)) == len(given) == 2 * COUNT
    for pod in await here.pods():
        for each in pod["spec"]["volumes"]:
            if "persistentVolumeClaim" not in each:
                continue
            found = volumes[claims[each["persistentVolumeClaim"]["claimName"]]["spec"]["volumeName"]]
            terms = found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
            assert terms[0]["matchExpressions"][0]["values"] == [pod["spec"]["nodeName"]]


async def test_volumes_are_bound_and_provisioned_once_although_the_scheduler_is_killed(
    plane: ControlPlane, account: Path, tmp_path: Path, dice: random.Random
) -> None:
    async with (
        place(plane, "volumes-killed", HOSTS, 8) as here,
        classes(here, HOSTS, COUNT) as (made, local),
        judged(here),
        Provisioner(here.client, here, made).running(),
    ):
        scheduler = Mortal(dice, account, tmp_path / "log", "--no-leader-elect")
        try:
            await submit(here, made, local)
            await scheduler.die(KILLS)
            await here.until_bound("p", COUNT)
        finally:
            scheduler.run.stop()
        await check(here)


async def test_a_provisioner_that_gives_up_on_a_volume_is_asked_again(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    async with (
        place(plane, "volumes-refused", HOSTS, 8) as here,
        classes(here, HOSTS, COUNT) as (made, local),
        judged(here),
        Provisioner(here.client, here, made, refusals=2).running() as provisioner,
    ):
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await submit(here, made, local)
            await here.until_bound("p", COUNT)
        finally:
            run.stop()
        assert provisioner.refused == 2
        await check(here)
