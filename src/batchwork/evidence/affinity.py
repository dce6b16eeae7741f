"""How well the labels of a place fit a field: 1 is its own label, 0 none or another role's.

Three things count: how much of the field's name (and its parents and description) the labels say, how much more the
label says than the name, and whether another field of the same result would own that label better.
"""

import math
import re
from collections import defaultdict
from datetime import date
from decimal import Decimal
from functools import lru_cache

from batchwork.evidence.fields import Field
from batchwork.evidence.page.context import Context
from batchwork.evidence.page.labels import ASIDE, Label, is_year
from batchwork.evidence.vocabulary.lexicon import CURRENCIES, GENERIC
from batchwork.evidence.vocabulary.words import concepts, excludes, initials_of, is_known, likeness

# What the kind of value says by itself, so that a label need not: a date need not be called "date".
IMPLIED: dict[str, dict[str, float]] = {
    "date": {"date": 0.8, "day": 0.5, "time": 0.8},
    "number": {
        "amount": 0.7,
        "value": 0.6,
        "number": 0.4,
        "price": 0.15,
        "count": 0.5,
        "quantity": 0.1,
        "period": 0.5,
        "cost": 0.15,
    },
    "percent": {"rate": 0.85, "percent": 1.0, "amount": 0.3, "value": 0.5},
    "money": {
        "amount": 0.8,
        "payment": 0.5,
        "price": 0.3,
        "value": 0.6,
        "cost": 0.3,
        "usd": 0.8,
        "eur": 0.8,
        "fee": 0.15,
    },
    "id": {"number": 0.7, "reference": 0.4, "name": 0.1},
    "text": {"name": 0.6, "description": 0.4, "title": 0.3, "full": 0.4, "type": 0.4, "status": 0.2, "text": 0.5},
}
# Which families of fields a kind of place can belong to: a date's label is never a sum's.
_ANY = frozenset({"unknown", "flag", "rate", "number", "date", "text"})
_ABLE = {
    "number": frozenset({"unknown", "number", "text"}),
    "money": frozenset({"unknown", "number"}),
    "percent": frozenset({"unknown", "number", "rate"}),
    "date": frozenset({"unknown", "date"}),
    "text": frozenset({"unknown", "text"}),
    "id": frozenset({"unknown", "text"}),
    "flag": frozenset({"unknown", "flag"}),
}
_OTHER_ROLE = 0.25
_ALSO_OTHER_ROLE = 0.8
_OWNED_BY_ANOTHER = 0.45
_OTHER_OBJECT, _NO_OBJECT = 0.35, 0.92
_OTHER_COLUMN = 0.6
_OWNS = 0.6
_TOLD = 0.8
_SUMS = frozenset({"amount", "total", "line", "price", "value", "cost", *CURRENCIES})  # headings of any sum's column
_FIGURES = frozenset({"number", "money", "percent"})
_TO_COME = frozenset({"forecast", "guidance", "expect", "anticipat", "target", "new", "estimat"})
_ENDS = frozenset({"range", "from", "to"})
_BOUNDS = frozenset({"start", "minimum", "low", "end", "maximum", "high", "previous", "new"})
_OLD = frozenset({"previous", "start", "minimum", "low"})


