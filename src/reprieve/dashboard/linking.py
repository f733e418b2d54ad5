"""Joins the page's script modules into one, when the process starts: a browser asks for each module by
itself, and two dozen questions take longer than everything else at a first visit.

Only the forms that the page uses are known: `import {…} from "…";` on lines of their own, and names exported
where they are declared or in one list. Anything else is an error, so that no module is joined wrongly. What
is imported while the page runs (`import("…")`) stays a file.
"""

import posixpath
import re
from collections.abc import Mapping

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
DECLARED = re.compile(r"^export ((?:async )?function|const) (\w+)", re.MULTILINE)
LISTED = re.compile(r"\bexport ?\{([^}]*)\};?\s*\Z")
LATER = re.compile(r'\bimport\("([^"]+)"\)')
LEFT = re.compile(r"^(?:import\b(?!\()|export\b)", re.MULTILINE)


class CannotLink(ValueError):
    """A module in a form that is not known here."""


def link(sources: Mapping[str, str], first: str) -> str:
    """One module that does what `first` does with all that it imports; `sources` by their path."""
    order: list[str] = []
    _visit(first, sources, order, ())
    names = {path: f"module{number}" for number, path in enumerate(order)}
    return "".join(_wrapped(path, sources[path], names) for path in order)


def _visit(path: str, sources: Mapping[str, str], order: list[str], above: tuple[str, ...]) -> None:
    """What a module imports comes before it."""
    if path in above:
        raise CannotLink(f"{path} imports itself: {' -> '.join((*above, path))}")
    if path not in sources:
        raise CannotLink(f"{above[-1] if above else 'nothing'} imports {path}, which is not there")
    if path in order:
        return
    for _, other in IMPORT.findall(sources[path]):
        _visit(_resolved(path, other), sources, order, (*above, path))
    order.append(path)


def _resolved(path: str, other: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def _wrapped(path: str, source: str, names: Mapping[str, str]) -> str:
    """A function's own scope for each, as modules have; it gives back what the module exports."""
    exported = {name: name for _, name in DECLARED.findall(source)}
    body = DECLARED.sub(r"\1 \2", source)
    if found := LISTED.search(body):
        exported |= {new: old for old, new in map(_pair, found[1].split(","))}
        body = body[: found.start()]
    taken = IMPORT.findall(body)
    body = IMPORT.sub("", body)
    body = LATER.sub(lambda match: f'import("./{_resolved(path, match[1])}")', body)
    if LEFT.search(body):
        raise CannotLink(f"{path} imports or exports in a form that is not known")
    head = "".join(
        f"const {{{_destructured(wanted)}}} = {names[_resolved(path, other)]};\n" for wanted, other in taken
    )
    given = ", ".join(f"{new}: {old}" for new, old in exported.items())
    return f"// {path}\nconst {names[path]} = (() => {{\n{head}{body}\nreturn {{{given}}};\n}})();\n"


def _destructured(wanted: str) -> str:
    return ", ".join(f"{old}: {new}" for old, new in map(_pair, wanted.split(",")))


def _pair(text: str) -> tuple[str, str]:
    """`a as b`, or `a`."""
    old, _, new = text.strip().partition(" as ")
    return old, new or old
