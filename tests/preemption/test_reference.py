"""The fast path answers what the naive reference answers, for both algorithms, with every kind of constraint."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from reprieve.config import Configuration
from reprieve.preemption import decide
from reprieve.whatif.pods import load
from tests.reference.core import plan as reference_plan
from tests.strategies.cluster import Document, scenes

SCALE = float(os.environ.get("REPRIEVE_TEST_SCALE", "1"))
GATES = {
    "GenericWorkload": True,
    "GangScheduling": True,
    "WorkloadAwarePreemption": True,
    "PodGroupPreemptionPolicy": False,
}


def answer(documents: list[Document], target: str, algorithm: str) -> Document:
    config = Configuration.load({"preemption": {"algorithm": algorithm}, "featureGates": GATES})
    plan = decide(load(documents), target, config, 0)
    return {
        "outcome": plan.outcome,
        "placements": plan.placements,
        "victims": sorted(victim.pod for victim in plan.victims),
        "pdbViolations": plan.pdb_violations,
    }


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_the_fast_path_agrees_with_the_naive_reference(algorithm: str) -> None:
    @settings(max_examples=int(600 * SCALE), deadline=None, suppress_health_check=list(HealthCheck))
    @given(scenes())
    def agrees(scene: tuple[list[Document], str]) -> None:
        documents, target = scene
        assert answer(documents, target, algorithm) == reference_plan(documents, target, algorithm)

    agrees()
