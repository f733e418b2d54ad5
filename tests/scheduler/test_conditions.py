"""Whatever happens, and whatever fails: soon after, every pod that waits says why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reprieve.objects import Reference
from reprieve.scheduler.actions import Bind, Preempt, Release
from tests.builders import Document, node
from tests.scale import scaled
from tests.scheduler.world import World, pod, pod_group

SOON = 2.0
GATES = [{"name": "example.com/wait"}]


@dataclass(frozen=True)
class Step:
    """One thing that happens; `number` chooses among what is there."""

    what: str
    number: int
    size: int
    flag: bool


STEPS = st.builds(
    Step,
    what=st.sampled_from(
        [
            "node", "pod", "pod", "gang", "gang", "group", "member", "end", "delete", "evicted",
            "lose node", "hold", "let go", "fail", "wait", "restart", "ungate", "quota",
        ]
    ),
    number=st.integers(0, 7),
    size=st.integers(1, 3),
    flag=st.booleans(),
)  # fmt: skip


class Days:
    def __init__(self) -> None:
        self.world = World(node("n0", 2), graceful=True)
        self.made = 0

    def step(self, step: Step) -> None:
        getattr(self, f"_{step.what.replace(' ', '_')}")(step)
        self.world.run()

    def _name(self, what: str) -> str:
        self.made += 1
        return f"{what}{self.made}"

    def _choose(self, kind: str, number: int, fits: Callable[[Document], Any] = bool) -> str:
        names = sorted(key[1] for key, each in self.world.documents.items() if key[0] == kind and fits(each))
        return names[number % len(names)] if names else ""

    def _node(self, step: Step) -> None:
        self.world.add(node(self._name("n"), step.size))

    def _pod(self, step: Step) -> None:
        gates: Document = {"schedulingGates": GATES} if step.flag and step.number == 0 else {}
        self.world.add(pod(self._name("p"), step.size, step.number % 3, **gates))

    def _gang(self, step: Step) -> None:
        """Sometimes its group comes later, sometimes pods of it are missing."""
        name, priority = self._name("g"), step.number % 3
        if step.number != 7:
            self.world.add(pod_group(name, step.size, priority, mode="all" if step.flag else "single"))
        for index in range(step.size - (step.number == 6)):
            self.world.add(pod(f"{name}-{index}", 1, priority, group=name, owner="j"))

    def _group(self, step: Step) -> None:
        """A group that pods name and nobody made."""
        named = self._choose("Pod", step.number, lambda each: each["spec"].get("schedulingGroup"))
        if named and ("PodGroup", named.partition("-")[0]) not in self.world.documents:
            self.world.add(pod_group(named.partition("-")[0], step.size, mode="single"))

    def _member(self, step: Step) -> None:
        if name := self._choose("PodGroup", step.number):
            priority = self.world.documents["PodGroup", name]["spec"].get("priority", 0)
            self.world.add(pod(f"{name}-x{self._name('')}", 1, priority, group=name, owner="j"))

    def _end(self, step: Step) -> None:
        if name := self._choose("Pod", step.number, lambda each: each["spec"].get("nodeName")):
            self.world.change("Pod", name, status={"phase": "Succeeded" if step.flag else "Failed"})

    def _delete(self, step: Step) -> None:
        if name := self._choose("Pod", step.number):
            self.world.remove("Pod", name)

    def _evicted(self, _: Step) -> None:
        self.world.end()

    def _lose_node(self, step: Step) -> None:
        if name := self._choose("Node", step.number):
            self.world.remove("Node", name)

    def _hold(self, step: Step) -> None:
        kind = (Bind, Preempt, Release)[step.size - 1]
        self.world.hold = lambda action: isinstance(action, kind)

    def _let_go(self, _: Step) -> None:
        self.world.hold = lambda action: False
        self.world.release()

    def _fail(self, _: Step) -> None:
        self.world.hold = lambda action: False
        self.world.fail("503")

    def _wait(self, step: Step) -> None:
        self.world.now += (1, 20, 400)[step.size - 1]
        self.world.perform(self.world.core.recover(self.world.now))

    def _restart(self, _: Step) -> None:
        quota = self.world.core.memory.holds.on
        self.world = self.world.restart()
        if quota:
            self.world.core.count_quota((), self.world.now)

    def _ungate(self, step: Step) -> None:
        if name := self._choose("Pod", step.number, lambda each: each["spec"].get("schedulingGates")):
            self.world.change("Pod", name, spec={"schedulingGates": []})

    def _quota(self, _: Step) -> None:
        """From now on pods of Jobs wait until their Job is seen, which never happens here."""
        self.world.core.count_quota((), self.world.now)

    def silent(self) -> list[str]:
        """Pods that wait without a word, except those that are being bound or preempt right now."""
        return [
            name
            for (kind, name), each in self.world.documents.items()
            if kind == "Pod"
            and not each["spec"].get("nodeName")
            and not each["spec"].get("schedulingGates")
            and not each["metadata"].get("deletionTimestamp")
            and self._state(name, each) != "inflight"
            and not (self.world.condition("Pod", name, "PodScheduled") or {}).get("message")
        ]

    def _state(self, name: str, document: Document) -> str:
        group = document["spec"].get("schedulingGroup", {}).get("podGroupName")
        unit = Reference("PodGroup", "ns", group) if group else Reference("Pod", "ns", name)
        if self.world.core.memory.binding.get(unit):
            return "inflight"
        return self.world.state(str(unit))


@settings(max_examples=scaled(300), deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=25))
def test_no_pod_waits_without_a_condition_that_says_why(steps: list[Step]) -> None:
    days = Days()
    for step in steps:
        days.step(step)
        days.world.wait(SOON)
        assert days.silent() == []
