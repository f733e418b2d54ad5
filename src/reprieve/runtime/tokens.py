"""The token that a process asks of its visitors: where it comes from."""

import os
from pathlib import Path

from reprieve.objects import ReprieveError

VARIABLE = "REPRIEVE_TOKEN"
SHORTEST = 16


def read_token(path: str | Path | None) -> str:
    """The file's content, else that of the environment variable; empty when there is neither."""
    if path is None:
        return _checked(os.environ.get(VARIABLE, ""), f"${VARIABLE}")
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ReprieveError(f"--token-file {path}: cannot be read: {reason}") from error
    if not text.strip():
        raise ReprieveError(
            f"--token-file {path}: it is empty; put a random secret there: openssl rand -hex 24"
        )
    return _checked(text, f"--token-file {path}")


def _checked(text: str, where: str) -> str:
    token = text.strip()
    if token and (len(token) < SHORTEST or not token.isascii() or any(c.isspace() for c in token)):
        raise ReprieveError(
            f"{where}: a token is one word of at least {SHORTEST} ASCII characters; make one: openssl rand -hex 24"
        )
    return token
