"""What a description claims, and whether a series holds it. One claim form for ours and the peer's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batchwork.frame import describe_series
from batchwork.frame.description import Description
from perf.frame.cases import Case

CLAIMS = ("trend", "season", "step", "odd", "bimodal", "spread")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What was said of a series; `any_season` is a season claimed without a period."""

    trend: int = 0
    periods: tuple[float, ...] = ()
    any_season: bool = False
    steps: tuple[int, ...] = ()
    odd: frozenset[int] = frozenset()
    bimodal: bool = False
    spread: bool = False
    shape: str = ""

    def made(self) -> dict[str, bool]:
        """Which of the six kinds of claim were made at all."""
        return {
            "trend": self.trend != 0,
            "season": bool(self.periods) or self.any_season,
            "step": bool(self.steps),
            "odd": bool(self.odd),
            "bimodal": self.bimodal,
            "spread": self.spread,
        }


@dataclass(slots=True)
class Tally:
    """Counts over the series of one cell."""

    series: int = 0
    alarms: dict[str, int] = field(default_factory=dict)
    hits: dict[str, float] = field(default_factory=dict)
    odd_right: int = 0
    odd_true: int = 0
    odd_claimed: int = 0
    wrong_numbers: list[str] = field(default_factory=list)
    any_alarm: int = 0

    def share(self, claim: str) -> float:
        """The share of the series, or of the odd points, in which it was found."""
        if claim == "odd":
            return self.odd_right / max(self.odd_true, 1)
        return self.hits.get(claim, 0) / self.series

    def add(self, case: Case, claims: Claims, expected: tuple[str, ...], ignore: frozenset[str]) -> None:
        self.series += 1
        truth = case.truth
        holds = {
            "trend": truth.trend != 0,
            "season": bool(truth.periods),
            "step": bool(truth.steps),
            "odd": bool(truth.odd),
            "bimodal": truth.bimodal,
            "spread": truth.spread,
        }
        false = {name: made for name, made in claims.made().items() if not holds[name] and name not in ignore}
        for name, made in false.items():
            self.alarms[name] = self.alarms.get(name, 0) + made
        self.any_alarm += any(false.values())
        for name in expected:
            self.hits[name] = self.hits.get(name, 0) + _is_hit(name, case, claims)
        if truth.odd:
            self.odd_true += len(truth.odd)
            self.odd_claimed += len(claims.odd)
            self.odd_right += len(truth.odd & claims.odd)


def _is_hit(name: str, case: Case, claims: Claims) -> bool:
    truth, n = case.truth, case.values.size
    if name == "trend":
        return claims.trend == truth.trend
    if name == "season":
        return claims.any_season or all(
            any(abs(claimed - period) <= period * max(0.02, 0.3 * period / n) for claimed in claims.periods)
            for period in truth.periods
        )
    if name == "step":
        near = max(2.0, 0.02 * n)
        present = np.flatnonzero(np.isfinite(case.values))
        seen = [present[min(np.searchsorted(present, place), present.size - 1)] for place in truth.steps]
        found = all(any(abs(claimed - place) <= near for claimed in claims.steps) for place in seen)
        return found and len(claims.steps) == len(truth.steps)
    if name == "odd":
        return truth.odd <= claims.odd
    if name == "shape":
        return claims.shape in truth.shapes
    return bool(getattr(claims, name))


def ours(case: Case) -> tuple[Claims, Description]:
    d = describe_series(case.values, output="full")
    direction = 0 if d.trend is None else {"rising": 1, "falling": -1}.get(d.trend.direction, 0)
    claims = Claims(
        trend=direction,
        periods=tuple(season.period for season in d.seasons),
        steps=tuple(point.index for point in d.change_points),
        odd=frozenset(a.index for a in d.anomalies),
        bimodal=d.distribution.kind == "bimodal",
        spread=d.volatility is not None and d.volatility.index is not None,
        shape=d.distribution.kind,
    )
    return claims, d


def peers(answer: dict[str, Any]) -> Claims:
    """The peer's answer; it names no period, so any season it claims counts as found."""
    return Claims(
        trend=int(answer["trend"]),
        any_season=bool(answer["season"]),
        steps=tuple(answer["steps"]),
        odd=frozenset(answer["odd"]),
        bimodal=bool(answer["bimodal"]),
        shape=str(answer["shape"]),
    )


def numbers_are_right(values: np.ndarray, text: str) -> str | None:
    """The first number of a text that numpy does not confirm to the digits shown, or None."""
    finite = values[np.isfinite(values)]
    truth = {
        "mean": finite.mean(),
        "median": np.median(finite),
        "std": finite.std(),
        "min": finite.min(),
        "max": finite.max(),
        "range": np.ptp(finite),
        "p5": np.percentile(finite, 5),
        "p25": np.percentile(finite, 25),
        "p75": np.percentile(finite, 75),
        "p95": np.percentile(finite, 95),
        "IQR": np.percentile(finite, 75) - np.percentile(finite, 25),
        "first": finite[0],
        "last": finite[-1],
    }
    if np.ptp(finite) > 0 and "slope" in text:
        at = np.flatnonzero(np.isfinite(values))
        truth["slope"] = np.polyfit(at - at.mean(), finite - finite.mean(), 1)[0]
        truth["R2"] = np.corrcoef(at, finite)[0, 1] ** 2
    if not text.startswith(f"count {finite.size}, missing {values.size - finite.size}"):
        return f"count in {text[:40]!r}"
    for label, number in truth.items():
        said = _labelled(text, label)
        if said is None:
            if np.ptp(finite) == 0:
                continue
            return f"{label} is not said"
        if abs(float(said) - number) > _half_unit(said) * 1.000001 + 1e-12 * max(abs(number), finite.std()):
            return f"{label} said {said}, numpy {number!r}"
    for label, place in (("min", int(np.nanargmin(values))), ("max", int(np.nanargmax(values)))):
        if np.ptp(finite) > 0 and f"{label} {_labelled(text, label)} at {place}," not in text:
            return f"{label} is at {place}"
    return None


def says_noise(text: str) -> str | None:
    """The measure by noise in a text about a series without any, or None."""
    return next((f"{word!r} without noise" for word in (" sigma ", "noise std", "confidence") if word in text), None)


def _labelled(text: str, label: str) -> str | None:
    for part in text.replace(". ", ", ").replace("constant: ", "").replace(" (", ", ").split(", "):
        words = part.rstrip(".").split(" ")
        if words[0] == label and len(words) > 1:
            return words[1]
    return None


def _half_unit(said: str) -> float:
    mantissa, _, power = said.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(power or 0) - decimals)
