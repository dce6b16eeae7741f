"""A child process that is ended leaves nothing open, on either loop."""

import asyncio

import pytest
import uvloop

from batchwork.child_process import end_process


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
