"""Words near a place -> a label: which concepts it says, and what each is worth there.

Decides how much a word of a sentence still says about a value: the nearest words most, words beyond a comma or another
number less, asides in parentheses half.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from batchwork.evidence.reading.months import MONTHS
from batchwork.evidence.vocabulary.lexicon import OFFICES, SIDES, UNITS
from batchwork.evidence.vocabulary.words import concepts, fold, words_of

LABEL_END = re.compile(r"[:=#?]\s*[\"'“(\[]*$|\s[-–—]\s*$")
_PIECE = re.compile(r"[,;](?!\d)|[()\[\]]|\s[-–—]\s|(?<=[a-z\d)])\.\s|:\s")
_PIECES = re.compile(f"({_PIECE.pattern})")
_HEREINAFTER = (
    r"(?i:hereinafter|hereafter|herein|nachfolgend|im folgenden|ci-après|en adelante|di seguito|hierna"
    r"|collectively|together"
    r"|(?:referred to|called|known|defined|designated|dénommée?|denominad[oa]|genannt)(?: as)?|te noemen|each|as|also"
    r"|an?|the|der|die|das|le|la|el|il|lo|de)"
)
_NAMED = r"[\"'“”‘’„«]?\s?((?:the\s)?[A-Z][\w ]{2,30}?)\s?[\"'“”‘’»]?"
_DEFINED = re.compile(
    rf",?\s*\((?:{_HEREINAFTER}[\s,]+)*{_NAMED}(?: genannt)?\)"
    rf"|,\s+(?i:hereinafter|hereafter|nachfolgend|ci-après|en adelante|di seguito"
    rf"|hierna)[\s,]+(?:{_HEREINAFTER}\s+)*{_NAMED}"
    r"(?=[,.;)\n]|\s(?:and|und|et|y|e|en)\s)"
)
_SIDE = re.compile(r",\s+(?:as\s+)?(?:the\s+)?([a-z]+)(?=[,.;\n])")
_AFTER_END = re.compile(r"[.;,:]\s|\n\n|[;(]|\s(?:and|but|while|or|und|aber|et|mais|y)\s")
# A date, or a count or share in brackets, that stands between a label and its value: "Deposit received 21/03/2025".
_FIGURES = re.compile(r"\b\d{1,4}([./-])\d{1,2}\1\d{2,4}\b|\((?=[^()]*\d)[^()]*\)")
ASIDE = re.compile(r"\([^()]*\)")
_NEXT_THING = re.compile(r"(\d\S*(?:\s+[^\s,;]+){0,3}?)\s+(?:and|but|while|und|et|y)\s")
_CURRENCY = re.compile(r"[$€£¥]|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)(?![A-Za-z])")
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}
_BOX_NUMBER = re.compile(r"^(?:\d{1,2}[a-z]?|[a-z])[.)]?\s+(?=[^\W\d_])")
# Who or what a name is, told behind it: "Ann Moss, our surgeon", "Ann Moss, who signed".
_APPOSITION = re.compile(
    r",\s+((?:who|which|our|the|a|an|as|your|his|her|their|its)\s+[^,.;:()\d]{3,45}|[a-z]+(?: [a-z]+){0,3}(?=[.;,\n]))"
)
_TITLED = re.compile(r",\s+((?:[A-Z][\w&-]+|of|the|and|for)(?:\s+(?:[A-Z][\w&-]+|of|the|and|for)){0,5})(?=[.;,)\n]|$)")
_LEADS_ON = re.compile(r"\S*\s*(?:on|at|by|of|to|for|in|from)\s*(?:[A-Z][a-z]+\.? )?[$€£]?\d")
_SIZE = re.compile(r"\(\s*[nN]\s*=\s*$")
# A date inside a label: "Balance at 31 March 2024:", of which the year alone tells something.
_DATED = re.compile(
    r"\b(?:\d{1,2}([./-])\d{1,2}\1|\d{1,2}\.? [^\W\d_]{3,9}\.? |[A-Z][a-z]{2,8}\.? \d{1,2}, )((?:19|20)\d\d)\b"
    r"|\b((?:19|20)\d\d)-\d\d-\d\d\b"
)
# For whom it was made, with who made it in between: "Prepared by Ann Moss for".
_MADE_FOR = re.compile(
    r"(?i:\b(prepared|issued|compiled|drawn up|written|made)\s+by\s+)(?:[A-ZÀ-Þ][\w.'’-]*\s+){1,4}(?=for\s*$)"
)
_PART = re.compile(r"\s+(?:out\s+)?of\s+(?:the\s+|all\s+|its\s+|our\s+)?\d[\d.,]*(?=\s)")  # 12 of 40 rooms
_WHOLE = re.compile(r"\d\s+(?:out\s+)?of\s+(?:the\s+|all\s+|its\s+|our\s+)?$")
# A paper called by its number, before its date: "invoice 4711 of 3 May".
_NUMBERED = re.compile(r"(?<=[^\W\d_])\.?\s+\S*\d\S*(?=\s+\S+\s*$)")
_OF = frozenset({"of", "dated", "from", "vom", "du", "del", "dal", "van"})
_TO_SOMEBODY = re.compile(r"\s+(?:to|by|until|till)\s")  # what follows is not about the value itself
_WHOSE = re.compile(r"\b[^\W\d_]+['’]s\s+")  # the tenant's agent is not the tenant
# A band of figures, as columns of an analysis are called: "31-60 days", "over 90 days".
BAND = re.compile(
    r"(?:(?:over|under|above|below|more than|less than|up to|über|unter|bis|plus de|más de|oltre|meer dan|[<>≥≤])"
    r"\s*\d{1,3}"
    r"|\d{1,3}\s?(?:[-–—]\s?\d{1,3}|\+))\s+[^\W\d_]+",
    re.IGNORECASE,
)
_LONGEST_LABEL = 8  # words
_WORDS_FULL = 4
_FADE = 0.86
_FAINTEST = 0.25


@dataclass(frozen=True, slots=True)
class Label:
    """Some words near a place; `weights` says what each concept is worth there."""

    kind: str  # inline, after, left, row, above, below, section
    weights: dict[str, float]
    text: str

    @property
    def key(self) -> tuple[str, ...]:
        """Its concepts, for comparing labels."""
        return tuple(self.weights)


@lru_cache(maxsize=20_000)
def label_of(kind: str, text: str, weight: float) -> Label:
    """A label all of whose words count alike."""
    head = unnumbered(_FIGURES.sub(" ", text.partition(": ")[0])) if kind != "section" else text
    band = kind == "above" and BAND.fullmatch(head)
    words = [word for word in concepts(head[:120]) if band or not word.isdigit() or is_year(word)]
    return Label(kind, dict.fromkeys(words, weight), text)


def unnumbered(text: str) -> str:
    """A label of a form without the number or letter of its box; a date has none."""
    bare = _BOX_NUMBER.sub("", text)
    return text if bare != text and fold(bare.split()[0].rstrip(".,")) in MONTHS else bare


def faded(kind: str, text: str) -> Label | None:
    """Words before a place: the last few in full, those further away ever less, less again beyond a comma."""
    weights: dict[str, float] = {}
    weight = 1.0
    text = _plain(_SIZE.sub("(sample size = ", text))
    text = _NEXT_THING.sub(r"\1, ", text)  # what follows "and" after a number is about the next one
    asides = ASIDE.findall(text)
    outside = ASIDE.sub(" ", text)
    if asides and concepts(outside):
        plain = [aside for aside in asides[-1:] if not any(map(str.isdigit, aside))]  # a figure has words of its own
        weights = dict.fromkeys((word for aside in plain for word in concepts(aside)), 0.5)
    else:
        outside = text
    named = is_named(text)
    pieces = _PIECES.split(outside)  # and what separates them
    count = 0
    for rank, piece in enumerate(reversed(pieces)):
        if rank % 2:
            continue
        taken: list[str] = []
        digits = False
        counted = any(map(str.isdigit, piece))
        for word in reversed(concepts(piece)):
            if counted and word in UNITS:
                continue
            if word.isdigit() and not digits and not (named and is_year(word)):
                # Another number stands here: the words right behind it are its own, those before it rather its label.
                for own in taken[-2:] if _counts(piece) else ():
                    weights[own] = min(weights[own], 0.5 * weight)
                weight, taken = weight * 0.75, []
            digits = word.isdigit()
            if digits and not is_year(word):
                continue
            taken.append(word)
            worth = weight if count < _WORDS_FULL else weight * _FADE ** (count - _WORDS_FULL + 1)
            worth = max(worth, _FAINTEST)
            if worth > weights.get(word, 0.0):
                weights[word] = worth
            count += 1
        if rank < len(pieces) - 1 and (concepts(piece) or rank > 0 or "," in pieces[-rank - 2]):
            weight *= 0.9 if ":" in pieces[-rank - 2] else 0.6
        elif rank == 0 and len(pieces) > 1 and pieces[-2] == "(":
            weight *= 0.6  # the first thing in brackets: "Total (5 items)"
    return Label(kind, weights, text) if weights else None


def _plain(text: str) -> str:
    """The words before a place without what is said in between: a paper's number, who made it, the day of a label."""
    last = text.rstrip().rpartition(" ")[2].lower()
    if last in _OF:
        return _NUMBERED.sub("", text)
    if last == "for":
        return _MADE_FOR.sub(r"\1 ", text)
    return _DATED.sub(r"\2\3", text) if is_named(text) else text


