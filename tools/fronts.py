"""Imports between rooms go through a room's front: its `__init__`, and only names in its `__all__`. Run by
`make layers`. The embedded server is an edge: only what starts one imports it.

A room is a package directly under `reprieve`; the three controllers count as one room each, so that running
one does not import the others. Inside a room modules import each other as they like.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "reprieve"
SPLIT = ("controllers",)
"""Packages that hold rooms instead of being one."""
EDGES = {"server": ("src/reprieve/__init__.py", "src/reprieve/cli/up.py", "demo", "local")}
"""Rooms that only these modules and rooms may import."""


class Import(NamedTuple):
    where: str
    own: str
    """The room that imports."""
    room: str
    front: bool
    """It names the room itself, not a module inside it."""
    name: str


def main() -> int:
    fronts = {room: _exported(room) for room in _rooms()}
    found = list(imports())
    problems = [text for each in found if (text := _problem(each, fronts))]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(
        f"{len(found) - len(problems)} of {len(found)} names imported from another room come through its "
        "front."
    )
    return 1 if problems else 0


def imports() -> Iterator[Import]:
    """Every name that a module of one room imports from another."""
    for path in sorted(SOURCE.rglob("*.py")):
        own = _room_of(".".join(path.relative_to(SOURCE).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reprieve."):
                inside = (node.module or "").removeprefix("reprieve.")
                room = _room_of(inside)
                if room != own:
                    where = f"{path.relative_to(SOURCE.parents[1])}:{node.lineno}"
                    for alias in node.names:
                        yield Import(where, own, room, inside == room, alias.name)


def _problem(each: Import, fronts: dict[str, set[str]]) -> str:
    allowed = EDGES.get(each.room)
    if allowed is not None and each.own not in allowed and each.where.partition(":")[0] not in allowed:
        return f"{each.where}: {each.room} is an edge, imported only by {', '.join(allowed)}"
    if not each.front:
        return (
            f"{each.where}: {each.name} is imported from inside {each.room}; import it from "
            f"reprieve.{each.room}"
        )
    if each.name not in fronts.get(each.room, set()):
        return f"{each.where}: {each.name} is not in __all__ of reprieve.{each.room}"
    return ""


def _rooms() -> list[str]:
    packages = [path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py")]
    return sorted({_room_of(".".join(package.parts)) for package in packages if package.parts} | set(SPLIT))


def _room_of(module: str) -> str:
    first, *rest = module.split(".")
    return f"{first}.{rest[0]}" if first in SPLIT and rest and (SOURCE / first / rest[0]).is_dir() else first


def _exported(room: str) -> set[str]:
    path = SOURCE.joinpath(*room.split(".")) / "__init__.py"
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and any(
            getattr(each, "id", "") == "__all__" for each in node.targets
        ):
            return set(ast.literal_eval(node.value))
    return set()


if __name__ == "__main__":
    sys.exit(main())
