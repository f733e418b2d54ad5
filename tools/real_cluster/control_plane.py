"""etcd, kube-apiserver and kube-controller-manager in a directory of their own, on loopback, until told to
stop.

Everything a real cluster checks is on: TLS, RBAC, admission, structural schemas, an audit log of every
request. What watches real machines is off: nodes here do not renew leases, so their grace period is long.

Kubernetes of any age: flags and controllers that a version does not know are left out, and one that has
PodGroups of its own (beta since 1.37, and off unless asked for) serves them, and trees of them.
"""

import json
import re
import secrets
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tools.real_cluster import binaries

from reprieve.server.security import Authority, kubeconfig, write_private

USERS = {
    "admin": ("admin", "system:masters"),
    "kube-scheduler": ("system:kube-scheduler", ""),
    "kube-controller-manager": ("system:kube-controller-manager", ""),
}
"""Who may come in with a token of their own: name of the file, user, group."""

OPTIONAL = ("unsafe-no-fsync", "port")
"""Flags that only some versions have: newer etcds, older controller managers and schedulers."""

FOR_MACHINES = (
    "cloud-node-lifecycle",
    "route",
    "service",
    "nodeipam",
    "node-ipam-controller",
    "ttl",
    "ttl-controller",
)
"""Controllers that look after real machines, by their old and their new names."""

NATIVE_GROUPS = (1, 37)
"""From this version on PodGroups are in beta."""

GATES = (
    "GenericWorkload",
    "TopologyAwareWorkloadScheduling",
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
)
"""What has to be asked for: PodGroups, their domains, trees of them, claims that they share."""

SERVICES = "127.43.0.0/24"
"""Addresses of Services: loopback, so that a test can listen there as kube-proxy would have it."""

_SCHEDULING_VERSIONS = ",".join(f"scheduling.k8s.io/{version}=true" for version in ("v1beta1", "v1alpha3"))

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


