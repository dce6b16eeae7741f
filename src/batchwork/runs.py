"""run, arun, stream, astream: many prompts in, outcomes out."""

from __future__ import annotations

import asyncio
import queue
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Required, TypedDict, Unpack

from batchwork._bridge import BackgroundLoop, run_sync
from batchwork.assembly import Engine, Plan, open_engine
from batchwork.core.errors import ConfigError, Interrupted, RunPaused
from batchwork.core.event import Event
from batchwork.core.intake import Intake
from batchwork.core.money import ceiling_from_dollars
from batchwork.core.outcome import AnyOutcome, Outcome
from batchwork.core.policy import BatchPolicy, Policy, RatePolicy, RetryPolicy
from batchwork.core.ports import Backend
from batchwork.core.pricing import Price, parse_price, stated
from batchwork.core.request import DEFAULT_MAX_TOKENS, Schema
from batchwork.core.stats import account
from batchwork.engine.batches import BatchRun
from batchwork.engine.live import LiveRun
from batchwork.journal import JournalReader
from batchwork.outcomes import Results
from batchwork.pipeline.prepare import Defaults, intakes
from batchwork.schema import AnswerChecker

# What `retry` needs to know of an earlier run; never a key.
_REMEMBERED = (
    "max_in_flight",
    "max_cost",
    "rpm",
    "input_tpm",
    "output_tpm",
    "retries",
    "timeout",
    "max_wait",
    "max_consecutive_failures",
    "reask",
    "base_url",
    "mode",
    "items_per_batch",
    "max_parallel_batches",
)
_STREAM_AHEAD = 1000  # outcomes a consumer may lag behind before the run waits for it


class RunOptions(TypedDict, total=False):
    """What a run can be told. See `run`."""

    model: Required[str]
    mode: Literal["live", "batch"]
    system: str | None
    max_tokens: int
    schema: dict[str, Any] | bool | None
    sampling: dict[str, Any] | None
    extra_body: dict[str, Any] | None
    max_in_flight: int
    max_cost: float | Decimal | str | None
    price: tuple[float, float] | str | Price | None
    rpm: float | None
    input_tpm: float | None
    output_tpm: float | None
    retries: int
    timeout: float
    max_wait: float
    max_consecutive_failures: int
    reask: int
    items_per_batch: int | None
    max_parallel_batches: int
    poll_interval: float
    adopt_wait: float
    cancel_on_interrupt: bool
    journal: str | Path | None
    fresh: bool
    backend: Backend | None
    base_url: str | None
    api_key: str | None
    on_event: Callable[[Event], None] | None


def run(prompts: Iterable[object], **options: Unpack[RunOptions]) -> Results:
    """Ask a model every prompt; the outcomes in input order.

    `prompts` is any iterable of strings, message lists, dicts or `Request`s, read lazily.

    Options:
        model: `backend:name`, for example `"mock:echo"`. Required.
        mode: `"live"`, or `"batch"` for the provider's batches: half the price, within a day. A backend without
            batches runs live. `items_per_batch`, `max_parallel_batches` (5), `poll_interval` (5 s, growing to 60),
            `adopt_wait` (120 s), `cancel_on_interrupt` go with it.
        system, max_tokens (1024), schema, sampling, extra_body: what every request has unless it says otherwise.
        max_in_flight (100): the most calls at once.
        max_cost: a ceiling in dollars over all runs on the journal; what no longer fits is `deferred`.
        price: dollars per million tokens as `(input, output)`, where the price is not known or is another.
        rpm, input_tpm, output_tpm: rate limits per minute; what the provider reports is learned anyway.
        retries (5), timeout (600 s a call), max_wait (900 s for a quota), max_consecutive_failures (10), reask (1).
        journal: a file that remembers everything; running again on it goes on. None keeps it in memory.
        fresh: set an existing journal aside under a new name and start anew.
        on_event: called with every event after it is recorded.

    Raises:
        ConfigError: an option is wrong; nothing was sent.
        RunPaused: the breaker ended the run; its `.results` has what there is.
        KeyboardInterrupt: after a clean stop.
    """
    job = Job(plan_of(options), intakes(_checked(prompts), defaults_of(options)))
    try:
        return run_sync(job.execute, interrupt=job.interrupt)
    except Interrupted:
        raise KeyboardInterrupt from None


