import io
import json
from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.outcome import Succeeded
from batchwork.core.reply import Reply, ToolCall
from batchwork.tables import RESULT_NAMES, Template, check_columns, open_table, result_columns, result_values


def _csv(folder: Path, header: str) -> Path:
    path = folder / "in.csv"
    path.write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    return path


def test_a_missing_column_is_named_with_those_there_are_and_the_one_meant(tmp_path: Path) -> None:
    table = open_table(_csv(tmp_path, "id,Text,lang"))
    with pytest.raises(ConfigError) as caught:
        check_columns(Template("{txt} {nothing} {lang}").fields, table)
    said = str(caught.value)
    assert "asks for 'txt', 'nothing'" in said
    assert "Did you mean 'Text'?" in said
    assert "Columns there are: id, Text, lang." in said


def test_nothing_near_means_no_guess_and_many_columns_are_cut(tmp_path: Path) -> None:
    table = open_table(_csv(tmp_path, ",".join(f"c{n}" for n in range(40))))
    with pytest.raises(ConfigError) as caught:
        check_columns(Template("{zzzzzz}").fields, table)
    assert "Did you mean" not in str(caught.value)
    assert "and 10 more" in str(caught.value)


def test_paths_and_dotted_headers_are_both_found(tmp_path: Path) -> None:
    check_columns(Template("{user.name} {id}").fields, open_table(_csv(tmp_path, "id,user.name")))
    nested = tmp_path / "in.jsonl"
    nested.write_text('{"user": {"name": "Ada"}}\n')
    check_columns(Template("{user.name} {user.tags[0]}").fields, open_table(nested))
    with pytest.raises(ConfigError, match="owner"):
        check_columns(Template("{user.name} {owner.name}").fields, open_table(nested))


def test_a_column_that_comes_late_in_json_lines_is_there(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"a": n}) + "\n" for n in range(1200)) + '{"late": 1}\n')
    check_columns(Template("{late}").fields, open_table(path))
    with pytest.raises(ConfigError, match="never"):
        check_columns(Template("{never}").fields, open_table(path))
    with pytest.raises(ConfigError, match="standard input does not have"):
        check_columns(Template("{late}").fields, open_table("-", stdin=io.BytesIO(path.read_bytes())))


def test_input_columns_give_way_to_ours_and_are_kept() -> None:
    columns = result_columns(["id", "status", "input_status", "error"])
    assert columns.names == ("id", "input_input_status", "input_status", "input_error", *RESULT_NAMES)
    row = columns.row({"id": 1, "status": "old", "input_status": "x", "error": "e"}, {"status": "succeeded"})
    assert row == {
        "id": 1,
        "input_input_status": "old",
        "input_status": "x",
        "input_error": "e",
        "status": "succeeded",
    }


def test_columns_without_collisions_pass_as_they_are() -> None:
    columns = result_columns(["a", "b"])
    assert columns.names == ("a", "b", *RESULT_NAMES)
    assert columns.renamed == {}
    assert list(columns.row({"a": 1, "late": 2}, {"status": "ok"})) == ["a", "late", "status"]
    assert columns.row({"cost_usd": 9}, {"cost_usd": 1}) == {"input_cost_usd": 9, "cost_usd": 1}


def test_tool_calls_are_a_column_of_those_rows_that_have_any() -> None:
    called = Reply(text="", tool_calls=(ToolCall(name="f", arguments={"a": 1}, id="c"),))
    assert result_values(Succeeded(index=0, reply=called))["tool_calls"] == [
        {"name": "f", "arguments": {"a": 1}, "id": "c"}
    ]
    assert "tool_calls" not in result_values(Succeeded(index=0, reply=Reply(text="x")))
    assert result_columns(["tool_calls"]).names[0] == "input_tool_calls"


def test_an_answer_that_was_cut_off_says_so_in_its_row() -> None:
    cut = Reply(text="half an ans", truncated=True)
    assert result_values(Succeeded(index=0, reply=cut))["truncated"] is True
    assert "truncated" not in result_values(Succeeded(index=0, reply=Reply(text="x")))
