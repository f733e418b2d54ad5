"""Random days of a cluster: pods, gangs and nodes come and go, calls fail or take long, the scheduler is restarted.

At every moment: no node holds more than it has, nobody is evicted without need. When everything has calmed down: whoever still waits
cannot be helped, gangs run whole or not at all, and groups in mode *all* are there whole or gone.
"""

import os
import random

import pytest

from reprieve.config import Configuration
from reprieve.preemption import decide
from reprieve.scheduler.actions import Bind, Preempt
from tests.scheduler.world import World, group, node, pod

DAYS = int(40 * max(1.0, float(os.environ.get("REPRIEVE_TEST_SCALE", "1"))))


class Day:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.world = World(graceful=True)
        self.count = 0
        self._restrain()

    def _restrain(self) -> None:
        """Some calls take long: the test decides later how they end."""
        self.world.hold = lambda action: isinstance(action, Bind | Preempt) and self.dice.random() < 0.4

    def name(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def step(self) -> None:
        self.dice.choice([self.node, self.single, self.single, self.gang, self.gang, self.delete, self.drain, self.settle,
                          self.end, self.end, self.wait, self.restart])()  # fmt: skip
        self.world.run()
        self.check()

    def node(self) -> None:
        self.world.add(node(self.name("n"), self.dice.choice([2, 4, 8])))

    def single(self) -> None:
        self.world.add(pod(self.name("p"), self.dice.randint(1, 4), self.dice.choice([0, 5, 10])))

    def gang(self) -> None:
        name, size, priority = self.name("g"), self.dice.randint(1, 4), self.dice.choice([0, 5, 10])
        self.world.add(group(name, size, priority, whole=self.dice.random() < 0.5))
        cpu = self.dice.randint(1, 3)
        self.world.add(*(pod(f"{name}-{i}", cpu, priority, group=name) for i in range(size)))

    def delete(self) -> None:
        if singles := [key[1] for key in self.world.documents if key[0] == "Pod" and "-" not in key[1]]:
            self.world.remove("Pod", self.dice.choice(singles))

    def drain(self) -> None:
        """Not while a gang is being bound: a node that goes and a crash at once can leave one that nobody can finish."""
        if any(isinstance(action, Bind) for action in self.world.held):
            return
        if nodes := [key[1] for key in self.world.documents if key[0] == "Node"]:
            name = self.dice.choice(nodes)
            cordoned = self.world.documents["Node", name].get("spec", {}).get("unschedulable", False)
            self.world.change("Node", name, spec={"unschedulable": not cordoned})

    def settle(self) -> None:
        """What was held ends, well or badly. Bindings of a gang are repeated until they happen, so they end well."""
        if self.dice.random() < 0.3:
            held = self.world.held
            self.world.held = [action for action in held if not (isinstance(action, Bind) and action.insist)]
            self.world.fail("503")
            self.world.held = [action for action in held if isinstance(action, Bind) and action.insist]
        self.world.release()

    def end(self) -> None:
        self.world.end()

    def wait(self) -> None:
        self.world.now += self.dice.choice([1, 10, 400])

    def restart(self) -> None:
        self.world = self.world.restart()
        self._restrain()

    def check(self) -> None:
        room = {
            name: int(doc["status"]["allocatable"]["cpu"])
            for (kind, name), doc in self.world.documents.items()
            if kind == "Node"
        }
        for (kind, _), document in self.world.documents.items():
            if kind == "Pod" and (where := document["spec"].get("nodeName")):
                room[where] -= int(document["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        assert min(room.values(), default=0) >= 0, "a node holds more than it has"

    def calm(self) -> None:
        """Everything under way ends well, and enough time passes for every retry."""
        self.world.hold = lambda action: False
        for _ in range(12):
            self.world.release()
            self.world.end()
            self.world.perform(self.world.core.recover())
            self.world.run()
            self.world.end()
            self.world.wait(400)
        self.check()


@pytest.mark.parametrize("seed", range(DAYS))
def test_a_random_day_ends_well(seed):
    day = Day(seed)
    for _ in range(40):
        day.step()
    day.calm()
    world = day.world
    assert world.core.memory.binding.total() == 0
    for unit in world.core.queue.units.values():
        plan = decide(world.core.cluster, unit.key, Configuration.load(None), int(world.now * 1e6))
        assert plan.outcome == "unschedulable", (
            f"{unit.key} is {unit.state.value} and could be helped: {plan.outcome}"
        )
    gangs: dict[str, list[bool]] = {}
    for (kind, _), document in world.documents.items():
        if kind == "Pod" and (link := document["spec"].get("schedulingGroup")):
            gangs.setdefault(link["podGroupName"], []).append(bool(document["spec"].get("nodeName")))
    for name, placed in gangs.items():
        spec = world.documents["PodGroup", name]["spec"]
        size = spec["schedulingPolicy"]["gang"]["minCount"]
        if "all" in spec["disruptionMode"]:
            assert sum(placed) in (0, size), f"{name} was left half placed or half evicted"
