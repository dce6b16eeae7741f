"""How much of the benchmark can be read off a description, and how many tokens that saves.

The literal reader (`mock:reader`) answers only what stands in the text it is given, so its share of right answers is a
property of the text. Every task's fresh data is written in each way, asked about and judged as in a benchmark; the
truths come from numpy or the generator. Tokens are characters / 4 of the data part alone, raw numbers with six
significant digits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from statistics import mean

import numpy as np

from batchwork import Request, run
from batchwork.benchmarks.datasets import SHAPES, draw
from batchwork.benchmarks.prompts import Condition, condition_of, each, prompt_for
from batchwork.benchmarks.scoring import score
from batchwork.benchmarks.tasks import TASKS
from batchwork.benchmarks.trial import Dataset, Trial
from batchwork.core.request import Schema
from perf._harness import show_table, verdict
from perf.frame.peer import Peer

STATISTICAL, READABLE = 1.0, 0.9
SAVED = {500: 0.75, 10_000: 0.98}
LARGEST_RAW = 5000
APART = "multi_step"  # its answers are computed, not read
PEER = "semantic-frame 0.4.0"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m perf.answerability", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a cut of a few seconds, without the peer")
    parser.add_argument("--trials", type=int, default=None, help="per task (120)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SAVED), help="points at which tokens are counted")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    trials = options.trials or (12 if options.smoke else 120)
    peer = None if options.smoke else Peer()
    plan = {name: list(task.plan(trials, options.seed)) for name, task in TASKS.items()}
    shares = {name: {task: _share(name, way, made) for task, made in plan.items()} for name, way in _ways(plan, peer)}
    _show_shares(shares, trials)
    saved = {size: _saved(size, peer, options.seed) for size in options.sizes}
    _show_saved(saved)

    ours = shares["frame"]
    statistical, readable = ours["statistical"], _readable(ours)
    short = [size for size, bar in SAVED.items() if size in saved and min(saved[size]["frame"]) < bar]
    figure = f"{statistical:.1%} of statistical, {readable:.1%} of all but {APART}; " + ", ".join(
        f"{min(ways['frame']):.1%} fewer tokens at {size:,}" for size, ways in saved.items()
    )
    bar = f"100%, {READABLE:.0%}; " + ", ".join(f"{least:.0%} at {size:,}" for size, least in SAVED.items())
    ok = statistical >= STATISTICAL and readable >= READABLE and not short
    return verdict("answerability", figure, bar, ok=ok, timed=False)


def _ways(plan: Mapping[str, list[Trial]], peer: Peer | None) -> list[tuple[str, Condition]]:
    found = [(name, condition_of(name)) for name in ("frame", "summary-stats", "raw")]
    if peer is not None:
        found.append((PEER, _told_by(peer, [trial.dataset for made in plan.values() for trial in made])))
    return found


def _told_by(peer: Peer, datasets: list[Dataset]) -> Condition:
    """The peer's texts, which come from its own environment all at once."""
    series = [values for dataset in datasets for values in dataset.series.values()]
    texts = dict(zip(map(id, series), peer.texts(series), strict=True))
    return each(lambda values: texts[id(values)])


def _share(name: str, way: Condition, trials: list[Trial]) -> float:
    """The share of a task's questions that the literal reader answers rightly from one way of writing the data."""
    asked = [trial for trial in trials if name != "raw" or trial.dataset.size <= LARGEST_RAW]
    requests = []
    for trial in asked:
        prompt = prompt_for(trial.question, way(trial.dataset))
        schema = Schema.of(trial.question.form.schema)
        requests.append(Request.ask(prompt.user, system=prompt.system, schema=schema))
    outcomes = run(requests, model="mock:reader")
    return mean(score(trial, outcome.text or "").score for trial, outcome in zip(asked, outcomes, strict=True))


def _readable(by_task: Mapping[str, float]) -> float:
    """Over all tasks but the one whose answers are computed; every task has as many trials."""
    return mean(share for task, share in by_task.items() if task != APART)


def _saved(size: int, peer: Peer | None, seed: int) -> dict[str, list[float]]:
    """For each way of writing, the share of the raw text's tokens that it saves on one series of every kind."""
    dice = np.random.default_rng([seed, size])
    datasets = [
        Dataset(id=kind, kind=kind, series={"series": draw(recipe, dice, size).values})
        for kind, recipe in SHAPES.items()
    ]
    ways = [(name, condition_of(name)) for name in ("frame", "summary-stats")]
    if peer is not None:
        ways.append((PEER, _told_by(peer, datasets)))
    raw = condition_of("raw")
    return {name: [1.0 - len(way(dataset)) / len(raw(dataset)) for dataset in datasets] for name, way in ways}


def _show_shares(shares: Mapping[str, Mapping[str, float]], trials: int) -> None:
    head = (f"read rightly ({trials} trials a task)", *shares)
    rows = [(task, *(f"{by_task[task]:.1%}" for by_task in shares.values())) for task in TASKS]
    rows.append((f"all but {APART}", *(f"{_readable(by_task):.1%}" for by_task in shares.values())))
    show_table(head, rows)


def _show_saved(saved: Mapping[int, Mapping[str, list[float]]]) -> None:
    names = list(next(iter(saved.values())))
    rows = [
        (f"{size:,} points", *(f"{mean(ways[name]):.1%} ({min(ways[name]):.1%})" for name in names))
        for size, ways in saved.items()
    ]
    show_table(("tokens saved against raw: mean (least)", *names), rows)


if __name__ == "__main__":
    sys.exit(main())
