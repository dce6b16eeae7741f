"""Answers and input columns that mean something else to whoever opens the output."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import batchwork
from batchwork.tables import write_table
from batchwork.tables.cells import harmless_text

FORMULAS = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    '+HYPERLINK("http://x","y")',
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "  =1+1",
    "\u00a0=1+1",
    "\ufeff=1+1",
    "\uff1d1+1",
    "\uff20SUM(A1)",
    "\0=1",
    "-",
    "+49 30 1234",
]
NUMBERS = ["-5", "+5", "-0.25", "1e-9", "-1.5E+10", "5", "0"]
HARMLESS = ["", "a = b", "a;=1+1", "{}", "[1]", "'=1+1", "a\n=1+1", "x@y.org"]


def write(path: Path, texts: list[str], *, csv_safe: bool) -> list[list[str]]:
    with write_table(path, ("id", "=answer"), csv_safe=csv_safe) as table:
        for number, text in enumerate(texts):
            table.write({"id": number, "=answer": text})
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.attack(
    "Outputs",
    "answers, input columns and column names are formulas to a spreadsheet, in all their forms",
    "with --csv-safe none is: it begins with ' and every cell is quoted; numbers and other texts are unchanged",
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_safe_file_holds_no_formula(suffix: str, tmp_path: Path) -> None:
    texts = [*FORMULAS, *NUMBERS, *HARMLESS]
    head, *rows = write(tmp_path / f"a{suffix}", texts, csv_safe=True)
    assert head == ["id", "'=answer"]
    cells = [row[1] for row in rows]
    assert cells[: len(FORMULAS)] == [f"'{text}" for text in FORMULAS]
    assert cells[len(FORMULAS) :] == [*NUMBERS, *HARMLESS]
    raw = (tmp_path / f"a{suffix}").read_bytes().decode()
    assert '"a;=1+1"' in raw, "in quotes, or another delimiter would make it two cells"


@pytest.mark.attack(
    "Outputs",
    "the same without --csv-safe",
    "every cell is the answer as the model gave it: whoever opens it in a spreadsheet needs the option",
)
def test_without_the_option_the_data_is_unchanged(tmp_path: Path) -> None:
    texts = [text for text in FORMULAS if "\0" not in text]
    _, *rows = write(tmp_path / "a.csv", texts, csv_safe=False)
    assert [row[1] for row in rows] == texts


@given(st.text())
def test_what_is_made_harmless_says_the_same(text: str) -> None:
    safe = harmless_text(text)
    assert safe in (text, f"'{text}")
    assert harmless_text(safe) == safe


@pytest.mark.attack(
    "Outputs",
    "answers, input columns, their names and a provider's errors are HTML and script, in a notebook",
    "results and the bar of a run show them as text: everything is escaped, and long cells are cut",
)
def test_a_notebook_shows_markup_as_text() -> None:
    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    results = batchwork.run([{script: script}, {script: 5, "q": script}], prompt="{q}", model="mock:echo")
    html = results._repr_html_() or ""
    assert html.count("&lt;script&gt;") >= 3
    assert "<script" not in html
    assert "<img" not in html


@pytest.mark.attack(
    "Outputs",
    "the values of rows are code to a Jinja template, and a template reaches for Python's insides",
    "a value is text and is never rendered again; the sandbox fails that row, and nothing is sent for it",
)
def test_rows_are_no_code_to_a_template(tmp_path: Path) -> None:
    code = "{{ ''.__class__.__mro__ }}"
    (tmp_path / "harmless.j2").write_text("Say {{ text }}")
    (only,) = batchwork.run([{"text": code}], template=tmp_path / "harmless.j2", model="mock:echo")
    assert only.text == f"Say {code}"
    (tmp_path / "hostile.j2").write_text(code)
    (failed,) = batchwork.run([{"text": "a"}], template=tmp_path / "hostile.j2", model="mock:echo")
    assert "bad_input: the template fails on this row: SecurityError" in (failed.error or "")
