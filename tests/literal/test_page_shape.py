"""The shape of a text: lines, tables, sentences."""

import pytest

from batchwork.literal.page_shape import lines, sentence_around, tables


@pytest.mark.parametrize(
    "text",
    [
        "| Name | Score |\n|---|---|\n| Ada | 12 |\n| Grace | 15 |",
        "Name,Score\nAda,12\nGrace,15",
        "Name\tScore\nAda\t12\nGrace\t15",
        'Name;Score\n"Ada";12\nGrace;15',
        "Name      Score\nAda          12\nGrace        15",
    ],
)
def test_a_table_is_seen_by_its_bars_signs_or_gaps(text):
    (table,) = tables(text)
    assert [cell.text for cell in table.header] == ["Name", "Score"]
    assert [[cell.text for cell in row] for row in table.rows] == [["Ada", "12"], ["Grace", "15"]]
    assert all(text[cell.start : cell.end] == cell.text for row in table.rows for cell in row)


@pytest.mark.parametrize("text", ["", "One line.", "Springfield, Ohio\nDenver, Colorado", "Dear all,\nit rains."])
def test_prose_is_no_table(text):
    assert tables(text) == ()


def test_a_sign_in_quotes_parts_nothing():
    (table,) = tables('name,note\n"Ada","a, b"')
    assert [cell.text for cell in table.rows[0]] == ["Ada", "a, b"]


def test_a_line_without_end_is_cut_at_blanks():
    text = "word " * 1000
    assert max(len(line.text) for line in lines(text)) <= 2000
    assert all(text[line.start : line.end] == line.text for line in lines(text))


def test_a_sentence_ends_at_its_stop_or_at_the_line():
    text = "First one. The mean is 5. Last\nNext line"
    at = text.index("5")
    assert text[slice(*sentence_around(text, at, at + 1))] == "The mean is 5."
    at = text.index("Last")
    assert text[slice(*sentence_around(text, at, at + 4))] == "Last"
