"""The document says of every attack what the tests prove, and of nothing else."""

from tests.hostile.table import DOCUMENT, document, marked, missing_tests


def test_the_document_lists_exactly_the_attacks_that_are_tested() -> None:
    assert DOCUMENT.read_text() == document(), "write it anew: python -m tests.hostile.table --write"


def test_every_attack_stands_once() -> None:
    rows = list(marked())
    assert len({(row.part, row.what) for row in rows}) == len(rows), "one attack, one outcome"
    assert all(cell.strip() == cell and cell for row in rows for cell in row)


def test_every_test_that_the_document_names_is_there() -> None:
    assert missing_tests() == []
