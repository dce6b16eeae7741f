"""How a child process of ours is ended: killed, waited for, its pipes closed."""

import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress


async def end_process(process: Process, *, group: bool = False) -> None:
    """Kill a process (`group`: and its children, if it leads a session) and leave nothing of it open.

    A grandchild may hold the pipes longer than the process lives, and a loop that is closed over an open pipe fails
    (uvloop: "Device or resource busy"). asyncio has no public way to close them.
    """
    with suppress(ProcessLookupError, PermissionError):  # it may have gone meanwhile
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()
    process._transport.close()  # type: ignore[attr-defined]
