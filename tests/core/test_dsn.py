import pytest

from batchwork.core.dsn import Dsn, is_dsn
from batchwork.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "options", "shown"),
    [
        (
            "postgresql://host/db?journal=invoices",
            {"host": "host", "dbname": "db"},
            "postgresql://host/db?journal=invoices",
        ),
        (
            "postgres://me:s%40cret@h:5433/db?sslmode=verify-full&sslrootcert=/ca.pem&journal=a",
            {
                "host": "h",
                "port": "5433",
                "dbname": "db",
                "user": "me",
                "password": "s@cret",
                "sslmode": "verify-full",
                "sslrootcert": "/ca.pem",
            },
            "postgresql://me@h:5433/db?sslmode=verify-full&journal=a",
        ),
        (
            "postgresql:///db?host=/run/pg&password=hush&journal=a",
            {"host": "/run/pg", "dbname": "db", "password": "hush"},
            "postgresql://%2Frun%2Fpg/db?journal=a",
        ),
        ("postgresql:///?service=prod&journal=a", {"service": "prod"}, "postgresql:///?service=prod&journal=a"),
        (
            "postgresql://[::1]:5,b/db?journal=a",
            {"host": "::1,b", "port": "5,", "dbname": "db"},
            "postgresql://[::1]:5,b/db?journal=a",
        ),
        ("postgresql://u:p:q@h/d?journal=a", {"host": "h", "dbname": "d", "user": "u", "password": "p:q"}, None),
    ],
)
def test_an_address_is_taken_apart_and_shown_without_its_secrets(
    text: str, options: dict[str, str], shown: str | None
) -> None:
    dsn = Dsn.parse(text)
    assert dict(dsn.options) == options
    assert shown is None or str(dsn) == shown
    secret = options.get("password")
    assert dsn.has_password == (secret is not None)
    for secret_form in filter(None, (secret, "s%40cret")):
        assert secret_form not in repr(dsn) + str(dsn)


def test_what_is_shown_names_the_same_place() -> None:
    dsn = Dsn.parse("postgresql://me:pw@h:5433/my%20db?journal=a&sslmode=require")
    again = Dsn.parse(str(dsn))
    assert again.options == {name: value for name, value in dsn.options.items() if name != "password"}
    assert again.journal == dsn.journal == "a"
    assert dsn.schema == "batchwork_a"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:hush@h/db",
        "postgresql://me:hush@h?journal=a",
        "postgresql://me:hush@h/db?journal=../x",
        "postgresql://me:hush@h/db?journal=" + "a" * 51,
        "postgresql://me:hu/sh@h/db?journal=a",
        "postgresql://me:hu#sh@h/db?journal=a",
        "postgresql://me:hush@h:x/db?journal=a",
        "postgresql://me:hush@h/db?journal=a&journal=b",
        "postgresql://me:hush@h/db?journal=a&password=hush",
        "postgresql://me:hush@[h/db?journal=a",
        "postgresql://me:hush@h/db?journal",
        "postgresql://me:hush%00@h/db?journal=a",
        "mysql://me:hush@h/db?journal=a",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Dsn.parse(text)
    assert "hush" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_database_alone_is_an_address_where_no_journal_is_needed() -> None:
    assert Dsn.parse("postgresql://h/db", needs_journal=False).journal is None


def test_what_a_server_says_loses_the_password() -> None:
    dsn = Dsn.parse("postgresql://me:s%40cret@h/db?journal=a")
    assert dsn.without_password("no s@cret or s%40cret") == "no *** or ***"


def test_a_path_is_no_address() -> None:
    assert not is_dsn("out.journal.db")
