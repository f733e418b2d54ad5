"""Pod templates of jobs as their users wrote them."""

from copy import deepcopy
from typing import Final

from reprieve.objects import Document

GENERATED_LABELS: Final = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)
"""What the job controller adds to a job and its template."""


def plain_template(template: Document) -> Document:
    copied = deepcopy(template)
    labels = (copied.get("metadata") or {}).get("labels") or {}
    for name in GENERATED_LABELS:
        labels.pop(name, None)
    return copied
