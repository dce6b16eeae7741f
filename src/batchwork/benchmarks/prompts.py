"""How data and question become a prompt: the conditions that are compared, and everything that is the same in all.

A condition is a function of a data set that gives the data part; only that part differs between conditions. A data set
belongs to one trial, so the text of each of its conditions is built once, when the trial's call is prepared, and not
kept: nothing is written that is not sent.
"""

import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from inspect import iscoroutine
from typing import Any, NamedTuple

import numpy as np

from batchwork.benchmarks.config import ConfigurationError
from batchwork.benchmarks.trial import Dataset, Question, Series
from batchwork.frame import describe_series

Describe = Callable[[Series], str]
Condition = Callable[[Dataset], str]

VERBATIM = frozenset({"raw", "csv"})  # conditions that write every number out, and grow with the data
_SEMANTIC_FRAME = "semantic-frame==0.4.0"
_SYSTEM = (
    "You are given a series of numbers, or two series A and B: written out or described. Positions count from 0. "
    "Answer the question from what you are given. Reply with the JSON object that is asked for and nothing else."
)


class Prompt(NamedTuple):
    """What is sent."""

    system: str
    user: str

    @property
    def sha256(self) -> str:
        """The hash that a report names it by."""
        return sha256(f"{self.system}\0{self.user}".encode()).hexdigest()

    @property
    def chars(self) -> int:
        """How long it is."""
        return len(self.system) + len(self.user)


def prompt_for(question: Question, data: str) -> Prompt:
    """The prompt of a question over a data part, in every condition the same but for that part."""
    form = question.form
    asked = f'Reply with JSON: {{"answer": {form.example}}}, or {{"answer": null}} if it cannot be told.'
    return with_data(data, f"{question.text} Right is: {form.tolerance}. {asked}")


def with_data(data: str, query: str) -> Prompt:
    """The prompt of any question over a data part."""
    return Prompt(_SYSTEM, f"{data}\n\nQuestion: {query}")


# -- conditions -----------------------------------------------------------------------------------


def condition_of(name: str) -> Condition:
    """The condition of a name: `raw`, `csv`, `frame`, `summary-stats`, `semantic-frame` or `MODULE:FUNC`.

    Raises ConfigurationError: there is no such condition, or what it needs is not installed.
    """
    if name == "semantic-frame":
        return each(_semantic_frame())
    if name in _WRITERS:
        return each(_WRITERS[name])
    if ":" in name:
        return each(_imported(name))
    raise ConfigurationError(
        f"unknown condition {name!r}; there are {', '.join(_WRITERS)}, semantic-frame and MODULE:FUNC"
    )


def each(describe: Describe) -> Condition:
    """The condition that describes every series in the same way; two of them under their names."""

    def text(dataset: Dataset) -> str:
        if len(dataset.series) == 1:
            return describe(next(iter(dataset.series.values())))
        return "\n\n".join(f"Series {label}:\n{describe(values)}" for label, values in dataset.series.items())

    return text


def written(value: float) -> str:
    """A value in the fewest characters that give it back: six significant digits, as it was born."""
    return repr(value).removesuffix(".0")


def _raw(values: Series) -> str:
    return ", ".join(map(written, values.tolist()))


def _csv(values: Series) -> str:
    return "\n".join(("index,value", *(f"{at},{written(value)}" for at, value in enumerate(values.tolist()))))


def _summary(values: Series) -> str:
    """The lines of pandas' `describe`, the standard deviation by the questions' own definition."""
    p25, median, p75 = np.percentile(values, (25, 50, 75))
    lines = {
        "count": values.size,
        "mean": values.mean(),
        "std": values.std(),
        "min": values.min(),
        "p25": p25,
        "median": median,
        "p75": p75,
        "max": values.max(),
    }
    return "\n".join(f"{label} {number:.6g}" for label, number in lines.items())


_WRITERS: dict[str, Describe] = {"raw": _raw, "csv": _csv, "frame": describe_series, "summary-stats": _summary}


def _semantic_frame() -> Describe:
    try:
        module: Any = import_module("semantic_frame")
    except ImportError as error:
        raise ConfigurationError(f"the condition semantic-frame needs: pip install {_SEMANTIC_FRAME}") from error
    return _guarded("semantic-frame", lambda values: str(module.describe_series(values)))


def _imported(name: str) -> Describe:
    """Any function of a series that gives text."""
    place, _, attribute = name.partition(":")
    if "" not in sys.path:  # the working folder, as for `python -m`; at the end, where it shadows nothing
        sys.path.append("")
    try:
        function = getattr(import_module(place), attribute)
    except (Exception, SystemExit) as error:  # the user's module is foreign code
        raise ConfigurationError(f"condition {name!r}: {_told(error)}") from error
    if not callable(function):
        raise ConfigurationError(f"condition {name!r} is not a function of a series, but {function!r}")
    return _guarded(name, function)


def _guarded(name: str, function: Callable[[Series], Any]) -> Describe:
    """Foreign code as a condition: what goes wrong in it is told with its name, before anything is sent."""

    def describe(values: Series) -> str:
        try:
            text = function(values)
        except (Exception, SystemExit) as error:  # the user's function is foreign code
            raise ConfigurationError(f"condition {name!r} failed: {_told(error)}") from error
        if iscoroutine(text):
            text.close()  # nobody will wait for it
            raise ConfigurationError(f"condition {name!r} is async; it must be a plain function that gives text")
        if not isinstance(text, str):
            raise ConfigurationError(f"condition {name!r} must give text, gave {type(text).__name__}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ConfigurationError(f"condition {name!r} gave text that cannot be sent: {error}") from error
        return text

    return describe


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
