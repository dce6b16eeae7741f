"""The page at /: the day's figures for whoever runs the service, in the style of the viewer. It loads nothing.

Where there are keys it is shown to whoever has one: a form takes it once, and a cookie that no script can read stands
for it until the browser is closed, the server ends, or half a day has gone by. The key itself is kept nowhere.
"""

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

import batchwork.view
from batchwork.clock import SystemClock
from batchwork.core.duration import duration
from batchwork.core.money import NANO, show
from batchwork.server.api import Headers, page_headers
from batchwork.server.metrics import ServerMetrics
from batchwork.service import Service

SIGN_IN = "/sign-in"
HTML = "text/html; charset=utf-8"
LONGEST_FORM = 4096  # bytes
_COOKIE = "batchwork_session"
_LONGEST_S = 12 * 3600.0
_MOST = 1000
_NUMBER = ' class="num"'
_STATES = {"success": "succeeded", "error": "failed"}


class Sessions:
    """Who has shown a key, by the random word in their cookie."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._until: dict[str, float] = {}

    def open(self) -> Headers:
        """The headers that give a browser its cookie."""
        while len(self._until) >= _MOST:
            del self._until[next(iter(self._until))]
        word = secrets.token_urlsafe(24)
        self._until[word] = self._clock.now() + _LONGEST_S
        cookie = f"{_COOKIE}={word}; Path=/; HttpOnly; SameSite=Strict"
        return [(b"set-cookie", cookie.encode()), (b"location", b"/")]

    def knows(self, cookies: str) -> bool:
        """Whether one of a browser's cookies stands for a key."""
        pairs = (part.strip().partition("=") for part in cookies.split(";"))
        words = [value for name, _, value in pairs if name == _COOKIE]
        return any(self._until.get(word, 0.0) > self._clock.now() for word in words)


def key_in(form: bytes) -> str:
    """The key that a form brings."""
    return (parse_qs(form.decode("utf-8", "replace")).get("key") or [""])[-1].strip()


def wants_page(accept: str) -> bool:
    """Whether whoever asks is a browser that shows a page; programs get JSON."""
    return "text/html" in accept.lower()


@cache
def _style() -> str:
    return _of_viewer("view.css")


def _of_viewer(name: str) -> str:
    return (Path(batchwork.view.__file__).parent / name).read_text("utf-8")


@cache
def day_headers() -> Headers:
    """The headers of the page: it may load nothing, be framed by nobody, and send its form here alone."""
    policy = (
        "default-src 'none'; style-src {style}; img-src data:; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    )
    return page_headers(policy, style=_style())


def sign_in_page(*, is_wrong: bool = False) -> bytes:
    """The form that asks for a key."""
    wrong = '<p class="notice bad" role="alert">This key is not known.</p>' if is_wrong else ""
    return _page(
        "",
        f'<h1>Today</h1><p class="sub">The figures of this service are for whoever has one of its API keys.</p>{wrong}'
        f'<form class="filter" method="post" action="{SIGN_IN}"><div class="words"><label for="key">API key</label>'
        '<input id="key" name="key" type="password" autocomplete="current-password" required></div>'
        '<div class="go"><button type="submit">Show</button></div></form>',
        "The key is not kept; a cookie stands for it until the browser is closed.",
    )


def day_page(service: Service, metrics: ServerMetrics, *, under_way: int, up_s: float) -> bytes:
    """The figures as they are now."""
    states = metrics.today("batchwork_prompts_total", "status")
    prompts = {_STATES.get(name, name): count for name, count in states.items()}
    tokens = metrics.today("batchwork_tokens_total", "kind")
    ledger = service.ledger
    cost = round(sum(metrics.today("batchwork_cost_usd_total", "").values()) * NANO)
    spent = show(cost if ledger.ceiling is None else ledger.spent)
    of = "no budget is set" if ledger.ceiling is None else f"of {show(ledger.ceiling)} for the whole day"
    figures = [
        ("Spent", spent, of),
        ("Prompts", f"{sum(prompts.values()):,.0f}", f"{prompts.get('failed', 0):,.0f} failed"),
        ("Under way", f"{under_way:,}", "requests"),
        ("Tokens", f"{tokens.get('input', 0):,.0f} in", f"{tokens.get('output', 0):,.0f} out"),
        ("Up", duration(up_s), f"{len(service.models)} {'model' if len(service.models) == 1 else 'models'}"),
    ]
    models = [
        (f"<code>{escape(name)}</code>", f"{served.gate.in_flight:,}", f"{served.gate.window:,}")
        for name, served in service.models.items()
    ]
    errors = metrics.today("batchwork_prompts_total", "error_code")
    failed = [(f"<code>{escape(code)}</code>", f"{count:,.0f}") for code, count in errors.items() if code]
    return _page(
        ", ".join(service.models),
        '<section class="hero"><div class="state running"><h1><span class="dot"></span>Serving</h1>'
        f'<p class="sub">Today since {_since(up_s)}</p></div>'
        f'<dl class="figures">{"".join(_figure(*one) for one in figures)}</dl></section>'
        + _table("Models", ("Model", "Calls under way", "May be under way"), models)
        + (_table("Prompts without an answer", ("Error", "Prompts"), failed) if failed else ""),
        '<a href="/">Look again.</a> <a href="/metrics">As numbers for a monitor.</a>',
    )


def _since(up_s: float) -> str:
    """When the day's figures begin: at midnight, or when the server started if that is later."""
    now = datetime.fromtimestamp(SystemClock().utc(), UTC)
    start = now - timedelta(seconds=up_s)
    return f"{start:%H:%M} UTC, when this server started" if start.date() == now.date() else "00:00 UTC"


def _figure(label: str, value: str, note: str) -> str:
    return f'<div class="figure"><dt>{label}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>'


def _table(title: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    head = "".join(f'<th scope="col"{_NUMBER * (at > 0)}>{name}</th>' for at, name in enumerate(heads))
    cells = ("".join(f"<td{_NUMBER * (at > 0)}>{cell}</td>" for at, cell in enumerate(row)) for row in rows)
    lines = "".join(f"<tr>{row}</tr>" for row in cells)
    return (
        f'<section><h2>{title}</h2><div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div></section>"
    )


def _page(subtitle: str, content: str, foot: str) -> bytes:
    page = Template(Path(__file__).with_name("day_page.html").read_text("utf-8"))
    head, brand = _of_viewer("templates/head.html"), _of_viewer("templates/brand.html")
    parts = {"subtitle": escape(subtitle), "content": content, "foot": foot}
    return page.substitute(parts, head=head, brand=brand, style=_style()).encode()
