"""Whether some words stand in a text, letter by letter, and where.

White space, line breaks, hyphenation, typographic quotation marks and ligatures may differ, and nothing else: both
sides are brought into one form, whose every character knows its place in the text. A passage does not begin or end
inside of a word.
"""

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

_SIGNS = {**dict.fromkeys("“”„‟«»″", '"'), **dict.fromkeys("‘’‚‛‹›′´", "'"), **dict.fromkeys("‐‑", "-")}
_HYPHENS = "-‐‑"
_LIGATURES = re.compile("[\ufb00-\ufb17]")
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]"
# White space; and a hyphen between letters, because nobody can tell which ones only break a line.
_DROPPED = re.compile(rf"(?:(?<=[^\W\d_])|(?<=[\u0300-\u036f]))[-‐‑]{_UNSEEN}*(?=[^\W\d_])|{_UNSEEN}+")
_LAST_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑]\s*\Z")
# Scripts whose words have no gaps between them
_GAPLESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_MOST = 50  # places of one passage
_LONGEST = 4_000  # characters of a passage


class Passages:
    """A text, ready to be asked where some words stand in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._form, self._starts, self._places = _form_of(text)

    def find(self, words: str) -> list[tuple[int, int]]:
        """The spans of the text that these words are, in order."""
        form = _form_of(words)[0] if len(words) <= _LONGEST else ""
        spans = self._spans(form)
        if not spans and _LAST_HYPHEN.search(words):  # with the next word it may look as if it broke one
            shorter = self._spans(form[:-1])
            spans = [(start, end + 1) for start, end in shorter if self._text[end : end + 1] in tuple(_HYPHENS)]
        return spans

    def _spans(self, form: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        at = self._form.find(form) if form else -1
        while at >= 0 and len(spans) < _MOST:
            start, end = self._edge(at), self._edge(at + len(form), closing=True)
            if start is not None and end is not None:
                spans.append((start, end))
            at = self._form.find(form, at + 1)
        return spans

    def _edge(self, at: int, *, closing: bool = False) -> int | None:
        """The place of the text where a character of the form begins, or the one before ends; None inside a word."""
        if at < len(self._form) and unicodedata.combining(self._form[at]):
            return None
        piece = bisect_right(self._starts, at - closing) - 1
        start, end = self._places[piece]
        if end - start > 1:  # a run that stands there as it is
            place = start + at - self._starts[piece]
        elif closing and at < self._end_of(piece):
            return None  # inside of a ligature
        elif not closing and at > self._starts[piece]:
            return None
        else:
            place = end if closing else start
        return None if _is_cut(self._text, place) else place

    def _end_of(self, piece: int) -> int:
        """Where a piece ends in the form."""
        return self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self._form)


def _form_of(text: str) -> tuple[str, list[int], list[tuple[int, int]]]:
    """The form of a text, where its pieces start, and where each of them comes from: a run, or one character."""
    edges = [0]
    for gap in _DROPPED.finditer(text):
        edges += gap.span()
    edges.append(len(text))
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        run = text[low:high]
        if run.isascii():
            pieces.append(run)
            places.append((low, high))
        else:
            pieces += map(_plain, run)
            places += ((place, place + 1) for place in range(low, high))
    return "".join(pieces).replace("`", "'"), [0, *accumulate(map(len, pieces))][:-1], places


def _plain(character: str) -> str:
    """What one character is in the form; equal letters of Unicode are one, whatever they are composed of."""
    if character in _SIGNS:
        return _SIGNS[character]
    return unicodedata.normalize("NFKD" if _LIGATURES.match(character) else "NFD", character)


def _is_cut(text: str, at: int) -> bool:
    """Whether a word or number goes on at a place."""
    if not 0 < at < len(text) or not (text[at - 1].isalnum() and text[at].isalnum()):
        return False
    return not (_GAPLESS.match(text[at - 1]) or _GAPLESS.match(text[at]))
