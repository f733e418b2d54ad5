"""Reads what the pages show: fenced blocks, commands with the output they promise, files that belong to them.

The convention, for whoever writes a page:

- ```` ```console ```` (or no language, when the first line is a command): lines with `$ ` are commands, `\\` at the end continues
  them, the lines below are what is printed. `...` stands for any text in a line; alone on a line, for any lines. Spaces and empty lines do
  not count. Without such lines the output is not compared. Each block is run in a folder with `examples/` and the page's own files.
- ```` ```console cluster ````, and every block that uses kubectl: the page's blocks of this kind are run one after the other on one embedded
  cluster, started by the page's own `reprieve up` line if it has one. What is asked is asked again until the answer is as shown.
- ```` ```sh ````: commands to adapt; only their names and options are checked. The same holds for commands in running text, and for those
  with a placeholder in capitals. Indented commands are run on the pages of the examples, and only checked elsewhere.
- `<!-- file: NAME -->` before a fenced block makes it a file; `<!-- file: NAME` … `-->` is a file that readers do not see.
- ```` ```yaml ````, ```` ```json ```` and ```` ```python ````: manifests that are valid, documents that parse, code that runs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGES = sorted(
    [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("examples/*/*.md")]
)

FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)\s*$", re.M | re.S)
INDENTED = re.compile(r"(?:\A|\n)[ \t]*\n((?: {4,}\S.*(?:\n|\Z))+)")
VISIBLE_FILE = re.compile(r"<!-- file: (\S+) -->\s*\Z")
HIDDEN_FILE = re.compile(r"^<!-- file: (\S+)\n(.*?)^-->", re.M | re.S)
INLINE = re.compile(r"(?<!`)`(reprieve [^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Command:
    line: str
    output: str = ""


@dataclass(frozen=True)
class Block:
    page: Path
    number: int
    """Of its first line."""
    language: str
    text: str
    commands: list[Command] = field(default_factory=list)

    @property
    def on_cluster(self) -> bool:
        return self.language == "console cluster" or any(
            "kubectl" in command.line for command in self.commands
        )

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def blocks(page: Path) -> list[Block]:
    """Every fenced block, and every indented one that holds commands."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        info, body = " ".join(match["info"].split()), match["text"]
        language = "console" if not info and body.lstrip().startswith("$ ") else info
        commands = list(_commands(body)) if language.startswith("console") else []
        found.append(Block(page, _line(text, match.start()), language, body, commands))
    rest = FENCE.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)
    for match in INDENTED.finditer(rest):
        lines = [" ".join(line.split()) for line in match[1].replace("\\\n", " ").splitlines()]
        if lines[0].startswith("reprieve "):
            number = _line(rest, match.start(1))
            if EXAMPLES in page.parents:
                commands = [Command(line.split(" # ")[0]) for line in lines]
                found.append(Block(page, number, "console", match[1], commands))
            else:
                found.append(Block(page, number, "sh", match[1]))
    return found


def files(page: Path) -> dict[str, str]:
    """What the page's commands find in their folder, next to `examples`."""
    text = page.read_text(encoding="utf-8")
    found = dict(HIDDEN_FILE.findall(text))
    for match in FENCE.finditer(text):
        if named := VISIBLE_FILE.search(text[: match.start()]):
            found[named[1]] = match["text"]
    return found


def mentioned(page: Path) -> list[str]:
    """Commands in running text and in blocks of examples to adapt."""
    text = page.read_text(encoding="utf-8")
    found = [match[1] for match in INLINE.finditer(FENCE.sub("", text))]
    for block in blocks(page):
        if block.language == "sh":
            found += block.text.replace("\\\n", " ").splitlines()
        found += [command.line for command in block.commands]
    return found


def _commands(body: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", body.replace("\\\n", " "), flags=re.M)[1:]:
        line, _, output = part.partition("\n")
        yield Command(" ".join(line.split(" # ")[0].split()), output)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def matches(shown: str, printed: str) -> bool:
    """Whether what was printed is what the page shows."""
    pattern = ""
    for line in _squeezed(shown):
        pattern += r"(?:.*\n)*?" if line == "..." else _line_pattern(line) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _squeezed(printed))) is not None


def _line_pattern(line: str) -> str:
    """Spaces next to the dots do not count either."""
    first, *rest = line.split("...")
    middle = "".join(f".*?{re.escape(part.strip())}" for part in rest)
    return re.escape(first.rstrip() if rest else first) + middle


def _squeezed(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line]
