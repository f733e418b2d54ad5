"""The tables that people read: whole names, one row for what belongs together, hours instead of shares."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import reprieve
from reprieve.cli import main
from reprieve.cli.layout import Row, Screen
from reprieve.cli.plan_tables import hours_text, render_comparison, render_plan
from tests.builders import Document, gang, node, pod
from tests.scale import examples

NOW = "2026-01-01T10:00:00Z"
GPU = "nvidia.com/gpu"


def gpu_pod(name: str, count: int, **more: Any) -> Document:
    built = pod(name, None, **more)
    built["spec"]["containers"][0]["resources"] = {"requests": {GPU: str(count)}}
    return built


def crowd(pods: int = 40) -> list[Document]:
    """One Job with many pods on as many nodes, and a gang that needs all of them."""
    nodes = [node(f"node-{n}", 2) for n in range(pods)]
    return [
        *nodes,
        *(pod(f"crunch-{n}", 2, 10, on=f"node-{n}", owner="crunch") for n in range(pods)),
        *gang(pods, 2, 100, name="train"),
    ]


def drawn(capsys: pytest.CaptureFixture[str], objects: list[Document], width: int | None, **how: Any) -> str:
    plan = reprieve.plan(objects, "PodGroup/default/train", now=NOW)
    render_plan(Screen(width), plan, **how)  # type: ignore[arg-type]
    return capsys.readouterr().out


def test_the_forty_pods_of_a_job_are_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    text = drawn(capsys, crowd(), 80)
    (row,) = [line for line in text.splitlines() if line.startswith("  Job/default/crunch")]
    assert row.split()[:3] == ["Job/default/crunch", "40", "10"]
    assert "Pod/default/crunch-0" not in text
    assert "default/crunch-0: if it stayed, node-0 would be 2 cpu short" in " ".join(text.split())
    assert "39 more likewise" in " ".join(text.split())


def test_every_row_is_there_with_all(capsys: pytest.CaptureFixture[str]) -> None:
    short, whole = drawn(capsys, crowd(), 80), drawn(capsys, crowd(), 80, everything=True)
    assert "and 28 more (--all shows them)" in short
    assert all(f"Pod/default/crunch-{n} " in whole for n in range(40))
    assert all(f"  node-{n} " in whole for n in range(40))
    assert "--all" not in whole


def test_all_is_an_option_of_plan_and_admit(tmp_path: Path) -> None:
    (tmp_path / "crowd.json").write_text(json.dumps({"kind": "List", "items": crowd()}))
    line = ["plan", "-f", str(tmp_path), "--for", "PodGroup/default/train"]
    assert "Pod/default/crunch-39" not in CliRunner().invoke(main, line).output
    assert "Pod/default/crunch-39" in CliRunner().invoke(main, [*line, "--all"]).output
    queues = Path(__file__).parents[2] / "examples/12-cohort-reclaim"
    assert CliRunner().invoke(main, ["admit", "-f", str(queues), "--all"]).exit_code == 1


def test_a_gang_that_goes_whole_is_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    low = gang(3, 2, 10, name="low", group={"mode": "all"})
    for number, member in enumerate(low[1:]):
        member["spec"]["nodeName"] = f"node-{number}"
        member["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    text = drawn(
        capsys, [*(node(f"node-{n}", 2) for n in range(3)), *low, *gang(3, 2, 100, name="train")], 80
    )
    (row,) = [line for line in text.splitlines() if line.startswith("  PodGroup/default/low")]
    assert row.split()[:3] == ["PodGroup/default/low", "3", "10"]


def test_the_cost_is_in_gpu_hours_and_pods(capsys: pytest.CaptureFixture[str]) -> None:
    objects = [
        node("n", 8, allocatable={GPU: "8"}),
        gpu_pod("low-0", 4, priority=1, on="n", start="2026-01-01T00:00:00Z"),
        gpu_pod(
            "low-1",
            4,
            priority=1,
            on="n",
            start="2026-01-01T00:00:00Z",
            annotations={"reprieve.dev/checkpointed-at": "2026-01-01T09:30:00Z"},
        ),
        gpu_pod("want", 8, priority=100),
    ]
    plan: Any = reprieve.plan(objects, "Pod/default/want", now=NOW)
    assert plan.lost_hours == {GPU: 42.0}
    render_plan(Screen(80), plan)
    text = capsys.readouterr().out
    assert "2 pods in 2 units make way, none with a priority above 1." in text
    assert "Work lost since their start or last checkpoint: 42 GPU-hours." in text
    assert "share" not in text


def test_without_gpus_the_cost_is_in_cpu_hours_and_unknown_starts_are_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    objects = [
        node("n", 2),
        pod("known", 1, 1, on="n", start="2026-01-01T09:00:00Z"),
        pod("unknown", 1, 1, on="n", status={"startTime": None}),
        pod("want", 2, 100),
    ]
    plan: Any = reprieve.plan(objects, "Pod/default/want", now=NOW)
    assert (plan.lost_hours, plan.without_start) == ({"cpu": 1.0}, 1)
    render_plan(Screen(None), plan)
    assert "1 cpu-hour; 1 of them does not say when it started." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        ({}, ""),
        ({"cpu": 0.04}, "0.04 cpu-hours"),
        ({"cpu": 12.0, GPU: 3.25}, "3.2 GPU-hours"),
        ({"google.com/tpu": 1234.5}, "1,234 tpu-hours"),
    ],
)
def test_hours_are_those_of_the_scarcest_thing(hours: dict[str, float], text: str) -> None:
    assert hours_text(hours) == text


def test_a_comparison_shows_what_differs_and_not_every_pod(capsys: pytest.CaptureFixture[str]) -> None:
    data = reprieve.compare(crowd(), "PodGroup/default/train", now=NOW)
    render_comparison(Screen(80), data)
    text = capsys.readouterr().out
    assert "The same with each: Job/default/crunch (40 pods)" in text
    assert "crunch-1" not in text
    assert len(text.splitlines()) < 20
    first = Path(__file__).parents[2] / "examples/01-first-plan"
    render_comparison(Screen(80), reprieve.compare(reprieve.read_documents(first), "PodGroup/ml/train"))
    lines = capsys.readouterr().out.splitlines()
    assert "Also with kubernetes and kep-5710: Pod/dev/notebook-4, Pod/dev/notebook-5" in lines
    assert "Also with minimal-cost: Pod/dev/notebook-2" in lines


names = st.text("abcdefghij-.0123456789", min_size=1, max_size=120)
rows = st.builds(
    lambda name, number, listed, note: Row((name, str(number)), listed, note),
    names,
    st.integers(0, 10_000),
    st.lists(names, max_size=6),
    st.sampled_from(["", "it is " * 30, "short"]),
)


@examples(150)
@given(st.lists(rows, min_size=1, max_size=5), st.integers(40, 200))
def test_no_name_is_broken_and_nothing_else_is_wider_than_the_screen(shown: list[Row], width: int) -> None:
    lines: list[str] = []

    class Kept(Screen):
        def line(self, *parts: str | tuple[str, str]) -> None:
            lines.append("".join(part if isinstance(part, str) else part[0] for part in parts))

    Kept(width).table(("unit", "pods"), shown, names="on")
    words = {word.strip(",") for line in lines for word in line.split()}
    for row in shown:
        assert row.cells[0] in words
        assert not row.names or row.names[0] in words
    longest = {row.cells[0] for row in shown} | {name for row in shown for name in row.names}
    for line in lines:
        assert len(line) <= width or any(name in line and len(name) + 6 > width - 10 for name in longest), (
            line
        )


def test_a_plan_fits_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for line in drawn(capsys, crowd(), 80).splitlines():
        assert len(line) <= 80


def test_in_a_pipe_sentences_stay_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    text = drawn(capsys, crowd(), None)
    assert "      default/crunch-0: if it stayed, node-0 would be 2 cpu short for default/train-0; " in text
    assert not any(
        a and b and b.startswith("      ") and a.startswith("      ") for a, b in pairwise(text.splitlines())
    )


def test_escape_sequences_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(80).table(("unit", "pods"), [Row(("evil\x1b[2J\x07name", "1"))])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "evil" in out
