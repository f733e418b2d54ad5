"""Random days of a cluster: pods, gangs and nodes come and go, calls fail or take long, the scheduler is
restarted.

At every moment: no node holds more than it has. When everything has calmed down: whoever still waits cannot
be helped, gangs run whole or not at all or say what they lack, groups in mode *all* are there whole or gone,
and nobody who stays carries a mark.
"""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.preemption import decide
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Bind, Preempt, Release
from tests.builders import node
from tests.scale import examples
from tests.scheduler.world import World, pod, pod_group
from tests.strategies.choices import Choices


class Gang:
    """What was asked for. A controller keeps as many pods as it should have, if it has one."""

    def __init__(self, name: str, size: int, cpu: int, priority: int, owned: bool) -> None:
        self.name, self.size, self.cpu, self.priority, self.owned = name, size, cpu, priority, owned
        self.made = 0
        self.struck = False
        """It lost a pod together with its node."""


class Day:
    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.world = World(graceful=True)
        self.gangs: dict[str, Gang] = {}
        self.count = 0
        self._restrain()

    def _restrain(self) -> None:
        """Some calls take long: the test decides later how they end."""
        slow = Bind | Preempt | Release
        self.world.hold = lambda action: isinstance(action, slow) and self.choices.chance(40)

    def name(self, what: str) -> str:
        self.count += 1
        return f"{what}{self.count}"

    def step(self) -> None:
        self.choices.one_of(
            [
                self.node,
                self.single,
                self.single,
                self.gang,
                self.gang,
                self.delete,
                self.drain,
                self.lose,
                self.settle,
                self.end,
                self.end,
                self.wait,
                self.restart,
                self.control,
            ]
        )()
        self.world.run()
        self.check()

    def node(self) -> None:
        self.world.add(node(self.name("n"), self.choices.one_of([2, 4, 8])))

    def single(self) -> None:
        self.world.add(pod(self.name("p"), self.choices.number(1, 4), self.choices.one_of([0, 5, 10])))

    def gang(self) -> None:
        name, size, priority = self.name("g"), self.choices.number(1, 4), self.choices.one_of([0, 5, 10])
        self.world.add(pod_group(name, size, priority, mode="all" if self.choices.chance(50) else "single"))
        self.gangs[name] = gang = Gang(
            name, size, self.choices.number(1, 3), priority, self.choices.chance(60)
        )
        self.make(gang, size)

    def make(self, gang: Gang, count: int) -> None:
        owner = "j" if gang.owned else ""
        for _ in range(count):
            gang.made += 1
            self.world.add(
                pod(f"{gang.name}-{gang.made}", gang.cpu, gang.priority, group=gang.name, owner=owner)
            )

    def members(self, gang: Gang) -> list[dict]:
        return [
            document
            for (kind, name), document in self.world.documents.items()
            if kind == "Pod" and name.startswith(f"{gang.name}-")
        ]

    def control(self) -> None:
        """Controllers replace the pods they lost."""
        for gang in self.gangs.values():
            if gang.owned:
                self.make(gang, gang.size - len(self.members(gang)))

    def delete(self) -> None:
        if singles := [key[1] for key in self.world.documents if key[0] == "Pod" and "-" not in key[1]]:
            self.world.remove("Pod", self.choices.one_of(singles))

    def drain(self) -> None:
        if nodes := [key[1] for key in self.world.documents if key[0] == "Node"]:
            name = self.choices.one_of(nodes)
            cordoned = self.world.documents["Node", name].get("spec", {}).get("unschedulable", False)
            self.world.change("Node", name, spec={"unschedulable": not cordoned})

    def lose(self) -> None:
        """A node goes; its pods follow when they are collected (`end`)."""
        nodes = [key[1] for key in self.world.documents if key[0] == "Node"]
        if len(nodes) > 3:
            self.world.remove("Node", self.choices.one_of(nodes))

    def settle(self) -> None:
        """What was held ends, well or badly."""
        if self.choices.chance(30):
            self.world.fail("503")
        self.world.release()

    def end(self) -> None:
        self.world.end()
        for (kind, name), document in list(self.world.documents.items()):
            where = document["spec"].get("nodeName") if kind == "Pod" else None
            if where and ("Node", where) not in self.world.documents:
                self.world.remove("Pod", name)
                if (gang := self.gangs.get(name.partition("-")[0])) is not None:
                    gang.struck = True

    def wait(self) -> None:
        self.world.now += self.choices.one_of([1, 10, 400])

    def restart(self) -> None:
        self.world = self.world.restart()
        self._restrain()

    def check(self) -> None:
        free = {
            name: int(doc["status"]["allocatable"]["cpu"])
            for (kind, name), doc in self.world.documents.items()
            if kind == "Node"
        }
        for (kind, _), document in self.world.documents.items():
            if kind == "Pod" and (where := document["spec"].get("nodeName")) in free:
                free[where] -= int(document["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        assert min(free.values(), default=0) >= 0, "a node holds more than it has"

    def calm(self) -> None:
        """Everything under way ends well, and enough time passes for every retry."""
        self.world.hold = lambda action: False
        for _ in range(12):
            self.world.release()
            self.end()
            self.control()
            self.world.perform(self.world.core.recover(self.world.now))
            self.world.run()
            self.end()
            self.world.wait(400)
        self.check()

    def judge(self, gang: Gang) -> None:
        """Whole or not at all; or once complete; or bare, and then it says what it lacks."""
        placed = sum(1 for document in self.members(gang) if document["spec"].get("nodeName"))
        told = self.world.condition("PodGroup", gang.name, "PodGroupInitiallyScheduled")
        once_complete = told is not None and told["status"] == "True"
        if placed in (0, gang.size):
            return
        mode = self.world.documents["PodGroup", gang.name]["spec"]["disruptionMode"]
        if once_complete:
            assert "all" not in mode or gang.owned or gang.struck, f"{gang.name} was left half evicted"
            return
        assert not gang.owned, f"{gang.name} was left half placed: {placed} of {gang.size}"
        if len(self.members(gang)) >= gang.size:
            lack = self.world.condition("PodGroup", gang.name, "reprieve.dev/Incomplete")
            assert lack is not None
            assert lack["status"] == "True"
            assert lack["message"].startswith(sentences.lacks_pods(placed, gang.size))


@examples(40, least=40)
@given(st.data())
def test_a_random_day_ends_well(data: st.DataObject) -> None:
    choices = Choices(data.draw)
    day = Day(choices)
    for _ in range(choices.number(1, 80)):
        day.step()
    day.calm()
    world = day.world
    assert world.core.memory.binding.total() == 0
    for unit in world.core.queue.units.values():
        plan = decide(world.core.cluster, unit.ref, Configuration.load(None), int(world.now * 1e6))
        assert plan.outcome == "unschedulable", (
            f"{unit.ref} is {unit.state.value} and could be helped: {plan.outcome}"
        )
    for gang in day.gangs.values():
        day.judge(gang)
    for kind, name in world.documents:
        mark = world.condition("Pod", name, "DisruptionTarget") if kind == "Pod" else None
        assert mark is None or mark["status"] == "False", f"{name} stays and carries a mark"
