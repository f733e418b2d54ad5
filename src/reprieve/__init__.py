"""Reprieve decides which running workloads make way for more important ones on Kubernetes, and says why.

This is the whole public interface for programs; `docs/library.md` shows it in use. Everything is imported
when it is first used: `import reprieve` costs next to nothing, and a plan loads no server.
"""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers know it; importing `typing` would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from reprieve import fleet, server
    from reprieve.config import Configuration
    from reprieve.fleet import Reconciled, reconcile
    from reprieve.forecast import Forecast, when
    from reprieve.local import local_cluster
    from reprieve.objects import Document, NodeTemplate, PlanOutcome, ReprieveError, read_documents
    from reprieve.preemption import Plan
    from reprieve.quota import QuotaPlan
    from reprieve.server import EmbeddedServer, Habits
    from reprieve.whatif import Admissions, FleetPlan, JobPlan, admit, compare, plan, plan_fleet

__version__ = "0.2.0"
__all__ = [
    "Admissions",
    "Configuration",
    "Document",
    "EmbeddedServer",
    "FleetPlan",
    "Forecast",
    "Habits",
    "JobPlan",
    "NodeTemplate",
    "Plan",
    "PlanOutcome",
    "QuotaPlan",
    "Reconciled",
    "ReprieveError",
    "__version__",
    "admit",
    "compare",
    "fleet",
    "local_cluster",
    "plan",
    "plan_fleet",
    "read_documents",
    "reconcile",
    "server",
    "when",
]

_EXPORTS = {
    "config": ("Configuration",),
    "fleet": ("Reconciled", "reconcile"),
    "forecast": ("Forecast", "when"),
    "local": ("local_cluster",),
    "objects": ("Document", "NodeTemplate", "PlanOutcome", "ReprieveError", "read_documents"),
    "preemption": ("Plan",),
    "quota": ("QuotaPlan",),
    "server": ("EmbeddedServer", "Habits"),
    "whatif": ("Admissions", "FleetPlan", "JobPlan", "admit", "compare", "plan", "plan_fleet"),
}
_HOME = {name: room for room, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        value = getattr(import_module(f"reprieve.{_HOME[name]}"), name)
    elif name in __all__:
        value = import_module(f"reprieve.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
