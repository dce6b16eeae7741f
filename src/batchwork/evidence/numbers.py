"""Find every number in a text, with the sign, currency, percent sign and magnitude that touch it.

Whatever stands beside a numeral, its value has the same significant digits. So numerals are kept by their digits, and
those that cannot say a value are never read. A parenthesis around an amount alone in its cell or after a colon makes it
negative as accountants write it; one that follows a word is an aside ("tax (8%)", "thirty (30) days").
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cached_property

from msgspec import Struct

from batchwork.evidence.words import PATTERNS, VOCABULARY

_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["numbers"].items()}
_POWERS: dict[str, int] = PATTERNS["powers"]
_DASHES = "-−–‐‑"
_ONES, _TENS = (names.split() for names in VOCABULARY["numerals"])
_SCALES = {1_000_000: "million", 1_000: "thousand", 100: "hundred"}
NUMBER_WORDS = frozenset({*_ONES, *_TENS, *_SCALES.values()})
_LONGEST = 60  # characters; longer runs are no numbers anybody compares
_REACH = 40  # characters behind a numeral that may still be its own


class Reading(Struct, frozen=True, gc=False):
    """One way to read a mention. `weight` below 0.5 means the text does not settle that this is the way."""

    value: Decimal | date
    weight: float = 1.0
    kind: str = "plain"  # plain, fraction (of a percentage), percent, part (of a date or of a longer number)


class Mention(Struct, frozen=True, gc=False):
    """A value as it stands, with its sign, currency, percent sign or magnitude."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    money: bool = False


