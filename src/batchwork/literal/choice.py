"""Decide which of some choices a text speaks for, and whether it denies something."""

import re

from batchwork.literal.facts import facts
from batchwork.literal.lookup import ENOUGH, Found, ranked
from batchwork.literal.meaning import GENERIC, label_words, tokens, vocabulary

NEGATION = re.compile(
    r"\b(?:no|not|never|neither|nor|without|isn't|aren't|wasn't|doesn't|lacks?|zero|free of)\b", re.IGNORECASE
)
_NONE = re.compile(r"(?:none|nil|absent|no|not (?:found|detected|present))\b(?!\.\d)", re.IGNORECASE)
_NEUTRAL = frozenset({"flat", "none", "no", "absent", "neither", "normal"})
_WHOLE = frozenset({"trend", "direction", "movement"})  # asked of the data as a whole


def choose(words: tuple[str, ...], choices: tuple[str, ...], text: str) -> Found | None:
    """The one choice that stands at the label, denied ones left out."""
    for sure, fact in ranked(words, text) if words else []:
        if sure < ENOUGH - 0.15:
            break
        named = _named(choices, text, fact.start, fact.end)
        if len(named) == 1:
            return named[0]._replace(score=sure)
        if len(named) == 2 and (both := next((choice for choice in choices if choice.lower() == "both"), None)):
            return Found(both, min(one.start for one in named), max(one.end for one in named), sure)
        quiet = None if named else _neutral(choices, text, fact.start, fact.end)
        if quiet is not None:
            return quiet._replace(score=sure)
    strong = {word for word in words if word not in GENERIC}
    return _of_the_whole(choices, text) if strong and strong <= _WHOLE else None


def _neutral(choices: tuple[str, ...], text: str, start: int, end: int) -> Found | None:
    """The one neutral choice, where the text says "none" or "flat" in its own words."""
    neutral = [choice for choice in choices if set(label_words(choice)) & _NEUTRAL]
    none = _NONE.match(text[start:end])
    flat = (token for token in tokens(text, start, end) if "flat" in label_words(token.word))
    quiet = [(start, start + none.end())] if none else []
    quiet += [(token.start, token.end) for token in flat if not NEGATION.search(text[start : token.start])]
    return Found(neutral[0], *quiet[0], 0.0) if quiet and len(neutral) == 1 else None


def _of_the_whole(choices: tuple[str, ...], text: str) -> Found | None:
    """A statement about the data itself: "the series is rising" tells its trend without the word."""
    for fact in facts(text):
        if fact.kind == "is" and set(fact.label) <= GENERIC | {"time"}:
            named = _named(choices, text, fact.start, fact.end)
            found = named[0] if named else _neutral(choices, text, fact.start, fact.end)
            if found is not None and len(named) < 2:
                return found._replace(score=ENOUGH)
    return None


def _named(choices: tuple[str, ...], text: str, start: int, end: int) -> list[Found]:
    """The choices that stand in a stretch of text and are not denied there."""
    there = [(label_words(token.word), token) for token in tokens(text, start, end)]
    found: list[Found] = []
    for choice in choices:
        wanted = label_words(choice.replace("_", " ").replace("-", " ")) or (choice.lower(),)
        for words, token in there:
            alike = words and len(wanted[0]) > 5 and words[0][:5] == wanted[0][:5]
            whole = set(wanted[1:]) <= set(label_words(text[token.start : token.start + len(choice) + 12]))
            denied_before = NEGATION.search(text[max(start, token.start - 16) : token.start])
            if (wanted[0] in words or alike) and whole and not denied_before:
                found.append(Found(choice, token.start, token.end, 0.0))
                break
    return found


def denied(words: tuple[str, ...], text: str) -> tuple[int, int] | None:
    """Where the text says that there is none: "no anomalies", "anomalies: none"."""
    strong = [word for word in words if word not in GENERIC]
    if not strong or not vocabulary(text).intersection(strong):
        return None
    for fact in facts(text):
        if fact.kind in ("pair", "gap", "cell", "below") and set(strong) <= {*fact.label, *fact.row}:
            none = _NONE.match(text[fact.start : fact.end])
            if none:
                return fact.start, fact.start + none.end()
    for token in tokens(text):
        if not set(strong).isdisjoint(label_words(token.word)):
            before = text[max(0, token.start - 24) : token.start]
            denials = list(NEGATION.finditer(before))
            if denials and not re.search(r"[.;:!?\n]", before[denials[-1].end() :]):
                return token.start - len(before) + denials[-1].start(), token.end
    return None
