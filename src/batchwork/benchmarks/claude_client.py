"""Who answers: one interface over every backend, and all of them over `batchwork.run`.

A client is a model's name and what goes with it. Nothing is opened, read or sent before the first question.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Protocol, Self

import batchwork
from batchwork import FailureKind, Outcome, Request, Results, Succeeded
from batchwork.benchmarks.config import BackendType as BackendType  # noqa: PLC0414 (its founding address)
from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.prompts import with_data

SIMULATION = "the simulator of batchwork, not a language model"
_SIMULATED = "simulated-"  # so the models begin that it says it is
_API_ALIASES = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}


# Failures in which the model spoke, and what it said cannot be used: answers, never to be asked for again.
SPOKE = frozenset({FailureKind.SCHEMA_VIOLATION, FailureKind.TRUNCATED, FailureKind.REFUSED})
CAME_TO_NOTHING = frozenset(FailureKind) - SPOKE


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeResponse:
    """What one call brought, whichever backend made it."""

    text: str
    backend: str
    model: str  # that answered, by its own account; else the one that was asked
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None  # None: not known
    latency_s: float = 0.0
    error: str | None = None
    cause: str | None = None  # why no call is taken at all: credentials, quota, stalled, ...
    retry_after_s: float | None = None  # when calls will be taken again, where that is known

    @property
    def success(self) -> bool:
        """An answer came."""
        return self.error is None


def is_simulated(model: str) -> bool:
    """Whether a model, by the name with which it answered, is none."""
    return model.startswith(_SIMULATED)


class ClientType(Protocol):
    """What every backend offers."""

    def query(self, prompt: str, system: str | None = None) -> ClaudeResponse:
        """Ask one thing."""

    def query_baseline(self, raw_data: str, query: str) -> ClaudeResponse:
        """Ask about data as it is."""

    def query_treatment(self, semantic_output: str, query: str) -> ClaudeResponse:
        """Ask about data in words."""


class Client:
    """A backend of `batchwork` behind the benchmark's interface."""

    backend: ClassVar[BackendType]
    usual_model: ClassVar[str]
    data_size: ClassVar[int | None] = None  # points it is given at most, unless told otherwise
    warms_up: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True  # a base URL means something to it
    patience_s: ClassVar[float] = 0.0  # beyond the timeout, for a backend that keeps the timeout itself and says so
    notice: ClassVar[str | None] = None  # what it is, when it is not a language model

    def __init__(self, config: BenchmarkConfig | None = None) -> None:
        self.config = config or BenchmarkConfig()

    @property
    def model(self) -> str:
        """The model as `batchwork` names it."""
        return self._named(self.config.model or self.usual_model)

    @property
    def shown(self) -> str:
        """The model in a report: without settings that do not change its answers."""
        return self.model.partition("?base_timeout")[0]

    @property
    def most_points(self) -> int | None:
        """Points in a data set at most: as told, else as suits the backend; None is no limit.

        The backend's own limit falls when anything is said about sizes.
        """
        if self.config.max_data_size is not None or self.config.skip_baseline_above is not None:
            return self.config.max_data_size
        return self.data_size

    def told(self, config: BenchmarkConfig | None) -> Self:
        """This client with another configuration, checked. Raises ConfigurationError: a setting is wrong."""
        client = self if config is None else type(self)(config)
        client.check()
        return client

    def check(self) -> None:
        """Refuse settings that cannot be run, or mean nothing to this backend.

        Raises ConfigurationError: says which, and what to do.
        """
        self.config.check()
        if self.config.base_url is not None and not self.elsewhere:
            raise ConfigurationError(f"--base-url means nothing to --backend {self.backend.value}: leave it out")

    def query(self, prompt: str, system: str | None = None) -> ClaudeResponse:
        """Ask one thing.

        Raises batchwork.ConfigError: the backend cannot be used at all; the message says what to do.
        """
        try:
            results = self.ask_all([Request.ask(prompt, system=system)], window=1, max_cost=self.config.ceiling)
        except batchwork.RunPaused as paused:
            told = self.response(paused.results[0])
            return replace(told, error=paused.reason, cause=paused.cause, retry_after_s=paused.retry_after_s)
        return self.response(results[0])

    def query_baseline(self, raw_data: str, query: str) -> ClaudeResponse:
        """Ask about data as it is."""
        return self._query_data(raw_data, query)

    def query_treatment(self, semantic_output: str, query: str) -> ClaudeResponse:
        """Ask about data in words."""
        return self._query_data(semantic_output, query)

    def ask_all(
        self,
        requests: Iterable[Request],
        *,
        window: int,
        journal: Path | None = None,
        max_cost: float | None = None,
        progress: bool = False,
    ) -> Results:
        """Many questions through one engine run, at most `window` at once.

        An answer is asked for once: asking again because of its form would give one condition more tries than another.

        Raises batchwork.RunPaused: the breaker ended it.
        """
        config = self.config
        return batchwork.run(
            requests,
            model=self.model,
            base_url=config.base_url,
            max_in_flight=window,
            max_tokens=config.max_tokens,
            timeout=config.base_timeout + self.patience_s,
            timeout_per_1k_chars=config.timeout_per_1k_chars,
            retries=config.retries,
            max_wait=config.max_wait_s,
            max_consecutive_failures=config.max_consecutive_errors,
            max_cost=max_cost,
            price=config.price,
            reask=0,
            journal=journal,
            retry_in_place=True,  # else a provider that is down sees several windows of items before the run aborts
            retry_failed=CAME_TO_NOTHING,
            progress=progress,
        )

    def response(self, outcome: Outcome) -> ClaudeResponse:
        """An outcome in the benchmark's words."""
        usage = outcome.usage
        reply = outcome.reply if isinstance(outcome, Succeeded) else None
        return ClaudeResponse(
            text=outcome.text or "",
            backend=self.backend.value,
            model=self.shown if reply is None else reply.model or self.shown,
            input_tokens=None if usage is None else usage.input_tokens,
            output_tokens=None if usage is None else usage.output_tokens,
            cost_usd=None if outcome.cost is None else float(outcome.cost),
            latency_s=outcome.latency_s,
            error=outcome.error,
        )

    def _query_data(self, data: str, query: str) -> ClaudeResponse:
        prompt = with_data(data, query)
        return self.query(prompt.user, prompt.system)

    def _named(self, model: str) -> str:
        prefix = f"{self.backend.value}:"
        if ":" in model and not model.startswith(prefix):
            raise ConfigurationError(
                f"--model {model} is not of --backend {self.backend.value}; leave --backend out or name another model"
            )
        return prefix + model.removeprefix(prefix)


