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
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from operator import mul
from typing import Any

from msgspec import Struct

from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context
from batchwork.evidence.readers import FIGURES, Place
from batchwork.evidence.thresholds import FAINT, NAMED_IN_FULL, NAMING
from batchwork.evidence.words import (
    GENERIC,
    PERIODS,
    RELATED,
    ROOT,
    UNITS,
    UNSPOKEN,
    excludes,
    is_party,
    likeness,
    nearest,
    reach,
)

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
_STRUCTURED = frozenset({"named", "left", "head", "over", "defined", "below", "row"})
_SHAPES = (
    (frozenset({"email"}), re.compile(r"\S+@\S+\.\w+")),
    (frozenset({"iban", "account"}), re.compile(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,4}){3,8}")),
    (frozenset({"phone", "fax"}), re.compile(r"[+(]?\d[\d\s()/.-]{6,}\d")),
    (frozenset({"website", "url", "link"}), re.compile(r"(?:https?://|www\.)\S+")),
)
NAMES = (
    "bias", "own", "primary", "telling_words", "head_word", "parent", "other_parent", "described", "surplus",
    "conflict", "around_conflict", "other", "neighbour", "structured", "alone", "count", "telling", "weight", "exact",
    "past", "wrong_end", "column", "shape", "party", "topic", "early", "first", "line", "block",
)  # fmt: skip
_OWN, _PARENT, _DESCRIBED, _TOPIC, _SHAPE, _PARTY, _CONFLICT = map(
    NAMES.index, ("own", "parent", "described", "topic", "shape", "party", "conflict")
)


class Surroundings(Struct, frozen=True, kw_only=True, gc=False):
    """What is known of a place besides its labels: how many say the value, and what else of the field stands near."""

    count: int = 1
    first: bool = True
    column: float = 0.0  # the share of a list's values of this name that stand in the same column
    topic: float = 1.0  # the share of the field's words that the text speaks of anywhere
    line: float = 0.0  # the share that stands on the place's line, and in its paragraph
    block: float = 0.0
    neighbour: float = 0.0  # the share of the object's other fields whose places are near


class Scored(Struct, frozen=True, gc=False):
    """A place of a field with its features and its score."""

    place: Place
    context: Context
    group: str
    features: list[float]
    score: float


