"""What the page about a run, and its twin in JSON, are made of."""

import msgspec

from batchwork.view.distribution import Distribution


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the run waits for, and what can be done about it."""

    what: str
    text: str
    remedy: str = ""


class FailureKindRow(msgspec.Struct, frozen=True, kw_only=True):
    """The items that failed in one way."""

    kind: str
    count: int
    example: str
    place: int | None  # of the example
    remedy: str


class RunSpan(msgspec.Struct, frozen=True, kw_only=True):
    """One run on the journal."""

    began_at: float
    ended_at: float | None
    how: str  # it ended
    state: str  # running, finished, stopped or cut_off
    pause_before_s: float | None = None  # since the run before


class BatchLine(msgspec.Struct, frozen=True, kw_only=True):
    """One provider batch."""

    number: int
    batch_id: str | None
    items: int
    state: str
    intended_at: float
    closed_at: float | None


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """A rate that the run keeps to."""

    what: str  # calls, tokens in, tokens out or tokens
    per_minute: float
    source: str  # whose word it is


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """What happened over the time of work, bucket by bucket."""

    width_s: float
    succeeded: list[float]
    failed: list[float]
    refused: list[float]
    spent_nano: list[float]  # all until then
    breaks: list[tuple[float, str]]  # where one run follows another: seconds of work, and what lies between


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page."""

    journal: str
    model: str
    mode: str
    state: str
    headline: str
    remedy: str
    counts: dict[str, int]
    total: int | None  # rows in the input, where it is known
    read: int
    done: int
    rate_per_s: float
    allowed: list[Allowed]
    eta_s: float | None
    elapsed_s: float
    spent_nano: int | None  # None: the price is not known
    unconfirmed_nano: int
    ceiling_nano: int | None
    forecast_nano: int | None
    tokens: dict[str, int]
    waits: list[Wait]
    failures: list[FailureKindRow]
    runs: list[RunSpan]
    batches: list[BatchLine]  # the latest
    all_batches: int
    series: Series
    latency: Distribution | None
    input_tokens: Distribution | None
    output_tokens: Distribution | None
    indexed: int  # events
    events: int
    problem: str | None
