"""How long a unit is shielded from preemption by `reprieve.dev/min-runtime`."""

from reprieve.cluster.pods import NOT_STARTED, ticks
from reprieve.objects import InvalidObject, Pod, TimeError, parse_duration, well_known


def min_runtime_end(pod: Pod) -> int:
    """Microseconds since 1970 up to which the pod is no victim; 0 when it states no minimum run time."""
    text = pod.metadata.annotations.get(well_known.MIN_RUNTIME_ANNOTATION)
    if text is None:
        return 0
    try:
        seconds = parse_duration(text)
    except TimeError as wrong:
        raise InvalidObject(
            f"metadata.annotations[{well_known.MIN_RUNTIME_ANNOTATION}]", text, str(wrong), f"Pod/{pod.key}"
        ) from None
    start = ticks(pod.status.start_time)
    return NOT_STARTED if start == NOT_STARTED else start + int(seconds * 1_000_000)
