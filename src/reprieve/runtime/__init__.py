"""The process around the controllers: one client, one lease, one HTTP server, one log.

Knows no controller: the caller registers the controllers of a process by name.
"""

from reprieve.runtime.endpoints import read_token
from reprieve.runtime.logs import set_up_logging
from reprieve.runtime.process import Controller, LeaseLost, Process, Services
from reprieve.runtime.supervision import keep_running

__all__ = ["Controller", "LeaseLost", "Process", "Services", "keep_running", "read_token", "set_up_logging"]
