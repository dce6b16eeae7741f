"""The statistics against scipy, against published tables, and against their own properties."""

from __future__ import annotations

from itertools import product
from math import asin, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from batchwork.benchmarks.statistics import (
    bootstrap_interval,
    cohens_h,
    difference_interval,
    exact_p,
    holm,
    independent_samples,
    matched_odds_ratio,
    percentiles,
    power_of,
    shares,
    smallest_difference,
    trials_needed,
    trials_per_task,
    wilson,
)

counts = st.integers(min_value=0, max_value=60)
p_values = st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=12)


# -- a share --------------------------------------------------------------------------------------


@given(right=counts, wrong=counts)
def test_wilsons_interval_is_scipys(right: int, wrong: int) -> None:
    if right + wrong == 0:
        return
    ours = wilson(right, right + wrong)
    theirs = stats.binomtest(right, right + wrong).proportion_ci(method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_wilsons_interval_of_81_of_263_is_the_published_one() -> None:
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)  # Newcombe 1998, method 3


def test_wilsons_interval_is_never_a_point_and_never_leaves_0_to_1() -> None:
    for right in (0, 1):
        low, high = wilson(right, 1)
        assert 0 <= low < high <= 1


@pytest.mark.parametrize(("right", "samples"), [(1, 0), (-1, 5), (6, 5)])
def test_what_is_not_a_share_has_no_interval(right: int, samples: int) -> None:
    with pytest.raises(ValueError, match="not a share"):
        wilson(right, samples)


# -- a difference of paired shares ----------------------------------------------------------------


@given(first=counts, second=counts)
def test_with_one_pair_per_data_set_the_exact_test_is_mcnemars(first: int, second: int) -> None:
    theirs = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert exact_p([-1] * first + [1] * second + [0] * 7) == pytest.approx(theirs, rel=1e-9)


def test_mcnemars_exact_p_of_6_against_0_is_one_in_32() -> None:
    assert exact_p([1] * 6) == 1 / 32


@given(st.lists(st.integers(min_value=-4, max_value=4), max_size=9))
def test_the_exact_test_counts_all_tosses_of_the_data_sets(nets: list[int]) -> None:
    totals = [
        sum(sign * net for sign, net in zip(signs, nets, strict=True)) for signs in product((-1, 1), repeat=len(nets))
    ]
    far = sum(abs(total) >= abs(sum(nets)) for total in totals)
    assert exact_p(nets) == pytest.approx(far / len(totals))


@given(st.lists(st.integers(min_value=-3, max_value=3), max_size=40))
def test_which_condition_is_called_the_treatment_does_not_change_p(nets: list[int]) -> None:
    assert exact_p(nets) == pytest.approx(exact_p([-net for net in nets]))


def test_no_discordant_pair_is_no_evidence_at_all() -> None:
    assert exact_p([]) == exact_p([0, 0, 0]) == 1.0


@given(second=counts, first=counts, rest=counts)
def test_the_interval_holds_its_estimate_and_stays_within_what_is_possible(second: int, first: int, rest: int) -> None:
    pairs = second + first + rest
    if pairs:
        low, high = difference_interval(second, first, pairs)
        assert -1 <= low < high <= 1
        assert low <= (second - first) / pairs <= high


@given(second=counts, first=counts, rest=counts)
def test_zero_is_outside_of_the_interval_exactly_when_the_exact_p_is_below_5_percent(
    second: int, first: int, rest: int
) -> None:
    if second + first + rest:
        low, high = difference_interval(second, first, second + first + rest)
        assert (low > 0 or high < 0) == (exact_p([1] * second + [-1] * first) < 0.05)


@given(second=counts, first=counts, rest=counts)
def test_the_interval_turns_over_with_the_sides(second: int, first: int, rest: int) -> None:
    if pairs := second + first + rest:
        low, high = difference_interval(second, first, pairs)
        assert difference_interval(first, second, pairs) == pytest.approx((-high, -low))


