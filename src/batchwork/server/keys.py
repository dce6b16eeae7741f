"""Who may call: API keys from the environment and a key file, compared in constant time.

Only digests are kept. A key file has one key per line, plain or as `sha256:...`; `#` begins a comment.
"""

import os
import secrets
from collections.abc import Iterable
from contextvars import ContextVar
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from batchwork.core.errors import ConfigError

caller: ContextVar[int | None] = ContextVar("caller", default=None)  # the number of the key of the current request
_SHORTEST = 16
_HASHED = "sha256:"


class KeyRing:
    """The known keys. Without any, the server answers this machine alone."""

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._digests = tuple(dict.fromkeys(digests))

    def __len__(self) -> int:
        return len(self._digests)

    def __repr__(self) -> str:
        return f"<KeyRing of {len(self._digests)}>"

    def number_of(self, key: str) -> int | None:
        """The number of a key, counted from 1; None when it is unknown. Takes the same time for every key."""
        digest = sha256(key.encode("utf-8", "replace")).digest()
        found = 0
        for number, known in enumerate(self._digests, 1):
            found |= number * compare_digest(known, digest)
        return found or None


def key_ring(keys: Iterable[str] = (), key_file: Path | None = None) -> KeyRing:
    """The keys of the environment and of a file. Raises ConfigError where one is too short, or no file is there."""
    digests = [_digest(key, "BATCHWORK_API_KEYS") for key in keys]
    if key_file is not None:
        try:
            lines = key_file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the key file {key_file}: {error}") from error
        for number, line in enumerate(lines, 1):
            if text := line.partition("#")[0].strip():
                digests.append(_digest(text, f"{key_file}, line {number}"))
        if not digests:
            raise ConfigError(f"the key file {key_file} has no key; `batchwork serve --new-key --key-file` adds one")
    return KeyRing(digests)


def new_key() -> str:
    """A key that nobody can guess."""
    return f"bw-{secrets.token_urlsafe(32)}"


def add_key(key_file: Path, key: str) -> None:
    """Add a key's digest to a file that only its owner can read. Raises ConfigError where it cannot be written."""
    line = f"{_HASHED}{sha256(key.encode()).hexdigest()}\n"
    try:
        descriptor = os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="ascii") as file:
            file.write(line)
    except OSError as error:
        raise ConfigError(f"cannot write the key file {key_file}: {error.strerror}") from error


def _digest(text: str, where: str) -> bytes:
    if text.startswith(_HASHED):
        try:
            digest = bytes.fromhex(text.removeprefix(_HASHED))
        except ValueError:
            digest = b""
        if len(digest) != 32:
            raise ConfigError(f"{where}: {_HASHED} must be followed by 64 hexadecimal digits")
        return digest
    if len(text) < _SHORTEST:
        raise ConfigError(f"{where}: a key of less than {_SHORTEST} characters; `batchwork serve --new-key` makes one")
    return sha256(text.encode()).digest()
