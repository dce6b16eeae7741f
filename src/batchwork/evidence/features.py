"""What speaks for and against a place as the one that says a field: a handful of named features, each 0 to 1.

A score is their weighted sum (`model`).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.model import score
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.rows import Home
from batchwork.evidence.thresholds import NAMED_IN_FULL, NAMING
from batchwork.evidence.topics import Topics
from batchwork.evidence.words import GENERIC, PATTERNS, RELATED, ROOT, VOCABULARY, excludes, likeness, nearest, reach

_IMPLIED: dict[str, dict[str, float]] = VOCABULARY["implied"]  # by a kind of place alone, of words that say little
_ENDS = frozenset({"forecast", "previous", "start", "minimum", "low", "new", "end", "maximum", "high"})
_NOTHING: dict[str, float] = {}
_ALONE = (1.0, 0.0, 0.0)  # the only place of a value, with nothing around it
_FIGURES = (int, float, Decimal)
_PROSE = frozenset({"prose"})
_SHAPES = [(frozenset(names.split()), re.compile(shape)) for names, shape in PATTERNS["shapes"].items()]
NAMES = (
    "bias", "own", "parent", "described", "surplus", "conflict", "other", "neighbour", "weight",
    "exact", "shape", "early", "first", "line", "block", "wrong_end",
)  # fmt: skip
OF_VALUE = ("neighbour", "weight", "exact", "shape", "first")  # whatever the labels of a place are
_OWN, _CONFLICT = NAMES.index("own"), NAMES.index("conflict")


class Scored(Struct, frozen=True, gc=False):
    """A place of a field with its features and its score."""

    place: Place
    context: Context
    group: str
    features: list[float]
    score: float


class Scorer:
    """Features and scores of places for the fields of one result; `homes` are filled in when they are known."""

    def __init__(self, source: Source, fields: Sequence[Field]) -> None:
        self._text = source.text
        self.contexts = Contexts(source.layout)
        self.topics = Topics(source.layout, fields)
        self.homes: dict[str, Home] = {}
        self._names: dict[str, dict[tuple[str, ...], frozenset[str]]] = defaultdict(dict)  # with their reach
        for field in fields:
            self._names[field.scope][field.names] = reach(field.names)
        self._objects = sorted({field.parents for field in fields if field.parents and not field.record})
        self._owners: dict[tuple[str, tuple[str, ...]], tuple[float, tuple[tuple[str, ...], ...]]] = {}

    def entry(self, field: Field, place: Place, first: bool = True) -> Scored:
        """Any place with its features and score for a field."""
        context = self.contexts.of(place.start, place.end)
        around = self.topics.around(field, context.line)
        features = self.features(field, place, context, (float(first), *around))
        home = self.homes.get(field.record)
        shape = " free" if not context.kinds else " prose" if context.kinds == _PROSE else ""
        listed = "listed " if home is not None and place in home else ""
        group = listed + ("figure" if place.kind in FIGURES else "text") + shape
        return Scored(place, context, group, features, score(group, features))

    def features(self, field: Field, place: Place, context: Context, known: Sequence[float] = _ALONE) -> list[float]:
        """The features in the order of `NAMES`; `known` is what else is known of the place.

        How many places say the value, whether it is the first, and how much of the field's words stand around it.
        """
        mine = match(field.names, context.words)
        best, owners = self._owner(field.scope, context.words)
        first, line, block = known
        return [
            1.0,
            _coverage(field.own, context.weights, _IMPLIED.get(place.kind, _NOTHING)),
            _coverage(field.parents, context.weights, _NOTHING) if field.parents else 0.5,
            _described(field, context) if field.described else 0.0,
            _surplus(field.known, context.words, place.kind),
            _clash(field, context),
            best - mine if best > mine and field.names not in owners else 0.0,
            0.0,  # what its neighbours say is known when all fields have a place
            place.weight,
            float(place.exact),
            float(bool([one for one in _shapes(field.own) if one.fullmatch(self._text, place.start, place.end)])),
            1.0 / (1.0 + context.line),
            first,
            line,
            block,
            float(_is_wrong_end(field, context)),
        ]

    def label_match(self, field: Field, context: Context, least: float = 0.0) -> float:
        """How well the labels of any place name the field, whoever's value stands there."""
        mine = match(field.names, context.words)
        if context.behind and context.kinds <= _PROSE:
            mine = max(mine, match(field.names, context.words + context.behind))  # "with 30 days' notice"
        if mine < least or not mine:
            return 0.0
        best, owners = self._owner(field.scope, context.words)
        if best > mine + 0.1 and field.names not in owners:
            return 0.0
        return 0.0 if _clash(field, context) == 1.0 or self.is_other_objects(field, context) else mine

    def is_another_role(self, features: Sequence[float]) -> bool:
        """Whether a label or unit of a place is one that the field excludes, and nothing there names the field."""
        return features[_CONFLICT] == 1.0 and features[_OWN] < NAMED_IN_FULL

    def is_other_objects(self, field: Field, context: Context) -> bool:
        """Whether the surroundings of a place name another object of the result rather than the field's."""
        if field.record or not field.parents or len(self._objects) < 2:
            return False
        others = {word for group in self._objects for word in group} - set(field.parents)
        return _most(context.weights, others) > _most(context.weights, field.parents)

    def _owner(self, scope: str, words: tuple[str, ...]) -> tuple[float, tuple[tuple[str, ...], ...]]:
        """How well the best fitting name of the result fits a label, and which names those are."""
        known = self._owners.get((scope, words))
        if known is None:
            near, names = reach(words), self._names[scope].items()
            matches = [(match(name, words), name) for name, reached in names if not near.isdisjoint(reached)]
            best = max((score for score, _ in matches), default=0.0)
            known = self._owners[scope, words] = (best, tuple(name for score, name in matches if score == best))
        return known


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


