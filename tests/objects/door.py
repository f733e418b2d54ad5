"""Helpers for tests of the door: what does `admit` say?"""

from typing import Any

from reprieve.config import Configuration
from reprieve.objects import Context, PriorityClasses, admit, priority_class_of

CONTEXT = Configuration.load(None).admission_context()


def context(*classes: dict[str, Any], config: dict[str, Any] | None = None) -> Context:
    """A cluster in which exactly these priority classes exist."""
    known = PriorityClasses(map(priority_class_of, classes))
    return Configuration.load(config).admission_context(known)


def paths(document: dict[str, Any], *, at: Context = CONTEXT, old: dict[str, Any] | None = None) -> list[str]:
    return [problem.path for problem in admit(document, at, old)[1]]


def lines(document: dict[str, Any], *, at: Context = CONTEXT, old: dict[str, Any] | None = None) -> list[str]:
    return [str(problem) for problem in admit(document, at, old)[1]]


def stored(
    document: dict[str, Any], *, at: Context = CONTEXT, old: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What is let in; fails the test where something is not."""
    admitted, problems = admit(document, at, old)
    assert problems == []
    return admitted
