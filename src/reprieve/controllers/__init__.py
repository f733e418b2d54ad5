"""The live loops of scheduler, quota and fleet, each against an API server. The rooms below decide.

    load("quota")                    # its `run(client, config, services)`

Only the controllers that a process runs are imported.
"""

from reprieve.controllers.documents import OwnWrites, revision_of, utc_now
from reprieve.controllers.workqueue import WorkQueue
from reprieve.objects import ReprieveError
from reprieve.runtime import Controller

__all__ = [
    "CONTROLLERS",
    "OwnWrites",
    "WorkQueue",
    "load",
    "revision_of",
    "utc_now",
]

CONTROLLERS = ("scheduler", "quota", "fleet")


def load(name: str) -> Controller:
    """The controller of this name; an unknown one is the user's to fix."""
    match name:
        case "scheduler":
            from reprieve.controllers import scheduler

            return scheduler.run
        case "quota":
            from reprieve.controllers import quota

            return quota.run
        case "fleet":
            from reprieve.controllers import fleet

            return fleet.run
    raise ReprieveError(f"there is no controller {name!r}; known are {', '.join(CONTROLLERS)}")