def _coverage(words: Sequence[str], weights: Mapping[str, float], implied: Mapping[str, float]) -> float:
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


def _most(weights: Mapping[str, float], words: Iterable[str]) -> float:
    """The weight of the word nearest to a place that names one of some words."""
    return max((weight for word, weight in weights.items() if nearest(word, words) >= NAMING), default=0.0)


def _described(field: Field, context: Context) -> float:
    """How much of a label stands in the field's description."""
    best = 0.0
    for label in context.primary:
        words = [word for word in label.weights if word not in field.own]
        hits = sum(1 for word in words if nearest(word, field.described) >= NAMING)
        best = max(best, hits / len(words) if words else 0.0)
    return best


@lru_cache(maxsize=50_000)
def _surplus(known: tuple[str, ...], words: tuple[str, ...], kind: str) -> float:
    """The share of a label's words that the field knows nothing of."""
    implied = _IMPLIED.get(kind, _NOTHING)
    surplus = 0.0
    for word in words:
        if word not in implied and nearest(word, known) < 0.4:
            surplus += 0.5 if word in GENERIC else 1.0
    return surplus / len(words) if words else 0.0


def _clash(field: Field, context: Context) -> float:
    """Whether a label of a place names another role than the field's."""
    if not context.keys:
        return 0.0
    negative = isinstance(field.value, _FIGURES) and field.value < 0
    return max([_conflict(field.own, field.parents, key, prose, negative) for key, prose in context.keys])


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


def _is_wrong_end(field: Field, context: Context) -> bool:
    """Whether the field asks for one end of a range or a change and the place is another; nobody asks for what was."""
    told = context.is_past or "forecast" in context.words
    if not told and not context.ends:
        return False
    asked = _ENDS.intersection((*field.own, *field.parents))
    if context.ends and asked:
        return not any(word in ends for word in asked for ends in context.ends)
    return told and not asked and not any(word.isdigit() for word in field.own)


@lru_cache(maxsize=5_000)
def _shapes(own: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """The shapes by which a text shows that it is what a field is called: an e-mail address."""
    return tuple(shape for kinds, shape in _SHAPES if not kinds.isdisjoint(own))
