"""Decide when two words mean the same label: case, plurals, short forms and a small table of synonyms.

`canonical` merges true equivalents ("std", "standard deviation"); `alternatives` lists looser
readings of a label ("total" for "amount due"), which count for less.
"""

import re
from functools import lru_cache
from typing import NamedTuple


def _words(text: str) -> list[str]:
    return text.split()


_WORD = re.compile(
    r"[A-Za-z]+\d[A-Za-z\d]*|[A-Za-z\u00c0-\u024f]+(?:'[a-z]+)?|\d+(?:\.\d+)?(?:st|nd|rd|th)\b|\d+[a-zA-Z\d]*|#|%"
)
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP = frozenset(
    _words(
        "a an the of is are was were be been being in on at to for from by with and or as it its this that "
        "these those there has have had do does did what which who whom whose when where why how please give "
        "tell me find show state return extract answer question say your you i my we us our can could would "
        "should will shall may might must if than then so comes equals equal into per about around roughly "
        "approximately exactly only just also any some not no contain contains containing include includes "
        "exhibit exhibits display displays many much"
    )
)
GENERIC = frozenset(
    _words(
        "series data dataset set value sequence list given following text document above below report figure "
        "result point observation sample entire whole overall recorded stated listed shown written according "
        "called field content information detail overview json reply respond single provided attached file "
        "current name full pattern linear fitted estimated numeric numerical approximate rounded exact"
    )
)
"""Words a label may have or lack without becoming another label."""
_ASPECT = frozenset({"direction", "type", "kind", "presence", "nature", "sort", "category", "status"})
"""Words that ask for what a label says anyway: the direction of the trend stands at "trend"."""

_SAME: dict[str, str] = {
    "mean": "average|avg|arithmetic mean|mean value|average value|mu",
    "stdev": "standard deviation|std|std dev|std deviation|stddev|sd|st dev|standard dev",
    "variance": "var",
    "max": "maximum|highest|largest|greatest|biggest|peak|maximum value|top",
    "min": "minimum|lowest|smallest|least|minimum value",
    "count": "number of|how many|count of|total number of|no of|num of|n",
    "number": "no|nr|num|#|nbr",
    "quantity": "qty|qnty|pcs",
    "cv": "coefficient of variation|coefficient of variance",
    "r2": "r squared|r square|coefficient of determination",
    "iqr": "interquartile range|inter quartile range",
    "p25": "first quartile|lower quartile|q1|1st quartile",
    "p75": "third quartile|upper quartile|q3|3rd quartile",
    "median": "p50|second quartile|q2|middle value",
    "anomaly": "outlier|anomalous|outlying",
    "id": "identifier",
    "amount": "amt",
    "address": "addr",
    "telephone": "phone|tel",
    "email": "e mail|mail",
    "percent": "percentage|pct|%",
    "skewness": "skew",
    "seasonality": "season|seasonal|periodicity|periodic",
    "trend": "tendency",
    "first": "1st|initial|start|starting",
    "last": "final|end|ending",
    "subtotal": "sub total|net total|net amount",
    "reference": "ref",
    "position": "index|indice|location",
    "zscore": "z score",
    "order": "po|purchase order",
    "rising": "rise|increasing|increase|upward|up|growing|grow|ascending|climbing|climb",
    "falling": "fall|decreasing|decrease|downward|down|declining|decline|descending|dropping|drop|shrinking",
    "flat": "stable|steady|constant|level|stationary|unchanged|sideways",
    "spike": "surge|jump",
    "direction": "directional",
    "billto": "bill to|billed to|invoice to|invoiced to|sold to|charge to|bill recipient",
    "shipto": "ship to|shipped to|deliver to|delivery to",
    "issuedby": "issued by|billed by|sold by|invoiced by|invoice from|bill from|sold from",
    "dueby": "pay by|payable by|payable until|pay until|due by|due on|payment due|pay before|payable before|paid by",
}
_LOOSE: dict[str, str] = {
    "total": "grand total|amount due|total due|balance due|total amount|amount payable|total payable|amount",
    "amount": "total|line total|sum|line amount",
    "total amount": "total|grand total|amount due|total due|balance due",
    "grand total": "total|amount due|total due|total amount",
    "line total": "total|amount|line amount|net amount|sum|extended price",
    "total price": "total|amount|line total",
    "price": "unit price|rate|unit cost|cost|amount",
    "unit price": "price|rate|unit cost|price each|each|price per unit|price unit",
    "quantity": "units|hours|count|number|hrs|quantity ordered",
    "description": "item|product|service|article|details|item description|particulars|designation|activity|work",
    "item": "description|product|service|article",
    "product": "item|description|article",
    "vendor": "seller|supplier|from|company|issuedby|merchant|provider|biller",
    "seller": "vendor|supplier|from|company|issuedby|merchant",
    "supplier": "vendor|seller|from|company|issuedby",
    "company": "vendor|seller|supplier|from|issuedby",
    "customer": "billto|client|buyer|purchaser|recipient|account name|to|shipto",
    "client": "billto|customer|buyer|to|shipto",
    "buyer": "billto|customer|client|to|shipto",
    "invoice number": "invoice|invoice id|document number|bill number|inv number|number|inv|reference number|reference",
    "invoice id": "invoice number|invoice|inv",
    "invoice date": "date|invoice|issue date|date of issue|issued|issued on|dated|date issued|billing date",
    "date": "invoice date|issue date|date of issue|issued|issued on|dated|date issued|billing date|order date",
    "issue date": "invoice date|date|date of issue|issued|issued on|date issued",
    "due date": "dueby|due|payment due date|payment date|dueby date",
    "tax": "vat|sales tax|gst|tax amount|total tax|vat amount",
    "tax amount": "tax|vat|sales tax|gst|total tax",
    "vat": "tax|sales tax|gst",
    "tax rate": "vat rate|tax|vat|sales tax|gst",
    "subtotal": "net|net sum|sum net|total before tax|total net|total excl|sum",
    "currency": "currency code",
    "count": "total|length|size",
    "length": "count",
    "size": "count",
    "payment terms": "terms",
    "order number": "order|order id|purchase order number",
    "shipping": "freight|delivery|shipping cost|postage",
    "discount": "rebate|reduction",
    "strength": "strong",
    "spread": "stdev|range",
}