class ClaudeClient(Client):
    """The provider's API: Anthropic by default, any `anthropic:` or `openai:` model when told."""

    backend = BackendType.API
    usual_model = "sonnet"

    def _named(self, model: str) -> str:
        alias = _API_ALIASES.get(model)
        if alias is not None:
            return f"anthropic:{alias}"
        if model.partition(":")[0] in ("claude-code", "mock", "local"):
            return super()._named(model)
        return model  # `anthropic:...`, `openai:...` or a bare id that the library knows


class ClaudeCodeClient(Client):
    """The real `claude` program, one process per call."""

    backend = BackendType.CLAUDE_CODE
    usual_model = "sonnet"
    data_size = 1000
    warms_up = True
    patience_s = 30.0

    def _named(self, model: str) -> str:
        config = self.config
        named = super()._named(model)
        return f"{named}?base_timeout={config.base_timeout:g}&timeout_per_1k_chars={config.timeout_per_1k_chars:g}"


class MockClient(Client):
    """The literal reader: answers only what stands in the text that it is given."""

    backend = BackendType.MOCK
    usual_model = "reader"
    elsewhere = False
    notice = "literal reader, not a language model"

    def _named(self, model: str) -> str:
        named = super()._named(model)
        if not named.startswith("mock:reader"):
            raise ConfigurationError(f"--model {model}: the benchmark's mock is the literal reader, mock:reader")
        return named


class LocalClient(Client):
    """A small real model on this machine."""

    backend = BackendType.LOCAL
    usual_model = "smollm2"
    elsewhere = False
    data_size = 100  # its context holds few digits


_CLIENTS: dict[BackendType, type[Client]] = {
    client.backend: client for client in (ClaudeClient, ClaudeCodeClient, MockClient, LocalClient)
}


def get_client(backend: BackendType | str = BackendType.API, config: BenchmarkConfig | None = None) -> Client:
    """The client of a backend. Raises ConfigurationError: there is no such backend."""
    try:
        return _CLIENTS[BackendType(backend)](config)
    except ValueError:
        known = ", ".join(kind.value for kind in BackendType)
        raise ConfigurationError(f"unknown backend {backend!r}; there are {known}") from None
