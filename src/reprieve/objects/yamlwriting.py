"""YAML for kubectl and for people: written out in full, and read back by Kubernetes as it was."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from reprieve.objects.yamlscalars import scalar


def format_yaml(documents: Iterable[Any], width: int = 120) -> str:
    """The documents as text, with a line between them.

    By itself PyYAML leaves `y` and `1e3` without quotes, which are a boolean and a number to Kubernetes, and
    writes anchors, which nobody expects in a manifest, for values that are there twice.
    """
    import yaml  # only where YAML is written: the front of this room must stay quick to import

    text: str = yaml.dump_all(documents, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=width)
    return text


@cache
def _dumper() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - yaml's signature
            return True

    def text(dumper: Any, value: str) -> Any:
        plain = isinstance(scalar(value), str)
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else "'")

    Dumper.add_representer(str, text)
    return Dumper