def test_the_interval_of_pairs_that_all_agree_says_what_so_few_leave_open() -> None:
    narrow, wide = difference_interval(0, 0, 200), difference_interval(0, 0, 10)
    assert wide.low < narrow.low < 0 < narrow.high < wide.high
    assert narrow.high == pytest.approx(3.7 / 200, rel=0.02)  # the rule of three, for a tail of 2.5%


def test_pairs_of_one_data_set_count_as_one_sample() -> None:
    assert independent_samples([1] * 60) == 60
    assert independent_samples([3] * 20) == 20
    assert independent_samples([5, 1, 1]) == pytest.approx(49 / 27)  # one of them has most of the say
    alone, together = difference_interval(20, 0, 60), difference_interval(20 / 3, 0, 20)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize(("second", "first", "samples"), [(1, 0, 0), (-1, 0, 5), (3, 3, 5)])
def test_what_are_not_shares_of_pairs_have_no_interval(second: int, first: int, samples: int) -> None:
    with pytest.raises(ValueError, match="not shares"):
        difference_interval(second, first, samples)


@pytest.mark.parametrize("pairs", [1, 2, 3, 5, 7, 10, 14, 20])
def test_whatever_is_true_the_interval_holds_it_in_95_of_100_runs(pairs: int) -> None:
    """By all that can happen in each of 861 worlds; from two pairs on some world comes near 95%."""
    second, first = np.array([(b, c) for b in range(pairs + 1) for c in range(pairs + 1 - b)]).T
    ends = np.array([difference_interval(b, c, pairs) for b, c in zip(second, first, strict=True)])
    steps = np.linspace(0, 1, 41)
    coverage = []
    for one, other in ((p, q) for p in steps for q in steps if p + q < 1 + 1e-9):
        chance = stats.multinomial.pmf(
            np.column_stack([second, first, pairs - second - first]), pairs, [one, other, max(0.0, 1 - one - other)]
        )
        holds = (ends[:, 0] <= one - other + 1e-9) & (one - other - 1e-9 <= ends[:, 1])
        coverage.append(float(chance[holds].sum()))
    assert min(coverage) >= 0.95
    assert pairs < 2 or min(coverage) < 0.98


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=60), st.integers(min_value=0, max_value=9))
def test_the_bootstrap_holds_its_estimate_and_is_the_same_for_the_same_seed(nets: list[int], seed: int) -> None:
    low, high = bootstrap_interval(nets, [1] * len(nets), seed=seed)
    assert -1 <= low <= sum(nets) / len(nets) <= high <= 1
    assert low < high
    assert bootstrap_interval(nets, [1] * len(nets), seed=seed) == (low, high)


def test_the_bootstrap_draws_whole_data_sets() -> None:
    alone = bootstrap_interval([1] * 20 + [0] * 40, [1] * 60, seed=0)
    together = bootstrap_interval([3] * 7 + [0] * 13, [3] * 20, seed=0)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_the_odds_ratio_is_finite_and_turns_over_with_the_sides() -> None:
    assert matched_odds_ratio(9, 4) == pytest.approx(9.5 / 4.5)
    assert matched_odds_ratio(0, 0) == 1.0
    assert matched_odds_ratio(5, 0) == pytest.approx(1 / matched_odds_ratio(0, 5))


def test_cohens_h_is_the_difference_of_the_arcsines() -> None:
    assert cohens_h(0.25, 0.75) == pytest.approx(2 * asin(sqrt(0.75)) - 2 * asin(0.5))
    assert cohens_h(0.0, 1.0) == pytest.approx(np.pi)
    assert cohens_h(0.4, 0.4) == 0.0


# -- many questions -------------------------------------------------------------------------------


