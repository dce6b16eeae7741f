"""What is encoded comes back as it was, shared parts are stored once, and damage never goes unnoticed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Attempted, Event, Opened, Reopened, Settled
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Succeeded
from batchwork.core.reply import Reply, ToolCall, Usage
from batchwork.journal import codec
from tests.support.journals import row, succeeded


def opened(text: str, columns: dict[str, Any] | None = None, **fields: Any) -> Opened:
    intake = row(text, columns, max_tokens=7, **fields)
    return Opened(
        item=7, index=3, fingerprint=intake.fingerprint, occurrence=0, request=intake.request, columns=columns
    )


def stored(event: Event, blobs: codec.Blobs, *, seq: int = 1, item: int = 7) -> tuple[int, int, int, bytes, int]:
    kind, body = codec.KINDS[type(event)], codec.encode(event, blobs)
    return seq, kind, item, body, codec.checksum(seq, kind, item, body)


_CALL = ToolCall(name="f", arguments={"n": 1}, id="c")
_ANSWER = Succeeded(index=3, reply=Reply(text="", tool_calls=(_CALL,), usage=Usage(input_tokens=3), body=b"{}"))


@pytest.mark.parametrize(
    "event",
    [
        opened("a"),
        opened("a", {"n": 10**30, "text": "lone \ud800"}),
        Settled(item=7, outcome=succeeded(3, cost=11), charged_nano=11),
        Settled(item=7, outcome=_ANSWER),
        Settled(item=7, outcome=msgspec.structs.replace(_ANSWER, parsed={"n": [10**30, -(10**30), 2**63, "x"]})),
        Reopened(item=7),
        Attempted(item=7, kind=FailureKind.TIMEOUT),
        Attempted(item=7, kind=FailureKind.SERVER, usage=Usage(input_tokens=3), message="m", latency_s=0.5),
    ],
)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    blobs: codec.Blobs = {}
    assert codec.decode(stored(event, blobs), blobs.get) == event


def test_an_attempt_of_an_older_journal_is_read_without_what_it_did_not_record() -> None:
    body = msgspec.msgpack.encode(
        {"type": "attempted", "item": 7, "kind": "server", "charged_nano": 5, "unconfirmed": True}
    )
    kind = codec.KINDS[Attempted]
    event = codec.decode((1, kind, 7, body, codec.checksum(1, kind, 7, body)), {}.get)
    assert event == Attempted(item=7, kind=FailureKind.SERVER, charged_nano=5, unconfirmed=True)


def test_the_numbers_of_the_kinds_are_those_on_disk() -> None:
    assert {event.__name__: kind for event, kind in codec.KINDS.items()} == {
        "Began": 1,
        "Opened": 2,
        "Admitted": 3,
        "Attempted": 4,
        "Settled": 5,
        "Reopened": 6,
        "Ended": 7,
        "BatchIntended": 8,
        "BatchSubmitted": 9,
        "BatchClosed": 10,
        "BatchReopened": 11,
        "BatchUploaded": 12,
    }
    assert codec.FIRST_OF_BATCHES == 8


def test_a_long_system_prompt_is_stored_once() -> None:
    blobs: codec.Blobs = {}
    events = [opened(text, system="long " * 100) for text in "ab"]
    rows = [stored(event, blobs) for event in events]
    assert len(blobs) == 1
    assert all(len(body) < 250 for _, _, _, body, _ in rows)
    assert [codec.decode(values, blobs.get) for values in rows] == events


def test_a_shared_part_that_is_missing_is_damage() -> None:
    values = stored(opened("a", system="long " * 100), {})
    with pytest.raises(JournalDamagedError, match="shared by several requests is missing"):
        codec.decode(values, lambda key: None)


@pytest.mark.parametrize("part", range(4))
def test_an_event_at_another_place_than_its_own_is_damage(part: int) -> None:
    values: list[Any] = list(stored(Reopened(item=7), {}))
    values[part] = values[part] + (b"x" if part == 3 else 1)
    with pytest.raises(JournalDamagedError, match="is damaged"):
        codec.decode((values[0], values[1], values[2], values[3], values[4]), lambda key: None)
