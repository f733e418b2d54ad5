"""HTML and SVG as text. Attributes are escaped here; content is markup already."""

from collections.abc import Iterable, Sequence
from html import escape


def tag(name: str, *content: str, **attributes: object) -> str:
    """`tag("td", "x", class_="wide", aria_label="...")`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(content)}</{name}>"


def heads(*titles: str, **attributes: object) -> str:
    return "".join(tag("th", title, scope="col", **attributes) for title in titles)


def table(head: str, rows: Iterable[str], **attributes: object) -> str:
    """`head`: header cells; `rows`: whole rows."""
    return tag("table", tag("thead", tag("tr", head)), tag("tbody", *rows), **attributes)


def scrolled(label: str, content: str) -> str:
    """What may be wider than the page; keys reach it."""
    return tag("div", content, class_="scroll", tabindex=0, role="group", aria_label=label)


def folded(title: str, content: str) -> str:
    return tag("details", tag("summary", escape(title)), content)


def listed(items: Sequence[str], kind: str = "ul", **attributes: object) -> str:
    return tag(kind, *(tag("li", each) for each in items), **attributes)
