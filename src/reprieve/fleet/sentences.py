"""Every sentence that fleets say to people, in admission checks, conditions and reasons.

A function's name is the sentence's code, its arguments are the values in it.
"""

from collections.abc import Sequence

from reprieve.objects import well_known

# --- Kueue's own words: messages of MultiKueue's admission check --------------------------------------------

REMOTE_IS_GONE = "Admitting remote no longer exists"
REMOTE_IS_LOST = "Admitting remote lost"


def no_adapter(kind: str) -> str:
    return f"No multikueue adapter found for owner kind {kind}"


def admitted_on(cluster: str) -> str:
    return f'The workload was admitted on "{cluster}"'


def evicted_on_manager(message: str) -> str:
    return f"Evicted on manager: {message}"


def evicted_on_worker(cluster: str) -> str:
    return f'Workload evicted on worker cluster: "{cluster}", resetting for re-admission'


def evicted_after_ready(cluster: str) -> str:
    return f'{evicted_on_worker(cluster)}. Previously: "Ready"'


def out_of_sync(cluster: str) -> str:
    return (
        f'Remote workload on worker cluster "{cluster}" is out of sync with its user job, '
        "resetting for re-dispatch"
    )


def after_ready(what: str) -> str:
    return f'{what}, Previously: "Ready"'


# --- workers ------------------------------------------------------------------------------------------------


def waits_for_worker(cluster: str, seconds: float) -> str:
    return f"{cluster} is out of reach; waiting {seconds:g} s more for it"


def no_worker_can_run_it(lacking: Sequence[str]) -> str:
    return f"No worker can run it: {'; '.join(lacking)}"


def tree_cannot_be_sent(group: str, tree: str) -> str:
    return (
        f"PodGroup {group} is part of the tree {tree}, and trees of groups cannot be sent to a worker: "
        "submit the tree to the worker itself, or its groups without a parent"
    )


# --- preemption gates ---------------------------------------------------------------------------------------

MAY_ADMIT_WITHOUT_PREEMPTION = "a worker may still admit without preemption"


def has_its_turn(cluster: str, seconds: float) -> str:
    return f"{cluster} has its turn to preempt for {seconds:g} s more"


def has_no_gate(cluster: str) -> str:
    return f"the copy in {cluster} has no gate to open"


def may_preempt(cluster: str, cost: str) -> str:
    """`cost`: as workers write it; empty where it is not known."""
    return f"{cluster} may preempt{f' ({cost})' if cost else ''}"


# --- what is not among the objects --------------------------------------------------------------------------


def no_such_workload(workload: str) -> str:
    return f"Workload/{workload} is not among the objects"


def no_fleet_check(workload: str) -> str:
    return f"Workload/{workload} has no admission check of {well_known.MULTIKUEUE_CONTROLLER}"


def no_fleet_config(config: str, check: str) -> str:
    return f"MultiKueueConfig/{config} of AdmissionCheck/{check} is missing"
