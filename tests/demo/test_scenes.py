"""The tour waits for what it is going to say, and says it of that moment: the same words every time."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from reprieve.demo import scenes, stage, tour
from tests.builders import Document, owned_by, pod, reserved, view, workload

MARK = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


class Stage(stage.Stage):
    """A cluster whose lists are scripted: each question gets the next one, the last one stays."""

    def __init__(self, *moments: list[Document]) -> None:
        self.moments = [[view(each) for each in moment] for moment in moments]
        self.client: Any = self

    async def apply(self, manifest: str) -> Path:
        return Path(manifest)

    async def listing(self, resource: Any, namespace: str) -> Any:
        return SimpleNamespace(items=self.moments.pop(0) if len(self.moments) > 1 else self.moments[0])

    async def pods(self) -> dict[str, Any]:
        return {each.name: each for each in (await self.listing(None, "default")).items}


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setattr(tour, "POLL_SECONDS", 0)
    return Console(record=True, width=110)


def touring(console: Console) -> tour.Tour:
    async def pause() -> None: ...

    return tour.Tour(console, Path("kubeconfig"), pause)


def of_job(name: str, flavor: str = "", *conditions: str) -> Document:
    document = workload(f"job-{name}", metadata={"ownerReferences": [owned_by("Job", name)]})
    if flavor:
        document = reserved(document, flavor=flavor)
    status = document.setdefault("status", {"conditions": []})
    status["conditions"] += [{"type": type, "status": "True", "reason": "Preempted"} for type in conditions]
    return document


async def test_a_job_that_is_being_evicted_has_not_come_back_yet(console: Console) -> None:
    others = [of_job("release-a", "stable"), of_job("release-b", "spot"), of_job("nightly-b", "stable")]
    both = [of_job("nightly-a", "stable"), of_job("nightly-b", "stable")]
    leaving = [of_job("nightly-a", "stable", "Evicted", "Preempted"), *others]
    waiting = [of_job("nightly-a", "", "Evicted", "Preempted"), *others]
    back = [of_job("nightly-a", "spot", "Preempted"), *others]
    await scenes.choose_flavors(touring(console), Stage(both, leaving, waiting, back, waiting))
    said = console.export_text().split("06-release.yaml")[1]
    assert "nightly-a  was preempted and came back on spot" in said
    assert "waits" not in said


async def test_what_is_said_is_of_the_moment_that_was_waited_for(console: Console) -> None:
    """The next look may see another moment already."""
    admitted, gone = [of_job("nightly-a", "stable"), of_job("nightly-b", "stable")], [of_job("nightly-b")]
    found = await touring(console).until(
        "both", lambda: scenes._admitted(Stage(admitted, gone), "nightly-a", "nightly-b")
    )
    assert scenes._where(found).splitlines() == ["nightly-a  runs on stable", "nightly-b  runs on stable"]


async def test_the_victims_are_named_once_every_one_of_them_is_told_to_stop(console: Console) -> None:
    def victim(name: str, leaving: bool) -> Document:
        more = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {}
        return pod(name, on="n", metadata=more, status={"conditions": [MARK]})

    moments = [
        [pod("a", on="n"), pod("b", on="n"), pod("c", on="n")],
        [victim("a", False), victim("b", False), pod("c", on="n")],
        [victim("a", False), victim("b", True), pod("c", on="n")],
        [victim("a", True), victim("b", True), pod("c", on="n")],
    ]
    cluster = Stage(*moments)
    assert await touring(console).until("told", lambda: scenes._victims(cluster)) == ["a", "b"]
    assert len(cluster.moments) == 1
