"""The summary of a run on a terminal: one table, the verdicts in sentences. Computes nothing."""

import re

from batchwork.benchmarks.report.figures import ALL, Summary
from batchwork.benchmarks.report.words import (
    NONE,
    REMEDY,
    TOGETHER,
    answered_by,
    measured,
    percent,
    points,
    savings,
    sentence,
)

_MARKUP = re.compile(r"\*\*|\\(?=\W|_)")


def console_lines(summary: Summary) -> list[str]:
    """What a user sees at the end of a run."""
    head = ["task", *summary.conditions, *(f"{name}, points" for name in _compared(summary)), "missing"]
    rows = [head, *(_row(summary, task) for task in summary.shown)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    lines = []
    if others := answered_by(summary.run):
        lines += [f"answered by {', '.join(others)}", ""]
    lines += [] if summary.by_model else [f"{measured(summary)}:"]
    lines += ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows]
    verdicts = (
        summary.overall if len(summary.asked) > 1 else [c for c in summary.comparisons if c.task in summary.asked]
    )
    lines += ["", *(_MARKUP.sub("", sentence(one)) for one in verdicts)]
    lines += [] if summary.by_model else [REMEDY]
    for one in summary.compressions:
        if one.task == ALL and one.saved is not None:
            lines.append(f"{one.treatment} {savings(one)}")
    return lines


def _row(summary: Summary, task: str) -> list[str]:
    cells = {cell.condition: cell for cell in (*summary.cells, *summary.totals) if cell.task == task}
    differences = {one.treatment: one for one in (*summary.comparisons, *summary.overall) if one.task == task}
    return [
        TOGETHER if task == ALL else task,
        *(percent(cells[name].accuracy) if name in cells else NONE for name in summary.conditions),
        *(points(differences[name].difference) if name in differences else NONE for name in _compared(summary)),
        str(sum(cell.planned - cell.answered for cell in cells.values())),
    ]


def _compared(summary: Summary) -> tuple[str, ...]:
    """The treatments whose difference from the baseline means something: none where no model answered."""
    return summary.run.treatments if summary.by_model else ()
