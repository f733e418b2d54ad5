"""Documents as every answer reads them: foreign groups, templates and runtime classes filled in."""

from collections.abc import Iterable
from typing import NamedTuple

from reprieve.objects import Document, Object, Source, decode_all, document_of
from reprieve.whatif.group_kinds import with_group_kinds
from reprieve.whatif.pods import with_templates
from reprieve.whatif.runtime_classes import with_runtime_classes


class Complete(NamedTuple):
    documents: list[Document | Source]
    views: list[Object]
    notes: list[str]
    """Sentences about what the objects refer to and what is not among them."""


def complete(objects: Iterable[Document | Source]) -> Complete:
    documents, notes = with_group_kinds(objects)
    documents = with_templates(documents, notes)
    views, missing = with_runtime_classes(decode_all(documents), map(document_of, documents))
    return Complete(documents, views, [*notes, *missing])
