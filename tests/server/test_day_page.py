"""The page at /: the day's figures for a person who may see them, and plain JSON for programs, as ever."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from batchwork.server.keys import key_ring
from tests.server.house import House, serving

KEY = "a-key-that-is-long-enough"
PAGE = {"accept": "text/html,application/xhtml+xml"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def signed_in(house: House, key: str) -> str | None:
    """The cookie that a form with this key gets."""
    answered = house.send("POST", "/sign-in", urlencode({"key": key}), FORM)
    assert answered.status == (303 if key == KEY else 403)
    return answered.headers.get("set-cookie")


def test_without_a_key_the_figures_are_shown_on_this_machine_and_programs_get_json(echo: House) -> None:
    echo.prompts(["a", "b"])
    page = echo.get("/", **PAGE)
    text = page.body.decode()
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<h1>" in text
    assert "mock:echo" in text
    assert "<script" not in text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert echo.get("/").json()["service"] == "batchwork"
    assert echo.get("/", host="evil.example", **PAGE).code == "wrong_host"


def test_with_keys_the_page_asks_for_one_and_a_cookie_that_no_script_reads_stands_for_it() -> None:
    with serving(keys=key_ring([KEY])) as house:
        closed = house.get("/", **PAGE).body.decode()
        assert 'type="password"' in closed
        assert "mock:echo" not in closed, "who has no key is not told what there is"
        assert signed_in(house, "another-key-that-is-long") is None
        cookie = signed_in(house, KEY)
        assert cookie is not None
        assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
        assert KEY not in cookie
        assert "mock:echo" in house.get("/", cookie=cookie.partition(";")[0], **PAGE).body.decode()
        assert 'type="password"' in house.get("/", cookie="batchwork_session=guessed", **PAGE).body.decode()
        assert house.get("/").json()["service"] == "batchwork"
        assert (
            house.prompts(
                ["a"],
            ).status
            == 401
        ), "a page is not the API"


@pytest.mark.parametrize(
    ("body", "headers"), [("key=" + "x" * 5000, FORM), ("{}", {"content-type": "application/json"})]
)
def test_a_form_that_is_none_is_refused(echo: House, body: str, headers: dict[str, str]) -> None:
    assert echo.send("POST", "/sign-in", body, headers).code in ("body_too_large", "unsupported_media_type")
