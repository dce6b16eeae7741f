"""The charts of a report as Vega-Lite, made with Altair. Imported only when charts are wanted.

A chart for which there are no numbers is not made. Each has a lane per condition within each task, and a condition has
one colour and shape everywhere: the colours are those of Okabe and Ito, which people with any colour vision tell apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import altair as alt

from batchwork.benchmarks.report.figures import ALL, CHART_NAMES, Summary
from batchwork.benchmarks.report.words import TOGETHER, measured, sizes_of, who

Spec = dict[str, Any]
_Row = dict[str, Any]

_WIDTH = 600
_LANE = 18  # pixels of one condition within a task
_PERCENT = alt.Axis(format="%", tickCount=6)
_LOGARITHMIC = alt.Scale(type="log", nice=False, padding=40)

_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_SHAPES = ("square", "circle", "diamond", "triangle-up", "cross", "triangle-down")
_LONGEST = 32  # letters of a name


def draw(summary: Summary) -> dict[str, Spec]:
    """Every chart that has something to show, by name."""
    made = {name: make(summary) for name, make in zip(CHART_NAMES, _MAKERS, strict=True)}
    return {name: spec for name, spec in made.items() if spec is not None}


def _accuracy(summary: Summary) -> Spec | None:
    rows = [
        _place(one.task, one.condition)
        | {"value": one.accuracy, "low": one.interval.low, "high": one.interval.high, "answers": one.answered}
        for one in (*summary.cells, *summary.totals)
        if one.task in summary.shown and one.interval is not None
    ]
    look = _Look.of(summary)
    base = _lanes(rows, look)
    x = alt.X("value:Q", title="answers that were right", axis=_PERCENT, scale=alt.Scale(domain=[0, 1]))
    told = [_as_percent("value", "accuracy"), _as_percent("low", "from"), _as_percent("high", "to"), "answers:Q"]
    subtitle = "with 95% intervals over independent data sets"
    return _finished(rows, summary, f"{measured(summary)} by task", subtitle, _ends(base), _dots(base, look, x, told))


def _difference(summary: Summary) -> Spec | None:
    rows = [
        _place(one.task, one.treatment)
        | {"value": 100 * one.difference, "low": 100 * one.interval.low, "high": 100 * one.interval.high}
        | {"verdict": one.verdict.value, "pairs": one.pairs, "p": one.p_holm, "sure": one.significant}
        for one in (*summary.comparisons, *summary.overall)
        if one.task in summary.shown and one.interval is not None and one.difference is not None
    ]
    look = _Look.of(summary).without_baseline()
    base = _lanes(rows, look)
    axis = alt.Axis(format="+.0f", tickCount=8)
    x = alt.X("value:Q", title="percentage points; to the right: better", axis=axis, scale=alt.Scale(padding=12))
    numbers = (_as_number(name, name, form="+.1f") for name in ("value", "low", "high"))
    told = [*numbers, "verdict:N", "pairs:Q", _as_number("p", "adjusted p", form=".2~g")]
    fill = alt.condition("datum.sure", look.colour, alt.value("white"))
    zero = alt.Chart({"values": [{"value": 0}]}).mark_rule(color="#555555", strokeDash=[4, 3]).encode(x="value:Q")
    return _finished(
        rows,
        summary,
        f"Accuracy: difference from {_short(summary.run.baseline)}",
        "complete pairs, unadjusted 95% intervals; filled: significant after adjustment, hollow: the run cannot tell",
        zero,
        _ends(base),
        _dots(base, look, x, told, fill=fill),
    )


def _tokens(summary: Summary) -> Spec | None:
    rows: list[_Row] = []
    for one in summary.compressions:
        if one.task not in summary.shown or not one.baseline_tokens or not one.treatment_tokens or one.saved is None:
            continue
        if one.treatment == summary.run.treatments[0]:
            rows.append(_place(one.task, summary.run.baseline) | {"value": one.baseline_tokens, "change": ""})
        change = f"{-100 * one.saved:+.0f}%"
        rows.append(_place(one.task, one.treatment) | {"value": one.treatment_tokens, "change": change})
    look = _Look.of(summary)
    base = _lanes(rows, look)
    axis = alt.Axis(format=",.0f", tickCount=5)
    x = alt.X("value:Q", title="mean input tokens per call, logarithmic", scale=_LOGARITHMIC, axis=axis)
    labels = base.mark_text(align="left", dx=9, fontSize=11).encode(x=x, text="change:N", color=alt.value("#333333"))
    told = [_as_number("value", "tokens", form=",.0f"), "change:N"]
    sources = {one.source for one in summary.compressions if one.pairs}
    subtitle = f"counted by: {', '.join(sorted(sources))}; the label is the change from the baseline"
    return _finished(rows, summary, "Input tokens", subtitle, _dots(base, look, x, told), labels)


def _cost(summary: Summary) -> Spec | None:
    rows = [
        _place(one.task, one.condition) | {"value": 1000 * one.cost_per_call_usd, "unknown": one.cost_unknown}
        for one in (*summary.cells, *summary.totals)
        if one.task in summary.shown and one.cost_per_call_usd
    ]
    bars = (
        _lanes(rows, _Look.of(summary))
        .mark_bar(cornerRadiusEnd=2, height=_LANE * 0.7)
        .encode(
            x=alt.X("value:Q", title="dollars per 1,000 calls", axis=alt.Axis(format="$,.3~f", tickCount=8)),
            tooltip=["task:N", "condition:N", _as_number("value", "dollars", form=",.4f"), "unknown:Q"],
        )
    )
    return _finished(rows, summary, "Cost", "mean of the calls whose cost is known", bars)


def _latency(summary: Summary) -> Spec | None:
    rows = [
        _place(one.task, one.condition)
        | {"value": one.latency_p50_s, "low": one.latency_p50_s, "most": one.latency_p90_s, "high": one.latency_p99_s}
        for one in (*summary.cells, *summary.totals)
        if one.task in summary.shown and one.latency_p50_s is not None
    ]
    look = _Look.of(summary)
    base = _lanes(rows, look)
    scale = _LOGARITHMIC if all(row["value"] > 0 for row in rows) else alt.Scale()
    x = alt.X("value:Q", title="seconds", scale=scale, axis=alt.Axis(format="~g", tickCount=6))
    ticks = base.mark_tick(thickness=2, size=_LANE * 0.6).encode(x="most:Q")
    told = [_as_number("value", "p50"), _as_number("most", "p90"), _as_number("high", "p99")]
    subtitle = "median, 90% (tick) and 99% (end of the line) of the answers"
    return _finished(rows, summary, "Latency", subtitle, _ends(base), ticks, _dots(base, look, x, told))


def _size(summary: Summary) -> Spec | None:
    rows = [
        {"task": one.name, "condition": _short(one.condition), "answers": one.answered, "value": one.accuracy}
        | {"low": one.interval.low, "high": one.interval.high}
        for one in summary.by_size
        if one.interval is not None
    ]
    look = _Look.of(summary)
    bands = list(dict.fromkeys(one.name for one in summary.by_size))
    axis = alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')")  # a line for each word
    base = alt.Chart({"values": rows}, width=_WIDTH, height=280).encode(
        x=alt.X("task:O", scale=alt.Scale(domain=bands), title="points per series", axis=axis),
        xOffset=alt.XOffset("condition:N", sort=list(look.names)),
        color=look.colour,
    )
    y = alt.Y("value:Q", title="answers that were right", axis=_PERCENT, scale=alt.Scale(domain=[0, 1]))
    told = [alt.Tooltip("task:N", title="points"), "condition:N", _as_percent("value", "accuracy"), "answers:Q"]
    return _finished(
        rows,
        summary,
        f"{measured(summary)} against data size",
        f"{sizes_of(summary)}, with 95% intervals",
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(y=y, shape=look.shape, tooltip=told),
    )


_MAKERS: tuple[Callable[[Summary], Spec | None], ...] = (_accuracy, _difference, _tokens, _cost, _latency, _size)


# -- how they look ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Look:
    """The conditions in a chart; each looks the same in all charts, wherever the baseline is left out."""

    names: tuple[str, ...]
    first: int = 0

    @classmethod
    def of(cls, summary: Summary) -> Self:
        """All conditions."""
        return cls(tuple(_short(name) for name in summary.conditions))

    def without_baseline(self) -> Self:
        """The treatments alone."""
        return type(self)(self.names[1:], self.first + 1)

    @property
    def colour(self) -> alt.Color:
        """The colour of a condition."""
        return alt.Color("condition:N", title=None, scale=self._scale(_COLOURS), legend=alt.Legend(symbolOpacity=1))

    @property
    def shape(self) -> alt.Shape:
        """Its shape."""
        return alt.Shape("condition:N", title=None, scale=self._scale(_SHAPES))

    @property
    def lane(self) -> alt.YOffset:
        """Its lane within a task."""
        return alt.YOffset("condition:N", sort=list(self.names))

    def _scale(self, looks: Sequence[str]) -> alt.Scale:
        chosen = [looks[(self.first + at) % len(looks)] for at in range(len(self.names))]
        return alt.Scale(domain=list(self.names), range=chosen)


def _place(task: str, condition: str) -> _Row:
    """Where a row of numbers stands in a chart."""
    return {"task": TOGETHER if task == ALL else task, "condition": _short(condition)}


def _lanes(rows: Sequence[_Row], look: _Look) -> alt.Chart:
    """An empty chart with a lane for every condition of every task."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    height = len(tasks) * (len(look.names) * _LANE + 12)
    return alt.Chart({"values": list(rows)}, width=_WIDTH, height=height).encode(
        y=alt.Y("task:N", sort=tasks, title=None), yOffset=look.lane, color=look.colour
    )


