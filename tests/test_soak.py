"""The soak makes the load that it says, its plots can be read, and it leaves nothing running."""

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.soak.load import GANG, JOB, rate_at, second
from tools.soak.plot import chart

from reprieve.kube import JOBS, POD_GROUPS, PODS
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("rate", [30, 50, 200])
def test_a_second_holds_as_many_pods_as_asked_for(rate: int) -> None:
    made = second(7, rate, random.Random(1))
    pods = sum(resource is PODS for resource, _ in made)
    gangs = [document["metadata"]["name"] for resource, document in made if resource is POD_GROUPS]
    assert pods + JOB * sum(resource is JOBS for resource, _ in made) == rate
    members = [document["spec"].get("schedulingGroup") for _, document in made]
    assert all(members.count({"podGroupName": gang}) == GANG for gang in gangs)
    names = [document["metadata"]["name"] for _, document in made]
    assert len(set(names)) == len(names)


def test_the_rate_is_kept_in_the_mean_of_every_minute() -> None:
    rates = [rate_at(number, 50) for number in range(120)]
    assert set(rates) == {40, 80}
    assert sum(rates[:60]) == sum(rates[60:]) == 60 * 50


values = st.lists(st.floats(0, 1e6, allow_nan=False), min_size=1, max_size=20)


@given(values)
def test_every_point_of_a_plot_lies_inside_it(line: list[float]) -> None:
    minutes = [float(each) for each in range(len(line))]
    drawn = ElementTree.fromstring(
        chart("Memory", "MiB", minutes, {"server": line, "half": [v / 2 for v in line]})
    )
    lines = [each.get("points", "") for each in drawn.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 2
    for x, y in (point.split(",") for each in lines for point in each.split()):
        assert 0 <= float(x) <= 640
        assert 0 <= float(y) <= 220


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_soak_that_is_told_to_end_stops_its_server_and_controllers() -> None:
    command = [sys.executable, "-m", "tools.soak", "--minutes", "5", "--rate", "5"]
    soak = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert soak.stdout is not None
    try:
        assert soak.stdout.readline().startswith("minute")
        started = children(soak.pid)
        assert len(started) == 2
        soak.terminate()
        assert soak.wait(PATIENCE) == 128 + signal.SIGTERM
        assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
    finally:
        with suppress(ProcessLookupError):
            os.killpg(soak.pid, signal.SIGKILL)  # whoever is left, all of them in its session
        soak.stdout.close()
