"""Structured logs: one JSON object a line for machines, or plain lines for people."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from reprieve.objects import harmless

Format = Literal["text", "json"]

_PLAIN = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message, and whatever the call gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{key: value for key, value in record.__dict__.items() if key not in _PLAIN},
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class PlainFormatter(logging.Formatter):
    """A line for people; whatever it quotes cannot steer their terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


def set_up_logging(format: Format = "text", level: str = "INFO") -> None:
    handler = logging.StreamHandler(sys.stderr)
    if format == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(PlainFormatter("%(asctime)s %(levelname).1s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
