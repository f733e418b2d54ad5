"""Numbers of classes are used again: tables by class follow."""

import pytest

from reprieve.cluster import Cluster
from reprieve.cluster.classes import MAX_IDLE
from reprieve.objects import Pod
from reprieve.placement.counting import class_table, rare_classes
from tests.builders import pod, view


def emptied() -> Cluster:
    """Of more pods, each of a class of its own, than idle classes are kept for."""
    cluster = Cluster()
    names = [f"p{number}" for number in range(MAX_IDLE + 2)]
    for name in names:
        cluster.set(view(pod(name, labels={"app": name})))
    for name in names:
        cluster.remove(Pod, f"default/{name}")
    return cluster


@pytest.mark.parametrize("table", [class_table, rare_classes])
def test_a_class_with_the_number_of_another_is_judged_anew(table) -> None:
    """A table kept the answer of the class before: pods of ended jobs counted for those of new ones."""
    cluster = emptied()

    def is_new(cls) -> bool:
        return cls.labels.get("app") == "new"

    assert table(cluster, "key", is_new).sum() == 0
    before = len(cluster.classes.all)
    cluster.set(view(pod("q", labels={"app": "new"})))
    assert len(cluster.classes.all) == before, "a number is used again"
    found = table(cluster, "key", is_new)
    assert found.sum() == found[cluster.class_of(cluster.pods.row_of["default/q"]).id] == 1
    cluster.set(view(pod("r", labels={"app": "other"})))
    assert table(cluster, "key", is_new).sum() == 1
