"""A task: its questions, the kinds of data they are asked of, and the plan of trials that the seed draws from both."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np

from batchwork.benchmarks.claude_client import Client
from batchwork.benchmarks.conduct import conduct, lay_out
from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.datasets import Dice, Drawn, Recipe, draw
from batchwork.benchmarks.trial import Call, Dataset, Question, Series, Trial

LEAST_POINTS = 50  # fewer cannot hold what some questions ask about


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTask:
    """Questions over kinds of data.

    A trial depends on nothing but the seed, the task and its number: not on other trials, nor on how many there are.
    """

    name: str
    questions: tuple[Question, ...]
    kinds: Mapping[str, Recipe]
    sizes: tuple[int, ...]

    def plan(self, trials: int, seed: int, max_data_size: int | None = None) -> Iterator[Trial]:
        """The trials, made one by one as they are taken.

        Raises ConfigurationError: so few points cannot hold what is asked about.
        """
        _check_size(max_data_size)
        return (self.trial(number, seed, max_data_size) for number in range(trials))

    def trial(self, number: int, seed: int, max_data_size: int | None = None) -> Trial:
        """One trial: fresh data, and the question and the kind whose turn it is.

        Raises ConfigurationError: there is no trial of that number, or so few points cannot hold what is asked about.
        """
        if not isinstance(number, int) or number < 0:
            raise ConfigurationError(f"a trial's number is a whole number of at least 0, got {number!r}")
        _check_size(max_data_size)
        question = self.questions[dealt(seed, f"{self.name} question", number, len(self.questions))]
        kind = tuple(self.kinds)[dealt(seed, f"{self.name} kind", number, len(self.kinds))]
        sizes = sorted({min(size, max_data_size or size) for size in self.sizes})
        size = sizes[dealt(seed, f"{self.name} size", number, len(sizes))]
        dice = np.random.default_rng([seed, crc32(self.name.encode()), number])
        made = self.draw(dice, self.kinds[kind], size, question, self._turn(number, seed))
        dataset = Dataset(
            id=f"{self.name}-{number}",
            kind=kind,
            series={label: one.values for label, one in made.items()},
            facts={label: one.anomalies for label, one in made.items()},
        )
        return Trial(task=self.name, number=number, dataset=dataset, question=question, truth=question.truth(dataset))

    def run(self, client: Client, config: BenchmarkConfig | None = None) -> list[Call]:
        """Every trial of this task, asked in every condition; nothing is left on disk."""
        asked = client.told(config)
        return self._ask(asked, self.plan(asked.config.trials, asked.config.seed, asked.most_points))

    def run_single_trial(self, client: Client, number: int = 0, config: BenchmarkConfig | None = None) -> list[Call]:
        """One trial of this task, asked in every condition; nothing is left on disk."""
        asked = client.told(config)
        return self._ask(asked, [self.trial(number, asked.config.seed, asked.most_points)])

    def _ask(self, client: Client, trials: Iterable[Trial]) -> list[Call]:
        config = client.config
        with TemporaryDirectory() as folder:
            done = conduct(
                client, lay_out(trials, config), journal=Path(folder) / "journal.db", max_cost=config.ceiling
            )
        if done.cause == "interrupted":
            raise KeyboardInterrupt
        return done.calls

    def draw(self, dice: Dice, recipe: Recipe, size: int, question: Question, turn: int) -> dict[str, Drawn]:
        """The series of one trial by their labels; a comparison also looks at what is asked and whose turn it is."""
        del question, turn
        return {SERIES: draw(recipe, dice, size)}

    def _turn(self, number: int, seed: int) -> int:
        """0 or 1, each as often as the other within a round of the questions and for each question."""
        count = len(self.questions)
        place = dealt(seed, f"{self.name} question", number, count)
        return (number // count + place + dealt(seed, f"{self.name} side", 0, 2)) % 2


def _check_size(most: int | None) -> None:
    if most is not None and most < LEAST_POINTS:
        raise ConfigurationError(f"max_data_size must be at least {LEAST_POINTS} points, got {most}")


SERIES = "series"


def dealt(seed: int, deck: str, number: int, cards: int) -> int:
    """The card of the `number`-th draw: every card once a round, in an order that the seed shuffles anew each round."""
    turn, place = divmod(number, cards)
    dice = np.random.default_rng([seed, crc32(deck.encode()), turn])
    return int(dice.permutation(cards)[place])


def only(dataset: Dataset) -> Series:
    """The series of a data set that has one."""
    return dataset.series[SERIES]
