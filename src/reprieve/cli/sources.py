"""What a command reads: manifests, a cluster with manifests on top, or the workers of a fleet."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reprieve.cli.output import reading
from reprieve.objects import (
    Document,
    ReprieveError,
    Source,
    TimeError,
    parse_duration,
    parse_time,
    read_documents,
)

if TYPE_CHECKING:
    from reprieve.jobs import JobKind, JobKinds
    from reprieve.kube import Resource
    from reprieve.records import Kept

filename_option = click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE|DIR|-",
    help="Manifests: a file, a folder, or - for standard input. May be given several times.",
)
nodes_option = click.option(
    "--nodes",
    multiple=True,
    metavar="SPEC",
    help="Nodes to add, as `reprieve up` takes them, e.g. 'gpu=4:cpu=96,memory=1Ti,nvidia.com/gpu=8'. May be "
    "given several times.",
)
kubeconfig_option = click.option(
    "--kubeconfig",
    type=click.Path(),
    help="The cluster as it is, with the manifests on top; only reads. Default without -f: as for kubectl, "
    "KUBECONFIG, then ~/.kube/config.",
)
context_option = click.option("--context", help="The kubeconfig's context; with -f, that cluster too.")


def now_option(help: str) -> Callable[[Any], Any]:
    """A moment, as text that can be read as one."""

    def checked(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
        try:
            if text is not None:
                parse_time(text)
        except TimeError as error:
            raise ReprieveError(f"--now: {error}") from None
        return text

    return click.option("--now", metavar="TIME", callback=checked, help=help)


def seconds_of(option: str, text: str) -> float:
    """A duration that was given with an option."""
    try:
        return parse_duration(text)
    except TimeError as error:
        raise ReprieveError(f"{option}: {error}") from None


def records_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where records are: `--records` or `--controller`. The command gets them as `kept`."""

    @click.option(
        "--records",
        type=click.Path(exists=True, dir_okay=False),
        help="What was decided and how long things ran: the file that records.path names.",
    )
    @click.option("--controller", metavar="URL", help="The same from a running controller.")
    @click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False),
        help="The controller's token, if it asks for one.  [default: $REPRIEVE_TOKEN]",
    )
    @wraps(command)
    def asked(*, records: str | None, controller: str | None, token_file: str | None, **others: Any) -> None:
        command(kept=_kept(records, controller, token_file), **others)

    return asked


def _kept(records: str | None, controller: str | None, token_file: str | None) -> "Kept":
    from reprieve.records import NothingKept, RecordFile, RunningController

    if records and controller:
        raise click.UsageError(
            "--records and --controller are two ways to the same records: give one of them"
        )
    if records:
        return RecordFile(records)
    if controller:
        from reprieve.runtime import read_token

        return RunningController(controller, read_token(token_file))
    return NothingKept()


def asks_cluster(filenames: Sequence[str], kubeconfig: str | None, context: str | None) -> bool:
    """Whether a cluster is read: it is named, or there are no manifests."""
    return not filenames or kubeconfig is not None or context is not None


def gather(
    filenames: Sequence[str],
    kubeconfig: str | None,
    context: str | None,
    *,
    quota: bool,
    nodes: Sequence[str] = (),
) -> Sequence[Document | Source]:
    """The documents of the files, or of the cluster, or of the files on top of the cluster. Only reads.

    `quota`: whether the question is about quota. Of the cluster only kinds are read that the answer looks at.
    """
    submitted = read_manifests(filenames, nodes)
    if not asks_cluster((*filenames, *nodes), kubeconfig, context):
        return submitted
    return on_cluster(submitted, kubeconfig, context, nodes=not quota, quota=quota)


