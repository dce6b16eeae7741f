"""Which lines are rows of comma or semicolon separated values, and where their cells start and end.

A single line cannot tell: prose has commas too. Rows show themselves by having the same count of separators several
lines on end, without blanks behind them and not only inside numbers. The lines right above and below that have fewer
("# Exported,2024-08-30") are pairs of a label and a value in the same writing.
"""

import re
from dataclasses import dataclass

_STEADY = 3
_QUOTED = re.compile(r'"[^"]*"')
_MARKS = ((";", re.compile(r";")), (",", re.compile(r",(?=\S|$)")))
_ALIGNED = re.compile(r"  |\t|\. |[|│┃║]")  # written for the eye, in columns or in sentences
_IN_NUMBER = {";": re.compile(r"(?!)"), ",": re.compile(r"(?<=\d),(?=\d)")}


@dataclass(frozen=True, slots=True)
class Separated:
    """The separator of every line that is cut by one; `pairs` are those beside the rows, no rows themselves."""

    marks: dict[int, str]
    pairs: frozenset[int]


def separated(raw_lines: list[str]) -> Separated:
    """The lines of a text that are separated values."""
    marks: dict[int, str] = {}
    pairs: set[int] = set()
    bare = [_QUOTED.sub("", raw) if '"' in raw else raw for raw in raw_lines]
    for mark, pattern in _MARKS:
        counts = [
            0 if mark not in raw or number in marks or _ALIGNED.search(raw) else len(pattern.findall(raw))
            for number, raw in enumerate(bare)
        ]
        for first, last in _runs(counts):
            if all(counts[number] == len(_IN_NUMBER[mark].findall(bare[number])) for number in range(first, last)):
                continue  # figures with their thousands, below each other
            marks.update(dict.fromkeys(range(first, last), mark))
            beside = [*_beside(counts, range(first - 1, -1, -1)), *_beside(counts, range(last, len(counts)))]
            marks.update(dict.fromkeys(beside, mark))
            pairs.update(beside)
    return Separated(marks, frozenset(pairs))


def _runs(counts: list[int]) -> list[tuple[int, int]]:
    """Where the same count, of two separators or more, stands several lines on end."""
    runs = []
    first = 0
    for number in range(1, len(counts) + 1):
        if number == len(counts) or counts[number] != counts[first]:
            if counts[first] >= 2 and number - first >= _STEADY:
                runs.append((first, number))
            first = number
    return runs


def _beside(counts: list[int], numbers: range) -> list[int]:
    """The lines next to a run that have one separator each."""
    found = []
    for number in numbers:
        if counts[number] != 1:
            break
        found.append(number)
    return found


def pieces(raw: str, mark: str) -> list[tuple[int, int]]:
    """Where the cells of a line stand, without the quotes around them."""
    found: list[tuple[int, int]] = []
    position, quoted = 0, False
    for index, char in enumerate(raw):
        if char == '"':
            quoted = not quoted
        elif char == mark and not quoted:
            found.append((position, index))
            position = index + 1
    found.append((position, len(raw)))
    return [
        (low + 1, high - 1) if high - low >= 2 and raw[low] == raw[high - 1] == '"' else (low, high)
        for low, high in found
    ]
