"""The charts of a report as Vega-Lite, made with Altair. Imported only when charts are wanted.

A chart for which there are no numbers is not made.
"""

from collections.abc import Callable

import altair as alt

from batchwork.benchmarks.report.drawing import (
    LANE,
    LOGARITHMIC,
    PERCENT,
    WIDTH,
    Look,
    Row,
    Spec,
    as_number,
    as_percent,
    dots,
    ends,
    finished,
    lanes,
    place,
    short,
)
from batchwork.benchmarks.report.figures import CHART_NAMES, Summary
from batchwork.benchmarks.report.words import measured, sizes_of


def draw(summary: Summary) -> dict[str, Spec]:
    """Every chart that has something to show, by name."""
    made = {name: make(summary) for name, make in zip(CHART_NAMES, _MAKERS, strict=True)}
    return {name: spec for name, spec in made.items() if spec is not None}


def _accuracy(summary: Summary) -> Spec | None:
    rows = [
        place(one.task, one.condition)
        | {"value": one.accuracy, "low": one.interval.low, "high": one.interval.high, "answers": one.answered}
        for one in (*summary.cells, *summary.totals)
        if one.task in summary.shown and one.interval is not None
    ]
    if not rows:
        return None
    look = Look.of(summary)
    base = lanes(rows, look)
    x = alt.X("value:Q", title="answers that were right", axis=PERCENT, scale=alt.Scale(domain=[0, 1]))
    told = [as_percent("value", "accuracy"), as_percent("low", "from"), as_percent("high", "to"), "answers:Q"]
    subtitle = "with 95% intervals over independent data sets"
    return finished(summary, f"{measured(summary)} by task", subtitle, ends(base), dots(base, look, x, told))


def _difference(summary: Summary) -> Spec | None:
    rows = [
        place(one.task, one.treatment)
        | {"value": 100 * one.difference, "low": 100 * one.interval.low, "high": 100 * one.interval.high}
        | {"verdict": one.verdict.value, "pairs": one.pairs, "p": one.p_holm, "sure": one.significant}
        for one in (*summary.comparisons, *summary.overall)
        if one.task in summary.shown and one.interval is not None and one.difference is not None
    ]
    if not rows:
        return None
    look = Look.of(summary).without_baseline()
    base = lanes(rows, look)
    axis = alt.Axis(format="+.0f", tickCount=8)
    x = alt.X("value:Q", title="percentage points; to the right: better", axis=axis, scale=alt.Scale(padding=12))
    numbers = (as_number(name, name, form="+.1f") for name in ("value", "low", "high"))
    told = [*numbers, "verdict:N", "pairs:Q", as_number("p", "adjusted p", form=".2~g")]
    fill = alt.condition("datum.sure", look.colour, alt.value("white"))
    zero = alt.Chart({"values": [{"value": 0}]}).mark_rule(color="#555555", strokeDash=[4, 3]).encode(x="value:Q")
    return finished(
        summary,
        f"Accuracy: difference from {short(summary.run.baseline)}",
        "complete pairs, unadjusted 95% intervals; filled: significant after adjustment, hollow: the run cannot tell",
        zero,
        ends(base),
        dots(base, look, x, told, fill=fill),
    )


def _tokens(summary: Summary) -> Spec | None:
    rows: list[Row] = []
    for one in summary.compressions:
        if one.task not in summary.shown or not one.baseline_tokens or not one.treatment_tokens or one.saved is None:
            continue
        if one.treatment == summary.run.treatments[0]:
            rows.append(place(one.task, summary.run.baseline) | {"value": one.baseline_tokens, "change": ""})
        change = f"{-100 * one.saved:+.0f}%"
        rows.append(place(one.task, one.treatment) | {"value": one.treatment_tokens, "change": change})
    if not rows:
        return None
    look = Look.of(summary)
    base = lanes(rows, look)
    axis = alt.Axis(format=",.0f", tickCount=5)
    x = alt.X("value:Q", title="mean input tokens per call, logarithmic", scale=LOGARITHMIC, axis=axis)
    labels = base.mark_text(align="left", dx=9, fontSize=11).encode(x=x, text="change:N", color=alt.value("#333333"))
    told = [as_number("value", "tokens", form=",.0f"), "change:N"]
    sources = {one.source for one in summary.compressions if one.pairs}
    subtitle = f"counted by: {', '.join(sorted(sources))}; the label is the change from the baseline"
    return finished(summary, "Input tokens", subtitle, dots(base, look, x, told), labels)


