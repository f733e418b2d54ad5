"""The scan finds what it names, and nothing that only looks like it."""

import pytest
from tools.secret_scan import SHAPES, secrets_in

LETTERS = "Ab3" * 40
EXAMPLES = {
    "private key": "-----BEGIN RSA PRIVATE" + f" KEY-----\n{LETTERS}",
    "key in a kubeconfig": f"    client-key-data: {LETTERS}",
    "JSON web token": f"token: eyJ{LETTERS[:20]}.eyJ{LETTERS[:20]}.{LETTERS[:30]}",
    "key of a cloud": "AKIA" + "Z" * 16,
    "token of a forge": "ghp_" + LETTERS[:36],
    "token of a registry": "pypi-" + LETTERS[:60],
    "token of a chat": "xoxb-" + LETTERS[:24],
    "password in an address": "postgres://joe:" + "sesame99@db.example",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_found_with_its_line(shape: str) -> None:
    assert list(secrets_in(f"a: 1\nb: 2\n{EXAMPLES[shape]}\n".encode())) == [(3, shape)]


def test_a_line_that_says_so_is_left_alone() -> None:
    assert list(secrets_in(f"{EXAMPLES['key of a cloud']}  # not a secret\n".encode())) == []


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----\n...",
        "https://127.0.0.1:6443/x@y",
        "client-key-data: <base64>",
        "eyJ.eyJ.x",
    ],
)
def test_what_only_looks_like_one_is_not(text: str) -> None:
    assert list(secrets_in(text.encode())) == []
