"""Notices of a run to somebody who does not watch it: at its end, at a pause, at 50, 80 and 100% of the budget.

A notice is a JSON object; where the items stand is the journal's own count, as the end of a run has it. It is posted
to an address, or given to a command on its standard input. Its text is the argument of a command that is nothing but
the name of a program, and `$1` in any other. Where it goes may hold a secret, so that is shown nowhere but for host and
port. No notice ever fails a run.
"""

import asyncio
import logging
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import urlsplit

import msgspec

from batchwork.child_process import end_process, start_process
from batchwork.core.accounting import account_of
from batchwork.core.errors import BatchworkError, ConfigError, Interrupted, RunPaused
from batchwork.core.money import NANO, show
from batchwork.core.outcome import Status
from batchwork.core.ports import Clock, Journal
from batchwork.core.stats import Accounting, Tally

_log = logging.getLogger(__name__)
_LEVELS = (50, 80, 100)  # percent of the budget
_LOOK_S = 1.0
_TIMEOUT_S = 10.0
_MEANINGS = {126: ", so it may not be executed", 127: ", so there is no such program"}  # of a shell's exit codes
_NAME = re.compile(r"[\w./+@%:,-]+")  # of a program; anything else is the shell's to read


@dataclass(frozen=True, slots=True)
class NoticeTarget:
    """Where notices go: an http(s) address or a shell command."""

    text: str = field(repr=False)

    def __post_init__(self) -> None:
        scheme, mark, _ = self.text.strip().partition("://")
        is_address = bool(mark) and " " not in scheme
        if not self.text.strip() or (is_address and not self.host):
            raise ConfigError(
                "notify is an address that takes a POST, for example https://example.org/hook, or a command,"
                " for example ./tell-me (its argument is the text of the notice) or 'mail -s \"$1\" me@example.org'"
            )

    @property
    def host(self) -> str | None:
        """The host of an address; None for a command."""
        with suppress(ValueError):
            parts = urlsplit(self.text.strip())
            return parts.hostname if parts.scheme in ("http", "https") else None
        return None

    def check(self) -> None:
        """Refuse a command whose program is not there, or cannot be executed, before a run of hours ends without it."""
        if self.host is not None:
            return
        try:
            words = shlex.split(self.text)
        except ValueError as error:
            raise ConfigError(f"notify is no command that a shell could read: {str(error).lower()}") from None
        program = os.path.expanduser(words[0]) if words else ""  # noqa: PTH111 - Path would drop ./
        if not _NAME.fullmatch(program) or which(self._expanded()) or _is_known(program):
            return  # what is more than a name, the shell alone can tell
        is_there = "/" in program and Path(program).exists()
        why = "is a folder" if Path(program).is_dir() else "may not be executed: chmod +x makes it so"
        why = why if is_there else "is not there, or not in PATH"
        raise ConfigError(f"notify: the program that its command names {why}; nothing was sent")

    def _expanded(self) -> str:
        return os.path.expanduser(self.text.strip())  # noqa: PTH111 - Path would drop ./

    def _address(self) -> str:
        """Host and port, which hold no secret."""
        with suppress(ValueError):
            parts = urlsplit(self.text.strip())
            return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        return str(self.host)

    def _command(self, text: str) -> tuple[str, ...]:
        """What is run: a program by its bare name or path with the text as its argument, else a line of shell."""
        program = which(self._expanded())
        if program is not None:
            return program, text
        return "/bin/sh", "-c", self.text, "batchwork", text

    async def send(self, notice: dict[str, Any]) -> None:
        """Send a notice; what goes wrong is a warning in the log."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                problem = await (self._run(notice) if self.host is None else self._post(notice))
        except TimeoutError:
            problem = f"no end within {_TIMEOUT_S:g} seconds"
        except (OSError, ValueError) as error:
            problem = _words_of(error)
        if problem is not None:
            target = "the command of notify" if self.host is None else self._address()
            _log.warning("a notice could not be handed to %s: %s", target, problem)

    async def _post(self, notice: dict[str, Any]) -> str | None:
        import aiohttp  # noqa: PLC0415 - slow to import

        headers = {"Content-Type": "application/json"}
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.post(
                    self.text.strip(), data=msgspec.json.encode(notice), headers=headers, allow_redirects=False
                ) as response,
            ):
                return None if response.status < 300 else f"it answered {response.status}"
        except aiohttp.ClientError as error:
            return _words_of(error)

    async def _run(self, notice: dict[str, Any]) -> str | None:
        with TemporaryFile() as given:  # not a pipe: whether the command reads it makes no difference
            given.write(msgspec.json.encode(notice))
            given.seek(0)
            process = await start_process(
                *self._command(notice["text"]),
                stdin=given,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                await end_process(process, group=True)
        code = process.returncode
        return f"it ended with {code}{_MEANINGS.get(code, '')}" if code else None


def _is_known(program: str) -> bool:
    """Whether there is such a program, or the shell has a command of this name."""
    if "/" in program:
        return which(program) is not None
    look = ["/bin/sh", "-c", 'command -v "$1"', "batchwork", program]
    return subprocess.run(look, capture_output=True, check=False).returncode == 0  # noqa: S603 - a name, as an argument


def _words_of(error: Exception) -> str:
    """What the system says; any other words may hold the address."""
    reason = getattr(error, "os_error", error)
    if isinstance(reason, OSError) and reason.errno is not None and reason.errno > 0:
        return os.strerror(reason.errno).lower()
    return f"no such host is known ({type(error).__name__})" if "DNS" in type(error).__name__ else type(error).__name__


class Notifier:
    """Sends the notices of one run. Used inside its loop."""

    def __init__(self, target: NoticeTarget, about: dict[str, Any]) -> None:
        self._target = target
        self._about = about  # what every notice says
        self._tally: Tally | None = None
        self._accounting: Accounting | None = None  # how the run has ended
        self._level = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._cancel: Callable[[], None] = lambda: None

    def opened(
        self,
        tally: Tally,
        clock: Clock,
        journal: Journal,
        *,
        ceiling_nano: int | None,
        priced: bool,
        total: int | None = None,
    ) -> None:
        """Begin to watch the budget of a run over `total` rows, where that is known."""
        self._tally, self._clock, self._ceiling, self._priced = tally, clock, ceiling_nano, priced
        self._journal, self._total = journal, total
        self._level = self._reached()  # of which an earlier run has told
        if ceiling_nano is not None:
            self._look_later()

    def take_stock(self) -> None:
        """Count where everything stands while the journal is still open; `closed` tells it."""
        with suppress(BatchworkError):  # a journal that cannot be read has ended the run, and that is told
            self._accounting = self._account()

    def _account(self) -> Accounting:
        return account_of(self._journal, self._journal.batches.open())

    async def closed(self, stopped: str | None, reason: str = "", *, at_once: bool = False) -> None:
        """The run has ended: say so, and wait a moment until everything is sent; `at_once`: neither."""
        self._cancel()
        if self._tally is None:
            return  # nothing was begun
        if not at_once:
            self._look()
            event = "paused" if stopped == "paused" else "ended"
            words = {None: "finished", "paused": "paused", "budget": "ended, stopped by the budget"}
            self._send(event, f"the run {words.get(stopped, f'ended: {stopped}')}", stopped=stopped, reason=reason)
        for task in self._tasks:
            if at_once:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def broke_off(self, error: BatchworkError, *, at_once: bool = False) -> None:
        """The same, of a run that this ended."""
        kinds = {RunPaused: "paused", Interrupted: "interrupted"}
        await self.closed(kinds.get(type(error), "error"), str(error), at_once=at_once)

    def _look_later(self) -> None:
        def look() -> None:
            self._look()
            self._look_later()

        self._cancel = self._clock.call_later(_LOOK_S, look)

    def _look(self) -> None:
        if (level := self._reached()) > self._level:
            self._level = level
            text = "the budget is used up" if level == 100 else f"{level}% of the budget is spent"
            self._send("budget", text, percent=level)

    def _reached(self) -> int:
        """The last of the levels that the budget has come to; with money for nothing more, it is used up."""
        assert self._tally is not None
        if self._ceiling is None:
            return 0
        if self._tally.settled[Status.DEFERRED]:
            return _LEVELS[-1]
        return max((level for level in _LEVELS if 100 * self._tally.spent_nano >= level * self._ceiling), default=0)

    def _send(self, event: str, text: str, **more: Any) -> None:
        assert self._tally is not None
        tally = self._tally
        spent = tally.spent_nano if self._priced or tally.spent_nano else None
        cost = ("cost unknown" if spent is None else show(spent)) + (
            "" if self._ceiling is None else f" of {show(self._ceiling)}"
        )
        counts = self._accounting or self._account()
        missing = 0 if self._total is None else max(0, self._total - counts.inputs)
        words = f"batchwork: {text}; {counts.brief(missing=missing)}, {cost} ({self._about['model']})"
        ceiling = None if self._ceiling is None else self._ceiling / NANO
        stand = {name: getattr(counts, name) for name in ("succeeded", "failed", "deferred", "pending")}
        notice = {"event": event, "text": words, **self._about, **more, **stand, "not_reached": missing}
        notice["done"] = counts.succeeded + counts.failed
        notice["in_this_run"] = {status.value: count for status, count in tally.settled.items()}
        notice |= {"cost_usd": None if spent is None else spent / NANO, "max_cost_usd": ceiling}
        self._tasks.add(asyncio.create_task(self._target.send(notice)))