class Numbers:
    """All numbers of a text, by their rank; `taken` are the places that dates occupy."""

    def __init__(self, text: str, taken: list[tuple[int, int]]) -> None:
        self._text = text
        self._taken = sorted(taken)
        self.starts: list[int] = []
        self._ends: list[int] = []
        self._known: dict[int, Mention | None] = {}
        self._by_digits: dict[str, list[int]] = {}
        for match in _FORMS["numeral"].finditer(text):
            start, numeral = match.start(), match.group()
            if " " in numeral:  # one number, or several side by side
                for piece in re.finditer(r"\S+", numeral):
                    self._keep(start + piece.start(), piece.group())
            self._keep(start, numeral)

    @property
    def mentions(self) -> list[Mention]:
        """All of them, read."""
        return list(filter(None, map(self.mention, range(len(self.starts)))))

    def saying(self, digits: str) -> Iterator[Mention]:
        """Those with these significant digits."""
        return filter(None, map(self.mention, self._by_digits.get(digits.strip("0"), ())))

    def mention(self, rank: int) -> Mention | None:
        """What stands at a rank; None when it is no number after all (a version, an address)."""
        first = rank
        while first and first not in self._known and self._is_touched(first):
            first -= 1
        for place in range(first, rank + 1):  # each needs to know what the one before took
            if place not in self._known:
                self._known[place] = self._read(place)
        return self._known[rank]

    def _keep(self, start: int, numeral: str) -> None:
        digits = numeral if numeral.isdigit() else _FORMS["marks"].sub("", _FORMS["exponent"].sub("", numeral))
        self._by_digits.setdefault(digits.strip("0"), []).append(len(self.starts))
        self.starts.append(start)
        self._ends.append(start + len(numeral))

    def _is_touched(self, rank: int) -> bool:
        """Whether what the number before takes may reach up to what this one takes: a sign, a currency, a bracket."""
        end, start = self._ends[rank - 1], self.starts[rank]
        gap = self._text[end:start].rstrip() if end <= start < end + _REACH else ""
        return gap != "" and not gap[-1].islower() and gap[-1] not in ",;:)|"

    def _read(self, rank: int) -> Mention | None:
        start, end = self.starts[rank], self._ends[rank]
        numeral = self._text[start:end]
        before = bisect_left(self._taken, (start + 1, 0)) - 1
        in_date = before >= 0 and start < self._taken[before][1]
        if len(numeral) > _LONGEST or (not in_date and self._is_part(start, end)):
            return None
        values = self._values(numeral)
        if in_date and len(numeral) != 4:
            return None  # only its year is asked for as a number
        if in_date or (start > 1 and _FORMS["chapter"].match(self._text, start - 2)):
            return Mention(start, end, (Reading(values[0][0], 0.6 if in_date else 0.4, "part"),))
        last = self._known.get(rank - 1) if rank and self._is_touched(rank) else None
        return _dressed(self._text, start, end, values, 0 if last is None else last.end) if values else None

    def _values(self, numeral: str) -> list[tuple[Decimal, float]]:
        """The values of a numeral, likeliest first, with a weight; empty when it is none (a version, an address)."""
        fraction, grouped = _ways(numeral)
        if fraction is None or grouped is None:
            return [(value, 1.0) for value in (fraction, grouped) if value is not None]
        mark, habit = "," if "," in numeral else ".", self._habit
        if habit is not None:
            return [(fraction if habit == mark else grouped, 1.0)]
        # Nobody else in the text shows a habit: a comma before three digits groups, a point could do either.
        return [(grouped, 1.0), (fraction, 0.4)] if mark == "," else [(fraction, 0.8), (grouped, 0.45)]

    @cached_property
    def _habit(self) -> str | None:
        """The decimal mark that the numerals of the text show which leave no doubt."""
        points, commas = (len(shown.findall(self._text)) for shown in (_FORMS["points"], _FORMS["commas"]))
        return None if points == commas == 0 else "." if points >= commas else ","

    def _is_part(self, start: int, end: int) -> bool:
        """Whether the digits are part of an id, a version, a phone number or a time."""
        text = self._text
        touched, glued = _FORMS["touched"].search(text, max(0, start - 5), start), _FORMS["glue"].match(text, end)
        if not touched and not glued:
            return False
        pair = _FORMS["pair"].search(text, max(0, start - 6), end + 8)
        if pair is not None and pair.start() <= start and end <= pair.end():
            return False
        if touched:
            before = _FORMS["before"].search(text, max(0, start - 6), start)
            return not (self._is_range(start - 1) or (before is not None and before["currency"]))
        return not (self._is_range(end) or _FORMS["unit"].match(text, end))

    def _is_range(self, dash: int) -> bool:
        """Whether a dash stands between the two ends of a range, and does not join the parts of an id."""
        text = self._text
        if text[dash] not in _DASHES or not text[dash - 1].isdigit() or not text[dash + 1].isdigit():
            return False
        head = _FORMS["head"].search(text, max(0, dash - 30), dash + 1)
        rest = _FORMS["rest"].match(text, dash + 1, dash + 31)
        return not _FORMS["id"].search("".join(part[0] for part in (head, rest) if part))


def _ways(numeral: str) -> tuple[Decimal | None, Decimal | None]:
    """A numeral with its last mark before a fraction, and with all marks between groups; None for a way that fails."""
    if "e" in numeral or "E" in numeral:
        return Decimal(numeral.replace(",", ".")), None
    if numeral.isdigit():
        return None, Decimal(numeral)
    grouped = Decimal(_FORMS["marks"].sub("", numeral)) if _FORMS["grouped"].fullmatch(numeral) else None
    last = max(numeral.rfind("."), numeral.rfind(","))
    whole, rest = numeral[:last], numeral[last + 1 :]
    if last < 0 or numeral[last] in whole or not (whole.isdigit() or _FORMS["grouped"].fullmatch(whole)):
        return None, grouped
    return Decimal(f"{_FORMS['marks'].sub('', whole)}.{rest}"), grouped


