"""Decides what the address of a database means, and how much of it may be shown.

`postgresql://host/db?journal=NAME` names a journal; everything else in its query (`sslmode`, `service`, `passfile`)
goes to libpq as it is. A password stands in no text that this module makes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from batchwork.core.address import HIDDEN
from batchwork.core.errors import ConfigError

SCHEMES = ("postgresql://", "postgres://")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,49}")
_SHOWN = ("service", "sslmode")  # of the query; what the others hold, nobody can tell
_EXAMPLE = "postgresql://HOST/DATABASE?journal=NAME"


def is_dsn(text: str) -> bool:
    """Whether a text is meant as the address of a database, well-formed or not."""
    return text.startswith(SCHEMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dsn:
    """The address of a database, and of the journal in it where it names one. Its text never holds a password."""

    shown: str  # for people, and for records
    journal: str | None  # the name of the journal; None: the address names the database alone
    options: Mapping[str, str] = field(repr=False)  # what libpq is told, by its own names
    has_password: bool = False
    text: str = field(repr=False, compare=False)  # as it was given, for a process of our own

    def __str__(self) -> str:
        return self.shown

    @classmethod
    def parse(cls, text: str, *, needs_journal: bool = True) -> Self:
        """The address in a text, else ConfigError, which does not repeat the text: a password may stand anywhere."""
        options = _options(text)
        journal = options.pop("journal", None)
        if journal is None and needs_journal:
            raise ConfigError(f"the address of a database says which journal: {_EXAMPLE}")
        if journal is not None and _NAME.fullmatch(journal) is None:
            raise ConfigError("a journal's name is up to 50 letters, digits, '_', '-' and '.', and starts with one")
        if "dbname" not in options and "service" not in options:
            raise ConfigError(f"the address of a database names one: {_EXAMPLE}")
        return cls(
            shown=_shown(options, journal),
            journal=journal,
            options=options,
            has_password="password" in options,
            text=text,
        )

    def renamed(self, journal: str) -> Self:
        """Another journal in the same database."""
        text = re.sub(r"([?&]journal=)[^&]*", lambda found: found[1] + journal, self.text)
        return replace(self, shown=_shown(self.options, journal), journal=journal, text=text)

    @property
    def schema(self) -> str:
        """The schema that holds the journal."""
        assert self.journal is not None
        return f"batchwork_{self.journal}"

    def without_password(self, text: str) -> str:
        """A text of the driver's or the server's, without what is secret in this address."""
        for name in ("password", "sslpassword"):
            secret = self.options.get(name)
            if secret:
                for form in (secret, quote(secret, safe="")):
                    text = text.replace(form, HIDDEN)
        return text


def _options(text: str) -> dict[str, str]:
    """What an address says, by libpq's names."""
    if not is_dsn(text):
        raise ConfigError(f"the address of a database starts with {SCHEMES[0]}, as in {_EXAMPLE}")
    try:
        parts = urlsplit(text)
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:  # its text may hold what stands there
        raise ConfigError(
            f"the address of the database cannot be read; it is {_EXAMPLE}, and what is special in a user, a password"
            " or a value is written in percent, as %40 for @"
        ) from None
    if parts.fragment:
        raise ConfigError("there is a # in the address of the database; in a password it is written %23")
    options: dict[str, str] = {}
    user, _, hosts = parts.netloc.rpartition("@")
    name, colon, password = user.partition(":")
    found = [("user", unquote(name)), ("password", unquote(password) if colon else ""), *_hosts(hosts)]
    found += [("dbname", unquote(parts.path.removeprefix("/"))), *query]
    for key, value in found:
        if not value:
            continue
        if "\0" in value:
            raise ConfigError("there is a NUL character in the address of the database")
        if key in options:
            raise ConfigError(f"the address of the database says twice what {key!r} is")
        options[key] = value
    return options


def _hosts(text: str) -> list[tuple[str, str]]:
    """Hosts and ports, one or several, as libpq takes them."""
    hosts, ports = [], []
    for each in text.split(",") if text else ():
        bracketed = re.fullmatch(r"\[([^]]*)\](?::(\d*))?", each)
        host, port = bracketed.groups() if bracketed else (each.partition(":")[0], each.partition(":")[2])
        if port and not port.isdecimal():
            raise ConfigError(
                f"the port of a database is a number, as in {_EXAMPLE.replace('HOST', 'HOST:5432')}; what is special"
                " in a password is written in percent, as %40 for @"
            )
        hosts.append(unquote(host))
        ports.append(port or "")
    return [("host", ",".join(hosts)), ("port", ",".join(ports) if any(ports) else "")]


def _shown(options: Mapping[str, str], journal: str | None) -> str:
    user = f"{quote(options['user'], safe='')}@" if "user" in options else ""
    hosts = options.get("host", "").split(",")
    ports = options.get("port", "").split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    where = ",".join(
        (f"[{host}]" if ":" in host else quote(host, safe="")) + (f":{port}" if port else "")
        for host, port in zip(hosts, ports, strict=False)
    )
    query = [(name, options[name]) for name in _SHOWN if name in options]
    if journal is not None:
        query.append(("journal", journal))
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query)
    return f"{SCHEMES[0]}{user}{where}/{quote(options.get('dbname', ''), safe='')}{f'?{asked}' if asked else ''}"


JournalAddress = Path | Dsn  # a file, or a schema in a database


def name_of(journal: JournalAddress) -> str:
    """A short name of a journal."""
    return journal.name if isinstance(journal, Path) else str(journal.journal)
