"""The nouns of a benchmark: what is asked, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]
Json = Any
Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One fresh draw of numbers: one series, or two that are compared, and what their generator knows of them."""

    id: str  # unique within a run; pairs of one data set are not independent
    kind: str  # the generator's name
    series: Mapping[str, Series]  # by label: {"series": ...} or {"A": ..., "B": ...}
    facts: Mapping[str, Json] = field(default_factory=dict)  # planted truth: where the outliers are, ...

    def __post_init__(self) -> None:
        for values in self.series.values():
            values.setflags(write=False)  # every condition is shown the same numbers, whatever the one before does

    @property
    def size(self) -> int:
        """Points in the longest series."""
        return max(len(values) for values in self.series.values())


class Form(Protocol):
    """The shape of an answer: what is asked for, how it is read, and when it is right."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema the answer is asked for in."""

    @property
    def example(self) -> str:
        """What stands for the answer in the prompt's `{"answer": ...}`."""

    @property
    def tolerance(self) -> str:
        """What counts as right, in words: a prompt and a report say it."""

    def parse(self, text: str) -> Json:
        """The answer in a reply, as JSON or as plain text; None when there is none that is unambiguous."""

    def right(self, parsed: Json, truth: Json) -> bool:
        """Whether a parsed answer is right, by the stated tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One thing asked of a data set, with its definition in the wording, so that right and wrong are decidable."""

    name: str
    text: str
    form: Form
    truth: Callable[[Dataset], Json]  # numpy, scipy or the generator; never the code under test


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One data set and one question, asked in every condition."""

    task: str
    number: int  # within its task, from 0
    dataset: Dataset
    question: Question
    truth: Json


class State(StrEnum):
    """What became of one call."""

    ANSWERED = "answered"
    UNPARSED = "unparsed"  # an answer came and cannot be read: wrong, and counted apart
    FAILED = "failed"  # missing
    SKIPPED = "skipped"  # missing: left out by a rule
    PENDING = "pending"  # missing: the run ended before it


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of one trial: a row of `trials.jsonl`."""

    task: str
    trial: int
    question: str
    kind: str
    dataset: str
    size: int
    condition: str
    state: State
    truth: Json
    backend: str
    model: str
    tolerance: str = ""  # what counts as right, in words
    prompt_sha256: str = ""
    prompt_chars: int = 0
    data_chars: int = 0  # of the data part alone
    answer: str | None = None
    parsed: Json = None
    score: float | None = None  # 1 right, 0 wrong, None missing
    numbers: int = 0  # numbers in the answer
    invented: int = 0  # those that follow neither from the data nor from the question
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    attempts: int = 0
    error: str | None = None

    @property
    def missing(self) -> bool:
        """No answer came; never counted as a wrong one."""
        return self.score is None


class RunInfo(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of a whole run: `run.json`."""

    backend: str
    model: str
    baseline: str
    treatments: tuple[str, ...]
    tasks: tuple[str, ...]
    trials: Count
    seed: Count
    window: Count
    started_at: str  # UTC, ISO 8601
    ended_at: str
    wall_s: float
    answered_by: tuple[str, ...] = ()  # the models that answered, by their own account
    calls: Count = 0  # lines of `trials.jsonl`; filled in when both are saved
    notice: str | None = None  # what the backend is, when it is not a language model
    aborted: str | None = None  # why the run ended before its plan did
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    versions: dict[str, str] = msgspec.field(default_factory=dict)
