"""Decide what the level of a series does: nothing, a line, a curve, steps, or a line with steps.

One forward selection adds steps to any base, with the season's waves beside it; a penalised likelihood over
*independent* points (n over the inflation of the residuals) chooses. A model that leaves persistent residuals raises
the bar for itself and is chosen again, until it holds; a wandering series ends with no level claimed at all.
"""

import itertools
import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from batchwork.frame.axis import BEND, Axis, base_columns, step_columns
from batchwork.frame.noise import Floats, inflation, unpredictable, upper_persistence
from batchwork.frame.segments import LONGEST, SHORTEST, clear_steps, lone_jump

MOST_STEPS = 24
# parts, the end where they crowd, and the lengths at which such a curve is tried
_CURVES = (
    *((size, 0, 6 * size, math.inf) for size in (5, 9, 17)),
    *((size, crowd, 60 if size == 5 else 150, math.inf) for size in (5, 9) for crowd in (-1, 1)),
    *((BEND, crowd, 30, 149) for crowd in (0, -1, 1)),
)
_SHORT_STEP, _LONG_STEP = 2.95, 5.0  # in units of log(independent points): a height, a place among n, and caution
_STEP_FREEDOM = 2.0
_KNOWN_PLACE = 0.25  # share of the price that a step in a wide hole is spared: there are few of those
_BOTH, _SHORT = 2.0, 150  # a slope and steps at once, in a short series, are what slow noise looks like
_LEAST_HEIGHT = 14.5  # over sqrt(n), in standard deviations: smaller ones are what slow noise makes
_WANDER_PRICE = 3.2  # the same against noise with a memory, which needs no steps
_CURVE_PRICE = 1.5
_SHORT_CURVE = 1.3  # less in a short series
_LINE_PRICE = 1.5
_LEANS = (-0.5, -0.25, 0.0, 0.25, 0.5)  # where a ramp stands against the place of the step, in widths
_SOME_MEMORY = 0.35
_RAMP_TOLERANCE = 6.5  # in noise variances, or log(n) if more: what a ramp may win over a true step by chance
_CURVE_LEAVES = 0.5  # a curve that leaves more persistence than this may be a wandering series' own path


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A base with its steps (first position of each new level), what it leaves, and what it costs."""

    base: str  # "constant", "line" or "curve"
    curve_size: int
    crowd: int
    steps: tuple[int, ...]
    rss: float
    price: float
    parameters: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Level(_Candidate):
    """The chosen mean of a series and its fit."""

    fitted: Floats
    smooth: Floats  # the base's own part of the fit, without the steps
    season: Floats
    wanders: bool
    inflation: float


@lru_cache(maxsize=64)
def _base_basis(base: str, size: int, axis: Axis, crowd: int) -> tuple[Floats, Floats]:
    """An orthonormal basis of what a base can tell, and the room that it leaves for steps."""
    basis = np.asarray(np.linalg.qr(base_columns(base, size, axis, crowd))[0])
    return basis, _room(basis)


def step_price(n: int) -> float:
    """The price of a step: less in short series, where the many places that could imitate a curve are few."""
    return _SHORT_STEP + (_LONG_STEP - _SHORT_STEP) * min(max(math.log(n / 60.0) / math.log(5.0), 0.0), 1.0)


def shortest_segment(n: int) -> int:
    """A level must last this long to be a level; what is shorter is a group of odd points."""
    return int(min(max(5, 0.05 * n), 25))


def _room(basis: Floats) -> Floats:
    """For every place but the first, how much of a step there the basis leaves: its squared length outside."""
    inner = basis.sum(axis=0) - np.cumsum(basis, axis=0)[:-1]
    return np.asarray(np.arange(len(basis) - 1, 0, -1, dtype=np.float64) - np.einsum("ij,ij->i", inner, inner))


def step_gains(residual: Floats, room: Floats) -> Floats:
    """For every place, by how much a step there would lower the residual sum of squares."""
    n = residual.size
    tail = np.cumsum(residual)[:-1]  # minus the sum from each place on: the residual is orthogonal to the constant
    gains = np.zeros(n)
    np.divide(tail * tail, room, out=gains[1:], where=room > 1e-6 * n)
    return gains


def _blocked(steps: list[int], n: int, gap: int) -> NDArray[np.bool_]:
    blocked = np.zeros(n, dtype=bool)
    blocked[:gap] = True
    blocked[n - gap + 1 :] = True
    for place in steps:
        blocked[max(place - gap + 1, 0) : place + gap] = True
    return blocked


def forward_steps(z: Floats, orthonormal: Floats, room: Floats, most: int) -> list[tuple[tuple[int, ...], float]]:
    """The path of best next steps: after each one, all places so far and the residual sum of squares."""
    n, first = orthonormal.shape
    gap = shortest_segment(n)
    across = np.empty((first + most, n))  # the basis, a row each, with place for what is to come
    across[:first] = orthonormal.T
    residual = z - (across[:first] @ z) @ across[:first]
    path: list[tuple[tuple[int, ...], float]] = [((), float(residual @ residual))]
    room = room.copy()
    blocked = _blocked([], n, gap)
    too_little = 3 * step_price(n) * math.log(n)
    steps: list[int] = []
    for size in range(first, first + most):
        gains = step_gains(residual, room)
        gains[blocked] = 0.0
        place = int(gains.argmax())
        if gains[place] <= 0:
            break
        steps.append(place)
        blocked[max(place - gap + 1, 0) : place + gap] = True
        fresh, basis = across[size], across[:size]
        fresh[:place], fresh[place:] = 0.0, 1.0
        for _again in range(2):  # once is not orthogonal enough when the step is nearly in the span
            fresh -= (basis @ fresh) @ basis
        fresh /= math.sqrt(fresh @ fresh)
        residual -= fresh * (fresh @ residual)
        inner = fresh.cumsum()[:-1]
        room -= inner * inner
        path.append((tuple(sorted(steps)), float(residual @ residual)))
        if len(path) > 3 and path[-1][1] > 0 and n * math.log(path[-4][1] / path[-1][1]) < too_little:
            break  # three in a row that did not pay together: a fourth will not either (one alone may hide a pair)
    return path


def settle(z: Floats, columns: Floats, steps: tuple[int, ...]) -> tuple[int, ...]:
    """Move each step to its best place given the others: early ones were placed without the later."""
    n = z.size
    gap = shortest_segment(n)
    places = list(steps)
    for _ in range(2):
        before = list(places)
        for index in range(len(places)):
            others = places[:index] + places[index + 1 :]
            basis, _ = np.linalg.qr(np.column_stack([columns, step_columns(tuple(others), n)]))
            gains = step_gains(z - basis @ (basis.T @ z), _room(basis))
            gains[_blocked(others, n, gap)] = 0.0
            best = int(np.argmax(gains))
            if gains[best] > 0:
                places[index] = best
        if places == before:
            break
    return tuple(sorted(places))


def _candidates(z: Floats, axis: Axis, waves: Floats, draft: Level | None) -> list[_Candidate]:
    n = z.size
    floor = _floor(z)
    found: list[_Candidate] = []
    bases = [("constant", 0, 0), ("line", 0, 0)]
    if draft is None:
        bases += [("curve", size, crowd) for size, crowd, least, most in _CURVES if least <= n <= most]
    elif draft.base == "curve":
        bases.append(("curve", draft.curve_size, draft.crowd))
    for base, size, crowd in bases:
        basis, room = _base_basis(base, size, axis, crowd)
        if waves.shape[1]:
            basis = np.linalg.qr(np.column_stack([basis, waves]))[0]
            room = _room(basis)
        curve = (_CURVE_PRICE if n >= _SHORT else _SHORT_CURVE) * (size - 1)
        extra, plain = {"constant": (0.0, 1), "line": (_LINE_PRICE, 2)}.get(base, (curve, size))
        most = min(MOST_STEPS, n // shortest_segment(n) - 1) if base != "curve" else min(3, n // 40)
        for steps, rss in forward_steps(z, basis, room, most if n >= 12 else 0):
            sought = len(steps) - _KNOWN_PLACE * sum(axis.gap_before(place, 0.1 * axis.span) for place in steps)
            price = extra + step_price(n) * sought + (_BOTH if steps and base != "constant" and n < _SHORT else 0.0)
            parameters = plain + waves.shape[1] + _STEP_FREEDOM * len(steps)
            found.append(_Candidate(base, size, crowd, steps, rss + floor, price, parameters))
    return found


def _fit(z: Floats, axis: Axis, waves: Floats, choice: _Candidate) -> tuple[Floats, Floats, Floats]:
    """The fit split into base, steps and waves."""
    n = z.size
    parts = [base_columns(choice.base, choice.curve_size, axis, choice.crowd), step_columns(choice.steps, n), waves]
    columns = np.column_stack(parts)
    weights = np.linalg.lstsq(columns, z, rcond=None)[0]
    edges = np.cumsum([0] + [part.shape[1] for part in parts])
    smooth, steps, season = (columns[:, a:b] @ weights[a:b] for a, b in itertools.pairwise(edges))
    return smooth, steps, season


def choose_level(z: Floats, axis: Axis, waves: Floats, *, draft: bool = False, after: Level | None = None) -> Level:
    """The level of values at their places; `waves` are the season's columns, fitted beside it.

    A `draft` does not ask whether steps are sharp: for block means, where a step inside a block is not. `after` is the
    draft of nearly the same values: of all curves, only its own is looked at again.
    """
    candidates = _candidates(z, axis, waves, after)
    if SHORTEST <= z.size <= LONGEST and not waves.size and _floor(z) > 0:
        rival = min(z.size * math.log(c.rss) + c.price * math.log(z.size) for c in candidates if c.base != "constant")
        steps = clear_steps(z, axis, shortest_segment(z.size), rival, _floor(z))
        stepped = _few_levels(z, axis, steps, 1.0)
        if stepped is not None:
            return _level(z, axis, waves, stepped, 1.0)
    while True:
        choice, worth = _hold(z, axis, waves, candidates)
        kept = choice
        if choice.steps:
            columns = np.column_stack([base_columns(choice.base, choice.curve_size, axis, choice.crowd), waves])
            kept = _keep_sound(z, axis, columns, choice, worth, draft)
        if len(kept.steps) == len(choice.steps):
            break
        # without the steps that fell, another base may tell more
        candidates = [c for c in candidates if len(c.steps) <= len(kept.steps)]
    if z.size > LONGEST and not (draft or after or waves.size):
        kept = _lone_jump(z, axis, kept, worth)
    return _level(z, axis, waves, kept, worth)


def _lone_jump(z: Floats, axis: Axis, choice: _Candidate, worth: float) -> _Candidate:
    """One step in noise with a memory in place of a line, or where that noise shows it best."""
    if (choice.base, len(choice.steps)) not in (("line", 0), ("constant", 1)):
        return choice
    residual = z - sum(_fit(z, axis, np.zeros((z.size, 0)), choice))
    if upper_persistence(residual, choice.parameters) < _SOME_MEMORY:
        return choice
    least = shortest_segment(z.size)
    steps = lone_jump(z, axis, least)
    if steps and choice.steps and abs(steps[0] - choice.steps[0]) > least:
        return choice
    return _few_levels(z, axis, steps, worth) or choice


def _few_levels(z: Floats, axis: Axis, steps: tuple[int, ...], worth: float) -> _Candidate | None:
    """The constant with these steps, if there are some and each is a jump."""
    if not steps or min(_proofs(z, axis, np.ones((z.size, 1)), steps, worth, draft=False)) <= 0:
        return None
    return _Candidate("constant", 0, 0, steps, 0.0, step_price(z.size) * len(steps), 1.0 + _STEP_FREEDOM * len(steps))


def _hold(z: Floats, axis: Axis, waves: Floats, candidates: list[_Candidate]) -> tuple[_Candidate, float]:
    """The best candidate at the inflation that its own residuals show."""
    n = z.size
    worth = 1.0
    while True:
        rss = np.array([c.rss for c in candidates])
        price = np.array([c.price for c in candidates])
        independent = n / worth
        score = independent * np.log(np.maximum(rss, 1e-300)) + price * np.log(max(independent, 3.0))
        choice = candidates[int(np.argmin(score))]
        residual = z - sum(_fit(z, axis, waves, choice))
        if choice.base == "curve" and not _is_curve(z, residual, choice):
            candidates = [c for c in candidates if c.base != "curve"]
            continue
        heavier = inflation(residual, choice.parameters)
        if heavier <= worth * 1.05:
            return choice, worth
        worth = heavier


def _is_curve(z: Floats, residual: Floats, choice: _Candidate) -> bool:
    """Whether a smooth path is a curve, not a wandering series: it leaves hardly any persistence, or hardly anything.

    Of a random walk, a spline of m parts leaves about 1 / (pi^2 m) of the variance, and never a thirtieth of that.
    """
    if upper_persistence(residual, choice.parameters) <= _CURVE_LEAVES:
        return True
    return float(residual @ residual) < float(np.sum((z - z.mean()) ** 2)) / (np.pi**2 * choice.curve_size * 30.0)


def _level(z: Floats, axis: Axis, waves: Floats, choice: _Candidate, worth: float) -> Level:
    smooth, steps, season = _fit(z, axis, waves, choice)
    residual = z - smooth - steps - season
    wanders = upper_persistence(residual, choice.parameters) >= 1.0
    if choice.base == "curve" or float(residual @ residual) <= 4.0 * _floor(z):
        wanders = False  # a curve was told from wandering when it was chosen
    if wanders:
        choice = replace(choice, base="constant", curve_size=0, steps=(), price=0.0)
        smooth, steps, season = _fit(z, axis, waves, choice)
    rss = float(np.sum((z - smooth - steps - season) ** 2)) + _floor(z)
    fit = {"fitted": smooth + steps, "smooth": smooth, "season": season}
    return Level(**asdict(choice) | fit | {"rss": rss, "wanders": wanders, "inflation": worth})


def _floor(z: Floats) -> float:
    """The sum of squares below which a rest is rounding, not noise."""
    return z.size * (1e-9 * float(np.ptp(z))) ** 2


def _keep_sound(z: Floats, axis: Axis, columns: Floats, choice: _Candidate, worth: float, draft: bool) -> _Candidate:
    """Settle the places, then drop, weakest first, each step that does not stand on its own."""
    n = z.size
    enough = step_price(n) * math.log(max(n / worth, 3.0))
    steps = settle(z, columns, choice.steps)
    while steps:
        proofs = _proofs(z, axis, columns, steps, worth, draft)
        weakest = int(np.argmin(proofs))
        if proofs[weakest] >= enough and not _is_only_wandering(z, columns, steps):
            break
        steps = steps[:weakest] + steps[weakest + 1 :]
        if steps:
            steps = settle(z, columns, steps)
    fewer = len(choice.steps) - len(steps)
    price, parameters = choice.price - step_price(n) * fewer, choice.parameters - _STEP_FREEDOM * fewer
    return replace(choice, steps=steps, price=price, parameters=parameters)


def _is_only_wandering(z: Floats, columns: Floats, steps: tuple[int, ...]) -> bool:
    """Whether noise with a memory (an autoregression) foretells as well without the steps."""
    beside = np.column_stack([columns, step_columns(steps, z.size)])
    bases = (np.linalg.qr(known)[0] for known in (columns, beside))
    plain, stepped = (unpredictable(z - basis @ (basis.T @ z)) for basis in bases)
    if stepped[0] <= 0:
        return False
    told = z.size * math.log(plain[0] / stepped[0]) + 2.0 * (plain[1] - stepped[1])
    return told < _WANDER_PRICE * len(steps) * math.log(z.size)


def _proofs(z: Floats, axis: Axis, columns: Floats, steps: tuple[int, ...], worth: float, draft: bool) -> list[float]:
    """For each step, the log-likelihood it carries on its own; 0 for one that is no jump."""
    n = z.size
    floor = _floor(z)
    proofs = []
    for index, place in enumerate(steps):
        others = steps[:index] + steps[index + 1 :]
        basis, _ = np.linalg.qr(np.column_stack([columns, step_columns(others, n)]))
        residual = z - basis @ (basis.T @ z)
        gain = float(step_gains(residual, _room(basis))[place])
        rest = max(float(residual @ residual) - gain, 0.0) + floor
        most = gain + max(_RAMP_TOLERANCE, math.log(n)) * worth * rest / n
        sharp = draft or is_sharp(residual, axis, basis, place, most)
        height = gain / max(float(_room(basis)[place - 1]), 1e-300)  # squared
        sharp = sharp and height * n > _LEAST_HEIGHT**2 * rest / n
        proofs.append(n / worth * float(np.log1p(gain / rest)) if sharp else 0.0)
    return proofs


def is_sharp(residual: Floats, axis: Axis, basis: Floats, place: int, most: float) -> bool:
    """Whether no gradual rise around a place takes more than `most` (what a jump does, and a tolerance) off a residual.

    `residual` and `basis` are those of the model without this step.
    """
    n = residual.size
    widths = np.unique(np.geomspace(4, max(axis.span / 2, 5), 10).round())
    width = np.repeat(widths, len(_LEANS))
    ramps = (axis.at[:, None] - axis.at[place]) / width - np.tile(_LEANS, widths.size) + 0.5
    np.clip(ramps, 0.0, 1.0, out=ramps)
    free = ramps - basis @ (basis.T @ ramps)
    size = np.einsum("ij,ij->j", free, free)
    gains = (residual @ ramps) ** 2 / np.maximum(size, 1e-9 * n)
    return bool(gains.max() <= most)
