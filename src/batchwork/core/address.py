"""Addresses of servers: what of them may be shown or kept, and what may be a secret.

A server may take its key in the query of a base URL or in front of the host. Which part of a query is a key and which
a version, nobody can tell; so none of it is ever shown or written down.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, unquote_plus, urlsplit

HIDDEN = "***"
_LONG_SECRET = 16  # characters: a text of that length stands nowhere by chance
_SHORTEST_SECRET = 4
_PARTS = re.compile(r"[?#]")


def shown_address(address: str) -> str:
    """An address for people to read: without user, password, query and fragment, also where it is malformed."""
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
        if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port):
            return f"{parts.scheme}://{host}{parts.path}".rstrip("/")
    except ValueError:  # no port, for one: where the password ends, nobody knows
        pass
    return HIDDEN if "@" in address else _PARTS.split(address, maxsplit=1)[0]


def is_plain(address: str) -> bool:
    """Whether nothing in an address may be a secret, so that it can be kept as it is."""
    return not _PARTS.search(address) and "@" not in address


def has_user(address: str) -> bool:
    """Whether an address names a user, with a password or without."""
    return "@" in _PARTS.split(address, maxsplit=1)[0].partition("://")[2].partition("/")[0]


def secrets_in(address: str) -> tuple[str, ...]:
    """What may be a secret in an address, as it stands there and as a server may say it."""
    try:
        parts = urlsplit(address)
        texts = [parts.username or "", parts.password or "", parts.query, parts.fragment]
    except ValueError:
        return ()
    texts += [pair.partition("=")[2] or pair for pair in re.split("[&;]", parts.query)]
    found = {
        form for text in texts for form in (text, unquote(text), unquote_plus(text)) if len(form) >= _SHORTEST_SECRET
    }
    return tuple(sorted(found, key=len, reverse=True))


def secrets_to_hide(secrets: Iterable[str], *, is_error: bool) -> tuple[bytes, ...]:
    """What must not come back in what a server or a program says, in every form, the longest first.

    In what is no error, only what cannot stand there by chance: an answer is not to be changed.
    """
    found = {form for text in secrets for form in (text, quote(text, safe=""), text.replace("/", "\\/"))}
    least = _SHORTEST_SECRET if is_error else _LONG_SECRET
    return tuple(form.encode() for form in sorted(found, key=len, reverse=True) if len(form) >= least)
