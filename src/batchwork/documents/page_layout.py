"""Characters with boxes -> the text of a page.

Pure geometry. Characters become runs, runs become lines, lines keep their columns: a wide gap becomes as many spaces as
it is wide, so that a heading stands above its figures in the text as it does on the page. Columns of prose, which are
to be read one after the other, are taken apart; the rows of a table are not.

A page may be made to hold us up, so the work grows no faster than the page: the search for columns, which compares
lines with lines, ends when it has looked at every run a bounded number of times.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

Glyph = tuple[str, float, float, float, float]  # character, left, right, bottom, top

_SPACE_GAP = 0.14  # in heights: wider than this between two characters is a space
_DRAWN_GAP = 0.04  # and a drawn space is believed when there is any gap at all
_CELL_GAP = 0.95  # wider than this is another cell
_PARAGRAPH_GAP = 0.75  # a white strip higher than this between two lines is a blank line
_WORDY = 26  # characters a line of prose has on average, even in a narrow column
_LOOKS = 100  # at each run, on average, in search of columns
_LOOKS_ANYWAY = 100_000  # which leaves real pages more than twice what any of 1,100 needed
_WIDEST = 2_000  # characters of a line after which a run stands where the last one ends
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n[ ]*([^\W\d_A-ZÀ-ÖØ-Þ][^\s]*)[ ]*")


@dataclass(slots=True)
class Run:
    """Characters drawn one after the other on one line, without a wide gap."""

    pieces: list[str]
    left: float
    right: float
    bottom: float
    top: float
    order: int
    text: str = ""  # the pieces joined, once all of them are there

    @property
    def height(self) -> float:
        """From the descenders to the ascenders."""
        return self.top - self.bottom


Line = list[Run]


class _Work:
    """How many runs may still be looked at in search of columns."""

    def __init__(self, runs: int) -> None:
        self._left = _LOOKS_ANYWAY + _LOOKS * runs

    def allows(self, runs: int) -> bool:
        self._left -= runs
        return self._left >= 0


def page_text(glyphs: list[Glyph]) -> str:
    """The page as lines of text, in reading order."""
    runs = _runs(glyphs)
    if not runs:
        return ""
    widths = [(run.right - run.left) / len(run.text) for run in runs if len(run.text) > 1]
    unit = max(median(widths) if widths else 5.0, 0.5)
    lines = _lines(runs)
    blocks: list[str] = []
    for block in _blocks(lines, _Work(len(runs))):
        left = min(run.left for line in block for run in line)
        blocks.append(join_hyphens(_render(block, left, unit)))
    return "\n\n".join(blocks)


def join_hyphens(text: str) -> str:
    """Words hyphenated at a line's end made whole; the line ends after them. Ids and names keep their hyphen."""
    return _HYPHENATED.sub(lambda found: found.group(1) + "\n", text)


def _runs(glyphs: list[Glyph]) -> list[Run]:
    runs: list[Run] = []
    current: Run | None = None
    spaced = False
    for char, left, right, bottom, top in glyphs:
        if char.isspace():
            spaced = True  # gaps say more than drawn spaces, which some producers leave out and others stretch
            continue
        if current is not None:
            height = max(min(top - bottom, current.height), 1.0)
            overlap = min(top, current.top) - max(bottom, current.bottom)
            gap = left - current.right
            if overlap > 0.5 * height and -0.6 * height < gap <= _CELL_GAP * height:
                current.pieces.append(" " + char if gap > (_DRAWN_GAP if spaced else _SPACE_GAP) * height else char)
                spaced = False
                current.right = max(right, current.right)
                current.bottom, current.top = min(current.bottom, bottom), max(current.top, top)
                continue
        spaced = False
        current = Run(pieces=[char], left=left, right=right, bottom=bottom, top=top, order=len(runs))
        runs.append(current)
    for run in runs:
        run.text = "".join(run.pieces)
        run.pieces = [run.text]
    return runs


def _lines(runs: list[Run]) -> list[Line]:
    lines: list[Line] = []
    for run in sorted(runs, key=lambda run: -(run.top + run.bottom)):
        middle = (run.top + run.bottom) / 2
        for line in lines[-3:]:
            first = line[0]
            if first.bottom + 0.15 * first.height < middle < first.top - 0.15 * first.height:
                line.append(run)
                break
        else:
            lines.append([run])
    return [_merged(sorted(line, key=lambda run: run.left)) for line in lines]


