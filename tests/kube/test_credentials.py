"""Tokens that rotate and plugins that hand out credentials."""

import json
import sys

import pytest

from reprieve.kube import ConfigError
from reprieve.kube.credentials import Exec, TokenFile, credentials_of
from reprieve.kube.kubeconfig import ClusterAccess, ExecPlugin

V1 = "client.authentication.k8s.io/v1"


def authorization(credential):
    return dict(credential.headers).get("Authorization")


async def test_a_token_file_is_read_again_after_a_minute_and_after_a_refusal(tmp_path):
    path, now = tmp_path / "token", [0.0]
    path.write_text("one\n")
    source = TokenFile(ClusterAccess("https://x", token_file=path), clock=lambda: now[0])
    assert authorization(await source.current()) == "Bearer one"
    path.write_text("two")
    assert authorization(await source.current()) == "Bearer one"
    now[0] = 61.0
    assert authorization(await source.current()) == "Bearer two"
    path.write_text("three")
    assert source.refused()
    assert authorization(await source.current()) == "Bearer three"


async def test_a_missing_token_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"token file .*gone"):
        await TokenFile(ClusterAccess("https://x", token_file=tmp_path / "gone")).current()


async def test_a_user_and_password_become_basic_authentication():
    source = credentials_of(ClusterAccess("https://x", username="u", password="p"))
    assert authorization(await source.current()) == "Basic dTpw"


async def test_impersonation_travels_in_its_header():
    source = credentials_of(ClusterAccess("https://x", token="t", impersonate="ada"))
    assert dict((await source.current()).headers)["Impersonate-User"] == "ada"


def plugin(tmp_path, program, version=V1, **options):
    script = tmp_path / "plugin.py"
    script.write_text(program)
    return ExecPlugin(sys.executable, version, (str(script), str(tmp_path / "runs")), **options)


ANSWER = """
import json, os, sys
with open(sys.argv[1], "a") as runs: runs.write("x")
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
status = {"token": "run-%d" % os.path.getsize(sys.argv[1])}
status.update(json.loads(os.environ.get("EXTRA", "{}")))
if "cluster" in info["spec"]: status["token"] += "@" + info["spec"]["cluster"]["server"]
print(json.dumps({"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status": status}))
"""


@pytest.mark.parametrize("version", [V1, "client.authentication.k8s.io/v1beta1"])
async def test_a_plugin_runs_once_and_again_only_when_refused(tmp_path, version):
    source = Exec(ClusterAccess("https://x"), plugin(tmp_path, ANSWER, version))
    assert authorization(await source.current()) == "Bearer run-1"
    assert authorization(await source.current()) == "Bearer run-1"
    assert source.refused()
    assert authorization(await source.current()) == "Bearer run-2"


async def test_an_expired_credential_is_renewed(tmp_path):
    extra = json.dumps({"expirationTimestamp": "2026-01-01T00:00:00Z"})
    now = [0.0]
    source = Exec(
        ClusterAccess("https://x"), plugin(tmp_path, ANSWER, env=(("EXTRA", extra),)), lambda: now[0]
    )
    assert authorization(await source.current()) == "Bearer run-1"
    assert authorization(await source.current()) == "Bearer run-1"
    now[0] = 1767225600.0
    assert authorization(await source.current()) == "Bearer run-2"


async def test_a_plugin_can_hand_out_a_client_certificate(tmp_path):
    extra = json.dumps({"token": "", "clientCertificateData": "CERT", "clientKeyData": "KEY"})
    source = Exec(ClusterAccess("https://x"), plugin(tmp_path, ANSWER, env=(("EXTRA", extra),)))
    credential = await source.current()
    assert (credential.certificate, credential.key) == (b"CERT", b"KEY")


async def test_the_plugin_is_told_the_cluster_if_it_wants_to_know(tmp_path):
    source = Exec(ClusterAccess("https://x"), plugin(tmp_path, ANSWER, provide_cluster_info=True))
    assert authorization(await source.current()) == "Bearer run-1@https://x"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('no luck')", "failed with code 1: no luck"),
        ("print('hello')", "not JSON"),
        ("print('{}')", "not an ExecCredential"),
        ('print(\'{"kind": "ExecCredential", "apiVersion": "v9"}\')', "answered as 'v9'"),
        (f'print(\'{{"kind": "ExecCredential", "apiVersion": "{V1}"}}\')', "neither a token nor"),
    ],
)
async def test_a_plugin_that_fails_says_how(tmp_path, program, message):
    with pytest.raises(ConfigError, match=message):
        await Exec(ClusterAccess("https://x"), plugin(tmp_path, program)).current()


async def test_a_missing_plugin_comes_with_its_hint():
    missing = ExecPlugin("/nowhere/plugin", V1, install_hint="install it")
    with pytest.raises(ConfigError, match=r"No such file.*install it"):
        await Exec(ClusterAccess("https://x"), missing).current()


async def test_a_plugin_that_must_ask_questions_is_refused():
    with pytest.raises(ConfigError, match="nobody to answer"):
        await Exec(ClusterAccess("https://x"), ExecPlugin("x", V1, interactive="Always")).current()
