"""Journals of earlier releases: they open, go on, and send nothing again that is settled or at the provider."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import batchwork
from batchwork.core.ports import BatchTag, Sighting
from batchwork.journal import JournalReader
from batchwork.simulator import Simulator
from tests.support.batch_provider import BatchClient, BatchProvider
from tests.support.virtual_time import run_virtual

JOURNALS = Path(__file__).parents[1] / "data" / "journals"
PROMPTS: list[Any] = [
    "plain",
    "with more",
    {"prompt": "own tokens", "max_tokens": 7},
    {
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ]
    },
]


def copied(name: str, folder: Path) -> Path:
    return Path(shutil.copy(JOURNALS / name, folder / "j.db"))


def test_a_settled_journal_sends_nothing_again_because_requests_keep_their_fingerprints(tmp_path: Path) -> None:
    with Simulator(persona="echo") as provider:
        results = batchwork.run(
            PROMPTS,
            model="openai:gpt-6-luna",
            base_url=provider.openai_url,
            api_key="k",
            journal=copied("v0.2-live.db", tmp_path),
            system="Be brief.",
            sampling={"temperature": 0.5},
            extra_body={"user": "u"},
        )
        assert [outcome.text for outcome in results] == ["plain", "with more", "own tokens", "c"]
        results.close()
        assert provider.log()["total"]["received"] == 0


class Filing(BatchClient):
    """Makes batches of files by now; the earlier release had told it a name alone."""

    async def upload_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        raise AssertionError("nothing is sent again")

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        assert tag.file_id is None
        return await super().find_batch(tag)


def test_a_batch_whose_creation_an_earlier_release_did_not_record_is_found_by_its_name(tmp_path: Path) -> None:
    path = copied("v0.2-lost-create.db", tmp_path)
    with closing(JournalReader(path)) as reader:
        (ticket,) = reader.open_batches()
        last = reader.last_run()
    assert (ticket.batch_id, ticket.file_id, len(ticket.items)) == (None, None, 2)
    assert last is not None
    provider = BatchProvider(takes_s=0.0)
    tag = BatchTag(run_id=last.run_id, chunk=ticket.chunk, custom_ids=ticket.custom_ids, intended_at=ticket.at)
    lines = [f'["{name}","p{item}"]'.encode() for name, item in zip(ticket.custom_ids, ticket.items, strict=True)]

    async def go_on() -> batchwork.Results:
        client = Filing(provider)
        await BatchClient(provider).submit_batch(lines, tag)
        told: dict[str, Any] = {"model": "openai:gpt-6-luna", "mode": "batch", "price": (1, 1), "items_per_batch": 2}
        return await batchwork.arun([f"p{i}" for i in range(4)], backend=client, journal=path, **told)

    results = run_virtual(go_on())
    assert [outcome.text for outcome in results] == ["p0", "p1", "p2", "p3"]
    results.close()
    assert len(provider.batches) == 1, "nothing was created a second time"
