"""Twice the text is at most 2.3 times the work, wherever we go over a stranger's text ourselves."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from batchwork import literal
from batchwork.documents import DocumentError, DocumentLimits, text_document
from batchwork.documents.content import decode_text, media_type_of, text_type_of
from batchwork.documents.html import html_text
from batchwork.documents.page_layout import Glyph, page_text
from batchwork.evidence import find_evidence, verify_citations
from batchwork.literal import facts, meaning, page_shape, values
from tests.support.growing_texts import MOST, TEXTS, growth
from tests.support.hostile_documents import HTML

LIMITS = DocumentLimits()
VALUE = {
    "total": 5,
    "amount": 42.5,
    "invoice_number": "INV-2024-1",
    "customer": "Acme Ltd",
    "due_date": date(2024, 1, 5),
    "paid": True,
    "items": [{"description": "Item 1", "quantity": 2, "price": 5.0}, {"description": "a a", "quantity": 3}],
    "note": "the total of",
}
SCHEMA: dict[str, Any] = {
    "properties": {
        "total": {"type": "number"},
        "customer": {"type": "string"},
        "due_date": {"type": "string", "format": "date"},
        "paid": {"type": "boolean"},
        "kind": {"enum": ["a", "b"]},
        "items": {
            "type": "array",
            "items": {"properties": {"description": {"type": "string"}, "quantity": {"type": "integer"}}},
        },
    }
}
CACHED = (
    facts.facts,
    page_shape.lines,
    page_shape.tables,
    values._comma_is_decimal,
    values._month_first,
)


def forget() -> None:
    for function in (*CACHED, meaning.vocabulary, meaning.label_words):
        function.cache_clear()


def find(text: str) -> None:
    find_evidence(VALUE, text_document(text))


def fill(text: str) -> None:
    forget()
    literal.fill(SCHEMA, text, question="Is it larger or smaller?")


def answer(text: str) -> None:
    forget()
    for question in ("What is the total?", "Is it paid?", "How many items are there?", "Is the total a or b?"):
        found = literal.read(question, text)
        for start, end in found.spans:
            literal.sentence_around(text, start, end)


def split(text: str) -> None:
    forget()
    literal.split_prompt(text)
    literal.split_question(text)
    literal.read(*literal.split_prompt(text + "\n\nWhat is the total?"))


def verify(text: str) -> None:
    document = text_document(text)
    middle = len(text) // 2
    verify_citations(
        [
            {"cited_text": text[:50], "start_char_index": middle},
            {"cited_text": "the  total\nof 5", "start_char_index": 3},
            {"cited_text": text[middle:]},
        ],
        document,
    )


def recognise(text: str) -> None:
    data = text.encode()
    try:
        media_type_of(data)
        text_type_of(decode_text(data))
    except DocumentError:
        return


def parse(text: str) -> None:
    try:
        html_text("<html>" + text, LIMITS)
    except DocumentError:
        return


PASSES: dict[str, Callable[[str], None]] = {
    "find": find,
    "fill": fill,
    "answer": answer,
    "split": split,
    "verify": verify,
    "recognise": recognise,
    "parse": parse,
}
# One each of those that once took the square of their length; every text there is goes through all of them when slow.
WATCHED = {
    "find": "repeated 'paid not '",
    "fill": "rows with digits in their heading",
    "answer": "repeated 'total: '",
    "split": "repeated '1-'",
}


@pytest.mark.attack(
    "documents", "60 kB of `total: `, digits, brackets or blanks for the evidence finder or the literal reader",
    "read, in work that grows with the text",
)  # fmt: skip
@pytest.mark.parametrize(("way", "kind"), WATCHED.items())
def test_twice_the_text_is_about_twice_the_work(way: str, kind: str) -> None:
    assert growth(PASSES[way], TEXTS[kind], 32_000) <= MOST


def test_twice_the_markup_is_about_twice_the_work() -> None:
    assert growth(parse, HTML["tags that never end"], 128_000) <= MOST


def glyphs(kind: str, size: int) -> list[Glyph]:
    """Characters of a page, placed one per sign of a text of this size."""
    dice = random.Random(3)
    side = max(1, int(size**0.5))
    found: list[Glyph] = []
    for number in range(size):
        row, column = divmod(number, side)
        if kind == "lattice":
            left, bottom = 20.0 * column, 20.0 * row
        elif kind == "one line":
            left, bottom = 5.0 * number, 0.0
        elif kind == "one column":
            left, bottom = 0.0, 20.0 * number
        elif kind == "two columns":
            left, bottom = 300.0 * (number % 2), 20.0 * (number // 2)
        else:
            left, bottom = dice.uniform(0, 600), dice.uniform(0, 800)
        found.append(("x", left, left + 5, bottom, bottom + 8))
    return found


@pytest.mark.parametrize(
    ("kind", "largest"),
    [
        ("one line", 16_000),
        *(
            pytest.param(kind, 64_000, marks=pytest.mark.slow)
            for kind in ("scattered", "lattice", "one line", "one column", "two columns")
        ),
    ],
)
def test_twice_the_letters_on_a_page_are_about_twice_the_work(kind: str, largest: int) -> None:
    made: dict[int, list[Glyph]] = {}

    def lay_out(text: str) -> None:
        page_text(made[len(text)])

    def make(size: int) -> str:
        made[size] = glyphs(kind, size)
        return "x" * size

    assert growth(lay_out, make, largest) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("way", PASSES)
def test_no_text_takes_the_square_of_its_length(way: str) -> None:
    made = {**TEXTS, **(HTML if way == "parse" else {})}
    largest = 1_000_000 if way in ("parse", "recognise") else 256_000
    grown = {kind: growth(PASSES[way], make, largest) for kind, make in made.items()}
    assert {kind: round(ratio, 2) for kind, ratio in grown.items() if ratio > MOST} == {}
