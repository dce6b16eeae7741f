"""`batchwork embed` and `batchwork models`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from batchwork.__main__ import main
from batchwork.simulator import Simulator


def called(monkeypatch: pytest.MonkeyPatch, capsys: Any, *arguments: object) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["batchwork", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_a_file_of_texts_becomes_a_file_of_vectors(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [{"id": i, "body": f"text {i}"} for i in range(30)]
    rows += [{"id": 30}, {"body": 7}, {"body": ["a", "b"]}, {"body": {"a": 1}}, {"body": True}]
    given, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with Simulator(persona="echo") as provider:
        command = ("embed", given, "-o", out, "--model", "openai:text-embedding-3-small", "--column", "body")
        command = (*command, "--dimensions", 8, "--max-cost", 1, "--base-url", provider.openai_url, "-q")
        code, _, said = called(monkeypatch, capsys, *command)
        assert code == 1
        assert "35 texts: 31 succeeded, 4 failed" in said
        assert "row 31: bad_input: there is no 'body'" in said
        assert "row 33: bad_input: a text is a string, not list" in said
        first = provider.log()["total"]["received"]
        assert called(monkeypatch, capsys, *command)[0] == 1
        assert provider.log()["total"]["received"] == first
        other = called(monkeypatch, capsys, "embed", given, "-o", out, "--model", "openai:m", "--journal", "x.db")
        assert "--overwrite" in other[2]
        assert "--retry-failed" in called(monkeypatch, capsys, "retry", out)[2]
    table = pq.read_table(out)
    assert table["text"].to_pylist()[:2] == ["text 0", "text 1"]
    assert len(table["embedding"].to_pylist()[0]) == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "out.csv"), "known are .parquet, .arrow, .feather, .npy"),
        (("-o", "out.npy", "--column", "nothing"), "has no column 'nothing'"),
        (("-o", "out.npy", "--options", "[1]"), "--options is a JSON object"),
    ],
)
def test_a_command_that_makes_no_sense_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text('{"text": "a", "other": "b"}\n')
    code, _, said = called(monkeypatch, capsys, "embed", "in.jsonl", "--model", "openai:m", *arguments)
    assert code == 2
    assert words in said.replace("\n", " ")


def test_models_lists_providers_and_their_models_with_prices_and_their_source(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    _, out, _ = called(monkeypatch, capsys, "models", "--json")
    about = {row["provider"]: row for row in json.loads(out)}
    assert about["groq"]["takes"] == "chat, batches"
    assert about["voyage"]["key"] == "VOYAGE_API_KEY"
    prices = tmp_path / "prices.toml"
    prices.write_text('["mistral-small-latest"]\ninput = 7\noutput = 8\n')
    monkeypatch.setenv("BATCHWORK_PRICES", str(prices))
    rows = {row["model"]: row for row in json.loads(called(monkeypatch, capsys, "models", "openai", "--json")[1])}
    assert rows["openai:gpt-6-luna"] == {
        "model": "openai:gpt-6-luna",
        "input": "0.1",
        "output": "0.5",
        "batch_input": "0.05",
        "batch_output": "0.25",
        "source": "genai-prices",
    }
    embeddings = rows["openai:text-embedding-3-small"]
    assert (embeddings["input"], embeddings["output"]) == ("0.02", None)
    assert (embeddings["batch_input"], embeddings["batch_output"]) == ("0.01", None)
    assert embeddings["source"] == "genai-prices; batches genai-prices, times 0.5"
    rows = {row["model"]: row for row in json.loads(called(monkeypatch, capsys, "models", "mistral", "--json")[1])}
    assert rows["mistral:mistral-small-latest"]["source"] == str(prices)
    assert "takes any" in called(monkeypatch, capsys, "models", "ollama")[1]
    assert "there are anthropic, azure" in called(monkeypatch, capsys, "models", "nobody")[2]
