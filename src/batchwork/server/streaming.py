"""Answers as newline-delimited JSON, each the moment it is there."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from batchwork.pipeline import Answer, finish_answer
from batchwork.server.desk import Ask, Taken
from batchwork.server.entrance import visit_of
from batchwork.server.reading import watching
from batchwork.server.reporting import facts
from batchwork.server.wire import StreamedAnswer, StreamedSummary

NDJSON = "application/x-ndjson"
_encode = msgspec.json.Encoder().encode


class AnswerStream(Response):
    """Runs a request while it is being answered."""

    media_type = NDJSON

    def __init__(self, take_on: Callable[[], AbstractContextManager[Ask]], *, log_text: bool) -> None:
        super().__init__(status_code=200)
        del self.headers["content-length"]
        self._take_on = take_on
        self._log_text = log_text
        self._ready: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._told: set[int] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines.

        Raises:
            ApiError: the request cannot start; nothing was sent.
        """
        with self._take_on() as ask:
            ask.on_answer = self._put
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for prompt in ask.prepared:
                if prompt.problem is not None:
                    self._put(prompt.index, finish_answer(prompt, None))
            running = asyncio.create_task(self._run(ask))
            try:
                async with watching(receive, ask.leave):
                    await self._send_lines(running, ask, send)
                    taken = await running
            except BaseException:
                ask.leave()
                await asyncio.wait([running])
                raise
        visit_of(scope).note(facts(taken, ask, log_text=self._log_text))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_lines(self, running: asyncio.Task[Taken], ask: Ask, send: Send) -> None:
        while not running.done() or self._ready:
            if not self._ready:
                await self._changed.wait()
            self._changed.clear()
            lines = b"".join(self._ready)
            self._ready.clear()
            if lines and not ask.client_left:
                await send({"type": "http.response.body", "body": lines, "more_body": True})

    async def _run(self, ask: Ask) -> Taken:
        try:
            taken = await ask.run()
            for index, answer in enumerate(taken.answers):
                if index not in self._told:
                    self._put(index, answer)
            self._ready.append(_encode(StreamedSummary(summary=taken.summary)) + b"\n")
            return taken
        finally:
            self._changed.set()

    def _put(self, index: int, answer: Answer) -> None:
        self._told.add(index)
        fields = {name: getattr(answer, name) for name in Answer.__struct_fields__}
        self._ready.append(_encode(StreamedAnswer(index=index, **fields)) + b"\n")
        self._changed.set()
