# ruff: noqa: RUF001 - the signs of documents are what this is about
"""A calculation in one line, "12 h x EUR 40.00 = EUR 480.00": what each of its figures is.

The words before it are about all of them; count, rate and result are told apart by where they stand.
"""

import re
from dataclasses import dataclass

from batchwork.evidence.labels import Label
from batchwork.evidence.lexicon import words
from batchwork.evidence.words import concepts

_FIGURE = r"(?:[A-Z]{3}[ \u00a0]?|[$€£¥][ \u00a0]?)?\d[\d.,'’ \u00a0\u202f]*?(?:[ \u00a0]?(?:[A-Z]{3}\b|[$€£¥%]))?"
_UNIT = r"[ \u00a0]?(?P<unit>[^\W\d_]{1,12}[.²³]?)?"
_PER = r"(?:[ \u00a0]?(?:/|per|pro|je|a|an|each)[ \u00a0]?[^\W\d_]{0,12}[.²³]?)?"
_CALCULATION = re.compile(
    rf"(?P<count>\d[\d.,'’]*){_UNIT}[ \u00a0]*(?:[x×*·@]|à|at|mal|times|fois)[ \u00a0]*(?P<rate>{_FIGURE}){_PER}"
    rf"[ \u00a0]*=[ \u00a0]*(?P<result>{_FIGURE})(?![\w.,]\d)",
)
_ROLES = {
    "count": Label("role", dict.fromkeys(words("quantity number count"), 0.7), ""),
    "rate": Label("role", dict.fromkeys(words("rate price unit per"), 0.7), ""),
    "result": Label("role", dict.fromkeys(words("amount total sum payment cost charge fee expense"), 0.7), ""),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A figure of a calculation: where that begins, and what the figure is in it, with the unit that is counted."""

    begin: int
    labels: tuple[Label, ...]


def part_at(text: str, first: int, end: int, start: int) -> Part | None:
    """What the place at `start` is in a calculation between two offsets; None when it is in none."""
    if text.find("=", first, end) < 0:
        return None
    for found in _CALCULATION.finditer(text, first, end):
        for role, label in _ROLES.items():
            if found.start(role) <= start < found.end(role):
                unit = concepts((found["unit"] or "").lower())
                if role == "result" or not unit:
                    return Part(found.start(), (label,))
                return Part(found.start(), (label, Label("after", dict.fromkeys(unit, 0.9), found["unit"])))
    return None
