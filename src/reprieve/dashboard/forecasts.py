"""When a unit starts: what is asked, and the cluster that it is asked about."""

from collections.abc import Awaitable, Callable
from typing import Any

from reprieve.config import Configuration
from reprieve.jobs import JobKinds
from reprieve.kube import WORKLOADS, ApiError, Client, dump_cluster, job_resources
from reprieve.objects import Reference, ReprieveError
from reprieve.whatif import parse_target

Forecaster = Callable[[str], Awaitable[dict[str, Any]]]
"""KIND/NAMESPACE/NAME -> when it starts, as JSON."""
LONGEST_NAME = 600
"""A kind, a namespace and a name of 253 characters each fit."""


class BadQuestion(ReprieveError):
    """Nobody could answer that."""


def asked_for(text: str, config: Configuration) -> Reference:
    if not text.strip() or len(text) > LONGEST_NAME:
        given = "nothing is named" if not text.strip() else f"the name has {len(text)} characters"
        raise BadQuestion(f"{given}; write for=KIND/NAMESPACE/NAME")
    try:
        return parse_target(text, config)
    except ReprieveError as error:
        raise BadQuestion(f"cannot look ahead for {error}") from error


async def cluster_with_jobs(client: Client, kinds: JobKinds, notes: list[str]) -> list[bytes]:
    """All that a decision depends on, and the jobs: how long they may run, and did.

    Kinds of jobs that the page may not read are left out, and `notes` says so.
    """
    lists = await dump_cluster(client)
    hidden: list[str] = []
    for each in (WORKLOADS, *job_resources(kinds)):
        try:
            lists += await client.dump_all([each])
        except ApiError as error:
            if not error.refused:
                raise
            hidden.append(each.plural)
    if hidden:
        notes.append(f"Not read, for the page may not: {', '.join(hidden)}. Their run times are not known.")
    return lists
