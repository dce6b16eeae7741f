"""The viewer beside a run: its address is said, the run goes on as ever, and it ends with the run."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

import batchwork
from batchwork.core.errors import ConfigError


def test_a_run_is_shown_while_it_goes_on_and_the_viewer_ends_with_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    seen: list[str] = []

    def prompts():  # type: ignore[no-untyped-def]
        yield "a"
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/\S+/", "".join(seen))):
            seen.append(capfd.readouterr().err)
        seen.append(urlopen(f"{found.group()}run.json", timeout=10).read().decode())
        yield "b"

    results = batchwork.run(prompts(), model="mock:echo", journal=tmp_path / "run.db", view=True)
    assert [result.text for result in results] == ["a", "b"]
    results.close()
    assert '"model": "mock:echo"' in seen[-1]
    found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", "".join(seen))
    assert found is not None
    with pytest.raises(URLError):
        urlopen(found.group(), timeout=10)


def test_without_a_journal_there_is_nothing_to_show() -> None:
    with pytest.raises(ConfigError, match="journal="):
        batchwork.run(["a"], model="mock:echo", view=True)
