"""What the words right before a number make of it for one field: the other sign, or the other end of a range.

"A net loss of 4 million" says -4 million of a profit and nothing of a profit of 4 million; "fell by 3%" is growth of
-3%. In "150 - 370" the upper limit is not 150, however well the column fits.
"""

import re

from batchwork.evidence.fields import Field
from batchwork.evidence.labels import range_end
from batchwork.evidence.lexicon import words

_REACH = 45  # characters before a number in which such a word still speaks of it
_FILLER = (
    r"(?:\s+(?:\w+\s+){0,2}?(?:of|by|von|um|de|di|van|to|at))?[\s:|]*"
    r"(?:(?:about|around|some|nearly|over|etwa|rund)\s+)?"
)
_LOSS = r"loss(?:es)?|deficit|shortfall|verluste?|fehlbetrag|jahresfehlbetrag|perte|déficit|pérdidas?|perdita|verlies"
_FALL = (
    r"fell|fallen|fall|falling|declined?|declining|decreased?|decreasing|dropped|drop|down|lower|shrank|slipped|contracted"
    r"|reduction|reduced|sank|gesunken|rückgang|zurückgegangen|baisse|recul|disminución|calo|daling"
)
_OUT = r"outflows?|used in|used by|absorbed by|mittelabfluss"
# Of what a field is called: the words that turn the number behind them into its negative.
_OPPOSITES = (
    (words("profit income surplus result earning"), words("loss deficit shortfall"), _LOSS),
    (words("growth change increase"), words("decline decrease drop reduction fall loss"), _FALL),
    (words("flow inflow"), words("outflow"), _OUT),
)
_TURNS = tuple(
    (asked, but, re.compile(rf"\b(?:{turning})\b{_FILLER}[(]?$", re.IGNORECASE)) for asked, but, turning in _OPPOSITES
)
_UPPER_ENDS = words("high maximum upper end")
_LOWER_ENDS = words("low minimum lower start")


def is_turned(field: Field, text: str, start: int) -> bool:
    """Whether the words before a number make it the opposite of what the field asks for."""
    for asked, but, turning in _TURNS:
        if asked.intersection(field.own) and not but.intersection(field.words):
            return turning.search(text[max(0, start - _REACH) : start].replace("\n", " ")) is not None
    return False


def is_other_end(field: Field, text: str, start: int, end: int) -> bool:
    """Whether a number is the lower end of a range where the field asks for the upper one, or the other way round."""
    upper, lower = bool(_UPPER_ENDS.intersection(field.own)), bool(_LOWER_ENDS.intersection(field.own))
    if upper == lower:
        return False
    ends = {word for label in range_end(text, start, end) if label.kind == "range" for word in label.weights}
    return ("low" in ends) if upper else ("high" in ends)