def _cost(summary: Summary) -> Spec | None:
    rows = [
        place(one.task, one.condition) | {"value": 1000 * one.cost_per_call_usd, "unknown": one.cost_unknown}
        for one in (*summary.cells, *summary.totals)
        if one.task in summary.shown and one.cost_per_call_usd
    ]
    if not rows:
        return None
    bars = (
        lanes(rows, Look.of(summary))
        .mark_bar(cornerRadiusEnd=2, height=LANE * 0.7)
        .encode(
            x=alt.X("value:Q", title="dollars per 1,000 calls", axis=alt.Axis(format="$,.3~f", tickCount=8)),
            tooltip=["task:N", "condition:N", as_number("value", "dollars", form=",.4f"), "unknown:Q"],
        )
    )
    return finished(summary, "Cost", "mean of the calls whose cost is known", bars)


def _latency(summary: Summary) -> Spec | None:
    rows = [
        place(one.task, one.condition)
        | {"value": one.latency_p50_s, "low": one.latency_p50_s, "most": one.latency_p90_s, "high": one.latency_p99_s}
        for one in (*summary.cells, *summary.totals)
        if one.task in summary.shown and one.latency_p50_s is not None
    ]
    if not rows:
        return None
    look = Look.of(summary)
    base = lanes(rows, look)
    scale = LOGARITHMIC if all(row["value"] > 0 for row in rows) else alt.Scale()
    x = alt.X("value:Q", title="seconds", scale=scale, axis=alt.Axis(format="~g", tickCount=6))
    ticks = base.mark_tick(thickness=2, size=LANE * 0.6).encode(x="most:Q")
    told = [as_number("value", "p50"), as_number("most", "p90"), as_number("high", "p99")]
    subtitle = "median, 90% (tick) and 99% (end of the line) of the answers"
    return finished(summary, "Latency", subtitle, ends(base), ticks, dots(base, look, x, told))


def _size(summary: Summary) -> Spec | None:
    rows = [
        {"task": one.name, "condition": short(one.condition), "answers": one.answered, "value": one.accuracy}
        | {"low": one.interval.low, "high": one.interval.high}
        for one in summary.by_size
        if one.interval is not None
    ]
    if not rows:
        return None
    look = Look.of(summary)
    bands = list(dict.fromkeys(one.name for one in summary.by_size))
    axis = alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')")  # a line for each word
    base = alt.Chart({"values": rows}, width=WIDTH, height=280).encode(
        x=alt.X("task:O", scale=alt.Scale(domain=bands), title="points per series", axis=axis),
        xOffset=alt.XOffset("condition:N", sort=list(look.names)),
        color=look.colour,
    )
    y = alt.Y("value:Q", title="answers that were right", axis=PERCENT, scale=alt.Scale(domain=[0, 1]))
    told = [alt.Tooltip("task:N", title="points"), "condition:N", as_percent("value", "accuracy"), "answers:Q"]
    return finished(
        summary,
        f"{measured(summary)} against data size",
        f"{sizes_of(summary)}, with 95% intervals",
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(y=y, shape=look.shape, tooltip=told),
    )


_MAKERS: tuple[Callable[[Summary], Spec | None], ...] = (_accuracy, _difference, _tokens, _cost, _latency, _size)
