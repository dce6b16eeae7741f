"""Find the values of plain sentences and the words that say what they are.

"a mean of 12.3 and a median of 11": each value belongs to the words before it, back to the value before;
a number may also belong to the noun right behind it, "3 anomalies".
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from batchwork.reader.fact import Fact
from batchwork.reader.layout import Line
from batchwork.reader.values import Value, dates, numbers, small_numbers
from batchwork.reader.words import STOP, Token, canonical, tokens

_ID = re.compile(r"(?<![\w-])#?(?=[\w/-]*\d)[A-Za-z]{1,6}[-/]?\d[\w/-]*|(?<!\w)#\d[\w-]*")
_LABEL_LIKE = re.compile(r"[pPqQ]\d{1,2}|\d+(?:st|nd|rd|th)")
_CLAUSE = re.compile(r"[,;:.!?()\u2014](?=\s|$)|[;()|]|\s-\s")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\d\"'(-])")
_RANGE = re.compile(r"\b(?:from|between|range[sd]?|ranging)\b", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:is|are|was|were|remains?|shows?|shown|seems?|appears?|stays?|has|have|exhibits?|follows?|contains?)\b\s+",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s*(?:of|dated|from|on|,|\(|\u2014|-)?\s*")
_LOOK_BACK = 24
_LONGEST = 6


def flows(lines: list[Line]) -> Iterator[tuple[int, int]]:
    """Stretches of prose: a line that goes on in small letters on the next is one with it."""
    at = 0
    while at < len(lines):
        last = at
        while (
            last + 1 < len(lines)
            and lines[last + 1].start == lines[last].end + 1
            and re.match(r"[a-z]", lines[last + 1].text)
            and not re.search(r"[.:;!?]\s*$| {3,}\S", lines[last].text)
        ):
            last += 1
        yield lines[at].start, lines[last].end
        at = last + 1


def phrases(text: str, start: int, end: int, above: frozenset[str]) -> Iterator[Fact]:
    """All values of one stretch of prose."""
    breaks = [start, *(start + match.end() for match in _SENTENCE.finditer(text[start:end])), end]
    for first, last in pairwise(breaks):
        yield from _sentence(text, first, last, above)


def _sentence(text: str, start: int, end: int, above: frozenset[str]) -> Iterator[Fact]:
    spoken = canonical(tokens(text, start, end))
    everything = frozenset(token.word for token in spoken)
    values = _values(text, start, end)
    edges = [start, *(start + match.end() for match in _CLAUSE.finditer(text[start:end]))]
    label: tuple[str, ...] = ()
    for index, value in enumerate(values):
        bound, aside = _bound(text, values[:index], edges, value)
        said = tuple(token.word for token in spoken if bound <= token.start and token.end <= value.start)
        if aside:
            said = tuple(word for word in said if not re.fullmatch(r"[\d.,]+|%|percent", word))
        if said or not (index and _JOINED.fullmatch(text[values[index - 1].end : value.start])):
            label = said  # else "Invoice A-1 of 3 May 2026": the date is the invoice's too
        context = (everything - frozenset(label)) | above
        if label:
            yield Fact("phrase", label[-_LONGEST:], value.start, value.end, (), context)
        following = values[index + 1].start if index + 1 < len(values) else end
        stop = min([following, *(edge for edge in edges if edge > value.end)])
        behind = _behind(text, value.end, stop)
        if behind:
            yield Fact("after", behind, value.start, value.end, (), context)
    yield from _ranges(text, values, everything | above)
    yield from _is(text, start, end, above)


def _bound(text: str, earlier: list[Value], edges: list[int], value: Value) -> tuple[int, bool]:
    """How far back the words of a value reach, and whether a percentage stands between, "tax (8%) $4"."""
    floor = max([edges[0], *(other.end for other in earlier if not other.percent)])
    if any(other.percent and other.start >= floor for other in earlier):
        return floor, True
    bound = max([floor, *(edge for edge in edges if edge <= value.start and text[edge - 1] not in ":()")])
    spoken = re.search(r"[A-Za-z]{2}", text[bound : value.start])
    return (bound if spoken else floor), False  # "The mean, over all points, 12.3": a comma alone parts nothing


def _behind(text: str, start: int, stop: int) -> tuple[str, ...]:
    """The noun right behind a number: "3 anomalies at ..." counts anomalies."""
    run: list[Token] = []
    for token in tokens(text, start, stop):
        if token.word in STOP or len(run) == 3:
            break
        run.append(token)
    return tuple(token.word for token in canonical(run))


def _values(text: str, start: int, end: int) -> list[Value]:
    """Numbers, dates, small number words and ids, none inside another."""
    found: list[Value] = []
    kinds = (
        dates(text, start, end),
        _ids(text, start, end),
        numbers(text, start, end),
        small_numbers(text, start, end),
    )
    for value in (value for kind in kinds for value in kind):
        if not any(value.start < other.end and other.start < value.end for other in found):
            found.append(value)
    return sorted(found, key=lambda value: value.start)


def _ids(text: str, start: int, end: int) -> Iterator[Value]:
    for match in _ID.finditer(text, start, end):
        if not _LABEL_LIKE.fullmatch(match.group()):  # p90 and q1 are labels
            yield Value(match.group(), match.start(), match.end())


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
        label = tuple(token.word for token in canonical(tokens(text, start, match.start())))
        clause = re.search(r"[.;!?](?=\s|$)|,\s(?:and|but|while|with)\b", text[match.end() : end])
        stop = match.end() + clause.start() if clause else end
        last = len(text[:stop].rstrip())
        if label and match.end() < last:
            yield Fact("is", label[-_LONGEST:], match.end(), last, (), above)
