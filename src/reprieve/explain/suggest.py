"""Which name was meant."""

import difflib
from collections.abc import Iterable

from reprieve.explain.evidence import Evidence
from reprieve.objects import Reference

MOST = 3


def closest(word: str, known: Iterable[str]) -> list[str]:
    """The known names that are written most like it, nearest first; empty when none is."""
    return difflib.get_close_matches(word, sorted(set(known)), n=MOST, cutoff=0.6)


def suggestions(target: Reference, evidence: Evidence) -> list[Reference]:
    """What exists and is called almost so.

    1. The same name in another namespace.
    2. Objects of the kind with the nearest names, in the namespace, then anywhere.
    3. The same name, of another kind.
    """
    known = [Reference.read(each) for each in evidence.objects]
    alike = [each for each in known if each.kind == target.kind]
    found = [each for each in alike if each.name == target.name]
    for pool in ([each for each in alike if each.namespace == target.namespace], alike):
        names = closest(target.name, (each.name for each in pool))
        found += [each for name in names for each in pool if each.name == name]
    found += [each for each in known if each.key == target.key and each.kind in Reference.words()]
    return list(dict.fromkeys(each for each in found if each != target))[:MOST]
