"""Reads what the pages show: fenced blocks, commands with the output they promise, files that belong to them.

The convention, for whoever writes a page:

- ```` ```console ````: lines with `$ ` are commands, `\\` at the end continues them, the lines below are what
  is printed. `...` stands for any text in a line; alone on a line, for any lines. Spaces and empty lines do
  not count. Without such lines the output is not compared. Each block is run in a folder with `examples/` and
  the page's own files. ```` ```sh ```` and indented blocks hold commands only.
- ```` ```console cluster ````, and every block that uses kubectl: the page's blocks of this kind are run one
  after the other on one embedded cluster: what the page's own `reprieve up` line starts, or else the cluster
  of example 02 (`shell.STORY`). What is asked is asked again until the answer is as shown.
- Commands in running text are run too, where they need a cluster on that of example 02. `reprieve WORD` alone
  only names a command. Commands that stay (`up`, `run`) are started, used and stopped. What cannot be run is
  in `shell.ELSEWHERE`, with the reason.
- `<!-- file: NAME -->` before a fenced block makes it a file; `<!-- file: NAME` … `-->` is a file that
  readers do not see.
- ```` ```yaml ````, ```` ```json ```` and ```` ```python ````: manifests that are valid, documents that
  parse, code that runs. ```` ```text ````: nothing of all this.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAGES = sorted(page for place in ("*.md", "docs/**/*.md", "examples/**/*.md") for page in ROOT.glob(place))

FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)\s*$", re.M | re.S)
INDENTED = re.compile(r"(?:\A|\n)[ \t]*\n((?: {4,}\S.*(?:\n|\Z))+)")
VISIBLE_FILE = re.compile(r"<!-- file: (\S+) -->\s*\Z")
HIDDEN_FILE = re.compile(r"^<!-- file: (\S+)\n(.*?)^-->", re.M | re.S)
PROGRAM = r"(?:reprieve|kubectl|curl|docker|export|git|make|pip|python|source|\.venv/bin/\w+) "
INLINE = re.compile(rf"(?<!`)`({PROGRAM}[^`\n]+)`(?!`)")
ON_CLUSTER = re.compile(
    r"\bkubectl\b|\bcurl\b|--kubeconfig[ =][~$]|^reprieve explain (?!.*(?: -f |"
    r" --filename|//127\.0\.0\.1:1$))"
)
"""Commands that ask a cluster. Nothing listens on port 1: pages use it to show what that looks like."""
LANGUAGES = ("console", "console cluster", "sh", "text", "yaml", "json", "python")


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
        asks = any(ON_CLUSTER.search(command.line) for command in self.commands)
        return self.language == "console cluster" or asks

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def blocks(page: Path) -> list[Block]:
    """Every fenced block, and every indented one that holds commands."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, body = " ".join(match["info"].split()), match["text"]
        commands = []
        if language.startswith("console"):
            commands = list(_commands(body))
        elif language == "sh":
            commands = _lines(body)
        found.append(Block(page, _line(text, match.start()), language, body, commands))
    rest = _without_blocks(text)
    return found + [
        Block(page, _line(rest, match.start(1)), "sh", match[1], _lines(match[1]))
        for match in INDENTED.finditer(rest)
        if re.match(rf"\s*{PROGRAM}", match[1])
    ]


def _without_blocks(text: str) -> str:
    """Line numbers stay."""
    return FENCE.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)


def files(page: Path) -> dict[str, str]:
    """What the page's commands find in their folder, next to `examples`."""
    text = page.read_text(encoding="utf-8")
    found = dict(HIDDEN_FILE.findall(text))
    for match in FENCE.finditer(text):
        if named := VISIBLE_FILE.search(text[: match.start()]):
            found[named[1]] = match["text"]
    return found


def inline(page: Path) -> list[str]:
    """Commands in running text."""
    return INLINE.findall(_without_blocks(page.read_text(encoding="utf-8")))


def _commands(body: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", body.replace("\\\n", " "), flags=re.M)[1:]:
        line, _, output = part.partition("\n")
        yield Command(_plain(line), output)


def _lines(body: str) -> list[Command]:
    """A block that holds commands and nothing else."""
    lines = (_plain(line) for line in body.replace("\\\n", " ").splitlines())
    return [Command(line) for line in lines if line]


def _plain(line: str) -> str:
    return " ".join(re.split(r"(?:^| )# ", line)[0].split())


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