class Affinity:
    """Scores places for the fields of one result."""

    def __init__(self, fields: list[Field]) -> None:
        self._names: dict[str, set[tuple[str, tuple[str, ...]]]] = defaultdict(set)  # by the list they belong to
        for field in fields:
            self._names[scope_of(field)].add((_family(field), _name(field)))
        self._groups = {field.parents for field in fields if field.parents and not field.record}
        self._owners: dict[tuple[str, str, tuple[str, ...]], tuple[float, set[tuple[str, ...]]]] = {}

    def score(self, field: Field, context: Context, kind: str, floor: float = 0.0) -> float:
        """How surely this place plays the field's role; 0 when that is surely not above `floor`."""
        if not field.words:
            return 0.0
        covered = self._coverage(field, context, kind)
        if covered <= floor:
            return 0.0
        covered *= self.fit(field, context, kind)
        if not context.primary or context.primary[0].kind in ("left", "inline"):
            for label in context.labels:
                if label.kind == "section" and all(map(is_known, label.key)) and self._conflicts(field, label):
                    covered *= 0.6
        return min(1.0, covered)

    def _coverage(self, field: Field, context: Context, kind: str) -> float:
        weights = _with_short_forms(field, context)
        implied = IMPLIED.get(kind, {})
        said = wanted = bonus = 0.0
        for word, weight in field.words.items():
            own = word in field.own
            best = 0.0
            for label_word, label_weight in weights.items():
                like = likeness(word, label_word)
                if like and like * label_weight > best:
                    best = like * label_weight
            if own:
                wanted += weight
                said += weight * max(best, implied.get(word, 0.0))
            elif word in field.parents:
                bonus += weight * (best - 0.15)
        described = self._described(field, context)
        if not wanted:
            return min(1.0, bonus + described)
        own_share = said / wanted + described
        if all(word in GENERIC for word in field.own) and field.parents:
            return min(1.0, 0.55 * own_share + bonus * 0.9)  # vendor.name: the vendor matters more than the name
        return min(1.0, own_share + 0.35 * bonus)

    def _described(self, field: Field, context: Context) -> float:
        """How much of a label stands in the field's description: all of it is nearly as good as the name."""
        described = [word for word in field.words if word not in field.own and word not in field.parents]
        if not described:
            return 0.0
        best = 0.0
        for label in context.primary:
            words = [word for word in label.key if word not in field.own]
            hits = sum(1 for word in words if any(likeness(word, other) >= 0.7 for other in described))
            if hits:
                best = max(best, (0.3 if hits == 1 and label.key != (words[0],) else 0.5) * hits / len(words))
        return best

    def fit(self, field: Field, context: Context, kind: str) -> float:
        """What the labels of the place take away by saying more than, or something else than, the field's name."""
        fit = 1.0
        row = any(label.kind == "left" and self._is_said_by(field, label) for label in context.primary)
        for label in context.primary:
            if not (row and label.kind == "above" and _SUMS.issuperset(label.key)):
                fit *= self._fit(field, label, kind)
        fit *= self._group_fit(field, context)
        if any(label.kind == "unit" and self._conflicts(field, label) for label in context.labels):
            fit *= _OTHER_ROLE
        if any(
            label.kind == "above" and label not in context.primary and self._conflicts(field, label)
            for label in context.labels
        ):
            fit *= _OTHER_COLUMN
        aged = bool(_OLD.intersection(field.words)) or any(word.isdigit() for word in field.words)
        aged = aged or any(_tells(label, field) for label in context.labels)
        if not aged and any(_is_past(label) for label in context.labels):
            fit *= _OTHER_ROLE  # what it was, or rose from, is not what it is
        if kind in _FIGURES and not _TO_COME.intersection(field.words) and any(map(_is_to_come, context.labels)):
            fit *= _OTHER_COLUMN  # what is expected is not what was reached
        if any(label.kind in _ENDS and _is_other_end(field, label) for label in context.labels):
            fit *= _OTHER_ROLE
        named = [label for label in context.primary if label.weights and label.kind not in ("section", "prose")]
        if named:
            together = tuple(dict.fromkeys(word for label in named for word in label.key))
            if self._owned_better(field, together, kind):
                fit *= _OWNED_BY_ANOTHER
        else:
            near = tuple(word for word, weight in context.weights.items() if weight >= 0.5)
            told = [label.key for label in context.primary if label.kind == "prose" and label.key]
            if self._owned_by_special(field, near, kind) or any(
                self._told_of_another(field, key, kind) for key in told
            ):
                fit *= _OWNED_BY_ANOTHER
        return fit

    def _group_fit(self, field: Field, context: Context) -> float:
        """Whether the surroundings name the object that the field belongs to, or another object of the result."""
        if field.record or not field.parents or len(self._groups) < 2:
            return 1.0
        mine = theirs = 0.0
        others = {word for group in self._groups for word in group} - set(field.parents)
        for word, weight in context.weights.items():
            if any(likeness(word, own) >= 0.7 for own in field.parents):
                mine = max(mine, weight)
            elif any(likeness(word, other) >= 0.9 for other in others):
                theirs = max(theirs, weight)
        if theirs > mine + 0.1:
            return _OTHER_OBJECT
        return 1.0 if mine else _NO_OBJECT

    def _fit(self, field: Field, label: Label, kind: str) -> float:
        words = label.key
        if not words:
            return 1.0
        fit = 1.0
        if self._conflicts(field, label):
            distinct = [word for word in field.own if word not in GENERIC] or list(field.own)
            all_there = all(any(likeness(word, other) >= 0.7 for other in words) for word in distinct)
            fit = _ALSO_OTHER_ROLE if all_there else _OTHER_ROLE
        implied = IMPLIED.get(kind, {})
        surplus = 0.0
        for word in words:
            if (word.isdigit() or word == "year") and ("previous" in words or "current" in words):
                continue  # the year that makes it the previous one
            if not self._known(field, word) and word not in implied:
                surplus += 0.5 if word in GENERIC else 1.0
        return fit * (1 - (0.12 if label.kind == "prose" else 0.25) * surplus / len(words))

    def heading_match(self, field: Field, text: str) -> float:
        """How well a heading alone names the field."""
        return _match(_name(field), _heading(text))

    def owned_by_another(self, field: Field, text: str) -> bool:
        """Whether a heading names another field of the result clearly better."""
        words = _heading(text)
        return bool(words) and self._owned_better(field, words, "any")

    def _conflicts(self, field: Field, label: Label) -> bool:
        found = False
        for word in label.key:
            if word in field.words or any(likeness(word, own) >= 0.7 for own in field.own):
                if label.kind == "prose":
                    found = False  # in a sentence the words nearest to the value name it
                continue
            if any(excludes(word, own) and not _is_negative_of(field, word) for own in (*field.own, *field.parents)):
                found = True
        return found

    def _is_said_by(self, field: Field, label: Label) -> bool:
        """Whether a label says all that tells this field from others."""
        asked = [word for word in field.own if word not in GENERIC]
        return bool(asked) and all(any(likeness(word, other) >= 0.7 for other in label.key) for word in asked)

    def _known(self, field: Field, word: str) -> bool:
        return any(likeness(word, other) >= 0.4 for other in field.words) or any(word == s for s, _ in field.initials)

    def _owned_by_special(self, field: Field, words: tuple[str, ...], kind: str) -> bool:
        """Whether another field is the same with something added, and the words say the addition."""
        mine, able = set(_name(field)), _ABLE.get(kind, _ANY)
        for family, name in self._names[scope_of(field)]:
            added = set(name) - mine
            if family in able and mine < set(name) and all(any(likeness(a, w) >= 0.7 for w in words) for a in added):
                return True
        return False

    def _owned_better(self, field: Field, words: tuple[str, ...], kind: str) -> bool:
        """Whether another field's name fits this label clearly better than this one's."""
        best, owners = self._owner(scope_of(field), kind, words)
        mine = _match(_name(field), words)
        if best < _OWNS or best <= mine + 0.12:
            return False
        # "Seller" above an address is the name's label too: fields of one object share what names the object.
        return not any(name == _name(field) or set(field.parents) & set(name) & set(words) for name in owners)

    def _told_of_another(self, field: Field, words: tuple[str, ...], kind: str) -> bool:
        """Whether the words right before a value in a sentence are all of another field's name and nothing of this."""
        if kind in ("text", "id", "flag") or _match(_name(field), words):
            return False
        best, owners = self._owner(scope_of(field), kind, words)
        return best > _TOLD and not any(set(field.parents) & set(name) for name in owners)

    def _owner(self, scope: str, kind: str, words: tuple[str, ...]) -> tuple[float, set[tuple[str, ...]]]:
        known = self._owners.get((scope, kind, words))
        if known is None:
            able = _ABLE.get(kind, _ANY)
            matches = [(_match(name, words), name) for family, name in self._names[scope] if family in able]
            best = max((match for match, _ in matches), default=0.0)
            known = self._owners[scope, kind, words] = (best, {name for match, name in matches if match == best})
        return known


