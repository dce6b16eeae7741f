"""Put a plan of trials through one engine run, and score what comes back.

The plan is flat: trial by trial, the conditions of a trial side by side in an order that the seed draws. How many calls
go at once is the window's affair alone, so no pair waits for its slower half and no task for the one before.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import batchwork
from batchwork import Failed, Outcome, Pending, Request, Status
from batchwork.benchmarks.claude_client import SPOKE, Client
from batchwork.benchmarks.config import BenchmarkConfig
from batchwork.benchmarks.prompts import VERBATIM, Condition, Prompt, condition_of, prompt_for
from batchwork.benchmarks.scoring import score
from batchwork.benchmarks.trial import Call, State, Trial

_NOT_RUN = Pending(index=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One condition of one trial, ready to be sent; without a prompt where a rule leaves it out."""

    trial: Trial
    condition: str
    prompt: Prompt | None
    data_chars: int = 0
    left_out: str | None = None

    @property
    def data(self) -> str:
        """The data part of the prompt, which it begins with."""
        return "" if self.prompt is None else self.prompt.user[: self.data_chars]

    @property
    def request(self) -> Request:
        """What is sent."""
        assert self.prompt is not None
        return Request.ask(self.prompt.user, system=self.prompt.system, schema=self.trial.question.form.schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conducted:
    """What came of a plan."""

    calls: list[Call]
    aborted: str | None = None
    cause: str | None = None  # of the abort: failures, credentials, quota, stalled, budget, prompts, interrupted
    retry_after_s: float | None = None
    made: int = 0  # calls that were not in the journal before


def lay_out(trials: Iterable[Trial], config: BenchmarkConfig) -> list[Ask]:
    """Every call of a plan in its order, each description built once per data set."""
    conditions = {name: condition_of(name) for name in config.conditions}
    return [ask for trial in trials for ask in _sides(trial, config, conditions)]


def _sides(trial: Trial, config: BenchmarkConfig, conditions: dict[str, Condition]) -> list[Ask]:
    order = list(config.conditions)
    random.Random(f"{config.seed}/{trial.task}/{trial.number}").shuffle(order)
    asks = []
    for condition in order:
        if condition in VERBATIM and trial.dataset.size > config.baseline_limit:
            rule = f"the data set has more than {config.baseline_limit} points, too many to be written out"
            asks.append(Ask(trial=trial, condition=condition, prompt=None, left_out=rule))
            continue
        data = conditions[condition](trial.dataset)
        prompt = prompt_for(trial.question, data)
        asks.append(Ask(trial=trial, condition=condition, prompt=prompt, data_chars=len(data)))
    return asks


def conduct(
    client: Client,
    asks: Sequence[Ask],
    *,
    journal: Path,
    most_new: int | None = None,
    max_cost: float | None = None,
    progress: bool = False,
) -> Conducted:
    """Send what has not been answered yet (at most `most_new` of it), wait for it, and judge all of it.

    An end before the end of the plan is told in what is returned, never raised: what is finished is kept in the
    journal, and the next call with the same plan goes on.
    """
    sent = [ask for ask in asks if ask.prompt is not None]
    before = _outcomes(journal)
    chosen = sent[: _prefix(before, len(sent), most_new)]
    ended = Conducted(calls=[])
    if chosen and most_new != 0:
        ended = _ask(client, chosen, journal=journal, max_cost=max_cost, progress=progress)
    if ended.cause is None and len(chosen) < len(sent):
        ended = replace(ended, cause="prompts", aborted="the prompts of five hours are used up")
    outcomes = _outcomes(journal)
    numbers = {id(ask): number for number, ask in enumerate(sent)}
    calls = [_call(ask, outcomes.get(numbers.get(id(ask), -1), _NOT_RUN), client) for ask in asks]
    if ended.cause == "failures":
        errors = sum(call.state is State.FAILED for call in calls)
        most = client.config.max_consecutive_errors
        last = next(call.error for call in reversed(calls) if call.state is State.FAILED)
        told = f"Aborting: {most} consecutive API errors. Total errors: {errors}. The last one: {last}"
        ended = replace(ended, aborted=told)
    return replace(ended, calls=calls, made=_attempts(outcomes) - _attempts(before))


def _ask(client: Client, asks: Sequence[Ask], *, journal: Path, max_cost: float | None, progress: bool) -> Conducted:
    """One engine run over these; how it ended."""
    try:
        results = client.ask_all(
            [ask.request for ask in asks],
            window=client.config.window,
            journal=journal,
            max_cost=max_cost,
            progress=progress,
        )
    except batchwork.RunPaused as paused:
        paused.results.close()
        return Conducted(calls=[], aborted=paused.reason, cause=paused.cause, retry_after_s=paused.retry_after_s)
    except KeyboardInterrupt:
        return Conducted(calls=[], aborted="interrupted", cause="interrupted")
    results.close()
    if results.stopped == "budget":
        told = f"the budget of ${client.config.max_cost} does not cover the rest: raise --max-cost to go on"
        return Conducted(calls=[], aborted=told, cause="budget")
    return Conducted(calls=[])


def _prefix(before: Mapping[int, Outcome], planned: int, most_new: int | None) -> int:
    """How much of the plan can be sent when only so many calls may be new."""
    left = planned if most_new is None else most_new
    for number in range(planned):
        known = before.get(number)
        left -= known is None or _answer(known) is None
        if left < 0:
            return number
    return planned


def prompts_sha256(asks: Iterable[Ask]) -> str:
    """One hash for all prompts of a plan."""
    return sha256("".join(ask.prompt.sha256 for ask in asks if ask.prompt is not None).encode()).hexdigest()


def attempts_in(journal: Path) -> int:
    """The calls that a journal knows of."""
    return _attempts(_outcomes(journal))


def _attempts(outcomes: Mapping[int, Outcome]) -> int:
    return sum(outcome.attempts for outcome in outcomes.values())


def _outcomes(journal: Path) -> dict[int, Outcome]:
    if not journal.exists():
        return {}
    with closing(batchwork.open_results(journal)) as results:
        return {outcome.index: outcome for outcome in results}


def _call(ask: Ask, outcome: Outcome, client: Client) -> Call:
    trial, prompt = ask.trial, ask.prompt
    told = client.response(outcome)
    answer = _answer(outcome)
    judged = None if answer is None else score(trial, answer, ask.data)
    unsent = State.PENDING if ask.left_out is None else State.SKIPPED
    state = State.FAILED if ask.left_out is None and outcome.status is Status.FAILED else unsent
    return Call(
        task=trial.task,
        trial=trial.number,
        question=trial.question.name,
        kind=trial.dataset.kind,
        dataset=trial.dataset.id,
        size=trial.dataset.size,
        condition=ask.condition,
        state=state if judged is None else judged.state,
        truth=trial.truth,
        tolerance=str(getattr(trial.question.form, "tolerance", "")),  # a form of one's own need not say
        backend=told.backend,
        model=told.model,
        prompt_sha256="" if prompt is None else prompt.sha256,
        prompt_chars=0 if prompt is None else prompt.chars,
        data_chars=ask.data_chars,
        answer=answer,
        parsed=None if judged is None else judged.parsed,
        score=None if judged is None else judged.score,
        numbers=0 if judged is None else judged.numbers,
        invented=0 if judged is None else judged.invented,
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cost_usd=told.cost_usd if outcome.attempts else None,  # what was not sent has no cost, not one of zero
        latency_s=told.latency_s if outcome.attempts else None,
        attempts=outcome.attempts,
        error=ask.left_out or told.error,
    )


def _answer(outcome: Outcome) -> str | None:
    """What the model said; None when no answer came."""
    if outcome.status is Status.SUCCEEDED:
        return outcome.text or ""
    if isinstance(outcome, Failed) and outcome.failure.kind in SPOKE:
        return outcome.text or ""
    return None
