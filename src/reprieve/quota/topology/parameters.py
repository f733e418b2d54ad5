"""What a topology request means in a given topology: levels by number, sizes of slices."""

from __future__ import annotations

from typing import NamedTuple

from reprieve.objects import TopologyRequest
from reprieve.quota import sentences


class Unusable(NamedTuple):
    """The request makes no sense in this topology."""

    text: str


class Parameters(NamedTuple):
    level: int
    """All pods in one domain of it: if required, always; if preferred, if possible."""
    required: bool
    unconstrained: bool
    size: int
    """Of a slice; 1 without slices."""
    slice_level: int
    """A slice lies within one domain of this level."""
    inner: dict[int, int]
    """Nested slices: the pods of a domain of this level come in multiples of this."""


def sliced(request: TopologyRequest | None) -> bool:
    return request is not None and bool(request.slices)


def only_sliced(request: TopologyRequest | None) -> bool:
    return request is not None and request.required is None and request.preferred is None and sliced(request)


def level_name(request: TopologyRequest | None, levels: tuple[str, ...], implied: bool) -> str | None:
    if request is not None:
        if request.required is not None:
            return request.required
        if request.preferred is not None:
            return request.preferred
        if only_sliced(request):
            return levels[0]
        if request.unconstrained:
            return levels[-1]
    return levels[-1] if implied else None


def has_levels(request: TopologyRequest, levels: tuple[str, ...]) -> bool:
    """Whether the topology has every level that the request names."""
    main = level_name(request, levels, implied=False)
    return main in levels and all(each.topology in levels for each in request.slices)


def parameters(
    request: TopologyRequest | None, levels: tuple[str, ...], implied: bool
) -> Parameters | Unusable:
    slices = request.slices if request is not None else ()
    size = slices[0].size if slices else 1
    if size <= 0:
        return Unusable(sentences.NO_SLICE_SIZE)
    main = level_name(request, levels, implied)
    if main is None:
        return Unusable(sentences.NO_LEVEL)
    if main not in levels:
        return Unusable(sentences.no_such_level(main))
    slice_name = slices[0].topology if slices else levels[-1]
    if slice_name not in levels:
        return Unusable(sentences.no_such_slice_level(slice_name))
    level, slice_level = levels.index(main), levels.index(slice_name)
    if level > slice_level:
        return Unusable(sentences.slice_is_above(slice_name, main))
    inner: dict[int, int] = {}
    above, outer = slice_level, size
    for layer in slices[1:]:
        if layer.topology not in levels:
            return Unusable(sentences.no_such_layer_level(layer.topology))
        own = levels.index(layer.topology)
        if own <= above:
            return Unusable(sentences.layer_is_too_high(layer.topology, levels[above]))
        if layer.size <= 0 or outer % layer.size:
            return Unusable(sentences.layer_does_not_divide(layer.size, outer))
        inner.update(dict.fromkeys(range(above + 1, own + 1), layer.size))
        above, outer = own, layer.size
    return Parameters(
        level=level,
        required=request is not None and request.required is not None,
        unconstrained=implied or only_sliced(request) or bool(request is not None and request.unconstrained),
        size=size,
        slice_level=slice_level,
        inner=inner,
    )
