"""Forecasts as tables for people. Nothing is computed here: a table shows what the answer holds."""

from collections.abc import Sequence

from reprieve.cli.layout import Row, Screen
from reprieve.forecast import Forecast, Share, Span, span_text


def render_forecasts(screen: Screen, answers: Sequence[Forecast]) -> None:
    if len(answers) == 1:
        _one(screen, answers[0])
        return
    screen.table(
        ("for", "starts", "80 %"),
        [
            Row(
                (each.for_, _start(each), _interval(each)),
                note="" if each.starts else each.sentence,
                style="" if each.starts else "yellow",
            )
            for each in answers
        ],
    )
    _small_print(screen, answers)


def _one(screen: Screen, answer: Forecast) -> None:
    screen.paragraph(answer.sentence, 0, "bold" if answer.starts else "yellow")
    spans = [("gets quota", answer.quota), ("all its pods run", answer.whole)]
    known = [(what, span) for what, span in spans if span is not None and span != answer.start]
    if known:
        screen.line()
        rows = [Row((what, _median(span, answer), _range(span, answer))) for what, span in known]
        screen.table(("what", "in", "80 %"), rows)
    if answer.outcome == "later" and answer.reasons:
        screen.paragraph(f"Now it has no place: {answer.reasons[0]}")
    for title, shares in (("It waits for the end of", answer.waits_for), ("Before it start", answer.before)):
        if shares:
            screen.title(title)
            screen.table(("who", "futures", "run time"), [Row(_share(each)) for each in shares])
    _small_print(screen, [answer])


def _small_print(screen: Screen, answers: Sequence[Forecast]) -> None:
    sentences = dict.fromkeys(text for each in answers for text in (*each.assumptions, *each.notes))
    if sentences:
        screen.line()
    for text in sentences:
        screen.paragraph(text, style="dim")


def _share(share: Share) -> tuple[str, str, str]:
    return share.name, f"{share.share:.0%}", share.run_time


def _start(answer: Forecast) -> str:
    if answer.outcome in ("runs", "now"):
        return answer.outcome
    return answer.outcome if answer.start is None else _median(answer.start, answer)


def _interval(answer: Forecast) -> str:
    return "" if answer.start is None or answer.outcome == "now" else _range(answer.start, answer)


def _median(span: Span, answer: Forecast) -> str:
    late = f"not within {span_text(answer.horizon_seconds)}"
    return late if span.median is None else span_text(span.median)


def _range(span: Span, answer: Forecast) -> str:
    if span.low is None:
        return ""
    late = f"more than {span_text(answer.horizon_seconds)}" if span.high is None else span_text(span.high)
    return f"{span_text(span.low)} to {late}"
