"""Pictures for papers: all of them, the same bytes each time, or how to get what they need."""

import re

import msgspec
import pytest

from reprieve.objects import ReprieveError
from reprieve.report import plots, require_plots, write_plots
from tests.report.studies import small, study_of
from tests.simulate.runs import gpu_nodes, one

NAMES = {
    f"{name}.{kind}"
    for name in ("use", "queue", "waiting", "flow", "losses", "nodes")
    for kind in ("svg", "png")
}


def test_the_same_study_gives_the_same_pictures(tmp_path):
    first, second = (write_plots(small(), tmp_path / name) for name in ("first", "second"))
    assert {path.name for path in first} == NAMES
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    for path in first:
        if path.suffix == ".svg":
            assert not re.search(r"<dc:date>|<dc:creator>", path.read_text()), path


def test_no_formula_is_left_in_a_picture(tmp_path):
    """The texts of a picture stand in it as comments, each beside its outlines."""
    for path in write_plots(small(), tmp_path):
        if path.suffix == ".svg":
            assert "mathdefault" not in path.read_text(), path.name
    assert "<!-- 1 s -->" in (tmp_path / "waiting.svg").read_text()


def test_a_picture_without_anything_to_show_is_left_out(tmp_path):
    study = study_of([one("a")], gpu_nodes(1), ("kubernetes",))
    assert "flow.svg" not in {path.name for path in write_plots(study, tmp_path)}


def test_what_is_missing_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(ReprieveError, match=r"pip install 'reprieve\[plots\]'"):
        require_plots()


def test_a_folder_that_cannot_be_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReprieveError, match="file"):
        write_plots(small(), tmp_path / "file" / "folder")


def test_the_name_of_a_class_is_text_and_no_formula(tmp_path):
    """Classes are named by whoever wrote the manifests; what is between dollars is a formula elsewhere."""
    study = study_of([msgspec.structs.replace(one("a"), klass=r"$\frac{$")], gpu_nodes(1), ("kubernetes",))
    assert write_plots(study, tmp_path)


def test_of_many_classes_the_most_important_are_drawn(tmp_path):
    """Three hundred beside each other could not be read, and drawing them took longer than an hour."""
    # At first each preempts the one before it, afterwards they come one by one.
    arrivals = [*range(20), *range(100_000, 28_100_000, 100_000)]
    jobs = [
        msgspec.structs.replace(one(f"job-{rank}", submit=arrival, gpus=8), klass=f"c{rank}", priority=rank)
        for rank, arrival in enumerate(arrivals)
    ]
    write_plots(study_of(jobs, gpu_nodes(1), ("kubernetes",)), tmp_path)
    waiting, nodes, flow = ((tmp_path / f"{name}.svg").read_text() for name in ("waiting", "nodes", "flow"))
    assert "<!-- the most important 5 of 300 classes -->" in waiting
    assert waiting.count("<!-- class c") == 5
    assert "<!-- class c299 -->" in nodes
    assert "<!-- others -->" in nodes
    assert "(classes, 12 of 19)" in flow
