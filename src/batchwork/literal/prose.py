"""Find the values of plain sentences and the words that say what they are.

"a mean of 12.3 and a median of 11": each value belongs to the words before it, back to the value before;
a number may also belong to the noun right behind it, "3 anomalies".
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from batchwork.literal.meaning import STOP, canonical, label_words, tokens
from batchwork.literal.page_shape import Stretch
from batchwork.literal.values import Value, dates, numbers, small_numbers

_ID = re.compile(r"(?<![\w-])#?(?=[\w/-]*\d)[A-Za-z]{1,6}[-/]?\d[\w/-]*|(?<!\w)#\d[\w-]*")
_LABEL_LIKE = re.compile(r"[A-Za-z]{1,2}\d{1,2}|\d+(?:st|nd|rd|th)")
_CLAUSE = re.compile(r"[,;:.!?()\u2014](?=\s|$)|[;()|]|\s-\s")
_SENTENCE = re.compile(
    r"(?<=[!?;])\s+|(?<=\.)(?<!\bno\.)(?<!\bnr\.)(?<!\bapprox\.)(?<!\bincl\.)(?<!\bexcl\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
    r"(?<!\bvs\.)(?<!\bca\.)(?<!\bInc\.)(?<!\bLtd\.)(?<!\bCo\.)(?<!\bSt\.)(?<!\bMr\.)(?<!\bDr\.)(?<!\bNo\.)\s+"
)
_RANGE = re.compile(r"\b(?:from|between|range[sd]?|ranging)\b", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:is|are|was|were|remains?|shows?|shown|seems?|appears?|stays?|has|have|exhibits?|follows?|contains?)\b\s+",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:of|dated|from|on|,|\(|\u2014|-)?\s*")
_YEAR = re.compile(r"(?:.*\W)?(?:in|since|until|during|year|FY)\s(?:19|20)\d\d", re.DOTALL)
_PLACED = re.compile(r"\s+at(?: (?:index|position|step|point|time))?\s+#?")
_ASIDE = re.compile(r"\(.*?\)|\d+(?:[.,]\d+)?\s?%")
_LOOK_BACK = 24
_LONGEST = 6
_LONGEST_STRETCH = 2_000  # characters
_SUBJECT = 200  # characters before a verb in which its subject is looked for
_PREDICATE = 300  # characters behind a verb that say something of it
_END_OF_CLAUSE = re.compile(r"[.;!?](?=\s|$)|,\s(?:and|but|while|with)\b")


class Fact(NamedTuple):
    """A value at `start:end` and the words that say what it is.

    `kind` is how it is stated: pair, cell, list, gap, below, phrase, after or is. `label` stands right at it; `row`
    names its row in a table of `rows` rows; `context` stands around it.
    """

    kind: str
    label: tuple[str, ...]
    start: int
    end: int
    row: tuple[str, ...] = ()
    context: frozenset[str] = frozenset()
    rows: int = 1


def flows(lines: list[Stretch]) -> list[tuple[int, int]]:
    """Stretches of prose: a line that goes on in small letters on the next is one with it."""
    found: list[tuple[int, int]] = []
    before = ""
    for line in lines:
        goes_on = re.match(r"[a-z]", line.text) and not re.search(r"[.:;!?]$", before.rstrip())
        if found and goes_on and line.end - found[-1][0] <= _LONGEST_STRETCH:
            found[-1] = (found[-1][0], line.end)
        else:
            found.append((line.start, line.end))
        before = line.text
    return found


def without_asides(text: str) -> str:
    """A label without its brackets and percentages."""
    return _ASIDE.sub(" ", text)


def label_of(text: str) -> tuple[str, ...]:
    """The words of a label without its aside: "Tax (8%)" is the tax."""
    return label_words(without_asides(text)) or label_words(text)


def phrases(text: str, start: int, end: int) -> Iterator[Fact]:
    """All values of one stretch of prose."""
    lead = re.match(r"[^:=.\n]{1,40}:(?=\s)", text[start:end])
    above = frozenset(label_of(lead.group())) if lead else frozenset()  # "Series B: ..." holds for the whole line
    breaks = [start, *(start + match.end() for match in _SENTENCE.finditer(text[start:end])), end]
    for first, last in pairwise(breaks):
        yield from _sentence(text, first, last, above)


def _sentence(text: str, start: int, end: int, above: frozenset[str]) -> Iterator[Fact]:
    spoken = canonical(tokens(text, start, end))
    places = [token.start for token in spoken]
    everything = frozenset(token.word for token in spoken) | above
    values = _values(text, start, end)
    edges = [start, *(match.end() for match in _CLAUSE.finditer(text, start, end))]
    edges = [edge for edge in edges if edge == start or text[edge - 1] not in ":()"]
    label: tuple[str, ...] = ()
    floor, aside = start, False
    for index, value in enumerate(values):
        bound = floor if aside else _bound(text, floor, edges, value.start)
        first, last = bisect_left(places, bound), bisect_left(places, value.start)
        words = tuple(token.word for token in spoken[max(first, last - 2 * _LONGEST) : last])
        if aside:
            words = tuple(word for word in words if not re.fullmatch(r"[\d.,]+|%|percent", word))
        between = text[values[index - 1].end : value.start] if index else "."
        if _PLACED.fullmatch(between):
            label = (*label, "position")  # "max 40 at 50"
        elif words or not isinstance(value.value, str) or not _JOINED.fullmatch(between):
            label = words  # else "Invoice A-1 of 3 May 2026": the date is the invoice's too
        year = _YEAR.fullmatch(text[max(0, value.start - 8) : value.end]) is not None
        if label:
            yield Fact("phrase", (*label[-_LONGEST:], *(["year"] * year)), value.start, value.end, (), everything)
        following = values[index + 1].start if index + 1 < len(values) else end
        if behind := _behind(text, value.end, following):
            yield Fact("after", behind, value.start, value.end, (), everything)
        aside = value.percent or year  # "tax (8%) $4", "in 2024 it was $4": these do not part words from values
        floor = floor if aside else value.end
    yield from _ranges(text, values, everything)
    yield from _is(text, start, end, above)


def _bound(text: str, floor: int, edges: list[int], place: int) -> int:
    """How far back the words of a value reach: to the value before, or to a comma that parts words."""
    edge = edges[bisect_right(edges, place) - 1]
    if edge <= floor:
        return floor
    spoken = re.search(r"[A-Za-z]{2}", text[edge:place])
    return edge if spoken else floor  # "The mean, over all points, 12.3"


def _behind(text: str, start: int, stop: int) -> tuple[str, ...]:
    """The noun right behind a number: "3 anomalies at ..." counts anomalies."""
    if not re.match(r" \w", text[start : start + 2]):
        return ()
    clause = _CLAUSE.search(text, start, stop)
    behind = tokens(text, start, min(clause.start() if clause else stop, start + 60))
    run = list(takewhile(lambda token: token.word not in STOP, behind))[:3]
    return tuple(token.word for token in canonical(run))


def _values(text: str, start: int, end: int) -> list[Value]:
    """Numbers, dates, small number words and ids, none inside another; p90, q1 and R2 are labels."""
    ids = [match for match in _ID.finditer(text, start, end) if not _LABEL_LIKE.fullmatch(match.group())]
    kinds = (
        dates(text, start, end),
        [Value(match.group(), *match.span()) for match in ids],
        numbers(text, start, end),
        small_numbers(text, start, end),
    )
    found: list[Value] = []
    for _, _, value in sorted((value.start, rank, value) for rank, kind in enumerate(kinds) for value in kind):
        if not found or value.start >= found[-1].end:
            found.append(value)
    return found


def _ranges(text: str, values: list[Value], context: frozenset[str]) -> Iterator[Fact]:
    """The lowest and the highest of a stated range, "ranges from 1.2 to 9.8"."""
    for low, high in pairwise(values):
        between = text[low.end : high.start].strip().lower()
        before = text[max(0, low.start - _LOOK_BACK) : low.start]
        if between in ("to", "and", "-", "\u2013", "..", "...") and _RANGE.search(before):
            yield Fact("phrase", ("min",), low.start, low.end, (), context)
            yield Fact("phrase", ("max",), high.start, high.end, (), context)


def _is(text: str, start: int, end: int, above: frozenset[str]) -> Iterator[Fact]:
    """What a subject is said to be: "The trend is rising"."""
    for match in _IS.finditer(text, start, end):
        subject = tokens(text, max(start, match.start() - _SUBJECT), match.start())
        label = tuple(token.word for token in canonical(subject))
        clause = _END_OF_CLAUSE.search(text, match.end(), end)
        stop = min(clause.start() if clause else end, match.end() + _PREDICATE)
        last = match.end() + len(text[match.end() : stop].rstrip())
        if label and match.end() < last:
            yield Fact("is", label[-_LONGEST:], match.end(), last, (), above)