def _ends(chart: alt.Chart) -> alt.Chart:
    """A line from `low` to `high`."""
    lines: alt.Chart = chart.mark_rule(strokeWidth=2, opacity=0.6).encode(x="low:Q", x2="high:Q")
    return lines


def _dots(chart: alt.Chart, look: _Look, x: alt.X, tooltip: Sequence[Any], *, fill: Any = None) -> alt.Chart:
    """A point at `value`."""
    points: alt.Chart = chart.mark_point(size=80, opacity=1, strokeWidth=2).encode(
        x=x,
        shape=look.shape,
        fill=look.colour if fill is None else fill,
        tooltip=["task:N", "condition:N", *tooltip],
    )
    return points


def _finished(rows: Sequence[_Row], summary: Summary, title: str, subtitle: str, *layers: alt.Chart) -> Spec | None:
    """The layers as one chart, in the house's style; it says what answered, since charts are shown alone.

    None where there are no rows to show.
    """
    if not rows:
        return None
    spec: Spec = (
        alt.layer(*layers)
        .properties(title=alt.Title(title, subtitle=[subtitle, *who(summary.run)]))
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e8e8e8", labelLimit=220
        )
        .configure_legend(labelFontSize=12, orient="top", labelLimit=300)
        .configure_title(fontSize=15, anchor="start", subtitleFontSize=12, subtitleColor="#555555")
        .to_dict()
    )
    return spec


def _short(name: str) -> str:
    """A name that fits a legend; what is cut is in the middle, because long ones tend to differ at their _ends."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2 - 1]}…{name[-_LONGEST // 2 :]}"


def _as_percent(field: str, title: str) -> alt.Tooltip:
    """A share in a tooltip."""
    return alt.Tooltip(f"{field}:Q", title=title, format=".1%")


def _as_number(field: str, title: str, *, form: str = ",.3~f") -> alt.Tooltip:
    """A number in a tooltip."""
    return alt.Tooltip(f"{field}:Q", title=title, format=form)
