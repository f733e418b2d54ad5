"""The server that `test_crash.py` kills: serves a data directory on a given port until it dies."""

import asyncio
import sys

from reprieve.server.embedded import EmbeddedServer, new_event_loop


async def main(directory: str, port: int, history: int) -> None:
    async with EmbeddedServer(
        data_dir=directory, port=port, tls=False, controllers=False, history=history
    ) as server:
        print(server.port, server.token, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    loop = new_event_loop()
    loop.run_until_complete(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
