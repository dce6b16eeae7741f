"""Logs as one JSON object per line: what happened, to which request, how long it took. No prompt, no answer, no key."""

from __future__ import annotations

import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_log = logging.getLogger("batchwork.server")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; fields come in through `extra={"fields": {...}}`."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        if (known := request_id.get()) is not None:
            line["request_id"] = known
        line["event"] = record.getMessage()
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode("utf-8", "replace")


def log(event: str, **fields: Any) -> None:
    """One line about something that happened."""
    if _log.isEnabledFor(logging.INFO):
        # Without the search for the calling line: it costs more than the rest, and the event's name says it.
        record = logging.LogRecord(_log.name, logging.INFO, "", 0, event, None, None)
        record.fields = fields
        _log.handle(record)


def log_defect(event: str, **fields: Any) -> None:
    """One line about a defect, with where it happened."""
    _log.exception(event, extra={"fields": fields})


def set_up(level: int = logging.INFO) -> None:
    """Send the logs of batchwork and of the web server to standard error, as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, least in (("batchwork", level), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(least)
