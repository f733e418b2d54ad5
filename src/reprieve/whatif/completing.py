"""Documents as every answer reads them: foreign groups, templates of groups, and what a server adds."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from reprieve.admission import complete as admitted
from reprieve.objects import Document, Object, Reference, Source, decode_all
from reprieve.whatif.group_kinds import with_group_kinds
from reprieve.whatif.pods import check, with_templates


class Complete(NamedTuple):
    documents: list[Document | Source]
    views: list[Object]
    notes: list[str]
    """Sentences about what the objects refer to and what is not among them."""
    refused: dict[Reference, str]
    """Pods that a server would not create, and why, in its words. They are among the documents and views."""


def complete(objects: Iterable[Document | Source], now: datetime) -> Complete:
    """Without claims for pods: who replays what happens makes them as time goes by."""
    documents, notes = with_group_kinds(objects)
    found = admitted(with_templates(documents, notes), now, claims=False)
    views = decode_all(found.documents)
    for each in views:
        if Reference.of(type(each).__name__, each.key) not in found.refused:
            check(each)
    return Complete(found.documents, views, [*notes, *found.notes], found.refused)
