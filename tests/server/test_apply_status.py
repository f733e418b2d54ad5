"""Server-side apply to a subresource, over HTTP."""

from reprieve.kube import Client
from reprieve.server import EmbeddedServer

APPLY = "application/apply-patch+yaml"


async def test_an_apply_to_status_sets_the_status():
    async with (
        EmbeddedServer(controllers=False) as server,
        Client.from_kubeconfig(server.kubeconfig) as client,
    ):
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        await server.api.create("nodes", node)
        condition = b'{"type": "Ready", "status": "True"}'
        body = (
            b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"conditions": [%s]}}'
            % condition
        )
        query = {"fieldManager": "kubelet"}
        await client.request("PATCH", "/api/v1/nodes/n/status", query=query, body=body, content_type=APPLY)
        stored = await server.api.get("nodes", "n")
        assert [c["type"] for c in stored["status"]["conditions"]] == ["Ready"]
        owners = {entry["manager"]: entry.get("subresource") for entry in stored["metadata"]["managedFields"]}
        assert owners["kubelet"] == "status"


async def test_openapi_v2_in_protobuf_is_answered_with_a_type_that_go_can_read():
    import ssl

    import aiohttp

    asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    async with EmbeddedServer(controllers=False) as server, aiohttp.ClientSession() as session:
        assert server.ca is not None
        context = ssl.create_default_context(cadata=server.ca.decode())
        headers = {"Accept": asked, "Authorization": f"Bearer {server.token}"}
        async with session.get(f"{server.url}/openapi/v2", headers=headers, ssl=context) as response:
            assert response.status == 200
            assert response.headers["Content-Type"] == asked.replace("@", ".")
