"""Reprieve decides which running workloads make way for more important ones, and says why.

The public functions are imported when they are first used, so that `reprieve --help` starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reprieve.whatif import admit, plan

__all__ = ["__version__", "admit", "plan"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in ("plan", "admit"):
        return getattr(import_module("reprieve.whatif"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
