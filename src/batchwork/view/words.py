"""Decides what a word is: in the texts that are indexed, and in what somebody looks for. Pure.

Scripts that put no spaces between words (Chinese, Japanese, Thai, ...) and Korean, which hangs endings on them, are
indexed by every character and every two neighbours, so that a part of a sentence is found in it.
"""

import re
import unicodedata
from itertools import groupby

_MOST_TERMS = 12
# Thai to Khmer, Hangul, kana, bopomofo, and all of the ideographs.
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_IN_WORDS = frozenset({"Mn", "Mc", "Co"})  # beside letters and numbers, as the tokenizer of `index_tables.sql` has it


def indexed_text(text: str) -> str:
    """A text as the index takes it in."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return _DENSE.sub(lambda run: f" {' '.join((*run[0], *_pairs(run[0])))} ", text)


def terms_of(words: str) -> list[str]:
    """What must all stand in a text for it to be found."""
    terms: list[str] = []
    for kind, characters in groupby(unicodedata.normalize("NFKC", words).lower(), key=_kind):
        run = "".join(characters)
        if kind:
            terms += _pairs(run) or [run] if kind == "dense" else [run]
    return list(dict.fromkeys(terms))[:_MOST_TERMS]


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] not in "LN" and category not in _IN_WORDS:
        return ""
    return "dense" if _DENSE.match(character) else "word"


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
