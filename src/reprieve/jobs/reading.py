"""Which pods a job would have, whatever its kind."""

from collections.abc import Iterable

from reprieve.jobs import sentences
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place
from reprieve.jobs.pod_sets import PodSet, by_rule
from reprieve.jobs.rows import JobKind
from reprieve.jobs.special import READERS, Surroundings
from reprieve.objects import Document, InvalidObject, kind_key

MOST_PODS = 100_000
"""In one job. More is a slip of the pen, or somebody who wants to see us fall."""


def pod_sets(document: Document, kinds: JobKinds, others: Iterable[Document] = ()) -> list[PodSet]:
    """All pod sets of a job, in the order in which its controller makes the pods.

    `others`: objects that it may refer to, such as a training runtime.
    """
    kind = kinds.find(document)
    if kind is None:
        raise InvalidObject("kind", document.get("kind"), sentences.not_a_job(document.get("kind")))
    found = _read(Place("", document), kind, Surroundings(kinds, others, _read))
    total = sum(each.count for each in found)
    if total > MOST_PODS:
        raise InvalidObject("spec", None, sentences.too_many_pods(total, MOST_PODS))
    return found


def _read(root: Place, kind: JobKind, around: Surroundings) -> list[PodSet]:
    found = [each for rule in kind.pod_sets for each in by_rule(root, kind, rule)]
    return READERS[kind.reader](root, around, kind, found) if kind.reader else found


def has_pod_template(document: Document) -> bool:
    """Whether pods are described somewhere in something that is no pod itself, whatever its kind."""
    to_do: list[object] = [document.get("spec")] if kind_key(document) != ("", "Pod") else []
    while to_do:
        value = to_do.pop()
        if isinstance(value, dict):
            spec = value.get("spec")
            if isinstance(spec, dict) and isinstance(spec.get("containers"), list):
                return True
            to_do += value.values()
        elif isinstance(value, list):
            to_do += value
    return False
