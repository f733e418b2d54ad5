"""How far from the cheapest plan is each algorithm? Every plan of the corpus against the proven optimum.

    python bench/optimum.py [FILE.jsonl.gz] [--only TEXT]

Every recorded case in which a pod group preempts is read once more, independently of the decision core, as an
abstract problem and solved by a mixed integer program (HiGHS). Each algorithm's plan is replayed pod by pod
on the same reading and compared with the best plan that places as many pods: fewest budget violations, then
the lowest highest priority, then fewest pods, then fewest units. That is one plan: nothing here is the best
of several. Cases with rules that the program does not know are left out and counted.
"""

import argparse
import gzip
import itertools
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reprieve.cluster.pods import ticks  # noqa: E402
from reprieve.config import Configuration  # noqa: E402
from reprieve.objects import Reference  # noqa: E402
from reprieve.objects.core import Node, Pod, Taint  # noqa: E402
from reprieve.objects.decode import decode_all  # noqa: E402
from reprieve.objects.policy import PodDisruptionBudget  # noqa: E402
from reprieve.objects.quantity import amount  # noqa: E402
from reprieve.objects.requests import pod_requests  # noqa: E402
from reprieve.objects.scheduling import PodGroup  # noqa: E402
from reprieve.objects.selectors import matches, node_selector_matches, tolerates  # noqa: E402
from reprieve.preemption import decide  # noqa: E402
from reprieve.preemption.minimal.problem import NO_PRIORITY, Answer, Problem  # noqa: E402
from reprieve.whatif.pods import load  # noqa: E402
from tests.preemption_minimal.milp import Program  # noqa: E402

CORPUS = ROOT / "tests" / "corpus" / "kubernetes" / "group-generated.jsonl.gz"
ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")
HOSTNAME = "kubernetes.io/hostname"
CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


NOW = datetime(2026, 11, 1, tzinfo=UTC)
MANY = 100_000
"""More pods than any cluster of the corpus has."""


class LeftOut(Exception):
    """The case has a rule that the program does not know; the text is the reason to count."""


class Score(NamedTuple):
    violations: int
    priority: int
    pods: int
    units: int


class Compared(NamedTuple):
    plan: Score
    optimum: Score


