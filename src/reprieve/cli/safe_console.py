"""A rich console that shows what would steer the terminal instead of obeying it."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from reprieve.objects import harmless


class SafeConsole(Console):
    """Names and messages come from whoever may write to the cluster or to the manifests."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(harmless(segment.text), segment.style)
