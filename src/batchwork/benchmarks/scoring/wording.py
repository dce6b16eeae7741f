"""What is understood of a model's words, the same for every form of answer.

The only place where text is prepared for reading, and the only lists of words that deny, doubt or turn. A sentence that
gives the answer is read by what is known, not by what is forbidden: take its value out, and every word left must be a
plain one ("the", "is", "mean"). "stopped", "twice" or "except" then need no list: a word that is not understood makes
the sentence no answer. The lists are for what is told around an answer, where anything may be said.
"""

import re
from collections.abc import Iterable

VALUE = "\0"  # stands where a value was taken out of a sentence

_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc\u2032\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("~\u2248\u223c", " about "),
        **dict.fromkeys("*`", " "),  # emphasis and code
        **dict.fromkeys("\u200b\u2060\ufeff" + VALUE, ""),
    }
)
_SPACE = re.compile(r"[^\S\n]")
_CONTRACTED = re.compile(r"(?<=[a-z])n't\b", re.IGNORECASE)
_CANNOT = re.compile(r"\b(?:can't|can not)\b", re.IGNORECASE)

_DENIES = re.compile(r"\b(?:not|never|neither|nor|cannot|nothing|hardly|barely|except)\b", re.IGNORECASE)
_DOUBTS = re.compile(
    r"\?|\b(?:may|might|could|would|maybe|perhaps|possibly|probably|presumably|likely|seems?|appears?|guess|(?<![</])think|"
    r"believe|suppose|unsure|uncertain|not (?:sure|certain|true|right|correct)|(?<!no )(?<!without )doubt\w*|"
    r"wrong|incorrect|false|mistaken?s?)\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(r"\W*(?:let me know|feel free|would you like|if you (?:would|need|want|have))\b", re.IGNORECASE)
_TURN = (
    r"(?:actually|corrections?|corrected|wait|sorry|apologies|oops|scratch that|on second thoughts?|i meant?|or rather|"
    r"or|but|however|yet|instead|though|although|rather|alternatively|otherwise|no(?=\s*(?:[,:;.!-]|$)))\b"
)
_TURNS = re.compile(rf"\b{_TURN}", re.IGNORECASE)
_OPENS = re.compile(rf"\W*(?:{_TURN}[\s,:;.!-]*)+", re.IGNORECASE)

_PLAIN = """
    a an the this that these they it its s is are was were be as and so thus therefore hence because since
    i my we our find found get see read calculate calculated compute computed determined chose choose
    answer result value final correct right of for in on to by with here overall indeed actually
    clearly clear exactly precisely only definitely certainly simply equals equal comes out gives shows has have
    based given provided according data series dataset list numbers values text description boxed
    """
_STRANGE = re.compile(
    r"[^\w\s.,:;!()\[\]{}\"'#=\\$\u20ac\u00a3\0-]"  # what is no punctuation calculates, compares or asks
    r"|!(?=[\w=(\0])"  # so does a negation of programmers
    r"|-[\s()]*\0"  # and a sign, or a dash that may be one, that the value does not have
    r"|\.\."  # what trails off is not finished
    r"|^[^\w\0]*(?:is|are|was|were|has|have) (?:it|the|this|that|they)\b",  # what is turned round asks
    re.IGNORECASE,
)


def prepared(text: str) -> str:
    """A text with plain apostrophes, quotes, dashes and spaces, without emphasis, "n't" written out."""
    plain = _SPACE.sub(" ", text.translate(_TYPOGRAPHY))
    return _CONTRACTED.sub(" not", _CANNOT.sub("cannot", plain))


def words(listed: str) -> frozenset[str]:
    """The plain words and those of a list."""
    return frozenset(f"{_PLAIN} {listed}".split())


def without(text: str, values: Iterable[tuple[int, int]]) -> str:
    """A text with the values that stand from here to there taken out."""
    for start, end in sorted(values, reverse=True):
        text = f"{text[:start]}{VALUE}{text[end:]}"
    return text


def understood(rest: str, known: frozenset[str]) -> bool:
    """Whether what is left of a sentence without its values only asserts them: known words and punctuation."""
    return _STRANGE.search(rest) is None and known.issuperset(re.findall(r"[^\W_]+", rest.lower()))


def denies(text: str) -> bool:
    """Whether a "not" or its like stands anywhere in a text; the "no" of "no other value" does not count."""
    return _DENIES.search(text) is not None


def doubts(text: str) -> bool:
    """Whether a text asks, hedges or calls something wrong; an offer to tell more does not."""
    return _DOUBTS.search(text) is not None and _OFFERS.match(text) is None


def turns(text: str) -> bool:
    """Whether a text corrects or contrasts, anywhere."""
    return _TURNS.search(text) is not None


def opening(text: str) -> str:
    """The words that correct or contrast at the beginning of a text: "No, ", "However "; nothing when it has none."""
    found = _OPENS.match(text)
    return found.group() if found else ""
