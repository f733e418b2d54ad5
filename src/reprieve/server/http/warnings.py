"""What people should know about an object that they just created: sentences that kubectl prints.

An object that nobody acts on is stored, so that a chart can be applied, and its author is told.
"""

from reprieve.objects import Document
from reprieve.server.registry import ResourceInfo


def warnings_about(resource: ResourceInfo, document: Document) -> list[str]:
    del document
    return [f"{resource.kind}: {resource.inert}"] if resource.inert else []
