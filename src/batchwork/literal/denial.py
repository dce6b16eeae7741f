"""Decide whether a text says that there is none of something."""

import re

from batchwork.literal.facts import facts
from batchwork.literal.meaning import GENERIC, label_words, tokens, vocabulary

NEGATION = re.compile(
    r"\b(?:no|not|never|neither|nor|without|isn't|aren't|wasn't|doesn't|lacks?|zero|free of)\b", re.IGNORECASE
)
_NONE_BEHIND = re.compile(r"\W{0,3}(?:(?:were|was|are|is) )?(?:none|not (?:found|detected|present))\b", re.IGNORECASE)
NONE = re.compile(r"(?:none|nil|absent|no|not (?:found|detected|present))\b(?!\.\d)", re.IGNORECASE)


def denied(words: tuple[str, ...], text: str) -> tuple[int, int] | None:
    """Where the text says that there is none: "no anomalies", "anomalies: none"."""
    strong = [word for word in words if word not in GENERIC]
    if not strong or not vocabulary(text).intersection(strong):
        return None
    for fact in facts(text):
        if fact.kind in ("pair", "gap", "cell", "below") and set(strong) <= {*fact.label, *fact.row}:
            said = NONE.match(text[fact.start : fact.end])
            if said:
                return fact.start, fact.start + said.end()
    for word in strong[::-1]:
        for token in tokens(text):
            if word in label_words(token.word):
                before = text[max(0, token.start - 24) : token.start]
                denials = list(NEGATION.finditer(before))
                if denials and not re.search(r"[.;:!?\n]", before[denials[-1].end() :]):
                    return token.start - len(before) + denials[-1].start(), token.end
                after = _NONE_BEHIND.match(text, token.end)
                if after:
                    return token.start, after.end()
    return None
