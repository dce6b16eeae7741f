"""Find every date in a text, in all common forms, and decide which of two numbers is the day.

The order of day and month is a habit of the whole text: a form hint ("DD/MM/YYYY") settles it, then dates that can be
read only one way, the same day written out elsewhere, payment terms, at last the country that currency and words point
to. When nothing settles it both readings stand with a weight below one half, because then nobody can know.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import combinations

from batchwork.evidence.numerals import Mention, Reading
from batchwork.evidence.words import VOCABULARY, fold

MONTHS: dict[str, int] = {
    fold(name): month for month, names in enumerate(VOCABULARY["months"], start=1) for name in names.split()
}
_MONTH = r"(?P<month>[^\W\d_]{3,10})\.?"
_YEAR = r"(?P<year>(?:1[6-9]|2[0-2])\d\d|['’]\d\d)"
_GAP = r"(?:[ \t\u00a0\u202f]*\n?[ \t]*|[ \t]*[-–/.][ \t]*)"
_COMMA = r"(?:,?[ \t\u00a0\u202f]*\n?[ \t]*|[ \t]*[-–/.,][ \t]*)"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_ISO = re.compile(
    r"(?<![\d-])(?P<year>\d{4})(?P<mark>[-/.‐‑–])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?![\d]|[-/.]\d)"
)
_NUMERIC = re.compile(
    r"(?<![\d/.-])(?P<a>\d{1,2})(?P<mark>[/.‐‑–-]|\.[ \u00a0]|[ ]/[ ])(?P<b>\d{1,2})(?P=mark)"
    r"(?P<year>\d{4}|\d{2})(?!\d|[-/.,]\d)"
)
_DAY_FIRST = re.compile(
    rf"(?<![\d.,/$€£-]){_DAY}(?:st|nd|rd|th|er|\.|º)?(?:\s+day)?{_GAP}(?:(?:of|de|di)\s+|d['’])?(?<![\d]){_MONTH}"
    rf"(?:\s*(?:de|del|of)(?=\s))?{_COMMA}{_YEAR}\Z",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?<![^\W_]){_MONTH}{_GAP}{_DAY}(?:st|nd|rd|th)?(?!\d)(?: +\d\d:\d\d(?::\d\d)?(?: [A-Z]{{3,4}})? )?{_COMMA}{_YEAR}\Z",
    re.IGNORECASE,
)
_YEARS = re.compile(r"(?<!\d)(?:(?:1[6-9]|2[0-2])\d\d|['’]\d\d)(?!\d)")
_LONGEST = 45  # characters from the day or the month to the year's end
_MONTH_YEAR = re.compile(rf"(?<![^\W_]){_MONTH}[ \u00a0]?,?[ \u00a0]?(?P<year>(?:19|20)\d\d)\Z", re.IGNORECASE)
_MONTH_NUMBER = re.compile(
    r"(?<![\d/.-])(?:(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d\d)|(?P<year2>(?:19|20)\d\d)-(?P<month2>0[1-9]|1[0-2]))(?![\d/]|[-.]\d)"
)
_YEARLESS = re.compile(
    r"(?<![^\W_.])(?P<month>[^\W\d_]{3,9})\.? (?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\w:])(?!,? \d{4})"
    r"|(?<![\w.,])(?P<day2>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|\.)?(?: of)? (?P<month2>[^\W\d_]{3,9})(?!\w)(?!\.?,? \d{4})"
)
_WORDS = re.compile(r"[^\W\d_]{3,10}")
_COMPACT = re.compile(
    r"(?<![^\W_])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![^\W_])"
)

# A form hint, in letters or in words: "DD/MM/YYYY", "Date (day first)", "Datum (Tag, Monat, Jahr)".
_WORDED = (
    r"\b{0}s?[ -](?:comes? |goes? |is |are |written |stands? |stated )?first\b"
    r"|\b{0}s?\b[ ,/.-]+(?:and |then )?{1}s?\b[ ,/.-]+(?:and |then )?(?:year|jahr|ann[eé]e|a[nñ]o|anno|jaar)\b"
    r"|\b{0}s? before (?:the )?{1}s?\b"
)
_A_DAY, _A_MONTH = "(?:day|tag|jour|d[ií]a|giorno|dag)", "(?:month|monat|mois|mes|mese|maand)"
_DAY_MONTH_HINT = re.compile(
    r"\bd{1,2}\s?[-/.]\s?m{1,2}\s?[-/.]\s?(?:y{2,4}|j{2,4}|a{2,4})\b|\btt[./]mm[./]jj|\bjj/mm/aa|\bgg[/.-]mm[/.-]aa|"
    + _WORDED.format(_A_DAY, _A_MONTH),
    re.IGNORECASE,
)
_MONTH_DAY_HINT = re.compile(
    r"\bm{1,2}\s?[-/.]\s?d{1,2}\s?[-/.]\s?y{2,4}\b|" + _WORDED.format(_A_MONTH, _A_DAY), re.IGNORECASE
)
# What both patterns hold one of, found far quicker.
_HINTS = ("yy", "jj", "aa", "first", "before", "year", "jahr", "année", "annee", "año", "anno", "jaar")
_DAY_MONTH_LANDS = re.compile(
    r"£|€|\b(?:GBP|EUR|AUD|NZD|INR|VAT|MwSt|TVA|GmbH|Ltd|PLC|plc|Limited|Sarl|SARL|S\.A\.|B\.V\.|Pty"
    r"|ABN|UK|United Kingdom|England|Scotland|Wales|Ireland|Australia|London|Germany|France|Rechnung|Facture"
    r"|Fecha|Factura|Cliente|Datum|Kunde|Fattura"
    r"|[A-Z]{1,2}\d{1,2}[A-Z]? \d[A-Z]{2})\b|\d \d{3},\d\d\b"
)
_MONTH_DAY_LANDS = re.compile(
    r"(?<![A-Z])\$|\b(?:USD|US\$|LLC|Inc|Corp|USA|U\.S\.|United States|Sales tax|EIN|SSN|ZIP"
    r"|[A-Z]{2} \d{5}(?:-\d{4})?)(?!\w)"
)
_TERMS = re.compile(r"\b(\d{1,3})[ -]days?\b|\bnet\s?(\d{1,3})\b", re.IGNORECASE)


class Dates:
    """All dates of a text; `partial` are months with a year, for values that say no day."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._yearless: dict[tuple[int, int], list[tuple[int, int]]] | None = None
        self.partial: list[tuple[int, int, int, int]] = []  # start, end, year, month
        for match in _MONTH_NUMBER.finditer(text):
            self.partial.append(
                (
                    match.start(),
                    match.end(),
                    int(match["year"] or match["year2"]),
                    int(match["month"] or match["month2"]),
                )
            )
        certain = [*self._iso(), *self._named(), *self._compact()]
        numeric = list(_NUMERIC.finditer(text))
        self.day_first = self._order(certain, numeric)
        self.mentions = sorted(
            _without_overlaps([*certain, *self._numeric(numeric)]), key=lambda mention: mention.start
        )

    def without_year(self, day: date) -> list[tuple[int, int]]:
        """Where this day and month stand without a year, in a text that names the year elsewhere."""
        if not re.search(rf"(?<!\d){day.year}(?!\d)", self._text):
            return []
        if self._yearless is None:
            self._yearless = {}
            for match in _YEARLESS.finditer(self._text):
                month = MONTHS.get(fold(match["month"] or match["month2"]))
                if month is not None:
                    key = (month, int(match["day"] or match["day2"]))
                    self._yearless.setdefault(key, []).append((match.start(), match.end()))
        return self._yearless.get((day.month, day.day), [])

    def _iso(self) -> list[Mention]:
        found = []
        for match in _ISO.finditer(self._text):
            day = _date(match["year"], match["month"], match["day"])
            if day is not None:
                found.append(Mention(match.start(), match.end(), (Reading(day),), match.start()))
        return found

    def _compact(self) -> list[Mention]:
        found = []
        for match in _COMPACT.finditer(self._text):
            day = _date(match["year"], match["month"], match["day"])
            if day is not None:
                found.append(Mention(match.start(), match.end(), (Reading(day, 0.6),), match.start()))
        return found

    def _named(self) -> list[Mention]:
        """Dates with the month's name: looked for before every year, because years are few and words are many."""
        found = []
        for year in _YEARS.finditer(self._text):
            low = max(0, year.start() - _LONGEST)
            if not any(fold(word) in MONTHS for word in _WORDS.findall(self._text, low, year.start())):
                continue
            self._add_month(low, year.end())
            for pattern in (_DAY_FIRST, _MONTH_FIRST):
                match = pattern.search(self._text, low, year.end())
                month = MONTHS.get(fold(match["month"])) if match else None
                if match is None or month is None or match.group().count("\n") > 1:
                    continue
                day = _date(match["year"], str(month), match["day"])
                if day is not None:
                    found.append(Mention(match.start(), match.end(), (Reading(day),), match.start()))
        return found

    def _add_month(self, low: int, high: int) -> None:
        """A month with the year that ends here."""
        match = _MONTH_YEAR.search(self._text, low, high)
        month = MONTHS.get(fold(match["month"])) if match else None
        if match is not None and month is not None:
            self.partial.append((match.start(), match.end(), int(match["year"]), month))

    def _numeric(self, matches: list[re.Match[str]]) -> list[Mention]:
        found = []
        for match in matches:
            day_first = _date(match["year"], match["b"], match["a"])
            month_first = _date(match["year"], match["a"], match["b"])
            order = self.day_first
            if "." in match["mark"] and order is None:
                order = True  # with points the day comes first everywhere
            readings: tuple[Reading, ...]
            if day_first is None or month_first is None or day_first == month_first:
                only = day_first or month_first
                readings = (Reading(only),) if only else ()
            elif order is None:
                readings = (Reading(day_first, 0.45), Reading(month_first, 0.45))
            else:
                readings = (Reading(day_first if order else month_first),)
            if readings:
                found.append(Mention(match.start(), match.end(), readings, match.start()))
        return found

    def _order(self, certain: list[Mention], numeric: list[re.Match[str]]) -> bool | None:
        """True for day first, False for month first, None when nothing tells."""
        if not numeric:
            return None
        folded = self._text.lower()
        if any(hint in folded for hint in _HINTS):
            if _DAY_MONTH_HINT.search(self._text):
                return True
            if _MONTH_DAY_HINT.search(self._text):
                return False
        votes = 0.0
        for match in numeric:
            day_first = _date(match["year"], match["b"], match["a"])
            month_first = _date(match["year"], match["a"], match["b"])
            if (day_first is None) != (month_first is None):
                votes += 3 if day_first else -3
            elif day_first and day_first != month_first and "." in match["mark"]:
                votes += 3
        if votes:
            return votes > 0
        votes = self._votes_of_others(certain, numeric)
        if votes:
            return votes > 0
        day_month, month_day = len(_DAY_MONTH_LANDS.findall(self._text)), len(_MONTH_DAY_LANDS.findall(self._text))
        if day_month != month_day:
            return day_month > month_day
        return None

    def _votes_of_others(self, certain: list[Mention], numeric: list[re.Match[str]]) -> float:
        """The same days written out, and the days of payment terms that lie between two dates."""
        written = {reading.value for mention in certain for reading in mention.readings}
        terms = {timedelta(days=int(one or other)) for one, other in _TERMS.findall(self._text)}
        votes = 0.0
        for first, second, sign in (("b", "a", 1), ("a", "b", -1)):
            read = (_date(match["year"], match[first], match[second]) for match in numeric[:40])
            days = {day for day in read if day is not None}
            votes += sign * 2 * sum(1 for day in days if day in written)
            known = [*days, *(day for day in written if isinstance(day, date))][:40]
            votes += sign * sum(1 for one, other in combinations(known, 2) if abs(one - other) in terms)
        return votes


