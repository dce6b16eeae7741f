"""Whether a place cannot say a field whatever its label: the text says that it is not so, or it is no value at all."""

import re

from batchwork.evidence.booleans import box_before
from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.words import NEGATIONS, concepts, fold, is_known

_BEFORE = re.compile(r"[^\W_]+(?:['’]\w+)?")


def is_denied(source: Source, field: Field, place: Place, context: Context) -> bool:
    """Whether the place says something else: what was before, "not active", a word of a label."""
    asked = field.own + field.parents
    if any(("new" in asked and "previous" in end) or ("previous" in asked and "new" in end) for end in context.ends):
        return True
    if place.kind in FIGURES:
        return False
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
