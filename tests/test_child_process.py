"""A child process that is ended leaves nothing open, on either loop."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from batchwork.child_process import end_process, start_process


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_the_pipes_of_an_ended_process_are_closed_although_a_detached_grandchild_holds_them(loop_factory):
    async def ended():
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", "setsid sh -c 'echo started; sleep 2' & sleep 100"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        await process.stdout.readline()
        await end_process(process, group=True)
        return process.returncode

    with asyncio.Runner(loop_factory=loop_factory) as runner:  # an open pipe would be a ResourceWarning, or an error
        assert runner.run(ended()) == -9


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("turns", range(6))
def test_whoever_is_cancelled_while_a_process_starts_leaves_none_behind(tmp_path, loop_factory, turns):
    async def given_up():
        starting = asyncio.create_task(start_process("/bin/sh", "-c", "echo $$ > pid; exec sleep 100", cwd=tmp_path))
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await end_process(await starting)  # it may have been there already

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(given_up())
    begun = tmp_path / "pid"
    assert not begun.exists() or not begun.read_text() or not Path(f"/proc/{begun.read_text().strip()}").exists()