class Case:
    """One recorded cluster and the group that preempts."""

    def __init__(self, row: dict[str, Any]) -> None:
        objects = decode_all(row["objects"])
        self.submitted = row["submit"].removeprefix("PodGroup/")
        self.nodes = [each for each in objects if isinstance(each, Node)]
        self.groups = {each.key: each for each in objects if isinstance(each, PodGroup)}
        alive = [p for p in objects if isinstance(p, Pod) and p.status.phase not in ("Succeeded", "Failed")]
        for pod in alive:
            _must_be_known(pod)
        self.running = [pod for pod in alive if pod.spec.node_name]
        self.waiting = [p for p in alive if not p.spec.node_name and _group(p) == self.submitted]
        members = sum(_group(pod) == self.submitted for pod in self.running)
        own = self.groups[self.submitted]
        self.need = max(1, own.min_count - members)
        self.units = [pods for pods in self._units() if self.priority(pods) < (own.spec.priority or 0)]
        self.budgets = self._budgets([each for each in objects if isinstance(each, PodDisruptionBudget)])
        self.problem = self._problem()

    def priority(self, pods: list[Pod]) -> int:
        group = self.groups.get(_group(pods[0]))
        return (group.spec.priority if group is not None else pods[0].spec.priority) or 0

    def _units(self) -> list[list[Pod]]:
        units: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.running:
            group = self.groups.get(_group(pod))
            whole = group is not None and group.disrupted_as_a_whole
            units[f"group {_group(pod)}" if whole else f"pod {pod.key}"].append(pod)
        return list(units.values())

    def _budgets(self, budgets: list[PodDisruptionBudget]) -> list[tuple[int, set[str]]]:
        """(evictions allowed, evictable pods covered); first those of all budgets that allow nothing."""
        found: list[tuple[int, set[str]]] = [(0, set())]
        for budget in budgets:
            selector, status = budget.spec.selector, budget.status
            if selector is None or not (selector.match_labels or selector.match_expressions):
                continue
            covered = {
                pod.key
                for pod in itertools.chain.from_iterable(self.units)
                if pod.metadata.labels
                and pod.namespace == budget.namespace
                and matches(selector, pod.metadata.labels)
                and pod.name not in status.disrupted_pods
            }
            if status.disruptions_allowed <= 0:
                found[0][1].update(covered)
            elif len(covered) > status.disruptions_allowed:
                found.append((status.disruptions_allowed, covered))
        if any(a & b for (_, a), (_, b) in itertools.combinations(found, 2)):
            raise LeftOut("overlapping disruption budgets")
        return found

    def _problem(self) -> Problem:
        at = {node.name: number for number, node in enumerate(self.nodes)}
        if len({node.metadata.labels.get(HOSTNAME) for node in self.nodes}) < len(self.nodes):
            raise LeftOut("hostname label missing or shared")
        self.resources = sorted({r for pod in self.waiting for r in pod_requests(pod.spec)} | {"pods"})
        free = np.array(
            [[amount(r, n.status.allocatable.get(r, "0")) for r in self.resources] for n in self.nodes]
        )
        for pod in self.running:
            free[at[pod.spec.node_name]] -= self._asked(pod)
        if (free < 0).any():
            raise LeftOut("node over its allocatable")
        evictable = {pod.key: number for number, unit in enumerate(self.units) for pod in unit}
        pods = list(itertools.chain.from_iterable(self.units))
        alike: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.waiting:
            nodes = [_admits(node, pod) for node in self.nodes]
            traits = (
                nodes,
                self._asked(pod).tolist(),
                sorted(_ports(pod)),
                pod.namespace,
                pod.metadata.labels,
                _anti(pod),
            )
            alike[repr(traits)].append(pod)
        kinds = [pods[0] for pods in alike.values()]
        self.kind_of = {pod.key: number for number, pods in enumerate(alike.values()) for pod in pods}
        counts = np.array([len(pods) for pods in alike.values()], np.int64)
        alone = [_clash(kind, kind) for kind in kinds]
        most = np.array(
            [
                [(1 if self_clash else count) * _admits(node, kind) for node in self.nodes]
                for kind, count, self_clash in zip(kinds, counts.tolist(), alone, strict=True)
            ]
        )
        for pod in self.running:
            if pod.key not in evictable:
                most[[_clash(pod, kind) for kind in kinds], at[pod.spec.node_name]] = 0
        spent = np.zeros(len(self.units), np.int64)
        uses = np.zeros((len(self.units), len(self.budgets) - 1), np.int64)
        for number, (_, covered) in enumerate(self.budgets):
            for key in covered:
                if number:
                    uses[evictable[key], number - 1] += 1
                else:
                    spent[evictable[key]] += 1
        return Problem(
            free=free,
            requests=np.array([self._asked(pod) for pod in kinds]),
            counts=counts,
            most=most,
            need=self.need,
            priority=np.array([self.priority(unit) for unit in self.units], np.int64),
            weight=np.ones(len(self.units), np.int64),
            spent=spent,
            uses=uses,
            allowed=np.array([allowed for allowed, _ in self.budgets[1:]], np.int64),
            pod_unit=np.array([evictable[pod.key] for pod in pods], np.int64),
            pod_node=np.array([at[pod.spec.node_name] for pod in pods], np.int64),
            pod_requests=np.array([self._asked(pod) for pod in pods]).reshape(len(pods), len(self.resources)),
            pod_bars=np.array([[_clash(pod, kind) for kind in kinds] for pod in pods], np.bool_).reshape(
                len(pods), -1
            ),
            apart=tuple((a, b) for a in range(len(kinds)) for b in range(a) if _clash(kinds[a], kinds[b])),
        )

    def _asked(self, pod: Pod) -> np.ndarray[Any, np.dtype[np.int64]]:
        asked = pod_requests(pod.spec) | {"pods": 1}
        return np.array([asked.get(resource, 0) for resource in self.resources], np.int64)

    def score(self, victims: set[str]) -> Score:
        units = frozenset(n for n, unit in enumerate(self.units) if any(pod.key in victims for pod in unit))
        violations, priority, _ = self.problem.score(units)
        return Score(violations, priority, sum(len(self.units[n]) for n in units), len(units))

    def fault(self, victims: set[str], placements: dict[str, str]) -> str:
        """Replay a plan; why it does not hold, or an empty text."""
        units = frozenset(n for n, unit in enumerate(self.units) if any(pod.key in victims for pod in unit))
        if {pod.key for n in units for pod in self.units[n]} != victims:
            return "victims are not whole units of lower priority"
        at = {node.name: number for number, node in enumerate(self.nodes)}
        placed = np.zeros((self.problem.classes, len(at)), np.int64)
        for key, node in placements.items():
            placed[self.kind_of[key], at[node]] += 1
        return Answer(units, placed).fault(self.problem)

    def optimum(self, count: int) -> Score:
        """The best plan that places so many pods."""
        sizes = np.array([len(unit) for unit in self.units], np.int64)
        best = Program(replace(self.problem, need=count, weight=MANY * sizes + 1)).optimum()
        assert best is not None
        pods, units = divmod(best.weight, MANY)
        return Score(best.violations, best.priority if units else NO_PRIORITY, pods, units)


