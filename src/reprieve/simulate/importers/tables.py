"""The formats that are CSV files: their columns, and what a row means."""

from collections.abc import Callable
from decimal import Decimal

import msgspec

from reprieve.simulate.importers.records import ZERO, Fields, Record

MINUTE = 60
MILLIS = 1000


class Table(msgspec.Struct, frozen=True, kw_only=True):
    convert: Callable[[Fields], Record]
    needed: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    """They may be there, and are not needed; any other column is an error."""


def _philly(row: Fields) -> Record:
    pods, gpu = row.gang("num_gpus")
    return Record(
        name=f"philly-{row.number}",
        submit=row.local_time("timestamp"),
        duration=row.amount("duration"),
        queue=_virtual_cluster(row.needed("cluster")),
        pods=pods,
        gpu=gpu,
        kind=_training(gpu),
    )


CHRONUS_CLASSES = {"strict": 2, "soft": 1, "best": 0}


def _chronus(row: Fields) -> Record:
    pods, gpu = row.gang("num_gpu")
    hint = row.choice("job_type", CHRONUS_CLASSES)
    first_deadline = row.first("expect_time_list") * MINUTE
    return Record(
        name=f"chronus-{row.needed('job_id')}",
        submit=row.amount("submit_time") * MINUTE,
        duration=row.amount("duration") * MINUTE,
        queue=_virtual_cluster(row.needed("user")),
        pods=pods,
        gpu=gpu,
        hint=hint,
        kind=_training(gpu),
        # Of a best-effort job the field repeats the time of submission; soft ones have several deadlines.
        deadline=first_deadline if hint else None,
    )


OPENB_CLASSES = {"LS": 2, "Guaranteed": 2, "Burstable": 1, "BE": 0}
OPENB_PHASES = {each: each.lower() for each in ("Running", "Succeeded", "Failed", "Pending")}


def _openb(row: Fields) -> Record:
    qos = row.needed("qos")
    outcome = row.choice("pod_phase", OPENB_PHASES)
    return Record(
        name=row.needed("name"),
        submit=row.amount("creation_time"),
        duration=_openb_duration(row, outcome),
        queue=qos,
        cpu=row.whole("cpu_milli"),
        memory=row.whole("memory_mib"),
        gpu=row.count("num_gpu") * row.amount("gpu_milli") / MILLIS,
        hint=row.choice("qos", OPENB_CLASSES),
        kind="service" if qos == "LS" else "batch",
        outcome=outcome,
    )


def _openb_duration(row: Fields, outcome: str) -> Decimal | None:
    if outcome == "pending" and not row.text("scheduled_time"):
        row.optional("deletion_time")
        return None
    scheduled, deleted = row.amount("scheduled_time"), row.amount("deletion_time")
    return row.between(scheduled, deleted, "deletion_time is earlier than scheduled_time")


DEFERRABLE = {"True": 0, "true": 0, "1": 0, "False": 1, "false": 1, "0": 1}
"""To the class: what can wait is low, the rest normal."""


def _surf(row: Fields) -> Record:
    submit = row.instant("submission_time")
    return Record(
        name=f"surf-{row.needed('id')}",
        submit=submit,
        duration=row.amount("duration") / MILLIS,
        cpu=row.whole("cpu_count", MILLIS),
        memory=row.whole("mem_capacity"),
        gpu=ZERO,
        hint=row.choice("deferrable", DEFERRABLE) if row.text("deferrable") else None,
        kind="batch",
        deadline=row.between(submit, row.instant("deadline"), "deadline is earlier than submission_time")
        if row.text("deadline")
        else None,
    )


SPOT_CLASSES = {"HP": 2, "Spot": 0}


def _spot(row: Fields) -> Record:
    return Record(
        name=f"spot-{row.needed('job_name')}",
        submit=row.amount("submit_time"),
        duration=row.amount("duration"),
        queue=row.text("organization"),
        pods=row.pods("worker_num"),
        cpu=row.whole("cpu_request", MILLIS),
        gpu=row.amount("gpu_request"),
        hint=row.choice("job_type", SPOT_CLASSES),
    )


def _virtual_cluster(name: str) -> str:
    return name.removeprefix("vc_")


def _training(gpu: Decimal) -> str:
    return "training" if gpu else "cpu-only"


TABLES = {
    "philly": Table(
        convert=_philly,
        needed=("timestamp", "duration", "num_gpus", "cluster"),
        ignored=("gpu_time",),
    ),
    "chronus": Table(
        convert=_chronus,
        needed=("job_id", "user", "num_gpu", "submit_time", "duration", "expect_time_list", "job_type"),
        ignored=("iterations", "model_name", "interval", "expect_value_list", "best_effort"),
    ),
    "openb": Table(
        convert=_openb,
        needed=(
            *("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "qos", "pod_phase"),
            *("creation_time", "deletion_time", "scheduled_time"),
        ),
        ignored=("gpu_spec",),
    ),
    "surf": Table(
        convert=_surf,
        needed=("id", "submission_time", "duration", "cpu_count", "mem_capacity"),
        ignored=("cpu_capacity", "deferrable", "deadline"),
    ),
    "spot-gpu-2026": Table(
        convert=_spot,
        needed=(
            *("job_name", "organization", "cpu_request", "gpu_request", "worker_num"),
            *("submit_time", "duration", "job_type"),
        ),
        ignored=("gpu_model",),
    ),
}