def _is_other_end(field: Field, label: Label) -> bool:
    """Whether the field asks for one end of a range or a change, and the place is the other."""
    asked = [word for word in (*field.own, *field.parents) if word in _BOUNDS]
    return bool(asked) and not any(word in label.weights for word in asked)


def _is_negative_of(field: Field, word: str) -> bool:
    """Whether the field asks for a profit, the label says loss, and the value is below zero."""
    return word == "loss" and isinstance(field.value, int | float | Decimal) and field.value < 0


def _tells(label: Label, field: Field) -> bool:
    """Whether the words right behind a value are the field's own: "9.6 on admission to 10.9 at discharge"."""
    return label.kind == "after" and any(label.weights.get(word, 0.0) > 0.6 for word in field.own)


def _is_past(label: Label) -> bool:
    dated = label.kind == "above" and "previous" in label.weights and any(map(is_year, label.weights))
    return label.kind == "from" or dated


def _is_to_come(label: Label) -> bool:
    """Whether a sentence tells what somebody expects."""
    return label.kind == "inline" and any(label.weights.get(word, 0.0) > 0.6 for word in _TO_COME - {"new"})


def _with_short_forms(field: Field, context: Context) -> dict[str, float]:
    """What each concept is worth at a place, also where a label or the field's name says it in short: NI, VIN, SSN."""
    weights = context.weights
    for short, meant in field.initials:
        if short in weights:
            weights = {**weights, **dict.fromkeys(meant, weights[short])}
    for word in field.own:
        if 2 <= len(word) <= 4 and word not in weights:
            worth = max((_spelled_out(word, label) for label in context.labels), default=0.0)
            weights = {**weights, word: worth} if worth else weights
    return weights


