"""Manifests as text: what is read, what is refused, and where the error is said to be."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from reprieve.objects import yamltext
from reprieve.objects.documents import read_documents, scan_documents
from reprieve.objects.errors import UnreadableInput


def values(text: str) -> list[Any]:
    return list(yamltext.documents(text))


def read(text: str | bytes) -> list[tuple[str, Any]]:
    data = text.encode() if isinstance(text, str) else text
    return [(source.number, source.document) for source in read_documents(io.BytesIO(data))]


def refused(text: str | bytes) -> str:
    with pytest.raises(UnreadableInput) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", 5), ("-5", -5), ("0x1F", 31), ("0o17", 15), ("017", 15), ("0b101", 5), ("1_000", 1000),
     ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("true", True), ("Yes", True), ("off", False),
     ("null", None), ("~", None), ("2026-08-23", "2026-08-23"),
     ("2026-08-23T10:00:00Z", "2026-08-23T10:00:00Z"), ("'5'", "5"), ('"true"', "true"), ("!!str 5", "5"),
     ("1.2.3", "1.2.3"), ("500m", "500m"), ("1:30", "1:30"),
     ("y", True), ("N", False), ("+.Inf", float("inf")),
     ("0X1f", 31), ("-0o17", -15), ("0_17", 15), ("18446744073709551615", 2**64 - 1),
     ("18446744073709551616", 2.0**64), ("-9223372036854775809", -(2.0**63)), ("1e400", "1e400"),
     ("190:20:30", "190:20:30"), ("20:30.15", "20:30.15"),
     ("-", "-"), ("+", "+"), ("0x", "0x"), ("09", 9.0), ("=", "=")],
)  # fmt: skip
def test_scalars_mean_what_they_mean_to_kubectl(text: str, expected: Any) -> None:
    assert values(f"a: {text}\n" if text != "-" else "a: '-'")[0]["a"] == expected


def test_anchors_aliases_and_merges_are_resolved() -> None:
    text = "base: &b {p: 1, q: 2}\nother: {<<: *b, q: 3}\nsame: *b\nmany: {<<: [*b, {r: 4}]}\n"
    assert values(text)[0] == {
        "base": {"p": 1, "q": 2},
        "other": {"p": 1, "q": 3},
        "same": {"p": 1, "q": 2},
        "many": {"p": 1, "q": 2, "r": 4},
    }


def test_an_own_key_wins_over_a_merged_one_even_when_it_comes_first() -> None:
    assert values("b: &b {x: 1}\nc: {x: 2, <<: *b}\n")[0]["c"] == {"x": 2}
    assert values("b: &b {x: 1}\nc: {<<: *b, x: 2}\n")[0]["c"] == {"x": 2}


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert values("b: &b {p: 1}\nc: {'<<': *b}\n")[0]["c"] == {"<<": {"p": 1}}


def test_keys_become_strings() -> None:
    assert values("{8080: a, true: b, null: c, 1.5: d, n: e, 1e3: f}")[0] == {
        "8080": "a",
        "true": "b",
        "null": "c",
        "1.5": "d",
        "false": "e",
        "1000": "f",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is there twice"),
        ("a: *nothing\n", "line 1: alias *nothing"),
        ("a: &x [*x]\n", "line 1: alias *x"),
        ("a: !!python/object:os.system ls\n", "line 1: the tag"),
        ("? [1, 2]\n: x\n", "a key must be a string"),
        ("a: {<<: 5}\n", "'<<' merges objects only"),
        ("a: [1\n", "line 2"),
        ("a: \x01\n", "control characters are not allowed"),
        ("\ta: 1\n", "line 1"),
    ],
)
def test_bad_yaml_is_refused_with_its_line(text: str, message: str) -> None:
    assert message in refused(text)


def test_a_yaml_bomb_is_refused_before_it_expands() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "aliases expand the document" in refused("\n".join(lines))


def test_deep_nesting_is_refused_in_yaml_and_json() -> None:
    assert "nested deeper than 100 levels" in refused("[" * 100_000)
    assert "nested deeper than 100 levels" in refused("- " * 5000 + "x")
    assert "nested" in refused('{"a":' * 100_000 + "1" + "}" * 100_000)


def test_an_error_in_one_document_does_not_hide_the_others() -> None:
    text = "a: 1\n---\nb: [\n---\nc: 3\n---\nd: 1\nd: 2\n"
    found = list(scan_documents(io.BytesIO(text.encode())))
    assert [each.where for each in found] == ["<stream>:1", "<stream>:2", "<stream>:3", "<stream>:4"]
    assert [isinstance(each, UnreadableInput) for each in found] == [False, True, False, True]
    assert "line 8" in str(found[3])


def test_documents_are_counted_and_empty_ones_are_not() -> None:
    assert read("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\nc: 3\n") == [
        ("1", {"a": 1}),
        ("2", {"b": 2}),
        ("3", {"c": 3}),
    ]
    assert read("%YAML 1.1\n---\na: 1\n") == [("1", {"a": 1})]
    assert read("# a comment first\n---\na: 1\n") == [("1", {"a": 1})]
    assert read("a: |\n  text\n  --- not a separator\nb: 1\n") == [
        ("1", {"a": "text\n--- not a separator\n", "b": 1})
    ]


def test_lists_are_taken_apart_and_typed_lists_lend_their_kind() -> None:
    inner = {"kind": "List", "apiVersion": "v1", "items": [{"kind": "Node", "apiVersion": "v1"}]}
    outer = {"kind": "List", "apiVersion": "v1", "items": [inner, {"kind": "Pod", "apiVersion": "v1"}]}
    assert [number for number, _ in read(json.dumps(outer))] == ["1.1.1", "1.2"]
    pods = {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}
    assert read(json.dumps(pods)) == [("1.1", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})]
    assert read("- {kind: A}\n- {kind: B}\n") == [("1.1", {"kind": "A"}), ("1.2", {"kind": "B"})]


def test_lists_inside_lists_have_an_end() -> None:
    document: dict[str, Any] = {"kind": "Pod"}
    for _ in range(12):
        document = {"kind": "List", "items": [document]}
    assert "lists inside lists" in refused(json.dumps(document))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no document"),
        (b"# only a comment\n", "holds no document"),
        (b"\xff\xfe\x00", "not UTF-8: byte 0xff at offset 0"),
        (b"a: caf\xe9\n", "not UTF-8: byte 0xe9 at offset 6"),
        (b"just text\n", "expected an object, got 'just text'"),
        (b"42\n", "expected an object, got 42"),
        (b'{"a": 1, "a": 2}', "the key 'a' is there twice"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_what_is_no_manifest_is_refused(data: bytes, message: str) -> None:
    assert message in refused(data)


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b"\xef\xbb\xbfa: 1\n") == [("1", {"a": 1})]


def test_yaml_in_braces_is_not_mistaken_for_json() -> None:
    assert read("{a: 1}\n---\n{b: 2}\n") == [("1", {"a": 1}), ("2", {"b": 2})]
    assert read('{"a": 1}\n---\n{"b": 2}\n') == [("1", {"a": 1}), ("2", {"b": 2})]


def test_a_file_over_the_limit_is_refused_without_reading_it(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    with large.open("wb") as stream:
        stream.truncate(1024 * 1024 * 1024 + 1)
    with pytest.raises(UnreadableInput, match=r"large.yaml: larger than 1024 MiB, .* leave out kinds"):
        list(read_documents(large))
    with pytest.raises(UnreadableInput, match="larger than 1 MiB"):
        list(read_documents(io.BytesIO(b" " * 2 * 1024 * 1024), max_bytes=1024 * 1024))


def test_a_folder_is_read_by_name_and_recursively(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("place: 2")
    (tmp_path / "a.json").write_text('{"place": 1}')
    (tmp_path / "notes.txt").write_text("not: read")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.yml").write_text("place: 3")
    assert [source.document["place"] for source in read_documents(tmp_path)] == [1, 2, 3]


def test_missing_files_and_empty_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"nowhere.yaml: cannot be read: No such file"):
        list(read_documents(tmp_path / "nowhere.yaml"))
    with pytest.raises(UnreadableInput, match=r"holds no .yaml"):
        list(read_documents(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "\n \n" * 50_000 + "x: 1\n---\ny: 2\n",
        "# c\n" * 100_000 + "---\nx: 1\n",
        "x: 1\n---\n" * 5_000,
        "---\n" * 50_000 + "x: 1\n",
        "".join(f"k{number}: &a{number} x\n" for number in range(20_000)),
    ],
)
@pytest.mark.timeout(30)
def test_reading_takes_time_in_proportion_to_the_text(text: str) -> None:
    assert read(text)


@pytest.mark.parametrize("between", ["\n", " \n\n ", "", "\n---\n"], ids=repr)
def test_objects_of_json_may_follow_each_other(between: str) -> None:
    """As `jq '.items[]'` writes them, and kubectl reads them."""
    text = between.join(json.dumps({"kind": "Pod", "metadata": {"name": name}}, indent=1) for name in "abc")
    assert [(number, each["metadata"]["name"]) for number, each in read(f"\n{text}\n")] == [
        ("1", "a"), ("2", "b"), ("3", "c"),
    ]  # fmt: skip


def test_what_is_wrong_in_a_stream_of_json_is_told() -> None:
    assert "the key 'a' is there twice" in refused('{"kind": "Pod"}\n{"a": 1, "a": 2}')
    deep = "[" * 200 + "]" * 200
    assert "nested deeper" in refused(f'{{"kind": "Pod"}}\n{{"a": {deep}}}')
    assert "line 2" in refused('{"kind": "Pod"}\n{"a": ')


@pytest.mark.parametrize(
    "text", ["kind: Pod\nname: {{ .Values.name }}", "{{- if .x }}\nkind: Pod\n{{- end }}"]
)
def test_a_template_that_was_not_rendered_is_recognised(text: str) -> None:
    assert refused(text).endswith("; {{ }} is of a template: render it first, as with helm template")


def test_directives_belong_to_the_document_they_stand_before() -> None:
    assert read("# a note\n%YAML 1.1\n---\na: 1\n---\nb: 2\n") == [("1", {"a": 1}), ("2", {"b": 2})]
    assert refused("%YAML 2.0\n---\na: 1\n"), "another YAML than the one that is read here"
