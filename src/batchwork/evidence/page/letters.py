"""What the form of a letter says of a name: whom it greets, and who signs it."""

import re

from batchwork.evidence.page.labels import Label
from batchwork.evidence.page.layout import Layout

_GREETING = re.compile(
    r"^[\s>*|]*(?:dear|hi|hello|good (?:morning|day|afternoon)|sehr geehrte[rs]?|liebe[rs]?|hallo|cher|chère|bonjour"
    r"|estimad[oa]|gentile|egregio|geachte|beste)"
    r"(?:\s+(?:mrs?|ms|miss|dr|prof|professor|sir|madam|herrn?|frau|monsieur|madame|señora?|signora?|heer"
    r"|mevrouw)\.?)*\s+$",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"^[\s>*|]*(?:yours (?:faithfully|sincerely|truly)|sincerely(?: yours)?|(?:with )?(?:kind|best"
    r"|warm)?\s?regards|best(?: wishes)?"
    r"|respectfully|many thanks|thanks|mit freundlichen grüßen|hochachtungsvoll|cordialement|bien à vous"
    r"|atentamente|saludos"
    r"|distinti saluti|cordiali saluti|met vriendelijke groet(?:en)?|hoogachtend|signed(?: by)?|for and on behalf"
    r" of.{0,40})[,.:]?$",
    re.IGNORECASE,
)
_ON_BEHALF = re.compile(
    r"^[\s>*|]*(?:signed\s+)?(?:for|on behalf of|für|pour|por|per|namens)\b[^:.;,]{2,45}:\s*$", re.IGNORECASE
)
_GREETED = Label("letter", {"recipient": 0.9, "address": 0.5}, "")
_SIGNED = Label("letter", {"sign": 0.9, "sender": 0.8, "author": 0.8}, "")
_OFFICE = Label("letter", {"title": 0.9, "job": 0.9, "sign": 0.7}, "")
_SIGNATURE = 5  # lines from the closing words to the name, blank ones among them


def letter_label(layout: Layout, number: int, start: int) -> tuple[Label, ...]:
    """The part that a place plays in a letter, by where it stands."""
    line = layout.lines[number]
    before = layout.text[line.start : start]
    if before and len(before) < 40 and _GREETING.match(before):
        return (_GREETED,)
    if before.strip(" >*|"):
        return (_SIGNED,) if len(before) < 60 and _ON_BEHALF.match(before) else ()
    between = 0
    for above in range(number - 1, max(-1, number - 1 - _SIGNATURE), -1):
        cells = layout.lines[above].cells
        if len(cells) == 1 and _CLOSING.match(cells[0].text):
            return (_OFFICE if between else _SIGNED,)
        between += bool(cells)
        if between > 1:
            return ()
    return ()
