"""Quota arithmetic: the worked examples, saturation, and the incremental tree against its definition."""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects.decode import decode_all
from reprieve.quota.offline import load
from reprieve.quota.queue import quota_amount
from reprieve.quota.rules import Rules
from reprieve.quota.shares import share
from reprieve.quota.state import Quota
from reprieve.quota.tree import LOWEST, UNLIMITED, FlavorResource, add, subtract, times
from tests.builders import Document, kueue
from tests.quota.naive import naive_trees
from tests.reference.quota.tree import Node
from tests.scale import examples
from tests.strategies.quota import NOW, RESOURCES, trees, worlds

CPU = FlavorResource("default", "cpu")


def test_unlimited_stays_unlimited_whatever_is_taken_from_it() -> None:
    assert add(UNLIMITED, -5) == UNLIMITED
    assert subtract(UNLIMITED, 10**15) == UNLIMITED
    assert subtract(UNLIMITED, UNLIMITED) == 0
    assert subtract(5, UNLIMITED) == LOWEST


def test_sums_saturate_instead_of_wrapping() -> None:
    assert add(UNLIMITED - 1, 7) == UNLIMITED
    assert subtract(LOWEST + 1, 7) == LOWEST
    assert times(2**62, 4) == UNLIMITED


def test_more_cores_than_can_be_counted_are_unlimited() -> None:
    assert quota_amount("cpu", str(2**62)) == UNLIMITED
    assert quota_amount("memory", str(2**63)) == UNLIMITED
    assert quota_amount("cpu", "20") == 20_000


def two_queues(**lending: str) -> Quota:
    def quota(nominal: str, limit: str | None) -> list[dict[str, object]]:
        resource = {"name": "cpu", "nominalQuota": nominal, **({"lendingLimit": limit} if limit else {})}
        return [{"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [resource]}]}]

    objects = [kueue("ResourceFlavor", "default")]
    for name, nominal in (("a", "3"), ("b", "2")):
        spec = {"cohortName": "both", "resourceGroups": quota(nominal, lending.get(name))}
        objects.append(kueue("ClusterQueue", name, spec))
    return load(decode_all(objects), Rules(), NOW)


def test_a_lending_limit_keeps_the_rest_at_home() -> None:
    quota = two_queues(a="2", b="2")
    a, b = (quota.cache.queues[name].cell(CPU) for name in "ab")
    assert (a.local, b.local) == (1000, 0)
    assert (a.potential, b.potential) == (5000, 4000)
    a.add(2000)
    assert a.parent is not None
    assert a.parent.usage == 1000
    assert b.available() == 3000


def test_a_flat_cohort_has_height_one_and_an_empty_branch_adds_nothing() -> None:
    quota = two_queues()
    cell = quota.cache.queues["a"].cell(CPU)
    assert cell.lowest_fit(3000) == (0, True)
    assert cell.lowest_fit(5000) == (1, False)


@examples(40)
@given(world=trees(), data=st.data())
def test_incremental_usage_equals_usage_from_scratch(
    world: tuple[list[Document], int, list[str]], data: st.DataObject
) -> None:
    objects, queues, flavors = world
    quota = load(decode_all(objects), Rules(), NOW)
    twins = naive_trees(quota)
    held: list[tuple[str, FlavorResource, int]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        giving_back: bool = data.draw(st.booleans())
        if held and giving_back:
            name, key, amount = held.pop(data.draw(st.integers(0, len(held) - 1)))
            quota.cache.queues[name].cell(key).remove(amount)
            change = -amount
        else:
            name = f"cq{data.draw(st.integers(0, queues - 1))}"
            key = FlavorResource(data.draw(st.sampled_from(flavors)), data.draw(st.sampled_from(RESOURCES)))
            amount = change = data.draw(st.integers(1, 9000))
            held.append((name, key, amount))
            quota.cache.queues[name].cell(key).add(amount)
        own = twins[id(quota.cache.queues[name])].own_usage
        own[key] = own.get(key, 0) + change
        _assert_same(quota, twins)


def _assert_same(quota: Quota, twins: dict[int, Node]) -> None:
    for node in [*quota.cache.forest.cohorts.values(), *quota.cache.queues.values()]:
        twin = twins[id(node)]
        for key, cell in node.cells.items():
            fast = (cell.subtree, cell.local, cell.usage, cell.free(), cell.potential)
            naive = [twin.subtree(key), twin.local(key), twin.usage(key), twin.free(key), twin.potential(key)]
            assert fast == tuple(naive), (node.name, key)
        assert tuple(share(node)) == twin.share()


@examples(30)
@given(world=worlds(), data=st.data())
def test_moving_queues_and_cohorts_keeps_usage_right(world: list[Document], data: st.DataObject) -> None:
    """Every change of the tree leaves the same numbers as a tree that was built that way."""
    objects = list(world)
    quota = load(decode_all(objects), Rules(), NOW)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(
            st.sampled_from([i for i, o in enumerate(objects) if o["kind"] in ("ClusterQueue", "Cohort")])
        )
        changed = {**objects[index], "spec": dict(objects[index].get("spec", {}))}
        field = "cohortName" if changed["kind"] == "ClusterQueue" else "parentName"
        changed["spec"][field] = data.draw(st.sampled_from(["co0", "co1", "elsewhere"]))
        objects[index] = changed
        (view,) = decode_all([changed])
        if changed["kind"] == "ClusterQueue":
            quota.put_cluster_queue(view, NOW)  # type: ignore[arg-type]
        else:
            quota.cache.put_cohort(view)  # type: ignore[arg-type]
        quota.cache.refresh()
    fresh = load(decode_all(objects), Rules(), NOW)
    assert {n: q.active for n, q in quota.cache.queues.items()} == {
        n: q.active for n, q in fresh.cache.queues.items()
    }
    for name, node in quota.cache.queues.items():
        other = fresh.cache.queues[name]
        for key in node.cells.keys() | other.cells.keys():
            assert node.cell(key).free() == other.cell(key).free(), (name, key)
            assert node.cell(key).potential == other.cell(key).potential, (name, key)