class ControlPlane:
    """`with ControlPlane(directory) as plane:` gives `plane.kubeconfig("admin")`; the directory keeps data,
    logs and keys.
    """

    def __init__(self, home: Path, *, flags: Mapping[str, str] | None = None) -> None:
        """`flags` of kube-apiserver, on top of ours."""
        self.home = home
        self.audit_log = home / "audit.log"
        self._port, self._etcd_port, self._peer_port = free_ports(3)
        self.url = f"https://127.0.0.1:{self._port}"
        self.etcd_url = f"http://127.0.0.1:{self._etcd_port}"
        self._flags = dict(flags or {})
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        home.mkdir(parents=True, exist_ok=True)
        self._authority = Authority(home, datetime.now(UTC))
        self._authority.server_context("127.0.0.1")
        trust = ssl.create_default_context(cadata=self._authority.pem.decode())
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
        )
        self._tokens = {name: secrets.token_hex(16) for name in USERS}
        self._write_files()

    def __enter__(self) -> "ControlPlane":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def kubeconfig(self, user: str) -> Path:
        """The file with which one of `USERS` connects."""
        return self.home / f"{user}.kubeconfig"

    def kubeconfig_for_token(self, name: str, token: str) -> Path:
        """A file for somebody else, say a service account."""
        path = self.home / f"{name}.kubeconfig"
        write_private(path, kubeconfig(self.url, token, self._authority.pem).encode())
        return path

    @property
    def trust(self) -> str:
        """PEM of the authority that signed the server's certificate."""
        return self._authority.pem.decode()

    def token(self, user: str) -> str:
        """Of one of `USERS`."""
        return self._tokens[user]

    @property
    def version(self) -> tuple[int, int]:
        return binaries.version(binaries.find("kube-apiserver"))

    @property
    def native_groups(self) -> bool:
        """Whether it serves PodGroups itself, so that nobody needs the custom ones."""
        return self.version >= NATIVE_GROUPS

    def start(self) -> None:
        self.start_etcd()
        self.start_api_server()
        self.run("kube-controller-manager", self._controller_manager_flags())

    def start_etcd(self) -> None:
        self.run("etcd", {
            "data-dir": str(self.home / "etcd"), "listen-client-urls": self.etcd_url,
            "advertise-client-urls": self.etcd_url,
            "listen-peer-urls": f"http://127.0.0.1:{self._peer_port}", "log-level": "warn",
            "unsafe-no-fsync": "true",
        })  # fmt: skip

    def start_api_server(self) -> None:
        self.run("kube-apiserver", self._api_server_flags())
        self.wait_until_ready()

    def run(self, program: str, flags: Mapping[str, str]) -> None:
        """Start one of the programs; its output goes to a log in `home`."""
        path = binaries.find(program)
        flags = {n: v for n, v in flags.items() if n not in OPTIONAL or _knows(path, n)}
        with (self.home / f"{program}.log").open("ab") as log:
            command = [str(path), *(f"--{name}={value}" for name, value in flags.items())]
            self._processes[program] = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, cwd=self.home
            )

    def pid(self, program: str) -> int:
        """Of one that runs."""
        return self._processes[program].pid

    def end(self, program: str, *, kill: bool = False) -> None:
        process = self._processes.pop(program, None)
        if process is None:
            return
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop(self) -> None:
        for program in reversed(list(self._processes)):
            self.end(program, kill=True)

    def wait_until_ready(self, timeout: float = 300.0) -> None:
        end = time.monotonic() + timeout
        while not self._ready():
            process = self._processes["kube-apiserver"]
            if process.poll() is not None or time.monotonic() > end:
                log = (self.home / "kube-apiserver.log").read_text(errors="replace")
                raise RuntimeError(f"kube-apiserver does not come up:\n{log[-3000:]}")
            time.sleep(0.2)

    def compact(self) -> None:
        """Forget everything but the present: whoever asks for a past revision is told 410."""
        now = self._etcd("/v3/kv/range", {"key": "AA=="})["header"]["revision"]
        self._etcd("/v3/kv/compaction", {"revision": now, "physical": True})

    def _etcd(self, path: str, body: Mapping[str, object]) -> Any:
        request = urllib.request.Request(self.etcd_url + path, data=json.dumps(body).encode())
        with self._opener.open(request, timeout=10) as answer:
            return json.load(answer)

    def _ready(self) -> bool:
        request = urllib.request.Request(
            f"{self.url}/readyz", headers={"Authorization": f"Bearer {self._tokens['admin']}"}
        )
        with suppress(urllib.error.URLError, OSError), self._opener.open(request, timeout=2) as answer:
            return bool(answer.status == 200)
        return False

    def _write_files(self) -> None:
        rows = [f'{self._tokens[name]},{user},{user},"{group}"' for name, (user, group) in USERS.items()]
        write_private(self.home / "accounts.key", _signing_key())
        write_private(self.home / "tokens.csv", "\n".join(rows).encode() + b"\n")
        (self.home / "audit-policy.json").write_text(json.dumps(POLICY), encoding="utf-8")
        for name in USERS:
            self.kubeconfig_for_token(name, self._tokens[name])

    def _api_server_flags(self) -> dict[str, str]:
        home = self.home
        return {
            "etcd-servers": self.etcd_url,
            "bind-address": "127.0.0.1",
            "advertise-address": "127.0.0.1",
            "secure-port": str(self._port),
            "cert-dir": str(home),
            "tls-cert-file": str(home / "serving.pem"),
            "tls-private-key-file": str(home / "serving.pem"),
            "client-ca-file": str(home / "ca.crt"),
            "token-auth-file": str(home / "tokens.csv"),
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": str(home / "accounts.key"),
            "service-account-signing-key-file": str(home / "accounts.key"),
            "service-cluster-ip-range": SERVICES,
            "endpoint-reconciler-type": "none",
            "audit-policy-file": str(home / "audit-policy.json"),
            "audit-log-path": str(self.audit_log),
            **({"runtime-config": _SCHEDULING_VERSIONS} if self.native_groups else {}),
            **self._gates(),
            **self._flags,
        }

    def _gates(self) -> dict[str, str]:
        if not self.native_groups:
            return {}
        return {"feature-gates": ",".join(f"{gate}=true" for gate in GATES)}

    def _controller_manager_flags(self) -> dict[str, str]:
        explained = binaries.explains(binaries.find("kube-controller-manager"))
        known = set(re.findall(r"[\w-]+", explained.partition("All controllers:")[2].partition("\n")[0]))
        return {
            **self._client_flags("kube-controller-manager"),
            "use-service-account-credentials": "true",
            "root-ca-file": str(self.home / "ca.crt"),
            "service-account-private-key-file": str(self.home / "accounts.key"),
            "controllers": ",".join(["*", *(f"-{name}" for name in FOR_MACHINES if name in known)]),
            "node-monitor-grace-period": "24h",
            "kube-api-qps": "500",
            "kube-api-burst": "1000",
            "concurrent-gc-syncs": "20",
        }

    def _client_flags(self, program: str) -> dict[str, str]:
        """Of programs that talk to the API server, alone of their kind, and serve nothing themselves."""
        config = str(self.kubeconfig(program))
        return {
            "kubeconfig": config,
            "authentication-kubeconfig": config,
            "authorization-kubeconfig": config,
            "bind-address": "127.0.0.1",
            "secure-port": "0",
            "port": "0",
            "leader-elect": "false",
            **self._gates(),
        }

    def scheduler_flags(self) -> dict[str, str]:
        """For `run("kube-scheduler", …)`: no limit on its requests that would be the measure."""
        return {
            **self._client_flags("kube-scheduler"),
            "kube-api-qps": "5000",
            "kube-api-burst": "5000",
        }


def _knows(program: Path, flag: str) -> bool:
    return re.search(rf"(?<![\w-])--?{flag}\b", binaries.explains(program)) is not None


def _signing_key() -> bytes:
    """For service accounts' tokens, in the one form that kube-apiserver reads both halves from."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
