"""Answers on their way out: one body in pieces that wait for the reader, or a line for each the moment it is there."""

import asyncio
from collections import deque
from contextlib import AbstractContextManager

import msgspec

from batchwork.server.admission import Lease, RequestResult, RequestRun
from batchwork.server.dispatcher import api_error
from batchwork.server.exchange import JSON, Exchange
from batchwork.server.loop_time import LoopTime, TimeSlices
from batchwork.server.wire import StreamedAnswer, StreamedSummary

NDJSON = "application/x-ndjson"
_PIECE = 1 << 16
_encode = msgspec.json.Encoder().encode


async def respond_in_pieces(exchange: Exchange, answer: msgspec.Struct, lease: Lease) -> None:
    """Send JSON in pieces: the next one is written when the reader has read enough of the last."""
    body = memoryview(_encode(answer))
    lease.add_bytes(len(body))
    await exchange.start(JSON, headers=[(b"content-length", b"%d" % len(body))])
    for start in range(0, len(body), _PIECE):
        await exchange.send(bytes(body[start : start + _PIECE]))
    await exchange.send(b"", more=False)


class AnswerStream:
    """Runs a request while it is being answered."""

    def __init__(self, exchange: Exchange, lease: Lease, loop_time: LoopTime) -> None:
        self._exchange = exchange
        self._lease = lease
        self._loop_time = loop_time
        self._ready: deque[int] = deque()
        self._seen: set[int] = set()
        self._changed = asyncio.Event()

    async def respond(self, admitted: AbstractContextManager[RequestRun]) -> None:
        """Send the lines. Nothing is sent where the request is not admitted."""
        with admitted as run:
            run.on_settled = self._settled
            await self._exchange.start(NDJSON)
            for prompt in run.prepared:
                if prompt.problem is not None:
                    self._settled(prompt.index)
            running = asyncio.create_task(self._run(run))
            watch = self._exchange.watch_disconnect(run.leave)
            try:
                await self._send_lines(running, run)
                last = await self._last_line(running)
            except BaseException:
                run.leave()
                await asyncio.wait([running])
                raise
            finally:
                watch.cancel()
        await self._exchange.send(last)
        await self._exchange.send(b"", more=False)

    async def _send_lines(self, running: asyncio.Task[RequestResult], run: RequestRun) -> None:
        while not running.done() or self._ready:
            if not self._ready:
                await self._changed.wait()
            self._changed.clear()
            lines = await self._lines(run)
            if lines and not run.client_left:
                await self._exchange.send(lines)

    async def _lines(self, run: RequestRun) -> bytes:
        """What is ready, as lines; not more at once than a reader is given to read."""
        slices = TimeSlices(self._loop_time)
        lines = bytearray()
        while self._ready and len(lines) < _PIECE:
            await slices.next()
            index = self._ready.popleft()
            answer = await run.answer(index)
            fields = {name: getattr(answer, name) for name in answer.__struct_fields__}
            lines += _encode(StreamedAnswer(index=index, **fields)) + b"\n"
        self._lease.add_bytes(len(lines))
        return bytes(lines)

    async def _last_line(self, running: asyncio.Task[RequestResult]) -> bytes:
        """The summary; or, where the whole request failed on its way, its error."""
        try:
            result = await running
        except Exception as error:  # the head is sent: the error has no other place to go
            wrong = api_error(error)
            self._exchange.log_fields["error_code"] = wrong.code
            return wrong.body(self._exchange.id) + b"\n"
        self._exchange.log_fields |= result.log_fields
        return _encode(StreamedSummary(summary=result.summary)) + b"\n"

    async def _run(self, run: RequestRun) -> RequestResult:
        try:
            result = await run.run()
            for index in range(len(run.prepared)):
                if index not in self._seen:
                    self._settled(index)
            return result
        finally:
            self._changed.set()

    def _settled(self, index: int) -> None:
        self._seen.add(index)
        self._ready.append(index)
        self._changed.set()
