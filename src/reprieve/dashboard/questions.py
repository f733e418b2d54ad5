"""What is asked about one unit (why it is as it is, when it starts), and the objects that the answer needs.

Kinds that the page may not read are left out, and the answer says so.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from reprieve.config import Configuration
from reprieve.explain import owner_resources
from reprieve.explain import parse_target as parse_explained
from reprieve.jobs import JobKinds
from reprieve.kube import (
    EVENTS,
    QUOTA_KINDS,
    SCHEDULER_KINDS,
    WORKLOADS,
    ApiError,
    Client,
    Resource,
    dump_cluster,
    job_resources,
)
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
    """All that a decision depends on, and the jobs: how long they may run, and did."""
    lists = await dump_cluster(client)
    found, hidden = await _readable(client, (WORKLOADS, *job_resources(kinds)))
    if hidden:
        named = ", ".join(dict.fromkeys(hidden))
        notes.append(f"Not read, for the page may not: {named}. Their run times are not known.")
    return lists + found


async def cluster_with_owners(client: Client, target: str, notes: list[str]) -> list[bytes]:
    """All that an explanation depends on, and whatever creates the pods of such a thing."""
    lists = await client.dump_all((*SCHEDULER_KINDS, *QUOTA_KINDS, EVENTS))
    owners: list[Resource] = []
    with suppress(ReprieveError):  # of no kind that there is: the answer says so
        owners = owner_resources(parse_explained(target).kind)
    found, hidden = await _readable(client, owners)
    notes += [f"{kind}: the page may not list them" for kind in hidden]
    return lists + found


async def _readable(client: Client, wanted: Iterable[Resource]) -> tuple[list[bytes], list[str]]:
    """What may be read of these, and what may not; what decisions read has been read."""
    found: list[bytes] = []
    hidden: list[str] = []
    for each in (one for one in wanted if one not in SCHEDULER_KINDS):
        try:
            found += await client.dump_all([each])
        except ApiError as error:
            if not error.refused:
                raise
            hidden.append(each.plural)
    return found, hidden
