"""What many futures say about one target: median and interval, who comes before it, what is missing."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from reprieve.forecast import sentences
from reprieve.forecast.answer import Forecast, Outcome, Share, Span
from reprieve.forecast.asking import Question
from reprieve.forecast.replay import Future
from reprieve.forecast.situation import NO_WORKLOAD
from reprieve.objects import Reference, format_time
from reprieve.simulate import instant, seconds
from reprieve.whatif import does_not_start, starts_smaller

AT_ONCE = 60.0
"""Seconds within which a start is now: the grace period of who makes way."""
_SHOWN = 5
Time = Callable[[Future], int | None]


class Verdict:
    def __init__(self, question: Question, target: Reference, futures: Sequence[Future]) -> None:
        self._question = question
        self._situation = question.situation
        self._target = target
        self._futures = futures
        self._units = question.units[target]
        self._left_out = [n for n in self._units if futures and n in futures[0].left_out]
        self._waiting = [n for n in self._units if self._situation.units[n].waits and n not in self._left_out]
        self._owners = {self._situation.units[number].owner for number in self._units}

    def forecast(self) -> Forecast:
        if self._target in self._situation.held:
            return self._never(self._situation.held[self._target])
        if not self._units:
            return self._never(sentences.has_ended(self._situation.over[self._target]))
        if self._waiting and self._needs_nodes():
            return self._never(sentences.NO_NODE)
        if not self._waiting:
            since = min(self._situation.units[number].since for number in self._units)
            sentence = sentences.runs_already(self._target, instant(since))
            return self._answer("runs", sentence, share=1.0, certain=True)
        start = self._span(self._first)
        share = self._share(self._first)
        if start.median is None:
            return self._without_start(start, share)
        return self._with_start(start, share)

    # --- it starts ------------------------------------------------------------------------------------------

    def _with_start(self, start: Span, share: float) -> Forecast:
        certain, horizon = len(self._futures) == 1, seconds(self._question.horizon)
        at_once = start.high is not None and start.high <= AT_ONCE and not self._waits_for_others()
        victims = self._victims(at_once=at_once)
        whole = self._span(self._last)
        refused = self._situation.refusals.get(self._target)
        if refused is not None and self._target.kind != "PodGroup":  # which starts with the pods that exist
            whole = Span(median=None, low=None, high=None)
        partly = at_once and (whole.median is None or whole.median > AT_ONCE)
        if partly:
            pods = [(self._pods(number), self._starts_at_once(number)) for number in self._waiting]
            now, total = sum(count for count, starts in pods if starts), sum(count for count, _ in pods)
            total += refused.pods if refused is not None else 0
            sentence = sentences.starts_in_part(self._target, now, total, victims)
        elif at_once:
            sentence = sentences.starts_now(self._target, victims)
        else:
            latest = certain and "limit" in self._run_times()
            sentence = sentences.when_it_starts(
                self._target, start, certain=certain, horizon=horizon, latest=latest
            )
        if refused is not None:
            sentence = f"{sentence} {refused.why}"
        elif whole.median is None:
            sentence = f"{sentence} {sentences.not_whole(horizon, next(iter(self._reasons()), ''))}"
        elif partly:
            sentence = f"{sentence} {sentences.all_run(whole)}"
        waits = partly or not at_once
        return self._answer(
            "partly" if partly else "now" if at_once else "later",
            sentence,
            start=start,
            whole=None if whole == start else whole,
            share=share,
            certain=certain,
            victims=victims,
            unknown=self._unknown() if waits else (),
            reasons=self._reasons() if waits else (),
        )

    # --- it does not ----------------------------------------------------------------------------------------

    def _without_start(self, start: Span, share: float) -> Forecast:
        unknown = self._unknown()
        reasons = self._reasons()
        horizon = seconds(self._question.horizon)
        victims = self._victims(at_once=False)
        common = {"share": share, "reasons": reasons, "start": start if share else None, "victims": victims}
        if unknown and self._first(self._question.best_case) is not None:
            sentence = sentences.run_times_missing(self._target, unknown, self._outrun())
            return self._answer("unknown", sentence, unknown=unknown, **common)
        outcome: Outcome = "unsure" if share else "never"
        why = reasons[0] if reasons else ""
        ahead = not all(each.stuck for each in self._futures)
        if (limit := self._given_up()) is not None:
            why, ahead = sentences.given_up(seconds(limit)), False
        if share:
            sentence = sentences.starts_in_some_futures(self._target, share, horizon, why)
        elif ahead:
            sentence = sentences.not_within_horizon(self._target, horizon, why)
        else:
            sentence = does_not_start(self._target, why)
        if victims:
            sentence = f"{sentence} {sentences.preempts_all_the_same(victims)}"
        return self._answer(outcome, sentence, certain=len(self._futures) == 1, **common)

    def _never(self, why: str) -> Forecast:
        return self._answer("never", does_not_start(self._target, why))

    def _needs_nodes(self) -> bool:
        """Whether there are no nodes, and not even quota to wait for: then nothing is known about places."""
        situation = self._situation
        in_queue = {number for number in self._waiting if situation.units[number].workload != NO_WORKLOAD}
        return not situation.has_nodes and not in_queue.issuperset(self._waiting)

    # --- parts ----------------------------------------------------------------------------------------------

    def _answer(self, outcome: Outcome, sentence: str, **more: object) -> Forecast:
        situation, question = self._situation, self._question
        futures = self._futures if self._waiting else ()
        counts = Counter(self._run_times()) if outcome in ("later", "unsure") else Counter()
        return Forecast(
            for_=str(self._target),
            outcome=outcome,
            sentence=sentence,
            now=format_time(instant(situation.now)),
            quota=self._quota() if futures else None,
            waits_for=self._shares(self._let_in) if outcome in ("later", "unsure") else (),
            before=self._shares(self._earlier) if outcome in ("later", "unsure") else (),
            assumptions=(
                *_assumptions(counts, seconds(question.horizon), len(futures)),
                *(self._unseen() if outcome in ("now", "partly", "later", "unsure") else ()),
                *self._cut_short(),
            ),
            futures=len(futures),
            seed=question.seed,
            horizon_seconds=seconds(question.horizon),
            notes=(*self._smaller(), *question.notes.get(self._target, ()), *situation.notes),
            ignored=situation.ignored,
            **more,  # type: ignore[arg-type]
        )

    def _smaller(self) -> list[str]:
        pods = sum(map(self._pods, self._left_out))
        return [starts_smaller(pods)] if pods else []

    def _unseen(self) -> list[str]:
        """What a start needs beside what is among the objects."""
        situation = self._situation
        found = [] if situation.has_nodes else [sentences.NO_NODES]
        queues = {situation.queues[self._owner_ref(n)] for n in self._waiting if self._unqueued(n)}
        return [*found, *(sentences.no_queues(self._target, queue) for queue in sorted(queues))]

    def _unqueued(self, number: int) -> bool:
        """Whether it names a queue, and nobody counts quota."""
        return (
            self._situation.units[number].workload == NO_WORKLOAD
            and self._owner_ref(number) in self._situation.queues
        )

    def _owner_ref(self, number: int) -> Reference:
        return self._situation.owners[self._situation.units[number].owner].ref

    def _cut_short(self) -> list[str]:
        """Of those that are asked about: who announces more than its limit lets it run."""
        known = [self._situation.owners[each].run_time for each in sorted(self._owners)]
        return [
            sentences.cut_short(self._target, seconds(each.times[0]), seconds(each.limit))
            for each in known
            if each.known == "announced" and each.limit is not None and each.limit < each.times[0]
        ]

    def _start(self, future: Future, number: int) -> int | None:
        """When a unit starts; a Job whose deadline is over by then has failed, and its pods are gone."""
        start, unit = future.started.get(number), self._situation.units[number]
        owner = self._situation.owners[unit.owner]
        if start is None or owner.deadline is None or unit.runs:
            return start
        begun = future.admitted.get(unit.workload, owner.begun)
        return start if start < begun + owner.deadline else None

    def _given_up(self) -> int | None:
        """The deadline that is over before there is a place, if that is why it does not start."""
        late = (
            self._situation.owners[self._situation.units[number].owner].deadline
            for future in self._futures
            for number in self._waiting
            if number in future.started and self._start(future, number) is None
        )
        return next(late, None)

    def _outrun(self) -> tuple[str, ...]:
        owners = self._situation.owners
        return tuple(str(owners[n].ref) for n in self._relevant() if owners[n].run_time.outran)

    def _first(self, future: Future) -> int | None:
        found = [self._start(future, number) for number in self._waiting]
        return min((each for each in found if each is not None), default=None)

    def _last(self, future: Future) -> int | None:
        found = [self._start(future, number) for number in self._waiting]
        known = [each for each in found if each is not None]
        return max(known) if len(known) == len(found) else None

    def _admitted(self, future: Future) -> int | None:
        numbers = {self._situation.units[number].workload for number in self._waiting} - {NO_WORKLOAD}
        found = [future.admitted[number] for number in numbers if number in future.admitted]
        return min(found, default=None)

    def _quota(self) -> Span | None:
        span = self._span(self._admitted)
        return None if span.median is None else span

    def _share(self, time: Time) -> float:
        return sum(time(future) is not None for future in self._futures) / len(self._futures)

    def _span(self, time: Time) -> Span:
        """Order statistics: a future in which it never happens is later than all others.

        What really happens falls into each of the n + 1 gaps between n futures equally often: as many of them
        are cut off on either side as hold a tenth at most.
        """
        found = sorted(math.inf if (one := time(each)) is None else one for each in self._futures)
        tenth = max(1, (len(found) + 1) // 10)

        def ranked(rank: int) -> float | None:
            value = found[rank - 1]
            return None if math.isinf(value) else seconds(int(value) - self._situation.now)

        median = ranked((len(found) + 1) // 2)
        at = ""
        if median is not None:
            at = format_time(instant(round(self._situation.now + median * 1e6)).replace(microsecond=0))
        return Span(median=median, low=ranked(tenth), high=ranked(len(found) + 1 - tenth), at=at)

    def _pods(self, number: int) -> int:
        """A workload whose pods are not known counts as one."""
        return len(self._situation.units[number].pods) or 1

    def _starts_at_once(self, number: int) -> bool:
        start = self._start(self._futures[0], number)
        return start is not None and seconds(start - self._situation.now) <= AT_ONCE

    def _victims(self, *, at_once: bool) -> tuple[str, ...]:
        """Of the first future: pods, or the owner where its pods are not known.

        Those of a unit that the scheduler evicted; all of one that lost its quota. `at_once`: only victims of
        what starts now; what starts later may preempt others then.
        """
        found: dict[str, None] = {}
        for number in filter(self._starts_at_once, self._waiting) if at_once else self._waiting:
            evicted = self._futures[0].evicted.get(number, set())
            for victim in self._futures[0].victims.get(number, ()):
                unit = self._situation.units[victim]
                gone = [pod for pod in unit.pods if pod.key in evicted] or unit.pods
                names = [f"Pod/{pod.key}" for pod in gone]
                found |= dict.fromkeys(names or [str(self._situation.owners[unit.owner].ref)])
        return tuple(found)

    def _waits_for_others(self) -> bool:
        """Whether in some future somebody has to end who does not make way for it."""
        return any(
            set(self._let_in(future)) - self._owners - self._evicted_owners(future)
            for future in self._futures
        )

    def _evicted_owners(self, future: Future) -> set[int]:
        victims = (each for number in self._waiting for each in future.victims.get(number, ()))
        return {self._situation.units[each].owner for each in victims}

    def _let_in(self, future: Future) -> Iterable[int]:
        number = min(future.started.keys() & set(self._waiting), key=future.started.__getitem__, default=None)
        return () if number is None else future.ended.get(number, ())

    def _earlier(self, future: Future) -> Iterable[int]:
        start = self._first(future)
        return [owner for owner, time in future.before.items() if start is None or time < start]

    def _shares(self, of: Callable[[Future], Iterable[int]]) -> tuple[Share, ...]:
        counted = Counter(owner for future in self._futures for owner in set(of(future)) - self._owners)
        return tuple(
            Share(
                name=str(self._situation.owners[owner].ref),
                share=round(number / len(self._futures), 3),
                run_time=self._situation.owners[owner].run_time.known,
            )
            for owner, number in sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN]
        )

    def _relevant(self) -> list[int]:
        """Owners that run now, or start before it."""
        running = {unit.owner for unit in self._situation.units if unit.runs and unit.leaves is None}
        earlier = {owner for future in self._futures for owner in self._earlier(future)}
        return sorted((running | earlier) - self._owners)

    def _run_times(self) -> list[str]:
        return [self._situation.owners[owner].run_time.known for owner in self._relevant()]

    def _unknown(self) -> tuple[str, ...]:
        owners = self._situation.owners
        return tuple(str(owners[n].ref) for n in self._relevant() if owners[n].run_time.known == "unknown")

    def _reasons(self) -> tuple[str, ...]:
        for number in self._waiting:
            if found := self._futures[0].reasons.get(number):
                return tuple(found)
        return ()


def _assumptions(counts: Mapping[str, int], horizon: float, futures: int) -> Iterator[str]:
    """What the answer takes for granted; `counts` by how a run time is known."""
    yield sentences.NOTHING_COMES
    if number := counts.get("history"):
        yield sentences.drawn_from_history(number, futures)
    if number := counts.get("limit"):
        yield sentences.run_until_limit(number)
    if number := counts.get("unknown"):
        yield sentences.taken_to_run_on(number)
    if futures:
        yield sentences.looked_ahead(horizon)
