"""Why a pod group, or a tree of groups, is not placed."""

from collections.abc import Sequence

# Kubernetes' own words: the status of a pod group.

UNSCHEDULABLE = "pod group is unschedulable"
NO_PLACEMENTS = "no feasible placements found"
NOTHING_ASSIGNED = "no pods from pod group are assigned to any of the candidate placements"


def unschedulable(why: str) -> str:
    return f"{UNSCHEDULABLE}, {why}"


def cannot_reach_minimum(minimum: int, scheduled: int, remaining: int) -> str:
    return f"minCount ({minimum}) cannot be satisfied: {_progress(scheduled, remaining)}"


def below_minimum(minimum: int, scheduled: int, remaining: int) -> str:
    return f"minCount ({minimum}) is not yet satisfied: {_progress(scheduled, remaining)}"


def _progress(scheduled: int, remaining: int) -> str:
    return f"{scheduled} scheduled, {remaining} remaining"


def no_domain_available(domains: int, first: str) -> str:
    """`first`: the status in the first domain."""
    return f"0/{domains} placements are available, first placement status: {first}"


def pod_is_in_no_domain(pod: str) -> str:
    return f"{_UNKNOWN_DOMAIN}no topology domain found for pod {pod}"


def pods_are_in_several_domains(domains: Sequence[str]) -> str:
    return f"{_UNKNOWN_DOMAIN}more than 1 domain found for pod group: {', '.join(domains)}"


_UNKNOWN_DOMAIN = "cannot determine domain for already scheduled pods: "


def child_failed(status: str) -> str:
    return f"composite pod group evaluation failed due to child error: {status}"
