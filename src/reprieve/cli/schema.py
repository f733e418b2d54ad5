"""`reprieve schema`: the JSON Schema of what commands print with `-o json`."""

import json

import click

from reprieve.objects import ReprieveError, nearest

NAMES = (
    "Plan",
    "JobPlan",
    "QuotaPlan",
    "PlanList",
    "PlanComparison",
    "FleetPlan",
    "Admissions",
    "Forecast",
    "ForecastList",
    "Explanation",
    "Validation",
    "Decision",
    "Simulation",
)


@click.command("schema")
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Print the JSON Schema of an answer, for programs that read `-o json`.

    NAME is Plan, JobPlan (for a job of any kind), PlanComparison, QuotaPlan (for a Kueue Workload), FleetPlan
    or PlanList (for several at once), as `plan` prints them, Admissions (`admit`), Forecast or ForecastList
    (`when`), Explanation (`explain`), Validation (`validate`), Simulation (`simulate`), or Decision, one line
    of the file of decision records. Schemas of the same version only ever gain fields.

    \b
    Examples:
      reprieve schema Plan > plan.schema.json
      reprieve schema Decision
    """
    known = {each.lower(): each for each in NAMES}
    if name.lower() not in known:
        raise ReprieveError(
            f"there is no format {name!r}{nearest(name, NAMES)}; known are {', '.join(NAMES)}"
        )
    from reprieve.cli.formats import schema

    click.echo(json.dumps(schema(known[name.lower()]), indent=2))
