"""`reprieve simulate import`: a trace of somebody else in the common form."""

from pathlib import Path

import click

from reprieve.objects import ReprieveError, counted


@click.command("import")
@click.option(
    "--from",
    "format",
    required=True,
    metavar="FORMAT",
    help="philly, chronus, openb, surf, spot-gpu-2026, swf; of your own cluster: events or audit.",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Where to write, gzipped if it ends in .gz; default: standard output.",
)
@click.argument("file")
def import_command(format: str, out: str | None, file: str) -> None:
    """Write a trace of somebody else in the common form.

    Rows are sorted and the clock begins with the first job. The same file gives the same bytes. A row that
    cannot be right is an error with file and line (exit code 2), and then nothing is written.

    \b
    Examples:
      reprieve simulate import --from swf examples/40-simulate/jobs.swf
      kubectl get pods,jobs,events -A -o json > now.json
      reprieve simulate import --from events now.json --out jobs.csv
    """
    from reprieve.simulate import common_form, read_foreign, write_common

    if out and Path(out).exists() and Path(file).exists() and Path(out).samefile(file):
        raise ReprieveError(f"--out: {out} is the file that is imported; choose another name")
    found = read_foreign(format, file)
    if out:
        write_common(found.records, out)
    else:
        click.echo(common_form(found.records), nl=False)
    for note in found.notes:
        click.echo(note, err=True)
    click.echo(f"{out or file}: {counted(len(found.records), 'job')}", err=True)
