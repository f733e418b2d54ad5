"""The text of every sentence that `forecast` says: the only place in its tests where our English stands."""

from datetime import UTC, datetime

import pytest

from reprieve.forecast import Span, sentences
from reprieve.objects import Reference
from tests.catalogues import without_a_row

W = Reference.parse("Pod/default/w")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
AT = Span(median=1800, low=1800, high=1800, at="2026-01-01T02:30:00Z")
ABOUT = Span(median=1800, low=600, high=7200, at="2026-01-01T02:30:00Z")
LATE = Span(median=1800, low=600, high=None, at="")
ROWS = [
    # times
    (sentences.span_text(40), "40 s"),
    (sentences.span_text(1500), "25 min"),
    (sentences.span_text(9000), "2.5 h"),
    (sentences.span_text(259200), "3 days"),
    # it starts, or runs
    (
        sentences.when_it_starts(W, AT, certain=True, horizon=3600, latest=False),
        "Pod/default/w starts in 30 min (2026-01-01 02:30:00).",
    ),
    (
        sentences.when_it_starts(W, AT, certain=True, horizon=3600, latest=True),
        "Pod/default/w starts at the latest in 30 min (2026-01-01 02:30:00).",
    ),
    (
        sentences.when_it_starts(W, ABOUT, certain=False, horizon=3600, latest=False),
        "Pod/default/w starts in about 30 min (2026-01-01 02:30:00); 80 %: 10 min to 2 h.",
    ),
    (
        sentences.when_it_starts(W, LATE, certain=False, horizon=86400, latest=True),
        "Pod/default/w starts at the latest in about 30 min; 80 %: 10 min to more than 24 h.",
    ),
    (sentences.starts_now(W, []), "Pod/default/w starts now: there is room for it."),
    (
        sentences.starts_now(W, ["Pod/default/a"]),
        "Pod/default/w starts now, if Pod/default/a makes way.",
    ),
    (
        sentences.starts_now(W, ["a", "b", "c", "d"]),
        "Pod/default/w starts now, if a, b, c and 1 more make way.",
    ),
    (sentences.not_whole(3600, ""), "Not all of its pods start within 60 min."),
    (
        sentences.not_whole(3600, "0/1 nodes are available"),
        "Not all of its pods start within 60 min: 0/1 nodes are available",
    ),
    (sentences.runs_already(W, None), "Pod/default/w runs already."),
    (sentences.runs_already(W, NOON), "Pod/default/w runs already, since 2026-01-01 12:00:00."),
    # it does not start
    (
        sentences.starts_in_some_futures(W, 0.25, 3600, "why"),
        "Pod/default/w starts within 60 min in 25% of the futures only: why",
    ),
    (
        sentences.not_within_horizon(W, 3600, "why"),
        "Pod/default/w does not start within 60 min, as far as was looked ahead: why",
    ),
    (
        sentences.starts_in_part(W, 1, 3, []),
        "1 of 3 pods of Pod/default/w starts now.",
    ),
    (
        sentences.starts_in_part(W, 2, 3, ["Pod/a/b"]),
        "2 of 3 pods of Pod/default/w start now, if Pod/a/b is preempted.",
    ),
    (
        sentences.all_run(Span(median=600, low=600, high=600, at="2026-11-18T12:10:00Z")),
        "All of them run in about 10 min (2026-11-18 12:10:00).",
    ),
    (
        sentences.preempts_all_the_same(["Pod/a/b"]),
        "Still, Pod/a/b is preempted for its quota.",
    ),
    (sentences.has_ended("Complete"), "it has ended (Complete)."),
    (sentences.ended_at("Complete", None), "Complete"),
    (sentences.ended_at("Complete", NOON), "Complete, 2026-01-01 12:00:00"),
    (
        sentences.given_up(600),
        "its time limit of 10 min (activeDeadlineSeconds of a Job counts while its pods wait for "
        "a place) is over before there is one.",
    ),
    # it cannot be said
    (
        sentences.run_times_missing(W, ["Pod/default/a"]),
        "When Pod/default/w starts cannot be said: nobody knows how long Pod/default/a will run. "
        "The annotation reprieve.dev/expected-runtime on it would help, a time limit such as "
        "activeDeadlineSeconds, or 4 earlier runs that took longer than it has by now.",
    ),
    (
        sentences.run_times_missing(W, ["a", "b", "c", "d"], ["a", "b"]),
        "When Pod/default/w starts cannot be said: nobody knows how long a, b, c and 1 more will "
        "run. The annotation reprieve.dev/expected-runtime on them would help, a time limit such "
        "as activeDeadlineSeconds, or 4 earlier runs that took longer than they have by now. a, "
        "b had announced less than it has run by now.",
    ),
    (sentences.too_few_futures(3, 9), "futures: 3: fewer than 9 hold no 80 %"),
    (sentences.is_gone(W, NOON), "Pod/default/w is gone: it last ran until 2026-01-01 12:00:00"),
    (
        sentences.is_not_there(W, []),
        "there is nothing of Pod/default/w that waits or runs among the objects",
    ),
    (
        sentences.is_not_there(Reference.parse("Pod/default/trian"), ["train"]),
        "there is nothing of Pod/default/trian that waits or runs among the objects; did you mean 'train'?",
    ),
    # what the answer takes for granted
    (sentences.drawn_from_history(1, 1), "1 run time is drawn from earlier runs, 1 time."),
    (sentences.drawn_from_history(2, 200), "2 run times are drawn from earlier runs, 200 times."),
    (
        sentences.run_until_limit(1),
        "1 runs until the time limit, for all that is known; with an earlier end it may be sooner.",
    ),
    (
        sentences.run_until_limit(2),
        "2 run until the time limit, for all that is known; with an earlier end it may be sooner.",
    ),
    (
        sentences.taken_to_run_on(1),
        "1 of unknown run time is taken to run on: with an earlier end it may be sooner.",
    ),
    (
        sentences.taken_to_run_on(2),
        "2 of unknown run time are taken to run on: with an earlier end it may be sooner.",
    ),
    (sentences.looked_ahead(2592000), "Looked ahead: 30 days."),
    (
        sentences.no_queues(W, "main"),
        "Pod/default/w names the LocalQueue main; no ClusterQueue is among the objects, so quota "
        "is not counted.",
    ),
    (
        sentences.cut_short(W, 7200, 600),
        "Pod/default/w announces that it runs for 2 h, and its time limit stops it after 10 min.",
    ),
    # notes on the objects
    (
        sentences.announcement_not_used(["Pod/default/a"], "why"),
        "Note: reprieve.dev/expected-runtime of Pod/default/a is not used: why.",
    ),
    (sentences.run_time_is_negative("-1h"), "'-1h' is negative"),
    (sentences.left_out(W, "why"), "Note: Pod/default/w is left out: why."),
    (
        sentences.made_by_somebody_else(W),
        "would make Pod/default/w, and there is one that it has not made; name it otherwise",
    ),
    (
        sentences.claim_is_never_made(W, "gpu", "one"),
        "Note: Pod/default/w waits for a claim that is never made: its "
        "spec.resourceClaims[gpu].resourceClaimTemplateName is one, which is not among the "
        "objects.",
    ),
    (
        sentences.history_rows_left_out(1),
        "Note: 1 row of the history does not count: that job failed, or was stopped before its end.",
    ),
    (
        sentences.history_rows_left_out(2),
        "Note: 2 rows of the history do not count: those jobs failed, or were stopped before their end.",
    ),
    (sentences.NO_NODE, "there is no node among the objects."),
    (
        sentences.INACTIVE,
        "it is not active (spec.active: false), and nothing but a change of that field lets it in",
    ),
    (sentences.TOO_MUCH_WORK, "there is too much to replay"),
    (sentences.NOTHING_COMES, "Nothing more important comes, and nobody is deleted."),
    (sentences.NO_NODES, "No node is among the objects: whoever has quota is taken to have a place."),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
