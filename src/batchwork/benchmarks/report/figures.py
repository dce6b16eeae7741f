"""The numbers of a report, by name. Plain frozen values: whoever renders them computes nothing.

`benchmark_results.json` is a `Summary` as it stands here, so that these names are also its documented shape.
"""

from enum import StrEnum

import msgspec

from batchwork.benchmarks.statistics import ALPHA, Interval
from batchwork.benchmarks.trial import RunInfo

ALL = "all"  # in place of a task: all of them together
CHART_NAMES = ("accuracy", "difference", "tokens", "cost", "latency", "size")


class Verdict(StrEnum):
    """What a comparison may be said to show."""

    BETTER = "better"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    NO_PAIRS = "no pairs"
    NO_MODEL = "no model answered"  # so nothing is inferred: no interval, no p


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one part of a report."""


class Cell(Figures, frozen=True, kw_only=True):
    """One condition in one task (or in all): what came of its calls, and what they took.

    planned = answered + failed + skipped + pending; `answered` includes the unparsed.
    """

    task: str
    condition: str
    planned: int
    answered: int
    unparsed: int  # answers that came and could not be read: wrong
    failed: int
    skipped: int  # left out by a rule
    pending: int  # the run ended before them
    missing_share: float | None
    too_many_missing: bool
    right: int
    datasets: int  # with an answer: the independent samples
    accuracy: float | None
    interval: Interval | None
    input_tokens: float | None  # mean per answer, as the backend counted
    output_tokens: float | None
    cost_usd: float | None  # of the calls whose cost is known; None when there is no such call
    cost_per_call_usd: float | None  # mean of those
    cost_unknown: int  # calls that were sent and whose cost is not known
    latency_p50_s: float | None
    latency_p90_s: float | None
    latency_p99_s: float | None
    numbers: int  # in the answers
    invented: int  # those that follow neither from the data nor from the question
    invented_share: float | None


class Comparison(Figures, frozen=True, kw_only=True):
    """A treatment against the baseline in one task (or in all), over the trials that both answered."""

    task: str
    treatment: str
    baseline: str
    verdict: Verdict
    pairs: int = 0
    datasets: int = 0
    both_right: int = 0
    only_treatment: int = 0
    only_baseline: int = 0
    neither: int = 0
    baseline_accuracy: float | None = None
    treatment_accuracy: float | None = None
    difference: float | None = None  # of the accuracies, from -1 to 1
    interval: Interval | None = None
    bootstrap: Interval | None = None  # of the difference, too, drawing whole data sets
    discordance: float | None = None  # the share of the data sets that favour one side
    p: float | None = None
    p_holm: float | None = None
    level: float | None = None  # what p had to be below if nothing else was significant
    odds_ratio: float | None = None
    cohens_h: float | None = None
    detectable: float | None = None  # the smallest difference it could have seen; None: none at all
    of: tuple[str, ...] = ()  # over all tasks: those with a pair, which is what was compared
    without: tuple[str, ...] = ()  # over all tasks: those planned that have none; then there is no verdict on all

    @property
    def significant(self) -> bool:
        """Whether the run can tell."""
        return self.verdict in (Verdict.BETTER, Verdict.WORSE)


class Compression(Figures, frozen=True, kw_only=True):
    """What a treatment saves of the baseline's input, over the trials that both answered."""

    task: str
    treatment: str
    pairs: int
    source: str  # who counted: "provider", "characters / 4" or "the mock's estimate (characters / 4)"
    baseline_tokens: float | None = None  # mean per call
    treatment_tokens: float | None = None
    saved: float | None = None  # a share of the baseline's; negative when the treatment is longer
    baseline_data_tokens: float | None = None  # the data part alone, always characters / 4
    treatment_data_tokens: float | None = None
    data_saved: float | None = None


class Slice(Figures, frozen=True, kw_only=True):
    """One condition where the size, the question or the kind of data is this one."""

    task: str
    name: str
    condition: str
    answered: int
    missing: int
    right: int
    datasets: int
    accuracy: float | None
    interval: Interval | None
    size: float | None = None  # the median, where sizes are sliced


class Trouble(Figures, frozen=True, kw_only=True):
    """Calls that are missing for one reason."""

    condition: str
    state: str
    error: str
    calls: int


class Unread(Figures, frozen=True, kw_only=True):
    """An answer that could not be read."""

    task: str
    question: str
    condition: str
    answer: str


class Rule(Figures, frozen=True, kw_only=True):
    """What counts as right for one question."""

    task: str
    question: str
    tolerance: str


class InventedError(Figures, frozen=True, kw_only=True):
    """How often the measure of invented numbers errs: shares from 0 to 1; a size is the points of a series."""

    false_alarm_listed: float  # of the true numbers that the measure knows how to compute
    false_alarm_unlisted: float  # of the true numbers that it does not
    miss_50: float  # of the made-up numbers
    miss_500: float
    miss_5000: float


class Summary(Figures, frozen=True, kw_only=True):
    """All numbers of one run."""

    run: RunInfo
    asked: tuple[str, ...]  # the tasks that are part of the run
    planned: int
    answered: int
    answered_share: float | None
    cells: tuple[Cell, ...]  # every task and condition
    totals: tuple[Cell, ...]  # every condition over all tasks
    comparisons: tuple[Comparison, ...]  # every task and treatment
    overall: tuple[Comparison, ...]  # every treatment over all tasks
    compressions: tuple[Compression, ...]  # every task, and all, and treatment
    by_size: tuple[Slice, ...]
    by_question: tuple[Slice, ...]
    by_kind: tuple[Slice, ...]
    troubles: tuple[Trouble, ...]
    unread: tuple[Unread, ...]
    rules: tuple[Rule, ...]
    false_alarm_rate: float | None  # of `invented`, for runs that say nothing more
    invented_error: InventedError | None = None
    alpha: float = ALPHA
    confidence: float = 0.95

    @property
    def conditions(self) -> tuple[str, ...]:
        """The ways of asking, the baseline first."""
        return (self.run.baseline, *self.run.treatments)

    @property
    def by_model(self) -> bool:
        """Whether a language model answered; what a literal reader can copy is described, and nothing is inferred."""
        return self.run.notice is None

    @property
    def shown(self) -> tuple[str, ...]:
        """The tasks worth a row: those asked, and all together if that is more than one."""
        return (*self.asked, ALL) if len(self.asked) > 1 else self.asked
