"""The only reader of the environment: the process's own variables, and `.env` in the working folder below them."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from batchwork.core.errors import ConfigError
from batchwork.core.price_tables import PriceTable, parse_price_table
from batchwork.core.providers import providers

# What the `claude` program may see of our environment: where it lives, its login, the way out of the building.
_PROGRAM = (
    *("HOME", "USER", "LOGNAME", "PATH", "SHELL", "TMPDIR", "LANG", "LC_ALL", "TZ"),
    *("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
JOURNAL = "BATCHWORK_JOURNAL"  # the journal of commands that name none
BASE_URL = "BATCHWORK_BASE_URL"  # the address that a run hands to the workers it starts: there may be a key in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the environment says. Keys, and addresses that may hold one, never show in a repr, and so never in a log."""

    keys: Mapping[str, str] = field(default_factory=dict, repr=False)  # by the name of their provider
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)  # the same
    trust_env: bool = False  # BATCHWORK_TRUST_ENV: take proxies and netrc from the environment
    journal: str | None = field(default=None, repr=False)  # BATCHWORK_JOURNAL
    shared: str | None = field(default=None, repr=False)  # BATCHWORK_SHARED: the database of the shared accounts
    prices: Path | None = None  # BATCHWORK_PRICES: a file of prices that go before the bundled table
    claude_program: str = "claude"  # BATCHWORK_CLAUDE: the name or path of the program
    claude_with_key: bool = False  # BATCHWORK_CLAUDE_WITH_KEY: let the program use the API key instead of its login
    program_environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    models_folder: Path | None = None  # BATCHWORK_MODELS: where local models are kept
    server_api_keys: tuple[str, ...] = field(default=(), repr=False)  # those that callers of `batchwork serve` show
    state_dir: Path = Path(".local/state/batchwork")
    cache_dir: Path | None = None  # what can be made again; None: the environment names no place for it

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, *, dotenv: Path | None = None) -> Self:
        """The settings of this process. Without arguments its environment, and `.env` for what that leaves open."""
        if environment is None:
            environment, dotenv = os.environ, dotenv or Path(".env")
        env = {**(_read(dotenv) if dotenv is not None else {}), **{k: v for k, v in environment.items() if v}}
        return cls(
            keys={name: key for name, row in providers().items() if (key := _first(env, row.keys)) is not None},
            addresses={name: url for name, row in providers().items() if (url := env.get(row.address or ""))},
            trust_env=_switch(env, "BATCHWORK_TRUST_ENV"),
            journal=env.get(JOURNAL) or None,
            shared=env.get("BATCHWORK_SHARED") or None,
            prices=_path(env, "BATCHWORK_PRICES"),
            claude_program=env.get("BATCHWORK_CLAUDE") or "claude",
            claude_with_key=_switch(env, "BATCHWORK_CLAUDE_WITH_KEY"),
            program_environment={name: env[name] for name in _PROGRAM if env.get(name)},
            models_folder=_path(env, "BATCHWORK_MODELS") or _cache(env),
            server_api_keys=tuple(filter(None, map(str.strip, env.get("BATCHWORK_API_KEYS", "").split(",")))),
            cache_dir=_cache(env),
            state_dir=Path(env.get("XDG_STATE_HOME") or Path(env.get("HOME", ".")) / ".local" / "state") / "batchwork",
        )

    def price_table(self) -> PriceTable | None:
        """The prices in the file that `BATCHWORK_PRICES` names, else ConfigError; None without one."""
        if self.prices is None:
            return None
        try:
            text = self.prices.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the price table {self.prices} cannot be read: {error}") from error
        return parse_price_table(text, source=str(self.prices))


def library_paths() -> dict[str, str]:
    """What a process that reads documents sees of our environment: where the interpreter finds its libraries."""
    names = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def environment_for(journal: str, *, base_url: str | None = None) -> dict[str, str]:
    """The environment of a process of our own that works on this journal; its command line can be read by everybody."""
    return {**os.environ, JOURNAL: journal, **({} if base_url is None else {BASE_URL: base_url})}


def _read(path: Path) -> dict[str, str]:
    """`NAME=value` lines; comments, blank lines, `export` and quotes are understood, nothing is expanded."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        return {}
    found = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().removeprefix("export ").lstrip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name.isidentifier():  # the line may hold a secret: it is named, not shown
            raise ConfigError(f"{path}, line {number}: expected NAME=value")
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        elif " #" in value:
            value = value[: value.index(" #")].rstrip()
        found[name] = value
    return found


def _switch(env: Mapping[str, str], name: str) -> bool:
    value = env.get(name, "").lower()
    if value not in ("", "0", "no", "false", "off", "1", "yes", "true", "on"):
        raise ConfigError(f"{name} is 1 or 0, got {value!r}")
    return value in ("1", "yes", "true", "on")


def _first(env: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((env[name] for name in names if env.get(name)), None)


def _path(env: Mapping[str, str], name: str) -> Path | None:
    return Path(env[name]) if env.get(name) else None


def _cache(env: Mapping[str, str]) -> Path | None:
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]) / "batchwork"
    return Path(env["HOME"]) / ".cache" / "batchwork" if env.get("HOME") else None
