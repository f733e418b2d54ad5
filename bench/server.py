"""The embedded API server under load: creates, gets, lists, watch fan-out, memory.

    .venv/bin/python bench/server.py [--pods 10000] [--connections 32] [--memory-pods 100000]

The server runs in a process of its own; the load comes from this one over plain HTTP/1.1 keep-alive
connections on 127.0.0.1 (a hand-written client, so that the client is not what is measured). Prints rates
with p50/p99 in milliseconds, and the CPU time that the server spent on each request, which does not depend on
who else uses the machine.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from reprieve.server.embedded import EmbeddedServer, new_event_loop

LISTED = "/api/v1/namespaces/default/pods"


class Address(NamedTuple):
    port: int
    token: str
    pid: int


def pod(name: str, i: int) -> bytes:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "labels": {"app": f"app-{i % 50}", "tier": "batch", "team": f"team-{i % 7}"},
                "annotations": {"reprieve.dev/run-for": "60s"},
            },
            "spec": {
                "schedulerName": "reprieve",
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/train:1.2",
                        "command": ["python", "-m", "train", f"--shard={i % 1000}"],
                        "env": [{"name": "RANK", "value": str(i % 1000)}, {"name": "WORLD", "value": "1000"}],
                        "resources": {
                            "requests": {"cpu": "500m", "memory": "1Gi"},
                            "limits": {"memory": "2Gi"},
                        },
                    }
                ],
            },
        }
    ).encode()


# -- the server's process -----------------------------------------------------------------------------------


def serve(data_dir: str | None, pipe: Any) -> None:
    loop = new_event_loop()
    asyncio.set_event_loop(loop)

    async def main() -> None:
        async with EmbeddedServer(tls=False, data_dir=data_dir, controllers=False) as server:
            pipe.send(Address(server.port, server.token, os.getpid()))
            await loop.run_in_executor(None, pipe.recv)

    loop.run_until_complete(main())


@contextmanager
def running_server(durable: bool) -> Iterator[Address]:
    ours, theirs = multiprocessing.Pipe()
    with tempfile.TemporaryDirectory() as directory:
        process = multiprocessing.Process(target=serve, args=(directory if durable else None, theirs))
        process.start()
        try:
            yield ours.recv()
        finally:
            ours.send(None)
            process.join(20)


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


# -- the load -----------------------------------------------------------------------------------------------


class Connection:
    """One keep-alive connection, one request at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address

    async def open(self) -> "Connection":
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._address.port, limit=2**26
        )
        return self

    async def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        self.send(method, path, body)
        await self._writer.drain()
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        return int(head[9:12]), await self._reader.readexactly(length)

    def send(self, method: str, path: str, body: bytes = b"") -> None:
        self._writer.write(
            b"%b %b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b"
            % (method.encode(), path.encode(), self._address.token.encode(), len(body), body)
        )

    async def count_lines(self, wanted: int) -> None:
        """Read a chunked stream until so many events went by."""
        seen = 0
        while seen < wanted:
            seen += (await self._reader.read(2**20)).count(b'{"type":"')

    def close(self) -> None:
        self._writer.close()


class Result(NamedTuple):
    rate: float
    p50: float
    p99: float
    cpu_us: float

    def __str__(self) -> str:
        return (
            f"{self.rate:8,.0f}/s   p50 {self.p50:6.2f} ms   p99 {self.p99:7.2f} ms   server CPU "
            f"{self.cpu_us:6.0f} us each"
        )