class Scorer:
    """Features of places for the fields of one result."""

    def __init__(self, text: str, fields: Sequence[Field]) -> None:
        self._text = text
        self._names: dict[str, set[tuple[str, tuple[str, ...]]]] = defaultdict(set)
        for field in fields:
            self._names[field.scope].add((family(field), field.names))
        self._groups = sorted({field.parents for field in fields if field.parents and not field.record})
        self._owners: dict[tuple[str, str, tuple[str, ...]], tuple[float, tuple[tuple[str, ...], ...]]] = {}

    def features(self, field: Field, place: Place, context: Context, around: Surroundings) -> list[float]:
        """The features in the order of `NAMES`."""
        implied = _IMPLIED.get(place.kind, _NOTHING)
        weights = context.weights
        own = _coverage(field.own, weights, implied)
        telling, words, count = field.telling, context.words, around.count
        mine = match(field.names, words)
        best, owners = self._owner(field.scope, place.kind, words)
        negative = isinstance(field.value, int | float | Decimal) and field.value < 0
        return [
            1.0,
            own,
            mine,
            _coverage(telling, context.near, _NOTHING) if telling else own,
            _coverage(telling[-1:], weights, implied) if telling else own,
            _coverage(field.parents, context.weights, _NOTHING) if field.parents else 0.5,
            self._other_parent(field, context),
            self._described(field, context) if field.described else 0.0,
            _surplus(field.known, words, place.kind),
            max(
                (_conflict(field.own, field.parents, key, prose, negative) for key, prose in context.keys),
                default=0.0,
            )
            if place.kind not in FIGURES or not _has_other_unit(field, context)
            else 1.0,
            max((_conflict(field.own, field.parents, key, False, negative) for key in context.around), default=0.0),
            best - mine if best > mine and not _shares(field, words, owners) else 0.0,
            around.neighbour,
            float(not _STRUCTURED.isdisjoint(context.kinds)),
            float(count == 1),
            min(1.0, math.log(count) / 4) if count > 1 else 0.0,
            float(field.is_telling),
            place.weight,
            float(place.exact),
            float(_is_past(field, context)),
            float(bool(context.ends) and _is_wrong_end(field, context)),
            around.column,
            float(_has_shape(field, self._text[place.start : place.end])),
            float(_asks_for_party(field.names)),
            around.topic,
            1.0 / (1.0 + context.line),
            float(around.first),
            around.line,
            around.block,
        ]

    def label_match(self, field: Field, context: Context, kind: str, least: float = 0.0) -> float:
        """How well the labels of any place name the field, whoever's value stands there."""
        mine = match(field.names, context.words)
        if context.behind and context.kinds <= _LOOSE:
            mine = max(mine, match(field.names, context.words + context.behind))  # "with 30 days' notice"
        if mine < least or not mine:
            return 0.0
        best, owners = self._owner(field.scope, kind, context.words)
        if best > mine + 0.1 and not _shares(field, context.words, owners):
            return 0.0
        clash = any(_conflict(field.own, field.parents, key, prose, False) == 1.0 for key, prose in context.keys)
        clash = clash or _has_other_unit(field, context)
        return 0.0 if clash or self._other_parent(field, context) else mine

    def is_another_role(self, features: Sequence[float]) -> bool:
        """Whether a label or unit of a place is one that the field excludes, and nothing there names the field."""
        return features[_CONFLICT] == 1.0 and features[_OWN] < NAMED_IN_FULL

    def is_unsaid(self, field: Field, context: Context, features: Sequence[float]) -> bool:
        """Whether the text never speaks of what a value is: neither its labels nor any other word names the field.

        Somebody's name may stand without any label, as over a letter.
        """
        if features[_PARTY] and not context.kinds:
            return False
        if "[" in field.path or UNSPOKEN.issuperset(field.telling):
            return False
        said = max(features[_OWN], features[_PARENT] if field.parents else 0.0, features[_DESCRIBED] / 2)
        return said < FAINT and not features[_TOPIC] and not features[_SHAPE]

    def is_anothers(self, field: Field, context: Context) -> bool:
        """Whether the labels of a place name another role, or another field of the result better than this one."""
        best, owners = self._owner(field.scope, "any", context.words)
        better = best > match(field.names, context.words) + 0.1 and not _shares(field, context.words, owners)
        clash = any(_conflict(field.own, field.parents, key, prose, False) == 1.0 for key, prose in context.keys)
        return better or clash or bool(self._other_parent(field, context))

    def is_other_objects(self, field: Field, context: Context) -> bool:
        """Whether the surroundings of a place name another object of the result than the field's."""
        return self._other_parent(field, context) > 0

    def _owner(self, scope: str, kind: str, words: tuple[str, ...]) -> tuple[float, tuple[tuple[str, ...], ...]]:
        """How well the best fitting name of the result fits a label, and which names those are."""
        known = self._owners.get((scope, kind, words))
        if known is None:
            able = _ABLE.get(kind, ("text", "date", "number", "rate", "unknown"))
            matches = [(match(name, words), name) for fam, name in self._names[scope] if fam in able]
            best = max((score for score, _ in matches), default=0.0)
            owners = tuple(sorted(name for score, name in matches if score == best))
            known = self._owners[scope, kind, words] = (best, owners)
        return known

    def _other_parent(self, field: Field, context: Context) -> float:
        """By how much the surroundings name another object of the result rather than the field's."""
        if field.record or not field.parents or len(self._groups) < 2:
            return 0.0
        mine = theirs = 0.0
        others = {word for group in self._groups for word in group} - set(field.parents)
        for word, weight in context.weights.items():
            if nearest(word, field.parents) >= NAMING:
                mine = max(mine, weight)
            elif nearest(word, others) >= 0.9:
                theirs = max(theirs, weight)
        return max(0.0, theirs - mine)

    def _described(self, field: Field, context: Context) -> float:
        """How much of a label stands in the field's description."""
        best = 0.0
        for label in context.primary:
            words = [word for word in label.weights if word not in field.own]
            hits = sum(1 for word in words if nearest(word, field.described) >= NAMING)
            best = max(best, hits / len(words) if words else 0.0)
        return best


