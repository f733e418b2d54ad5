"""Every sentence of this room. The texts are in `tests/admission/test_sentences.py`, once each.

What an API server says when it refuses an object is in its own words, and in the modules that follow it.
"""

from collections.abc import Sequence

from reprieve.objects import some

_NAMED = 3


def requests_from_limit_ranges(ranges: Sequence[str], pods: Sequence[str]) -> str:
    return f"Note: {', '.join(ranges)} gives requests to containers without: {some(pods, _NAMED)}."


def refused_by_a_server(pod: str, why: str) -> str:
    """`why` is the server's own message."""
    return f"The API server does not create {pod}: {why}."


def pods_are_refused(refused: Sequence[tuple[str, str]]) -> str:
    """Of each: the pod, and the server's message."""
    names = some([f"{pod} ({why})" for pod, why in refused], _NAMED)
    return f"Warning: the API server does not create {names}."


def runtime_classes_are_missing(classes: Sequence[tuple[str, str]]) -> str:
    """Of each: the class, and what names it."""
    names = some([f"{name} ({owner})" for name, owner in classes], _NAMED)
    text = "Warning: runtime classes that are not among the objects; their overhead is not counted"
    return f"{text}: {names}."


def claim_templates_are_missing(templates: Sequence[tuple[str, str]]) -> str:
    """Of each: the template, and the pod that names it."""
    names = some([f"{template} ({pod})" for template, pod in templates], _NAMED)
    text = "claims are missing, for the templates to make them from are not among the objects"
    return f"Warning: {text}: {names}."


def volumes_are_made(claims: Sequence[str]) -> str:
    text = "gets its volume" if len(claims) == 1 else "get their volumes"
    named, how = some(claims, _NAMED), "(volumeBindingMode Immediate), reachable from every node"
    return f"Note: {named} {text} at once {how}."
