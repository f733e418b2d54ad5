"""What a scheduler or a quota controller wrote into a condition or an event, read back into codes.

The catalogues of sentences, backwards, and the only place that does so: the pattern of each sentence is made
from the function that says it. What is in no catalogue is `NOT_UNDERSTOOD`, with its text.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import product
from types import ModuleType
from typing import NamedTuple

from reprieve.explain.sentences import answers
from reprieve.placement import Code, device_texts, filter_texts, group_texts, volume_texts
from reprieve.preemption import preemption_texts
from reprieve.quota import Cause, quota_texts
from reprieve.scheduler import scheduler_texts

Said = str | Callable[..., str]


def obstacle(pod_set: str, what: str) -> str:
    return quota_texts.no_flavors([(pod_set, [what])])


def excluding(text: str, nodes: int, why: str) -> str:
    return quota_texts.with_excluded_nodes(text, nodes, [why])


def layer(topology: str, level: str, fit: int, needed: int) -> str:
    return quota_texts.layers_do_not_fit(topology, [(level, fit, needed)])


def lacking(bound: int, wanted: int, why: str) -> str:
    return scheduler_texts.lacks_pods_because(scheduler_texts.lacks_pods(bound, wanted), why)


AROUND: dict[Said, tuple[int, ...]] = {
    preemption_texts.preempts_for_pod: (0,),
    preemption_texts.preempts_for_group: (0,),
    preemption_texts.group_preemption_refused: (0, 1),
    preemption_texts.preemption_refused: (0, 1),
    preemption_texts.preemption_not_reached: (0,),
    filter_texts.refused_before_nodes: (1,),
    preemption_texts.devices_refused: (0,),
    scheduler_texts.about_group: (1,),
    lacking: (2,),
    group_texts.unschedulable: (0,),
    group_texts.no_domain_available: (1,),
    group_texts.child_failed: (0,),
    quota_texts.pending_preemption: (0,),
    obstacle: (1,),
    quota_texts.cannot_admit: (0,),
    excluding: (0, 2),
    quota_texts.previously: (0,),
}
"""Sentences that hold others, and which of their values those are. The first that matches counts."""


def _all_of(catalogue: ModuleType, *but: Said) -> list[Said]:
    """Its sentences, but those that hold others and `but` these."""
    public = [each for name, each in vars(catalogue).items() if not name.startswith("_")]
    own = [x for x in public if isinstance(x, str) or getattr(x, "__module__", "") == catalogue.__name__]
    return [each for each in own if each not in AROUND and each not in but]


ALONE: tuple[Said, ...] = (
    *_all_of(group_texts),
    *_all_of(scheduler_texts, scheduler_texts.preempting, scheduler_texts.lacks_pods_because),
    filter_texts.NO_NODES,
    preemption_texts.device_filter_failed,
    preemption_texts.NO_VICTIMS,
    preemption_texts.NO_VICTIMS_FOR_POD,
    preemption_texts.NOT_HELPFUL,
    preemption_texts.NEVER_PREEMPTS,
    preemption_texts.VICTIM_IS_TERMINATING,
    preemption_texts.ONGOING,
    preemption_texts.GATED,
    preemption_texts.TOO_FEW_PODS,
    preemption_texts.group_is_missing,
    preemption_texts.below_quorum,
    preemption_texts.parent_is_missing,
    preemption_texts.schedulers_differ,
    preemption_texts.priority_differs,
    preemption_texts.POLICY_DIFFERS_FROM_GROUP,
    preemption_texts.POLICIES_DIFFER,
    quota_texts.quota_is_used,
    quota_texts.more_than_quota,
    quota_texts.flavors_failed,
    quota_texts.GATED,
    quota_texts.DEFERRED,
    quota_texts.OVERLAPPING,
    quota_texts.NO_LONGER_FITS,
    quota_texts.no_replacement_node,
    quota_texts.decision_failed,
    quota_texts.not_tried_yet,
    quota_texts.stale_domain,
    quota_texts.no_replacement_found,
    quota_texts.no_domains,
    quota_texts.topology_is_full,
    layer,
    quota_texts.excluded_by_taint,
    quota_texts.excluded_by_selector,
    quota_texts.excluded_by_affinity,
    quota_texts.excluded_by_domain,
    quota_texts.excluded_by_resource,
    quota_texts.preempted,
)
"""All others beside the objections of filters and the causes of quota. Each sentence is its own code."""
NOT_UNDERSTOOD: Said = ""
"""The code of what is in no catalogue. The value is the text."""


class Reading(NamedTuple):
    code: Code | Cause | Said
    values: tuple[str, ...] = ()


FAILURES: tuple[Said, ...] = (
    volume_texts.no_binding_mode,
    volume_texts.selector_is_invalid,
    volume_texts.volumes_cannot_be_counted,
    device_texts.empty_selector,
    device_texts.no_class_named,
    device_texts.class_not_found,
    device_texts.unsupported_mode,
    device_texts.empty_constraint,
    device_texts.selector_does_not_compile,
    device_texts.selector_fails,
    device_texts.too_many_devices,
    device_texts.pool_is_incomplete,
    device_texts.timed_out,
    device_texts.capacity_cannot_be_checked,
    device_texts.constraint_forbids,
)
"""Filters that cannot tell: `Code.ATTEMPT_FAILS`, with the sentence as its value."""


LONGEST = 4096
"""A longer message is not read: anybody can write a condition, and all others would wait."""
LONGEST_LIST = 100
MOST_PARTS = 6
"""Into so many parts a sentence in a list may fall at the separators."""
DEEPEST = 6
"""So many sentences are around one another at most."""


def read(message: str) -> tuple[Reading, ...]:
    """All that a message says. What is not understood is in it with its text, next to what is."""
    return _read(message, DEEPEST)


@lru_cache(maxsize=4096)
def _read(text: str, depth: int) -> tuple[Reading, ...]:
    if not depth or len(text) > LONGEST:
        return (Reading(NOT_UNDERSTOOD, (text,)),)
    return tuple(_read_one(text, depth) or _read_one(text, depth, partly=True) or _read_list(text, depth))


def is_understood(readings: tuple[Reading, ...]) -> bool:
    return all(each.code != NOT_UNDERSTOOD for each in readings)


def not_understood(messages: Iterable[str]) -> list[str]:
    """The parts of messages that are in no catalogue, once each."""
    found = (each for message in messages for each in read(message))
    return list(dict.fromkeys(each.values[0] for each in found if each.code == NOT_UNDERSTOOD))


def _read_one(text: str, depth: int, *, partly: bool = False) -> list[Reading]:
    """The text as one sentence; empty where it is none. `partly`: not all sentences in it need be known."""
    for code in _codes():
        for pattern in patterns(said_by(code)):
            match = pattern.fullmatch(text)
            if match is None:
                continue
            values = _values(match)
            inner = (values[at] for at in _inner(code))
            readings = tuple(each for value in inner if value for each in _read(value, depth - 1))
            known = [each for each in readings if each.code != NOT_UNDERSTOOD]
            if is_understood(readings) or (partly and (known or code == filter_texts.refused_before_nodes)):
                return [*readings, Reading(code, values)]
    for said in FAILURES:
        if any(pattern.fullmatch(text) for pattern in patterns(said)):
            return [Reading(Code.ATTEMPT_FAILS, (text,))]
    return []


_COUNT = re.compile(r"\d+ ")
_SEPARATOR = re.compile(r"(, |; )")


def _read_list(text: str, depth: int) -> Iterator[Reading]:
    """Sentences one after the other, each the shortest that is one, perhaps after a number of nodes."""
    parts = _SEPARATOR.split(text)
    if len(parts) > 2 * LONGEST_LIST:
        yield Reading(NOT_UNDERSTOOD, (text,))
        return
    start, unknown = 0, ""
    while start < len(parts):
        for end in range(start + 1, min(start + 2 * MOST_PARTS, len(parts) + 1), 2):
            piece = "".join(parts[start:end])
            whole = start == 0 and end >= len(parts)
            found = [] if whole else _read_one(piece, depth)
            if not found and _COUNT.match(piece):
                found = _read_one(_COUNT.sub("", piece, count=1), depth)
            if found:
                if unknown:
                    yield Reading(NOT_UNDERSTOOD, (unknown,))
                yield from found
                start, unknown = end + 1, ""
                break
        else:
            separator = parts[start - 1] if unknown else ""
            unknown += separator + parts[start]
            start += 2
    if unknown:
        yield Reading(NOT_UNDERSTOOD, (unknown,))


def said_by(code: Code | Cause | Said) -> Said:
    return code.said if isinstance(code, Code | Cause) else code


def _inner(code: Code | Cause | Said) -> tuple[int, ...]:
    return () if isinstance(code, Code | Cause) else AROUND.get(code, ())


@cache
def _codes() -> tuple[Code | Cause | Said, ...]:
    return tuple(each for each in (*AROUND, *ALONE, *Code, *Cause) if each not in QUOTES)


QUOTES = frozenset[Code | Cause | Said](
    {Code.ATTEMPT_FAILS, Cause.REQUEST_UNREADABLE, Cause.UNREADABLE_AMOUNT}
)
"""Their sentences are nothing but values, and any text would do."""


# --- patterns -----------------------------------------------------------------------------------------------

_WORD = "Zq{}qZ"
_NUMBERS = 1_000_003
"""So far apart are the numbers that are filled in; what a sentence computes from them is as long."""
_COMPUTED = re.compile(r"\d{4,}")


@cache
def patterns(said: Said) -> tuple[re.Pattern[str], ...]:
    """What a sentence reads like, whatever is filled in; several where it has several forms."""
    if isinstance(said, str):
        return (_compiled(re.escape(said)),)
    names = list(inspect.signature(said).parameters.values())
    found: list[re.Pattern[str]] = []
    for sample in product(*(_samples(each, at) for at, each in enumerate(names))):
        positional = [v for v, each in zip(sample, names, strict=True) if each.kind is not each.KEYWORD_ONLY]
        keywords = {
            each.name: v for v, each in zip(sample, names, strict=True) if each.kind is each.KEYWORD_ONLY
        }
        text = said(*positional, **keywords)
        if text and not any(each.fullmatch(text) for each in found):
            found.append(_pattern(text, len(names)))
    return tuple(found)


def _samples(parameter: inspect.Parameter, at: int) -> tuple[object, ...]:
    kind, word, number = str(parameter.annotation), _WORD.format(at), _NUMBERS * (at + 3)
    if "bool" in kind:
        return True, False
    if "Sequence" in kind or "Iterable" in kind:
        return [word], []
    if "int" in kind:
        return number, 1, 0
    return word, ""


def _pattern(text: str, values: int) -> re.Pattern[str]:
    pattern = re.escape(text)
    for at in range(values):
        number = str(_NUMBERS * (at + 3))
        sample, shape = (number, r"[^\s,;()]+?") if number in pattern else (_WORD.format(at), ".*?")
        pattern = pattern.replace(sample, f"(?P<v{at}>{shape})", 1).replace(sample, shape)
    return _compiled(_COMPUTED.sub(r"\\d+", pattern))


def _compiled(pattern: str) -> re.Pattern[str]:
    """By RE2, whose time is linear in the text: anybody can write a condition."""
    import re2

    found: re.Pattern[str] = re2.compile(f"(?s){pattern}")
    return found


def _values(match: re.Match[str]) -> tuple[str, ...]:
    found = match.groupdict()
    last = max((int(name[1:]) for name in found), default=-1)
    return tuple(found.get(f"v{at}") or "" for at in range(last + 1))


# --- for people ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def in_plain_words(message: str) -> str:
    """A message that has to be kube-scheduler's own in a condition."""
    for said in (group_texts.cannot_reach_minimum, group_texts.below_minimum):
        (pattern,) = patterns(said)
        message = pattern.sub(_gang, message)
    joint = preemption_texts.group_preemption_refused("", "")
    return message.replace(joint, answers.EVEN_WITH_PREEMPTION)


def _gang(match: re.Match[str]) -> str:
    values = match.groups()
    return answers.too_few_at_once(*map(int, values)) if all(map(str.isdecimal, values)) else match[0]


# --- preemptions --------------------------------------------------------------------------------------------

_EVENT = re.compile(r"^Preempted by .*? on node (?P<node>[^\s:]+)(?:: (?P<why>.*))?$", re.DOTALL)
_WORKLOAD = re.compile(r"accommodate a workload \(UID: (?P<uid>[^,)]+)")


class Preemption(NamedTuple):
    node: str
    why: str


def read_preemption(event: str) -> Preemption:
    """An event on a pod; kube-scheduler gives no reason. Another text is the reason itself."""
    match = _EVENT.match(event)
    return Preemption(match["node"], match["why"] or "") if match else Preemption("", event)


def preemptor_uid(message: str) -> str:
    """Of the workload that another one made way for; empty where the message names none."""
    match = _WORKLOAD.search(message)
    return match["uid"] if match else ""
