"""List, watch, resume, start over: the local copy is right after every kind of interruption."""

import asyncio
import json

import pytest

from reprieve.kube import PODS, Backoff, Change, Informer, Reflector, Response, Stream
from reprieve.objects import Pod
from tests.controllers.virtual_time import run_virtually
from tests.kube.apiserver import Script, bookmark, event, listing, status, stored, stream
from tests.waiting import PATIENCE, eventually


async def follow(script, until, **options):
    """Run an informer over the script until `until(informer, changes)`; returns both."""
    changes = []
    paused = []

    async def sleep(seconds):
        paused.append(seconds)
        await asyncio.sleep(0)

    options = {"watch_list": False, "backoff": Backoff(random=lambda: 0.0), "sleep": sleep} | options
    informer = Informer(script.client(), PODS, lambda change: changes.append(change), **options)
    informer.start()
    try:
        async with asyncio.timeout(PATIENCE):
            while not until(informer, changes):
                await asyncio.sleep(0)
    finally:
        await informer.stop()
    return informer, changes, paused


def summary(changes):
    return [(change.type, change.new.name) for change in changes]


async def test_a_list_and_then_every_change_in_order():
    script = Script(
        listing(stored("a"), revision=5),
        stream(
            event("ADDED", stored("b", 6)),
            event("MODIFIED", stored("a", 7)),
            event("DELETED", stored("b", 8)),
            hold=True,
        ),
    )
    informer, changes, _ = await follow(script, lambda i, c: len(c) == 4)
    assert summary(changes) == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]
    assert script.requests[1].query["resourceVersion"] == "5"
    assert [item.name for item in informer] == ["a"]


async def test_events_cut_in_the_middle_of_a_line_are_whole_again():
    line = event("ADDED", stored("b", 6)) + event("ADDED", stored("c", 7))
    script = Script(
        listing(revision=5), stream(*(line[i : i + 7] for i in range(0, len(line), 7)), hold=True)
    )
    _, changes, _ = await follow(script, lambda i, c: len(c) == 2)
    assert summary(changes) == [("ADDED", "b"), ("ADDED", "c")]


async def test_a_closed_watch_resumes_after_the_last_event_without_a_new_list():
    script = Script(
        listing(revision=5),
        stream(event("ADDED", stored("b", 6))),
        stream(event("ADDED", stored("c", 7)), hold=True),
    )
    _, _, paused = await follow(script, lambda i, c: len(c) == 2)
    assert script.requests[2].query["resourceVersion"] == "6"
    assert paused == []


async def test_a_bookmark_moves_the_point_to_resume_from():
    script = Script(
        listing(revision=5), stream(bookmark(90)), stream(event("ADDED", stored("c", 91)), hold=True)
    )
    await follow(script, lambda i, c: len(c) == 1)
    assert script.requests[2].query["resourceVersion"] == "90"


@pytest.mark.parametrize(
    "gone",
    [
        status(410, "Expired"),
        stream(event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})),
    ],
    ids=["as an answer", "inside the stream"],
)
async def test_gone_lists_again_and_tells_what_was_missed(gone):
    script = Script(
        listing(stored("a"), stored("b"), stored("c"), revision=5),
        gone,
        listing(stored("b"), stored("c", 20), stored("d", 21), revision=30),
        stream(hold=True),
    )
    informer, changes, _ = await follow(script, lambda i, c: len(c) == 6)
    assert summary(changes)[3:] == [("DELETED", "a"), ("MODIFIED", "c"), ("ADDED", "d")]
    assert sorted(item.name for item in informer) == ["b", "c", "d"]


async def test_a_namesake_made_during_the_gap_is_a_deletion_and_an_addition():
    script = Script(
        listing(stored("a", uid="one")),
        status(410, "Expired"),
        listing(stored("a", 9, uid="two")),
        stream(hold=True),
    )
    _, changes, _ = await follow(script, lambda i, c: len(c) == 3)
    assert [(change.type, change.new.metadata.uid) for change in changes] == [
        ("ADDED", "one"), ("DELETED", "one"), ("ADDED", "two"),
    ]  # fmt: skip


async def test_a_modification_of_an_unknown_object_is_an_addition():
    script = Script(listing(), stream(event("MODIFIED", stored("a", 3)), hold=True))
    _, changes, _ = await follow(script, lambda i, c: len(c) == 1)
    assert changes[0].type == "ADDED"


async def test_failures_back_off_and_grow():
    script = Script(
        status(500, "InternalError"),
        status(500, "InternalError"),
        status(500, "InternalError"),
        listing(stored("a")),
        stream(hold=True),
    )
    _, _, paused = await follow(script, lambda i, c: len(c) == 1)
    assert paused == [0.8, 1.6, 3.2]


async def test_a_watch_closed_at_once_is_not_hammered():
    script = Script(listing(stored("a")), stream(), stream(event("ADDED", stored("b", 2)), hold=True))
    _, _, paused = await follow(script, lambda i, c: len(c) == 2)
    assert paused == [0.8]


