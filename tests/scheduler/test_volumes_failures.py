"""Binding claims that fails: the pod waits again, nothing stays reserved, and what can help it wakes it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from reprieve.placement.sentences import volumes
from reprieve.scheduler import sentences
from tests.builders import Document, node
from tests.controllers.virtual_time import run_virtually
from tests.scheduler.claims import claiming
from tests.scheduler.test_volumes_crash import MADE, STATIC, all_bound, pending, storage_class, stranger
from tests.scheduler.volume_api import CLAIM, Life, Store, VolumeController, local_volume

HOST = node("n1", 10, labels={"kubernetes.io/hostname": "n1"})
Story = Callable[[Store, Life], Awaitable[None]]
SOON = 60.0
"""Backoff included; five minutes is when a unit is tried again without any reason."""


def told(life: Life) -> str:
    return "\n".join(detail for verb, _, detail in life.calls if verb == "pod-condition")


async def until(done: Callable[[], bool], longest: float = SOON) -> None:
    async with asyncio.timeout(longest):
        while not done():
            await asyncio.sleep(0.05)


def play(story: Story, *documents: Document, pace: float = 0.05, refusals: int = 0, lag: float = 0.0) -> None:
    async def main() -> None:
        store = Store([HOST, *documents])
        controller = asyncio.create_task(VolumeController(store, pace, refusals).run())
        life = Life(store, lag=lag)
        try:
            await story(store, life)
            assert store.complaints == []
        finally:
            controller.cancel()
            await asyncio.gather(controller, return_exceptions=True)
            await life.end()

    run_virtually(main())


def waiting(kind: str) -> tuple[Document, ...]:
    return storage_class(kind), pending("c", kind), claiming("p", "c")


def test_after_ten_minutes_without_a_volume_the_pod_waits_again_and_its_claim_is_free() -> None:
    async def story(store: Store, life: Life) -> None:
        await until(lambda: life.reserved == {"ns/c": "n1"})
        await asyncio.sleep(595)
        assert told(life) == ""
        await until(lambda: "binding volumes: context deadline exceeded" in told(life))
        await until(lambda: life.reserved == {})
        await until(lambda: all_bound(store), 4000)  # the provisioner takes up its work at last
        assert life.reserved == {}

    play(story, *waiting(MADE), pace=2000)


def test_a_clock_that_is_set_back_meanwhile_adds_ten_minutes_at_most() -> None:
    async def story(store: Store, life: Life) -> None:
        await until(lambda: life.reserved == {"ns/c": "n1"})
        await asyncio.sleep(300)
        life.set_back = 36_000.0
        await until(lambda: "binding volumes: context deadline exceeded" in told(life), 700)

    play(story, *waiting(MADE), pace=2000)


def test_a_provisioner_that_gives_up_puts_the_pod_back_and_the_next_attempt_succeeds() -> None:
    async def story(store: Store, life: Life) -> None:
        await until(lambda: sentences.provisioning_failed("c") in told(life))
        await until(lambda: life.reserved == {})
        await until(lambda: all_bound(store))
        assert [key for verb, key, _ in life.calls if verb == "bind-claim"] == ["ns/c", "ns/c"]

    play(story, *waiting(MADE), refusals=1)


def test_a_volume_that_somebody_else_took_first_is_lost_and_another_one_is_taken() -> None:
    async def story(store: Store, life: Life) -> None:
        await stranger(store, 0, 0)  # seen by us only after we have tried to write
        await until(lambda: "the object has been modified" in told(life))
        await until(lambda: life.reserved == {})
        await until(lambda: all_bound(store))
        claim = store.get(CLAIM, "c")
        assert claim is not None
        assert claim["spec"]["volumeName"] == "b"

    volumes = [local_volume(name, "n1", STATIC) for name in ("a", "b")]
    play(story, *volumes, pending("theirs", STATIC), *waiting(STATIC), lag=0.5)


def capacity(size: str) -> Document:
    meta = {"name": "pool", "namespace": "ns"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": meta,
        "storageClassName": MADE,
        "nodeTopology": {},
        "capacity": size,
    }


DRIVER: Document = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "csi.example.com"},
    "spec": {"storageCapacity": True},
}
ELSEWHERE = local_volume("far", "n9", STATIC)


@pytest.mark.parametrize(
    ("missing", "before", "comes"),
    [
        (volumes.NOTHING, waiting(STATIC), local_volume("pv", "n1", STATIC)),
        (
            volumes.NOTHING,
            (*waiting(STATIC), ELSEWHERE),
            local_volume("far", "n1", STATIC),
        ),
        ("not found", (storage_class(MADE), claiming("p", "c")), pending("c", MADE)),
        ("not found", waiting(MADE)[1:], storage_class(MADE)),
        (volumes.FULL, (DRIVER, capacity("1Mi"), *waiting(MADE)), capacity("9Gi")),
    ],
    ids=["a volume comes", "a volume changes", "the claim comes", "the class comes", "capacity grows"],
)
def test_what_can_help_a_pod_with_volumes_wakes_it(missing: str, before: Any, comes: Document) -> None:
    async def story(store: Store, life: Life) -> None:
        await until(lambda: missing in told(life))
        await asyncio.sleep(20)  # its pause is over
        assert not all_bound(store)
        store.put(comes)
        await until(lambda: all_bound(store))

    play(story, *before)
