"""Jobs from manifests of any kind of the job table, with annotations that say when they come and how long.

    metadata:
      annotations:
        reprieve.dev/arrives-after: 90s       # after the simulation begins; without it: at once
        reprieve.dev/expected-runtime: 2h     # how long its pods work

A simulated job has equal pods: where the pods of a job differ, each counts as the largest in every resource,
and a note says so. So do notes of what a job asks for and no simulation counts, and of other objects.
"""

from collections.abc import Iterable, Iterator, Sequence

from reprieve.admission import Completing, refused_by_a_server
from reprieve.jobs import RUNTIMES, JobKinds, expand, priority_class_of, queue_of
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
    document_of,
    ignored,
    ignored_sentence,
    parse_duration,
    pod_requests,
    well_known,
)
from reprieve.simulate.jobs import LONGEST, SHARE, UNCLASSED, Job, Trace, ticks
from reprieve.simulate.pods import GPU

COUNTED = {"cpu", "memory", GPU}
PRIORITY_CLASS = (well_known.SCHEDULING_API, "PriorityClass")
_ADDING = (("", "LimitRange"), ("node.k8s.io", "RuntimeClass"))
"""What adds to the requests of pods."""
_PLACING = {
    "affinity": "affinity",
    "nodeSelector": "node_selector",
    "resourceClaims": "resource_claims",
    "schedulingGates": "scheduling_gates",
    "tolerations": "tolerations",
    "topologySpreadConstraints": "topology_spread_constraints",
}
"""Fields that say where pods may run, as manifests and as views call them."""


def read_submitted(
    sources: Sequence[Source], objects: Iterable[Object] = (), cluster: Iterable[Document | Source] = ()
) -> Trace:
    """`objects`: the cluster, for its priority classes; `cluster`: its documents, which may add to pods."""
    kinds = JobKinds()
    documents = [each.document for each in sources]
    completing = Completing([*documents, *map(document_of, cluster)])
    classes = PriorityClasses(each for each in objects if isinstance(each, PriorityClass))
    for document in documents:
        if document.get("kind") == "PriorityClass":
            classes.put(_class(document))
    found: list[Job] = []
    places: dict[str, str] = {}
    uneven = 0
    unused: list[set[str]] = []
    for source in sources:
        if kinds.find(source.document) is None:
            continue
        try:
            job, even, left = _job(source.document, kinds, documents, classes, completing)
        except ReprieveError as error:
            raise ReprieveError(f"{source.where}: {error}") from None
        if job.name in places:
            raise ReprieveError(
                f"{source.where}: the job {job.name} is there twice, first in {places[job.name]}"
            )
        places[job.name] = source.where
        found.append(job)
        uneven += not even
        unused += [left] if left else []
    notes = [f"{counted(uneven, 'job')} with pods of different sizes: each pod counts as the largest"]
    notes = [
        *notes[: bool(uneven)],
        *(each.removesuffix(".") for each in completing.notes()),
        *_left_out(sources, kinds, unused),
    ]
    return Trace(jobs=tuple(sorted(found, key=lambda job: job.submit)), notes=tuple(notes))


def _left_out(sources: Sequence[Source], kinds: JobKinds, unused: Sequence[set[str]]) -> Iterator[str]:
    if unused:
        verb = "asks" if len(unused) == 1 else "ask"
        named = ", ".join(sorted(set().union(*unused)))
        yield f"{counted(len(unused), 'job')} {verb} for what is not simulated: {named}"
    used = {(each.group, each.kind) for each in kinds} | {*RUNTIMES, PRIORITY_CLASS, *_ADDING}
    if others := ignored(sources, used, "give it with -f"):
        yield ignored_sentence(others)


def _class(document: Document) -> PriorityClass:
    view = decode(document)
    assert isinstance(view, PriorityClass)
    return view


def _job(
    document: Document,
    kinds: JobKinds,
    others: Sequence[Document],
    classes: PriorityClasses,
    completing: Completing,
) -> tuple[Job, bool, set[str]]:
    """The job, whether its pods are equal, and what it asks for in vain."""
    kind = kinds.find(document)
    assert kind is not None
    reference = Reference.read(document)
    expansion = expand(document, kinds, others)
    made = [each for members in expansion.pods.values() for each in members]
    pods = [_pod(document_of(completing.completed(each))) for each in made]
    if refused := next((ref for ref in map(Reference.read, made) if ref in completing.refused), None):
        raise ReprieveError(refused_by_a_server(str(refused), completing.refused[refused]))
    asked = [_requests(pod) for pod in pods]
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
    unused = {name for pod in pods for name in _unused(pod)}
    if applying is not None and applying.preemption_policy == "Never":
        unused.add("preemptionPolicy")
    labels = (document.get("metadata") or {}).get("labels") or {}
    return job, len(set(asked)) == 1, unused | (labels.keys() & {well_known.WORKLOAD_PRIORITY_CLASS_LABEL})


def _unused(pod: Pod) -> Iterator[str]:
    """What it asks for and no simulation counts."""
    yield from pod_requests(pod.spec).keys() - COUNTED
    for name, field in _PLACING.items():
        if getattr(pod.spec, field):
            yield name


def _klass(applying: PriorityClass | None) -> str:
    return UNCLASSED[0] if applying is None else applying.name


def _queue(document: Document, reference: Reference) -> str:
    name = queue_of(document)
    return f"{reference.namespace or 'default'}/{name}" if name else ""


def _pod(document: Document) -> Pod:
    view = decode(document)
    assert isinstance(view, Pod)
    return view


def _requests(pod: Pod) -> tuple[int, int, int]:
    """Thousandths of cores, MiB, thousandths of GPUs."""
    asked = pod_requests(pod.spec)
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
