"""What only a terminal sees: a progress bar for large files, colours; and what a pipe is spared."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from tests.builders import node, pod

EXAMPLE = Path(__file__).parents[2] / "examples/01-first-plan"


def at_a_terminal(*arguments: str, width: int = 80) -> str:
    """Everything that the program shows on a terminal of this width."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(width), "LINES": "40"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "reprieve", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    assert process.wait(60) in (0, 1)
    os.close(ours)
    return shown.decode()


def dump(path: Path, size: int) -> Path:
    """A cluster as kubectl writes it, of at least this size."""
    one = (
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n  data:\n    text: "
        + "x" * 900
        + "\n"
    )
    head = "apiVersion: v1\nkind: List\nitems:\n"
    objects = [f"- {document!r}\n".replace("'", '"') for document in (node("n1"), pod("p"))]
    path.write_text(head + "".join(objects) + one * (size // len(one)))
    return path


def test_a_large_file_shows_how_far_it_is_read(tmp_path: Path) -> None:
    large = dump(tmp_path / "large.yaml", 33 * 1024 * 1024 + 4000)
    assert large.stat().st_size > 33 * 1024 * 1024
    shown = at_a_terminal("plan", "-f", str(large), "--for", "Pod/default/p", width=200)
    assert "reading" in shown
    assert "large.yaml" in shown
    assert "MB" in shown
    assert "fits on n1" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def test_a_small_file_shows_none_and_the_plan_is_coloured_and_narrow() -> None:
    shown = at_a_terminal("plan", "-f", str(EXAMPLE), "--for", "PodGroup/ml/train")
    assert "reading" not in shown
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).replace("\r", "")
    assert max(map(len, plain.splitlines())) <= 80


def test_a_table_in_a_pipe_loads_nothing_that_only_a_terminal_needs() -> None:
    script = (
        "import sys; from reprieve.cli import main\n"
        f"try: main(['plan', '-f', {str(EXAMPLE)!r}, '--for', 'PodGroup/ml/train'], standalone_mode=False)\n"
        "except SystemExit: pass\n"
        "print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not set(out.splitlines()[-1].split()) & {"rich", "rich.console", "asyncio", "aiohttp"}


def test_a_forecast_is_wrapped_between_words() -> None:
    """Its sentence ran on for four lines of a narrow terminal and was broken anywhere."""
    files = [f"--filename={EXAMPLE.parent / '41-when' / name}.yaml" for name in ("cluster", "job")]
    shown = at_a_terminal("when", *files, "--now=2030-01-01T00:00:00Z", width=60)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).replace("\r", "")
    assert "cannot be said" in " ".join(plain.split())
    assert max(map(len, plain.splitlines())) <= 60
