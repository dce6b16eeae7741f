import io
from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables import open_table, total_rows

GERMAN = ("Größe", "Müller", "Straße")
TEXTS = {
    "cp1252": "Müller,Größe\nJäger,„schön“\n",
    "cp1251": "Иван,Москва\nАнна,Казань\n",
    "cp932": "田中,カタカナです\n東京に住んでいます,町\n",
    "euc_jp": "田中,カタカナです\n東京に住んでいます,町\n",
    "gb18030": "长江从哪里发源,北京\n黄河,城市\n",
    "utf-16": "Müller,Größe\nx,y\n",
    "utf-16-le": "Müller,Größe\nx,y\n",
    "utf-16-be": "Müller,Größe\nx,y\n",
    "utf-32": "Müller,Größe\nx,y\n",
}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-32", "UTF8", "utf-8-sig"])
def test_a_file_is_read_in_the_encoding_that_is_named(tmp_path: Path, suffix: str, encoding: str) -> None:
    lines = [f'{{"t": "{word}"}}' for word in GERMAN] if suffix == "jsonl" else ["t", *GERMAN]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes("\n".join([*lines, ""]).encode(encoding))
    table = open_table(path, encoding=encoding)
    assert [row.columns["t"] for row in table.rows()] == list(GERMAN)
    assert total_rows(path, encoding=encoding) in (3, None)


def test_standard_input_is_read_in_the_encoding_that_is_named() -> None:
    table = open_table("-", stdin=io.BytesIO('{"t": "Größe"}\n'.encode("cp1252")), encoding="cp1252")
    assert [row.columns["t"] for row in table.rows()] == ["Größe"]


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_file_that_is_not_utf8_is_refused_with_a_likely_encoding(tmp_path: Path, name: str, encoding: str) -> None:
    text = "x,y\n" + TEXTS[encoding] * 20
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=rf"{name} is not UTF-8 text, .* --encoding {encoding}, or save it as UTF-8"):
        open_table(tmp_path / name)


@pytest.mark.parametrize(
    "rows", [[b"a", b"b\xff", b"c"], ["ä".encode(), b"b\xff", b"c\xe9"], [b"x" * 200_000, "ä".encode() * 200_000]]
)
def test_broken_rows_of_a_file_that_is_utf8_are_their_own_failure(tmp_path: Path, rows: list[bytes]) -> None:
    (tmp_path / "a.csv").write_bytes(b"t\n" + b"\n".join(rows) + b"\n")
    problems = [row.problem is not None for row in open_table(tmp_path / "a.csv").rows()]
    assert problems == [b"\xff" in row or b"\xe9" in row for row in rows]


@pytest.mark.parametrize("encoding", ["klingon", "", "rot13", "hex", "a\0"])
def test_an_unknown_encoding_is_refused_with_an_example(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.csv").write_text("t\nx\n")
    with pytest.raises(ConfigError, match=r"there is no encoding .* --encoding cp1252"):
        open_table(tmp_path / "a.csv", encoding=encoding)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_file_that_is_not_what_was_named_is_a_clear_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes("t,u\nx,y\n".encode("utf-16") + b"\x00")
    with pytest.raises(InputError, match="is not utf-16 text, as --encoding says"):
        list(open_table(tmp_path / name, encoding="utf-16").rows())


def test_bytes_that_the_named_encoding_does_not_have_are_that_rows_failure(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"t\nx\n\x81\n\xe9\n")
    rows = list(open_table(tmp_path / "a.csv", encoding="cp1252").rows())
    assert [row.problem for row in rows] == [None, "line 3 is not cp1252 text", None]


def test_a_parquet_file_has_no_encoding_to_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave --encoding away"):
        open_table(tmp_path / "a.parquet", encoding="cp1252")
