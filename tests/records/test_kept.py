"""What a controller has kept: from its file, from the process itself, or a sentence that says why not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from msgspec.structs import replace

from reprieve.objects import ReprieveError
from reprieve.records import Decision, DecisionLog, NothingKept, RecordFile, RunningController
from reprieve.runtime.endpoints import add_decisions, serve
from tests.records.test_runs import decision, run


@asynccontextmanager
async def controller(log: DecisionLog) -> AsyncIterator[str]:
    app = web.Application()
    add_decisions(app, log)
    async with served(app) as url:
        yield url


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    runner = await serve(app, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def evicting(name: str) -> Decision:
    return replace(decision(name), victims=[{"pod": f"ml/{name}", "reason": "less important"}])


# --- the file -----------------------------------------------------------------------------------------------


async def test_a_file_gives_its_decisions_newest_first_and_its_runs(tmp_path):
    log = DecisionLog(path=tmp_path / "records")
    log.add_run(run())
    assert await RecordFile(tmp_path / "records").decisions() == []
    log.add(decision("first"))
    log.add(decision("second"))
    kept = RecordFile(tmp_path / "records")
    assert [each["for"] for each in await kept.decisions()] == ["Pod/ml/second", "Pod/ml/first"]
    assert await kept.runs() == [run()]


async def test_what_stood_in_the_file_before_it_grew_too_long_is_read_as_well(tmp_path):
    log = DecisionLog(path=tmp_path / "records", file_limit=1)
    log.add_run(run("older"))
    log.add_run(run("old"))
    assert (tmp_path / "records.1").exists()
    log._file_limit = 1 << 20
    log.add_run(run("new"))
    assert [each.ran for each in await RecordFile(tmp_path / "records").runs()] == [
        "Job/ml/old",
        "Job/ml/new",
    ]


@pytest.mark.parametrize("ask", ["decisions", "runs"])
async def test_a_file_that_holds_no_records_is_refused(tmp_path, ask):
    (tmp_path / "words").write_text("kind: Pod\n")
    with pytest.raises(ReprieveError, match=r"--records .*/words: no line of it is a decision record; give"):
        await getattr(RecordFile(tmp_path / "words"), ask)()
    (tmp_path / "empty").write_text("")
    assert await getattr(RecordFile(tmp_path / "empty"), ask)() == []


@pytest.mark.parametrize("ask", ["decisions", "runs"])
async def test_a_file_that_is_not_there_is_named(tmp_path, ask):
    with pytest.raises(ReprieveError, match=r"--records .*/none: cannot be read: No such file"):
        await getattr(RecordFile(tmp_path / "none"), ask)()


# --- a controller -------------------------------------------------------------------------------------------


async def test_a_controller_gives_what_its_file_would(tmp_path):
    log = DecisionLog(path=tmp_path / "records")
    log.add(evicting("low"))
    log.add(evicting("lower"))
    log.add_run(run(uid="u", queue="research"))
    file = RecordFile(tmp_path / "records")
    async with controller(log) as url:
        asked = RunningController(f"{url}/")
        assert await asked.decisions() == await file.decisions()
        assert await asked.runs() == await file.runs() == [run(uid="u", queue="research")]


async def test_a_decision_that_is_gone_before_it_was_asked_for_is_left_out():
    log = DecisionLog()
    first, _ = log.add(evicting("low")), log.add(evicting("lower"))
    del log._by_id[first.id]
    async with controller(log) as url:
        assert [each["for"] for each in await RunningController(url).decisions()] == ["Pod/ml/lower"]


def test_what_is_no_address_is_refused():
    with pytest.raises(ReprieveError, match="--controller localhost: not an address"):
        RunningController("localhost")


@pytest.mark.parametrize("ask", ["decisions", "runs"])
@pytest.mark.parametrize("body", ["<html>", "{}", '{"items": [{"id": 1}]}', '{"items": 3}'])
async def test_where_something_else_answers_the_sentence_says_what_to_do(ask, body):
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body)

    app = web.Application()
    app.router.add_get("/api/{any:.*}", answer)
    async with served(app) as url:
        with pytest.raises(
            ReprieveError, match=rf"no decision records from {url}: .* Leave --controller out"
        ):
            await getattr(RunningController(url), ask)()


@pytest.mark.parametrize("ask", ["decisions", "runs"])
async def test_where_nobody_answers_the_sentence_says_what_to_do(ask):
    where = r"no decision records from http://127.0.0.1:1: .* Leave --controller out to answer without them"
    with pytest.raises(ReprieveError, match=where):
        await getattr(RunningController("http://127.0.0.1:1"), ask)()
    async with served(web.Application()) as url:
        with pytest.raises(ReprieveError, match=f"no decision records from {url}: 404"):
            await getattr(RunningController(url), ask)()


async def test_who_is_not_told_where_records_are_has_none():
    assert (await NothingKept().decisions(), await NothingKept().runs()) == ([], [])