def _dressed(text: str, start: int, end: int, values: list[tuple[Decimal, float]], taken: int) -> Mention:
    """The number with what touches it, and what that makes of its value; nothing before `taken` is its own."""
    numeral = text[start:end]
    before = _FORMS["before"].search(text, max(0, start - 12, min(start, taken)), start)
    opened, sign, currency, inner = before.group("open", "sign", "currency", "inner") if before else ("", "", "", "")
    outer = before.start() if before else start
    lead = outer + len(opened)
    free = outer == 0 or not (text[outer - 1].isalnum() or text[outer - 1] in ")%" + _DASHES)
    signed = bool(sign) and free and not sign[-1].isspace()
    negative = (signed and sign[0] != "+") or inner.strip("(") != ""
    if signed or negative:
        start = lead
    elif currency:
        start = lead + len(sign)
    end, exponent, percent, money = _behind(text, end, bool(currency))
    closing = _FORMS["closing"].match(text, end) if opened or "(" in inner else None
    if closing:
        outer = outer if opened else start
        if "(" in inner or _is_accounting(text, outer, closing.end(), numeral, percent):
            negative, start, end = True, outer, closing.end()
            if not exponent:
                end, exponent, percent, behind = _behind(text, end, bool(currency))
                money = money or behind
    elif text[end : end + 1] in ("-", "−") and not text[end + 1 : end + 2].strip() and _FORMS["cents"].search(numeral):
        negative, end = True, end + 1  # 1,250.00- as some ledgers print it
    money = money or bool(currency)
    factor = Decimal(10) ** exponent * (-1 if negative else 1)
    readings = [Reading(value * factor, weight, "percent" if percent else "plain") for value, weight in values]
    if percent:
        readings = [Reading(value * factor / 100, weight, "fraction") for value, weight in values] + readings
    if exponent and text[end - 1] in "kKmMbB" and not money:
        readings += [Reading(-value if negative else value, 0.6) for value, _ in values]  # 1200k: 1200 of a unit k
    return Mention(start, end, tuple(readings), money)


def _behind(text: str, end: int, currency: bool) -> tuple[int, int, bool, bool]:
    """The end with percent sign, magnitude and currency, the power of ten, whether it is a percentage, or money."""
    percent = _FORMS["percent"].match(text, end)
    if percent:
        return percent.end(), 0, True, False
    exponent = 0
    magnitude = _FORMS["magnitude"].match(text, end)
    if magnitude:
        letter, gap = magnitude["letter"], magnitude["gap"]
        sure = currency or (
            not gap and (letter in ("k", "K", "M") or _FORMS["sign_behind"].match(text, magnitude.end()))
        )
        if not letter or sure:
            end, exponent = magnitude.end(), power_of(letter or magnitude["word"])
    sign = None if currency else _FORMS["sign_behind"].match(text, end)
    return sign.end() if sign else end, exponent, False, sign is not None


def _is_accounting(text: str, outer: int, closing: int, numeral: str, percent: bool) -> bool:
    """Whether a parenthesis makes its number negative: alone in its cell, behind a figure, or around an amount."""
    before = text[max(0, outer - _REACH) : outer]
    if _FORMS["reads_on"].match(text, closing):
        return False
    if outer == 0 or _FORMS["alone"].search(before):
        return True
    aside = numeral.isdigit() or _FORMS["after_word"].search(before)
    return not percent and bool(not aside or _FORMS["after_figure"].search(before))


def power_of(word: str) -> int:
    """The power of ten that a word or letter such as "million", "bn" or "k" stands for."""
    return next((power for name, power in _POWERS.items() if word.lower().startswith(name)), 3)


def in_words(number: int) -> list[str]:
    """A whole number below a milliard as it is spelled; "one" is left out, it is nearly always a pronoun."""
    return [] if number == 1 else _spelled(number) or ["zero"]


def _spelled(number: int) -> list[str]:
    for scale, name in _SCALES.items():
        if number >= scale:
            return [*_spelled(number // scale), name, *_spelled(number % scale)]
    if number < 20:
        return [_ONES[number]] if number else []
    return [_TENS[number // 10 - 2], *_spelled(number % 10)]
