"""What of an address may be shown, and what must not come back."""

import pytest

from batchwork.core.address import has_user, is_plain, secrets_in, secrets_to_hide, shown_address


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://api.example.org/v1", "https://api.example.org/v1"),
        ("https://api.example.org:8443/v1/", "https://api.example.org:8443/v1"),
        ("https://api.example.org/v1?key=secret#part", "https://api.example.org/v1"),
        ("https://user:secret@api.example.org/v1", "https://api.example.org/v1"),
        ("http://[::1]:80/v1?key=secret", "http://[::1]:80/v1"),
        ("http://user:sec?ret@host/v1", "***"),
        ("htps://user:secret@host", "***"),
        ("api.example.org?key=secret", "api.example.org"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_secret(address: str, shown: str) -> None:
    assert shown_address(address) == shown


@pytest.mark.parametrize(
    ("address", "plain"),
    [("https://x.org/v1", True), ("", True), ("https://x.org/?v=1", False), ("https://u@x.org", False), ("x#y", False)],
)
def test_only_a_plain_address_is_kept(address: str, plain: bool) -> None:
    assert is_plain(address) is plain


def test_a_user_stands_before_the_host_alone() -> None:
    assert has_user("https://user@host/v1")
    assert not has_user("https://host/@model?mail=a@b.org")


def test_secrets_are_known_as_they_stand_and_as_they_are_meant() -> None:
    found = secrets_in("https://user:pass%2Fword@host/?v=2026-11-15&key=a%2Bb%2Fc")
    assert {"user", "pass%2Fword", "pass/word", "2026-11-15", "a%2Bb%2Fc", "a+b/c"} <= set(found)


def test_an_answer_is_changed_only_by_what_cannot_stand_there_by_chance() -> None:
    secrets = ("none", "2026-11-15", "sk-0123456789abcdef")
    assert secrets_to_hide(secrets, is_error=False) == (b"sk-0123456789abcdef",)
    assert set(secrets_to_hide(secrets, is_error=True)) == {secret.encode() for secret in secrets}
