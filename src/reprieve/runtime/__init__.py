"""The process around the controllers: one client, one lease, one HTTP server, one log.

Knows no controller: whoever starts a process registers its controllers by name.
"""

from reprieve.runtime.logs import set_up_logging
from reprieve.runtime.process import Controller, LeaseLost, Process, Services
from reprieve.runtime.tokens import read_token

__all__ = ["Controller", "LeaseLost", "Process", "Services", "read_token", "set_up_logging"]
