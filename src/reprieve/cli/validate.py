"""`reprieve validate`: every problem of the manifests, one line each."""

from collections.abc import Iterator

import click
from rich.console import Console

from reprieve.cli.output import BAD_INPUT, Output, output_option, print_result, progress
from reprieve.config import KIND, Configuration, ConfigurationError
from reprieve.objects import (
    MAX_BYTES,
    Finding,
    Found,
    Source,
    counted,
    review,
    scan_documents,
    well_known,
)


@click.command("validate")
@click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    required=True,
    metavar="FILE|DIR|-",
    help="Manifests: a file, a folder, or - for standard input. May be given several times.",
)
@click.option(
    "--config", "config", type=click.Path(), help="A ReprieveConfiguration: gates and the rules it relaxes."
)
@click.option(
    "--max-size",
    type=click.IntRange(min=1),
    default=MAX_BYTES // 1024 // 1024,
    show_default=True,
    metavar="MIB",
    help="The largest file that is read.",
)
@output_option
def command(filenames: tuple[str, ...], config: str | None, max_size: int, output: Output) -> None:
    """Check manifests as an API server would, and print every problem as `file:document: path: message`.

    Checks each object of Kubernetes and Kueue (unknown, missing and mistyped fields, enums, ranges, names,
    quantities, unions, priority classes, pod templates) and all of them together (duplicate names, cycles of
    cohorts; references to missing objects are warnings). Kinds of others are checked if their
    CustomResourceDefinition is given, too, and named otherwise; of jobs (Ray, Kubeflow, JobSet and more) the
    pod templates are always checked. Exit code 0: clean; 2: problems.

    \b
    Examples:
      reprieve validate -f examples/01-first-plan
      reprieve validate -f examples/12-cohort-reclaim/queues.yaml -f examples/12-cohort-reclaim/workloads.yaml
      kubectl get podgroups,pods -A -o yaml | reprieve validate -f -
    """
    configuration = Configuration.read(config) if config else Configuration.load(None)
    configurations: list[Finding] = []
    sources = 0

    def documents() -> Iterator[Found]:
        nonlocal sources
        for filename in filenames:
            for found in scan_documents(filename, max_bytes=max_size * 1024 * 1024):
                sources += isinstance(found, Source)
                if isinstance(found, Source) and found.document.get("kind") == KIND:
                    configurations.extend(_configuration_problems(found))
                else:
                    yield found

    findings = [*_review(list(progress(documents(), "documents")), configuration), *configurations]
    problems = [each for each in findings if not each.warning]
    warnings = [each for each in findings if each.warning and not each.unchecked]
    unchecked = [each for each in findings if each.unchecked]
    data = {
        "apiVersion": well_known.API_VERSION,
        "kind": "Validation",
        "documents": sources,
        "problems": [each.to_dict() for each in problems],
        "warnings": [each.to_dict() for each in warnings],
        "notChecked": [each.to_dict() for each in unchecked],
    }

    def render(console: Console) -> None:
        for each in findings:
            console.print(str(each), markup=False, style="yellow" if each.warning else None)
        counts = ((sources, "document"), (len(problems), "problem"), (len(warnings), "warning"))
        rest = f", {len(unchecked)} not checked" if unchecked else ""
        console.print(", ".join(counted(number, noun) for number, noun in counts) + rest)

    print_result(data, output, render)
    if problems:
        raise SystemExit(BAD_INPUT)


def _review(found: list[Found], config: Configuration) -> list[Finding]:
    from reprieve.jobs import template_problems

    kinds, context = config.job_kinds(), config.admission_context()
    others = [each.document for each in found if isinstance(each, Source)]
    return review(found, context, lambda job: template_problems(job, kinds, context, others))


def _configuration_problems(source: Source) -> list[Finding]:
    try:
        Configuration.load(source.document)
    except ConfigurationError as error:
        return [Finding(source.where, problem) for problem in error.problems]
    return []
