"""Uploads to Google that break off, and go on."""

import asyncio
from dataclasses import replace

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.backends.gemini import uploads
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.ports import BatchTag
from batchwork.core.request import Request
from batchwork.simulator import Simulator

PIECE = 2**18


@pytest.mark.parametrize("fault", ["reset", "reset_after", "500", "503_after"])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_upload_that_breaks_off_goes_on_where_it_stands(monkeypatch, fault, at):
    monkeypatch.setattr(uploads, "_PIECE", PIECE)
    sent = []

    async def main(provider):
        setup = Setup(clock=SystemClock(), base_url=provider.service_url("gemini"), max_in_flight=4, api_key="k")
        backend, _ = open_backend("gemini:gemini-3.6-flash", setup)
        send = backend._http.send

        async def watched(url, body, headers):
            sent.append((headers["x-goog-upload-command"], len(body)))
            if len(sent) == at + 1:
                provider.next_faults("files", [fault])
            return await send(url, body, headers)

        monkeypatch.setattr(backend._http, "send", watched)
        lines = [backend.batch_line(str(n), Request.ask("word " * 20_000)) for n in range(7)]
        tag = BatchTag(run_id="run", chunk=1, custom_ids=(), intended_at=0.0)
        with pytest.raises(BackendError):
            await backend.upload_batch(lines, tag)
        batch_id = await backend.submit_batch(lines, replace(tag, file_id=await backend.upload_batch(lines, tag)))
        provider.advance(60.0)
        results = [name async for name, _ in backend.collect_batch(batch_id)]
        await backend.aclose()
        assert sorted(results) == list("0123456"), "the file is whole"
        return sum(map(len, lines))

    with Simulator(persona="echo", batch_time_s=10.0, validation_time_s=1.0) as provider:
        size = asyncio.run(main(provider))
    commands = [command for command, _ in sent]
    if (at, fault[-5:]) == (3, "after"):
        assert commands.count("start") == 2, "it was whole, and its name was not told"
        return
    assert commands.count("start") == 1
    assert commands.count("query") == 1
    again = 0 if fault.endswith("after") else [PIECE, PIECE, size - 2 * PIECE][at - 1]
    assert sum(length for command, length in sent if command.startswith("upload")) == size + again
