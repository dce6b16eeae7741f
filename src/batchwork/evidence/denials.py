"""Whether a place cannot say a field whatever its label: the text says that it is not so, or it is no value at all."""

import re
from decimal import Decimal

from batchwork.evidence.booleans import box_before
from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.words import NEGATIONS, VOCABULARY, concepts, fold, is_known

_BEFORE = re.compile(r"[^\W_]+(?:['’]\w+)?")
_FILLER = r"(?:\s+(?:\w+\s+){0,2}?(?:of|by|von|um|de|to|at))?[\s:|]*(?:(?:about|some|nearly|over|rund)\s+)?[(]?$"
# Of what a field is called: the words that turn the number behind them into its negative.
_TURNS = tuple(
    (
        frozenset(turn["asked"].split()),
        frozenset(turn["but"].split()),
        re.compile(rf"(?i)\b(?:{turn['by']})\b{_FILLER}"),
    )
    for turn in VOCABULARY["turns"]
)


def is_denied(source: Source, field: Field, place: Place, context: Context) -> bool:
    """Whether the place says something else: the other sign, what was before, "not active", a word of a label."""
    asked = field.own + field.parents
    if any(("new" in asked and "previous" in end) or ("previous" in asked and "new" in end) for end in context.ends):
        return True
    if place.kind in FIGURES:
        return _is_turned(field, source.text, place.start) != (place.reading == "opposite")
    if box_before(source.text, place.start) is False or _is_label(source, field, place, context.line):
        return True
    said = source.text[place.start : place.end]
    plain = bool(field.options) or said.islower() or (isinstance(field.value, str) and field.value.islower())
    if not plain or len(said.split()) > 2 or not said.strip() or fold(said.split()[0]) in NEGATIONS:
        return False
    line = source.text.rfind("\n", 0, place.start) + 1
    words = [fold(word) for word in _BEFORE.findall(source.text, max(line, place.start - 30), place.start)][-2:]
    if not words:
        return False
    between = ("yet", "longer", "been", "an", "a", "the", "currently", "be")
    return words[-1] in NEGATIONS or (words[0] in ("not", "no", "nicht") and words[-1] in between)


def _is_label(source: Source, field: Field, place: Place, number: int) -> bool:
    """Whether a place is a word of a label or of a column's heading ("Emergency contact:") rather than said."""
    layout = source.layout
    cell = layout.cell_of(place.start, number)
    if cell is None or place.end - place.start >= len(cell.text):
        return False
    if number + 1 < len(layout.lines) and any(cell.start == head.start for head in layout.head_row(number + 1)):
        return True
    label, colon, _ = cell.text.partition(": ")
    if not colon or len(cell.text) > 60 or place.kind != "text" or place.end - cell.start > len(label):
        return False
    known = all(map(is_known, concepts(source.text[place.start : place.end])))
    return bool(field.options) or (known and place.end - place.start < len(label.strip()) - 1)


def _is_turned(field: Field, text: str, start: int) -> bool:
    """Whether the words before a number make it the opposite of what the field asks for: "a net loss of 4"."""
    if not isinstance(field.value, int | float | Decimal):
        return False
    for asked, but, turning in _TURNS:
        if asked.intersection(field.own) and not but.intersection(field.own + field.parents):
            return turning.search(text[max(0, start - 45) : start].replace("\n", " ")) is not None
    return False
