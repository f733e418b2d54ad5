"""The mutants of a module: small wrong changes, found in its syntax tree and made in its text.

Not mutated: annotations, decorators, strings and what is formatted into them, `__repr__`, what is raised, and
what only a check of types sees.
"""

import ast
import copy
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from tools.mutants.rooms import ROOT

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_NAMES = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any",
    "argmin": "argmax", "argmax": "argmin",
}  # fmt: skip
_SORTING = ("sorted", "sort", "min", "max")
_NOT_LOOKED_INTO = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)
_Node = TypeVar("_Node", bound=ast.AST)


class Mutant(NamedTuple):
    path: Path
    line: int
    statement: range
    """The lines of the statement that it is in, without what is indented below it."""
    function: str
    """The function or class that it is in; empty for none."""
    imported: bool
    """Whether it runs when the module is imported."""
    before: str
    after: str
    source: str
    """The whole module, mutated."""

    @property
    def file(self) -> str:
        return _name(self.path)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names it also when lines have moved."""
        return self.file, self.function, self.before, self.after


def mutants(path: Path, only: Container[tuple[str, str, str, str]] | None = None) -> list[Mutant]:
    """Every mutant of the module, in the order of its text; or those with `only` these keys."""
    text = path.read_text(encoding="utf-8")
    begins = [0]
    for line in text.encode().splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    found: dict[str, Mutant] = {}
    for where, node, changed in _changes(ast.parse(text), _Where("", True, range(0))):
        begin = begins[node.lineno - 1] + node.col_offset
        end = begins[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before, after = ast.unparse(node), ast.unparse(changed)
        if only is not None and (_name(path), where.function, before, after) not in only:
            continue
        written = after if isinstance(changed, ast.stmt) else f"({after})"
        source = (text.encode()[:begin] + written.encode() + text.encode()[end:]).decode()
        if _compiles(source):
            place = (node.lineno, where.statement, where.function, where.imported)
            found.setdefault(source, Mutant(path, *place, before, after, source))
    return list(found.values())


def untouched(path: Path) -> Mutant:
    """The module as it is: what no test may fail on."""
    return Mutant(path, 0, range(0), "", False, "", "", path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _compiles(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


class _Where(NamedTuple):
    function: str
    imported: bool
    statement: range

    def below(self, parent: ast.AST, field: str, node: ast.AST) -> "_Where":
        """Where a node is that is in this field of its parent."""
        found = self
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and field == "body":
            inside = f"{self.function}.{parent.name}".removeprefix(".")
            found = found._replace(
                function=inside, imported=self.imported and isinstance(parent, ast.ClassDef)
            )
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = max(node.lineno + 1, body[0].lineno) if body else (node.end_lineno or node.lineno) + 1
            found = found._replace(statement=range(node.lineno, end))
        return found


_Change = tuple[_Where, ast.expr | ast.stmt, ast.expr | ast.stmt]


def _changes(node: ast.AST, where: _Where) -> Iterator[_Change]:
    """(where it is, what is replaced, by what), for everything below the node."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _NOT_LOOKED_INTO) or _for_types(child):
                continue
            here = where.below(node, field, child)
            if isinstance(child, ast.expr | ast.stmt):
                yield from ((here, child, changed) for changed in _changed(child, node))
            yield from _changes(child, here)


def _for_types(node: ast.AST) -> bool:
    """What runs only for a check of types or for a look at an object, or says what a type is called."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "__repr__"
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        alias = name.lstrip("_")[:1].isupper() and not name.isupper()
        return name == "__all__" or (alias and isinstance(node.value, ast.Subscript | ast.BinOp))
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"


def _changed(node: ast.expr | ast.stmt, parent: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.stmt):
        yield from _changed_statement(node)
    if isinstance(parent, ast.If | ast.IfExp) and node is parent.test:
        yield from (ast.Constant(True), ast.Constant(False))
    if isinstance(parent, ast.comprehension) and node in parent.ifs:
        yield ast.Constant(True)
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            operators = [*node.ops]
            operators[index] = _COMPARED[type(operator)]()
            yield _with(node, ops=operators)
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        if len(node.values) == 2:
            yield from node.values
        else:
            yield from (_with(node, values=[v for v in node.values if v is not left]) for left in node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield _with(node, op=_COMPUTED[type(node.op)]())
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node)
    elif isinstance(node, ast.Call):
        yield from _changed_call(node)


def _changed_statement(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.Return(value=value):
            yield ast.Pass()
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield ast.Pass()
        case ast.AugAssign(op=operator):
            yield ast.Pass()
            if type(operator) in _COMPUTED:
                yield _with(node, op=_COMPUTED[type(operator)]())
        case ast.Continue():
            yield from (ast.Break(), ast.Pass())
        case ast.Break():
            yield from (ast.Continue(), ast.Pass())


def _changed_constant(node: ast.Constant) -> Iterator[ast.expr]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)


def _changed_call(node: ast.Call) -> Iterator[ast.expr]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name in _NAMES:
        field = "id" if isinstance(function, ast.Name) else "attr"
        yield _with(node, func=_with(function, **{field: _NAMES[name]}))
    if name == "get" and len(node.args) == 2:
        yield _with(node, args=node.args[:1])
    if name in _SORTING and any(each.arg == "key" for each in node.keywords):
        yield _with(node, keywords=[each for each in node.keywords if each.arg != "key"])
    if name in ("sorted", "sort") and not any(each.arg == "reverse" for each in node.keywords):
        yield _with(node, keywords=[*node.keywords, ast.keyword("reverse", ast.Constant(True))])


def _with(node: _Node, **fields: object) -> _Node:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