def _spelled_out(short: str, label: Label) -> float:
    return max(label.weights.values(), default=0.0) if short in initials_of(label.text) else 0.0


def _heading(text: str) -> tuple[str, ...]:
    """What a heading says, without its asides."""
    return concepts(ASIDE.sub(" ", text)) or concepts(text)


def _is_fraction(value: Decimal | float) -> bool:
    finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
    return finite and 0 < abs(float(value)) < 1


def _name(field: Field) -> tuple[str, ...]:
    """The words that name a field; `vendor.name` is named by its vendor too, `items[0].name` by itself."""
    if field.own and all(word in GENERIC for word in field.own) and not field.record:
        return field.parents + field.own
    return field.own


def _family(field: Field) -> str:
    """What kind of value a field takes, as far as its own value and name tell."""
    value = field.value
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float | Decimal):
        fraction = isinstance(value, Decimal | float) and _is_fraction(value)
        return "rate" if fraction or "rate" in field.own or "percent" in field.own else "number"
    if isinstance(value, date) or field.form.startswith("date"):
        return "date"
    return "text"


def can_say(kind: str, field: Field) -> bool:
    """Whether a place of this kind can say such a field at all."""
    return _family(field) in _ABLE.get(kind, _ANY)


def scope_of(field: Field) -> str:
    """Fields compete for labels with those of the same list alone: a column's heading is not the document's."""
    return re.sub(r"\[\d+\]", "[]", field.record)


@lru_cache(maxsize=20_000)
def _match(name: tuple[str, ...], words: tuple[str, ...]) -> float:
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
        said += weight * (best if best >= 0.5 else 0.0)
    return said / total