async def load(
    address: Address,
    connections: int,
    count: int,
    request: Callable[[int], tuple[str, str, bytes]],
    expect: int,
) -> Result:
    numbers = iter(range(count))
    times: list[float] = []

    async def work(connection: Connection) -> None:
        for i in numbers:
            start = time.perf_counter()
            status, body = await connection.request(*request(i))
            times.append(time.perf_counter() - start)
            if status != expect:
                raise SystemExit(f"unexpected answer {status}: {body[:300]!r}")

    opened = [await Connection(address).open() for _ in range(connections)]
    cpu, start = cpu_seconds(address.pid), time.perf_counter()
    await asyncio.gather(*(work(connection) for connection in opened))
    elapsed = time.perf_counter() - start
    spent = cpu_seconds(address.pid) - cpu
    for connection in opened:
        connection.close()
    times.sort()
    p50, p99 = times[len(times) // 2] * 1e3, times[int(len(times) * 0.99)] * 1e3
    return Result(count / elapsed, p50, p99, spent / count * 1e6)


def create(i: int) -> tuple[str, str, bytes]:
    return "POST", LISTED, pod(f"pod-{i:06d}", i)


async def creates(address: Address, args: argparse.Namespace, mode: str) -> None:
    result = await load(address, args.connections, args.pods, create, 201)
    print(f"create {args.pods:,} pods, {mode:<9} {result}")


async def reads(address: Address, args: argparse.Namespace) -> None:
    n = args.pods
    result = await load(
        address, args.connections, n, lambda i: ("GET", f"{LISTED}/pod-{(i * 7919) % n:06d}", b""), 200
    )
    print(f"get {n:,} times               {result}")
    connection = await Connection(address).open()
    for count in (10, 100, 1000, n):
        path = LISTED if count == n else f"{LISTED}?limit={count}"
        start = time.perf_counter()
        for _ in range(3):
            status, body = await connection.request("GET", path)
            assert status == 200, body[:200]
        spent = (time.perf_counter() - start) / 3 * 1e3
        print(
            f"list {count:6,} of {n:,} pods       {spent:8.2f} ms   {spent / count * 1e3:7.1f} us a pod   "
            f"{len(body):,} bytes"
        )
    for selector in ("labelSelector=app%3Dapp-7", "fieldSelector=metadata.name%3Dpod-000007"):
        start = time.perf_counter()
        status, body = await connection.request("GET", f"{LISTED}?{selector}")
        found = body.count(b'"uid"')
        print(f"list by {selector:<40} {(time.perf_counter() - start) * 1e3:8.2f} ms   {found} found")
    connection.close()


async def fan_out(address: Address, args: argparse.Namespace, watchers: int, events: int) -> None:
    _, body = await (await Connection(address).open()).request("GET", f"{LISTED}?limit=1")
    version = json.loads(body)["metadata"]["resourceVersion"]
    streams = []
    for _ in range(watchers):
        stream = await Connection(address).open()
        stream.send("GET", f"{LISTED}?watch=1&resourceVersion={version}")
        streams.append(asyncio.create_task(stream.count_lines(events)))
    cpu, start = cpu_seconds(address.pid), time.perf_counter()
    await load(
        address, args.connections, events, lambda i: ("POST", LISTED, pod(f"fan-{watchers}-{i:06d}", i)), 201
    )
    await asyncio.gather(*streams)
    elapsed = time.perf_counter() - start
    spent = (cpu_seconds(address.pid) - cpu) / events * 1e6
    print(
        f"create {events:,} pods with {watchers} watchers   {events / elapsed:8,.0f} events/s, "
        f"{events * watchers / elapsed:9,.0f} deliveries/s   server CPU {spent:.0f} us an event"
    )


# -- memory -------------------------------------------------------------------------------------------------


def fill(count: int, pipe: Any) -> None:
    async def main() -> None:
        async with EmbeddedServer(tls=False, controllers=False) as server:
            before = resident_mib(os.getpid())
            for i in range(count):
                await server.api.create("pods", json.loads(pod(f"pod-{i:06d}", i)), "default")
            after = resident_mib(os.getpid())
            record = server.backend.store.get("pods", "default", "pod-000000")
            assert record is not None
            pipe.send((before, after, len(record.raw)))

    asyncio.run(main())


def memory(count: int) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=fill, args=(count, theirs))
    process.start()
    before, after, size = ours.recv()
    process.join()
    each = (after - before) * 1024 * 1024 / count
    print(
        f"memory for {count:,} pods: {after:,.0f} MiB resident ({before:.0f} empty), "
        f"{each:,.0f} bytes a pod of {size:,} bytes of JSON"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--memory-pods", type=int, default=100_000)
    args = parser.parse_args()
    loop = new_event_loop()
    asyncio.set_event_loop(loop)
    with running_server(durable=False) as address:
        loop.run_until_complete(creates(address, args, "in memory"))
        loop.run_until_complete(reads(address, args))
        for watchers in (1, 10):
            loop.run_until_complete(fan_out(address, args, watchers, max(1000, args.pods // 5)))
    with running_server(durable=True) as address:
        loop.run_until_complete(creates(address, args, "durable"))
    memory(args.memory_pods)


if __name__ == "__main__":
    main()
