"""The page at /docs."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from batchwork.server.docs import docs_page
from batchwork.server.keys import key_ring
from tests.server.house import House, serving

KEY = "bw-a-key-for-these-tests"


class Page(HTMLParser):
    """What a browser would find: forms, the text outside of scripts, the order of the response codes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[dict[str, str | None]] = []
        self.text = ""
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside.append(tag)
        if tag == "form":
            self.forms.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._inside):
            self.text += data


def test_the_page_is_one_file_that_loads_nothing_from_elsewhere(echo: House) -> None:
    page = echo.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    text = page.body.decode()
    assert "POST /api/v1/prompts" in text
    assert "prompt_count" in text
    assert "extract_field_path" in text
    assert not re.search(r"(src|href)=\"?(https?:)?//", text)


def test_a_browser_opens_the_page_without_a_key_and_learns_nothing_about_the_server_from_it() -> None:
    with serving(keys=key_ring([KEY]), models=("mock:echo?seed=7",)) as house:
        page = house.get("/docs")
        assert page.status == 200
        assert b"mock:echo" not in page.body
        assert house.get("/openapi.json").status == 401
        assert b"mock:echo?seed=7" in house.get("/openapi.json", **{"X-API-Key": KEY}).body


def test_without_a_key_the_page_names_the_models_and_answers_to_loopback_names_only(echo: House) -> None:
    assert b"mock:echo" in echo.get("/docs").body
    assert echo.get("/docs", host="evil.example").code == "wrong_host"


def test_every_operation_can_be_tried_from_the_page() -> None:
    page = Page(docs_page((), needs_key=True).body.decode())
    tried = {(form["data-method"], form["data-path"]) for form in page.forms if form.get("class") == "try"}
    posts = {("POST", "/api/v1/prompt"), ("POST", "/api/v1/prompts")}
    assert tried == posts | {("GET", path) for path in ("/", "/health", "/ready", "/metrics")}


def test_the_policy_allows_the_pages_own_script_and_style_and_calls_to_this_server_alone() -> None:
    page = docs_page((), needs_key=True)
    html, policy = page.body.decode(), dict(page.headers)[b"content-security-policy"].decode()
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = b64encode(sha256(inside.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "connect-src 'self';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<[^>]+\s(on\w+|style)=", html), "the policy would forbid it"


def test_the_script_keeps_the_key_nowhere_and_inserts_no_html() -> None:
    html = docs_page((), needs_key=True).body.decode()
    for word in ("localStorage", "sessionStorage", "document.cookie", "indexedDB", "innerHTML", "eval("):
        assert word not in html


def test_codes_are_in_order_and_no_backtick_is_left_over() -> None:
    html = docs_page((), needs_key=False).body.decode()
    assert "`" not in Page(html).text
    assert html.count("<section>") == 6
    for section in re.findall(r"<section>(.*?)</section>", html, re.DOTALL):
        codes = re.findall(r"<tr><td>(\d+)</td>", section)
        assert codes == sorted(codes)
        assert codes[0] == "200"
    errors = re.findall(r"<tr><td><code>\w+</code></td><td>(\d{3})</td>", html)
    assert errors == sorted(errors)


def test_the_page_fits_a_phone_and_both_colour_schemes() -> None:
    html = docs_page((), needs_key=False).body.decode()
    assert 'name="viewport" content="width=device-width' in html
    assert "prefers-color-scheme: dark" in html
    assert "max-width: 40rem" in html
