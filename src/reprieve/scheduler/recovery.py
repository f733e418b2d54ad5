"""Which interrupted evictions to finish and which to undo, from the API objects alone.

A preemption nominates, then marks all its victims, then deletes them. Marked pods that are not being deleted
were left by a crash, or by calls that failed for good. The first of these rules decides about each unit:

1. A group in disruption mode *all* is evicted completely if one of its pods is already on its way out because
   of a preemption, or if every pod of it that has a node carries the mark: deletions may have begun.
2. A marked pod is evicted if its preemptor still waits and has a nomination: the preemption is still wanted.
3. Otherwise no deletion was sent: the mark is taken off and the pod stays.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from reprieve.cluster import Cluster
from reprieve.objects import Pod, Reference, well_known
from reprieve.scheduler import marks


@dataclass(frozen=True, slots=True)
class Marked:
    """A pod on a node that one of our schedulers marked for eviction."""

    pod: Reference
    node: str
    group: str
    preemptor: Reference
    going: bool


@dataclass(frozen=True, slots=True)
class Unfinished:
    finish: dict[Reference, list[tuple[Reference, str]]]
    """Preemptor -> pods (and their nodes) still to be evicted for it."""
    spare: list[Reference]


def marked(pod: Pod, schedulers: Collection[str]) -> Marked | None:
    """`schedulers`: our names."""
    if not pod.spec.node_name or pod.status.phase in well_known.TERMINAL_PHASES:
        return None
    mark = marks.read(pod)
    if mark is None or mark.scheduler not in schedulers:
        return None
    going = pod.metadata.deletion_timestamp is not None
    return Marked(Reference.to(pod), pod.spec.node_name, pod.group_key, mark.unit, going)


def judge(cluster: Cluster, found: dict[str, Marked], stands: Callable[[Reference], bool]) -> Unfinished:
    """`stands(preemptor)`: it waits and has a nomination."""
    unfinished = Unfinished({}, [])
    judged: set[int] = set()
    for key in sorted(found):
        mark = found[key]
        number = cluster.groups.number_of.get(mark.group, -1) if mark.group else -1
        unit = int(cluster.groups.unit[number]) if number >= 0 else -1
        if unit >= 0:
            if unit not in judged:
                judged.add(unit)
                _judge_group(cluster, unit, found, stands, unfinished)
        elif not mark.going:
            if stands(mark.preemptor):
                unfinished.finish.setdefault(mark.preemptor, []).append((mark.pod, mark.node))
            else:
                unfinished.spare.append(mark.pod)
    return unfinished


def _judge_group(
    cluster: Cluster,
    number: int,
    found: dict[str, Marked],
    stands: Callable[[Reference], bool],
    unfinished: Unfinished,
) -> None:
    pods = cluster.pods
    running = sorted(pods.keys[row] for row in cluster.groups.members_below(number) if pods.node[row] >= 0)
    with_mark = [found[key] for key in running if key in found]
    staying = [key for key in running if not pods.terminating[pods.row_of[key]]]
    if not staying or not with_mark:
        return
    begun = any(mark.going for mark in with_mark) or len(with_mark) == len(running)
    if begun or stands(with_mark[0].preemptor):
        for key in staying:
            row = pods.row_of[key]
            ref = Reference.of("Pod", key, pods.info[row].uid)
            node = cluster.nodes.names[pods.node[row]]
            unfinished.finish.setdefault(with_mark[0].preemptor, []).append((ref, node))
    else:
        unfinished.spare.extend(mark.pod for mark in with_mark if not mark.going)
