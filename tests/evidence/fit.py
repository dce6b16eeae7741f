"""Fit the weights of the evidence finder and calibrate its confidence on the open labelled documents.

`python -m tests.evidence.fit` writes `model.json` beside the finder; `--folds N` only says how well weights that were
fitted without a part of the papers do on that part, which is what a document of one's own may expect. Places are a
logistic regression; how sure the best one is are boosted trees (LightGBM, which only this program needs), with an
isotonic curve over what they say of papers that they were not fitted on. Besides the documents as they are, each is
asked for other things: fields under strange names, and fields with the value of another one, that must stay empty.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from batchwork.evidence import model
from batchwork.evidence.features import NAMES, Scored
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.find import SIGNS, Finder
from batchwork.evidence.readers import Source
from tests.evidence import papers
from tests.evidence.corpus.build import samples
from tests.evidence.corpus.draft import nested

MODEL = Path(model.__file__).with_name("model.json")
GROUPS = [
    *(
        listed + kind + shape
        for listed in ("", "listed ")
        for kind in ("figure", "text")
        for shape in ("", " free", " prose")
    ),
    "answer",
]
PAPERS_COUNT = 2.5  # a real paper counts as much as so many made ones: there are fewer of them
PAPERS_SAY = 10.0  # and so many times more when it is asked how sure a place is: made ones are sure too easily
MUTATED_COUNTS = 0.15  # what a question that must stay empty counts, of a document as it is; of papers less
SHARED_L2, PLACES_L2 = 1.0, 6.0
TREES = {
    "objective": "binary", "n_estimators": 30, "max_depth": 4, "num_leaves": 16, "learning_rate": 0.17,
    "min_child_samples": 20, "min_child_weight": 5, "subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.7,
    "reg_lambda": 5, "random_state": 1, "n_jobs": 1, "deterministic": True, "verbose": -1,
}  # fmt: skip
TURNED = 1.0  # the share of answers of yes or no that are turned round where other values are exchanged
KEPT_OUT = 5  # parts of the documents, each of which is asked of trees that were fitted on the others
BESIDE = 24
STRANGE = (
    "tyre_pressure crew_size harvest_yield launch_date wingspan kennel_name dance_partner boat_type hull_number"
    " violin_maker saddle_brand orchard_area battery_voltage vaccine_lot choir_conductor star_sign reactor_output"
    " mountain_guide film_director opening_chapter cheese_maker bridge_height tide_level stamp_colour rifle_calibre"
    " goalkeeper lighthouse_keeper moon_phase rainfall nest_count ticket_inspector aisle soil_ph helmet_size"
    " ferry_operator wine_importer ski_instructor toy_designer circus_manager zoo_director museum_guide harbour_pilot"
    " poet_laureate grain_trader pet_insurer chess_opponent tailor barber exorcist wedding_planner rescue_service"
)
# Which way a feature may speak; of those that are not here the documents decide.
FOR = (
    "own", "parent", "described", "neighbour", "weight", "exact", "shape", "line", "block", "score", "lead", "rival",
    "exchange", "contested", "more own", "more line", "more block", "more parent",
)  # fmt: skip
AGAINST = (
    "surplus", "conflict", "other", "wrong_end", "unsaid", "gap", "turned", "elsewhere", "unsure_home",
    "homeless", "more surplus", "more other",
)  # fmt: skip
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Truth:
    """Where a field may be cited; `phrase` when any part of a span will do."""

    path: str
    value: Any
    accepted: tuple[Span, ...]
    phrase: bool
    beside: int  # characters that a citation may have beside an accepted span

    def is_right(self, spans: Sequence[Span]) -> bool:
        for low, high in spans:
            for start, end in self.accepted:
                if low <= start and end <= high and (high - low) - (end - start) <= self.beside:
                    return True
                if self.phrase and low < end and start < high:
                    return True
        return False


@dataclass(frozen=True, slots=True)
class Case:
    """A text, what was answered, and where each field of the answer stands."""

    name: str
    text: str
    schema: Any
    truths: tuple[Truth, ...]
    weight: float = 1.0
    natural: bool = True
    real: bool = False


def made_cases(per_layout: int, seed: int) -> list[Case]:
    return [
        Case(
            sample.name,
            sample.document.text,
            sample.schema,
            tuple(Truth(label.path, label.value, label.accepted, label.inside, 0) for label in sample.labels),
        )
        for sample in samples(per_layout=per_layout, seed=seed)
    ]


def paper_cases() -> list[Case]:
    return [
        Case(
            paper.source,
            paper.document.text,
            paper.schema,
            tuple(Truth(entry.path, entry.value, entry.spans, "p" in entry.marks, BESIDE) for entry in paper.fields),
            PAPERS_COUNT,
            real=True,
        )
        for paper in papers.load("open").papers
    ]


def mutated(case: Case, dice: random.Random, strange: float = 0.2, swapped: float = 0.2, dropped: float = 0.4) -> Case:
    """The same document asked for other things, that must stay empty.

    The fields whose values were taken are left out now and then, so that nobody claims their places.
    """
    stated = [truth for truth in case.truths if truth.accepted and not isinstance(truth.value, bool)]
    changes: dict[str, Truth] = {}
    left_out: set[str] = set()
    for truth in stated:
        listed = "[" in truth.path
        roll = dice.random()
        if roll < strange and not listed:
            head, _, _ = truth.path.rpartition(".")
            name = dice.choice(STRANGE.split())
            path = f"{head}.{name}" if head and dice.random() < 0.5 else name
            changes[truth.path] = replace(truth, path=path, accepted=())
        elif roll < strange + swapped:
            others = [other for other in stated if _can_swap(truth, other)]
            if others:
                other = dice.choice(others)
                changes[truth.path] = replace(truth, value=other.value, accepted=())
                if dice.random() < dropped and not listed:
                    left_out.add(other.path)
    for truth in case.truths:
        if truth.accepted and isinstance(truth.value, bool) and dice.random() < TURNED:
            changes[truth.path] = replace(truth, value=not truth.value, accepted=())
    made: dict[str, Truth] = {}
    for truth in case.truths:
        if truth.path not in left_out or truth.path in changes:
            changed = changes.get(truth.path, truth)
            made.setdefault(changed.path, changed)
    return replace(case, truths=tuple(made.values()))


def exchanged(case: Case, dice: random.Random, share: float = 0.4) -> Case:
    """The same document with values exchanged: of like fields of two objects, else of any two; one figure of each list.

    What makes an element of a list known stays as it is: two rows whose values have all changed places are no mistake.
    """
    stated = [truth for truth in case.truths if truth.accepted and not isinstance(truth.value, bool)]
    dice.shuffle(stated)
    changes: dict[str, Truth] = {}
    lists: set[str] = set()
    for one in stated:
        name, listed = one.path.partition("[")[0], "[" in one.path
        if one.path in changes or name in lists or dice.random() > share:
            continue
        others = [other for other in stated if other.path not in changes and _can_swap(one, other)]
        twins = [other for other in others if other.path.rpartition(".")[2] == one.path.rpartition(".")[2]]
        if listed:
            figure = "." in one.path and not isinstance(one.value, str)
            others = [other for other in twins if figure and other.path.count("[") == one.path.count("[") == 1]
            lists.update([name] if others else [])
        if others:
            other = dice.choice(others if listed else twins or others)
            changes[one.path] = replace(one, value=other.value, accepted=())
            changes[other.path] = replace(other, value=one.value, accepted=())
    return replace(case, truths=tuple(changes.get(truth.path, truth) for truth in case.truths))


def _can_swap(one: Truth, other: Truth) -> bool:
    if type(one.value) is not type(other.value) or str(one.value) == str(other.value):
        return False
    if isinstance(one.value, str) and _shape(one.value) != _shape(other.value):
        return False  # nobody takes a name for a number
    if ("[" in one.path) != ("[" in other.path):
        return False
    if "[" not in one.path:
        return True
    same_name = one.path.rpartition("]")[2] == other.path.rpartition("]")[2]
    same_element = other.path.startswith(one.path[: one.path.rindex("]") + 1] + ".")
    return same_name != same_element


def _shape(text: str) -> tuple[bool, bool, bool]:
    return "@" in text, any(map(str.isdigit, text)), len(text.split()) > 4


@dataclass(frozen=True, slots=True)
class Asked:
    """One field of a case with its places."""

    case: Case
    truth: Truth
    field: Field
    finder: Finder
    scored: list[Scored]


def asked(cases: Sequence[Case]) -> list[Asked]:
    table = []
    for case in cases:
        fields = {
            field.path: field for field in fields_of(nested([(t.path, t.value) for t in case.truths]), case.schema)
        }
        finder = Finder(Source(case.text), list(fields.values()))
        scored = finder.scored()
        table += [Asked(case, t, fields[t.path], finder, scored[t.path]) for t in case.truths if t.path in fields]
    return table


def signs(names: Sequence[str]) -> Any:
    """By feature 1 where it may only speak for a place, -1 where only against, 0 where both."""
    return np.array([(name in FOR) - (name in AGAINST) for name in names], float)


def forest(rows: Any, answers: Any, weights: Any) -> list[Any]:
    """Boosted trees that say whether the best place is right, each as [sign, threshold, below, above] or a leaf."""
    import lightgbm

    fitted = lightgbm.train(
        {**TREES, "monotone_constraints": [int(way) for way in signs(SIGNS)]},
        lightgbm.Dataset(rows, answers, weight=weights, params={"verbose": -1}),
    )
    return [_tree(entry["tree_structure"]) for entry in fitted.dump_model()["tree_info"]]


def _tree(node: dict[str, Any]) -> Any:
    if "leaf_value" in node:
        return round(node["leaf_value"], 4)
    below, above = _tree(node["left_child"]), _tree(node["right_child"])
    return [node["split_feature"], round(node["threshold"], 4), below, above]


def choices(entries: Sequence[Asked], l2: float, rounds: int = 500) -> dict[str, list[float]]:
    """Weights by group that make the right places of each field likely, or none of them where it must stay empty.

    The places of a field and "none", which scores 0, share one softmax, so that scores of all groups are comparable.
    """
    used = [entry for entry in entries if entry.scored]
    x = np.array([place.features for entry in used for place in entry.scored])
    group = np.array([GROUPS.index(place.group) for entry in used for place in entry.scored])
    owner = np.repeat(np.arange(len(used)), [len(entry.scored) for entry in used])
    right = np.array([entry.truth.is_right(place.place.spans) for entry in used for place in entry.scored], float)
    counts = np.array([entry.case.weight for entry in used])
    none = (np.bincount(owner, right) == 0).astype(float)
    members = [np.flatnonzero(group == number) for number in range(len(GROUPS))]
    w = np.zeros((len(GROUPS) + 1, x.shape[1]))  # the last row is what all groups share
    first, second = np.zeros_like(w), np.zeros_like(w)
    way = signs(NAMES)
    z = np.zeros(len(x))
    for step in range(1, rounds + 1):
        for number, rows in enumerate(members):
            z[rows] = x[rows] @ (w[number] + w[-1])
        e = np.exp(np.clip(z, -30, 30))
        p = e / (1 + np.bincount(owner, e))[owner]
        good = e * right
        share = good / (none + np.bincount(owner, good))[owner]
        slope = counts[owner] * (p - share)
        gradient = np.stack([x[rows].T @ slope[rows] for rows in members])
        gradient = np.vstack([gradient + l2 * w[:-1], gradient.sum(axis=0) + SHARED_L2 * w[-1]])
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        rate = 0.1 * (1 - step / rounds) + 0.002
        w -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        w[-1] = np.where(way * w[-1] < 0, 0.0, w[-1])
        w[:-1] = np.where(way * (w[:-1] + w[-1]) < 0, -w[-1], w[:-1])
    return {name: [round(float(value), 3) for value in w[number] + w[-1]] for number, name in enumerate(GROUPS)}


def isotonic(raw: Sequence[float], right: Sequence[bool], weights: Sequence[float]) -> list[list[float]]:
    """A rising curve through what came true, as [promise, share] at the middle of each step, from nothing on."""
    blocks: list[list[float]] = []  # sum of promises, of what came true, of weights
    for promise, truth, weight in sorted(zip(raw, right, weights, strict=True)):
        if not weight:
            continue
        blocks.append([promise * weight, truth * weight, weight])
        while len(blocks) > 1 and (blocks[-2][1] + 1e-9) / blocks[-2][2] >= blocks[-1][1] / blocks[-1][2]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    merged: list[list[float]] = []
    for block in blocks:  # steps of few cases say little
        if merged and merged[-1][2] < 40:
            merged[-1] = [a + b for a, b in zip(merged[-1], block, strict=True)]
        else:
            merged.append(block)
    steps = [[round(a / w, 4), round(min(0.995, b / w), 4)] for a, b, w in merged]
    return [[0.0, 0.0], *steps, [1.0, steps[-1][1]]]


def write(fitted: dict[str, Any]) -> None:
    lines = ["{"]
    rows = [f'    "{group}": {json.dumps(weights)}' for group, weights in fitted["places"].items()]
    lines += ['  "places": {', ",\n".join(rows), "  },"]
    lines += ['  "trees": [', ",\n".join(f"    {json.dumps(tree)}" for tree in fitted["trees"]), "  ],"]
    lines += [f'  "calibration": {json.dumps(fitted["calibration"])}', "}"]
    MODEL.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model.model.cache_clear()


def fit(cases: Sequence[Case]) -> None:
    """Fit on these cases; the model in use is the new one afterwards."""
    known = model.model()["places"].get("answer", []) if MODEL.exists() else []
    if len(known) != len(NAMES):
        start = [0.0] * len(NAMES)
        start[0], start[NAMES.index("own")], start[NAMES.index("line")] = -4.0, 6.0, 2.0
        write({"places": dict.fromkeys(GROUPS, start), "trees": [], "calibration": []})
    fitted: dict[str, Any] = {"places": choices(asked(cases), PLACES_L2), "trees": [], "calibration": []}
    write(fitted)
    entries = [(entry, scored) for entry in asked(cases) for scored in _orders(entry.scored)]
    rows = np.array([entry.finder.signs(entry.field, scored) for entry, scored in entries])
    right = np.array([entry.truth.is_right(scored[0].place.spans) for entry, scored in entries])
    weights = np.array([entry.case.weight * (PAPERS_SAY if entry.case.real else 1.0) for entry, _ in entries])
    part = np.array([random.Random(entry.case.name).randrange(KEPT_OUT) for entry, _ in entries])
    raw = np.zeros(len(entries))
    for number in range(KEPT_OUT):
        out = part == number
        write({**fitted, "trees": forest(rows[~out], right[~out], weights[~out])})
        raw[out] = [model.confidence(row) for row in rows[out]]
    papers_only = [
        float(entry.case.real and entry.case.natural and scored is entry.scored) for entry, scored in entries
    ]
    fitted["trees"] = forest(rows, right, weights)
    fitted["calibration"] = isotonic(raw.tolist(), right.tolist(), papers_only)
    write(fitted)


def _orders(scored: list[Scored]) -> list[list[Scored]]:
    """The places as they are, and each of the next best as if it were the best: the trees learn as much from those."""
    turned = ([scored[rank], *scored[:rank], *scored[rank + 1 :]] for rank in range(1, min(3, len(scored))))
    return [scored, *turned] if scored else []


def training(cases: Sequence[Case]) -> list[Case]:
    """The cases with what else is asked of them."""
    dice = random.Random(11)
    return [
        *cases,
        *(
            replace(
                change(case, dice), weight=MUTATED_COUNTS * (0.3 if case.real else 1.0) * case.weight, natural=False
            )
            for case in cases
            for change in (mutated, mutated, exchanged)
        ),
    ]


def tally(cases: Sequence[Case]) -> list[tuple[float, bool, bool]]:
    """For every field its confidence, whether the place is right, and whether the document states it."""
    found = []
    for entry in asked(cases):
        verdicts = entry.finder.verdicts(entry.field, entry.scored)
        sure = verdicts[0].confidence if verdicts else 0.0
        right = bool(verdicts) and entry.truth.is_right(verdicts[0].place.spans)
        found.append((sure, right, bool(entry.truth.accepted)))
    return found


def report(found: Sequence[tuple[float, bool, bool]], name: str) -> None:
    stated = sum(is_stated for _, _, is_stated in found)
    empties = len(found) - stated
    for line in (0.5, 0.7, 0.8, 0.85, 0.88, 0.9, 0.92, 0.94, 0.95, 0.96):
        above = [(right, is_stated) for sure, right, is_stated in found if sure >= line]
        right = sum(r for r, _ in above)
        false = sum(not is_stated for _, is_stated in above)
        precision, recall = right / max(1, len(above)), right / stated
        print(f"{name} {line:.2f} precision {precision:.3f} recall {recall:.3f} empties {false} of {empties}")
    promises = sorted((sure, right) for sure, right, _ in found if sure)
    bins = [promises[len(promises) * n // 5 : len(promises) * (n + 1) // 5] for n in range(5)]
    error = sum(abs(sum(p for p, _ in part) - sum(r for _, r in part)) for part in bins) / len(promises)
    print(f"{name} calibration error {error:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-layout", type=int, default=4)
    parser.add_argument("--folds", type=int, default=0, help="only report, each part of the papers kept out in turn")
    arguments = parser.parse_args()
    made, real = made_cases(arguments.per_layout, 3), paper_cases()
    kept = MODEL.read_text() if MODEL.exists() else ""
    if arguments.folds:
        found: list[tuple[float, bool, bool]] = []
        order = sorted(real, key=lambda case: random.Random(case.name).random())
        for fold in range(arguments.folds):
            out = order[fold :: arguments.folds]
            fit(training([*made, *(case for case in order if case not in out)]))
            found += tally(out)
        report(found, "papers kept out")
        MODEL.write_text(kept)
        return
    fit(training([*made, *real]))
    report(tally(real), "papers")
    report(tally(made), "made")


if __name__ == "__main__":
    main()
