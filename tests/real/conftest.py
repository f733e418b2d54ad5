"""One control plane for all tests of this folder."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.real_cluster import binaries
from tools.real_cluster.control_plane import ControlPlane

from tests.real.cluster import install


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    if missing := [*binaries.absent(), *binaries.absent_tools()]:
        pytest.skip(f"no {', '.join(missing)}: {binaries.HOW_TO_GET_THEM}")
    with ControlPlane(tmp_path_factory.mktemp("plane")) as running:
        yield running


@pytest.fixture(scope="module")
def account(plane: ControlPlane) -> Path:
    """The kubeconfig of the service account that `manifests deploy` gives its rights."""
    return install(plane)


@pytest.fixture
def dice() -> random.Random:
    """For the moments at which real processes are killed: a run cannot be replayed, its plan can."""
    seed = int(os.environ.get("REPRIEVE_TEST_SEED", random.randrange(10**6)))
    print(f"REPRIEVE_TEST_SEED={seed}")
    return random.Random(seed)