def is_whole(text: str, start: int) -> bool:
    """Whether a figure is the whole of which the text just named a part: the 40 of "12 of 40 rooms"."""
    return _WHOLE.search(text, max(0, start - 20), start) is not None


def _counts(piece: str) -> bool:
    """Whether the last number of some words counts what stands right behind it ("30 days"), rather than "500 we"."""
    behind = piece[max(piece.rfind(digit) for digit in "0123456789") + 1 :].split(maxsplit=1)
    return not behind or bool(concepts(behind[0]))


def is_named(text: str) -> bool:
    """Whether the words before a place are a label with its colon rather than a sentence."""
    if LABEL_END.search(text) is None:
        return False
    return len(_PIECE.split(LABEL_END.sub("", text))[-1].split()) <= _LONGEST_LABEL


def last_piece(label: Label) -> Label:
    """The part of an inline label that names the role: what follows the last comma or bracket."""
    text = _plain(label.text)
    trimmed = LABEL_END.sub("", text)
    outside = ASIDE.sub(" ", trimmed)
    if concepts(outside):
        trimmed, text = outside, ASIDE.sub(" ", text)
    pieces = [piece for piece in _PIECE.split(trimmed) if concepts(piece)]
    named = is_named(label.text)
    words: list[str] = []
    numbered = False
    for word in concepts(pieces[-1]) if pieces else ():
        if word.isdigit() and not is_year(word):
            words = words if named else []  # in a sentence the words before another number are that one's
            numbered = True
        elif word not in UNITS or named:
            words.append(word)
    if numbered and not named and label.text.rstrip().endswith(","):
        words = []  # and so are those between it and the comma
    return Label(label.kind if named else "prose", dict.fromkeys(words[-6:] if named else words[-3:], 1.0), text)


