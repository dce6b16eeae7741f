"""Serves the pages of a journal on loopback until somebody ends it."""

import asyncio
import os
import secrets
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from batchwork._bridge import run_sync
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.view.app import ViewApp
from batchwork.view.pages import compile_pages
from batchwork.view.watch import JournalWatch

_HOST = "127.0.0.1"


def serve_view(
    journal: JournalAddress,
    cache: Path,
    *,
    port: int,
    say: Callable[[str], None],
    opens: bool = False,
    until_input_ends: bool = False,
) -> None:
    """Serve until Ctrl-C, or until standard input ends; `opens` opens the page in a browser.

    Raises JournalError: there is no journal, or it cannot be read; ConfigError: nobody can listen on that port.
    """
    watch = JournalWatch(journal, cache)
    token = secrets.token_urlsafe(16)
    ended: list[Callable[[], None]] = []

    async def main() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        ended.append(stop.set)
        app = ViewApp(watch, token)
        runner = web.AppRunner(app.application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, _HOST, port)
            try:
                await site.start()
            except OSError as error:
                raise ConfigError(
                    f"cannot listen on {_HOST}:{port}: {os.strerror(error.errno or 0)}; --port 0 takes a free one"
                ) from error
            at: tuple[str, int] = runner.addresses[0]
            url = f"http://{_HOST}:{at[1]}/{token}/"
            watch.start()
            say(url)
            await asyncio.to_thread(compile_pages)
            if opens:
                await asyncio.to_thread(webbrowser.open, url)
            if until_input_ends:
                _when_input_ends(lambda: loop.call_soon_threadsafe(stop.set))
            await stop.wait()
            if until_input_ends:
                await app.farewell()
        finally:
            await runner.cleanup()

    try:
        run_sync(main, interrupt=lambda: ended[0]() if ended else None)
    finally:
        watch.close()


def _when_input_ends(tell: Callable[[], object]) -> None:
    """Whoever started us holds the other end of our standard input: it ends with them."""

    def wait() -> None:
        while sys.stdin.buffer.read(1024):
            pass
        tell()

    threading.Thread(target=wait, daemon=True, name="batchwork-view-input").start()
