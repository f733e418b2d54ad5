"""`import reprieve` shows a program everything that docs/library.md names, typed, and loads nothing until
it is used.
"""

import subprocess
import sys
import typing
from pathlib import Path

import pytest

import reprieve
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", reprieve.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(reprieve, name) is not None


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert dir(reprieve) == sorted(reprieve.__all__)


def test_the_page_names_them_all() -> None:
    page = (ROOT / "docs" / "library.md").read_text()
    assert [name for name in reprieve.__all__ if name != "__version__" and f"`{name}`" not in page] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'plans'"):
        reprieve.plans  # noqa: B018


def test_the_import_loads_no_room() -> None:
    loaded = python("import reprieve, sys; print([m for m in sys.modules if m.startswith('reprieve.')])")
    assert loaded.strip() == "[]"


def test_the_fleet_is_there_after_the_import() -> None:
    assert python("import reprieve; print(reprieve.fleet.reconcile is reprieve.reconcile)").strip() == "True"


def test_outcomes_are_literals() -> None:
    assert set(typing.get_args(reprieve.PlanOutcome)) == {"scheduled", "preempts", "unschedulable", "gated"}


def test_a_type_checker_knows_the_answers(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import reprieve\n"
        "found = reprieve.plan([], 'Pod/a/b')\n"
        "reveal_type(found)\n"
        "reveal_type(found.outcome)\n"
        "reveal_type(reprieve.admit([]))\n"
        "reveal_type(reprieve.plan_fleet({}, {}))\n"
        "reveal_type(reprieve.fleet.reconcile([], {}, ''))\n"
        "reveal_type(reprieve.local_cluster())\n"
        "reprieve.nothing_of_this_name\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    cache = f"--cache-dir={ROOT / '.mypy_cache'}"
    done = subprocess.run([*command, cache, program], capture_output=True, text=True, check=False, cwd=ROOT)
    shown = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    plan, quota = "reprieve.preemption.plan.Plan", "reprieve.quota.plan.QuotaPlan"
    assert shown[:6] == [
        f'note: Revealed type is "{plan} | {quota} | reprieve.whatif.jobs.JobPlan"',
        (
            "note: Revealed type is \"Literal['scheduled'] | Literal['preempts'] | Literal['unschedulable'] |"
            " Literal['gated'] | Literal['partial']\""
        ),
        'note: Revealed type is "reprieve.whatif.quota.Admissions"',
        'note: Revealed type is "reprieve.whatif.fleet.FleetPlan"',
        'note: Revealed type is "reprieve.fleet.offline.Reconciled"',
        'note: Revealed type is "reprieve.server.embedded.EmbeddedServer"',
    ]
