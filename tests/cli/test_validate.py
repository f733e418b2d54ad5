"""`reprieve validate`: every problem on its own line, exit codes, and input that tries to hurt."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from reprieve.cli import main
from tests.objects.samples import PATH as SAMPLES
from tests.objects.samples import edited, sample


def validate(*arguments: str, data: bytes | None = None) -> tuple[int, list[str]]:
    result = CliRunner().invoke(main, ["validate", *arguments], input=data)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout.splitlines() + result.stderr.splitlines()


def written(folder: Path, *documents: Any) -> str:
    path = folder / "m.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def test_sound_manifests_are_clean() -> None:
    code, lines = validate("-f", str(SAMPLES))
    assert code == 0
    count = len(list(yaml.safe_load_all(SAMPLES.read_text())))
    assert lines[-1] == f"{count} documents, 0 problems, 0 warnings"


def test_every_problem_is_a_line_with_file_document_path_and_message(tmp_path: Path) -> None:
    group = edited(
        edited(sample("PodGroup"), "spec.schedulingPolicy.gang.minCount", 0), "spec.preemptionPolicy", "Nevr"
    )
    path = written(tmp_path, sample("Namespace"), group)
    assert validate("-f", path) == (
        2,
        [
            f"{path}:2: spec.schedulingPolicy.gang.minCount: must be at least 1, got 0",
            (
                f"{path}:2: spec.preemptionPolicy: expected one of PreemptLowerPriority, Never; got 'Nevr'; "
                "did you mean 'Never'?"
            ),
            "2 documents, 2 problems, 0 warnings",
        ],
    )


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    pod = edited(sample("Pod"), "spec.schedulingGroup", {"podGroupName": "elsewhere"})
    path = written(tmp_path, pod, sample("PodGroup"))
    code, lines = validate("-f", path)
    assert code == 0
    assert lines == [
        (
            f"{path}:1: warning: spec.schedulingGroup.podGroupName: "
            "PodGroup 'elsewhere' is not among these manifests"
        ),
        "2 documents, 0 problems, 1 warning",
    ]


def test_kinds_of_others_are_named_and_counted_as_not_checked(tmp_path: Path) -> None:
    path = written(tmp_path, {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "s"}})
    code, lines = validate("-f", path)
    assert code == 0
    assert lines == [
        f"{path}:1: warning: kind: example.com/v1 Foo was not checked: there is no schema of it here",
        "1 document, 0 problems, 0 warnings, 1 not checked",
    ]
    answer = json.loads("\n".join(validate("-f", path, "-o", "json")[1]))
    assert [each["value"] for each in answer["notChecked"]] == ["Foo"]
    assert answer["warnings"] == []


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            {"kind": "ClusterRoleBinding", "roleRef": {"kind": "Role", "name": "x"}},
            "roleRef.kind: expected one of ClusterRole; got 'Role'",
        ),
        (
            {"kind": "Role", "rules": [{"verbs": ["get"], "apiGroups": [""]}]},
            "rules[0].resources: resource rules must supply at least one of resources",
        ),
    ],
)
def test_rules_that_only_an_api_server_has_count_as_well(
    tmp_path: Path, document: dict[str, Any], line: str
) -> None:
    meta = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "x"}}
    path = written(tmp_path, {**meta, **document})
    assert validate("-f", path) == (2, [f"{path}:1: {line}", "1 document, 1 problem, 0 warnings"])


def test_a_kind_that_does_not_exist_fails(tmp_path: Path) -> None:
    path = written(tmp_path, {**sample("Pod"), "kind": "Pdo"})
    assert validate("-f", path) == (
        2,
        [
            f"{path}:1: kind: there is no kind 'Pdo' in v1; did you mean 'Pod'?",
            "1 document, 1 problem, 0 warnings",
        ],
    )


def test_several_files_a_folder_and_standard_input(tmp_path: Path) -> None:
    path = written(tmp_path, sample("Node"))
    code, lines = validate(
        "-f",
        path,
        "-f",
        str(tmp_path),
        "-f",
        "-",
        data=b"{apiVersion: v1, kind: Namespace, metadata: {name: a}}",
    )
    assert code == 2
    assert "Node/node-1 is already defined" in lines[0]
    assert lines[-1] == "3 documents, 1 problem, 0 warnings"
    assert validate("-f", "-", data=b"kind: Pod")[1][0] == "<stdin>:1: apiVersion: is required"


def test_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, edited(sample("Node"), "metadata.name", "A"), sample("Namespace"))
    code, lines = validate("-f", path, "-o", "json")
    answer = json.loads("\n".join(lines))
    assert code == 2
    assert answer["kind"] == "Validation"
    assert answer["documents"] == 2
    (problem,) = answer["problems"]
    assert (problem["file"], problem["document"], problem["path"], problem["value"]) == (
        path,
        "1",
        "metadata.name",
        "A",
    )
    assert yaml.safe_load("\n".join(validate("-f", path, "-o", "yaml")[1])) == answer


def test_a_configuration_among_the_manifests_is_checked_as_one(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"apiVersion": "reprieve.dev/v1alpha1", "kind": "ReprieveConfiguration", "flet": {}}
    )
    code, lines = validate("-f", path)
    assert code == 2
    assert lines[0] == f"{path}:1: flet: unknown field; did you mean 'fleet'? (got {{}})"


def test_the_configuration_decides_about_basic_groups_in_whole_group_mode(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("admission: {allowWholeGroupDisruptionForBasic: true}\n")
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    path = written(manifests, edited(sample("PodGroup"), "spec.schedulingPolicy", {"basic": {}}))
    assert validate("-f", path)[0] == 2
    assert validate("-f", path, "--config", str(config))[0] == 0
    config.write_text("admision: {}\n")
    assert validate("-f", path, "--config", str(config)) == (
        2,
        [f"error: {config}: admision: unknown field; did you mean 'admission'? (got {{}})"],
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "<stdin>: holds no document"),
        (b"\xff\xfe", "<stdin>: not UTF-8: byte 0xff at offset 0"),
        (b"a: 1\na: 2\n", "<stdin>:1: line 2: the key 'a' is there twice"),
        (b"[" * 200_000, "<stdin>:1: line 1: nested deeper than 100 levels"),
        (b'{"a":' * 200_000, "<stdin>:1: "),
        (b"- text\n", "<stdin>:1.1: expected an object, got 'text'"),
        (b"a: !!python/object/apply:os.system [ls]\n", "<stdin>:1: "),
        (b"\x00\x00\x00", "<stdin>:1: control characters are not allowed"),
    ],
)
def test_bad_input_is_a_clear_line_and_exit_code_two(data: bytes, message: str) -> None:
    code, lines = validate("-f", "-", data=data)
    assert code == 2
    assert lines[0].startswith(message)
    assert not any("Traceback" in line for line in lines)


def test_missing_files_are_named(tmp_path: Path) -> None:
    code, lines = validate("-f", str(tmp_path / "gone.yaml"))
    assert code == 2
    assert lines[0] == f"{tmp_path}/gone.yaml: cannot be read: No such file or directory"


def limited(*arguments: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
    """The real program, with at most 1 GiB of memory."""
    limit = 2**30
    return subprocess.run(
        [sys.executable, "-m", "reprieve", "validate", *arguments],
        input=data,
        capture_output=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


def test_a_yaml_bomb_stays_small() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 15)]
    done = limited("-f", "-", data="\n".join(lines).encode())
    assert done.returncode == 2
    assert b"aliases expand the document by more than" in done.stdout


def test_fifty_megabytes_are_refused_in_little_memory() -> None:
    done = limited("-f", "-", "--max-size", "32", data=b"a: 1\n" * (50 * 1024 * 1024 // 5))
    assert done.returncode == 2
    assert done.stdout.startswith(b"<stdin>: larger than 32 MiB")
