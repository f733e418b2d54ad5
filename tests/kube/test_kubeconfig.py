"""kubeconfig files and service accounts are read as kubectl reads them."""

import base64
import os

import pytest
import yaml

from reprieve.kube import ConfigError, kubeconfig
from reprieve.kube.http_transport import is_loopback, proxy_for
from reprieve.kube.kubeconfig import ClusterAccess


def write(path, **document):
    path.write_text(yaml.safe_dump(document))
    return path


def config(cluster=None, user=None, name="one"):
    return {
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}:6443", **(cluster or {})}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": f"ns-{name}"}}],
        "current-context": name,
    }


def test_the_current_context_gives_server_user_and_namespace(tmp_path):
    access = kubeconfig.load(write(tmp_path / "c", **config(user={"token": "t"})))
    assert (access.server, access.token, access.namespace) == ("https://one:6443", "t", "ns-one")


def test_another_context_can_be_named_and_a_wrong_name_lists_the_known_ones(tmp_path):
    write(tmp_path / "a", **config(name="one"))
    write(tmp_path / "b", **config(name="two"))
    env = {"KUBECONFIG": f"{tmp_path}/a{os.pathsep}{tmp_path}/missing{os.pathsep}{tmp_path}/b"}
    assert kubeconfig.load(context="two", env=env).server == "https://two:6443"
    with pytest.raises(ConfigError, match=r"'three' does not exist \(known: one, two\)"):
        kubeconfig.load(context="three", env=env)


def test_merged_files_the_first_one_to_say_something_wins(tmp_path):
    write(tmp_path / "a", **config(user={"token": "first"}))
    write(tmp_path / "b", **config(user={"token": "second"}))
    env = {"KUBECONFIG": f"{tmp_path}/a{os.pathsep}{tmp_path}/b"}
    assert kubeconfig.load(env=env).token == "first"


def test_data_wins_over_files_and_relative_files_belong_to_their_kubeconfig(tmp_path):
    (tmp_path / "ca.pem").write_bytes(b"from file")
    (tmp_path / "key.pem").write_bytes(b"key")
    data = base64.b64encode(b"from data").decode()
    access = kubeconfig.load(
        write(
            tmp_path / "c",
            **config(
                cluster={"certificate-authority": "ca.pem"},
                user={
                    "client-certificate-data": data,
                    "client-certificate": "nowhere",
                    "client-key": "key.pem",
                },
            ),
        )
    )
    assert (access.ca_data, access.certificate, access.key) == (b"from file", b"from data", b"key")


def test_tls_and_proxy_settings_are_kept(tmp_path):
    cluster = {"insecure-skip-tls-verify": True, "tls-server-name": "api", "proxy-url": "http://proxy:3128"}
    access = kubeconfig.load(write(tmp_path / "c", **config(cluster=cluster)))
    assert (access.insecure, access.tls_server_name, access.proxy_url) == (True, "api", "http://proxy:3128")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "no current-context"),
        (config(cluster={"server": ""}), "has no server"),
        (
            config(cluster={"certificate-authority": "/nowhere/ca"}),
            "certificate-authority /nowhere/ca: No such file",
        ),
        (config(cluster={"certificate-authority-data": "%%%"}), "certificate-authority-data is not base64"),
        (
            config(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "x"}}),
            "v1alpha1",
        ),
        (config(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}), "command is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, document, message):
    with pytest.raises(ConfigError, match=message):
        kubeconfig.load(write(tmp_path / "c", **document))


def test_a_missing_file_and_no_file_at_all_are_said(tmp_path):
    with pytest.raises(ConfigError, match="nowhere: No such file"):
        kubeconfig.load(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="no kubeconfig"):
        kubeconfig.load(env={"HOME": str(tmp_path)})
    (tmp_path / "broken").write_text("{")
    with pytest.raises(ConfigError, match="not YAML"):
        kubeconfig.load(tmp_path / "broken")


def test_inside_a_pod_the_service_account_is_used(tmp_path):
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_text("ca")
    (tmp_path / "namespace").write_text("reprieve-system\n")
    env = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    access = kubeconfig.in_cluster(env, tmp_path)
    assert access.server == "https://[fd00::1]:6443"
    assert access.token_file == tmp_path / "token"
    assert access.namespace == "reprieve-system"
    with pytest.raises(ConfigError, match="not inside a cluster"):
        kubeconfig.in_cluster({}, tmp_path)


def test_a_server_on_this_machine_is_reached_without_a_proxy(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "internal.example")
    assert proxy_for(ClusterAccess("https://127.0.0.1:6443", proxy_url="http://other:1")) is None
    assert proxy_for(ClusterAccess("https://[::1]:6443")) is None
    assert proxy_for(ClusterAccess("https://localhost:6443")) is None
    assert proxy_for(ClusterAccess("https://internal.example:6443")) is None
    assert proxy_for(ClusterAccess("https://api.example:6443")) == "http://proxy:3128"
    assert (
        proxy_for(ClusterAccess("https://api.example:6443", proxy_url="http://other:1")) == "http://other:1"
    )
    assert not is_loopback("10.0.0.1")