def _is_past(field: Field, context: Context) -> bool:
    """Whether the place says what was, or a year before, and the field does not ask for that."""
    if not (context.is_past or "forecast" in context.words) or _AGED.intersection((*field.own, *field.parents)):
        return False
    return not any(word.isdigit() for word in field.own)


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
    if reach(name).isdisjoint(reach(words)):
        return 0.0
    return 0.5 * _share(name, words) + 0.5 * _share(words, name)


def _share(these: tuple[str, ...], those: tuple[str, ...]) -> float:
    total = said = 0.0
    for word in these:
        weight = 0.4 if word in GENERIC and len(these) > 1 else 1.0
        total += weight
        best = nearest(word, those)
        said += weight * (best if best >= 0.5 else 0.0)
    return said / total


def _coverage(words: Sequence[str], weights: dict[str, float], implied: dict[str, float]) -> float:
    """How much of some words is said by labels of these weights, or implied."""
    total = said = 0.0
    for word in words:
        worth = 0.6 if word in GENERIC and len(words) > 1 else 1.0
        best = implied.get(word, 0.0)
        root, related = word[:ROOT], RELATED.get(word, _NOTHING)
        for other, weight in weights.items():
            if weight > best and (other[:ROOT] == root or other in related):
                best = max(best, likeness(word, other) * weight)
        total += worth
        said += worth * best
    return said / total if total else 0.0


@lru_cache(maxsize=5_000)
def _asks_for_party(names: tuple[str, ...]) -> bool:
    asked = [part for part in names if part not in GENERIC]
    return bool(asked) and all(map(is_party, asked))


@lru_cache(maxsize=50_000)
def _surplus(known: tuple[str, ...], words: tuple[str, ...], kind: str) -> float:
    """The share of a label's words that the field knows nothing of."""
    implied = _IMPLIED.get(kind, _NOTHING)
    surplus = 0.0
    for word in words:
        if word not in implied and nearest(word, known) < 0.4:
            surplus += 0.5 if word in GENERIC else 1.0
    return surplus / len(words) if words else 0.0


@lru_cache(maxsize=50_000)
def _conflict(
    own: tuple[str, ...], parents: tuple[str, ...], words: tuple[str, ...], prose: bool, negative: bool
) -> float:
    """Whether a label names another role than the field's: "Subtotal" for a total; a negative profit may be a loss.

    It speaks less against the field when it says all of its words as well: "Payment due" for a due date.
    """
    found = False
    for word in words:
        if word in parents or nearest(word, own) >= NAMING:
            found = found and not prose  # in a sentence the words nearest to the value name it
        elif any(excludes(word, other) for other in (*own, *parents)):
            found = found or not (word in ("loss", "decline") and negative)
    telling = [word for word in own if word not in GENERIC]
    said = bool(telling) and all(nearest(word, words) >= NAMING for word in telling)
    return (0.4 if said else 1.0) if found else 0.0


def _has_other_unit(field: Field, context: Context) -> bool:
    """Whether a figure is measured in another unit than the field's name says: 14 days for a lead time in weeks."""
    if not context.behind or len(field.own) < 2 or not _is_unit(context.behind[0]) or _is_year(field.value):
        return False
    asked = [word for word in field.own if _is_unit(word)]
    return bool(asked) and nearest(context.behind[0], asked) < NAMING


def _is_unit(word: str) -> bool:
    return word in UNITS or word in PERIODS


def _is_year(value: Any) -> bool:
    return isinstance(value, int) and 1900 <= value <= 2100


def _shares(field: Field, words: tuple[str, ...], owners: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a label's best owners are this field, or fields of its object that the label names."""
    return any(owner == field.names or set(field.parents) & set(owner) & set(words) for owner in owners)


def _is_wrong_end(field: Field, context: Context) -> bool:
    """Whether the field asks for one end of a range or a change, and the place is the other."""
    asked = _AGED.intersection((*field.own, *field.parents))
    return bool(asked) and not any(word in ends for word in asked for ends in context.ends)


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
