"""Find every number in a text; what each says is read only when it is asked for.

Whatever sign, percent or magnitude stands beside a numeral, its value has the same significant digits. So numerals are
kept by their digits, and those that cannot say a value are never read.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from batchwork.evidence.reading.dressing import CURRENCY, DASHES, dressed
from batchwork.evidence.reading.mention import Mention, Reading
from batchwork.evidence.reading.numberwords import spelled_numbers
from batchwork.evidence.reading.numerals import COMMA, POINT, decimal_habit, readings_of

_NUMERAL = re.compile(
    r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d])"  # grouped by blanks
    r"|\d+(?:['’]\d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)*"
)
_GLUE = re.compile(r"[-/_.:@\\][^\W_]")
_MONEY_HEAD = re.compile(rf"(?<![A-Za-z]){CURRENCY}[{DASHES}]?$")
_MARKS = re.compile(r"\D")
# Two measures written as one, a blood pressure or a score out of so many; no halves, no dates, no ids.
_PAIR = re.compile(
    r"(?<![\w/\\.,:-])(?!\d/\d(?!\d)|24/7)[1-9]\d{0,2}(?:[.,]\d)?(?P<slash>/)[1-9]\d{0,2}(?:[.,]\d)?(?![\w/\\]|[.,:-]\w)"
)
_TOUCHES = DASHES + "/\\:@.,'’"
_REACH = 40  # characters behind a numeral that may still be its own


class Numbers:
    """All numbers of a text, by their rank; `taken` are the places that dates occupy."""

    def __init__(self, text: str, taken: list[tuple[int, int]]) -> None:
        self._text = text
        self._taken = sorted(taken)
        self.starts: list[int] = []
        self._numerals: list[str] = []
        self._known: dict[int, Mention | None] = {}
        self._by_digits: dict[str, list[int]] = {}
        found = [(match.start(), match.group()) for match in _NUMERAL.finditer(text)]
        self._slashes = {match.start("slash") for match in _PAIR.finditer(text)} if "/" in text else set()
        self._habits = self._find_habits(found)
        self._shown = [position for position, _ in self._habits]
        commas = sum(1 for _, habit in self._habits if habit == COMMA)
        self._habit = None if not self._habits else (COMMA if 2 * commas > len(self._habits) else POINT)
        for start, numeral in found:
            self._keep(start, numeral)
        for mention in spelled_numbers(text):
            self._known[len(self.starts)] = mention
            self._enter(mention.start, str(mention.readings[0].value))

    @property
    def mentions(self) -> list[Mention]:
        """All of them, read."""
        read = (self.mention(rank) for rank in range(len(self.starts)))
        return [mention for mention in read if mention is not None]

    def saying(self, digits: str) -> Iterator[Mention]:
        """Those with these significant digits."""
        for rank in self._by_digits.get(digits.strip("0"), ()):
            mention = self.mention(rank)
            if mention is not None:
                yield mention

    def mention(self, rank: int) -> Mention | None:
        """What stands at a rank; None when it is no number after all (a version, an address)."""
        if rank not in self._known:
            first = rank
            while first - 1 not in self._known and self._leans_on_last(first):
                first -= 1
            for place in range(first, rank + 1):  # each needs to know what the one before took
                self._known[place] = self._read(place)
        return self._known[rank]

    def _keep(self, start: int, numeral: str) -> None:
        if " " in numeral and not self._is_one(numeral, start):
            position = start
            for piece in numeral.split(" "):
                self._keep(position, piece)
                position += len(piece) + 1
        if not self._in_date(start) and self._glued(start, start + len(numeral)):
            return
        self._enter(start, numeral)

    def _enter(self, start: int, numeral: str) -> None:
        self._by_digits.setdefault(_MARKS.sub("", numeral).strip("0"), []).append(len(self.starts))
        self.starts.append(start)
        self._numerals.append(numeral)

    def _leans_on_last(self, rank: int) -> bool:
        """Whether what the number before takes may reach up to this one."""
        if rank == 0:
            return False
        end, start = self._end(rank - 1), self.starts[rank]
        return end <= start < end + _REACH and not self._text[end:start].isspace()

    def _end(self, rank: int) -> int:
        return self.starts[rank] + len(self._numerals[rank])

    def _read(self, rank: int) -> Mention | None:
        start, end = self.starts[rank], self._end(rank)
        values = readings_of(self._numerals[rank], self._habit_near(start))
        if not values:
            return None
        if self._in_date(start):
            return Mention(start, end, (Reading(values[0][0], 0.6, "part"),), start)
        last = self._known.get(rank - 1) if self._leans_on_last(rank) else None
        return dressed(self._text, start, end, values, 0 if last is None else last.end)

    def _find_habits(self, numerals: list[tuple[int, str]]) -> list[tuple[int, str]]:
        habits = []
        for start, numeral in numerals:
            habit = decimal_habit(numeral)
            if habit is not None and not self._in_date(start) and not self._glued(start, start + len(numeral)):
                habits.append((start, habit))
        if not habits and re.search(r"\d\.\d{3} ?€", self._text):
            return [(0, COMMA)]  # who writes the sign behind the amount writes a decimal comma
        return habits

    def _habit_near(self, position: int) -> str | None:
        """The habit of the nearest numeral that shows one, else that of the text."""
        place = bisect_left(self._shown, position)
        near = [self._habits[index] for index in (place - 1, place) if 0 <= index < len(self._habits)]
        near = [entry for entry in near if abs(entry[0] - position) < 200]
        if not near:
            return self._habit
        if len({habit for _, habit in near}) == 1:
            return near[0][1]
        return min(near, key=lambda entry: abs(entry[0] - position))[1]

    def _in_date(self, position: int) -> bool:
        place = bisect_left(self._taken, (position + 1, 0)) - 1
        return place >= 0 and self._taken[place][0] <= position < self._taken[place][1]

    def _glued(self, start: int, end: int) -> bool:
        """Whether the digits are part of an id, a version, a phone number or a time."""
        text = self._text
        before = text[start - 1] if start else " "
        if start - 1 in self._slashes or end in self._slashes:
            return False
        if before.isalpha() or before == "_":
            return _MONEY_HEAD.search(text[max(0, start - 5) : start]) is None
        if before in _TOUCHES and start > 1 and text[start - 2].isalnum():
            if before in DASHES and text[start - 2].isdigit():
                return self._chained(start)
            return before not in DASHES or _MONEY_HEAD.search(text[max(0, start - 6) : start]) is None
        return bool(end < len(text) and _GLUE.match(text, end) and not self._is_range(end))

    def _is_range(self, end: int) -> bool:
        return self._text[end] in DASHES and self._text[end + 1].isdigit() and not self._chained(end + 1)

    def _chained(self, start: int) -> bool:
        """Whether the hyphen before `start` joins more than the two ends of a range, or parts too long for one."""
        around = re.search(r"[^\s]*$", self._text[max(0, start - 30) : start])
        head = around.group() if around else ""
        tail = re.match(r"[^\s,;)]*", self._text[start : start + 30])
        joined = head + (tail.group() if tail else "")
        return sum(joined.count(dash) for dash in DASHES) > 1 or bool(re.search(r"[A-Za-z]\d|\d{6}|(?<!\d)0\d", joined))

    def _is_one(self, numeral: str, start: int) -> bool:
        """Whether digits with plain blanks between are surely one number; else its pieces count too."""
        return (
            bool(re.search(r"[.,]\d{1,2}$", numeral)) and self._habit_near(start) == COMMA and numeral.count(" ") == 1
        )
