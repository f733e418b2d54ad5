"""The process around the controllers: one client, one lease, one HTTP server, one log.

Knows no controller: the caller registers the controllers of a process by name.
"""

from typing import TYPE_CHECKING

from reprieve.runtime.endpoints import read_token, serve
from reprieve.runtime.logs import set_up_logging
from reprieve.runtime.process import Controller, LeaseLost, Process, Services
from reprieve.runtime.supervision import keep_running

if TYPE_CHECKING:  # it needs OpenTelemetry, and is imported only where it is wanted
    from reprieve.runtime.tracing import Tracing

__all__ = [
    "Controller",
    "LeaseLost",
    "Process",
    "Services",
    "Tracing",
    "keep_running",
    "read_token",
    "serve",
    "set_up_logging",
]
