"""The arithmetic behind `make perf-against`."""

import random
import subprocess
import sys
from statistics import median

import pytest

from perf._harness import ROOT
from perf.against import Interval, interval, judged, verdict_of


@pytest.mark.parametrize(
    ("rounds", "low", "high"),
    [(6, 0, 5), (7, 0, 6), (8, 0, 7), (9, 1, 7), (12, 2, 9), (20, 5, 14)],  # from tables of the sign test
)
def test_the_interval_leaves_out_as_many_rounds_as_it_may(rounds: int, low: int, high: int) -> None:
    ratios = [1 + i / 100 for i in range(rounds)]
    random.Random(rounds).shuffle(ratios)
    assert interval(ratios) == Interval(1 + low / 100, median(ratios), 1 + high / 100)


@pytest.mark.parametrize("rounds", range(6))
def test_too_few_rounds_have_no_interval_and_no_verdict(rounds: int) -> None:
    assert interval([1.0] * rounds) is None
    assert judged(interval([1.0] * rounds)) == "not judged: too few rounds"


def test_the_interval_holds_the_true_median_nineteen_times_of_twenty() -> None:
    dice = random.Random(7)
    held = 0
    for _ in range(2_000):
        seen = interval([dice.lognormvariate(0.0, 0.05) for _ in range(9)])
        assert seen is not None
        held += seen.low <= 1.0 <= seen.high
    assert held / 2_000 > 0.94


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.98, 1.02, "ok"),
        (1.00, 1.06, "ok"),  # not wholly above the bar
        (1.035, 1.05, "short"),
        (1.04, 1.60, "short"),
        (0.70, 1.02, "ok"),
        (0.95, 1.10, "not judged: the machine is too busy"),
    ],
)
def test_what_is_wholly_above_the_bar_is_short_and_what_says_nothing_is_not_judged(
    low: float, high: float, verdict: str
) -> None:
    assert judged(Interval(low, (low + high) / 2, high)) == verdict


def test_the_last_word_names_what_fell_short_before_what_could_not_be_judged() -> None:
    assert verdict_of({"engine": "ok", "http": "ok"}) == ("ok", 0)
    assert verdict_of({"engine": "ok", "http": "not judged: too few rounds"}) == ("not judged: http", 0)
    assert verdict_of({"engine": "short", "http": "not judged: too few rounds"}) == ("short: engine", 1)


def test_a_commit_that_is_not_there_is_an_error_that_says_how_to_name_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "perf.against", "no-such-commit"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "REF=COMMIT" in done.stderr
