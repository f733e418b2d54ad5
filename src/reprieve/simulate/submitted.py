"""Jobs from manifests of any kind of the job table, with annotations that say when they come and how long.

    metadata:
      annotations:
        reprieve.dev/arrives-after: 90s       # after the simulation begins; without it: at once
        reprieve.dev/expected-runtime: 2h     # how long its pods work

A simulated job has equal pods: where the pods of a job differ, each counts as the largest in every resource,
and a note says so.
"""

from collections.abc import Iterable, Sequence

from reprieve.jobs import JobKinds, expand, priority_class_of, queue_of
from reprieve.objects import (
    Document,
    Object,
    Pod,
    PriorityClass,
    PriorityClasses,
    Reference,
    ReprieveError,
    Source,
    counted,
    decode,
    parse_duration,
    pod_requests,
    well_known,
)
from reprieve.simulate.jobs import LONGEST, SHARE, UNCLASSED, Job, Trace, ticks
from reprieve.simulate.pods import GPU


def read_submitted(sources: Sequence[Source], objects: Iterable[Object] = ()) -> Trace:
    """`objects`: the cluster, for its priority classes."""
    kinds = JobKinds()
    documents = [each.document for each in sources]
    classes = PriorityClasses(each for each in objects if isinstance(each, PriorityClass))
    for document in documents:
        if document.get("kind") == "PriorityClass":
            classes.put(_class(document))
    found: list[Job] = []
    places: dict[str, str] = {}
    uneven = 0
    for source in sources:
        if kinds.find(source.document) is None:
            continue
        try:
            job, even = _job(source.document, kinds, documents, classes)
        except ReprieveError as error:
            raise ReprieveError(f"{source.where}: {error}") from None
        if job.name in places:
            raise ReprieveError(
                f"{source.where}: the job {job.name} is there twice, first in {places[job.name]}"
            )
        places[job.name] = source.where
        found.append(job)
        uneven += not even
    notes = [f"{counted(uneven, 'job')} with pods of different sizes: each pod counts as the largest"]
    return Trace(jobs=tuple(sorted(found, key=lambda job: job.submit)), notes=tuple(notes[: bool(uneven)]))


def _class(document: Document) -> PriorityClass:
    view = decode(document)
    assert isinstance(view, PriorityClass)
    return view


def _job(
    document: Document, kinds: JobKinds, others: Sequence[Document], classes: PriorityClasses
) -> tuple[Job, bool]:
    """The job, and whether its pods are equal."""
    kind = kinds.find(document)
    assert kind is not None
    reference = Reference.read(document)
    expansion = expand(document, kinds, others)
    asked = [_requests(pod) for pods in expansion.pods.values() for pod in pods]
    if not asked:
        raise ReprieveError(f"{reference} has no pods")
    name = priority_class_of(document, kind, expansion.sets)
    applying = classes.applying(name)
    if name and applying is None:
        raise ReprieveError(f"{reference}: there is no PriorityClass {name}")
    cpu, memory, gpu = (max(amounts) for amounts in zip(*asked, strict=True))
    job = Job(
        name=f"{reference.namespace or 'default'}.{reference.name}",
        submit=ticks(_duration(document, well_known.ARRIVES_AFTER_ANNOTATION, reference, "0s")),
        duration=ticks(_duration(document, well_known.EXPECTED_RUNTIME_ANNOTATION, reference, None)),
        pods=len(asked),
        cpu=cpu,
        memory=memory,
        gpu=gpu,
        priority=applying.value if applying is not None else 0,
        klass=_klass(applying),
        queue=_queue(document, reference),
        kind=reference.kind,
    )
    return job, len(set(asked)) == 1


def _klass(applying: PriorityClass | None) -> str:
    return UNCLASSED[0] if applying is None else applying.name


def _queue(document: Document, reference: Reference) -> str:
    name = queue_of(document)
    return f"{reference.namespace or 'default'}/{name}" if name else ""


def _requests(pod: Document) -> tuple[int, int, int]:
    """Thousandths of cores, MiB, thousandths of GPUs."""
    view = decode(pod)
    assert isinstance(view, Pod)
    asked = pod_requests(view.spec)
    memory = asked.get("memory", 0)
    return asked.get("cpu", 0), -(-memory // 2**20), asked.get(GPU, 0) * SHARE


def _duration(document: Document, annotation: str, reference: Reference, default: str | None) -> float:
    notes = (document.get("metadata") or {}).get("annotations") or {}
    text = notes.get(annotation, default)
    if text is None:
        raise ReprieveError(f"{reference}: how long does it run? Annotate it with {annotation}: 30m")
    try:
        seconds = parse_duration(str(text))
    except ValueError:
        seconds = -1.0
    if seconds < 0:
        raise ReprieveError(f"{reference}: {annotation} is {text!r}; write a duration such as 90s or 1h30m")
    if seconds > LONGEST:
        raise ReprieveError(f"{reference}: {annotation} is {text!r}, more than 100 years")
    return seconds