async def arun(prompts: Iterable[object], **options: Unpack[RunOptions]) -> Results:
    """The same as `run`, for asyncio."""
    return await Job(plan_of(options), intakes(_checked(prompts), defaults_of(options))).execute()


async def astream(prompts: Iterable[object], **options: Unpack[RunOptions]) -> AsyncIterator[Outcome]:
    """Outcomes as they settle, whatever their order; `outcome.index` says which prompt it belongs to.

    What an earlier run on the journal has settled is not repeated.
    """
    ready: deque[AnyOutcome] = deque()
    changed = asyncio.Event()

    def take(outcome: AnyOutcome) -> None:
        ready.append(outcome)
        changed.set()

    job = Job(
        plan_of(options),
        intakes(_checked(prompts), defaults_of(options)),
        on_settled=take,
        has_room=lambda: len(ready) < _STREAM_AHEAD,
    )
    task = asyncio.create_task(job.execute())
    task.add_done_callback(lambda _: changed.set())
    try:
        while not task.done() or ready:
            await changed.wait()
            changed.clear()
            while ready:
                yield ready.popleft()
                job.wake()
        (await task).close()
    finally:
        if not task.done():
            job.interrupt()
            await asyncio.wait([task])
            task.exception()  # an abandoned stream has nobody to tell


def stream(prompts: Iterable[object], **options: Unpack[RunOptions]) -> Iterator[Outcome]:
    """The same as `astream`, from synchronous code: the run goes on while the consumer works."""
    ready: queue.SimpleQueue[AnyOutcome | None] = queue.SimpleQueue()
    job = Job(
        plan_of(options),
        intakes(_checked(prompts), defaults_of(options)),
        on_settled=ready.put,
        has_room=lambda: ready.qsize() < _STREAM_AHEAD,
    )
    return _drain(job, ready)


def _drain(job: Job, ready: queue.SimpleQueue[AnyOutcome | None]) -> Iterator[Outcome]:
    async def work() -> Results:
        try:
            return await job.execute()
        finally:
            ready.put(None)

    background = BackgroundLoop(work)
    ended = False
    try:
        while not ended:
            try:
                outcome = ready.get()
            except KeyboardInterrupt:
                background.call(job.interrupt)
                continue
            ended = outcome is None
            if outcome is not None:
                yield outcome
                background.call(job.wake)
    finally:
        if not ended:
            background.call(job.interrupt)
            background.wait()
    try:
        background.result(job.interrupt).close()
    except Interrupted:
        raise KeyboardInterrupt from None


class Job:
    """One run, from opening its parts to handing back its results. The doors differ only in who watches."""

    def __init__(
        self,
        plan: Plan,
        source: Iterable[Intake] | None,
        *,
        on_settled: Callable[[AnyOutcome], None] | None = None,
        has_room: Callable[[], bool] | None = None,
        on_open: Callable[[Engine], None] | None = None,
    ) -> None:
        self._plan = plan
        self._source = source  # None: the journal's own failed and deferred items
        self._on_settled = on_settled
        self._has_room = has_room
        self._on_open = on_open
        self._run: LiveRun | BatchRun | None = None
        self._interrupts = 0

    async def execute(self) -> Results:
        """Run to the end.

        Raises:
            RunPaused: the breaker ended it.
            Interrupted: it was interrupted, and has stopped cleanly.
        """
        async with open_engine(self._plan) as engine:
            run = self._run = engine.start(on_settled=self._on_settled, has_room=self._has_room)
            if self._on_open is not None:
                self._on_open(engine)
            for _ in range(self._interrupts):
                run.interrupt()
            if self._source is None:
                await engine.again(run)
            else:
                await engine.process(run, self._source)
            counts = engine.journal.counts()
            whole = run.exhausted and self._source is not None
            accounting = account(counts, inputs=engine.tally.read if whole else sum(counts.values()))
        if run.interrupted:
            raise Interrupted("the run was interrupted; what is finished is kept")
        source = engine.journal if self._plan.journal is None else JournalReader(self._plan.journal)
        results = Results(source, accounting=accounting, stopped=run.stopped, priced=engine.price is not None)
        if run.pause is not None:
            raise RunPaused(reason=run.pause.reason, remedy=run.pause.remedy, results=results)
        return results

    @property
    def left_at_once(self) -> bool:
        """It was interrupted a second time."""
        return self._interrupts > 1

    def interrupt(self) -> None:
        """Stop cleanly; called twice, stop at once."""
        self._interrupts += 1
        if self._run is not None:
            self._run.interrupt()

    def wake(self) -> None:
        """Whoever takes the outcomes can take more."""
        if self._run is not None:
            self._run.wake()


