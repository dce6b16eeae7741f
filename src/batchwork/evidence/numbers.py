"""Find every number in a text, with the sign, currency, percent sign and magnitude that touch it.

Whatever stands beside a numeral, its value has the same significant digits. So numerals are kept by their digits, and
those that cannot say a value are never read. A parenthesis around an amount alone in its cell or after a colon makes it
negative as accountants write it; one that follows a word is an aside ("tax (8%)", "thirty (30) days").
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from decimal import Decimal

from batchwork.evidence.numerals import COMMA, POINT, Mention, Reading, decimal_habit, readings_of, spelled_numbers
from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["numbers"]

_CODES = (
    "USD EUR GBP CHF JPY CAD AUD NZD SEK NOK DKK PLN CZK HUF INR CNY RMB BRL MXN ZAR SGD HKD TRY ILS KRW RUB RON BGN"
    " AED SAR THB"
)
_CURRENCY = (
    r"(?:(?:US|CA|AU|NZ|HK|SG|C|A|R|S|NT|MX)?[$]|[€£¥₹₽₩₺₫฿₴₪]|Rs\.?|(?:" + "|".join(_CODES.split()) + r")(?![A-Za-z]))"
)
_SIGN_AFTER = (
    r"(?:[€£¥₹₽₩₺₫฿₴₪]|[$](?![\d(])|(?:"
    + "|".join(_CODES.split())
    + r"|kr|zł|Kč|Ft|lei|[Ee]uros?|[Dd]ollars?|[Pp]ounds?|Fr\.|Franken)(?![A-Za-z]))"
)
_BEFORE = re.compile(_PATTERNS["before"])
_PERCENT = re.compile(r"[ \u00a0\u202f]?(?:%|(?:percent|per cent|pct|Prozent|pour cent|por ciento)\b)")
_MAGNITUDES = {
    "k": 3, "thousand": 3, "tsd": 3, "tausend": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "mln": 6, "m": 6,
    "millionen": 6, "billion": 9, "billions": 9, "bn": 9, "mrd": 9, "b": 9, "milliarden": 9, "trillion": 12,
    "lakh": 5, "crore": 7,
}  # fmt: skip
_MAGNITUDE = re.compile(_PATTERNS["magnitude"])
_AFTER_SIGN = re.compile(rf"[ \u00a0\u202f]?{_SIGN_AFTER}")
_TAIL = re.compile(r"([A-Za-zµ°²³]+)")
_GLUED = re.compile(r"[-_/.]\w")
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_DASHES = "-−–‐‑"
_NUMERAL = re.compile(_PATTERNS["numeral"])
_GLUE = re.compile(r"[-/_.:@\\][^\W_]")
_UNIT = re.compile(r"-[A-Za-z][a-z]{2,}(?![\w/.-]*\d)")  # a 30-day notice
_MONEY_HEAD = re.compile(rf"(?<![A-Za-z]){_CURRENCY}[{_DASHES}]?$")
_MARKS = re.compile(r"\D")
_EXPONENT = re.compile(r"[eE].*")
_PAIR = re.compile(_PATTERNS["pair"])
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
        if " " in numeral:
            position = start
            for piece in numeral.split(" "):
                self._keep(position, piece)
                position += len(piece) + 1
        if not self._in_date(start) and self._glued(start, start + len(numeral)):
            return
        self._enter(start, numeral)

    def _enter(self, start: int, numeral: str) -> None:
        self._by_digits.setdefault(_MARKS.sub("", _EXPONENT.sub("", numeral)).strip("0"), []).append(len(self.starts))
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
        return _dressed(self._text, start, end, values, 0 if last is None else last.end)

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
            if before in _DASHES and text[start - 2].isdigit():
                return self._chained(start)
            return before not in _DASHES or _MONEY_HEAD.search(text[max(0, start - 6) : start]) is None
        return bool(
            end < len(text) and _GLUE.match(text, end) and not self._is_range(end) and not _UNIT.match(text, end)
        )

    def _is_range(self, end: int) -> bool:
        return self._text[end] in _DASHES and self._text[end + 1].isdigit() and not self._chained(end + 1)

    def _chained(self, start: int) -> bool:
        """Whether the hyphen before `start` joins more than the two ends of a range, or parts too long for one."""
        around = re.search(r"[^\s]*$", self._text[max(0, start - 30) : start])
        head = around.group() if around else ""
        tail = re.match(r"[^\s,;)]*", self._text[start : start + 30])
        joined = head + (tail.group() if tail else "")
        return sum(joined.count(dash) for dash in _DASHES) > 1 or bool(
            re.search(r"[A-Za-z]\d|\d{6}|(?<!\d)0\d", joined)
        )


def _dressed(text: str, start: int, end: int, values: list[tuple[Decimal, float]], taken: int) -> Mention:
    """The number with what touches it, and what that makes of its value; nothing before `taken` is its own."""
    core = start
    window = text[max(0, start - 12, min(start, taken)) : start]  # what another number took is not ours
    before = _BEFORE.search(window)
    if before and "\n" in before.group():
        before = None
    groups = before.groupdict() if before else {}
    currency = bool(groups.get("currency"))
    negative = False
    if before:
        lead = start - (len(window) - before.start())
        sign = (groups.get("sign") or groups.get("sign2") or "").strip()
        stands_free = lead == 0 or not (text[lead - 1].isalnum() or text[lead - 1] in ")%" + _DASHES)
        spaced_dash = bool(groups.get("sign")) and groups["sign"][-1].isspace()
        spaced_dash = spaced_dash and not (currency and not text[max(0, lead - 3) : lead].rstrip(" ")[-1:].isdigit())
        opened = len(groups.get("open") or "")
        if sign and sign != "+" and ((stands_free and not spaced_dash) or groups.get("sign2")):
            negative = True
            start = lead + opened
        elif currency:
            start = lead + opened + len(groups.get("sign") or "")
        elif sign == "+" and stands_free and not spaced_dash:
            start = lead + opened
        if groups.get("open2") and currency:
            start = lead + opened + len(groups.get("sign") or "")
    end, exponent, percent, after_currency = _behind(text, end, currency)
    bracket = "(" if (groups.get("open") or groups.get("open2") or "").startswith("(") else ""
    if bracket and re.match(r"\s?\)", text[end : end + 2]):
        closing = text.index(")", end) + 1
        outer = start - len(groups.get("open") or "") if groups.get("open") else start
        if groups.get("open2") or _is_accounting(text, outer, closing, percent, numeral_end=end, core=core):
            negative, start = True, outer
            end, exponent, percent, behind = (
                _behind(text, closing, currency) if not exponent else (closing, exponent, percent, False)
            )
            after_currency = after_currency or behind
    elif (
        text[end : end + 1] in ("-", "−")
        and not text[end + 1 : end + 2].strip()
        and re.search(r"[.,]\d\d$", text[core:end])
    ):
        negative, end = True, end + 1  # 1,250.00- as some ledgers print it
    factor = Decimal(10) ** exponent * (-1 if negative else 1)
    if percent:
        shares = ((value * factor, weight) for value, weight in values)
        readings = [r for v, w in shares for r in (Reading(v / 100, w, "fraction"), Reading(v, w, "percent"))]
    else:
        readings = [Reading(value * factor, weight) for value, weight in values]
    if exponent and text[end - 1] in "kKmMbB" and not (currency or after_currency):
        readings += [Reading(-value if negative else value, 0.6) for value, _ in values]  # 1200k: 1200 of a unit k
    return Mention(start, end, tuple(readings), core, money=currency or after_currency)


def _behind(text: str, end: int, currency: bool) -> tuple[int, int, bool, bool]:
    """The end with percent sign, magnitude and currency, the power of ten, and whether it is a percentage."""
    percent = _PERCENT.match(text, end)
    if percent:
        return percent.end(), 0, True, False
    exponent = 0
    magnitude = _MAGNITUDE.match(text, end)
    if magnitude:
        word = magnitude.group(2)
        power = _MAGNITUDES[word.lower()]
        letter = len(word) == 1
        behind = _AFTER_SIGN.match(text, magnitude.end())
        gap = magnitude.group(1) or ""
        if letter and ("\n" in gap or _GLUED.match(text, magnitude.end())):
            power = 0  # the first letter of what stands below, or of an id
        elif not letter or (not gap and (currency or behind or word in "kKM")) or (currency and word in "mMbB"):
            end, exponent = magnitude.end(), power
    after = None if currency else _AFTER_SIGN.match(text, end)
    if after:
        end = after.end()
    elif exponent == 0:
        tail = _TAIL.match(text, end)
        if tail and tail.group(1) in _ORDINAL:
            end = tail.end()
    return end, exponent, False, after is not None


def _is_accounting(text: str, outer: int, closing: int, percent: bool, *, numeral_end: int, core: int) -> bool:
    """Whether a parenthesis makes its number negative."""
    line_start = text.rfind("\n", 0, outer) + 1
    before = text[line_start:outer]
    behind = text[closing : closing + 1]
    if behind.isalnum():
        return False
    if (
        not before.strip()
        or before.endswith(("  ", "\t", "| ", "|", ": ", ":"))
        or re.search(r"[|│=:]\s*$|\.{3,}\s?$", before)
    ):
        return before.rstrip().endswith(":") or re.match(r"[ \u00a0]?[A-Za-z]", text[closing : closing + 2]) is None
    if re.search(r"[\d)%][ \t]$", before):
        return not percent and not _reads_on(text, closing)  # after another figure of the row
    ends_cell = re.match(r"\s*$|\s{2,}|\t|\s*\n|\s[(\d]", text[closing : closing + 4]) is not None
    amount = re.search(r"[.,]\d", text[core:numeral_end]) is not None and not percent
    return amount and ends_cell and not re.search(r"[.!?,;][ \t]$", before)


def _reads_on(text: str, closing: int) -> bool:
    """Whether a sentence goes on behind a parenthesis: "30% (815.46) is payable", "of 12 (10.50), which"."""
    return re.match(r" [a-zà-ÿ]{2}|[.,;](?:\s|$)", text[closing : closing + 3]) is not None
