import random

from batchwork.core.sent_calls import SentCalls, Tally
from batchwork.core.trial import Finding, Trial


class Story:
    """A trial whose calls are refused with the probabilities given, at once."""

    def __init__(self, *, sent: int, refused: int, seed: int = 1, began: float = 1000.0) -> None:
        self.log, self.now, self.dice = SentCalls(), 0.0, random.Random(seed)
        before = Tally(self.log, of=sent, refused=refused)
        self.trial = Trial(self.log, base=10.0, began=began, before=before, now=0.0)

    def go(self, share: float, *, back: float | None = None, most: int = 1_000) -> Finding:
        """Send until something is known: at the doubled level with one share, at the lower one with another."""
        for _ in range(most):
            self.now += 1.0 / self.trial.level
            self.log.add(self.now)
            refused = share if self.trial.level > 10.0 or back is None else back
            self.trial.stage.refused += self.dice.random() < refused
            if (finding := self.trial.look(self.now, answer_s=0.0)) is not Finding.OPEN:
                return finding
        return Finding.OPEN


def test_it_begins_at_twice_the_level() -> None:
    assert Story(sent=100, refused=5).trial.level == 20.0


def test_a_share_that_stays_the_same_is_found_to_be_the_same_nearly_always() -> None:
    found = [Story(sent=200, refused=4, seed=seed).go(0.02) for seed in range(100)]
    assert found.count(Finding.SAME) >= 90
    assert Finding.OPEN not in found


def test_a_share_that_rises_by_a_sixth_is_found_to_rise_nearly_always() -> None:
    found = [Story(sent=200, refused=4, seed=seed).go(0.02 + 1 / 6) for seed in range(100)]
    assert found.count(Finding.ROSE) >= 90


def test_a_rise_to_the_half_costs_but_a_few_refusals() -> None:
    story = Story(sent=200, refused=4)
    assert story.go(0.5) is Finding.ROSE
    assert story.trial.stage.refused <= 5


def test_a_large_share_is_compared_again_at_the_lower_level() -> None:
    story = Story(sent=200, refused=40)
    levels = set()
    for _ in range(500):
        levels.add(story.trial.level)
        if story.go(0.2, most=1) is not Finding.OPEN:
            break
    assert 10.0 in levels


def test_a_rise_that_others_hid_by_slowing_down_shows_at_the_lower_level() -> None:
    found = [Story(sent=200, refused=40, seed=seed).go(0.2, back=0.02) for seed in range(100)]
    assert found.count(Finding.ROSE) >= 90


def test_twenty_percent_of_noise_pass_both_comparisons_most_of_the_time() -> None:
    found = [Story(sent=200, refused=40, seed=seed).go(0.2) for seed in range(100)]
    assert found.count(Finding.SAME) >= 75


def test_calls_that_cannot_have_been_refused_yet_prove_nothing() -> None:
    story = Story(sent=200, refused=4)
    for _ in range(100):
        story.log.add(0.0)
    assert story.trial.look(0.1, answer_s=0.2) is Finding.OPEN
    assert story.trial.look(1.0, answer_s=0.2) is Finding.SAME


def test_beyond_the_level_where_refusals_began_more_calls_are_asked_for() -> None:
    calls = []
    for began in (1000.0, 10.0):
        story = Story(sent=200, refused=4, began=began)
        story.go(0.0)
        calls.append(story.trial.stage.sent)
    assert calls[1] >= 2 * calls[0]


def test_doubling_again_starts_from_what_is_known_to_be_no_worse() -> None:
    story = Story(sent=200, refused=4)
    assert story.go(0.0) is Finding.SAME
    story.trial.double(story.now)
    assert (story.trial.base, story.trial.level) == (20.0, 40.0)
