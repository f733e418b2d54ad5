"""The fast path answers what the naive reference answers, for both algorithms, with every kind of
constraint.
"""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis.strategies import SearchStrategy

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.preemption import decide
from reprieve.whatif.pods import load
from tests.builders import Document
from tests.reference.core import plan as reference_plan
from tests.scale import examples
from tests.strategies.cluster import Scene, crowded_scenes, scenes

GATES = {
    "GenericWorkload": True,
    "GangScheduling": True,
    "WorkloadAwarePreemption": True,
    "PodGroupPreemptionPolicy": False,
}


def answer(documents: list[Document], target: str, algorithm: str) -> Document:
    config = Configuration.load({"preemption": {"algorithm": algorithm}, "featureGates": GATES})
    plan = decide(load(documents), Reference.parse(target), config, 0)
    return {
        "outcome": plan.outcome,
        "placements": plan.placements,
        "victims": sorted(victim.pod for victim in plan.victims),
        "pdbViolations": plan.pdb_violations,
    }


@pytest.mark.parametrize("scenery", [scenes, crowded_scenes])
@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_the_fast_path_agrees_with_the_naive_reference(
    algorithm: str, scenery: Callable[[], SearchStrategy[Scene]]
) -> None:
    @examples(400)
    @given(scenery())
    def agrees(scene: Scene) -> None:
        documents, target = scene
        assert answer(documents, target, algorithm) == reference_plan(documents, target, algorithm)

    agrees()
