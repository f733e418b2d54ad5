"""Line by line or by events, the same values: and what a program writes is read line by line."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from reprieve.objects import format_yaml, parse_yaml
from reprieve.objects.yamlblocks import NotBlocks, read_blocks
from reprieve.objects.yamlevents import read_events
from tests.effort import in_proportion
from tests.scale import examples

PIECES = (
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    " ",
    ": ",
    ":",
    "- ",
    "a",
    "b: c",
    "#",
    " # c",
    "'",
    '"',
    "|\n",
    "|-\n",
    "|+\n",
    ">\n",
    "  ",
    "{a: 1}",
    "[1, 2]",
    "{}",
    "[]",
    "---\n",
    "...\n",
    "&x ",
    "*x",
    "<<: ",
    "? ",
    "\t",
    "x",
    "1",
    "key:",
    "key: value\n",
    "- item\n",
    "\\",
    "''",
    '\\"',
    ",",
    "!!str ",
    "k: >-\n    t\n",
    "k: |\n    t\n\n",
    "k: 'a\n   b'\n",
    'k: "a\\\n   b"\n',
    "k: a\n   b\n",
    "yes: 017\n",
    "\r\n",
    "\u2028",
    "é",
)
WORDS = st.sampled_from(
    [
        "a",
        "yes",
        "on",
        "~",
        "017",
        "1.5",
        "x y",
        "- a",
        "a: b",
        "a #c",
        " lead",
        "trail ",
        "",
        "it's",
        'say "x"',
        "line\nbreak",
        "two\n\nbreaks\n",
        "tab\tin",
        "{",
        "&a",
        "*a",
        "!t",
        "|",
        "?",
        "---",
        "...",
        "<<",
        ":",
        "a:",
        'k:{"type":"Ready"}',
        "f:spec",
        ".",
        "word " * 40,
        "a\\b",
        "\x85",
        "😀",
        "\n\nx",
        "x\n ",
        "  x\n y\n",
    ]
)
INTEGERS = st.integers(-(2**63), 2**64 - 1)
"""What Kubernetes reads as an integer; beyond 64 bits it reads a floating-point number, and so do we."""
SCALARS = WORDS | st.text(max_size=12) | INTEGERS | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=6), inner, max_size=4)
    ),
)


def by_lines(text: str) -> list[Any] | None:
    """The documents; None if the text is not of the simple kind."""
    try:
        value = read_blocks(text)
    except NotBlocks:
        return None
    return [] if value is None else [value]


def by_events(text: str) -> list[Any]:
    return [value for value in read_events(text) if value is not None]


def agree(text: str) -> None:
    found = by_lines(text)
    if found is not None:
        assert repr(found) == repr(by_events(text))


@examples(150)
@given(
    st.dictionaries(WORDS, VALUES, max_size=5) | st.lists(VALUES, max_size=4),
    st.sampled_from([20, 80, 1_000_000]),
    st.sampled_from([False, None, True]),
    st.sampled_from([None, None, "'", '"', "|", ">"]),
)
def test_what_a_program_wrote_is_the_same_both_ways(value: Any, width: int, flow: Any, style: Any) -> None:
    agree(
        yaml.dump(
            value,
            Dumper=yaml.CSafeDumper,
            width=width,
            default_flow_style=flow,
            default_style=style,
            allow_unicode=True,
        )
    )


@examples(400)
@example("|")  # nothing follows
@example("|\n  \n")
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_wild_text_is_the_same_both_ways_or_left_to_the_events(text: str) -> None:
    agree(text)


@examples(150)
@given(
    st.dictionaries(WORDS, VALUES, min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 4), st.sampled_from(PIECES)), max_size=3),
)
def test_damaged_text_is_the_same_both_ways_or_left_to_the_events(
    value: Any, damages: list[tuple[int, int, str]]
) -> None:
    text = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True)
    for place, removed, piece in damages:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + removed :]
    agree(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n- b: 1\n  c:\n  - d\n- e: {}\nf: []\n", {"a": [{"b": 1, "c": ["d"]}, {"e": {}}], "f": []}),
        ("a:\n  - b\n  - c\nd:\n", {"a": ["b", "c"], "d": None}),
        ("---\n# first\na: |\n  one\n\n   two\nb: |-\n  x\n", {"a": "one\n\n two\n", "b": "x"}),
        ("a: |+\n  x\n\nb: >-\n  folded\n  text\n", {"a": "x\n\n", "b": "folded text"}),
        ("a: 0/3 nodes\n  are available\nb: 1\n", {"a": "0/3 nodes are available", "b": 1}),
        ("a: 'it''s\n\n  two'\nb: \"x\\\n  y\\n\"\n", {"a": "it's\ntwo", "b": "xy\n"}),
        ("- a\n- |\n  text\n- 'q'\n- {x: 1}\n", ["a", "text\n", "q", {"x": 1}]),
        ('k:{"type":"Ready"}:\n  .: {}\n  f:x: {}\n', {'k:{"type":"Ready"}': {".": {}, "f:x": {}}}),
        ('"on": "a: b"\n\'x y\': yes\nno: "\\u00e9"\n', {"on": "a: b", "x y": True, "false": "é"}),
        ("a: -5\nb: -x\nc: ?x\nd: a#b\n", {"a": -5, "b": "-x", "c": "?x", "d": "a#b"}),
    ],
)
def test_what_kubectl_writes_is_read_line_by_line(text: str, expected: Any) -> None:
    assert by_lines(text) == [expected]
    assert by_events(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: b # c\n",
        "a: 1\na: 2\n",
        "\ta: 1\n",
        "? a\n: b\n",
        "a: !!str 5\n",
        "a: b: c\n",
        "<<: {a: 1}\n",
        "a: [1,\n 2]\n",
        "a: 1\r\nb: 2\r\n",
        "a:\n  b: 1\n c: 2\n",
        "a: 'open\n",
        "- - a\n",
        "text\n",
        "a: 1\n...\nb: 2\n",
        "a: 1\n--- x\n",
        "a: |2\n   x\n",
        "a: |\n  x",
    ],
)
def test_everything_else_is_left_to_the_events(text: str) -> None:
    assert by_lines(text) is None


@examples(150)
@given(VALUES)
def test_what_is_written_is_read_back_as_it_was(value: Any) -> None:
    """Also by Kubernetes, for which `y` and `1e3` without quotes are no strings."""
    text = format_yaml([{"key": value}, value])
    assert parse_yaml(text) == [{"key": value}, value]


def test_words_that_are_no_strings_to_kubernetes_are_written_in_quotes() -> None:
    assert (
        format_yaml([{"y": "n", "hash": "1e3", "time": "12:30"}]) == "'y': 'n'\nhash: '1e3'\ntime: '12:30'\n"
    )


def test_both_ways_refuse_what_is_nested_too_deeply() -> None:
    deep = "".join(f"{' ' * level}k:\n" for level in range(150))
    assert by_lines(deep) is None
    with pytest.raises(Exception, match="nested deeper than 100 levels"):
        by_events(deep)


def test_the_same_text_twice_does_not_share_what_can_change() -> None:
    first, second = read_blocks("- a: {}\n  b: [1]\n- a: {}\n  b: [1]\n")
    assert first == second
    assert first["a"] is not second["a"]
    assert first["b"] is not second["b"]


def pods(count: int) -> str:
    container = {"name": "main", "image": "registry.example/i:1", "resources": {"requests": {"cpu": "500m"}}}
    spec = {"containers": [container], "nodeName": "node-1", "priority": 5, "restartPolicy": "Never"}
    items = [
        {"metadata": {"name": f"p-{n}", "uid": f"{n:032x}", "labels": {"app": "a"}}, "spec": spec}
        for n in range(count)
    ]
    dumper = type("Dumper", (yaml.CSafeDumper,), {"ignore_aliases": lambda self, data: True})
    return str(yaml.dump({"kind": "PodList", "apiVersion": "v1", "items": items}, Dumper=dumper))


def test_a_dump_is_read_in_blocks_to_the_same_document() -> None:
    """How much faster than by events is what `bench/manifests.py` measures."""
    text = pods(800)
    assert read_blocks(text) == next(read_events(text))


@pytest.mark.parametrize("way", [lambda text: by_lines(text) or by_events(text), by_events])
@pytest.mark.parametrize(
    "line",
    [
        "k{n}: v\n",
        "k{n}: 190:20:30:15:10:59:59\n",
        "- {n}:59:59:59\n",
        "k{n}: &a{n} x\n",
        "k{n}: {{}}\n",
        "k{n}: ''\n",
    ],
)
def test_reading_is_work_in_proportion_to_the_text(way: Callable[[str], Any], line: str) -> None:
    def reading(lines: int) -> Callable[[], Any]:
        text = "".join(line.format(n=n) for n in range(lines))
        return lambda: way(text)

    in_proportion(reading, 200)