async def test_a_silent_stream_is_opened_again_at_once_and_without_complaint(caplog):
    """It may be dead; or nothing has changed since the server started, then it sends no bookmarks either."""
    script = Script(
        listing(stored("a")), stream(hold=True), stream(event("ADDED", stored("b", 2)), hold=True)
    )
    _, changes, paused = await follow(script, lambda i, c: len(c) == 2, silence=0.05)
    assert summary(changes)[1] == ("ADDED", "b")
    assert paused == []
    assert caplog.records == []


def test_silence_counts_from_the_last_of_the_news():
    """Also after a burst of events, which moves the limit once."""
    times = []

    def opened(request):
        times.append(asyncio.get_running_loop().time())
        return Stream(200, news())

    async def news():
        revision = 1
        for pause in (0.9, 0.0, 0.0, 0.9, 0.9, 0.01, 0.9, 0.0):
            await asyncio.sleep(pause)
            revision += 1
            yield event("MODIFIED", stored("a", revision))
        await asyncio.Event().wait()

    async def twice():
        script = Script(listing(stored("a")), opened)
        informer = Informer(script.client(), PODS, watch_list=False, silence=1.0)
        informer.start()
        while len(times) < 2:
            await asyncio.sleep(0.1)
        await informer.stop()

    run_virtually(twice())
    last = 4 * 0.9 + 0.01
    assert last + 0.9 <= times[1] - times[0] <= last + 1.0, "it waited a second for more, or a little less"


async def test_a_server_that_asks_for_a_moment_is_given_it_without_complaint(caplog):
    """As kube-apiserver does for a kind that it has just learnt of: its cache is not filled yet."""
    caplog.set_level("INFO")
    waiting = status(429, "TooManyRequests", "storage is (re)initializing")
    script = Script(listing(stored("a")), waiting, stream(event("ADDED", stored("b", 2)), hold=True))
    _, _, paused = await follow(script, lambda i, c: len(c) == 2)
    assert paused == [0.8]
    assert [record.levelname for record in caplog.records] == ["INFO"]


async def test_a_server_that_goes_on_asking_for_a_moment_is_complained_about(caplog):
    """It has too much to do, or is not well: meanwhile nobody follows the collection."""
    caplog.set_level("INFO")
    waiting = [status(429, "TooManyRequests", "too many requests") for _ in range(5)]
    script = Script(listing(stored("a")), *waiting, stream(event("ADDED", stored("b", 2)), hold=True))
    _, _, paused = await follow(script, lambda i, c: len(c) == 2)
    assert paused == pytest.approx([0.8, 1.6, 3.2, 6.4, 12.8])
    assert [record.levelname for record in caplog.records] == ["INFO"] * 3 + ["WARNING"] * 2


async def test_news_end_the_growing_of_pauses():
    cut = event("ERROR", {"kind": "Status", "code": 500, "reason": "InternalError"})
    script = Script(
        status(500, "InternalError"),
        listing(stored("a")),
        stream(cut),
        stream(event("ADDED", stored("b", 2)), cut),
        stream(hold=True),
    )
    _, _, paused = await follow(script, lambda i, c: len(script.requests) == 5)
    assert paused == [0.8, 1.6, 0.8]


async def test_a_right_that_is_missing_is_said_once_until_it_is_given(caplog):
    caplog.set_level("INFO")
    forbidden = status(403, "Forbidden", "pods is forbidden")
    script = Script(forbidden, forbidden, forbidden, listing(stored("a")), stream(hold=True))
    informer, _, paused = await follow(script, lambda i, c: len(c) == 1)
    assert len(paused) == 3
    problem, done = [record.getMessage() for record in caplog.records]
    assert problem.startswith(
        "the API server does not let us list and watch pods: give the account the rights"
    )
    assert done == "pods can be read now"
    assert informer.reflector._client.problems == {}


async def test_one_unreadable_object_does_not_stop_the_others():
    odd = {"metadata": {"name": "odd", "namespace": "ns", "resourceVersion": "6"}, "spec": {"containers": 5}}
    script = Script(
        listing(odd, stored("a")), stream(event("ADDED", odd), event("ADDED", stored("b", 7)), hold=True)
    )
    _, changes, _ = await follow(script, lambda i, c: len(c) == 2)
    assert summary(changes) == [("ADDED", "a"), ("ADDED", "b")]


def nested(name, levels, revision=6):
    """What an API server keeps, and no decoder here reads: it allows ten thousand levels."""
    text = json.dumps(stored(name, revision, parameters="DEEP"))
    return text.replace('"DEEP"', "[" * levels + "]" * levels).encode()


