"""Answers that are numbers: one with a stated tolerance, a count, a set of positions."""

import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

from batchwork.benchmarks.scoring.numerals import numerals, spelled
from batchwork.benchmarks.scoring.replies import WordedForm
from batchwork.benchmarks.scoring.wording import VALUE, understood, without, words
from batchwork.benchmarks.trial import Json

_THINGS = "anomaly anomalies outlier outliers points point observations"
_MEASURES = words(
    """
    mean average median standard deviation std sd minimum min smallest lowest maximum max largest highest range
    percentile 5th 25th 75th 95th p5 p25 p75 p95 interquartile iqr slope r r2 r\u00b2 coefficient variation cv z score
    last forecast predicted ratio tail tails upper lower change percent line fitted regression linear per step
    arithmetic population about approximately roughly around rounded two three decimal decimals places units
    unit ms s kg reaches
    """
)
_COUNTS = words(
    f"{_THINGS} there count counted number n length total contains consists detected identified present exist"
)
_PLACES = words(f"{_THINGS} at position positions index indices indexes lie occur located detected")
# Alone "squared" and "least" change a value.
_TERM = re.compile(r"\b(?:r[- ]squared|least[- ]squares)\b", re.IGNORECASE)
_COUNTED = re.compile(rf"{VALUE}\s+(?:data\s+)?(?:values|{_THINGS.replace(' ', '|')})\b", re.IGNORECASE)
_SIGN = re.compile(r"(^|[:=(]|\b(?:is|of|equals|be)\b)\s*(?:-\s+|(?:minus|negative)\s+)(?=[$.\d])", re.IGNORECASE)
_RUN = re.compile(
    r"(?<![\w.,-])(?<!, )(?<!; )(?<!and )"  # whole or not at all
    r"\d{1,15}+(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)\d{1,15}+)*+(?![\w%]|[.,]\d)|\[\s*\]"
)
_LARGEST = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(WordedForm):
    """A number, right within a share of the truth or an absolute distance, whichever is wider."""

    relative: float = 0.01
    absolute: float = 0.0
    percent: bool = False  # the answer is in percent, so a percent sign says nothing new
    example = "<number>"

    @property
    def kind(self) -> dict[str, Any]:
        """A number."""
        return {"type": "number"}

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        near = f"within {self.relative * 100:g}% of the true value"
        return f"{near} or within {self.absolute:g} of it, whichever is wider" if self.absolute else near

    def right(self, parsed: Json, truth: Json) -> bool:
        """Within the tolerance."""
        return parsed is not None and abs(parsed - truth) <= max(self.relative * abs(truth), self.absolute)

    def plain(self, value: Json) -> Json:
        """A finite number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            return None
        return float(value)

    def spoken(self, text: str) -> Json:
        """The only number of a text that calls it by the names of measures, if by any."""
        text = _SIGN.sub(r"\1 -", _TERM.sub("line", text))
        found = numerals(text)
        rest = without(text, (one.span for one in found))
        if len({(one.value, one.percent) for one in found}) != 1 or (found[0].percent and not self.percent):
            return None
        return found[0].value if understood(rest, _MEASURES) and not _COUNTED.search(rest) else None

    def named(self, text: str) -> list[float]:
        """Every number."""
        return [one.value for one in numerals(text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(WordedForm):
    """A whole number, exact."""

    example = "<whole number>"
    tolerance = "exactly the true number"

    @property
    def kind(self) -> dict[str, Any]:
        """A whole number."""
        return {"type": "integer"}

    def plain(self, value: Json) -> Json:
        """A number without a fraction."""
        return _whole(value)

    def spoken(self, text: str) -> Json:
        """The only number of a text, in digits or in words, that speaks of nothing but how many there are."""
        found = [*numerals(text), *spelled(text)]
        if len({(one.value, one.percent) for one in found}) != 1 or found[0].percent:
            return None
        rest = without(text, (one.span for one in found))
        return _whole(found[0].value) if understood(rest, _COUNTS) else None

    def named(self, text: str) -> list[float]:
        """Every number, in digits or in words."""
        return [one.value for one in (*numerals(text), *spelled(text))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions(WordedForm):
    """A set of positions: as many as there are, each within `slack` of one of them, none used twice."""

    slack: int = 1
    example = "[<position>, ...]"

    @property
    def kind(self) -> dict[str, Any]:
        """A list of whole numbers."""
        return {"type": "array", "items": {"type": "integer"}}

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        return f"as many positions as there are, each at most {self.slack} off its own"

    def right(self, parsed: Json, truth: Json) -> bool:
        """One to one, within the slack: sorted lists match pairwise if they match at all."""
        if parsed is None or not len(set(parsed)) == len(parsed) == len(truth):
            return False
        return all(abs(a - b) <= self.slack for a, b in zip(sorted(parsed), sorted(truth), strict=True))

    def plain(self, value: Json) -> Json:
        """A list of whole numbers, sorted."""
        if not isinstance(value, list):
            return None
        places = [_whole(one) for one in value]
        return sorted(place for place in places if place is not None) if None not in places else None

    def spoken(self, text: str) -> Json:
        """The only list of a text that speaks of nothing but places; none when it says that there are none."""
        if Count().spoken(text) == 0 and spelled(text):
            return []
        rest = without(text, (run.span() for run in _RUN.finditer(text)))
        listed = self.named(text)
        return listed[0] if len(listed) == 1 and not _COUNTED.search(rest) and understood(rest, _PLACES) else None

    def named(self, text: str) -> list[list[int]]:
        """Every list, be it of one."""
        return [sorted(map(int, re.findall(r"\d+", run.group()))) for run in _RUN.finditer(text)]


def _whole(value: Json) -> int | None:
    """A JSON number without a fraction; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return int(value) if isfinite(value) and value == int(value) else None
