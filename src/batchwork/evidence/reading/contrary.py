"""What the words right before a number make of its sign for one field.

"A net loss of 4 million" says -4 million of a profit and nothing of a profit of 4 million; "fell by 3%" is growth of
-3%.
"""

import re

from batchwork.evidence.fields import Field
from batchwork.evidence.vocabulary.lexicon import words

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


def is_turned(field: Field, text: str, start: int) -> bool:
    """Whether the words before a number make it the opposite of what the field asks for."""
    for asked, but, turning in _TURNS:
        if asked.intersection(field.own) and not but.intersection(field.words):
            return turning.search(text[max(0, start - _REACH) : start].replace("\n", " ")) is not None
    return False
