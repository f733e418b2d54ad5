"""When will it run? The cluster as it is, replayed forward many times in virtual time.

    forecast = when(objects, "Job/ml/train")
    forecast.sentence                     # Job/ml/train starts in about 40 min; 80 %: 15 min to 2 h.

population, gathering  documents as owners, their units of pods, and workloads
reading, run_times     whose pods they are; how long a run takes, as far as anybody knows
chances                run times that must be guessed
situation, objects     the beginning of every replay; units as the simulator makes them
replay                 one future: scheduler core and quota cycle, with one run time for each owner
asking, judging        many futures; what they say about a target
answer, sentences      the answer as data and in sentences
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from reprieve.config import Configuration
from reprieve.forecast import sentences
from reprieve.forecast.answer import Forecast, Share, Span
from reprieve.forecast.asking import FEWEST_FUTURES, HORIZON, Question, TooMuchWork
from reprieve.forecast.gathering import gather
from reprieve.forecast.judging import Verdict
from reprieve.forecast.run_times import History
from reprieve.forecast.sentences import span_text
from reprieve.forecast.situation import Situation
from reprieve.objects import (
    Document,
    Reference,
    ReprieveError,
    Source,
    collector_off,
    objects_in,
    parse_time,
)
from reprieve.records import Run
from reprieve.simulate import Job
from reprieve.whatif import parse_target

__all__ = [
    "FEWEST_FUTURES",
    "HORIZON",
    "Forecast",
    "Share",
    "Span",
    "TooMuchWork",
    "span_text",
    "when",
    "when_all",
]

Objects = Iterable[Document | Source]


def when(
    objects: Objects,
    for_: str,
    config: Mapping[str, Any] | Configuration | None = None,
    now: str | datetime | None = None,
    *,
    history: Iterable[Job] = (),
    runs: Iterable[Run] = (),
    futures: int | None = None,
    seed: int = 0,
    horizon: float = HORIZON,
) -> Forecast:
    """When `for_` (`KIND/NAMESPACE/NAME`: a pod, a group, a workload, a job of any kind) starts.

    Run times are those that objects announce (`reprieve.dev/expected-runtime`), those of earlier runs among
    `objects`, in `history` (jobs of a trace) and `runs` (what controllers noted), or the time limits of jobs
    and pods. `futures`: how many are drawn; without it as many as the size of the cluster allows. `horizon`:
    seconds to look ahead.
    """
    settings = Configuration.load(config)
    target = parse_target(for_, settings)
    return when_all(
        objects, [target], settings, now,
        history=history, runs=runs, futures=futures, seed=seed, horizon=horizon,
    )[0]  # fmt: skip


def when_all(
    objects: Objects,
    targets: Sequence[Reference],
    config: Mapping[str, Any] | Configuration | None = None,
    now: str | datetime | None = None,
    *,
    history: Iterable[Job] = (),
    runs: Iterable[Run] = (),
    futures: int | None = None,
    seed: int = 0,
    horizon: float = HORIZON,
    most_work: int | None = None,
) -> list[Forecast]:
    """The same for several at once: every future answers for each of them.

    `most_work`: raises `TooMuchWork` rather than replay more than that (1,000 is less than a second).
    """
    if futures is not None and futures < FEWEST_FUTURES:
        raise ReprieveError(sentences.too_few_futures(futures, FEWEST_FUTURES))
    settings = Configuration.load(config)
    moment = parse_time(now) if isinstance(now, str) else now or datetime.now(UTC)
    known, past = History(), list(history)
    for job in past:
        if not job.was_stopped:
            known.add_row(job.queue, job.duration)
    noted = list(runs)
    with collector_off():
        situation = gather(objects_in(objects), frozenset(targets), settings, moment, known, noted)
    if stopped := sum(job.was_stopped for job in past):
        situation.notes.append(sentences.history_rows_left_out(stopped))
    question = Question(situation, targets, horizon, seed, most_work)
    for target in targets:
        if not question.units[target] and target not in (situation.held | situation.over):
            raise ReprieveError(_missing(target, situation, noted))
    answers = question.ask(futures) if any(question.units.values()) else []
    return [Verdict(question, target, answers).forecast() for target in targets]


def _missing(target: Reference, situation: Situation, runs: Sequence[Run]) -> str:
    ended = max((each.time for each in runs if each.ran == str(target)), default=None)
    if ended is not None:
        return sentences.is_gone(target, ended)
    owners = (owner.ref for owner in situation.owners)
    pods = (Reference.of("Pod", pod.key) for unit in situation.units for pod in unit.pods)
    names = [
        each.name
        for each in dict.fromkeys((*owners, *pods))
        if (each.kind, each.namespace) == (target.kind, target.namespace)
    ]
    return sentences.is_not_there(target, names)
