"""The score of one reply: what it says, whether that is right, and how many of its numbers it made up."""

from typing import NamedTuple

from batchwork.benchmarks.scoring.invented import invented
from batchwork.benchmarks.scoring.numerals import numerals
from batchwork.benchmarks.scoring.replies import declines
from batchwork.benchmarks.trial import Json, State, Trial


class Scored(NamedTuple):
    """A judged reply."""

    parsed: Json
    state: State  # ANSWERED or UNPARSED
    score: float  # 1 right, 0 wrong
    numbers: int  # in the reply
    invented: int  # of them, those that follow neither from the data nor from the question


def score(trial: Trial, answer: str, data: str = "") -> Scored:
    """Judge a reply that came; `data` is the data part of its prompt: who quotes it has not invented its numbers.

    One that cannot be read is wrong and UNPARSED. One that says it cannot be told, by null or in words, is wrong and
    ANSWERED, with nothing parsed.
    """
    form = trial.question.form
    parsed = form.parse(answer)
    told = parsed is not None or declines(answer)
    written = numerals(answer)
    return Scored(
        parsed=parsed,
        state=State.ANSWERED if told else State.UNPARSED,
        score=float(form.right(parsed, trial.truth)),
        numbers=len(written),
        invented=len(invented(written, trial, data)),
    )