def _group(pod: Pod) -> str:
    link = pod.spec.scheduling_group
    return "" if link is None else f"{pod.namespace}/{link.pod_group_name}"


def _anti(pod: Pod) -> tuple[Any, ...]:
    side = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    return side.required_during_scheduling_ignored_during_execution if side else ()


def _ports(pod: Pod) -> set[tuple[str, int]]:
    return {(p.protocol or "TCP", p.host_port) for c in pod.spec.containers for p in c.ports if p.host_port}


def _must_be_known(pod: Pod) -> None:
    """Leave out what the program does not know."""
    near = pod.spec.affinity.pod_affinity if pod.spec.affinity else None
    spread = [t for t in pod.spec.topology_spread_constraints if t.when_unsatisfiable == "DoNotSchedule"]
    for reason, found in {
        "nominated pod": pod.status.nominated_node_name,
        "terminating pod": pod.metadata.deletion_timestamp,
        "required pod affinity": near and near.required_during_scheduling_ignored_during_execution,
        "anti-affinity beyond the host": [
            t for t in _anti(pod) if t.topology_key != HOSTNAME or t.namespace_selector
        ],
        "topology spread": spread and not pod.spec.node_name,
    }.items():
        if found:
            raise LeftOut(reason)


def _clash(one: Pod, other: Pod) -> bool:
    return bool(_ports(one) & _ports(other)) or any(
        seen.namespace in (term.namespaces or (owner.namespace,))
        and matches(term.label_selector, seen.metadata.labels)
        for owner, seen in ((one, other), (other, one))
        for term in _anti(owner)
    )


def _admits(node: Node, pod: Pod) -> bool:
    taints = [t for t in node.spec.taints if t.effect in ("NoSchedule", "NoExecute")]
    taints += [CORDON] if node.spec.unschedulable else []
    side = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = side.required_during_scheduling_ignored_during_execution if side else None
    labels = node.metadata.labels
    return (
        all(tolerates(pod.spec.tolerations, taint) for taint in taints)
        and pod.spec.node_selector.items() <= labels.items()
        and (required is None or node_selector_matches(required, labels, node.name))
    )


def read(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def table(results: dict[str, list[Compared]], invalid: Counter[str]) -> None:
    lines = {
        "optimal in every criterion": lambda p, o: p == o,
        "  by violations, priority, pods": lambda p, o: p[:3] == o[:3],
        "more violations than necessary": lambda p, o: p.violations > o.violations,
        "highest priority higher than necessary": lambda p, o: p.priority > o.priority,
        "more pods than the optimum": lambda p, o: p.pods > o.pods,
        "as many pods, more units": lambda p, o: p.pods == o.pods and p.units > o.units,
    }
    print(f"{'':42}" + "".join(f"{name:>20}" for name in results))
    for title, test in lines.items():
        cells = []
        for pairs in results.values():
            hits = sum(test(each.plan, each.optimum) for each in pairs)
            cells.append(f"{hits} ({hits / max(1, len(pairs)):.0%})")
        print(f"{title:42}" + "".join(f"{cell:>20}" for cell in cells))
    for field in ("violations", "pods", "units"):
        sums = [
            [sum(getattr(side, field) for side in sides) for sides in zip(*pairs, strict=True)] or [0, 0]
            for pairs in results.values()
        ]
        print(f"{field + ' in all: plan / optimum':42}" + "".join(f"{a} / {b}".rjust(20) for a, b in sums))
    print(f"{'invalid plans':42}" + "".join(f"{invalid[name]:>20}" for name in results))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    results: dict[str, list[Compared]] = {name: [] for name in ALGORITHMS}
    invalid: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    for row in read(options.file):
        if row["expect"]["outcome"] != "preempts" or options.only not in row["name"]:
            continue
        try:
            case = Case(row)
        except LeftOut as reason:
            left_out[str(reason)] += 1
            continue
        best: dict[int, Score] = {}
        for algorithm in ALGORITHMS:
            config = Configuration.load({"preemption": {"algorithm": algorithm}})
            answer = decide(load(row["objects"]), Reference.parse(row["submit"]), config, ticks(NOW))
            victims = {victim.pod for victim in answer.victims}
            if fault := case.fault(victims, answer.placements):
                invalid[algorithm] += 1
                print(f"{row['name']}: {algorithm}: {fault}", file=sys.stderr)
                continue
            count = len(answer.placements)
            best[count] = best.get(count) or case.optimum(count)
            results[algorithm].append(Compared(case.score(victims), best[count]))
    print(f"{sum(map(len, results.values()))} plans compared; cases left out: {dict(left_out)}\n")
    table(results, invalid)


if __name__ == "__main__":
    main()
