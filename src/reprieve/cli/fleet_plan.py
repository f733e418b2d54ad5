"""`reprieve plan --fleet`: which cluster would get a workload, and why.

The workers come from a folder (one file or sub-folder for each) or, through a manager's kubeconfig, from
their API servers.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprieve.cli.output import NO, YES, Output, print_result
from reprieve.objects import Document, Reference, ReprieveError, read_documents

if TYPE_CHECKING:
    from rich.console import Console

    from reprieve.config import Configuration
    from reprieve.whatif import FleetPlan


def plan_and_print(
    fleet: str,
    files: Sequence[str],
    target: Reference,
    config: "Mapping[str, Any] | Configuration | None",
    now: str | None,
    kubeconfig: str | None,
    output: Output,
) -> int:
    """Answer the question and print it; the exit code. `fleet` is a folder, or empty for the manager's
    workers."""
    from reprieve.whatif import plan_fleet

    workload = _workload([item for path in files for item in _documents(Path(path))], target)
    clusters = read_folder(Path(fleet)) if fleet else read_live(kubeconfig)
    plan = plan_fleet(workload, clusters, config=config, now=now)
    print_result(plan.to_dict(), output, lambda console: _render(plan, console))
    return YES if plan.chosen is not None else NO


def read_folder(folder: Path) -> dict[str, list[Document]]:
    """One worker for each file or sub-folder, in the order of their names."""
    if not folder.is_dir():
        raise ReprieveError(f"--fleet {folder}: not a folder with one file or sub-folder for each worker")
    found = {
        entry.stem if entry.is_file() else entry.name: list(_documents(entry))
        for entry in sorted(folder.iterdir())
        if entry.is_dir() or entry.suffix in (".yaml", ".yml", ".json")
    }
    if not found:
        raise ReprieveError(f"--fleet {folder}: no workers: expected one YAML file or sub-folder for each")
    return found


def read_live(kubeconfig: str | None) -> dict[str, list[Document]]:
    """The workers of the manager behind the kubeconfig, as they are now."""
    from reprieve.controllers.fleet import survey
    from reprieve.kube import PATIENCE_OF_PEOPLE, Client
    from reprieve.objects import well_known

    async def read() -> dict[str, list[Document]]:
        async with Client.from_kubeconfig(kubeconfig, attempts=PATIENCE_OF_PEOPLE) as client:
            return await survey(client, well_known.KUBECONFIG_NAMESPACE)

    return asyncio.run(read())


def _documents(path: Path) -> list[Document]:
    return [source.document for source in read_documents(path)]


def _workload(documents: Sequence[Document], target: Reference) -> Document:
    for document in documents:
        if Reference.read(document) == target:
            return document
    raise ReprieveError(
        f"--for {target}: there is no such Workload (kueue.x-k8s.io) in the files given with -f"
    )


def _render(plan: "FleetPlan", console: "Console") -> None:
    from rich.table import Table

    where = plan.chosen.cluster if plan.chosen is not None else "no cluster"
    console.print(f"[bold]Workload/{plan.workload}[/]: {plan.outcome} in [bold]{where}[/]")
    table = Table(box=None, pad_edge=False)
    for title in ("CLUSTER", "OUTCOME", "VICTIMS", "COST"):
        table.add_column(title)
    for candidate in plan.candidates:
        mark = "→ " if candidate is plan.chosen else "  "
        victims = ", ".join(candidate.victims) or candidate.problem or "-"
        table.add_row(mark + candidate.cluster, candidate.outcome, victims, str(candidate.cost or "-"))
    console.print(table)
    for reason in plan.reasons:
        console.print(f"  {reason}")
