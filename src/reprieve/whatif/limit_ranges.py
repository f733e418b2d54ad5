"""What the LimitRanges of a namespace give to pods that are still to be created, and what they forbid.

An API server does that to a pod when it is created. A manifest that no server has seen lacks it.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from reprieve.objects import LimitRange, Object, Pod, PodSpec, ResourceList, nano
from reprieve.whatif import sentences


def with_limit_ranges(views: list[Object]) -> tuple[list[Object], list[str]]:
    """The views with the usual requests of their namespaces, and sentences about that."""
    ranges: dict[str, list[LimitRange]] = {}
    for each in views:
        if isinstance(each, LimitRange):
            ranges.setdefault(each.namespace, []).append(each)
    if not ranges:
        return views, []
    # A plan of nodes needs nothing else of quota.
    from reprieve.quota import with_defaults

    given: dict[tuple[str, ...], list[str]] = {}
    refused: dict[tuple[str, str], None] = {}
    found: list[Object] = []
    for view in views:
        if isinstance(view, Pod) and view.namespace in ranges and _is_new(view):
            own = ranges[view.namespace]
            spec, name = with_defaults(view.spec, own), f"Pod/{view.key}"
            if _requests(spec) != _requests(view.spec):
                given.setdefault(tuple(each.key for each in own), []).append(name)
            refused |= dict.fromkeys((name, text) for text in _outside(spec, own))
            view = replace(view, spec=spec)
        found.append(view)
    notes = [sentences.requests_from_limit_range(source, pods) for source, pods in given.items()]
    return found, [*notes, *([sentences.outside_limit_ranges([*refused])] if refused else [])]


def _is_new(pod: Pod) -> bool:
    return not pod.metadata.uid and not pod.spec.node_name


def _requests(spec: PodSpec) -> list[ResourceList]:
    return [each.resources.requests for each in (*spec.containers, *spec.init_containers)]


def _outside(spec: PodSpec, ranges: Iterable[LimitRange]) -> Iterator[str]:
    """Of single containers; what is stated for whole pods is the server's business."""
    for each in ranges:
        for item in each.spec.limits:
            if item.type != "Container":
                continue
            for index, container in enumerate(spec.containers):
                for name, wanted in container.resources.requests.items():
                    for highest, bound, sign in ((True, item.max, 1), (False, item.min, -1)):
                        if name in bound and sign * (nano(wanted) - nano(bound[name])) > 0:
                            said = sentences.above_limit_range if highest else sentences.below_limit_range
                            yield said(index, name, wanted, bound[name], each.key)
