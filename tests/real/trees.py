"""Trees of groups, where the API server has them."""

from typing import Any

from reprieve.kube import COMPOSITE_POD_GROUPS, POD_GROUPS, PODS
from tests import builders
from tests.builders import Document
from tests.real.cluster import Place

LEAVES, EACH = 2, 2
SIZE = LEAVES * EACH


async def tree(here: Place, name: str, priority: str = "low", *, mode: str = "", **pods: Any) -> None:
    """Two groups of two pods, one cpu each, below one root."""
    root = builders.composite(name, LEAVES, priority, mode=mode, namespace=here.name)
    leaves = [f"{name}-{leaf}" for leaf in "ab"]
    await here.create(COMPOSITE_POD_GROUPS, root)
    groups = [here.own_group(leaf, EACH, priority, **builders.below(name)) for leaf in leaves]
    await here.create(POD_GROUPS, *groups)
    members: list[Document] = [
        here.own_pod(f"{leaf}-{i}", 1, priority, group=leaf, **pods) for leaf in leaves for i in range(EACH)
    ]
    await here.create(PODS, *members)


async def clear(here: Place) -> None:
    """Before the place goes: its pods, then what they name."""
    await here.clear()
    await here.client.request("DELETE", COMPOSITE_POD_GROUPS.path(here.name))
