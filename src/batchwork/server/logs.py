"""Logs as one JSON object per line, without prompts, answers and keys."""

import logging
import sys
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

from batchwork.clock import stopwatch

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_KINDS = 1000  # of lines that are told apart
_log = logging.getLogger("batchwork.server")


class Flood(logging.Filter):
    """Lets lines about what callers do wrong through only so often; the next line says how many were left out.

    What was answered well is always logged. A refusal, a dropped connection or a complaint of the web server can be
    caused by anybody at any rate, and a disk that fills up would be the larger harm.
    """

    def __init__(self, per_s: int = 10, *, now: Callable[[], float] | None = None) -> None:
        super().__init__()
        self._per_s = per_s
        self._now = now or stopwatch()
        self._seen: dict[Hashable, tuple[float, int, int]] = {}  # the second it is about, lines in it, left out

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        status = fields.get("status", 0)
        if record.name.startswith("batchwork") and not status >= 400 and "why" not in fields:
            return True
        kind = (record.name, str(record.msg)[:80], status, fields.get("error_code"), fields.get("why"))
        now = self._now()
        since, lines, left_out = self._seen.get(kind, (now, 0, 0))
        if now - since >= 1.0:
            since, lines = now, 0
        if lines >= self._per_s:
            self._seen[kind] = (since, lines, left_out + 1)
            return False
        if left_out:
            record.fields = {**fields, "left_out_before": left_out}
        if len(self._seen) > _KINDS:
            self._seen.clear()
        self._seen[kind] = (since, lines + 1, 0)
        return True


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


def set_up() -> None:
    """Send the logs of batchwork and of the web server to standard error, as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(Flood())
    for name, least in (("batchwork", logging.INFO), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(least)
