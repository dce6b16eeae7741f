"""The only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says. Keys never show in a repr, and so never in a log."""

    anthropic_api_key: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    server_api_keys: tuple[str, ...] = field(default=(), repr=False)  # those that callers of `batchwork serve` show
    state_dir: Path = Path(".local/state/batchwork")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings of this process."""
        env = os.environ if environment is None else environment
        return cls(
            anthropic_api_key=env.get("ANTHROPIC_API_KEY") or None,
            anthropic_base_url=env.get("ANTHROPIC_BASE_URL") or None,
            openai_api_key=env.get("OPENAI_API_KEY") or None,
            openai_base_url=env.get("OPENAI_BASE_URL") or None,
            server_api_keys=tuple(filter(None, map(str.strip, env.get("BATCHWORK_API_KEYS", "").split(",")))),
            state_dir=Path(env.get("XDG_STATE_HOME") or Path(env.get("HOME", ".")) / ".local" / "state") / "batchwork",
        )
