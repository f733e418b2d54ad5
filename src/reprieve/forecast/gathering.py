"""A situation made of documents: whose pods they are, which workload they wait for, how long they run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from reprieve.admission import refused_by_a_server
from reprieve.config import Configuration
from reprieve.forecast import sentences
from reprieve.forecast.claims import ephemeral_claims, unfollowed
from reprieve.forecast.population import Population
from reprieve.forecast.reading import (
    Owners,
    announced,
    deadline_of,
    each_once,
    ended_runs,
    endings,
    is_service,
    likeness,
    limit_of,
    recorded_runs,
    time_of,
    unfinished_uids,
)
from reprieve.forecast.run_times import History, Likeness, RunTime, run_time
from reprieve.forecast.situation import NO_WORKLOAD, Owner, Refused, Situation, Unit, moment
from reprieve.jobs import RUNTIMES, one_run, queue_of
from reprieve.objects import (
    MOST_PODS,
    Document,
    Object,
    ObjectMeta,
    Pod,
    PodGroup,
    Reference,
    Source,
    Workload,
    document_of,
    find_condition,
    group_key,
    kind_key,
    objects_in,
    well_known,
)
from reprieve.records import Run
from reprieve.whatif import BOTH, check_target, complete, take_notes

_TEMPLATES = (well_known.SCHEDULING_API, "Workload")
"""Of the same name as what waits for quota, and something else."""


def gather(
    objects: Iterable[Document | Source],
    wanted: frozenset[Reference],
    config: Configuration,
    now: datetime,
    history: History,
    runs: Iterable[Run] = (),
) -> Situation:
    """`wanted`: what is asked about. What has ended, among the objects and in `runs`, goes into `history`."""
    kinds = config.job_kinds()
    population = Population(objects_in(objects), kinds, wanted)
    for target in wanted:
        if target in population.expansions or target.kind in ("Pod", "PodGroup"):
            check_target(target, population.documents, population.expansions.get(target))
    documents, views, notes, refused = complete(population.documents, now)
    raw = [*map(document_of, documents)]
    owners = Owners(raw, kinds)
    refusals = _refusals(raw, owners, refused)
    held = population.held | {ref: each.why for ref, each in refusals.items() if not each.created}
    if refused:
        views = [
            each for each in views if not (isinstance(each, Pod) and Reference.of("Pod", each.key) in refused)
        ]
    noted, stopped = recorded_runs(runs)
    for each in each_once(noted, ended_runs(raw, owners), unfinished_uids(raw, owners)):
        history.add(each.like, each.length)
    found = _Gathering(raw, views, owners, moment(now), history, stopped)
    reading = BOTH.of_jobs([*((each.group, each.kind) for each in kinds), *RUNTIMES])
    left = take_notes(documents, reading, may_be_empty=True)
    notes += [*left.sentences, *unfollowed(views)]
    known = found.owners()
    notes += found.unread()
    return Situation(
        config=config,
        now=moment(now),
        objects=found.others,
        owners=known,
        units=found.units,
        workloads=found.workloads,
        volumes=ephemeral_claims(raw),
        queues=found.queues() if not population.has_queues else {},
        held=held,
        refusals=refusals,
        over=endings(found.named(wanted), kinds),
        notes=[*population.notes, *notes],
        ignored=left.ignored,
        documents=documents,
    )


def _refusals(
    raw: Iterable[Document], owners: Owners, refused: Mapping[Reference, str]
) -> dict[Reference, Refused]:
    """Owners, groups and pods, and what of them a server would not create."""
    found: dict[Reference, Refused] = {}
    created: Counter[Reference] = Counter()
    for each in raw if refused else ():
        if each.get("kind") != "Pod":
            continue
        ref = Reference.read(each)
        whole = {ref, *owners.chain(each)}
        if group := group_key(each):
            whole.add(Reference.of("PodGroup", group))
        if ref not in refused:
            created.update(whole)
            continue
        why = refused_by_a_server(str(ref), refused[ref])
        for one in whole:
            known = found.get(one, Refused(0, 0, why))
            found[one] = known._replace(pods=known.pods + 1)
    return {ref: each._replace(created=created[ref]) for ref, each in found.items()}


class _Run(NamedTuple):
    """What an owner says of its run, and how far it is."""

    like: Likeness
    announced: int | None
    limit: int | None
    elapsed: int
    endless: bool

    def known(self, history: History) -> RunTime:
        return run_time(
            self.like, history,
            announced=self.announced, limit=self.limit, elapsed=self.elapsed, endless=self.endless,
        )  # fmt: skip


class _Gathering:
    def __init__(
        self,
        raw: Sequence[Document],
        views: Sequence[Object],
        owners: Owners,
        now: int,
        history: History,
        stopped: Mapping[str, int],
    ) -> None:
        """`stopped`: by UID, for how long those had run already that begin again."""
        self._now, self._history, self._stopped = now, history, stopped
        self._raw = {Reference.read(each): each for each in raw if kind_key(each) != _TEMPLATES}
        self._above = owners
        self._groups = {each.key: each for each in views if isinstance(each, PodGroup)}
        self._owners: dict[Reference, list[int]] = {}
        self._unread: dict[Reference, str] = {}
        """Owners that announce a run time that is none, and why."""
        self.units: list[Unit] = []
        self.others = [each for each in views if not isinstance(each, Pod | Workload)]
        self.others = [each for each in self.others if not isinstance(each, PodGroup)]
        self.workloads = _unfinished(views)
        self._workload_of = self._links()
        self._add_pods([each for each in views if isinstance(each, Pod) and _counts(each)])
        self._add_workloads()

    def named(self, wanted: Iterable[Reference]) -> dict[Reference, Document]:
        """Those of them that are among the objects."""
        return {ref: self._raw[ref] for ref in wanted if ref in self._raw}

    # --- units ----------------------------------------------------------------------------------------------

    def _add_pods(self, pods: Iterable[Pod]) -> None:
        together: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            leaves = pod.metadata.deletion_timestamp is not None
            group = pod.group_key if pod.group_key in self._groups and not leaves else ""
            together.setdefault((group, "" if group else pod.key), []).append(pod)
        for (group, _), members in together.items():
            chain = self._above.chain(self._raw[Reference.of("Pod", members[0].key)])
            own = Reference.of("PodGroup", group) if group else Reference.of("Pod", members[0].key)
            self._add(
                chain[-1] if chain else own,
                Unit(
                    pods=tuple(members),
                    group=self._groups.get(group),
                    workload=self._workload([own, *chain], members),
                    runs=any(pod.spec.node_name for pod in members),
                    since=min((self._start(pod) for pod in members if pod.spec.node_name), default=0),
                    leaves=self._leaves(members[0]),
                    comes_back=bool(chain),
                ),
            )

    def _add(self, owner: Reference, unit: Unit) -> None:
        units = self._owners.setdefault(owner, [])
        number = self.units[units[0]].owner if units else len(self._owners) - 1
        units.append(len(self.units))
        self.units.append(replace(unit, owner=number))

    def _start(self, pod: Pod) -> int:
        time = pod.status.start_time or pod.metadata.creation_timestamp
        return self._now if time is None else min(self._now, moment(time))

    def _leaves(self, pod: Pod) -> int | None:
        gone = pod.metadata.deletion_timestamp
        return None if gone is None else max(self._now, moment(gone))

    # --- workloads ------------------------------------------------------------------------------------------

    def _links(self) -> dict[Reference, int]:
        """Everything that a workload stands for, to the workload."""
        found: dict[Reference, int] = {}
        for number, each in enumerate(self.workloads):
            chain = self._above.chain(self._raw[Reference.of("Workload", each.key)])
            owners = [Reference(one.kind, each.namespace, one.name) for one in each.metadata.owner_references]
            found |= dict.fromkeys((*chain, *owners), number)
        return found

    def _workload(self, refs: Iterable[Reference], pods: Iterable[Pod]) -> int:
        named = {pod.metadata.annotations.get(well_known.QUOTA_GIVEN_ANNOTATION) for pod in pods}
        for number, each in enumerate(self.workloads) if named - {None} else ():
            if each.metadata.uid in named:
                return number
        pod_refs = (Reference.of("Pod", pod.key) for pod in pods)
        return next(
            (self._workload_of[ref] for ref in (*refs, *pod_refs) if ref in self._workload_of), NO_WORKLOAD
        )

    def _add_workloads(self) -> None:
        """Workloads without pods: made of their pod sets while they wait, else they only hold quota."""
        known = {unit.workload for unit in self.units}
        for number, each in enumerate(self.workloads):
            if number in known:
                continue
            ref = Reference.of("Workload", each.key)
            chain = self._above.chain(self._raw[ref])
            owner = chain[-1] if chain else ref
            since = find_condition(each.status.conditions, well_known.QUOTA_RESERVED)
            if each.status.admission is not None and since is not None:
                time = since.last_transition_time
                start = self._now if time is None else min(self._now, moment(time))
                self._add(owner, Unit(workload=number, runs=True, since=start))
                continue
            pods = _made(each)
            for pod in pods:
                self._add(owner, Unit(workload=number, pods=(pod,)))
            if not pods:
                self._add(owner, Unit(workload=number))

    # --- owners ---------------------------------------------------------------------------------------------

    def owners(self) -> list[Owner]:
        found = [self._run(ref, [self.units[n] for n in units]) for ref, units in self._owners.items()]
        for each in found:
            if each.elapsed and not each.endless:
                self._history.add_unfinished(each.like, each.elapsed)
        return [
            Owner(
                ref=ref,
                units=tuple(units),
                run_time=each.known(self._history),
                deadline=deadline_of(self._raw.get(ref) or {}),
                begun=self._job_start(ref),
            )
            for (ref, units), each in zip(self._owners.items(), found, strict=True)
        ]

    def queues(self) -> dict[Reference, str]:
        """Owners, and the queues that they name."""
        kinds = self._above.kinds
        known = ((ref, self._raw[ref]) for ref in self._owners if ref in self._raw)
        named = ((ref, queue_of(one_run(raw, kinds) or raw)) for ref, raw in known)
        return {ref: queue for ref, queue in named if queue}

    def _job_start(self, ref: Reference) -> int:
        """When the job controller saw it; now for one that it has not seen."""
        time = time_of(((self._raw.get(ref) or {}).get("status") or {}).get("startTime"))
        return self._now if time is None else min(self._now, moment(time))

    def _run(self, ref: Reference, units: Sequence[Unit]) -> _Run:
        says = [self._raw[ref]] if ref in self._raw else []
        workloads = {unit.workload for unit in units if unit.workload != NO_WORKLOAD}
        queue = queue_of(says[0]) if says else ""
        for number in sorted(workloads):
            says.append(self._raw[Reference.of("Workload", self.workloads[number].key)])
            queue = queue or self.workloads[number].spec.queue_name
        says += [
            self._raw[Reference.of("PodGroup", each.group.key)] for each in units if each.group is not None
        ]
        pods = [pod for unit in units for pod in unit.pods]
        says += [raw for pod in pods if (raw := self._raw.get(Reference.of("Pod", pod.key))) is not None]
        begun = [unit.since for unit in units if unit.runs]
        elapsed = self._now - min(begun) if begun else 0
        return _Run(
            like=likeness(ref, queue),
            announced=self._announced(ref, says),
            limit=self._limit(ref, says, begun),
            elapsed=max(elapsed, *(self._stopped.get(uid, 0) for uid in self._uids(ref, pods))),
            endless=self._is_endless(ref, pods),
        )

    def _announced(self, ref: Reference, says: Sequence[Document]) -> int | None:
        """What somebody writes who has nothing to do with the question must not take the answer away."""
        found = announced(says)
        if found.unread:
            self._unread[ref] = found.unread
        return found.length

    def unread(self) -> Iterator[str]:
        """After `owners`: what was announced and counts for nothing."""
        if self._unread:
            why = next(iter(self._unread.values()))
            yield sentences.announcement_not_used([*map(str, self._unread)], why)

    def _limit(self, ref: Reference, says: Sequence[Document], begun: Sequence[int]) -> int | None:
        """From its start on. A Job counts from its own, which may be before its pods found a place."""
        limit, raw = limit_of(says), self._raw.get(ref) or {}
        deadline = deadline_of(raw)
        if limit is None or deadline is None or not begun or not (raw.get("status") or {}).get("startTime"):
            return limit
        return min(limit, max(1, self._job_start(ref) + deadline - min(begun)))

    def _uids(self, ref: Reference, pods: Iterable[Pod]) -> set[str]:
        """Of an owner: what it says itself, or what its pods say of it."""
        own = ((self._raw.get(ref) or {}).get("metadata") or {}).get("uid") or ""
        made = (each for pod in pods for each in pod.metadata.owner_references if each.kind == ref.kind)
        return {own, *(each.uid for each in made if each.name == ref.name)} - {""} or {""}

    def _is_endless(self, ref: Reference, pods: Iterable[Pod]) -> bool:
        if ref.kind in ("Pod", "PodGroup"):
            return all(pod.spec.restart_policy in ("", "Always") for pod in pods)
        return is_service(ref, self._above.kinds)


def _counts(pod: Pod) -> bool:
    return pod.status.phase not in well_known.TERMINAL_PHASES


def _unfinished(views: Iterable[Object]) -> list[Workload]:
    def is_over(each: Workload) -> bool:
        end = find_condition(each.status.conditions, well_known.FINISHED)
        return end is not None and end.status == "True"

    return [each for each in views if isinstance(each, Workload) and not is_over(each)]


def _made(workload: Workload) -> list[Pod]:
    """The pods of a workload whose job is not known; none of one that says a number beyond all clusters."""
    if sum(each.count for each in workload.spec.pod_sets) > MOST_PODS:
        return []
    return [
        Pod(
            metadata=ObjectMeta(
                name=f"{workload.name}-{each.name}-{number}",
                namespace=workload.namespace,
                labels={well_known.POD_SET_LABEL: each.name},
            ),
            spec=each.template.spec,
        )
        for each in workload.spec.pod_sets
        for number in range(each.count)
    ]