def test_holms_method_on_a_textbook_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(p_values)
def test_adjusting_never_lowers_a_p_and_keeps_the_order(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(low <= high <= 1 for low, high in zip(values, adjusted, strict=True))
    assert sorted(range(len(values)), key=lambda at: (adjusted[at], values[at])) == sorted(
        range(len(values)), key=lambda at: values[at]
    )


@given(p_values)
def test_equal_weights_are_no_weights(values: list[float]) -> None:
    assert holm(values, [0.5] * len(values)) == pytest.approx(holm(values))


def test_a_question_with_half_of_the_weight_pays_half_as_much_as_two() -> None:
    assert holm([0.02, 0.5, 0.5], [0.5, 0.25, 0.25])[0] == pytest.approx(0.04)


def test_the_shares_of_all_questions_are_one_together() -> None:
    for tasks, treatments in product(range(2, 7), range(1, 4)):
        share = shares(tasks, treatments)
        assert treatments * share.overall + treatments * tasks * share.task == pytest.approx(1)


def test_with_one_task_it_and_the_whole_are_one_question() -> None:
    assert shares(1, 2) == (0.5, 0.5)


# -- what a number of pairs can show --------------------------------------------------------------


@pytest.mark.parametrize(("pairs", "difference", "discordance"), [(9, 0.5, 0.7), (25, 0.3, 0.4), (40, 0.2, 0.2)])
def test_the_power_is_the_sum_over_all_that_can_happen(pairs: int, difference: float, discordance: float) -> None:
    for_it, against = (discordance + difference) / 2, (discordance - difference) / 2
    found = sum(
        stats.multinomial.pmf([a, b, pairs - a - b], pairs, [for_it, against, 1 - discordance])
        for a in range(pairs + 1)
        for b in range(pairs + 1 - a)
        if a > b and stats.binomtest(a, a + b).pvalue <= 0.05
    )
    assert power_of(pairs, difference, discordance=discordance) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("detect", [0.02, 0.05, 0.1, 0.3])
def test_the_trials_needed_are_about_those_of_the_usual_formula(detect: float) -> None:
    usual = (1.96 + 0.8416) ** 2 * 0.4 / detect**2  # for large samples, and without the caution of an exact test
    assert usual <= trials_needed(0.8, detect) <= 1.06 * usual + 10


@given(power=st.sampled_from([0.5, 0.8, 0.9]), detect=st.floats(min_value=0.05, max_value=0.9))
def test_the_trials_needed_have_the_power_they_are_needed_for(power: float, detect: float) -> None:
    pairs = trials_needed(power, detect)
    assert power_of(pairs, detect, discordance=max(0.4, detect)) >= power


@given(pairs=st.integers(min_value=1, max_value=300), discordance=st.floats(min_value=0, max_value=1))
def test_the_smallest_difference_is_seen_with_the_power_it_states(pairs: int, discordance: float) -> None:
    seen = smallest_difference(pairs, discordance=discordance)
    if seen is None:
        assert pairs < 6  # five pairs, all one way, have a p of 1/16
    else:
        assert power_of(pairs, seen, discordance=max(discordance, seen)) >= 0.8
        less = seen - 0.002
        assert less <= 0 or power_of(pairs, less, discordance=max(discordance, less)) < 0.8


def test_more_pairs_see_smaller_differences_and_a_stricter_level_larger_ones() -> None:
    usual, more = smallest_difference(100), smallest_difference(400)
    strict = smallest_difference(100, level=0.01)
    assert usual is not None
    assert more is not None
    assert strict is not None
    assert more < usual < strict


def test_a_plan_for_each_task_needs_far_more_than_one_for_all_together() -> None:
    plan = trials_per_task(0.8, 0.1, tasks=6)
    assert plan.overall * 6 >= trials_needed(0.8, 0.1, level=0.025)
    assert plan.each_task == trials_needed(0.8, 0.1, level=0.05 / 12) > 6 * plan.overall


@pytest.mark.parametrize(
    ("power", "detect"), [(0.0, 0.1), (1.0, 0.1), (0.8, 0.0), (0.8, 1.1), (0.8, -0.1), (0.8, 1e-9), (0.8, float("nan"))]
)
def test_a_plan_that_cannot_be_made_is_refused(power: float, detect: float) -> None:
    with pytest.raises(ValueError, match=r"power|difference"):
        trials_needed(power, detect)


# -- times ----------------------------------------------------------------------------------------


def test_percentiles_lie_between_neighbours_and_nothing_has_none() -> None:
    assert percentiles([1.0, 2.0, 3.0, 4.0]) == pytest.approx([2.5, 3.7, 3.97])
    assert percentiles([7.0]) == [7.0, 7.0, 7.0]
    assert percentiles([]) == []
