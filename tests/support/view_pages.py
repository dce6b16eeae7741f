"""The pages of a viewer without a browser: a journal full of attacks, and what the pages of one say."""

from __future__ import annotations

import asyncio
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from batchwork.core.event import Attempted, Began, Ended, RunInput
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.outcome import Failed, Succeeded
from batchwork.core.reply import Reply, ToolCall, Usage
from batchwork.core.request import Schema
from batchwork.view.app import ViewApp
from batchwork.view.watch import JournalWatch
from tests.support.journals import row, settle, sqlite_journal

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7*7 }}&lt;\u2028\ufeff"
TOKEN = "the-token"


def answers(watch: JournalWatch, *paths: str, **options: Any) -> list[tuple[int, str, Any]]:
    """What the pages at these paths say: status, text and headers."""

    async def main() -> list[tuple[int, str, Any]]:
        async with TestClient(TestServer(ViewApp(watch, TOKEN).application, host="127.0.0.1")) as client:
            found = []
            for path in paths:
                response = await client.get(path, **options)
                found.append((response.status, (await response.read()).decode("utf-8", "replace"), response.headers))
            return found

    return asyncio.run(main())


def hostile_journal(path: Path) -> None:
    """A journal in which everything that somebody else wrote is an attack on whoever looks at it."""
    journal = sqlite_journal(path)
    journal.begin(
        Began(run_id="r", model=HOSTILE, max_cost_nano=10**9, settings={"rpm": 60.0}, input=RunInput(total=9))
    )
    asked = row(HOSTILE, {HOSTILE: HOSTILE}, system=HOSTILE, schema=Schema.of({"title": HOSTILE}), label=HOSTILE)
    item = journal.place(0, asked).item
    attempt = Attempted(item=item, kind=FailureKind.SERVER, message=HOSTILE, request_id=HOSTILE, latency_s=0.5)
    journal.record(attempt)
    call = ToolCall(name=HOSTILE, arguments={HOSTILE: HOSTILE})
    reply = Reply(text=HOSTILE, tool_calls=(call,), body=json.dumps({"x": HOSTILE}).encode(), provider_id=HOSTILE)
    settle(journal, item, Succeeded(index=0, reply=reply, parsed={HOSTILE: HOSTILE}, attempts=2, usage=Usage()), 5)
    item = journal.place(1, row("b", label=HOSTILE)).item
    settle(journal, item, Failed(index=1, failure=Failure(kind=FailureKind.REJECTED, message=HOSTILE), attempts=1), 7)
    journal.record(Ended(stopped="paused", reason=HOSTILE, remedy=HOSTILE))
    journal.close()


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts = 0
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]
