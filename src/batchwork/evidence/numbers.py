# ruff: noqa: RUF001 - the dashes and quotes of documents are what this is about
"""Find every number in a text, with its sign, currency, percent sign and magnitude.

Decides what a parenthesis means: an amount alone in its cell or after a colon is negative as accountants write it, one
that follows a word is an aside ("tax (8%)", "thirty (30) days").
"""

import re
from bisect import bisect_left
from decimal import Decimal

from batchwork.evidence.mention import Mention, Reading
from batchwork.evidence.numberwords import spelled_numbers
from batchwork.evidence.numerals import COMMA, decimal_habit, readings_of

_CODES = (
    "USD EUR GBP CHF JPY CAD AUD NZD SEK NOK DKK PLN CZK HUF INR CNY RMB BRL MXN ZAR SGD HKD TRY ILS KRW RUB RON BGN"
    " AED SAR THB"
)
_CURRENCY = (
    r"(?:(?:US|CA|AU|NZ|HK|SG|C|A|R|S|NT|MX)?[$]|[€£¥₹₽₩₺₫฿₴₪]|Rs\.?|(?:" + "|".join(_CODES.split()) + r")(?![A-Za-z]))"
)
_CURRENCY_AFTER = (
    r"(?:[€£¥₹₽₩₺₫฿₴₪]|[$](?![\d(])|(?:"
    + "|".join(_CODES.split())
    + r"|kr|zł|Kč|Ft|lei|[Ee]uros?|[Dd]ollars?|[Pp]ounds?|Fr\.|Franken)(?![A-Za-z]))"
)
_NUMERAL = re.compile(
    r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d])"  # grouped by blanks
    r"|\d+(?:['’]\d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)*"
)
_BLANK = r"[ \t\u00a0\u202f]?"
_BEFORE = re.compile(
    rf"(?P<open>[(\[]{_BLANK})?(?P<sign>[-−–+]{_BLANK})?(?P<currency>(?<![A-Za-z]){_CURRENCY}[ \t\u00a0\u202f\n]?)?"
    r"(?P<open2>\()?(?P<sign2>[-−–])?\Z"
)
_PERCENT = re.compile(r"[ \u00a0\u202f]?(?:%|(?:percent|per cent|pct|Prozent|pour cent|por ciento)\b)")
_MAGNITUDES = {
    "k": 3, "thousand": 3, "tsd": 3, "tausend": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "mln": 6, "m": 6,
    "millionen": 6, "billion": 9, "billions": 9, "bn": 9, "mrd": 9, "b": 9, "milliarden": 9, "trillion": 12,
    "lakh": 5, "crore": 7,
}  # fmt: skip
_MAGNITUDE = re.compile(
    r"([ \u00a0\u202f]|\s?\n\s*)?(thousand|tausend|tsd|millionen|millions?|mio|mln|mn|billions?|milliarden|bn|mrd"
    r"|trillion|lakh|crore|[kKmMbB])\b(?:(?<=mio)\.|(?<=mrd)\.|(?<=tsd)\.|(?<=mn)\.|(?<=bn)\.)?",
    re.IGNORECASE,
)
_AFTER_CURRENCY = re.compile(rf"[ \u00a0\u202f]?{_CURRENCY_AFTER}")
_TAIL = re.compile(r"([A-Za-zµ°²³]+)")
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_GLUE = re.compile(r"[-/_.:@\\][^\W_]")
_DASHES = "-−–‐‑"


