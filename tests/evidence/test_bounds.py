"""Texts that make naive searches quadratic are answered in bounded time."""

import time
from datetime import date

import pytest

from batchwork.evidence import find_evidence

VALUE = {"total": 5, "issued": date(2024, 3, 5), "is_active": True, "name": "Acme Corp", "items": [{"a": "x1", "b": 2}]}
ENDLESS = [
    "5 March ",
    "1 ",
    "1,",
    "9",
    "(",
    "-",
    "A: ",
    "total ",
    "2024 ",
    "| 5 ",
    "Item  2  5.00\n",
    "twenty-",
    "a;b;c;d\n",
    " ",
    ".",
]


@pytest.mark.parametrize("piece", ENDLESS, ids=[repr(piece) for piece in ENDLESS])
def test_an_endless_repetition_is_answered_soon(piece: str) -> None:
    text = piece * (15_000 // len(piece))
    began = time.process_time()
    find_evidence(VALUE, text)
    assert time.process_time() - began < 3.0
