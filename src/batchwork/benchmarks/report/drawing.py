"""How the charts look: a lane per condition within each task, and the colour and shape of each condition everywhere.

Colours are those of Okabe and Ito, which people with any colour vision tell apart; the shapes differ as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import altair as alt

from batchwork.benchmarks.report.figures import ALL, Summary
from batchwork.benchmarks.report.words import TOGETHER, who

Spec = dict[str, Any]
Row = dict[str, Any]

WIDTH = 600
LANE = 18  # pixels of one condition within a task
PERCENT = alt.Axis(format="%", tickCount=6)
LOGARITHMIC = alt.Scale(type="log", nice=False, padding=40)

_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_SHAPES = ("square", "circle", "diamond", "triangle-up", "cross", "triangle-down")
_LONGEST = 32  # letters of a name


@dataclass(frozen=True, slots=True)
class Look:
    """The conditions in a chart; each looks the same in all charts, wherever the baseline is left out."""

    names: tuple[str, ...]
    first: int = 0

    @classmethod
    def of(cls, summary: Summary) -> Self:
        """All conditions."""
        return cls(tuple(short(name) for name in summary.conditions))

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


def place(task: str, condition: str) -> Row:
    """Where a row of numbers stands in a chart."""
    return {"task": TOGETHER if task == ALL else task, "condition": short(condition)}


def lanes(rows: Sequence[Row], look: Look) -> alt.Chart:
    """An empty chart with a lane for every condition of every task."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    height = len(tasks) * (len(look.names) * LANE + 12)
    return alt.Chart({"values": list(rows)}, width=WIDTH, height=height).encode(
        y=alt.Y("task:N", sort=tasks, title=None), yOffset=look.lane, color=look.colour
    )


def ends(chart: alt.Chart) -> alt.Chart:
    """A line from `low` to `high`."""
    lines: alt.Chart = chart.mark_rule(strokeWidth=2, opacity=0.6).encode(x="low:Q", x2="high:Q")
    return lines


def dots(chart: alt.Chart, look: Look, x: alt.X, tooltip: Sequence[Any], *, fill: Any = None) -> alt.Chart:
    """A point at `value`."""
    points: alt.Chart = chart.mark_point(size=80, opacity=1, strokeWidth=2).encode(
        x=x,
        shape=look.shape,
        fill=look.colour if fill is None else fill,
        tooltip=["task:N", "condition:N", *tooltip],
    )
    return points


def finished(summary: Summary, title: str, subtitle: str, *layers: alt.Chart) -> Spec:
    """The layers as one chart, in the house's style; it says what answered, since charts are shown alone."""
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


def short(name: str) -> str:
    """A name that fits a legend; what is cut is in the middle, because long ones tend to differ at their ends."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2 - 1]}…{name[-_LONGEST // 2 :]}"


def as_percent(field: str, title: str) -> alt.Tooltip:
    """A share in a tooltip."""
    return alt.Tooltip(f"{field}:Q", title=title, format=".1%")


def as_number(field: str, title: str, *, form: str = ",.3~f") -> alt.Tooltip:
    """A number in a tooltip."""
    return alt.Tooltip(f"{field}:Q", title=title, format=form)