class Numbers:
    """All numbers of a text, in order; `taken` are the places that dates occupy."""

    def __init__(self, text: str, taken: list[tuple[int, int]]) -> None:
        self._text = text
        self._taken = sorted(taken)
        self._last_end = 0
        self._habits = self._find_habits()
        self._shown = [position for position, _ in self._habits]
        commas = sum(1 for _, habit in self._habits if habit == COMMA)
        self._habit = None if not self._habits else (COMMA if 2 * commas > len(self._habits) else "point")
        self.mentions = self._find()

    def _find_habits(self) -> list[tuple[int, str]]:
        habits = []
        for found in _NUMERAL.finditer(self._text):
            habit = decimal_habit(found.group())
            if habit is not None and not self._in_date(found.start()) and not self._glued(found.start(), found.end()):
                habits.append((found.start(), habit))
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
        if before.isalpha() or before == "_":
            return not re.search(rf"(?<![A-Za-z]){_CURRENCY}$", text[max(0, start - 5) : start])
        if before in _DASHES + "/\\:@.,'’" and start > 1 and text[start - 2].isalnum():
            if before in _DASHES and text[start - 2].isdigit():
                return self._chained(start)
            head = re.search(rf"(?<![A-Za-z]){_CURRENCY}[{_DASHES}]$", text[max(0, start - 6) : start])
            return not (before in _DASHES and head)
        return bool(end < len(text) and _GLUE.match(text, end) and not self._is_range(end))

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

    def _find(self) -> list[Mention]:
        mentions: list[Mention] = []
        for found in _NUMERAL.finditer(self._text):
            numeral, start = found.group(), found.start()
            if " " in numeral and not self._is_one(numeral, start):
                position = start
                for piece in numeral.split(" "):
                    self._add(mentions, piece, position)
                    position += len(piece) + 1
            self._add(mentions, numeral, start)
        mentions.extend(spelled_numbers(self._text))
        return mentions

    def _is_one(self, numeral: str, start: int) -> bool:
        """Whether digits with plain blanks between are surely one number; else its pieces count too."""
        return (
            bool(re.search(r"[.,]\d{1,2}$", numeral)) and self._habit_near(start) == COMMA and numeral.count(" ") == 1
        )

    def _add(self, mentions: list[Mention], numeral: str, start: int) -> None:
        end = start + len(numeral)
        in_date = self._in_date(start)
        glued = not in_date and self._glued(start, end)
        if glued and not numeral.isdigit():
            return
        values = readings_of(numeral, self._habit_near(start))
        if not values:
            return
        if in_date or glued:
            if in_date:
                mentions.append(Mention(start, end, (Reading(values[0][0], 0.6, "part"),), start))
            return
        mention = self._dressed(start, end, values)
        self._last_end = mention.end
        mentions.append(mention)

    def _dressed(self, start: int, end: int, values: list[tuple[Decimal, float]]) -> Mention:
        """The number with what touches it, and what that makes of its value."""
        text, core = self._text, start
        window = text[max(0, start - 12, min(start, self._last_end)) : start]  # what another number took is not ours
        before = _BEFORE.search(window)
        if before and "\n" in before.group() and not self._flows(start):
            before = None
        groups = before.groupdict() if before else {}
        currency = bool(groups.get("currency"))
        negative = False
        if before:
            lead = start - (len(window) - before.start())
            sign = (groups.get("sign") or groups.get("sign2") or "").strip()
            stands_free = lead == 0 or not (text[lead - 1].isalnum() or text[lead - 1] in ")%" + _DASHES)
            spaced_dash = bool(groups.get("sign")) and groups["sign"][-1].isspace()
            spaced_dash = spaced_dash and not (
                currency and not text[max(0, lead - 3) : lead].rstrip(" ")[-1:].isdigit()
            )
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
        end, exponent, percent, after_currency = self._behind(end, currency)
        bracket = "(" if (groups.get("open") or groups.get("open2") or "").startswith("(") else ""
        if bracket and re.match(r"\s?\)", text[end : end + 2]):
            closing = text.index(")", end) + 1
            outer = start - len(groups.get("open") or "") if groups.get("open") else start
            if groups.get("open2") or self._is_accounting(outer, closing, percent, numeral_end=end, core=core):
                negative, start = True, outer
                end, exponent, percent, behind = (
                    self._behind(closing, currency) if not exponent else (closing, exponent, percent, False)
                )
                after_currency = after_currency or behind
        elif (
            text[end : end + 1] in ("-", "−")
            and not text[end + 1 : end + 2].strip()
            and re.search(r"[.,]\d\d$", text[core:end])
        ):
            negative, end = True, end + 1  # 1,250.00- as some ledgers print it
        factor = Decimal(10) ** exponent * (-1 if negative else 1)
        readings: list[Reading] = []
        for value, weight in values:
            if percent:
                readings.append(Reading(value * factor / 100, weight, "fraction"))
                readings.append(Reading(value * factor, weight, "percent"))
            else:
                readings.append(Reading(value * factor, weight))
        return Mention(start, end, tuple(readings), core, money=currency or after_currency)

    def _flows(self, start: int) -> bool:
        """Whether the line before is a line of prose, so that a currency at its end belongs to the number below."""
        end = self._text.rfind("\n", 0, start)
        line = self._text[self._text.rfind("\n", 0, max(0, end)) + 1 : end]
        return len(line) >= 38 and "  " not in line and "\t" not in line and "|" not in line

    def _behind(self, end: int, currency: bool) -> tuple[int, int, bool, bool]:
        """The end with percent sign, magnitude and currency, the power of ten, and whether it is a percentage."""
        text = self._text
        percent = _PERCENT.match(text, end)
        if percent:
            return percent.end(), 0, True, False
        exponent = 0
        magnitude = _MAGNITUDE.match(text, end)
        if magnitude:
            word = magnitude.group(2)
            power = _MAGNITUDES[word.lower()]
            letter = len(word) == 1
            behind = _AFTER_CURRENCY.match(text, magnitude.end())
            if (
                not letter
                or (not magnitude.group(1) and (currency or behind or word in "kKM"))
                or (currency and word in "mMbB")
            ):
                end, exponent = magnitude.end(), power
        after = None if currency else _AFTER_CURRENCY.match(text, end)
        if after:
            end = after.end()
        elif exponent == 0:
            tail = _TAIL.match(text, end)
            if tail and tail.group(1) in _ORDINAL:
                end = tail.end()
        return end, exponent, False, after is not None

    def _is_accounting(self, outer: int, closing: int, percent: bool, *, numeral_end: int, core: int) -> bool:
        """Whether a parenthesis makes its number negative."""
        text = self._text
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
            return before.rstrip().endswith(":") or re.match(r"\s*[A-Za-z]", text[closing : closing + 3]) is None
        if re.search(r"[\d)%][ \t]$", before):
            return not percent  # after another figure of the row
        ends_cell = re.match(r"\s*$|\s{2,}|\t|\s*\n|\s[(\d]", text[closing : closing + 4]) is not None
        amount = re.search(r"[.,]\d", text[core:numeral_end]) is not None and not percent
        return amount and ends_cell and not re.search(r"[.!?,;][ \t]$", before)
