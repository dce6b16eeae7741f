"""The settings of a run, validated and made once. Nothing here is open, and nothing here is called back."""

from dataclasses import dataclass, field
from typing import Any, Literal

from batchwork.core.block import SharedInput
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind
from batchwork.core.policy import Policy
from batchwork.core.pricing import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Every setting of a run. Callbacks and objects of the caller's own are handed to the run apart: `Supplied`."""

    model: str
    mode: Literal["live", "batch"] = "live"
    task: Literal["ask", "embed"] = "ask"
    policy: Policy = field(default_factory=Policy)
    accounts: tuple[str, ...] = ()  # shared with other processes: their limits hold beside the policy's
    price: Price | None = None  # stated by the user; None: look it up
    journal: JournalAddress | None = None  # None: in memory
    shares: bool = False  # other processes may work on the same run, and this one joins theirs
    joins: bool = False  # this process reads no input, and works on that of another
    follows: bool = False  # this process has helped another one with the same input, and goes on with it
    shared_input: SharedInput | None = None  # whoever joins places rows of its own, as the others do
    fresh: bool = False
    retry_failed: frozenset[FailureKind] = frozenset()  # what has failed in these ways is taken up again, too
    base_url: str | None = field(default=None, repr=False)  # there may be a key in it
    api_key: str | None = field(default=None, repr=False)
    keep_bodies: bool = False  # the provider's JSON is kept with every answer, for files of raw results
    settings: dict[str, Any] = field(default_factory=dict)  # kept in the journal for `retry`


def account_names(account: object) -> tuple[str, ...]:
    """The names of shared accounts, one or several, each once."""
    names = () if account is None else (account,) if isinstance(account, str) else account
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise ConfigError(f"account must be the name of a shared account, or a list of names, got {account!r}")
    return tuple(dict.fromkeys(names))