class Token(NamedTuple):
    """A word as it stands in a text."""

    word: str
    start: int
    end: int


def _stem(word: str) -> str:
    if word in ("series", "species", "less", "plus", "gross", "address"):
        return word
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _table() -> dict[tuple[str, ...], str]:
    table: dict[tuple[str, ...], str] = {}
    for meaning, phrases in _SAME.items():
        for phrase in phrases.split("|"):
            table[tuple(map(_stem, phrase.split()))] = meaning
    return table


_PHRASES = _table()
_LONGEST = max(map(len, _PHRASES))
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)$|(\d+(?:\.\d+)?)(?:st|nd|rd|th)$")


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


_ARTICLE_FOLLOWS = re.compile(
    r"\s+(?!has\b|is\b|was\b|have\b|had\b|are\b|or\b|and\b|than\b|does\b|shows?\b|rises?\b|falls?\b)[a-z]"
)


def _is_name(text: str, at: int) -> bool:
    if text[at] not in "AI":
        return True
    if not _ARTICLE_FOLLOWS.match(text, at + 1):
        return True
    return bool(re.search(r"[A-Za-z]{2,} $", text[max(0, at - 20) : at]))


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
    match = _PERCENTILE.match(words[at])
    if match is None:
        return 1, words[at]
    if match[1]:
        return 1, words[at]
    if at + 1 < len(words) and words[at + 1] in ("percentile", "pct", "percent"):
        return 2, {"50": "median"}.get(match[2], f"p{match[2]}")
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
    phrase = " ".join(words)
    found = [label_words(other) for other in _LOOSE.get(phrase, "").split("|") if other]
    for size in (2, 1):  # "invoice total amount" may be read as "total amount"
        tail = " ".join(words[-size:])
        if len(words) > size and tail in _LOOSE:
            head = words[:-size]
            if all(word in GENERIC or word in ("invoice", "line", "item", "unit") for word in head):
                found.append(tuple(words[-size:]))
                found += [label_words(other) for other in _LOOSE[tail].split("|")]
    if set(words) & _ASPECT:
        found.append(tuple(word for word in words if word not in _ASPECT))
    return tuple(dict.fromkeys(other for other in found if other))