def plan_of(options: RunOptions) -> Plan:
    """The plan behind a run's options.

    Raises:
        ConfigError: an option is unknown or wrong.
    """
    _refuse_unknown(options)
    price = options.get("price")
    if isinstance(price, str):
        price = parse_price(price)
    elif isinstance(price, tuple):
        price = stated(*price)
    max_cost = options.get("max_cost")
    journal = options.get("journal")
    return Plan(
        model=options["model"],
        mode=_mode_of(options),
        policy=_policy_of(options, None if max_cost is None else ceiling_from_dollars(max_cost)),
        price=price,
        journal=None if journal is None else Path(journal),
        fresh=options.get("fresh", False),
        backend=options.get("backend"),
        base_url=options.get("base_url"),
        api_key=options.get("api_key"),
        checker=AnswerChecker(),
        on_event=options.get("on_event"),
        settings=_remembered(options),
    )


def _mode_of(options: RunOptions) -> Literal["live", "batch"]:
    mode = options.get("mode", "live")
    if mode not in ("live", "batch"):
        raise ConfigError(f"mode must be 'live' or 'batch', got {mode!r}")
    return mode


def _remembered(options: RunOptions) -> dict[str, Any]:
    settings: dict[str, Any] = {name: value for name in _REMEMBERED if (value := options.get(name)) is not None}
    if isinstance(price := options.get("price"), str | tuple):
        settings["price"] = price if isinstance(price, str) else ",".join(map(str, price))
    if "max_cost" in settings:
        settings["max_cost"] = str(settings["max_cost"])
    return settings


def _policy_of(options: RunOptions, max_cost_nano: int | None) -> Policy:
    defaults = Policy()
    retries = options.get("retries", defaults.retry.max_attempts - 1)
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ConfigError(f"retries must be a whole number of at least 0, got {retries!r}")
    return Policy(
        max_in_flight=options.get("max_in_flight", defaults.max_in_flight),
        rates=RatePolicy(
            rpm=options.get("rpm"), input_tpm=options.get("input_tpm"), output_tpm=options.get("output_tpm")
        ),
        retry=RetryPolicy(max_attempts=retries + 1, max_refusals=max(1, retries * 12)),
        max_cost_nano=max_cost_nano,
        timeout_s=options.get("timeout", defaults.timeout_s),
        max_wait_s=options.get("max_wait", defaults.max_wait_s),
        max_consecutive_failures=options.get("max_consecutive_failures", defaults.max_consecutive_failures),
        reasks=options.get("reask", defaults.reasks),
        batch=_batch_policy_of(options, defaults.batch),
    )


def _batch_policy_of(options: RunOptions, defaults: BatchPolicy) -> BatchPolicy:
    return BatchPolicy(
        most_items=options.get("items_per_batch"),
        max_parallel=options.get("max_parallel_batches", defaults.max_parallel),
        poll_first_s=options.get("poll_interval", defaults.poll_first_s),
        poll_longest_s=max(defaults.poll_longest_s, options.get("poll_interval", 0.0)),
        adopt_wait_s=options.get("adopt_wait", defaults.adopt_wait_s),
        cancel_on_interrupt=options.get("cancel_on_interrupt", False),
    )


def defaults_of(options: RunOptions) -> Defaults:
    """What every request of a run has.

    Raises:
        ConfigError: `max_tokens` or the schema is wrong.
    """
    schema = options.get("schema")
    return Defaults(
        model=options["model"],
        system=options.get("system"),
        max_tokens=options.get("max_tokens", DEFAULT_MAX_TOKENS),
        schema=None if schema is None else Schema.of(schema),
        sampling=options.get("sampling"),
        extra_body=options.get("extra_body"),
    )


def _refuse_unknown(options: RunOptions) -> None:
    known = RunOptions.__annotations__
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise ConfigError(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if not isinstance(options.get("model"), str):
        raise ConfigError("model= is required, for example model='mock:echo'")


def _checked(prompts: Iterable[object]) -> Iterable[object]:
    if isinstance(prompts, str | bytes | dict) or not isinstance(prompts, Iterable):
        raise ConfigError(
            f"prompts must be an iterable of prompts, not one {type(prompts).__name__}; wrap it in a list"
        )
    return prompts
