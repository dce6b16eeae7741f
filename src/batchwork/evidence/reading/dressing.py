"""A numeral with what touches it: sign, currency, percent sign and magnitude, and what they make of its value.

Decides what a parenthesis means: an amount alone in its cell or after a colon is negative as accountants write it, one
that follows a word is an aside ("tax (8%)", "thirty (30) days").
"""

import re
from decimal import Decimal

from batchwork.evidence.reading.mention import Mention, Reading

_CODES = (
    "USD EUR GBP CHF JPY CAD AUD NZD SEK NOK DKK PLN CZK HUF INR CNY RMB BRL MXN ZAR SGD HKD TRY ILS KRW RUB RON BGN"
    " AED SAR THB"
)
CURRENCY = (
    r"(?:(?:US|CA|AU|NZ|HK|SG|C|A|R|S|NT|MX)?[$]|[€£¥₹₽₩₺₫฿₴₪]|Rs\.?|(?:" + "|".join(_CODES.split()) + r")(?![A-Za-z]))"
)
_CURRENCY_AFTER = (
    r"(?:[€£¥₹₽₩₺₫฿₴₪]|[$](?![\d(])|(?:"
    + "|".join(_CODES.split())
    + r"|kr|zł|Kč|Ft|lei|[Ee]uros?|[Dd]ollars?|[Pp]ounds?|Fr\.|Franken)(?![A-Za-z]))"
)
_BLANK = r"[ \t\u00a0\u202f]?"
_BEFORE = re.compile(
    rf"(?P<open>[(\[]{_BLANK})?(?P<sign>[-−–+]{_BLANK})?(?P<currency>(?<![A-Za-z]){CURRENCY}[ \t\u00a0\u202f\n]?)?"
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
_GLUED = re.compile(r"[-_/.]\w")
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
DASHES = "-−–‐‑"


def dressed(text: str, start: int, end: int, values: list[tuple[Decimal, float]], taken: int) -> Mention:
    """The number with what touches it, and what that makes of its value; nothing before `taken` is its own."""
    core = start
    window = text[max(0, start - 12, min(start, taken)) : start]  # what another number took is not ours
    before = _BEFORE.search(window)
    if before and "\n" in before.group() and not _flows(text, start):
        before = None
    groups = before.groupdict() if before else {}
    currency = bool(groups.get("currency"))
    negative = False
    if before:
        lead = start - (len(window) - before.start())
        sign = (groups.get("sign") or groups.get("sign2") or "").strip()
        stands_free = lead == 0 or not (text[lead - 1].isalnum() or text[lead - 1] in ")%" + DASHES)
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
    readings: list[Reading] = []
    for value, weight in values:
        if percent:
            readings.append(Reading(value * factor / 100, weight, "fraction"))
            readings.append(Reading(value * factor, weight, "percent"))
        else:
            readings.append(Reading(value * factor, weight))
    return Mention(start, end, tuple(readings), core, money=currency or after_currency)


def _flows(text: str, start: int) -> bool:
    """Whether the line before is a line of prose, so that a currency at its end belongs to the number below."""
    end = text.rfind("\n", 0, start)
    line = text[text.rfind("\n", 0, max(0, end)) + 1 : end]
    return len(line) >= 38 and "  " not in line and "\t" not in line and "|" not in line


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
        behind = _AFTER_CURRENCY.match(text, magnitude.end())
        gap = magnitude.group(1) or ""
        if letter and ("\n" in gap or _GLUED.match(text, magnitude.end())):
            power = 0  # the first letter of what stands below, or of an id
        elif not letter or (not gap and (currency or behind or word in "kKM")) or (currency and word in "mMbB"):
            end, exponent = magnitude.end(), power
    after = None if currency else _AFTER_CURRENCY.match(text, end)
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
