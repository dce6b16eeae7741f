"""Its clock: scaled, stepped, and wrong when it should be."""

import time
from datetime import datetime
from email.utils import parsedate_to_datetime

import pytest

from batchwork.simulator import Latency
from tests.simulator.wire import ask_anthropic, ask_openai, chat, create_batch, message


@pytest.mark.parametrize("offset", [-1500.0, 0.0, 90_000.0])
def test_its_clock_can_be_wrong_and_its_date_header_agrees_with_its_timestamps(start, offset):
    sim = start(clock_offset_s=offset)
    got = create_batch(sim, "anthropic", {"a": message()})
    created = datetime.fromisoformat(got.json["created_at"]).timestamp()
    dated = parsedate_to_datetime(got.headers["date"]).timestamp()
    assert created - time.time() == pytest.approx(offset, abs=3)
    assert dated == pytest.approx(created, abs=1.1)
    made = create_batch(sim, "openai", {"a": chat()})
    assert made.json["created_at"] == pytest.approx(parsedate_to_datetime(made.headers["date"]).timestamp(), abs=1.1)
    assert ask_openai(sim, chat()).headers["date"][:16] == ask_anthropic(sim, message()).headers["date"][:16]


def test_latency_follows_the_simulated_clock(start):
    sim = start(latency=Latency(median_s=60.0), time_scale=600)
    before = time.monotonic()
    ask_anthropic(sim, message())
    assert 0.09 <= time.monotonic() - before < 5
