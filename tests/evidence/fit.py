"""Fit the weights of the evidence finder and calibrate its confidence on the open labelled documents."""

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from batchwork.evidence import decide, features, model
from batchwork.evidence.decide import DECISION_NAMES, Finder
from batchwork.evidence.features import NAMES
from batchwork.evidence.fields import fields_of
from batchwork.evidence.readers import Source
from tests.evidence.corpus.build import samples
from tests.evidence.corpus.draft import nested

MODEL = Path(model.__file__).with_name("model.json")


def is_right(spans, label):
    for low, high in spans:
        for start, end in label.accepted:
            if (low, high) == (start, end) or (label.inside and low < end and start < high):
                return True
    return False


def logistic(rows, answers, weights, l2):
    x, y, s = np.array(rows), np.array(answers, float), np.array(weights, float)
    w = np.zeros(x.shape[1])
    penalty = np.full(x.shape[1], l2)
    penalty[0] = l2 / 100
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        grad = x.T @ (s * (p - y)) + penalty * w
        h = (x * (s * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(h, grad)
        w -= step
        if np.abs(step).max() < 1e-6:
            break
    return w


def isotonic(raw, right):
    order = np.argsort(raw, kind="stable")
    blocks = []
    for at in order:
        blocks.append([raw[at], float(right[at]), 1])
        while len(blocks) > 1 and blocks[-2][1] / blocks[-2][2] >= blocks[-1][1] / blocks[-1][2]:
            last = blocks.pop()
            blocks[-1] = [last[0], blocks[-1][1] + last[1], blocks[-1][2] + last[2]]
    return blocks


STRANGE = (
    "tyre_pressure crew_size harvest_yield launch_date wingspan kennel_name dance_partner boat_type hull_number"
    " violin_maker saddle_brand orchard_area battery_voltage vaccine_lot choir_conductor star_sign reactor_output"
    " mountain_guide film_director opening_chapter cheese_maker bridge_height tide_level stamp_colour rifle_calibre"
    " goalkeeper lighthouse_keeper moon_phase rainfall nest_count ticket_inspector aisle soil_ph helmet_size"
    " ferry_operator wine_importer ski_instructor toy_designer circus_manager zoo_director museum_guide harbour_pilot"
    " poet_laureate grain_trader pet_insurer chess_opponent tailor barber exorcist wedding_planner rescue_service"
).split()


def mutated(sample, dice, strange=0.2, swapped=0.2, dropped=0.4):
    """The same document asked for other things: fields under strange names, fields with the value of another one.

    Both must stay empty; the fields whose values were taken are left out now and then, so that nobody claims them.
    """
    labels = list(sample.labels)
    made = []
    taken = set()
    plain = [l for l in labels if l.accepted and not isinstance(l.value, bool) and "[" not in l.path]
    listed = [l for l in labels if l.accepted and not isinstance(l.value, bool) and "[" in l.path]
    changes = {}
    for label in plain:
        roll = dice.random()
        if roll < strange:
            head, _, _ = label.path.rpartition(".")
            name = dice.choice(STRANGE)
            changes[label.path] = replace(label, path=f"{head}.{name}" if head and dice.random() < 0.5 else name, accepted=(), traps=("strange",))
        elif roll < strange + swapped:
            others = [o for o in plain if type(o.value) is type(label.value) and o.value != label.value and str(o.value) != str(label.value)]
            if others:
                other = dice.choice(others)
                changes[label.path] = replace(label, value=other.value, accepted=(), traps=("swapped",))
                if dice.random() < dropped:
                    taken.add(other.path)
    for label in listed:
        if dice.random() < swapped:
            stem = label.path.rpartition("]")[2]
            record = label.path[: label.path.rindex("]") + 1]
            others = [o for o in listed if type(o.value) is type(label.value) and o.value != label.value
                      and (o.path.rpartition("]")[2] == stem) != (o.path.startswith(record + "."))]
            if others:
                changes[label.path] = replace(label, value=dice.choice(others).value, accepted=(), traps=("swapped",))
    seen = set()
    for label in labels:
        label = changes.get(label.path, label)
        if label.path in seen or (label.path in taken and label.path not in changes and "[" not in label.path):
            continue
        seen.add(label.path)
        made.append(label)
    return replace(sample, labels=tuple(made), value=nested([(l.path, l.value) for l in made]))


def collect(made):
    table = []
    for sample in made:
        fields = fields_of(sample.value, sample.schema)
        finder = Finder(Source(sample.document.text), fields)
        scored = finder.scored()
        table.append((sample, fields, finder, scored))
    return table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--per-layout", type=int, default=4)
    parser.add_argument("--l2", type=float, default=2.0)
    arguments = parser.parse_args()
    groups = [a + b + c for a in ("", "listed ") for b in ("figure", "text") for c in ("", " free", " prose")] + ["answer"]
    if not MODEL.exists() or len(json.loads(MODEL.read_text())["places"]["answer"]) != len(NAMES) or len(json.loads(MODEL.read_text())["decisions"]["answer"]) != len(DECISION_NAMES):
        start = [0.0] * len(NAMES)
        start[NAMES.index("primary")] = 4
        start[NAMES.index("own")] = 4
        start[0] = -4
        dec = [0.0] * len(DECISION_NAMES)
        dec[1] = 8.0
        MODEL.write_text(json.dumps({"places": {g: start for g in groups}, "decisions": {g: dec for g in groups}, "calibration": []}))
        model._model.cache_clear()
    made = samples(per_layout=arguments.per_layout, seed=3)
    dice = random.Random(11)
    train = [*made, *(mutated(sample, dice) for sample in made for _ in range(2))]
    table = collect(train)
    rows = defaultdict(list); answers = defaultdict(list); weights = defaultdict(list)
    for sample, fields, finder, scored in table:
        for label in sample.labels:
            entries = scored[label.path]
            for entry in entries:
                rows[entry.group].append(entry.features)
                answers[entry.group].append(is_right(entry.place.spans, label))
                weights[entry.group].append(1 / len(entries) ** 0.5)
    fitted = json.loads(MODEL.read_text())
    for g in groups:
        if rows[g]:
            w = logistic(rows[g], answers[g], weights[g], arguments.l2)
            fitted["places"][g] = [round(float(v), 3) for v in w]
            print(g, len(rows[g]), round(sum(answers[g]) / len(answers[g]), 3))
    MODEL.write_text(json.dumps(fitted)); model._model.cache_clear()
    table = collect(train)
    rows = defaultdict(list); answers = defaultdict(list)
    everything = []
    for sample, fields, finder, scored in table:
        by = {f.path: f for f in fields}
        for label in sample.labels:
            entries = scored[label.path]
            if not entries:
                continue
            x = finder.decision(by[label.path], entries)
            rows[entries[0].group].append(x); answers[entries[0].group].append(is_right(entries[0].place.spans, label))
    for g in groups:
        if rows[g]:
            w = logistic(rows[g], answers[g], np.ones(len(rows[g])), 0.3)
            fitted["decisions"][g] = [round(float(v), 3) for v in w]
            p = 1 / (1 + np.exp(-np.array(rows[g]) @ w))
            everything += list(zip(p, answers[g]))
    raw = np.array([p for p, _ in everything]); right = np.array([r for _, r in everything], float)
    for line in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        cited = raw >= line
        print(line, "precision", right[cited].mean().round(4), "found", int(right[cited].sum()), "of", int(sum(bool(l.accepted) for s in train for l in s.labels)))
    MODEL.write_text(json.dumps(fitted)); model._model.cache_clear()


if __name__ == "__main__":
    main()
