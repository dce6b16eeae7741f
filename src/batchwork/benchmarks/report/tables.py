"""The numbers of a summary for other programs: JSON, which has them all, and CSV.

`benchmark_results.json` is the `Summary` of `batchwork.benchmarks.report.figures`, field by field. Shares are from 0 to
1, differences from -1 to 1, intervals are `[low, high]`, what is not known is null.

`benchmark_results.csv` has one row per task and condition, every task there is included. Its columns are those
of `COLUMNS`, in this order; what is not known, or has no meaning in a row (a difference in the baseline's), is empty.
Every row says what answered: rows are taken out of their table.
"""

import csv
from io import StringIO

import msgspec

from batchwork.benchmarks.report.figures import Figures, Summary

_CELL = (
    *("task", "condition", "planned", "answered", "unparsed", "failed", "skipped", "pending", "missing_share"),
    *("too_many_missing", "right", "datasets", "accuracy", "interval_low", "interval_high"),
    *("input_tokens", "output_tokens", "cost_usd", "cost_per_call_usd", "cost_unknown"),
    *("latency_p50_s", "latency_p90_s", "latency_p99_s", "numbers", "invented", "invented_share"),
)
_COMPARISON = (
    *("pairs", "only_treatment", "only_baseline", "difference", "interval_low", "interval_high", "p", "p_holm"),
    *("verdict", "odds_ratio", "cohens_h", "detectable"),
)
_COMPRESSION = ("source", "saved", "data_saved")
COLUMNS = (
    *_CELL,
    *(f"difference_{name}" if name.startswith("interval") else name for name in _COMPARISON),
    *(f"tokens_{name}" for name in _COMPRESSION),
    *("backend", "model", "answered_by", "notice"),
)


def render_json(summary: Summary) -> bytes:
    """All numbers, indented for people."""
    return msgspec.json.format(msgspec.json.encode(summary, enc_hook=str), indent=2) + b"\n"


def render_csv(summary: Summary) -> str:
    """One row per task and condition."""
    comparisons = {(one.task, one.treatment): one for one in summary.comparisons}
    compressions = {(one.task, one.treatment): one for one in summary.compressions}
    out = StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    run = summary.run
    who = [run.backend, run.model, "; ".join(run.answered_by), run.notice]
    for cell in summary.cells:
        of = (cell.task, cell.condition)
        parts = ((cell, _CELL), (comparisons.get(of), _COMPARISON), (compressions.get(of), _COMPRESSION))
        rows.writerow([*(_value(figures, name) for figures, names in parts for name in names), *who])
    return out.getvalue()


def _value(figures: Figures | None, name: str) -> object:
    """One field; the two ends of an interval are fields of their own in a table."""
    field, _, end = name.partition("interval_")
    inner = getattr(figures, field or "interval", None)
    return getattr(inner, end, None) if end else inner
