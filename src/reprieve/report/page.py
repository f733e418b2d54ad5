"""The report as one HTML file: nothing is loaded, and its Content-Security-Policy says so.

Text, tables and flows are in the page as they are; what is zoomed or hovered is drawn by its script from
compact data. The same study gives the same bytes.
"""

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from reprieve import __version__
from reprieve.report import sections
from reprieve.report.columns import Floats
from reprieve.report.gantt import gantt
from reprieve.report.over_time import over_time
from reprieve.report.study import Study
from reprieve.report.waiting import axis, longest, started_within

SCRIPTS = ("look.js", "charts.js", "bars.js", "gantt.js", "main.js")
"""One script, in this order."""
VENDOR = "dashboard/static/vendor"
_EXPORT = re.compile(r"export\s*\{\s*(\w+) as default\s*\};?\s*$")


def page(study: Study) -> str:
    style = f"{_package(f'{VENDOR}/uPlot.css')}\n{_static('report.css')}"
    script = _script()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'"
    )
    title = f"{study.name}: {', '.join(run.name for run in study.runs)}"
    return Template(_static("report.html")).substitute(
        policy=escape(policy),
        title=escape(title),
        style=style,
        script=script,
        name=escape(study.name),
        subtitle=escape(study.subtitle()),
        verdict=sections.verdict(study),
        unit=study.unit,
        waiting=sections.waiting_table(study),
        flows=sections.flow_section(study),
        sizes=sections.size_section(study),
        cases=sections.case_section(study),
        version=escape(__version__),
        seed=study.runs[0].settings.seed,
        data=_json(_data(study)),
    )


def _data(study: Study) -> dict[str, Any]:
    """What the script draws from."""
    series = [over_time(run.columns, study.end) for run in study.runs]
    times = axis(longest([run.columns for run in study.runs]))
    capacity = study.capacity
    return {
        "unit": study.unit,
        "end": study.end,
        "capacity": capacity,
        "policies": [run.name for run in study.runs],
        "classes": study.classes,
        "time": _numbers(series[0].time),
        "used": [_numbers(each.used / capacity if capacity else each.used) for each in series],
        "waiting": [_numbers(each.waiting) for each in series],
        "cdf": {
            "time": _numbers(times),
            "classes": [
                [_numbers(started_within(run.columns, klass, times)) for run in study.runs]
                for klass in study.classes
            ],
        },
        "gantt": gantt(study) if study.nodes else None,
    }


def _numbers(values: Floats) -> list[float]:
    """Five digits: more than a pixel shows, a third of the bytes."""
    return [float(f"{value:.5g}") for value in np.asarray(values).tolist()]


def _json(data: dict[str, Any]) -> str:
    """For a script element: nothing in it can end the element, or begin a comment."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _script() -> str:
    source, count = _EXPORT.subn(r"return \1;", _package(f"{VENDOR}/uPlot.js").rstrip())
    assert count == 1, "uPlot's file ends with its one export"
    own = "\n".join(_static(name) for name in SCRIPTS)
    licence = _package(f"{VENDOR}/LICENSE.uplot").replace("*/", "* /")
    return f'"use strict";\n/* uPlot:\n{licence}*/\nconst uPlot = (() => {{\n{source}\n}})();\n{own}'


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _static(name: str) -> str:
    return _package(f"report/static/{name}")


def _package(path: str) -> str:
    return files("reprieve").joinpath(path).read_text(encoding="utf-8")
