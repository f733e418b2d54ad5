"""What the tests of the rooms' catalogues of sentences share."""

import ast
import re
from pathlib import Path
from types import ModuleType


def read_back(said: str, sample: str, *values: str) -> tuple[str, ...] | None:
    """The numbers in a sentence; None for another sentence.

    `sample` is the same sentence with other numbers; `values` are those numbers as they stand in it, in
    order.
    """
    pattern = re.escape(sample)
    for value in values:
        pattern = pattern.replace(re.escape(value), r"(-?[\d.]+)", 1)
    found = re.match(pattern, said)
    return found.groups() if found else None


def without_a_row(catalogue: ModuleType, table: str) -> set[str]:
    """Codes of a catalogue that a file of tests does not mention.

    A code is a public function of the catalogue, or a public constant that is text. `table` is the path of
    the file; it mentions a code as an attribute of the catalogue: `sentences.waits_for_quota(...)`.
    """
    codes = {
        name
        for name, value in vars(catalogue).items()
        if not name.startswith("_")
        and (isinstance(value, str) or getattr(value, "__module__", "") == catalogue.__name__)
    }
    own = catalogue.__name__.rpartition(".")[2]
    mentioned = {
        found.attr
        for found in ast.walk(ast.parse(Path(table).read_text()))
        if isinstance(found, ast.Attribute) and isinstance(found.value, ast.Name) and found.value.id == own
    }
    return codes - mentioned
