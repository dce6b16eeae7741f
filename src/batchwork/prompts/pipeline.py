"""The three phases in a row: prepare all, process, finish. For programs that need no HTTP."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from batchwork.assembly import open_service
from batchwork.core.errors import ConfigError
from batchwork.core.money import ceiling_from_dollars
from batchwork.core.outcome import AnyOutcome
from batchwork.core.policy import Policy, RatePolicy, RetryPolicy
from batchwork.core.ports import Backend, Checker, Clock
from batchwork.core.pricing import price_from
from batchwork.core.prompt import refuse_one
from batchwork.core.request import DEFAULT_MAX_TOKENS
from batchwork.core.words import counted
from batchwork.engine.engine import Supplied
from batchwork.plan import Plan, account_names
from batchwork.prompts.finish import Answer, Summary, finish_all, finish_answer, summarise
from batchwork.prompts.prepare import PromptDefaults, prepare_all
from batchwork.prompts.process import DEFAULT_BATCH_SIZE, process_prompt_batch
from batchwork.schema import AnswerChecker
from batchwork.service import Service

_log = logging.getLogger(__name__)
_NEVER = 1_000_000  # one failure never touches another item: nothing is given up because others failed


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptAnswers:
    """The answers in request order, and their statistics."""

    answers: list[Answer]
    summary: Summary


@asynccontextmanager
async def open_prompt_service(
    model: str,
    *,
    models: Sequence[str] = (),
    max_in_flight: int = 100,
    max_cost: float | Decimal | str | None = None,
    book: Path | None = None,
    account: str | Sequence[str] | None = None,
    price: tuple[float, float] | str | None = None,
    rpm: float | None = None,
    input_tpm: float | None = None,
    output_tpm: float | None = None,
    retries: int = 3,
    max_retry_time: float = 60.0,
    timeout: float = 120.0,
    reask: int = 1,
    backend: Backend | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    dress: Callable[[Backend, str], Backend] | None = None,
    checker: Checker | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Service]:
    """Everything that prompts share: a connection to the model, the window, the rate limits, the budget.

    `max_in_flight` bounds the calls of all requests together, `max_cost` their money: with `book` a day's money, which
    the file remembers over restarts. The limits of every shared `account` hold beside these. `retries` is how often a
    failed call is made again; refusals (429, 503, 529) do not count. No retry starts later than `max_retry_time`
    seconds after a prompt's first call, the time in which it waits for a slot not counted.

    Raises:
        ConfigError: an option is wrong, or a budget has no known price.
        JournalError: the book cannot be used.
    """
    if isinstance(models, str):
        raise ConfigError(f"models must be a list of models, not one text: models=[{models!r}]")
    policy = Policy(
        max_in_flight=max_in_flight,
        rates=RatePolicy(rpm=rpm, input_tpm=input_tpm, output_tpm=output_tpm),
        retry=replace(RetryPolicy.of(retries), first_wait_s=0.5, longest_wait_s=20.0, max_elapsed_s=max_retry_time),
        max_cost_nano=None if max_cost is None else ceiling_from_dollars(max_cost),
        timeout_s=timeout,
        max_wait_s=max_retry_time,  # somebody waits for the answer
        max_consecutive_failures=_NEVER,
        reasks=reask,
    )
    plan = Plan(
        model=model,
        policy=policy,
        accounts=account_names(account),
        price=price_from(price),
        base_url=base_url,
        api_key=api_key,
    )
    supplied = Supplied(backend=backend, checker=checker or AnswerChecker())
    async with open_service(plan, supplied, models=models, book=book, dress=dress, clock=clock) as service:
        try:
            yield service
        finally:
            service.close()


def defaults_for(service: Service, *, system: str | None = None, max_tokens: int | None = None) -> PromptDefaults:
    """What prompts to this service have unless they say otherwise."""
    service.check_open()
    return PromptDefaults(
        model=service.model,
        models={model: one.backend.traits.schemas or one.backend.traits.name for model, one in service.models.items()},
        system=system,
        max_tokens=DEFAULT_MAX_TOKENS if max_tokens is None else max_tokens,
    )


async def process_multiple_prompts(
    prompts: Sequence[object],
    service: Service,
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    defaults: PromptDefaults | None = None,
    on_answer: Callable[[int, Answer], None] | None = None,
) -> PromptAnswers:
    """Prepare every prompt, send them with at most `batch_size` in flight, finish the answers in request order.

    `prompts` are texts, dicts with the fields of a `PromptItem`, or `PromptItem`s. `on_answer` gets every answer of the
    model with its index the moment it is there.

    Raises:
        ConfigError: `prompts` is one prompt or a table, or `batch_size` is below 1.
        JournalWriteError: the day's book cannot be written.
    """
    refuse_one(prompts)
    prepared = prepare_all(prompts, defaults or defaults_for(service))
    if not prepared:
        _log.warning("the input is empty: nothing was asked")

    def show(outcome: AnyOutcome) -> None:
        assert on_answer is not None
        on_answer(outcome.index, finish_answer(prepared[outcome.index], outcome))

    on_outcome = None if on_answer is None else show
    executed = await process_prompt_batch(service, prepared, batch_size=batch_size, on_outcome=on_outcome)
    answers = finish_all(prepared, executed)
    summary = summarise(answers, executed)
    first = "none" if summary.first_result_s is None else f"after {summary.first_result_s:.3f} s"
    counts = f"{counted(len(answers), 'prompt')}: {summary.completed} completed, {summary.failed} failed"
    _log.info("%s, total %.3f s, average %.4f s, first result %s", counts, summary.total_s, summary.average_s, first)
    return PromptAnswers(answers=answers, summary=summary)
