"""Decide which of some choices a text speaks for: the one that stands at the asked label and is not denied."""

import re
from itertools import islice

from batchwork.literal.denial import NEGATION, NONE
from batchwork.literal.facts import facts
from batchwork.literal.lookup import ENOUGH, Found, ranked
from batchwork.literal.meaning import GENERIC, label_words, tokens, vocabulary
from batchwork.literal.page_shape import sentence_around

_NEUTRAL = frozenset({"flat", "none", "no", "absent", "neither", "normal"})
_MOST_SENTENCES = 300  # that are looked at for a choice
_WHOLE = frozenset({"trend", "direction", "movement"})
"""What is asked of the data as a whole."""


def choose(words: tuple[str, ...], choices: tuple[str, ...], text: str) -> Found | None:
    """The one choice that stands at the asked label, denied ones left out."""
    for sure, fact in ranked(words, text) if words else []:
        if sure < ENOUGH - 0.15:
            break
        named = _named(choices, text, fact.start, fact.end)
        if len(named) == 1:
            return named[0]._replace(score=sure)
        both = next((choice for choice in choices if choice.lower() == "both"), None)
        if both is not None and len(named) == 2:
            return Found(both, min(one.start for one in named), max(one.end for one in named), sure)
        quiet = _neutral(choices, text, fact.start, fact.end) if fact.kind != "after" and not named else None
        if quiet is not None:
            return quiet._replace(score=sure)
    strong = [word for word in words if word not in GENERIC]
    if strong and set(strong) <= _WHOLE and (whole := _of_the_whole(choices, text)):
        return whole
    if strong and not vocabulary(text).intersection(strong):
        return None
    asked = (fact for fact in facts(text) if not strong or not {*fact.label, *fact.row}.isdisjoint(strong))
    for fact in islice(asked, _MOST_SENTENCES):  # a sentence about it that names just one choice
        first, last = sentence_around(text, fact.start, fact.end)
        named = _named(choices, text, first, last)
        if len(named) == 1:
            return named[0]._replace(score=0.5)
    return None


def _neutral(choices: tuple[str, ...], text: str, start: int, end: int) -> Found | None:
    """The one neutral choice, where the text says "none" or "flat" in its own words."""
    neutral = [choice for choice in choices if set(label_words(choice)) & _NEUTRAL]
    said = NONE.match(text[start:end])
    quiet = (start, start + said.end()) if said else None
    for token in tokens(text, start, end):
        if quiet is None and "flat" in label_words(token.word) and not NEGATION.search(text[start : token.start]):
            quiet = (token.start, token.end)
    return Found(neutral[0], *quiet, 0.0) if quiet and len(neutral) == 1 else None


def _of_the_whole(choices: tuple[str, ...], text: str) -> Found | None:
    """What is said of the data itself: "the series is rising" tells its trend without the word."""
    for fact in facts(text):
        if fact.kind == "is" and set(fact.label) <= GENERIC | {"time"}:
            named = _named(choices, text, fact.start, fact.end)
            found = named[0] if len(named) == 1 else _neutral(choices, text, fact.start, fact.end)
            if found is not None and len(named) < 2:
                return found._replace(score=ENOUGH)
    return None


def _place_of(word: str, text: str, start: int, end: int) -> int:
    found = re.compile(re.escape(word), re.IGNORECASE).search(text, start, end)
    return -1 if found is None else found.start()


def _named(choices: tuple[str, ...], text: str, start: int, end: int) -> list[Found]:
    """The choices that stand in a stretch of text and are not denied there."""
    spoken = [(label_words(token.word), token) for token in tokens(text, start, end)]
    found: list[Found] = []
    for choice in choices:
        wanted = label_words(choice.replace("_", " ").replace("-", " ")) or (choice.lower(),)
        for words, token in spoken:
            if wanted[0] in words or (words and words[0][:5] == wanted[0][:5] and len(wanted[0]) > 5):
                last = _place_of(str(choice).split()[-1], text, token.start, end)
                stop = token.end if last < 0 or len(wanted) == 1 else last + len(choice.split()[-1])
                if len(wanted) > 1 and not set(wanted) <= set(
                    label_words(text[token.start : token.start + len(choice) + 12])
                ):
                    continue
                before = text[max(start, token.start - 16) : token.start]
                if not NEGATION.search(before):
                    found.append(Found(choice, token.start, stop, 0.0))
                    break
    return [
        one
        for one in found
        if not any(one is not other and one.start >= other.start and one.end < other.end for other in found)
    ]
