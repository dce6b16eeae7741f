"""OpenAI's words: how long a limit lasts."""

import pytest

from batchwork.simulator.openai.render import go_duration


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0ms"), (0.12, "120ms"), (1, "1s"), (179.56, "2m59.56s"), (360, "6m0s"), (3723, "1h2m3s")],
)
def test_durations_are_written_as_go_writes_them(seconds, shown):
    assert go_duration(seconds) == shown