def _merged(line: Line) -> Line:
    """Runs that were drawn apart but stand close together are one: many producers draw word by word."""
    merged: Line = []
    length = 0  # of the last one
    for run in line:
        if merged:
            last = merged[-1]
            if abs(run.left - last.left) < 0.2 * last.height and len(run.text) == length:
                last.pieces = ["".join(last.pieces)]
                if run.text == last.pieces[0]:
                    continue  # bold by drawing twice
            gap, height = run.left - last.right, max(1.0, min(run.height, last.height))
            if gap <= _CELL_GAP * height:
                last.pieces.append(run.text if gap <= _SPACE_GAP * height else " " + run.text)
                length += len(last.pieces[-1])
                last.right = max(last.right, run.right)
                continue
        merged.append(run)
        length = len(run.text)
    for run in merged:
        run.text = "".join(run.pieces)
    return merged


def _blocks(lines: list[Line], work: _Work) -> list[list[Line]]:
    """The lines in reading order, cut where columns of prose stand side by side."""
    done: list[list[Line]] = []
    waiting: list[Line] = []
    index = 0
    while index < len(lines):
        cut = _column_cut(lines, index, work)
        if cut is None:
            waiting.append(lines[index])
            index += 1
            continue
        end, gutter = cut
        if waiting:
            done.append(waiting)
            waiting = []
        region = lines[index:end]
        work.allows(sum(map(len, region)))
        for side in (
            [[run for run in line if run.right <= gutter] for line in region],
            [[run for run in line if run.right > gutter] for line in region],
        ):
            done.extend(_blocks([line for line in side if line], work))
        index = end
    if waiting:
        done.append(waiting)
    return done


def _column_cut(lines: list[Line], start: int, work: _Work) -> tuple[int, float] | None:
    """Where columns that start at this line end, and a gutter's x; None when they are none or cells of a table."""
    line = lines[start]
    for left, right in pairwise(line):
        low, high = left.right, right.left
        end, both = start, 0
        while end < len(lines):
            if not work.allows(len(lines[end])):
                return None
            before = [run.right for run in lines[end] if run.left < (low + high) / 2]
            after = [run.left for run in lines[end] if run.left >= (low + high) / 2]
            new_low, new_high = max([low, *before]), min([high, *after])
            if new_high - new_low < 0.6 * line[0].height:
                break
            low, high = new_low, new_high
            both += bool(before and after)
            end += 1
        if both < 3:
            continue
        for stop in (end, _first_blank(lines, start, end)):
            if _reads_downwards(lines[start:stop], (low + high) / 2):
                return stop, (low + high) / 2
    return None


def _first_blank(lines: list[Line], start: int, end: int) -> int:
    """The line after the first white strip: what stands below it may be another thing in the same columns."""
    for index in range(start + 1, end):
        above = min(run.bottom for run in lines[index - 1])
        top, bottom = max(run.top for run in lines[index]), min(run.bottom for run in lines[index])
        if above - top > _PARAGRAPH_GAP * (top - bottom):
            return index
    return end


def _reads_downwards(region: list[Line], gutter: float) -> bool:
    """Whether the two sides are texts of their own rather than cells of common rows."""
    lefts = [run for line in region for run in line if run.right <= gutter]
    rights = [run for line in region for run in line if run.right > gutter]
    if min(len(lefts), len(rights)) < 3:
        return False
    if max(len(line) for line in region) <= 2 and all(
        sum(len(run.text) for run in side) / len(side) >= _WORDY for side in (lefts, rights)
    ):
        return True
    drawn_apart = max(run.order for run in lefts) < min(run.order for run in rights)
    drawn_apart = drawn_apart or max(run.order for run in rights) < min(run.order for run in lefts)
    if not drawn_apart:
        return False
    figures = sum(1 for run in rights if _mostly_digits(run.text)) / len(rights)
    labels = sum(1 for run in lefts if run.text.endswith(":")) / len(lefts)
    return figures < 0.3 and labels < 0.5


def _mostly_digits(text: str) -> bool:
    digits = sum(1 for char in text if char.isdigit())
    return digits * 2 >= sum(1 for char in text if char.isalnum()) > 0


def _render(lines: list[Line], left: float, unit: float) -> str:
    rows: list[str] = []
    below: float | None = None
    for line in lines:
        top, bottom = max(run.top for run in line), min(run.bottom for run in line)
        if below is not None and below - top > _PARAGRAPH_GAP * (top - bottom):
            rows.append("")
        below = bottom
        row = ""
        for run in line:
            position = (run.left - left) / unit
            column = round(position) if position <= _WIDEST else _WIDEST  # also for what is no number
            row += " " * max(column - len(row), 2 if row else 0) + run.text
        rows.append(row)
    return "\n".join(rows)
