"""Whoever lists at any revision and watches from there ends up with what is there, whatever the selector."""

import asyncio

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects.meta import LabelSelector, LabelSelectorRequirement
from reprieve.objects.selectors import matches
from reprieve.server.registry import ResourceInfo
from reprieve.server.selection import Selection, format_selector, parse_labels
from reprieve.server.storage import DELETED, Store
from reprieve.server.watch import Hub
from tests.scale import examples

THINGS = ResourceInfo(group="", version="v1", kind="Thing", plural="things")
COLOURS = [None, "red", "blue"]

steps = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from([*COLOURS, "gone"])), max_size=40
)
labels = st.dictionaries(
    st.sampled_from(["a", "b", "c.d/e"]), st.sampled_from(["", "1", "2", "x-y"]), max_size=3
)
requirements = st.builds(
    lambda key, operator, values: LabelSelectorRequirement(
        key=key, operator=operator, values=tuple(values) if operator in ("In", "NotIn") else ()
    ),
    st.sampled_from(["a", "b", "c.d/e"]),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(st.sampled_from(["1", "2", "x-y"]), min_size=1, max_size=3),
)
selectors = st.builds(
    lambda equal, more: LabelSelector(match_labels=equal, match_expressions=tuple(more)),
    labels,
    st.lists(requirements, max_size=3),
)


def carry_out(store: Store, plan: list[tuple[str, str, str | None]]) -> list[int]:
    revisions = [store.revision]
    for namespace, name, colour in plan:
        document = {
            "apiVersion": "v1",
            "kind": "Thing",
            "metadata": {"name": name, "labels": {"colour": colour}},
        }
        if colour is None:
            del document["metadata"]["labels"]  # type: ignore[attr-defined]
        if colour != "gone":
            store.put("things", namespace, name, document)
        elif store.head("things", namespace, name) is not None:
            store.delete("things", namespace, name, document)
        revisions.append(store.revision)
    return revisions


@examples(60)
@given(
    plan=steps,
    start=st.integers(0, 40),
    selector=st.sampled_from(["", "colour=red", "colour!=red", "!colour", "colour in (red,blue)"]),
    namespace=st.sampled_from([None, "a"]),
)
def test_a_list_and_the_changes_after_it_make_the_next_list(
    plan: list[tuple[str, str, str | None]], start: int, selector: str, namespace: str | None
) -> None:
    async def main() -> None:
        store = Store()
        hub = Hub(store)
        revisions = carry_out(store, plan)
        revision = revisions[min(start, len(plan))]
        selection = Selection(THINGS, selector)
        collection = store.collection("things")
        view = {
            (r.namespace, r.name): r.raw
            for r in collection.scan(namespace, past=collection.past(revision))
            if selection(r)
        }
        watcher = hub.watch(THINGS, namespace, revision, selection, backlog=0)
        live = carry_out(
            store,
            [
                (ns, name, colour)
                for name, ns, colour in zip("xyxz", "abba", ["red", "gone", None, "blue"], strict=True)
            ],
        )
        seen = []
        while not watcher.idle:
            for event in await watcher.take(0):
                key = (event.record.namespace, event.record.name)
                assert (event.type == DELETED) <= (key in view)
                assert (event.type == "ADDED") == (key not in view)
                seen.append(event.revision)
                if event.type == DELETED:
                    del view[key]
                else:
                    view[key] = event.record.raw
        assert view == {(r.namespace, r.name): r.raw for r in collection.scan(namespace) if selection(r)}
        assert seen == sorted(set(seen))
        assert live[-1] == store.revision

    asyncio.run(main())


@given(selector=selectors, labels=labels)
def test_a_selector_means_the_same_as_an_object_and_in_a_query(
    selector: LabelSelector, labels: dict[str, str]
) -> None:
    tests = parse_labels(format_selector(msgspec.to_builtins(selector)))
    assert all(test(labels) for test in tests) == matches(selector, labels)
    assert all(test(labels or None) for test in tests) == matches(selector, labels)
