"""Plans of `minimal-cost` for the tests of this folder."""

from typing import Any

import reprieve
from tests.builders import Document
from tests.preemption_minimal.manifests import NOW

GANG = "PodGroup/default/gang"


def plan(objects: list[Document], for_: str = GANG, **preemption: Any) -> Any:
    config = {"preemption": {"algorithm": "minimal-cost", **preemption}}
    return reprieve.plan(objects, for_, config=config, now=NOW)


def victims(answer: Any) -> list[str]:
    return sorted(victim.pod.removeprefix("default/") for victim in answer.victims)
