"""The real kubectl against a server of our own. Which one: whatever is on the PATH, or Debian's when there is
none.
"""

import os
import subprocess
from pathlib import Path

from tests.programs import program
from tests.waiting import PATIENCE

PACKAGE = "kubernetes-client"


def find_kubectl() -> str:
    return program("kubectl", PACKAGE)


class Kubectl:
    """Runs commands against one server; the answer is what was printed."""

    def __init__(self, binary: str, kubeconfig: Path, home: Path, namespace: str) -> None:
        self._binary = binary
        self.namespace = namespace
        self.environment = {
            **os.environ,
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(home),
            "NO_PROXY": "*",
            "no_proxy": "*",
        }
        self.cache = home / "cache"

    def command(self, *arguments: str) -> list[str]:
        namespace = [f"--namespace={self.namespace}"] if self.namespace else []
        return [self._binary, f"--cache-dir={self.cache}", *namespace, *arguments]

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=PATIENCE,
            check=False,
        )

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def fails(self, *arguments: str, stdin: str | None = None) -> str:
        """What it says when it is refused."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode != 0, f"kubectl {' '.join(arguments)} should have been refused\n{done.stdout}"
        return done.stderr

    def rows(self, *arguments: str) -> list[list[str]]:
        """The cells of `kubectl get`, header included."""
        return [line.split() for line in self("get", *arguments).splitlines()]

    @property
    def minor(self) -> int:
        text = self("version", "--client", "-o", "json")
        return int(text.partition('"minor": "')[2].partition('"')[0].rstrip("+"))
