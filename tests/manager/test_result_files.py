"""The files in save_results_dir."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError
from tests.support.managers import City, scripted
from tests.support.scripted import Scripted


def test_results_are_written_raw_and_processed(at_provider: dict[str, Any], tmp_path: Path) -> None:
    files = [b"City: Oslo", b"", b"City: Rome"]
    folder = tmp_path / "results"
    manager = BatchManager(
        files=files,
        prompt="Which city?",
        response_model=City,
        enable_citations=True,
        items_per_job=2,
        save_results_dir=folder,
        **at_provider,
    )
    manager.run()
    first = json.loads((folder / "processed" / "job_0_results.json").read_text())
    assert first["results"] == [{"city": "Oslo"}, None]
    assert first["citations"][0]["city"][0] | {"confidence": 1} == {
        "start": 6,
        "end": 10,
        "text": "Oslo",
        "page": None,
        "confidence": 1,
    }
    assert first["citations"][1] == {}
    assert json.loads((folder / "processed" / "job_1_results.json").read_text())["results"] == [{"city": "Rome"}]
    said = json.loads((folder / "raw" / "job_1_item_0.json").read_text())
    assert (said["type"], said["role"], said["content"][0]["type"]) == ("message", "assistant", "text")
    assert "empty" in json.loads((folder / "raw" / "job_0_item_1.json").read_text())["error"]["message"]


def test_files_of_another_run_are_never_touched(tmp_path: Path) -> None:
    theirs = tmp_path / "raw" / "job_0_item_0.json"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    backend = Scripted()
    with pytest.raises(ConfigError, match="another run"):
        BatchManager(messages=["p0"], save_results_dir=tmp_path, **scripted(backend)).run()
    assert theirs.read_text() == "theirs"
    assert backend.asked == []