def on_cluster(
    submitted: Sequence[Source],
    kubeconfig: str | None,
    context: str | None,
    *,
    nodes: bool = False,
    quota: bool = False,
    jobs: "Sequence[JobKind]" = (),
) -> Sequence[Document | Source]:
    """The cluster as it is, with what was submitted on top. `nodes`, `quota`: what is to be decided about;
    `jobs`: kinds of jobs that are read, too."""
    from reprieve.kube import (
        ADMISSION_KINDS,
        CLAIM_TEMPLATES,
        QUOTA_KINDS,
        SCHEDULER_KINDS,
        WORKLOADS,
        job_resources,
    )
    from reprieve.whatif import NODE_KINDS
    from reprieve.whatif import QUOTA_KINDS as WORKLOAD_KINDS

    used = (NODE_KINDS if nodes else frozenset()) | (WORKLOAD_KINDS if quota else frozenset())
    read = dict.fromkeys((*SCHEDULER_KINDS, *QUOTA_KINDS, *ADMISSION_KINDS, WORKLOADS, CLAIM_TEMPLATES))
    kinds = [each for each in read if (each.group, each.kind) in used]
    known = {(each.group, each.kind) for each in kinds}
    kinds += [each for each in job_resources(jobs) if (each.group, each.kind) not in known]
    return _on_top(submitted, kubeconfig, context, kinds)


def jobs_on_cluster(
    submitted: Sequence[Source], kubeconfig: str | None, context: str | None, jobs: "JobKinds"
) -> Sequence[Document | Source]:
    """The same with both nodes and quota, and with the jobs: how long they may run, and did."""
    from reprieve.kube import (
        ADMISSION_KINDS,
        CLAIM_TEMPLATES,
        QUOTA_KINDS,
        SCHEDULER_KINDS,
        WORKLOADS,
        job_resources,
    )

    read = (*SCHEDULER_KINDS, *QUOTA_KINDS, *ADMISSION_KINDS, CLAIM_TEMPLATES, WORKLOADS)
    kinds = [*dict.fromkeys((*read, *job_resources(jobs)))]
    return _on_top(submitted, kubeconfig, context, kinds)


def _on_top(
    submitted: Sequence[Source], kubeconfig: str | None, context: str | None, kinds: "Sequence[Resource]"
) -> Sequence[Document | Source]:
    from reprieve.kube import NoKubeConfig, read_cluster
    from reprieve.whatif import overlay

    try:
        cluster = read_cluster(kubeconfig, context, kinds)
    except NoKubeConfig as error:
        hint = "give manifests with -f, or a cluster with --kubeconfig, KUBECONFIG or ~/.kube/config"
        raise click.UsageError(hint) from error
    return overlay(cluster, submitted)


def read_manifests(filenames: Sequence[str], nodes: Sequence[str] = ()) -> list[Source]:
    """All documents with their places, so that an error can name the place; then the nodes of `--nodes`."""
    from reprieve.objects import NodeTemplate, TemplateError

    try:
        added = [each for spec in nodes for each in NodeTemplate.parse(spec).nodes()]
    except TemplateError as error:
        raise ReprieveError(f"--nodes: {error}") from None
    for filename in filenames:
        if "://" in filename:
            raise ReprieveError(
                f"-f {filename}: not a file; fetch it first: curl -sL {filename} | reprieve … -f -"
            )
    with reading() as progress:
        found = [source for filename in filenames for source in read_documents(filename, progress=progress)]
    return [*found, *(Source("--nodes", str(number), each) for number, each in enumerate(added, 1))]


def workers_in(folder: Path) -> dict[str, list[Document]]:
    """One worker for each file or sub-folder, in the order of their names."""
    if not folder.is_dir():
        raise ReprieveError(f"--fleet {folder}: not a folder with one file or sub-folder for each worker")
    found = {
        entry.stem if entry.is_file() else entry.name: [source.document for source in read_documents(entry)]
        for entry in sorted(folder.iterdir())
        if entry.is_dir() or entry.suffix in (".yaml", ".yml", ".json")
    }
    if not found:
        raise ReprieveError(f"--fleet {folder}: no workers: expected one YAML file or sub-folder for each")
    return found


def workers_of_manager(kubeconfig: str | None, context: str | None) -> dict[str, list[Document]]:
    """The workers of the manager behind the kubeconfig, as they are now."""
    import asyncio

    from reprieve.controllers.fleet import Limits, survey
    from reprieve.kube import INTERACTIVE_ATTEMPTS, Client
    from reprieve.objects import well_known

    async def read() -> dict[str, list[Document]]:
        async with Client.from_kubeconfig(kubeconfig, context, attempts=INTERACTIVE_ATTEMPTS) as client:
            return await survey(client, well_known.KUBECONFIG_NAMESPACE, Limits())

    return asyncio.run(read())
