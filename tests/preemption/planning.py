"""Plans over small clusters. The tests of this folder live in namespace `a`."""

from functools import partial

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.preemption import Plan, decide
from reprieve.whatif.pods import load
from tests import builders
from tests.builders import Document

node = partial(builders.node, memory=None, pods=20)
pod = partial(builders.pod, namespace="a")
pod_group = partial(builders.pod_group, namespace="a", mode="single")
gang = partial(builders.gang, namespace="a", priority=100)
budget = partial(builders.budget, namespace="a")


def plan(
    documents: list[Document], target: str, algorithm: str = "kep-5710", now: int = 0, **gates: bool
) -> Plan:
    config = Configuration.load({"preemption": {"algorithm": algorithm}, "featureGates": gates})
    return decide(load(documents), Reference.parse(target), config, now)


def victims(plan: Plan) -> list[str]:
    return [victim.pod.removeprefix("a/") for victim in plan.victims]
