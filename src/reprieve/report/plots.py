"""The pictures of a report for papers: SVG and PNG, readable in black and white, the same bytes each time.

Needs matplotlib, which is the extra `plots` and is imported only here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprieve.objects import ReprieveError
from reprieve.report.columns import Floats
from reprieve.report.flows import flows
from reprieve.report.gantt import HEIGHT, Bar, node_bars
from reprieve.report.over_time import over_time
from reprieve.report.study import Run, Study
from reprieve.report.waiting import axis, longest, started_within

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING = "pictures need matplotlib; install it with: pip install 'reprieve[plots]'"
INKS = ("#1b4f8a", "#c05a1a", "#3d8f4f", "#8a2f63", "#6b6b6b", "#2b8fa3", "#5a3fa0", "#7a3b36")
DASHES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (7, 2, 1, 2)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo", "---")
GREYS = ("#202020", "#707070", "#bdbdbd", "#505050", "#909090")
"""Of the classes on the nodes, the most important darkest."""
OTHERS = "#e6e6e6"
MOST_CLASSES, MOST_PAIRS = len(GREYS), 12
"""How many classes, and pairs of them, fit on a page beside each other."""
WIDE = 6.5
"""Inches: the text width of a page."""
COLUMNS = 1400
LANES = 16
_RC: dict[Any, Any] = {
    "svg.hashsalt": "reprieve",
    "text.parse_math": False,  # names come from others, and a formula in one may be a broken one
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}
_WAITS = {1: "1 s", 60: "1 min", 3600: "1 h", 86_400: "1 d", 30 * 86_400: "30 d"}
_SCALES = ((2 * 86400, 86400, "days"), (2 * 3600, 3600, "hours"), (0, 60, "minutes"))


def require_plots() -> None:
    """Says how to get what is missing, before anything else is done."""
    if find_spec("matplotlib") is None:
        raise ReprieveError(MISSING)


def write_plots(study: Study, folder: str | Path) -> list[Path]:
    """Every picture that has something to show, as `NAME.svg` and `NAME.png`."""
    require_plots()
    import matplotlib as mpl

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(_RC):
            drawn = {name: draw(study) for name, draw in PICTURES.items()}
            return [path for name, figure in drawn.items() if figure for path in _write(figure, place / name)]
    except OSError as error:
        raise ReprieveError(f"{folder}: {error.strerror or error}") from None


def _write(figure: Figure, path: Path) -> list[Path]:
    svg, png = path.with_suffix(".svg"), path.with_suffix(".png")
    figure.savefig(svg, metadata={"Date": None, "Creator": None})
    figure.savefig(png, dpi=300, metadata={"Software": None})
    return [svg, png]


def _figure(rows: int, columns: int, height: float, **more: Any) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDE, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


def _time(study: Study) -> tuple[int, str]:
    return next((scale, name) for least, scale, name in _SCALES if study.end >= least)


def _use(study: Study) -> Figure | None:
    if not study.capacity:
        return None
    percent = 100 / study.capacity
    return _line_chart(
        study, f"{study.unit}s in use (%)", lambda run: percent * over_time(run.columns, study.end).used
    )


def _queue(study: Study) -> Figure | None:
    return _line_chart(study, "jobs waiting", lambda run: over_time(run.columns, study.end).waiting)


def _line_chart(study: Study, title: str, values: Callable[[Run], Floats]) -> Figure:
    figure, ((plot,),) = _figure(1, 1, 2.2)
    scale, unit = _time(study)
    for place, run in enumerate(study.runs):
        found = values(run)
        middles = (np.arange(len(found)) + 0.5) * study.end / len(found)
        plot.plot(middles / scale, found, label=run.name, **_line(place))
    plot.set(xlabel=f"time ({unit})", ylabel=title, xlim=(0, study.end / scale))
    plot.set_ylim(bottom=0)
    _legend(figure, plot, study)
    return figure


def _waiting(study: Study) -> Figure | None:
    shown = study.classes[:MOST_CLASSES]
    figure, (plots,) = _figure(1, len(shown), 2.3, sharey=True)
    if len(shown) < len(study.classes):
        figure.supxlabel(f"the most important {len(shown)} of {len(study.classes):,} classes")
    times = axis(longest([run.columns for run in study.runs]))
    for klass, plot in zip(shown, plots, strict=True):
        for place, run in enumerate(study.runs):
            shares = 100 * started_within(run.columns, klass, times)
            plot.step(times, shares, where="post", label=run.name, **_line(place))
        plot.set(title=f"class {klass}", xscale="log", xlabel="waiting", ylim=(0, 102))
        # Powers of ten would be written as formulas, and those are switched off.
        known = _WAITS if times[-1] >= 60 else {1: "1 s", 10: "10 s"}
        marks = {time: text for time, text in known.items() if time <= times[-1]}
        plot.set_xticks(list(marks), list(marks.values()))
        plot.minorticks_off()
    plots[0].set_ylabel("jobs that had started (%)")
    _legend(figure, plots[0], study)
    return figure


def _losses(study: Study) -> Figure | None:
    sizes = list(study.runs[0].metrics.sizes)
    figure, ((plot,),) = _figure(1, 1, 2.3)
    for place, run in enumerate(study.runs):
        _bars(plot, study, place, [run.metrics.sizes[size].lost_hours for size in sizes], run.name)
    plot.set_xticks(range(len(sizes)), sizes)
    plot.set(xlabel=f"{study.unit}s of a job", ylabel=f"{study.unit}-hours lost")
    _legend(figure, plot, study)
    return figure


def _flow(study: Study) -> Figure | None:
    found = [{(f.by, f.victim): f for f in flows(run.columns, lambda job: job.klass)} for run in study.runs]
    every = dict.fromkeys(pair for each in found for pair in each)
    if not every:
        return None
    pairs = list(every)
    if len(every) > MOST_PAIRS:  # those that cost most, wherever
        most = {pair: max(each[pair].lost for each in found if pair in each) for pair in every}
        pairs = sorted(every, key=most.__getitem__, reverse=True)[:MOST_PAIRS]
    figure, ((plot,),) = _figure(1, 1, 2.3)
    for place, (run, each) in enumerate(zip(study.runs, found, strict=True)):
        _bars(plot, study, place, [each[pair].lost if pair in each else 0.0 for pair in pairs], run.name)
    plot.set_xticks(range(len(pairs)), [f"{victim}\nfor {by}" for by, victim in pairs])
    cut = f", {len(pairs)} of {len(every):,}" if len(pairs) < len(every) else ""
    plot.set(xlabel=f"who made way for whom (classes{cut})", ylabel=f"{study.unit}-hours lost")
    _legend(figure, plot, study)
    return figure


def _bars(plot: Axes, study: Study, place: int, values: list[float], name: str) -> None:
    width = 0.8 / len(study.runs)
    at = np.arange(len(values)) + (place - (len(study.runs) - 1) / 2) * width
    hatch = HATCHES[place % len(HATCHES)]
    ink = INKS[place % len(INKS)]
    plot.bar(at, values, width * 0.92, label=name, color=ink, hatch=hatch, edgecolor="white", linewidth=0)


def _nodes(study: Study) -> Figure | None:
    if not study.nodes:
        return None
    from matplotlib.colors import ListedColormap

    names = [f"class {name}" for name in study.classes[:MOST_CLASSES]]
    names += ["others"] if len(names) < len(study.classes) else []
    inks = [*GREYS[:MOST_CLASSES], OTHERS][: len(names)]
    figure, plots = _figure(len(study.runs), 1, 0.6 + 1.9 * len(study.runs), sharex=True)
    scale, unit = _time(study)
    for run, (plot,) in zip(study.runs, plots, strict=True):
        picture = _painted(study, run)
        plot.imshow(
            picture,
            cmap=ListedColormap(["#ffffff", *inks]),
            vmin=0,
            vmax=len(inks),
            aspect="auto",
            interpolation="nearest",
            extent=(0, study.end / scale, len(study.nodes), 0),
        )
        plot.grid(visible=False)
        plot.set(title=run.name, ylabel="node")
    plots[-1][0].set_xlabel(f"time ({unit})")
    shown = [_patch(ink, name) for ink, name in zip(inks, names, strict=True)]
    figure.legend(handles=shown, loc="outside lower center", ncols=len(shown))
    return figure


def _painted(study: Study, run: Run) -> Any:
    """For each place on each node and each moment the class that holds it, from 1; 0: nobody.

    Classes beyond those that are told apart are one.
    """
    picture = np.zeros((len(study.nodes) * LANES, COLUMNS), np.uint8)
    classes = {name: min(place, MOST_CLASSES) + 1 for place, name in enumerate(study.classes)}
    colour = [classes[job.klass] for job in study.jobs]
    edges = (np.concatenate([run.columns.begin, run.columns.over]) / study.end * COLUMNS).round().astype(int)
    begin, over = edges[: len(run.columns.begin)].tolist(), edges[len(run.columns.begin) :].tolist()
    bars: list[list[Bar]] = node_bars(run.columns, study.nodes)
    for node, each in enumerate(bars):
        for stretch, low, high in each:
            top, bottom = low * LANES // HEIGHT, max(high * LANES // HEIGHT, low * LANES // HEIGHT + 1)
            rows = slice(node * LANES + top, node * LANES + bottom)
            picture[rows, begin[stretch] : max(over[stretch], begin[stretch] + 1)] = colour[
                run.result.stretches[stretch].job
            ]
    return picture


def _patch(ink: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=ink, label=label)


def _line(place: int) -> dict[str, Any]:
    return {"color": INKS[place % len(INKS)], "linestyle": DASHES[place % len(DASHES)], "linewidth": 1.1}


def _legend(figure: Figure, plot: Axes, study: Study) -> None:
    if len(study.runs) > 1:
        figure.legend(*plot.get_legend_handles_labels(), loc="outside upper center", ncols=len(study.runs))


PICTURES: dict[str, Callable[[Study], Figure | None]] = {
    "use": _use,
    "queue": _queue,
    "waiting": _waiting,
    "flow": _flow,
    "losses": _losses,
    "nodes": _nodes,
}
