"""What the scalars of a manifest mean: as to kubectl and the API server, which read YAML 1.1 without base 60.

`on`, `no` and `y` are booleans, `017` and `0o17` are fifteen, `1e3` is a number. A timestamp and `1:30` stay
text, and so does a number that no float can hold. An integer beyond 64 bits is a float.
"""

import math
import re
from typing import Any

from reprieve.objects.errors import ReprieveError

MAX_DEPTH = 100
_CONSTANTS: dict[str, Any] = {"": None, "~": None, "y": True, "Y": True, "n": False, "N": False}
for _words, _meaning in (("null", None), ("true yes on", True), ("false no off", False)):
    for _word in _words.split():
        _CONSTANTS |= dict.fromkeys((_word, _word.capitalize(), _word.upper()), _meaning)
for _word in (".inf", ".Inf", ".INF"):
    _CONSTANTS |= {_word: math.inf, f"+{_word}": math.inf, f"-{_word}": -math.inf}
_CONSTANTS |= dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
_BASED = re.compile(r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_LONGEST_NUMBER = 400
"""No float has more digits before its point; longer text is not even looked at."""


class YamlError(ReprieveError):
    """Text that is no acceptable YAML; the message names the line."""


def scalar(text: str) -> Any:
    """What an unquoted scalar means."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    integer = _integer(digits)
    if integer is not None and -(2**63) <= integer < 2**64 and (integer < 2**63 or digits[0] != "+"):
        return integer
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        return number if math.isfinite(number) else text
    return text


def _integer(digits: str) -> int | None:
    if _INTEGER.fullmatch(digits):
        return int(digits)
    if (match := _BASED.fullmatch(digits)) is None:
        return None
    sign, *found = match.groups()
    return next(int(sign + each, base) for each, base in zip(found, (16, 2, 8), strict=True) if each)


def key_text(key: Any) -> str:
    """A key as JSON has it: `8080: x` has the key "8080", `on: x` the key "true"."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(int(key)) if isinstance(key, float) and key.is_integer() and abs(key) < 2**53 else str(key)
