"""Processes beside the server, for work that would hold its event loop up; each job within a time and a memory.

There are few, they are started when the first job comes, and callers take turns: one that brings very many jobs waits
behind its own. A job that takes too long is killed with its process, and the next one gets a new one.
"""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from batchwork.child_process import end_process, start_process
from batchwork.prompts.worker import HEAD_BYTES, ExtractJob, Job, Result, result_of, written
from batchwork.server.config import WorkLimits

_START = "import sys; sys.path[:] = sys.argv[2:]; from batchwork.prompts.worker import main; main(int(sys.argv[1]))"
_HELLO = ExtractJob("0", None)
_STARTING_S = 30.0  # on a busy machine, before the first job's time counts


class WorkFailed(Exception):
    """A job broke a limit; the message says which."""


class Workers:
    """The processes of one server."""

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits
        self._idle: list[Process] = []
        self._started = 0
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    async def run(self, job: Job, *, caller: Hashable = None) -> Result:
        """Do one job. Raises WorkFailed where it takes too long, or too much memory."""
        async with self._place(caller):
            process = self._idle.pop() if self._idle else await self._start()
            try:
                result = await _done(process, job, self._limits.job_s)
            except TimeoutError:
                raise WorkFailed(f"it took more than {self._limits.job_s:g} s") from None
            except (OSError, EOFError):
                raise WorkFailed(f"it took more than {self._limits.memory_bytes >> 20} MB") from None
            self._idle.append(process)
            return result

    async def aclose(self) -> None:
        """End the processes that have nothing to do; the others end with their jobs."""
        while self._idle:
            await end_process(self._idle.pop())

    @asynccontextmanager
    async def _place(self, caller: Hashable) -> AsyncIterator[None]:
        """A process's place; callers get theirs in turn."""
        if self._started < self._limits.processes and not self._waiting:
            self._started += 1
        else:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(caller, deque()).append(mine)
            try:
                await mine
            except BaseException:
                if mine.done() and not mine.cancelled():
                    self._pass_on()
                raise
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            caller, queue = self._waiting.popitem(last=False)
            first = queue.popleft()
            if queue:
                self._waiting[caller] = queue
            if not first.done():
                first.set_result(None)
                return
        self._started -= 1

    async def _start(self) -> Process:
        arguments = ["-I", "-c", _START, str(self._limits.memory_bytes), *sys.path]
        process = await start_process(sys.executable, *arguments, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={})
        try:
            await _done(process, _HELLO, _STARTING_S)
        except (TimeoutError, OSError, EOFError):
            raise WorkFailed("its process does not start") from None
        return process


async def _done(process: Process, job: Job, seconds: float) -> Result:
    """The result of a job; the process is killed where there is none in time."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds):
            process.stdin.write(written(job))
            await process.stdin.drain()
            head = await process.stdout.readexactly(HEAD_BYTES)
            return result_of(await process.stdout.readexactly(int.from_bytes(head)))
    except BaseException:
        await end_process(process)
        raise
