"""Decide when two words mean the same label: case, plurals, short forms and the synonyms of `meaning.toml`.

`canonical` merges true equivalents ("std", "standard deviation"); `alternatives` lists looser
readings of a label ("total" for "amount due"), which count for less.
"""

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

_WORD = re.compile(
    r"[A-Za-z]+\d[A-Za-z\d]*|[A-Za-z\u00c0-\u024f]+(?:'[a-z]+)?|\d+(?:\.\d+)?(?:st|nd|rd|th)\b|\d+[a-zA-Z\d]*|#|%"
)
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stop: str
    generic: str
    aspect: str
    more: str
    less: str
    verbs: str
    yes: str
    no: str
    same: dict[str, str]
    loose: dict[str, str]


WORDS = msgspec.toml.decode(Path(__file__).with_name("meaning.toml").read_bytes(), type=_Words)
STOP, GENERIC, _ASPECT = (frozenset(words.split()) for words in (WORDS.stop, WORDS.generic, WORDS.aspect))
_LOOSE = WORDS.loose


class Token(NamedTuple):
    """A word as it stands in a text."""

    word: str
    start: int
    end: int


def _stem(word: str) -> str:
    if len(word) < 4 or word in ("series", "species") or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes")) else word[:-1]


_PHRASES = {
    tuple(map(_stem, phrase.split())): meaning
    for meaning, phrases in WORDS.same.items()
    for phrase in phrases.split("|")
}
_LONGEST = max(map(len, _PHRASES))
_ORDINAL = re.compile(r"(\d+(?:\.\d+)?)(?:st|nd|rd|th)$")
_ARTICLE_FOLLOWS = re.compile(r"\s+(?!(?:has|is|was|have|had|are|or|and|than|does|shows?|rises?|falls?)\b)[a-z]")


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """The words of a stretch of text, camelCase taken apart."""
    found: list[Token] = []
    for match in _WORD.finditer(text, start, len(text) if end is None else end):
        at = match.start()
        for piece in _CAMEL.split(match.group()):
            if not piece:
                continue
            word = piece.lower()
            if len(piece) == 1 and piece.isupper() and _is_name(text, at):
                word = piece  # "Series A" is a name, "a mean" an article
            found.append(Token(word.removesuffix("'s"), at, at + len(piece)))
            at += len(piece)
    return found


def _is_name(text: str, at: int) -> bool:
    article = text[at] in "AI" and _ARTICLE_FOLLOWS.match(text, at + 1)
    return not article or bool(re.search(r"[A-Za-z]{2,} $", text[max(0, at - 20) : at]))


def canonical(found: list[Token]) -> list[Token]:
    """Words with one meaning made one word, stop words left out, offsets kept."""
    words = [token.word if token.word.isupper() else _stem(token.word) for token in found]
    merged: list[Token] = []
    at = 0
    while at < len(found):
        taken, word = 1, words[at]
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            phrase = words[at : at + length]
            same = _PHRASES.get(tuple(phrase if length == 1 else map(str.lower, phrase)))  # "R squared"; "N" is a name
            if same is not None:
                taken, word = length, same
                break
        else:
            taken, word = _percentile(words, at)
        if word not in STOP and not (taken == 1 and found[at].word in STOP):
            merged.append(Token(word, found[at].start, found[at + taken - 1].end))
        at += taken
    return merged


def _percentile(words: list[str], at: int) -> tuple[int, str]:
    ordinal = _ORDINAL.match(words[at])
    if ordinal and words[at + 1 : at + 2] and words[at + 1] in ("percentile", "pct", "percent"):
        return 2, "median" if ordinal[1] == "50" else f"p{ordinal[1]}"
    return 1, words[at]


@lru_cache(maxsize=4096)
def label_words(text: str) -> tuple[str, ...]:
    """The meaning of a label: `unitPrice`, `Unit price:` and `unit_price` are the same."""
    spoken = tokens(text.replace("_", " "))
    meant = tuple(token.word for token in canonical(spoken))
    return meant or tuple(token.word for token in spoken)  # "From" and "To" are labels too


_BARE_NUMBER = re.compile(r"(?<![A-Za-z\d])[-+]?\d[\d.,]*(?:[eE][-+]?\d+)?(?![A-Za-z\d])")


@lru_cache(maxsize=64)
def vocabulary(text: str) -> frozenset[str]:
    """Every word of a text as labels mean it, bare numbers left out; years and row numbers stay."""
    words = _BARE_NUMBER.sub(" ", text)
    spoken = tokens(words)
    meant = {token.word for token in canonical(spoken)} | {token.word for token in spoken}
    if meant & {"range", "from", "between", "ranging"}:
        meant |= {"min", "max"}  # a stated range names them
    if "at" in meant:
        meant.add("position")
    return frozenset(meant) | frozenset(re.findall(r"(?<![\d.])\d{1,6}(?![\d.])", text))


def content_words(text: str) -> tuple[str, ...]:
    """The meaning of a sentence: like a label's, but stop words alone mean nothing."""
    return tuple(dict.fromkeys(token.word for token in canonical(tokens(text.replace("_", " ")))))


@lru_cache(maxsize=4096)
def alternatives(words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Looser readings of a label, best first."""
    words = tuple(word for word in words if word not in GENERIC) or words
    found = [label_words(other) for other in _LOOSE.get(" ".join(words), "").split("|") if other]
    for size in (2, 1):  # "invoice total amount" may be read as "total amount"
        tail = " ".join(words[-size:])
        if len(words) > size and tail in _LOOSE and set(words[:-size]) <= {"invoice", "line", "item", "unit"}:
            found.append(tuple(words[-size:]))
            found += [label_words(other) for other in _LOOSE[tail].split("|")]
    if set(words) & _ASPECT:
        found.append(tuple(word for word in words if word not in _ASPECT))
    return tuple(dict.fromkeys(other for other in found if other))
