"""python tools/secret_scan.py: no file that git keeps holds a credential.

Looks for what cannot be mistaken: keys and tokens that say by their shape what they are. Words like
"password" are not looked for: in a project about Kubernetes they are in every schema. A line that must hold
such a shape, to test that it is refused or hidden, says so: `not a secret`.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

SHAPES = {
    "private key": rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*[A-Za-z0-9+/]{20}",
    "key in a kubeconfig": rb"(?:client-key-data|certificate-authority-key)\"?\s*:\s*\"?[A-Za-z0-9+/]{40}",
    "JSON web token": rb"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}",
    "key of a cloud": rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}\b",
    "token of a forge": rb"\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_\w{50}|\bglpat-[A-Za-z0-9_-]{20}",
    "token of a registry": rb"\bpypi-[A-Za-z0-9_-]{50}|\bnpm_[A-Za-z0-9]{36}|\bdckr_pat_[A-Za-z0-9_-]{20}",
    "token of a chat": rb"\bxox[abposr]-[A-Za-z0-9-]{20}",
    "password in an address": rb"\b[a-z][a-z0-9+]{2,}://[^\s/:@'\"{}<$]+:[^\s/:@'\"{}<$]{6,}@[a-z0-9]",
}
_ANY = re.compile(b"|".join(b"(?P<s%d>%b)" % (number, shape) for number, shape in enumerate(SHAPES.values())))
_ALLOWED = b"not a secret"


def secrets_in(text: bytes) -> Iterator[tuple[int, str]]:
    """The line, and what was found there."""
    names = tuple(SHAPES)
    for found in _ANY.finditer(text):
        start = text.rfind(b"\n", 0, found.start()) + 1
        end = text.find(b"\n", found.start())
        if _ALLOWED not in text[start : end if end >= 0 else len(text)]:
            yield text.count(b"\n", 0, start) + 1, names[int((found.lastgroup or "s0")[1:])]


def kept_files() -> list[Path]:
    """Without a repository (an archive of one): everything that is not hidden."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode:
        return [path for top in Path().glob("[!.]*") for path in (top, *top.rglob("*"))]
    return [Path(name.decode()) for name in listed.stdout.split(b"\0") if name]


def main(files: Iterable[Path]) -> int:
    problems = [
        f"{path}:{line}: {what}"
        for path in files
        if path.is_file()
        for line, what in secrets_in(path.read_bytes())
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(kept_files()))
