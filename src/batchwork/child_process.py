"""How a child process of ours begins and ends: started whole or not at all, killed, waited for, its pipes closed."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress
from typing import Any


async def start_process(*command: str, **options: Any) -> Process:
    """Start a process; whoever is cancelled while it starts leaves none behind, which the loop alone may do."""
    starting = asyncio.ensure_future(asyncio.create_subprocess_exec(*command, **options))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):  # it could not be started in any case
            await end_process(await starting, group=bool(options.get("start_new_session")))
        raise


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
