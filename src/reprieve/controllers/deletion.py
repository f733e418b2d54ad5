"""Deleting what has dependents."""

import msgspec

from reprieve.kube import ApiError, Client, Resource

_OPTIONS = msgspec.json.encode(
    {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
)


async def delete_with_dependents(client: Client, resource: Resource, name: str, namespace: str) -> None:
    """Delete, and let the garbage collector follow: a plain DELETE of a Job would leave its pods behind.

    What is gone already is no error.
    """
    try:
        path = resource.path(namespace, name)
        await client.request("DELETE", path, body=_OPTIONS, content_type="application/json")
    except ApiError as error:
        if not error.not_found:
            raise
