"""Answers that are calls of the caller's own tools: both wires, live and in batches, in results and in rows."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import batchwork
from batchwork.cli.app import app
from batchwork.core.reply import ToolCall
from batchwork.simulator import Simulator

_PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_WIRES: dict[str, dict[str, Any]] = {
    "openai:gpt-5-mini": {
        "tools": [{"type": "function", "function": {"name": "note", "parameters": _PARAMETERS}}],
        "tool_choice": "required",
    },
    "anthropic:claude-haiku-4-5": {
        "tools": [{"name": "note", "input_schema": _PARAMETERS}],
        "tool_choice": {"type": "any"},
    },
}


@pytest.mark.parametrize("mode", ["live", "batch"])
@pytest.mark.parametrize("model", _WIRES)
def test_tool_calls_are_in_the_reply_and_a_column_of_the_rows(model: str, mode: Any, tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    with Simulator(persona="echo", batch_time_s=0.05) as sim:
        address = sim.url + ("/v1" if model.startswith("openai") else "")
        results = batchwork.run(
            ["hello there"],
            model=model,
            mode=mode,
            base_url=address,
            api_key="k",
            extra_body=_WIRES[model],
            journal=journal,
            poll_interval=0.05,
        )
    (call,) = results[0].tool_calls
    assert isinstance(call, ToolCall)
    assert (results[0].text, call.name, call.arguments) == ("", "note", {"text": "hello there"})
    assert call.id
    assert batchwork.open_results(journal)[0].tool_calls == (call,)
    for suffix in (".jsonl", ".csv"):
        out = tmp_path / f"out{suffix}"
        assert CliRunner().invoke(app, ["results", str(journal), "-o", str(out)]).exit_code == 0
        with out.open() as file:
            row = json.loads(file.readline()) if suffix == ".jsonl" else next(csv.DictReader(file))
        calls = row["tool_calls"] if suffix == ".jsonl" else json.loads(row["tool_calls"])
        assert calls == [{"name": "note", "arguments": {"text": "hello there"}, "id": call.id}]
