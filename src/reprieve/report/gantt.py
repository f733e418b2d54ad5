"""Nodes over time as compact columns: who held which part of which node from when to when.

The page draws only what is visible, straight from these arrays. They are little-endian, packed one behind the
other, deflated and in base64; `static/gantt.js` reads them in the same order.
"""

import base64
import heapq
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve.report.columns import Columns
from reprieve.report.lanes import Lanes, Piece
from reprieve.report.study import Study

HEIGHT = 240
"""Steps of a node's height: divisible by the numbers of GPUs that nodes have."""
MOST = 400_000
"""Bars of one run; beyond it only the first nodes are drawn, and the page says so."""
FINE, COARSE = 0.001, 1.0
"""Seconds in a step of time, below two days and above."""
LONG = 2 * 86400
WHY = ("ended", "preempted", "quota", "node", "drained", "cut")
Bar = tuple[int, int, int]
"""A stretch, and from where to where on its node."""


def gantt(study: Study) -> dict[str, Any]:
    """Everything that the page needs, ready for JSON."""
    step = FINE if study.end < LONG else COARSE
    bars = [node_bars(run.columns, study.nodes) for run in study.runs]
    nodes = list(study.nodes)
    shown = min(_fitting(each) for each in bars) if bars else 0
    columns = study.runs[0].columns
    return {
        "nodes": nodes[:shown],
        "allNodes": len(nodes),
        "height": HEIGHT,
        "step": step,
        "why": WHY,
        "jobs": {
            "count": len(study.jobs),
            "names": _text([job.name for job in study.jobs]),
            "queues": sorted({job.queue for job in study.jobs}),
            "data": _packed(*_job_columns(study, columns, step)),
        },
        "runs": [_run(run.columns, each[:shown], step) for run, each in zip(study.runs, bars, strict=True)],
        "undrawn": int(((columns.size == 0) & ~columns.left_out).sum()),
    }


def _fitting(bars: Sequence[Sequence[Bar]]) -> int:
    """How many nodes can be drawn."""
    total = np.cumsum([len(each) for each in bars])
    return int(np.searchsorted(total, MOST, side="right"))


def node_bars(columns: Columns, nodes: dict[str, int]) -> list[list[Bar]]:
    """For each node its bars in the order of their start."""
    held: dict[str, list[tuple[float, float, int, int]]] = {name: [] for name in nodes}
    begin, over, per_pod = columns.begin.tolist(), columns.over.tolist(), columns.per_pod.tolist()
    for index, stretch in enumerate(columns.result.stretches):
        size = per_pod[stretch.job]
        if size and over[index] > begin[index]:
            for name, pods in Counter(stretch.nodes).items():
                held[name].append((begin[index], over[index], index, round(1000 * size * pods)))
    return [_stacked(sorted(each), nodes[name]) for name, each in held.items()]


def _stacked(held: list[tuple[float, float, int, int]], capacity: int) -> list[Bar]:
    lanes = Lanes(capacity)
    leaving: list[tuple[float, int, list[Piece]]] = []
    found: list[Bar] = []
    for begin, over, stretch, size in held:
        while leaving and leaving[0][0] <= begin:
            lanes.put_back(heapq.heappop(leaving)[2])
        pieces = lanes.take(size)
        heapq.heappush(leaving, (over, stretch, pieces))
        found += [
            (
                stretch,
                low * HEIGHT // capacity,
                max(-(-high * HEIGHT // capacity), low * HEIGHT // capacity + 1),
            )
            for low, high in pieces
        ]
    return found


def _job_columns(study: Study, columns: Columns, step: float) -> tuple[NDArray[Any], ...]:
    queues = {name: number for number, name in enumerate(sorted({job.queue for job in study.jobs}))}
    classes = {name: number for number, name in enumerate(study.classes)}
    return (
        _steps(columns.submit, step),
        columns.per_pod.astype("<f4"),
        columns.pods.astype("<u4"),
        np.array([queues[job.queue] for job in study.jobs], "<u2"),
        np.array([classes[job.klass] for job in study.jobs], "<u1"),
    )


def _run(columns: Columns, bars: list[list[Bar]], step: float) -> dict[str, Any]:
    flat = np.array([bar for each in bars for bar in each], int).reshape(-1, 3)
    begin, over = _steps(columns.begin, step), _steps(columns.over, step)
    data = _packed(
        columns.job.astype("<u4"),
        begin,
        np.maximum(over, begin + 1) - begin,
        (columns.by + 1).astype("<u4"),
        np.cumsum([0, *map(len, bars)]).astype("<u4"),
        flat[:, 0].astype("<u4"),
        np.array([WHY.index(why) for why in columns.why.tolist()], "<u1"),
        flat[:, 1].astype("<u1"),
        flat[:, 2].astype("<u1"),
    )
    return {"stretches": len(columns.job), "bars": len(flat), "data": data}


def _steps(times: NDArray[np.float64], step: float) -> NDArray[Any]:
    return np.round(np.maximum(times, 0.0) / step).astype("<u4")


def _packed(*arrays: NDArray[Any]) -> str:
    return _deflated(b"".join(each.tobytes() for each in arrays))


def _text(names: list[str]) -> str:
    return _deflated(json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode())


def _deflated(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")
