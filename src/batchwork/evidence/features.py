"""What speaks for and against a place as the one that says a field: a handful of named features, each 0 to 1.

A score is their weighted sum, and a confidence what came true of such scores; both are data (`model.json`), fitted on
the labelled documents.
"""

import json
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from operator import mul
from typing import Any

from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context
from batchwork.evidence.readers import FIGURES, Place
from batchwork.evidence.thresholds import ALMOST, BETTER_NAMED, FAINT, LOOSELY, NAMED_IN_FULL, NAMING
from batchwork.evidence.topics import Topics
from batchwork.evidence.words import GENERIC, PERIODS, UNITS, UNSPOKEN, excludes, is_party, likeness

# What a place says by its kind alone, of the words that say little.
_IMPLIED = {
    "date": {"date": 1.0, "day": 0.5, "time": 0.5},
    "money": {"amount": 0.8, "price": 0.4, "cost": 0.5, "fee": 0.3, "value": 0.6},
    "percent": {"rate": 0.9, "percent": 1.0},
    "number": {"number": 0.6, "amount": 0.5, "quantity": 0.3, "count": 0.6, "value": 0.6},
    "id": {"number": 0.6, "reference": 0.4, "name": 0.2},
    "text": {"name": 0.5, "description": 0.3, "status": 0.3, "type": 0.3},
    "symbol": {"currency": 1.0},
}
_ABLE = {  # the families of values that a kind of place can say
    "date": ("date", "text", "unknown"),
    "money": ("number", "text", "unknown"),
    "number": ("number", "rate", "text", "unknown"),
    "percent": ("number", "rate", "text", "unknown"),
}
_AGED = frozenset({"forecast", "previous", "start", "minimum", "low", "new", "end", "maximum", "high"})
_NOTHING: dict[str, float] = {}
_LOOSE = frozenset({"prose"})
_STRUCTURED = frozenset({"named", "left", "head", "over", "defined"})
_SHAPES = (
    (frozenset({"email"}), re.compile(r"\S+@\S+\.\w+")),
    (frozenset({"iban", "account"}), re.compile(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,4}){3,8}")),
    (frozenset({"phone", "fax"}), re.compile(r"[+(]?\d[\d\s()/.-]{6,}\d")),
    (frozenset({"website", "url", "link"}), re.compile(r"(?:https?://|www\.)\S+")),
)
NAMES = (
    "bias", "own", "parent", "other_parent", "described", "surplus", "other", "neighbour", "structured", "count",
    "weight", "exact", "wrong_end", "column", "shape", "early", "first", "line",
)  # fmt: skip
_OWN, _PARENT, _DESCRIBED, _SHAPE = map(NAMES.index, ("own", "parent", "described", "shape"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place for a field, with its labels, features and score; the group says which weights it is measured by."""

    place: Place
    context: Context
    group: str
    features: list[float]
    score: float


class Scorer:
    """Features of places for the fields of one result."""

    def __init__(self, text: str, fields: Sequence[Field], topics: Topics) -> None:
        self._text = text
        self._topics = topics
        self._names: dict[str, set[tuple[str, tuple[str, ...]]]] = defaultdict(set)
        for field in fields:
            self._names[field.scope].add((family(field), field.names))
        self._groups = sorted({field.parents for field in fields if field.parents and not field.record})
        self._owners: dict[tuple[str, str, tuple[str, ...]], tuple[float, tuple[tuple[str, ...], ...]]] = {}

    def features(
        self, field: Field, place: Place, context: Context, *, count: int = 1, first: bool = True, column: float = 0.0
    ) -> list[float]:
        """The features in the order of `NAMES`.

        `count` places say the value, of which this may be the first; in its `column` stands this share of its list's.
        """
        return [
            1.0,
            _coverage(field.own, context.weights, _IMPLIED.get(place.kind, _NOTHING)),
            _coverage(field.parents, context.weights, _NOTHING) if field.parents else 0.5,
            float(self.is_other_objects(field, context)),
            self._described(field, context) if field.described else 0.0,
            _surplus(field.known, context.words, place.kind),
            self._better_owner(field, context, place.kind),
            0.0,
            float(not _STRUCTURED.isdisjoint(context.kinds)),
            min(1.0, math.log(count) / 4),
            place.weight,
            float(place.exact),
            float(_is_wrong_end(field, context)),
            column,
            float(_has_shape(field, self._text[place.start : place.end])),
            1.0 / (1.0 + context.line),
            float(first),
            self._topics.on_line(field, context.line),
        ]

    def label_match(self, field: Field, context: Context, kind: str, least: float = 0.0) -> float:
        """How well the labels of any place name the field, whoever's value stands there; 0 where they are another's."""
        mine = match(field.names, context.words)
        if context.behind and context.kinds <= _LOOSE:
            mine = max(mine, match(field.names, context.words + context.behind))  # "with 30 days' notice"
        if mine < least or not mine or self._better_owner(field, context, kind) > BETTER_NAMED:
            return 0.0
        return 0.0 if self._clashes(field, context, kind) or self.is_other_objects(field, context) else mine

    def is_another_role(self, field: Field, entry: Candidate) -> bool:
        """Whether a label or unit of a place is one that the field excludes, and nothing there names the field."""
        return entry.features[_OWN] < NAMED_IN_FULL and self._clashes(field, entry.context, entry.place.kind)

    def is_unsaid(self, field: Field, entry: Candidate) -> bool:
        """Whether the text never speaks of what a value is: neither its labels nor any other word names the field.

        Somebody's name may stand without any label, as over a letter.
        """
        if "[" in field.path or UNSPOKEN.issuperset(field.telling):
            return False
        asked = [word for word in field.names if word not in GENERIC]
        if not entry.context.kinds and asked and all(map(is_party, asked)):
            return False
        features = entry.features
        said = max(features[_OWN], features[_PARENT] if field.parents else 0.0, features[_DESCRIBED] / 2)
        return said < FAINT and not features[_SHAPE] and not self._topics.speaks_of(field)

    def is_other_objects(self, field: Field, context: Context) -> bool:
        """Whether the surroundings of a place name another object of the result rather than the field's."""
        if field.record or not field.parents or len(self._groups) < 2:
            return False
        mine = theirs = 0.0
        others = {word for group in self._groups for word in group} - set(field.parents)
        for word, weight in context.weights.items():
            if any(likeness(word, own) >= NAMING for own in field.parents):
                mine = max(mine, weight)
            elif any(likeness(word, other) >= ALMOST for other in others):
                theirs = max(theirs, weight)
        return theirs > mine

    def _better_owner(self, field: Field, context: Context, kind: str) -> float:
        """By how much another name of the result fits the labels of a place better than the field's."""
        words = context.words
        known = self._owners.get((field.scope, kind, words))
        if known is None:
            able = _ABLE.get(kind, ("text", "date", "number", "rate", "unknown"))
            matches = [(match(name, words), name) for fam, name in self._names[field.scope] if fam in able]
            best = max((score for score, _ in matches), default=0.0)
            owners = tuple(sorted(name for score, name in matches if score == best))
            known = self._owners[field.scope, kind, words] = (best, owners)
        best, owners = known
        ahead = best - match(field.names, words)
        if ahead <= 0.0 or any(o == field.names or set(field.parents) & set(o) & set(words) for o in owners):
            return 0.0  # the field itself, or one of its object that the label names
        return ahead

    def _clashes(self, field: Field, context: Context, kind: str) -> bool:
        """Whether a label names a role that the field excludes, or a unit that is not the field's."""
        if kind in FIGURES and _has_other_unit(field.own, context.behind[:1]):
            return True
        negative = isinstance(field.value, int | float | Decimal) and field.value < 0
        return any(_conflicts(field.own, field.parents, key, prose, negative) for key, prose in context.keys)

    def _described(self, field: Field, context: Context) -> float:
        """How much of a label stands in the field's description."""
        best = 0.0
        for label in context.primary:
            words = [word for word in label.weights if word not in field.own]
            hits = sum(1 for word in words if any(likeness(word, other) >= NAMING for other in field.described))
            best = max(best, hits / len(words) if words else 0.0)
        return best


def family(field: Field) -> str:
    """What kind of value a field takes, as far as its own value and name tell."""
    value = field.value
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float | Decimal):
        return "rate" if {"rate", "percent"}.intersection(field.own) else "number"
    return "date" if isinstance(value, date) else "text"


@lru_cache(maxsize=50_000)
def match(name: tuple[str, ...], words: tuple[str, ...]) -> float:
    """How well a name and a label say the same: both ways, generic words for less."""
    if not name or not words:
        return 0.0
    return 0.5 * _share(name, words) + 0.5 * _share(words, name)


def _share(these: tuple[str, ...], those: tuple[str, ...]) -> float:
    total = said = 0.0
    for word in these:
        weight = 0.4 if word in GENERIC and len(these) > 1 else 1.0
        total += weight
        best = max(likeness(word, other) for other in those)
        said += weight * (best if best >= LOOSELY else 0.0)
    return said / total


def _coverage(words: Sequence[str], weights: dict[str, float], implied: dict[str, float]) -> float:
    """How much of some words is said by labels of these weights, or implied."""
    total = said = 0.0
    for word in words:
        worth = 0.6 if word in GENERIC and len(words) > 1 else 1.0
        best = implied.get(word, 0.0)
        for other, weight in weights.items():
            if weight > best:
                best = max(best, likeness(word, other) * weight)
        total += worth
        said += worth * best
    return said / total if total else 0.0


@lru_cache(maxsize=50_000)
def _surplus(known: tuple[str, ...], words: tuple[str, ...], kind: str) -> float:
    """The share of a label's words that the field knows nothing of."""
    implied = _IMPLIED.get(kind, _NOTHING)
    surplus = 0.0
    for word in words:
        if word not in implied and not any(likeness(word, other) >= 0.4 for other in known):
            surplus += 0.5 if word in GENERIC else 1.0
    return surplus / len(words) if words else 0.0


@lru_cache(maxsize=50_000)
def _conflicts(
    own: tuple[str, ...], parents: tuple[str, ...], words: tuple[str, ...], prose: bool, negative: bool
) -> bool:
    """Whether a label names another role than the field's: "Subtotal" for a total; a negative profit may be a loss.

    It does not when it says all of the field's words as well: "Payment due" for a due date.
    """
    found = False
    for word in words:
        if word in parents or any(likeness(word, other) >= NAMING for other in own):
            found = found and not prose  # in a sentence the words nearest to the value name it
        elif any(excludes(word, other) for other in (*own, *parents)):
            found = found or not (word in ("loss", "decline") and negative)
    telling = [word for word in own if word not in GENERIC]
    said = bool(telling) and all(any(likeness(word, other) >= NAMING for other in words) for word in telling)
    return found and not said


@lru_cache(maxsize=5_000)
def _has_other_unit(own: tuple[str, ...], behind: tuple[str, ...]) -> bool:
    """Whether a figure is measured in another unit than the field's name says: 14 days for a lead time in weeks."""
    asked = [word for word in own if word in UNITS or word in PERIODS] if len(own) > 1 else []
    return bool(asked) and bool(behind) and behind[0] not in asked and (behind[0] in UNITS or behind[0] in PERIODS)


def _is_wrong_end(field: Field, context: Context) -> bool:
    """Whether the place says what was, or the other end of a range or a change than the field asks for."""
    asked = _AGED.intersection((*field.own, *field.parents))
    if not asked:  # a year in the name asks for that year
        return any("previous" in ends for ends in context.ends) and not any(map(str.isdigit, field.own))
    return bool(context.ends) and not any(asked & ends.keys() for ends in context.ends)


def _has_shape(field: Field, said: str) -> bool:
    """Whether the text shows by its shape that it is what the field is called: an e-mail address."""
    return any(not kinds.isdisjoint(field.own) and shape.fullmatch(said) for kinds, shape in _SHAPES)


@cache
def model() -> dict[str, Any]:
    """The fitted weights of places and decisions by group, and the steps of the calibration."""
    fitted: dict[str, Any] = json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8"))
    return fitted


def score(group: str, features: Sequence[float]) -> float:
    """How well a place fits, as log odds."""
    weights: list[float] = model()["places"][group]
    total: float = sum(map(mul, weights, features))
    return total


def confidence(group: str, features: Sequence[float]) -> float:
    """How sure it is that the best place is right, 0 to 1, as often as that was so in the labelled documents."""
    weights: list[float] = model()["decisions"][group]
    odds = sum(map(mul, weights, features))
    raw = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
    steps: list[list[float]] = model()["calibration"]
    if not steps:
        return raw
    at = bisect_right([step[0] for step in steps], raw)
    if at == 0:
        return steps[0][1]
    if at == len(steps):
        return steps[-1][1]
    (low, low_value), (high, high_value) = steps[at - 1], steps[at]
    return low_value + (high_value - low_value) * (raw - low) / (high - low)
