"""YAML text to plain values: line by line where a program wrote it, otherwise by events; the same values."""

from collections.abc import Callable, Iterator
from typing import Any

from reprieve.objects.yamlblocks import NotBlocks, read_blocks
from reprieve.objects.yamlevents import MAX_EXPANSION, read_events
from reprieve.objects.yamlscalars import MAX_DEPTH, YamlError

__all__ = ["MAX_DEPTH", "MAX_EXPANSION", "YamlError", "documents"]


def documents(
    text: str,
    lines_before: int = 0,
    *,
    aliases: bool = True,
    report: Callable[[int], None] | None = None,
) -> Iterator[Any]:
    """Every document of the text; an empty one is None. Raises `YamlError`, which names the line.

    `lines_before`: where the text starts in its file. `report` hears now and then how far in the text it is.
    """
    try:
        yield read_blocks(text, report)
    except NotBlocks:
        yield from read_events(text, lines_before, aliases=aliases, report=report)
