"""Small texts that were made to take long, and large ones that are honest: both are read in time.

Each of the small ones took a minute or more; now they take less than a second.
"""

import io
import json
from pathlib import Path

import pytest

from reprieve.objects import UnreadableInput, parse_yaml, scan_documents
from reprieve.objects.documents import read_documents
from reprieve.server.errors import ApiError
from reprieve.server.http.negotiation import Limits, read_yaml
from tests.effort import within

SIXTIES = ":".join(["190"] + ["59"] * 230_000)


@pytest.mark.parametrize(
    "value", [SIXTIES, f"{SIXTIES}.5", f"-{SIXTIES}", "9" * 700_000, "0x" + "f" * 700_000]
)
def test_a_number_of_700_kilobytes_is_text(value: str) -> None:
    assert within(5, lambda: parse_yaml(f"a: {value}\n")) == [{"a": value}]
    assert within(5, lambda: read_yaml(f"a: {value}\n".encode(), Limits())) == {"a": value}


def test_many_numbers_to_the_base_of_sixty_are_text() -> None:
    text = "".join(f"k{n}: 190:20:30:40:50\n" for n in range(25_000))
    (found,) = within(10, lambda: parse_yaml(text))
    assert set(found.values()) == {"190:20:30:40:50"}


@pytest.mark.parametrize("form", ["{%s}", "%s\n"])
def test_the_key_that_is_there_twice_is_found_among_75_000(form: str) -> None:
    entries = [f'"k{n}": 1' for n in [*range(75_000), 74_999]]
    text = form % (", ".join(entries) if form[0] == "{" else "\n".join(entries))
    (found,) = within(10, lambda: list(scan_documents(io.BytesIO(text.encode()))))
    assert isinstance(found, UnreadableInput)
    assert "the key 'k74999' is there twice" in str(found)


def test_a_million_labels_are_read() -> None:
    labels = {f"k{n}": "v" for n in range(1_000_000)}
    text = "labels:\n" + "".join(f"  {key}: v\n" for key in labels)
    assert parse_yaml(text) == [{"labels": labels}]  # what is quadratic does not end today
    (source,) = within(30, lambda: list(read_documents(io.BytesIO(json.dumps({"labels": labels}).encode()))))
    assert source.document == {"labels": labels}


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "- " * 50_000,
        "{a: " * 50_000,
        "".join(f"{' ' * n}k:\n" for n in range(400)),
        "a: " + "[" * 101,
    ],
)
def test_deep_nesting_ends_with_a_sentence(text: str) -> None:
    with pytest.raises(UnreadableInput, match="nested deeper than 100 levels"):
        within(10, lambda: parse_yaml(text))


def test_aliases_do_not_nest_deeper_either() -> None:
    lines = ["- &a0 [x]", *(f"- &a{n} [*a{n - 1}]" for n in range(1, 200))]
    with pytest.raises(UnreadableInput, match="line 100: nested deeper than 100 levels"):
        parse_yaml("\n".join(lines))
    assert len(parse_yaml("\n".join(lines[:99]))[0]) == 99


@pytest.mark.parametrize("depth", [100, 101, 500, 940, 100_000])
def test_json_has_the_same_limit(depth: int) -> None:
    """Beyond it something further on would have to recurse."""
    text = '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"
    (found,) = scan_documents(io.BytesIO(text.encode()))
    assert isinstance(found, UnreadableInput) == (depth > 100)
    if isinstance(found, UnreadableInput):
        assert found.message == "nested deeper than 100 levels"


def test_a_server_takes_yaml_as_kubernetes_does_and_no_aliases() -> None:
    assert read_yaml(b"a: 017\nb: on\nc: 1:30\nd: 2026-01-01\n", Limits()) == {
        "a": 15,
        "b": True,
        "c": "1:30",
        "d": "2026-01-01",
    }
    for text, message in (
        (b"a: &x 1\nb: *x\n", "line 2: aliases are not accepted here"),
        (b"a: 1\na: 2\n", 'line 2: key "a" already set in map'),
        (b"a: 1\n---\nb: 2\n", "more than one document"),
        (b"a: \xff\n", "not UTF-8"),
        (b"[" * 50_000, "nested deeper than 100 levels"),
        (b"a: " + b"x" * 900_000, "a quarter of the size"),
        (b"[" + b"1," * 250_000 + b"]", "more than 200000 values"),
    ):
        with pytest.raises(ApiError, match=message):
            within(10, lambda text=text: read_yaml(text, Limits()))  # type: ignore[misc]


def test_a_file_of_more_than_32_mebibytes_is_read_and_says_how_far_it_is(tmp_path: Path) -> None:
    """A cluster of 500 nodes is 39 MB."""
    item = (
        "- kind: Pod\n  apiVersion: v1\n  metadata:\n    name: p\n    annotations:\n      text: "
        + "x" * 900
        + "\n"
    )
    count = 34 * 1024 * 1024 // len(item) + 1
    path = tmp_path / "dump.yaml"
    path.write_text("apiVersion: v1\nkind: List\nitems:\n" + item * count)
    heard: list[tuple[str, int, int]] = []
    found = sum(1 for _ in read_documents(path, progress=lambda *state: heard.append(state)))
    assert found == count
    size = path.stat().st_size
    assert {(file, total) for file, _, total in heard} == {(str(path), size)}
    done = [read for _, read, _ in heard]
    assert done == sorted(done)
    assert len(done) > 3
    assert done[-1] == size
