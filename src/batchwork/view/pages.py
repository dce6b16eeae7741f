"""Renders pages: the templates, every value in them escaped, and the words in which figures are shown."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from batchwork.core.duration import duration
from batchwork.core.failure import FailureKind
from batchwork.core.money import show
from batchwork.core.outcome import Status
from batchwork.view import charts
from batchwork.view.items_page import FORMATS
from batchwork.view.run_figures import RunPage
from batchwork.view.selection import SORTS, Selection

HERE = Path(__file__).parent
_UNITS: dict[str, Callable[[float], str]] = {"seconds": charts.seconds, "tokens": charts.tokens}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,  # whatever the file is called
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        duration=lambda seconds: duration(seconds) if seconds >= 10 else f"{seconds:.3g} s",
        money=show,
        short=charts.short,
        words=lambda name: name.replace("_", " "),
        coded=_coded,
        time=_time,
        unit=lambda figure, unit: _UNITS[unit](figure),
        shares=_shares,
        throughput=lambda page: charts.throughput(
            page.series, next((one.per_minute for one in page.allowed if one.what == "calls"), None)
        ),
        spend=lambda page: charts.spend(page.series, page.ceiling_nano, page.forecast_nano),
        histogram=lambda seen, title, unit: charts.histogram(seen, title, _UNITS[unit]),
    )
    return environment


def compile_pages() -> None:
    """Make ready what the first page would wait for."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


def render(template: str, **values: Any) -> str:
    """A page."""
    return _environment().get_template(template).render(**values)


def items_values(selection: Selection, base: str) -> dict[str, Any]:
    """What the page of items needs beside its figures."""
    return {
        "selection": selection,
        "bounds": dict(selection.bounds),
        "statuses": [status.value for status in Status],
        "kinds": [kind.value for kind in FailureKind],
        "sorts": SORTS,
        "formats": FORMATS,
        "sorter": lambda column, label: _sorter(selection, base, column, label),
    }


def _sorter(selection: Selection, base: str, column: str, label: str) -> Markup:
    """The heading of a column, which sorts by it; a second time the other way round."""
    is_current = selection.sort == column
    descending = not selection.descending if is_current else column != "place"
    arrow = (" ↓" if selection.descending else " ↑") if is_current else ""
    query = selection.query(sort=column, descending=descending)
    return Markup('<a href="{}">{}{}</a>').format(f"{base}/items{query}", label, arrow)


def _coded(text: str) -> Markup:
    """A text in which commands stand between backticks."""
    parts = [
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _time(at: float, after: float | None = None) -> Markup:
    """A moment on this machine's clock; without the day when that is clear from the one before."""
    moment = datetime.fromtimestamp(at, UTC).astimezone()
    same_day = after is not None and datetime.fromtimestamp(after, UTC).astimezone().date() == moment.date()
    text = f"{moment:%H:%M:%S}" if same_day else f"{moment:%Y-%m-%d %H:%M:%S}"
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(timespec="milliseconds"), text)


def _shares(page: RunPage) -> Markup:
    counts = [(status, count) for status, count in page.counts.items() if status != Status.PENDING.value]
    counts.append(("pending", page.counts["pending"]))
    return charts.shares(counts, max(page.total or 0, page.read, 1))
