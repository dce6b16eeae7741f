"""Every knob of the server, checked at birth."""

from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path

from batchwork.core.errors import ConfigError
from batchwork.core.money import ceiling_from_dollars
from batchwork.core.policy import check_at_least
from batchwork.core.request import DEFAULT_MAX_TOKENS
from batchwork.prompts import DEFAULT_BATCH_SIZE
from batchwork.schema import DEFAULT_LIMITS, Limits
from batchwork.server.keys import KeyRing

MAX_PROMPTS = 1000
_COUNTS = (
    *("max_tokens", "batch_size", "max_in_flight", "max_body_bytes"),
    *("max_open_prompts", "max_open_bytes", "max_prompt_values"),
)
RESERVED = 64  # places above the limit, for whoever watches over the server and for a clean refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How many connections there may be, and how long each may take."""

    max_connections: int = 1000
    head_s: float = 10.0  # for a request's first byte on a new connection, and for the whole of its head
    least_bytes_per_s: int = 1024  # of a body on its way in and of an answer on its way out
    slow_s: float = 15.0  # so long either may be slower
    idle_s: float = 65.0  # between two requests
    linger_s: float = 2.0  # for a sender to hear that its body is not wanted

    def __post_init__(self) -> None:
        check_at_least(1, max_connections=self.max_connections, least_bytes_per_s=self.least_bytes_per_s)
        for name in ("head_s", "slow_s", "idle_s", "linger_s"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} must be more than 0 seconds, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLimits:
    """The processes that do what would hold the event loop up."""

    processes: int = 2
    job_s: float = 10.0  # for one large schema or answer
    memory_bytes: int = 1024 * 2**20

    def __post_init__(self) -> None:
        if self.processes < 1 or self.memory_bytes < 256 * 2**20 or not 0 < self.job_s < float("inf"):
            raise ConfigError("work needs at least 1 process, 256 MB and more than 0 seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """How the server behaves."""

    model: str
    models: tuple[str, ...] = ()  # served beside `model`
    host: str = "127.0.0.1"
    port: int = 8000
    keys: KeyRing = field(default_factory=KeyRing)
    max_tokens: int = DEFAULT_MAX_TOKENS  # of a prompt that does not say
    batch_size: int = DEFAULT_BATCH_SIZE
    max_in_flight: int = 400
    max_cost_per_day: float | str | None = None
    budget_file: Path | None = None
    accounts: tuple[str, ...] = ()  # shared with other processes
    price: str | None = None
    rpm: float | None = None
    input_tpm: float | None = None
    output_tpm: float | None = None
    retries: int = 3
    max_retry_s: float = 60.0
    timeout_s: float = 120.0
    base_url: str | None = field(default=None, repr=False)  # there may be a key in it
    max_body_bytes: int = 8 * 2**20
    max_open_prompts: int = 20_000
    max_open_bytes: int = 128 * 2**20
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    work: WorkLimits = field(default_factory=WorkLimits)
    schemas: Limits = DEFAULT_LIMITS
    max_prompt_values: int = 30_000
    grace_s: float = 30.0
    log_text: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"port must be between 0 (any free one) and 65535, got {self.port}")
        check_at_least(1, **{name: getattr(self, name) for name in _COUNTS})
        if not 0 <= self.grace_s < float("inf"):
            raise ConfigError(f"grace must be at least 0 seconds, got {self.grace_s}")
        if self.max_cost_per_day is not None and ceiling_from_dollars(self.max_cost_per_day) == 0:
            raise ConfigError("max_cost_per_day must be above 0, got 0: with it nothing could be asked")
        if self.max_cost_per_day is not None and self.budget_file is None:
            raise ConfigError("a budget per day needs a file that remembers it: --budget-file")
        if not self.keys and not is_loopback(self.host):
            raise ConfigError(
                f"without an API key the server listens on loopback only, not on {self.host}: set BATCHWORK_API_KEYS or"
                " --key-file; `batchwork serve --new-key` makes a key"
            )

    @property
    def served(self) -> tuple[str, ...]:
        """All models there are."""
        return (self.model, *self.models)


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
