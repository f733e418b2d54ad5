"""Selectors of a query string that somebody made as expensive as 16 kB allow."""

import time
from collections.abc import Callable
from urllib.parse import quote

import pytest

from reprieve.server.errors import ApiError
from reprieve.server.label_selection import parse_labels
from reprieve.server.resources import builtin_resources
from reprieve.server.selection import Selection
from reprieve.server.storage import Record
from reprieve.server.storage.records import encode
from tests.server.wire import CONFIG_MAPS, PODS, config_map, connected
from tests.steps import LONGEST_SECONDS, counted_steps

[POD] = [each for each in builtin_resources() if each.storage_key == "pods"]
LABELS = {"app": "a", "tier": "7"}


def record(number: int) -> Record:
    document = {
        "metadata": {"name": f"p{number}", "namespace": "default", "labels": LABELS},
        "spec": {"nodeName": f"n{number}", "containers": [{"name": "c", "image": "i"}] * 10},
    }
    return Record("pods", "default", f"p{number}", number, encode(document), LABELS)


RECORDS = [record(number) for number in range(500)]


def effort(selection: Selection) -> float:
    """Seconds of the processor for all records, at best."""

    def once() -> float:
        start = time.thread_time()
        assert all(map(selection, RECORDS))
        return time.thread_time() - start

    return min(once() for _ in range(5))


@pytest.mark.parametrize(
    ("label", "field"),
    [
        (lambda n: f"!x{n}", None),
        (lambda n: f"app!=x{n}", None),
        (lambda n: f"app notin (x{n})", None),
        (lambda n: "app in (a,b)", None),
        (lambda n: "tier>6", None),
        (lambda n: "app", None),
        (None, lambda n: f"spec.nodeName!=x{n}"),
        (None, lambda n: "metadata.namespace=default"),
    ],
)
def test_a_thousand_terms_cost_as_much_as_one(
    label: Callable[[int], str] | None, field: Callable[[int], str] | None
) -> None:
    def selection(terms: int) -> Selection:
        labels = ",".join(map(label, range(terms))) if label else ""
        fields = ",".join(map(field, range(terms))) if field else ""
        return Selection(POD, labels, fields)

    assert effort(selection(1000)) < 10 * effort(selection(1))


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ("app=a,app=a", True),
        ("app=a,app=b", False),
        ("app in (a,b),app in (b,c)", False),
        ("app in (a,b),app notin (b)", True),
        ("app,!app", False),
        ("tier>6,tier<8,tier>5", True),
        ("tier>6,tier<7", False),
        ("tier>9223372036854775806", False),
        ("tier>-9223372036854775808", True),
        ("app>1", False),
        ("app,tier,zone", False),
    ],
)
def test_terms_about_one_label_hold_together(selector: str, chosen: bool) -> None:
    assert all(test(LABELS) for test in parse_labels(selector)) is chosen


@pytest.mark.parametrize("number", ["1" * 5000, "9223372036854775808", "\u0663", "", "-", "1.5", "1e3"])
def test_what_a_label_is_compared_with_is_an_integer(number: str) -> None:
    with pytest.raises(ApiError, match="is not an integer of 64 bits") as refused:
        parse_labels(f"tier>{number}")
    assert refused.value.code == 400
    assert len(refused.value.message) < 200


def test_several_terms_about_one_field_hold_together() -> None:
    chosen = [record(1), record(2), record(3)]

    def names(fields: str) -> list[str]:
        return [each.name for each in filter(Selection(POD, "", fields), chosen)]

    assert names("spec.nodeName!=n1,spec.nodeName!=n3") == ["p2"]
    assert names("spec.nodeName=n1,spec.nodeName=n2") == []
    assert names("metadata.name=p1,metadata.name=p1,spec.nodeName!=n2") == ["p1"]


async def test_a_number_without_end_is_a_bad_request() -> None:
    async with connected() as wire:
        refused = await wire.get(f"{PODS}?labelSelector={quote('tier<' + '1' * 5000)}")
        assert refused.status == 400
        assert refused.message.startswith('unable to parse requirement: value of "tier": "1111')


async def test_deleting_very_many_at_once_lets_others_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected() as wire:
        for number in range(5_000):
            await wire.server.api.create("configmaps", config_map(f"c{number}", {"go": "yes"}), "default")
        with counted_steps(monkeypatch) as steps:
            url = f"{wire.server.url}{CONFIG_MAPS}?labelSelector=go"
            async with wire.session.delete(url) as answer:
                assert answer.status == 200
                await answer.read()
        assert steps.longest < LONGEST_SECONDS, steps.what
        assert (await wire.get(f"{CONFIG_MAPS}?labelSelector=go")).names == []