@pytest.mark.parametrize("levels", [995, 1_500, 9_000])
async def test_an_object_nested_without_end_hides_nobody_else(levels, caplog):
    deep = nested("deep", levels)
    page = b'{"metadata":{"resourceVersion":"5"},"items":[%b,%b,%b]}'
    items = [json.dumps(stored("a")).encode(), deep, json.dumps(stored("b")).encode()]
    added = b'{"type":"ADDED","object":%b}\n' % deep
    script = Script(
        Response(200, page % tuple(items), {}), stream(added, event("ADDED", stored("c", 7)), hold=True)
    )
    _, changes, paused = await follow(script, lambda i, c: len(c) == 3)
    assert summary(changes) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
    assert paused == []
    assert all("ns/deep" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("last", [nested("a", 5), nested("a", 9_000)], ids=["of no type", "too deep"])
async def test_an_object_deleted_in_a_state_that_nobody_can_read_is_gone(last):
    """It would count as there for as long as the stream goes on, with whatever it holds."""
    last = last.replace(b'"containers": [', b'"containers": 5, "before": [')
    lines = [b'{"type":"%b","object":%b}\n' % (type, last) for type in (b"MODIFIED", b"DELETED")]
    script = Script(listing(stored("a"), stored("b")), stream(*lines, hold=True))
    informer, changes, _ = await follow(script, lambda i, c: len(c) == 3)
    assert summary(changes) == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]
    assert len(informer) == 1


async def test_a_deletion_that_names_nobody_is_passed_over():
    odd = {"metadata": {"name": None}, "spec": {"containers": 5}}
    unknown = {"metadata": {"name": "x"}, "spec": {"containers": 5}}
    events = [event("DELETED", odd), event("DELETED", unknown), event("DELETED", {"metadata": 5})]
    script = Script(listing(stored("a")), stream(*events, event("ADDED", stored("b", 7)), hold=True))
    _, changes, _ = await follow(script, lambda i, c: len(c) == 2)
    assert summary(changes) == [("ADDED", "a"), ("ADDED", "b")]


async def test_a_failing_handler_does_not_stop_the_stream():
    script = Script(listing(stored("a"), stored("b")), stream(hold=True))
    seen = []

    def handler(change):
        seen.append(change.new.name)
        raise RuntimeError("bug")

    async with (
        asyncio.timeout(PATIENCE),
        Informer(script.client(), PODS, handler, watch_list=False) as informer,
    ):
        assert seen == ["a", "b"]
        assert len(informer) == 2


async def test_whatever_goes_wrong_the_collection_is_read_again():
    """Nothing that a server sends, and no error of ours, may blind whoever follows it."""
    script = Script(listing(stored("a")), listing(stored("b")), stream(hold=True))
    taken, pauses = [], []

    class Sink:
        def replace(self, objects):
            taken.append([each.name for each in objects])
            if len(taken) == 1:
                raise ZeroDivisionError("bug")

        def apply(self, type, object):
            raise AssertionError("nothing changes here")

        def vanished(self, namespace, name):
            raise AssertionError("nothing goes here")

    async def sleep(seconds):
        pauses.append(seconds)

    reflector = Reflector(script.client(), PODS, Sink(), watch_list=False, sleep=sleep)
    task = asyncio.create_task(reflector.run())
    await eventually(lambda: len(taken) == 2 or task.done(), "it is read again")
    task.cancel()
    assert taken == [["a"], ["b"]]
    assert len(pauses) == 1


class TestStreamingList:
    async def test_initial_events_become_one_replacement_and_the_stream_goes_on(self):
        script = Script(
            stream(
                event("ADDED", stored("a", 3)),
                bookmark(4),
                event("ADDED", stored("b", 4)),
                bookmark(5, end=True),
                event("DELETED", stored("a", 6)),
                hold=True,
            )
        )
        informer, changes, _ = await follow(script, lambda i, c: len(c) == 3, watch_list=True)
        assert summary(changes) == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]
        assert script.requests[0].query["sendInitialEvents"] == "true"
        assert informer.reflector.revision == "6"

    @pytest.mark.parametrize(
        "refusal",
        [
            status(422, "Invalid", "sendInitialEvents is forbidden for watch"),
            stream(
                event("ERROR", {"kind": "Status", "code": 500, "message": "RequestWatchProgress is disabled"})
            ),
        ],
        ids=["as an answer", "inside the stream"],
    )
    async def test_a_server_that_cannot_is_listed_instead(self, refusal):
        script = Script(refusal, listing(stored("a"), revision=5), stream(hold=True))
        _, _, paused = await follow(script, lambda i, c: len(c) == 1, watch_list=True)
        assert "watch" not in script.requests[1].query
        assert paused == []


async def listed_once(listed):
    """An informer with a handler of its first list; returns what its other handler got."""
    script = Script(
        listing(stored("a"), stored("b"), revision=5), stream(event("ADDED", stored("c", 6)), hold=True)
    )
    changes: list[Change] = []
    informer = Informer(script.client(), PODS, changes.append, watch_list=False)
    informer.listed = listed
    async with informer, asyncio.timeout(PATIENCE):
        while len(informer) < 3:
            await asyncio.sleep(0)
        assert {item.name for item in informer} == {"a", "b", "c"}
    return changes


async def test_a_first_list_can_be_taken_in_as_a_whole():
    first: list[Pod] = []
    changes = await listed_once(first.extend)
    assert [item.name for item in first] == ["a", "b"]
    assert summary(changes) == [("ADDED", "c")]


async def test_what_cannot_be_taken_in_as_a_whole_comes_one_by_one():
    def listed(objects):
        raise ValueError(objects[1].name)

    changes = await listed_once(listed)
    assert summary(changes) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
