"""What a benchmark is told. Plain values, assignable until the run starts; nothing here touches disk or network."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self

TASK_NAMES = ("statistical", "trend", "anomaly", "comparative", "multi_step", "scaling")
FORMATS = ("json", "csv", "markdown")
QUICK_TRIALS = 5
# The share of pairs assumed to be answered rightly in one condition only before anything is known: about what two
# conditions that are right 70% and 80% of the time show if their answers have nothing to do with each other. An
# assumption and no bound: pairs that differ more often need more trials than it says, those that agree more fewer, so
# whoever plans with it says it.
DISCORDANCE = 0.4


class BackendType(StrEnum):
    """Where the questions go."""

    API = "api"
    CLAUDE_CODE = "claude-code"
    MOCK = "mock"
    LOCAL = "local"


class QuotaPlan(NamedTuple):
    """A subscription, as its provider describes it: prompts per five hours, and how many at once are wise."""

    fewest: int
    most: int
    workers: int


PLANS = MappingProxyType({"max5x": QuotaPlan(50, 200, 2), "max20x": QuotaPlan(200, 800, 4)})
WORKERS_WARNING = 4  # more at once than any plan recommends


class ConfigurationError(ValueError):
    """A setting of the benchmark is wrong; nothing was sent."""


@dataclass(slots=True, kw_only=True)
class BenchmarkConfig:
    """Every knob of a benchmark. `check()` is called when the run starts."""

    tasks: tuple[str, ...] = TASK_NAMES
    trials: int = 30  # per task; a trial is one data set and one question, asked in every condition
    seed: int = 0
    baseline: str = "raw"
    treatments: tuple[str, ...] = ("frame",)

    parallel_workers: int = 1  # 2: two conditions of a trial at once
    trial_parallelism: int = 1  # trials at once
    max_in_flight: int | None = None  # None: what the two above come to

    model: str | None = None  # None: the backend's usual one
    base_url: str | None = None
    max_tokens: int = 512
    base_timeout: float = 120.0  # seconds
    timeout_per_1k_chars: float = 10.0
    retries: int = 2
    max_consecutive_errors: int = 3
    max_wait_s: float = 900.0
    max_cost: Decimal | float | None = None
    price: str | tuple[float, float] | None = None  # dollars per million tokens, "IN,OUT"; None: the known one
    prompts_per_5h: int | None = None
    plan: str | None = None

    max_data_size: int | None = None
    skip_baseline_above: int | None = None  # None: the usual 5000

    output: Path = field(default_factory=lambda: Path("benchmark_results"))
    formats: tuple[str, ...] = FORMATS
    charts: bool = True

    @classmethod
    def quick_mode(cls) -> Self:
        """Five trials a task instead of thirty."""
        return cls(trials=QUICK_TRIALS)

    @property
    def window(self) -> int:
        """The most calls at once: 1, 2 with `--parallel`, N with `--trial-parallelism N`, 2N with both."""
        return self.max_in_flight or self.parallel_workers * self.trial_parallelism

    @property
    def ceiling(self) -> float | None:
        """What may be spent, in dollars; None: anything."""
        return None if self.max_cost is None else float(self.max_cost)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The ways of asking that are compared, the baseline first."""
        return (self.baseline, *self.treatments)

    @property
    def baseline_limit(self) -> int:
        """Points above which a data set is not written out: `raw` and `csv` are not asked, whichever side they are."""
        return 5000 if self.skip_baseline_above is None else self.skip_baseline_above

    @property
    def quota(self) -> int | None:
        """Calls that may be made in five hours; None when nothing is known of a limit."""
        if self.prompts_per_5h is not None:
            return self.prompts_per_5h
        return PLANS[self.plan].most if self.plan is not None else None

    def check(self) -> None:
        """Refuse what cannot be run. Raises ConfigurationError: says which setting, and what it may be."""
        self._check_names()
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if value is not None or name not in _MAY_BE_NONE:
                whole = isinstance(value, int) and not isinstance(value, bool)
                _refuse(not whole or value < least, f"{name} must be a whole number of at least {least}, got {value!r}")
        for name in ("base_timeout", "timeout_per_1k_chars", "max_wait_s"):
            value = getattr(self, name)
            _refuse(not _is_number(value) or value < 0, f"{name} must be a number of at least 0, got {value!r}")
        _refuse(
            any(sign in (self.base_url or "") for sign in "?#@"),
            "base_url (--base-url) may hold a key in its query or user part, and a run's settings are written into its"
            " folder: let ANTHROPIC_BASE_URL in the environment say it",
        )
        _refuse(self.base_timeout == 0, "base_timeout (--timeout) must be above 0, got 0")
        most = self.max_cost
        ceiling = most is None or (_is_number(most) and 0 < float(most) < float("inf"))
        _refuse(not ceiling, f"max_cost must be a number above 0, got {most!r}")
        _refuse(
            self.plan is not None and self.plan not in PLANS,
            f"unknown plan {self.plan!r}; there are {', '.join(PLANS)}",
        )

    def _check_names(self) -> None:
        own = "a function of your own goes as 'MODULE:FUNC'"
        for field_name in ("tasks", "treatments", "formats"):
            names = getattr(self, field_name)
            listed = isinstance(names, tuple | list) and all(isinstance(name, str) for name in names)
            hint = f"; {own}" if field_name == "treatments" else ""
            _refuse(not listed, f"{field_name} must be a tuple of names, got {names!r}{hint}")
        _refuse(not isinstance(self.baseline, str), f"baseline must be a name, got {self.baseline!r}; {own}")
        for name in self.tasks:
            _refuse(name not in TASK_NAMES, f"unknown task {name!r}; there are {', '.join(TASK_NAMES)}")
        for name in self.formats:
            _refuse(name not in FORMATS, f"unknown format {name!r}; there are {', '.join(FORMATS)} and all")
        _refuse(not self.tasks, "at least one task is needed")
        _refuse(not self.treatments, "at least one treatment is needed")
        _refuse(
            self.baseline in self.treatments,
            f"{self.baseline!r} is the baseline and a treatment too: name another with --baseline or --treatment",
        )
        for named, what in ((self.tasks, "task"), (self.treatments, "treatment")):
            twice = next((name for name in named if list(named).count(name) > 1), None)
            _refuse(twice is not None, f"the {what} {twice!r} is named twice: name each once")


_WHOLE = MappingProxyType(  # settings that are whole numbers, and the least they may be
    {
        **dict.fromkeys(("trials", "parallel_workers", "trial_parallelism", "max_tokens", "max_consecutive_errors"), 1),
        **dict.fromkeys(("max_in_flight", "max_data_size", "prompts_per_5h"), 1),
        **dict.fromkeys(("retries", "seed", "skip_baseline_above"), 0),
    }
)
_MAY_BE_NONE = frozenset({"max_in_flight", "max_data_size", "prompts_per_5h", "skip_baseline_above"})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and not isnan(value)


def _refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise ConfigurationError(why)
