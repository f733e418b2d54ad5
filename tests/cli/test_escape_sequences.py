"""No escape sequence of a manifest or a cluster reaches the terminal, whatever command shows it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from reprieve.cli import main

ESCAPE = "\x1b"
MANIFEST = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: "evil\\e[2Jname", namespace: default, labels: {a: "\\e]0;title\\a"}}
spec:
  nodeName: "n1\\e[31m"
  containers: [{name: c, image: "\\e[8mhidden", resources: {requests: {cpu: "1"}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  nodeSelector: {"\\e[1A": "\\e[2K"}
  containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "--for", "Pod/default/urgent"],
        ["plan", "--for", "Pod/default/\x1b[2Jnobody"],
        ["explain", "pod/default/urgent"],
        ["explain", "pod/default/\x1b[2Jnobody"],
        ["validate"],
        ["admit"],
    ],
)
@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_no_command_prints_an_escape_sequence(tmp_path: Path, arguments: list[str], output: str) -> None:
    path = tmp_path / "evil.yaml"
    path.write_text(MANIFEST)
    result = CliRunner().invoke(main, [*arguments, "-f", str(path), "-o", output])
    assert result.output
    assert ESCAPE not in result.output
