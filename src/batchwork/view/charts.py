"""Charts as SVG, drawn from figures; their colours come from the style sheet, so that they follow light and dark."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from batchwork.core.duration import duration
from batchwork.core.money import show
from batchwork.view.distribution import Distribution
from batchwork.view.run_figures import Series

_WIDE, _NARROW, _HEIGHT = 600.0, 400.0, 180.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 12.0, 16.0, 26.0
_ROUND = (1, 2, 2.5, 5, 10)
_TICK = Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>')
_NOTHING = Markup("")


@dataclass(frozen=True, slots=True)
class _Frame:
    """A chart's axes: from figures to places in the drawing."""

    across: float  # the largest figure from left to right
    up: float  # the largest from bottom to top
    width: float = _WIDE

    @property
    def right(self) -> float:
        return self.width - _RIGHT

    def x(self, figure: float) -> float:
        return round(_LEFT + (self.right - _LEFT) * figure / (self.across or 1.0), 1)

    def y(self, figure: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * figure / (self.up or 1.0), 1)

    def lines(self, label: Callable[[float], str]) -> Markup:
        """Lines across, with what they stand for."""
        parts = []
        for step in range(3):
            figure = self.up * step / 2
            y = self.y(figure)
            line = Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(_LEFT, self.right, y, y)
            parts.append(line + _TICK.format(_LEFT - 6, y + 4, "end", label(figure)))
        return _NOTHING.join(parts)


def _drawing(title: str, what: str, body: Markup, frame: _Frame) -> Markup:
    return Markup('<svg class="chart" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        frame.width, _HEIGHT, f"{title}. {what}", body
    )


def _top(figure: float) -> float:
    """A round figure above this one."""
    if figure <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(figure))
    return next(step * unit for step in _ROUND if step * unit >= figure * 0.999)


def _moments(frame: _Frame, length_s: float) -> Markup:
    """The time of work below a chart."""
    parts = []
    for step in range(5):
        at = length_s * step / 4
        anchor = ("start", "middle", "middle", "middle", "end")[step]
        text = "start" if not step else duration(at) if length_s > 20 else f"{at:.3g} s"
        parts.append(_TICK.format(frame.x(at), _HEIGHT - 8, anchor, text))
    return _NOTHING.join(parts)


def _breaks(frame: _Frame, series: Series) -> Markup:
    """Where one run follows another."""
    line = Markup('<g class="break"><line x1="{0}" x2="{0}" y1="{1}" y2="{2}"/><title>{3}</title></g>')
    return _NOTHING.join(line.format(frame.x(at), _TOP - 6, _HEIGHT - _BOTTOM, text) for at, text in series.breaks)


def _level(frame: _Frame, kind: str, figure: float, text: str, *, at_end: bool = False) -> Markup:
    """A line across at a figure, with its text above it, or below where there is no room."""
    y = frame.y(figure)
    x, anchor = (frame.right - 4, "end") if at_end else (_LEFT + 6, "start")
    line = Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(kind, _LEFT, frame.right, y, y)
    return line + Markup('<text class="{}-text" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        kind, x, y + (14 if y < _TOP + 12 else -4), anchor, text
    )


def throughput(series: Series, allowed_per_minute: float | None) -> Markup:
    """Items settled per minute over the time of work: answered, failed, and calls refused; the allowed rate above."""
    per_minute = 60.0 / series.width_s
    columns = list(zip(series.succeeded, series.failed, series.refused, strict=True))
    most = max((sum(column[:2]) for column in columns), default=0.0) * per_minute
    refused_most = max(series.refused, default=0.0) * per_minute
    allowed = allowed_per_minute if allowed_per_minute and allowed_per_minute < 4 * max(most, 1.0) else None
    length = series.width_s * len(columns)
    frame = _Frame(length, _top(max(most, refused_most, allowed or 0.0)))
    bar = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
    parts = [frame.lines(short)]
    width = max(0.6, round((frame.right - _LEFT) / max(1, len(columns)) - 0.8, 1))
    for number, (good, bad, refused) in enumerate(columns):
        x, base = frame.x(number * series.width_s), 0.0
        title = Markup("<title>{}: {:,.0f} answered, {:,.0f} failed, {:,.0f} refused</title>").format(
            duration(number * series.width_s), good, bad, refused
        )
        drawn = _NOTHING
        for figure, name in ((good, "good"), (bad, "bad")):
            if figure:
                low, high = frame.y(base), frame.y(base + figure * per_minute)
                drawn += bar.format(name, x, high, width, round(max(0.8, low - high), 1))
                base += figure * per_minute
        if refused:
            y = frame.y(refused * per_minute)
            drawn += Markup('<circle class="refused" cx="{}" cy="{}" r="2.4"/>').format(round(x + width / 2, 1), y)
        if drawn:
            parts.append(Markup("<g>{}{}</g>").format(title, drawn))
    if allowed:
        parts.append(_level(frame, "limit", allowed, f"allowed {short(allowed)} per minute"))
    parts += [_breaks(frame, series), _moments(frame, length)]
    what = f"At most {short(most)} items per minute"
    return _drawing("Items settled per minute", what, _NOTHING.join(parts), frame)


