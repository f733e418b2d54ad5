"""Which kinds a server serves, and in which versions. What is there is remembered; what is missing is looked for again."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from reprieve.kube.errors import ApiError
from reprieve.kube.resources import Resource


class Discovery:
    def __init__(self, request: Callable[[str, str], Awaitable[bytes]]) -> None:
        """`request(method, path)` gives the body of a success."""
        self._request = request
        self._found: dict[tuple[str, str, str], Resource] = {}
        self._documents: dict[str, dict[str, Any]] = {}

    async def find(self, resource: Resource) -> Resource | None:
        """The resource in the wanted version, else in the server's preferred one that has it, else in the group that
        stands in for its own; None if there is none."""
        key = (resource.group, resource.version, resource.plural)
        if key not in self._found:
            found = await self._look(resource)
            if found is None:
                self._documents.clear()  # it may be installed later
                return None
            self._found[key] = found
        return resource.at(self._found[key].version, self._found[key].group)

    async def _look(self, resource: Resource) -> Resource | None:
        found = await self._look_in(resource)
        if found is None and resource.stand_in:
            found = await self._look_in(resource.at(resource.version, resource.stand_in))
        return found

    async def _look_in(self, resource: Resource) -> Resource | None:
        """In the group that the resource names, and no other."""
        versions = [resource.version]
        if resource.group:
            group = await self._document(f"/apis/{resource.group}")
            versions = [entry["version"] for entry in group.get("versions") or ()]
        for version in sorted(versions, key=lambda each: each != resource.version):
            candidate = resource.at(version)
            listed = (await self._document(candidate.root)).get("resources") or ()
            if any(entry["name"] == resource.plural for entry in listed):
                return candidate
        return None

    async def _document(self, path: str) -> dict[str, Any]:
        """A discovery document; empty where there is none."""
        if path not in self._documents:
            try:
                self._documents[path] = msgspec.json.decode(await self._request("GET", path))
            except ApiError as error:
                if not error.not_found:
                    raise
                return {}
        return self._documents[path]
