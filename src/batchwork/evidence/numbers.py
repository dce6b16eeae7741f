"""Find every number in a text, with the sign, currency, percent sign and magnitude that touch it.

Whatever stands beside a numeral, its value has the same significant digits. So numerals are kept by their digits, and
those that cannot say a value are never read. A parenthesis around an amount alone in its cell or after a colon makes it
negative as accountants write it; one that follows a word is an aside ("tax (8%)", "thirty (30) days").
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from batchwork.evidence.numerals import COMMA, POINT, Mention, Reading, decimal_habit, readings_of, spelled_numbers
from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["numbers"]
_BEFORE = re.compile(_PATTERNS["before"])
_MAGNITUDE = re.compile(_PATTERNS["magnitude"])
_AFTER_SIGN = re.compile(_PATTERNS["sign_after"])
_NUMERAL = re.compile(_PATTERNS["numeral"])
_MONEY_HEAD = re.compile(_PATTERNS["money_head"])
_PERCENT = re.compile(r"[ \u00a0\u202f]?(?:%|(?:percent|per cent|pct|Prozent|pour cent|por ciento)\b)")
_MAGNITUDES = {
    "k": 3, "thousand": 3, "tsd": 3, "tausend": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "mln": 6, "m": 6,
    "millionen": 6, "billion": 9, "billions": 9, "bn": 9, "mrd": 9, "b": 9, "milliarden": 9, "trillion": 12,
    "lakh": 5, "crore": 7,
}  # fmt: skip
_GLUED = re.compile(r"[-_/.]\w")
_DASHES = "-−–‐‑"
_GLUE = re.compile(r"[-/_.:@\\][^\W_]")
_MARKS = re.compile(r"\D")
_EXPONENT = re.compile(r"[eE].*")
_ID = re.compile(r"[A-Za-z]\d|\d{6}|(?<!\d)0\d")
_TOUCHES = _DASHES + "/\\:@.,'’"
_REACH = 40  # characters behind a numeral that may still be its own


class Numbers:
    """All numbers of a text, by their rank; `taken` are the places that dates occupy."""

    def __init__(self, text: str, taken: list[tuple[int, int]]) -> None:
        self._text = text
        self._taken = sorted(taken)
        self.starts: list[int] = []
        self._numerals: list[str] = []
        self._known: dict[int, Mention | None] = {}
        self._by_digits: dict[str, list[int]] = defaultdict(list)
        found = [(match.start(), match.group()) for match in _NUMERAL.finditer(text)]
        free = [numeral for start, numeral in found if not self._in_date(start) and not self._glued(start, numeral)]
        habits = [habit for habit in map(decimal_habit, free) if habit is not None]
        self._habit = max((COMMA, POINT), key=habits.count) if habits else None  # the decimal separator of the text
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
        read = (self.mention(rank) for rank in self._by_digits.get(digits.strip("0"), ()))
        return (mention for mention in read if mention is not None)

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
        if " " in numeral:  # one number, or several with blanks between
            position = start
            for piece in numeral.split(" "):
                self._keep(position, piece)
                position += len(piece) + 1
        if self._in_date(start) or not self._glued(start, numeral):
            self._enter(start, numeral)

    def _enter(self, start: int, numeral: str) -> None:
        self._by_digits[_MARKS.sub("", _EXPONENT.sub("", numeral)).strip("0")].append(len(self.starts))
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
        values = readings_of(self._numerals[rank], self._habit)
        if not values:
            return None
        if self._in_date(start):
            return Mention(start, end, (Reading(values[0][0], 0.6, "part"),))
        last = self._known.get(rank - 1) if self._leans_on_last(rank) else None
        return _dressed(self._text, start, end, values, 0 if last is None else last.end)

    def _in_date(self, position: int) -> bool:
        place = bisect_left(self._taken, (position + 1, 0)) - 1
        return place >= 0 and self._taken[place][0] <= position < self._taken[place][1]

    def _glued(self, start: int, numeral: str) -> bool:
        """Whether the digits are part of an id, a version, a phone number or a time."""
        text, end = self._text, start + len(numeral)
        before = text[start - 1] if start else " "
        if before.isalpha() or before == "_":
            return _MONEY_HEAD.search(text[max(0, start - 5) : start]) is None
        if before in _TOUCHES and start > 1 and text[start - 2].isalnum():
            if before in _DASHES and text[start - 2].isdigit():
                return self._is_chained(start)
            return before not in _DASHES or _MONEY_HEAD.search(text[max(0, start - 6) : start]) is None
        is_range = text[end : end + 1] in tuple(_DASHES) and text[end + 1 : end + 2].isdigit()
        return _GLUE.match(text, end) is not None and not (is_range and not self._is_chained(end + 1))

    def _is_chained(self, start: int) -> bool:
        """Whether the hyphen before `start` joins more than the two ends of a range, or parts too long for one."""
        head = self._text[max(0, start - 30) : start].split()[-1:]
        tail = re.match(r"[^\s,;)]*", self._text[start : start + 30])
        joined = "".join(head) + (tail.group() if tail else "")
        return sum(map(joined.count, _DASHES)) > 1 or _ID.search(joined) is not None


def _dressed(text: str, core: int, end: int, values: list[tuple[Decimal, float]], taken: int) -> Mention:
    """The number with what touches it, and what that makes of its value; nothing before `taken` is its own."""
    start, negative, currency, opened = _leading(text, core, taken)
    numeral_end = end
    end, exponent, percent, after_currency = _behind(text, end, currency)
    closing = re.compile(r"\s?\)").match(text, end) if opened >= 0 else None
    if closing is not None:
        inner = opened >= start  # $(1,250)
        if inner or _is_accounting(text, opened, closing.end(), percent, amount=text[core:numeral_end]):
            negative, start, end = True, min(start, opened), closing.end()
            if not exponent:
                end, exponent, percent, behind = _behind(text, end, currency)
                after_currency = after_currency or behind
    elif re.match(r"[-−](?!\S)", text[end : end + 2]) and re.search(r"[.,]\d\d$", text[core:end]):
        negative, end = True, end + 1  # 1,250.00- as some ledgers print it
    factor = Decimal(10) ** exponent * (-1 if negative else 1)
    readings = [Reading(value * factor, weight) for value, weight in values]
    if percent:
        readings = [
            shared
            for one in readings
            if isinstance(one.value, Decimal)
            for shared in (Reading(one.value / 100, one.weight, "fraction"), Reading(one.value, one.weight, "percent"))
        ]
    if exponent and text[end - 1] in "kKmMbB" and not (currency or after_currency):
        readings += [Reading(-value if negative else value, 0.6) for value, _ in values]  # 1200k: 1200 of a unit k
    return Mention(start, end, tuple(readings), money=currency or after_currency)


def _leading(text: str, core: int, taken: int) -> tuple[int, bool, bool, int]:
    """Where a number starts with its sign and currency, whether it is negative, has a currency, and its bracket."""
    window = text[max(0, core - 12, min(core, taken)) : core]  # what another number took is not ours
    before = _BEFORE.search(window)
    if before is None or "\n" in before.group():
        return core, False, False, -1
    shift = core - len(window)
    lead = shift + before.start()
    stands_free = lead == 0 or not (text[lead - 1].isalnum() or text[lead - 1] in ")%" + _DASHES)
    spaced = (before["sign"] or "x")[-1].isspace() and not (
        before["currency"] and not text[max(0, lead - 3) : lead].rstrip(" ")[-1:].isdigit()
    )
    signed = bool(before["sign2"]) or (bool(before["sign"]) and stands_free and not spaced)
    sign = (before["sign"] or before["sign2"] or "").strip()
    start = core
    if signed:
        start = shift + before.end("open") if before["open"] else lead
    elif before["currency"]:
        start = shift + before.start("currency")
    bracket = next((shift + before.start(name) for name in ("open", "open2") if (before[name] or " ")[0] == "("), -1)
    return start, signed and sign != "+", bool(before["currency"]), bracket


def _behind(text: str, end: int, currency: bool) -> tuple[int, int, bool, bool]:
    """The end with percent sign, magnitude and currency, the power of ten, and whether it is a percentage."""
    percent = _PERCENT.match(text, end)
    if percent:
        return percent.end(), 0, True, False
    exponent = 0
    magnitude = _MAGNITUDE.match(text, end)
    if magnitude:
        gap, word = magnitude.group(1) or "", magnitude.group(2)
        behind = _AFTER_SIGN.match(text, magnitude.end())
        if len(word) > 1:
            told = True
        elif "\n" in gap or _GLUED.match(text, magnitude.end()):
            told = False  # the first letter of what stands below, or of an id
        else:
            told = bool(not gap and (currency or behind or word in "kKM")) or (currency and word in "mMbB")
        if told:
            end, exponent = magnitude.end(), _MAGNITUDES[word.lower()]
    after = None if currency else _AFTER_SIGN.match(text, end)
    return end if after is None else after.end(), exponent, False, after is not None


def _is_accounting(text: str, outer: int, closing: int, percent: bool, *, amount: str) -> bool:
    """Whether a parenthesis makes its number negative."""
    before = text[text.rfind("\n", 0, outer) + 1 : outer]
    if text[closing : closing + 1].isalnum():
        return False
    if not before.strip() or re.search(r"  $|\t$|[|│=:]\s*$|\.{3,}\s?$", before):
        return before.rstrip().endswith(":") or re.match(r"[ \u00a0]?[A-Za-z]", text[closing : closing + 2]) is None
    if re.search(r"[\d)%][ \t]$", before):  # after another figure of the row, unless a sentence goes on
        return not percent and re.match(r" [a-zà-ÿ]{2}|[.,;](?:\s|$)", text[closing : closing + 3]) is None
    ends_cell = re.match(r"\s*$|\s{2,}|\t|\s*\n|\s[(\d]", text[closing : closing + 4]) is not None
    return not percent and "." in amount.replace(",", ".") and ends_cell and not re.search(r"[.!?,;][ \t]$", before)
