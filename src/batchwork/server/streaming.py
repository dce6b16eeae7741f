"""Answers on their way out: one body in pieces that wait for the reader, or a line for each the moment it is there."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from batchwork.prompts import Answer
from batchwork.server.desk import Ask, Taken
from batchwork.server.entrance import told_to_callers, visit_of
from batchwork.server.holdings import Holding
from batchwork.server.reading import watching
from batchwork.server.reporting import facts
from batchwork.server.turns import Turns
from batchwork.server.wire import StreamedAnswer, StreamedSummary

NDJSON = "application/x-ndjson"
_PIECE = 1 << 16
_encode = msgspec.json.Encoder().encode


class WholeAnswer(Response):
    """JSON in pieces: the next one is written when the reader has read enough of the last."""

    media_type = "application/json"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces."""
        del scope, receive
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = memoryview(self.body)
        for start in range(0, len(body), _PIECE):
            await send({"type": "http.response.body", "body": bytes(body[start : start + _PIECE]), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class AnswerStream(Response):
    """Runs a request while it is being answered."""

    media_type = NDJSON

    def __init__(
        self, take_on: Callable[[], AbstractContextManager[Ask]], holding: Holding, turns: Turns, *, log_text: bool
    ) -> None:
        super().__init__(status_code=200)
        del self.headers["content-length"]
        self._take_on = take_on
        self._holding = holding
        self._turns = turns
        self._log_text = log_text
        self._ready: deque[int] = deque()
        self._told: set[int] = set()
        self._changed = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines.

        Raises:
            ApiError: the request cannot start; nothing was sent.
        """
        with self._take_on() as ask:
            ask.on_settled = self._settled
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for prompt in ask.prepared:
                if prompt.problem is not None:
                    self._settled(prompt.index)
            running = asyncio.create_task(self._run(ask))
            try:
                async with watching(receive, ask.leave):
                    await self._send_lines(running, ask, send)
                    last = await self._last_line(running, ask, scope)
            except BaseException:
                ask.leave()
                await asyncio.wait([running])
                raise
        await send({"type": "http.response.body", "body": last, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_lines(self, running: asyncio.Task[Taken], ask: Ask, send: Send) -> None:
        while not running.done() or self._ready:
            if not self._ready:
                await self._changed.wait()
            self._changed.clear()
            lines = await self._lines(ask)
            if lines and not ask.client_left:
                await send({"type": "http.response.body", "body": lines, "more_body": True})

    async def _lines(self, ask: Ask) -> bytes:
        """What is ready, as lines; not more at once than a reader is given to read."""
        slices = self._turns.slices()
        lines: list[bytes] = []
        size = 0
        while self._ready and size < _PIECE:
            await slices.next()
            index = self._ready.popleft()
            line = _line(index, await ask.answer(index))
            size += len(line)
            lines.append(line)
        self._holding.add_bytes(size)
        return b"".join(lines)

    async def _last_line(self, running: asyncio.Task[Taken], ask: Ask, scope: Scope) -> bytes:
        """The summary; or, where the whole request failed on its way, its error."""
        visit = visit_of(scope)
        try:
            taken = await running
        except Exception as error:  # the head is sent: the error has no other place to go
            told = told_to_callers(error)
            visit.note({"error_code": told.code})
            return told.body(visit.id) + b"\n"
        visit.note(facts(taken, ask, log_text=self._log_text))
        return _encode(StreamedSummary(summary=taken.summary)) + b"\n"

    async def _run(self, ask: Ask) -> Taken:
        try:
            taken = await ask.run()
            for prompt in ask.prepared:
                if prompt.index not in self._told:
                    self._settled(prompt.index)
            return taken
        finally:
            self._changed.set()

    def _settled(self, index: int) -> None:
        self._told.add(index)
        self._ready.append(index)
        self._changed.set()


def _line(index: int, answer: Answer) -> bytes:
    fields = {name: getattr(answer, name) for name in Answer.__struct_fields__}
    return _encode(StreamedAnswer(index=index, **fields)) + b"\n"
