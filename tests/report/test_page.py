"""One file that loads nothing, says what it is told as text, and is the same each time."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from reprieve.report import page
from reprieve.report.page import _json
from tests.dashboard.test_contrast import contrast
from tests.report.studies import EVIL, small, study_of
from tests.simulate.runs import gpu_nodes, one, queue, queues


@pytest.fixture(scope="module")
def text() -> str:
    return page(small())


class Reader(HTMLParser):
    """Elements with their attributes, and the text of those that hold some."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, name: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def script_of(text: str) -> str:
    return text.rsplit("<script>", 1)[1].split("</script>", 1)[0]


def style_of(text: str) -> str:
    return text.split("<style>", 1)[1].split("</style>", 1)[0]


def data_of(text: str) -> Any:
    return json.loads(text.split('<script type="application/json" id="data">', 1)[1].split("</script>", 1)[0])


def test_every_part_is_there_and_every_element_is_closed(text: str):
    found = Reader(text)
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"verdict", "time", "waiting", "flow", "sizes", "nodes", "cases"} <= set(ids)
    links = [each["href"] for each in found.of("a")]
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    for _, attributes in found.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name) is None or attributes[name] in ids
    assert all("aria-label" in each or "aria-hidden" in each for each in found.of("svg"))


def test_names_of_others_are_text(text: str):
    assert EVIL not in text
    found = Reader(text)
    assert len(found.of("script")) == 2
    assert any(EVIL in each for each in found.texts)
    assert any("<b>product</b>" in each for each in found.texts)
    assert "<" not in _json({"name": "</script><script>alert(1)</script><!--"})


def test_nothing_is_loaded_and_nothing_may_be(text: str):
    found = Reader(text)
    for tag, attributes in found.elements:
        assert not attributes.keys() & {"src", "srcset", "data", "poster", "action", "style"}, tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert found.of("link") == [] == found.of("img")
    style = style_of(text)
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = [each["content"] for each in found.of("meta") if "http-equiv" in each]
    rules = {name: rest for name, _, rest in (rule.strip().partition(" ") for rule in policy.split(";"))}
    assert rules["default-src"] == "'none'"
    for rule, content in (("script-src", script_of(text)), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    addresses = set(re.findall(r"https?://[^\s\"'`)<]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_the_same_study_gives_the_same_bytes(text: str):
    small.cache_clear()
    assert page(small()) == text


def test_the_nodes_can_be_read_back(text: str):
    gantt = data_of(text)["gantt"]
    names = json.loads(zlib.decompress(base64.b64decode(gantt["jobs"]["names"])))
    assert names == [job.name for job in small().jobs]
    packed, result = gantt["runs"][0], small().runs[0].result
    data = zlib.decompress(base64.b64decode(packed["data"]))
    count = packed["stretches"]
    job, begin, length, by = (np.frombuffer(data, "<u4", count, 4 * count * place) for place in range(4))
    assert job.tolist() == [each.job for each in result.stretches]
    assert begin.tolist() == [each.start // 1000 for each in result.stretches]
    assert (begin + length).tolist() == [each.end // 1000 for each in result.stretches]
    assert (by.astype(int) - 1).tolist() == [each.by for each in result.stretches]


def test_without_nodes_there_is_no_picture_of_them():
    study = study_of([one("a", queue="q"), one("b", queue="q")], queues(queue("q", 8)), ("kep-5710",))
    assert data_of(page(study))["gantt"] is None


def test_a_run_in_which_nothing_happened_is_reported_too():
    study = study_of([one("huge", gpus=9)], gpu_nodes(1), ("kubernetes",))
    text = page(study)
    assert Reader(text).open == []
    assert "No job lost any work." in text
    assert "Nobody had to make way." in text


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_text_and_lines_have_enough_contrast(theme: str, text: str):
    section = text.split(theme)[1].split("}")[0]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", section))
    for ground in ("paper", "sheet"):
        for ink in ("ink", "ink-2", "accent", "good", "bad", "careful", *(f"p{n}" for n in range(8))):
            assert contrast(colours[ink], colours[ground]) >= 4.5, f"--{ink} on --{ground}"