def currency(said: str) -> tuple[Label, ...]:
    """The currency that a figure shows, as a label of its own."""
    found = _CURRENCY.search(said)
    if found is None:
        return ()
    return (Label("unit", {_SIGNS.get(found.group(), found.group().lower()): 1.0}, found.group()),)


def named_behind(text: str, end: int) -> Label | None:
    """The name that a contract gives to what it just said: `(the "Tenant")`, `(hereinafter Buyer)`, ", claimant,"."""
    found = _DEFINED.match(text, end)
    if found:
        return label_of("defined", found[1] or found[2], 1.0)
    side = _SIDE.match(text, end)
    return label_of("defined", side[1], 1.0) if side and side[1] in SIDES else None


def after(text: str, *, figure: bool, whole: bool = False) -> Label | None:
    """The words behind a place, up to the end of their clause or the next number: units, and nouns that it counts.

    Of a whole the first noun counts alone: "12 of 40 rooms were empty" says that 12 were.
    """
    text = _WHOSE.sub("", _PART.sub("", text, count=1) if figure and _PART.match(text) else text)
    told = _APPOSITION.match(text) or _titled(text)
    if told and _LEADS_ON.match(text, told.end(1) - 4):
        return None  # "on 3 May, which you reported on 5 May": the words are the next date's
    text = told[1] if told else _AFTER_END.split(text, maxsplit=1)[0]
    words = tuple(takewhile(lambda word: not word.isdigit() or is_year(word), concepts(text)))
    units = tuple(takewhile(UNITS.__contains__, words)) if figure else ()
    words = words[len(units) :][: 1 if whole else 5]
    weights = dict.fromkeys(units, 0.9)
    if not words and not units:
        return None
    share = 0.35 if _TO_SOMEBODY.match(text) else 1.0
    for rank, word in enumerate(words):
        weights.setdefault(word, share * (0.9, 0.8, 0.7, 0.5, 0.35)[rank])
    return Label("after", weights, text)


def _titled(text: str) -> re.Match[str] | None:
    """The office of somebody, told behind the name: "Ann Moss, Head of Finance"."""
    found = _TITLED.match(text)
    return found if found and not OFFICES.isdisjoint(words_of(found[1])) else None


def is_year(text: str) -> bool:
    """Whether these four digits are a year of our time."""
    return len(text) == 4 and text.isdigit() and text[:2] in ("19", "20")