def _without_overlaps(mentions: list[Mention]) -> list[Mention]:
    """The longer one where two patterns read the same place."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if kept and mention.start < kept[-1].end:
            if mention.end - mention.start > kept[-1].end - kept[-1].start:
                kept[-1] = mention
            continue
        kept.append(mention)
    return kept


def _date(year: str, month: str, day: str) -> date | None:
    number = int(year.lstrip("'’"))
    if number < 100:
        number += 2000 if number < 70 else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


_TIME = re.compile(
    r"(?:T|,?[ \t\u00a0]+(?:(?:at|um|à|às|alle|om|kl\.?)[ \t\u00a0]+)?)"
    r"(?P<hour>[01]?\d|2[0-3])[:h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d{1,9})?)?(?!\d)"
    r"(?:[ \u00a0]?(?P<half>[ap])\.?m\b\.?)?(?:[ \u00a0]?(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d(?!\d)))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time as it stands; `offset` is None when no zone is told."""

    end: int
    hour: int
    minute: int
    second: int | None
    offset: timedelta | None

    def says(self, moment: datetime) -> bool:
        """Whether it is the moment's time, as exactly as the text tells it."""
        if self.offset is not None and moment.utcoffset() is not None and self.offset != moment.utcoffset():
            return False
        told = time(self.hour, self.minute, self.second or 0)
        wanted = moment.time().replace(microsecond=0)
        return told == (wanted if self.second is not None else wanted.replace(second=0))


def time_behind(text: str, end: int) -> TimeOfDay | None:
    """The time right behind the date that ends here, if there is one."""
    found = _TIME.match(text, end)
    if found is None:
        return None
    hour = int(found["hour"])
    if found["half"] and hour <= 12:
        hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
    second = int(found["second"]) if found["second"] else None
    return TimeOfDay(found.end(), hour, int(found["minute"]), second, _offset(found["zone"]))


def _offset(zone: str | None) -> timedelta | None:
    if zone is None:
        return None
    if zone[0] not in "+-":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)
