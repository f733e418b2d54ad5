"""The command line as a whole: quick help, versions, completion, errors without tracebacks."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from reprieve import __version__
from reprieve.cli import COMMANDS, main
from reprieve.cli.output import console, fail, print_result
from reprieve.objects import decode
from reprieve.objects.errors import ReprieveError

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str, text: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments), input=text)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def commands() -> list[str]:
    assert isinstance(main, click.Group)
    return main.list_commands(click.Context(main))


def test_the_version_is_the_packages() -> None:
    assert run("--version") == (0, f"reprieve, version {__version__}\n", "")


def test_help_lists_the_commands_that_exist_and_the_exit_codes() -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "validate" in out
    assert "Exit codes: 0 yes, 1 no" in " ".join(out.split())
    assert "Examples:" in out


def command_lines() -> list[str]:
    """Every command, and what is below it."""
    context, lines = click.Context(main), []
    for name in commands():
        command = main.get_command(context, name)
        assert command is not None
        below = command.list_commands(context) if isinstance(command, click.Group) else []
        lines += [name, *(f"{name} {each}" for each in below)]
    return lines


@pytest.mark.parametrize("line", command_lines())
def test_every_command_shows_examples(line: str) -> None:
    code, out, _ = run(*line.split(), "--help")
    assert code == 0
    assert f"  reprieve {line}" in out.partition("Example")[2]
    assert line.split()[0] in COMMANDS


def test_help_imports_no_command() -> None:
    script = (
        "import sys; from reprieve.cli import main; main(['--help'], standalone_mode=False); "
        "print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    modules = set(out.splitlines()[-1].split())
    assert not modules & {"numpy", "rich", "aiohttp", "yaml", "reprieve.cli.validate", "reprieve.cli.plan"}


@pytest.mark.parametrize("arguments", [["plan", "--help"], ["plan", "--fro", "x"], ["plan"]], ids=" ".join)
def test_help_and_mistakes_load_no_client(arguments: list[str]) -> None:
    """Both end with an exception, which was compared with those of a client that took as long to load as
    everything else together."""
    script = (
        "import sys; from reprieve.cli import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not set(out.splitlines()[-1].split()) & {"aiohttp", "reprieve.kube"}


ELSEWHERE = {
    "aiohttp",
    "asyncio",
    "reprieve.explain",
    "reprieve.kube",
    "reprieve.scheduler",
    "reprieve.records",
}


@pytest.mark.parametrize(
    ("folder", "target", "unneeded"),
    [
        ("01-first-plan", "PodGroup/ml/train", {"reprieve.quota", "reprieve.fleet"}),
        ("12-cohort-reclaim", "Workload/web/crawl-a", {"reprieve.cluster", "reprieve.fleet", "numpy"}),
    ],
)
def test_a_plan_imports_only_what_it_needs(folder: str, target: str, unneeded: set[str]) -> None:
    arguments = ["plan", "-f", str(EXAMPLES / folder), "--for", target, "-o", "json"]
    script = (
        "import sys; from reprieve.cli import main\n"
        f"try: main({arguments}, standalone_mode=False)\n"
        "except SystemExit as ended: assert ended.code in (0, 1), ended\n"
        "print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not set(out.splitlines()[-1].split()) & (ELSEWHERE | unneeded)


def test_a_plan_decodes_each_manifest_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []

    def counting(document: dict[str, Any]) -> Any:
        decoded.append(f"{document['kind']}/{document['metadata']['name']}")
        return decode(document)

    monkeypatch.setattr(sys.modules["reprieve.objects.decode"], "decode", counting)
    assert run("plan", "-f", str(EXAMPLES / "01-first-plan"), "--for", "PodGroup/ml/train")[0] == 0
    assert decoded
    assert len(decoded) == len(set(decoded))


def test_an_unknown_command_is_answered_with_the_nearest_one() -> None:
    code, _, err = run("valdate")
    assert code == 2
    assert "No such command 'valdate'; did you mean 'validate'?" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(shell: str) -> None:
    code, out, _ = run("completion", shell)
    assert code == 0
    assert "_REPRIEVE_COMPLETE" in out


def test_completion_offers_the_commands() -> None:
    environment = {"_REPRIEVE_COMPLETE": "bash_complete", "COMP_WORDS": "reprieve val", "COMP_CWORD": "1"}
    script = "import sys; sys.argv[0] = 'reprieve'; from reprieve.cli import main; main(prog_name='reprieve')"
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert "validate" in found.stdout


def test_an_error_of_the_user_is_one_line_and_exit_code_two(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def broken() -> None:
        raise ReprieveError("first\nsecond")

    monkeypatch.setattr("reprieve.cli.validate.command", broken)
    assert run("validate") == (2, "", "error: first\nerror: second\n")


def test_failing_says_why_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        fail("no such thing")
    assert caught.value.code == 2
    assert capsys.readouterr() == ("", "error: no such thing\n")


def test_results_are_json_yaml_or_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"b": 1, "a": "ü"}
    for output, expected in (
        ("json", '{\n  "b": 1,\n  "a": "ü"\n}\n'),
        ("yaml", "b: 1\na: ü\n"),
        ("table", "drawn\n"),
    ):
        print_result(data, output, lambda console: console.print("drawn"))  # type: ignore[arg-type]
        assert capsys.readouterr().out == expected


def test_in_a_pipe_long_lines_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("x" * 500)
    assert capsys.readouterr().out == "x" * 500 + "\n"
