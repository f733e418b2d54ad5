"""What a kubeconfig looks like: text to a document in which every value has the type it should have."""

import re
from typing import Any, cast

import msgspec

from reprieve.kube.errors import ConfigError
from reprieve.objects import UnreadableInput, parse_yaml


class _Named(msgspec.Struct, rename="kebab"):
    name: str | None = None


class _Cluster(msgspec.Struct, rename="kebab"):
    server: str | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None


class _Variable(msgspec.Struct):
    name: str
    value: str | int | float | bool


class _Exec(msgspec.Struct, rename="camel"):
    command: str | None = None
    api_version: str | None = None
    args: list[str | int | float | bool] | None = None
    env: list[_Variable] | None = None
    install_hint: str | None = None
    provide_cluster_info: bool | None = None
    interactive_mode: str | None = None


class _User(msgspec.Struct, rename="kebab"):
    token: str | None = None
    token_file: str | None = msgspec.field(name="tokenFile", default=None)
    username: str | None = None
    password: str | int | float | None = None
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    exec: _Exec | None = None
    as_: str | None = msgspec.field(name="as", default=None)


class _Context(msgspec.Struct):
    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None


class _NamedCluster(_Named):
    cluster: _Cluster | None = None


class _NamedUser(_Named):
    user: _User | None = None


class _NamedContext(_Named):
    context: _Context | None = None


class _KubeConfig(msgspec.Struct, rename="kebab"):
    """The shape of a kubeconfig, as far as it is read here."""

    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None
    current_context: str | None = None


def parse(text: bytes, where: object, *, aliases: bool = True) -> dict[str, Any]:
    """A kubeconfig, every value of the type it should have. Errors name the place, never what stands there:
    it may be a secret, or a line of another file.
    """
    try:
        documents = parse_yaml(text, aliases=aliases)
    except UnreadableInput as error:
        raise ConfigError(f"kubeconfig {where}: not YAML{_place(str(error))}") from None
    document: Any = next((each for each in documents if each is not None), {})
    try:
        msgspec.convert(document, _KubeConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"kubeconfig {where}: {error}") from None
    return cast("dict[str, Any]", document)


def _place(problem: str) -> str:
    found = re.search(r"\bline \d+", problem)
    return f" ({found.group()})" if found else ""