def spend(series: Series, ceiling_nano: int | None, forecast_nano: int | None) -> Markup:
    """Dollars spent over the time of work, against the ceiling, with what the rest will come to."""
    points = [0.0, *series.spent_nano]
    length = series.width_s * max(1, len(points) - 1)
    top = max(points[-1], forecast_nano or 0)
    is_near = ceiling_nano is not None and ceiling_nano < 6 * max(top, 1)
    frame = _Frame(length, _top(max(top, ceiling_nano or 0) if is_near else top))
    places = [(frame.x(number * series.width_s), frame.y(nano)) for number, nano in enumerate(points)]
    path = " ".join(f"{x},{y}" for x, y in places)
    base = frame.y(0)
    parts = [
        frame.lines(lambda nano: _money(nano, frame.up)),
        Markup('<polygon class="area" points="{},{} {} {},{}"/>').format(places[0][0], base, path, places[-1][0], base),
        Markup('<polyline class="line" points="{}"/>').format(path),
    ]
    if is_near and ceiling_nano is not None:
        parts.append(_level(frame, "limit", ceiling_nano, f"ceiling {show(ceiling_nano)}"))
    if forecast_nano:
        parts.append(_level(frame, "forecast", forecast_nano, f"forecast {show(forecast_nano)}", at_end=True))
    parts += [_breaks(frame, series), _moments(frame, length)]
    return _drawing("Spend", f"{show(round(points[-1]))} so far", _NOTHING.join(parts), frame)


def histogram(seen: Distribution, title: str, label: Callable[[float], str]) -> Markup:
    """A distribution in bins of equal ratio, with its middle and its tail."""
    frame = _Frame(float(len(seen.counts)), _top(max(seen.counts)), _NARROW)
    width = round((frame.right - _LEFT) / len(seen.counts) - 1.2, 1)
    parts = [frame.lines(short)]
    bar = Markup('<rect class="plain" x="{}" y="{}" width="{}" height="{}"><title>{} to {}: {:,}</title></rect>')
    for number, count in enumerate(seen.counts):
        if count:
            low, high = label(seen.edges[number]), label(seen.edges[number + 1])
            y = frame.y(count)
            places = frame.x(number), y, width, round(max(0.8, frame.y(0) - y), 1)
            parts.append(bar.format(*places, low, high, count))
    first, last = math.log(seen.edges[0]), math.log(seen.edges[-1])
    middle, place = Markup('<line class="percentile" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'), -100.0
    for name in ("p50", "p90", "p99"):
        figure = seen.percentiles[name]
        share = (math.log(figure) - first) / (last - first) if last > first else 0.5
        x = frame.x(len(seen.counts) * min(1.0, max(0.0, share)))
        parts.append(middle.format(x, _TOP, _HEIGHT - _BOTTOM))
        if x - place > 34:
            parts.append(_TICK.format(x, _TOP - 3, "middle", name))
            place = x
    for at, anchor in ((0, "start"), (len(seen.counts) // 2, "middle"), (len(seen.counts), "end")):
        parts.append(_TICK.format(frame.x(at), _HEIGHT - 8, anchor, label(seen.edges[at])))
    what = ", ".join(f"{name} {label(figure)}" for name, figure in seen.percentiles.items())
    return _drawing(title, what, _NOTHING.join(parts), frame)


def shares(counts: Sequence[tuple[str, int]], total: int) -> Markup:
    """A bar that is divided as the items are; the rest is what has not been read."""
    x, parts = 0.0, []
    bar = Markup('<rect class="{}" x="{:.2f}" width="{:.2f}" height="10"><title>{:,} {}</title></rect>')
    for name, count in counts:
        width = 1000.0 * count / max(1, total)
        if count:
            parts.append(bar.format(name, x, max(width, 1.5), count, name))
        x += width
    what = ", ".join(f"{count:,} {name}" for name, count in counts if count) or "nothing yet"
    return Markup(
        '<svg class="shares" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(f"Of {total:,}: {what}", _NOTHING.join(parts))


def short(figure: float) -> str:
    """A figure in few characters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if figure >= size:
            return f"{figure / size:.3g}{letter}"
    return f"{figure:.3g}"


def _money(nano: float, top: float) -> str:
    """Dollars beside an axis that ends at `top`; below a cent, cents, because there is room for eight characters."""
    if top < 1e7:
        return f"{nano / 1e7:.3g}¢"
    return f"${nano / 1e9:,.{2 if top >= 1e9 else 4 if top < 1e8 else 3}f}"


def seconds(figure: float) -> str:
    """A latency for people."""
    if figure < 1.0:
        return f"{figure * 1000:.3g} ms"
    return f"{figure:.3g} s" if figure < 120 else duration(figure)


def tokens(figure: float) -> str:
    """A number of tokens for people."""
    return short(round(figure))
