"""A real browser over a viewer: pages that note every request, message and dialog, and what axe-core says of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.waiting import becomes_true

_ROOT = Path(__file__).resolve().parents[2]
_AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; skips where there is none."""
    import pytest

    playwright = pytest.importorskip("playwright.sync_api")
    program = os.environ.get("BATCHWORK_CHROMIUM", "/usr/bin/chromium")
    if not Path(program).exists():
        pytest.skip(f"there is no {program}")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=list(_QUIET))
        yield browser
        browser.close()


class Window:
    """One window, which notes what goes on in it."""

    def __init__(self, browser: Any, *, scheme: str = "light", width: int = 1200, height: int = 850) -> None:
        self._context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
        self.page = self._context.new_page()
        self.hosts: set[str] = set()
        self.troubles: list[str] = []
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).hostname or "none"))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("console", self._said)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning") and "ERR_CONNECTION_REFUSED" not in message.text:
            self.troubles.append(message.text)

    def findings(self) -> list[str]:
        """What axe-core finds serious or critical."""
        self.page.evaluate(_AXE.read_text("utf-8"))  # evaluated by the debugger: the page's own rules forbid a script
        found = json.loads(self.page.evaluate("axe.run().then((results) => JSON.stringify(results.violations))"))
        return [
            f"{one['id']}: {node['html'][:120]}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    def close(self) -> None:
        """Close it."""
        self._context.close()


@contextmanager
def viewer(journal: Path) -> Iterator[str]:
    """The address of a viewer in a process of its own."""
    command = [sys.executable, "-m", "batchwork", "view", str(journal), "--with-input"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(journal.parent / "cache")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=_ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.stdin.close()
            process.wait(10)


class RunProgram:
    """`batchwork run` on a file of prompts, in a process of its own that can be killed."""

    def __init__(self, folder: Path, *, prompts: int, in_flight: int) -> None:
        source = folder / "in.jsonl"
        if not source.exists():
            source.write_text("".join(f'{{"prompt": "prompt {n}"}}\n' for n in range(prompts)))
        model = "mock:echo?latency=0.15&sigma=0.6&seed=3"
        self.journal = folder / "out.jsonl.journal.db"
        command = [sys.executable, "-m", "batchwork", "run", str(source), "-o", str(folder / "out.jsonl")]
        command += ["--model", model, "--price", "1,5", "--max-cost", "1", "--max-in-flight", str(in_flight), "--quiet"]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for_journal(self) -> None:
        """Until there is one."""
        assert becomes_true(self.journal.exists), "the run did not begin"

    def kill(self) -> None:
        """As a power cut does it."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)

    def end(self) -> None:
        """Wait for its end."""
        self._process.wait(60)
