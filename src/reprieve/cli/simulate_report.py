"""The report of `reprieve simulate`: one HTML file, and pictures for papers."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from reprieve.cli.output import Output
from reprieve.objects import ReprieveError

if TYPE_CHECKING:
    from reprieve.simulate import Metrics, Result, Task, Trace

Format = Output | Literal["html"]


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`-o` with `html`, and where the report and its pictures go."""
    for option in (
        click.option(
            "--plots",
            metavar="FOLDER",
            help="Write the pictures of the report there, as SVG and PNG for papers. Needs the extra: "
            "pip install 'reprieve[plots]'.",
        ),
        click.option(
            "--out",
            metavar="FILE",
            help="Write the report to this file: one HTML page that loads nothing, beside what -o prints.",
        ),
        click.option(
            "-o",
            "--output",
            type=click.Choice(["table", "json", "yaml", "html"]),
            default="table",
            show_default=True,
            help="Table for people, JSON or YAML for programs, HTML: the report.",
        ),
    ):
        command = option(command)
    return command


class Wanted(NamedTuple):
    html: bool
    """The report is the answer."""
    out: Path | None
    plots: Path | None

    def recorded(self, tasks: "list[Task]") -> "list[Task]":
        """A report says why jobs waited and made way, so that is kept; otherwise it costs nothing."""
        if not self.html and self.out is None:
            return tasks
        from msgspec.structs import replace

        return [replace(each, record=True) for each in tasks]

    def write(
        self,
        name: str,
        trace: "Trace",
        tasks: "Sequence[Task]",
        results: "Sequence[Result]",
        measured: "Mapping[str, Metrics]",
    ) -> None:
        if not (self.html or self.out or self.plots):
            return
        from reprieve.report import Study, page, write_plots

        study = Study(name, trace, tasks, results, measured)
        if self.out is not None:
            _write(self.out, page(study))
        elif self.html:
            click.echo(page(study), nl=False)
        if self.plots is not None:
            written = write_plots(study, self.plots)
            click.echo(f"{len(written)} pictures in {self.plots}", err=True)


def wanted(output: Format, out: str | None, plots: str | None) -> Wanted:
    """What cannot work is said before the simulation, not after it."""
    html = output == "html"
    if html and out is None and sys.stdout.isatty():
        raise ReprieveError("-o html prints a whole page; write it to a file, e.g. --out report.html")
    if out is not None:
        _check(Path(out))
    if plots is not None:
        from reprieve.report import require_plots

        require_plots()
        if Path(plots).exists() and not Path(plots).is_dir():
            raise ReprieveError(f"--plots: {plots} is not a folder")
    return Wanted(html, Path(out) if out is not None else None, Path(plots) if plots is not None else None)


def _check(out: Path) -> None:
    if out.is_dir():
        raise ReprieveError(f"--out: {out} is a folder; name a file in it, e.g. {out / 'report.html'}")
    if not out.absolute().parent.is_dir():
        raise ReprieveError(f"--out: there is no folder {out.parent}")


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReprieveError(f"--out: {out}: {error.strerror}") from None
    click.echo(f"report in {out} ({len(text.encode()) / 1e6:.1f} MB)", err=True)
