"""`benchmark_report.md`: the numbers of a summary in tables, the verdicts in sentences. Computes nothing."""

from collections.abc import Iterable, Mapping, Sequence

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.report.figures import ALL, Cell, Slice, Summary
from batchwork.benchmarks.report.guide import GUIDE, READER_GUIDE
from batchwork.benchmarks.report.words import (
    LIMITS,
    NONE,
    REMEDY,
    answered_by,
    between,
    between_points,
    could_see,
    counted,
    dollars,
    done,
    measured,
    misjudged,
    percent,
    plain,
    points,
    probability,
    safe,
    savings,
    sentence,
    sizes_of,
    table,
    task_name,
    verdict,
)

Lines = list[str]


def render_markdown(summary: Summary, pictures: Mapping[str, str] | None = None, *, items: str | None = None) -> str:
    """The report as Markdown; `pictures` are the charts by name, `items` the calls, as places relative to it."""
    shown = pictures or {}
    parts = [
        _head(summary),
        _in_short(summary),
        _accuracy(summary, shown),
        _differences(summary, shown),
        _missing(summary),
        _tokens(summary, shown),
        _cost_and_latency(summary, shown),
        _invented(summary),
        _sizes(summary, shown),
        _where(summary),
        _rules(summary),
        [GUIDE if summary.by_model else READER_GUIDE],
        _the_run(summary, items),
    ]
    return "\n".join(line for part in parts for line in part)


def _head(summary: Summary) -> Lines:
    run = summary.run
    lines = [f"# Benchmark: {safe(', '.join(run.treatments))} against {safe(run.baseline)}", ""]
    if run.notice:
        lines += [f"> **{safe(run.notice, 400)}**", ">", f"> {' '.join(LIMITS)}", ""]
    if run.aborted:
        lines += [f"> **Aborted before its end:** {safe(run.aborted, 400)}", ">"]
        lines += [f"> {done(summary)}; the rest is missing.", ""]
    others = answered_by(run)
    answerers = f", answered by {safe(', '.join(others))}" if others else ""
    lines += [
        f"Model {safe(run.model)} by the backend {safe(run.backend)}{answerers};"
        f" {counted(run.trials, 'trial')} per task; {done(summary)}."
    ]
    rest = [task for task in TASK_NAMES if task not in summary.asked]
    if rest:
        lines += ["", f"Not part of this run: {safe(', '.join(rest))}."]
    return [*lines, ""]


def _in_short(summary: Summary) -> Lines:
    lines = ["## In short", ""]
    if not summary.by_model:
        comparisons = summary.overall if len(summary.asked) > 1 else summary.comparisons
        lines += [f"- {sentence(one)}" for one in comparisons if one.task in summary.shown]
        lines += [f"- {REMEDY}"]
    elif len(summary.asked) > 1:
        told = [one for one in summary.comparisons if one.significant]
        lines += [f"- {sentence(one)}" for one in (*summary.overall, *told)]
        lines += [] if told else ["- In no single task can the run tell a treatment from the baseline."]
    else:
        lines += [f"- {sentence(one)}" for one in summary.comparisons if one.task in summary.asked]
    for one in summary.compressions:
        if one.task == ALL and one.saved is not None:
            lines.append(f"- {safe(one.treatment)} {savings(one)}")
    for cell in summary.totals:
        if cell.too_many_missing:
            share = percent(cell.missing_share)
            lines.append(f"- **{share} of the calls of {safe(cell.condition)} are missing** (see Missing calls).")
    return [*lines, ""]


def _accuracy(summary: Summary, pictures: Mapping[str, str]) -> Lines:
    rows = [
        [
            task_name(cell.task),
            _marked(cell),
            f"{cell.right:,} of {cell.answered:,}",
            percent(cell.accuracy),
            between(cell.interval),
            f"{cell.datasets:,}",
            f"{cell.unparsed:,}",
            f"{cell.planned - cell.answered:,}",
        ]
        for cell in _cells(summary)
    ]
    title = measured(summary)
    share = "accuracy" if summary.by_model else "share"
    head = ["task", "condition", "right", share, "95% interval", "data sets", "unparsed", "missing"]
    return [f"## {title}", "", *_picture(pictures, "accuracy", f"{title} by task"), *table(head, rows)]


def _differences(summary: Summary, pictures: Mapping[str, str]) -> Lines:
    if not summary.by_model:
        return []
    rows = [
        [
            task_name(one.task),
            safe(one.treatment),
            f"{one.pairs:,}",
            points(one.difference),
            between_points(one.interval),
            between_points(one.bootstrap),
            probability(one.p),
            probability(one.p_holm),
            verdict(one),
            could_see(one),
            f"{one.only_treatment:,} / {one.only_baseline:,}",
            plain(one.odds_ratio),
            plain(one.cohens_h),
        ]
        for one in (*summary.comparisons, *summary.overall)
        if one.task in summary.shown
    ]
    head = ["task", "treatment", "pairs", "difference", "95% interval", "by bootstrap", "p", "adjusted p", "verdict"]
    head += ["could see", "only treatment / only baseline", "odds ratio", "h"]
    told = (
        f"Against {safe(summary.run.baseline)}, in percentage points of accuracy, over complete pairs. Intervals and p"
        " are of each row alone; the verdict is by the adjusted p, which counts how much was asked at once."
    )
    picture = _picture(pictures, "difference", "Paired differences")
    return ["## Differences", "", told, "", *picture, *table(head, rows)]


def _missing(summary: Summary) -> Lines:
    rows = [
        [
            task_name(cell.task),
            _marked(cell),
            *(f"{count:,}" for count in (cell.planned, cell.failed, cell.skipped, cell.pending)),
            percent(cell.missing_share),
        ]
        for cell in _cells(summary)
        if cell.planned > cell.answered
    ]
    if not rows:
        return ["## Missing calls", "", "None.", ""]
    lines = ["## Missing calls", "", "Missing is not wrong: these calls are in no accuracy and no comparison.", ""]
    lines += table(["task", "condition", "planned", "failed", "skipped", "pending", "missing"], rows)
    reasons = [
        [safe(one.condition), safe(one.state), f"{one.calls:,}", safe(one.error, 200)] for one in summary.troubles
    ]
    return lines + (table(["condition", "state", "calls", "reason"], reasons, names=4) if reasons else [])


def _tokens(summary: Summary, pictures: Mapping[str, str]) -> Lines:
    rows = [
        [
            task_name(one.task),
            safe(one.treatment),
            f"{one.pairs:,}",
            *(plain(tokens, digits=0) for tokens in (one.baseline_tokens, one.treatment_tokens)),
            percent(one.saved),
            one.source if one.pairs else NONE,
            *(plain(tokens, digits=0) for tokens in (one.baseline_data_tokens, one.treatment_data_tokens)),
            percent(one.data_saved),
        ]
        for one in summary.compressions
        if one.task in summary.shown
    ]
    head = ["task", "treatment", "pairs", "baseline", "treatment", "saved", "counted by"]
    head += [f"{name}, data part (characters / 4)" for name in ("baseline", "treatment", "saved")]
    return ["## Input tokens per call", "", *_picture(pictures, "tokens", "Input tokens"), *table(head, rows)]


def _cost_and_latency(summary: Summary, pictures: Mapping[str, str]) -> Lines:
    rows = [
        [
            task_name(cell.task),
            safe(cell.condition),
            dollars(cell),
            NONE if cell.cost_per_call_usd is None else f"${cell.cost_per_call_usd:.6f}",
            plain(cell.output_tokens, digits=0),
            *(plain(value) for value in (cell.latency_p50_s, cell.latency_p90_s, cell.latency_p99_s)),
        ]
        for cell in _cells(summary)
    ]
    head = ["task", "condition", "cost", "per call", "output tokens", "p50 s", "p90 s", "p99 s"]
    charts = _picture(pictures, "cost", "Cost per call") + _picture(pictures, "latency", "Latency")
    return ["## Cost and latency", "", *charts, *table(head, rows)]


def _invented(summary: Summary) -> Lines:
    rows = [
        [
            task_name(cell.task),
            safe(cell.condition),
            *(f"{n:,}" for n in (cell.numbers, cell.invented)),
            percent(cell.invented_share),
        ]
        for cell in _cells(summary)
    ]
    head = ["task", "condition", "numbers in answers", "invented", "share"]
    return ["## Invented numbers", "", misjudged(summary), "", *table(head, rows)]


def _sizes(summary: Summary, pictures: Mapping[str, str]) -> Lines:
    title = f"{measured(summary)} against data size"
    told = f"Points per series; {sizes_of(summary)}."
    return [f"## {title}", "", told, "", *_picture(pictures, "size", title), *_slices(summary, "size")]


def _where(summary: Summary) -> Lines:
    lines = ["## Where the failures are", "", "### By question", "", *_slices(summary, "question")]
    lines += ["### By kind of data", "", *_slices(summary, "kind")]
    if summary.unread:
        rows = [
            [safe(one.task), safe(one.question), safe(one.condition), safe(one.answer, 200) or NONE]
            for one in summary.unread
        ]
        head = ["task", "question", "condition", "answer"]
        lines += ["### Answers that could not be read", "", *table(head, rows, names=4)]
    return lines


def _rules(summary: Summary) -> Lines:
    if not summary.rules:
        return []
    rows = [[safe(one.task), safe(one.question), safe(one.tolerance, 300)] for one in summary.rules]
    return ["## What counts as right", "", *table(["task", "question", "right is"], rows, names=3)]


def _the_run(summary: Summary, items: str | None) -> Lines:
    run = summary.run
    told = {
        "backend": run.backend,
        "model": run.model,
        "started": run.started_at,
        "ended": run.ended_at,
        "seconds": plain(run.wall_s, digits=1),
        "calls at once": str(run.window),
        "seed": str(run.seed),
        "tasks": ", ".join(run.tasks),
        **{f"setting {name}": _setting(value) for name, value in run.settings.items()},
        **{f"version of {name}": version for name, version in run.versions.items()},
    }
    calls = [] if items is None else [f"Every prompt and answer, call by call: [{items}]({items}).", ""]
    rows = [[safe(name), safe(value)] for name, value in told.items()]
    return ["## The run", "", *calls, *table(["what", "value"], rows)]


def _setting(value: object) -> str:
    """A setting as it reads before it was saved, and after: JSON knows no tuples."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _slices(summary: Summary, by: str) -> Lines:
    slices: Sequence[Slice] = getattr(summary, f"by_{by}")
    if not slices:
        return ["Nothing was asked.", ""]
    rows: dict[tuple[str, str], Lines] = {}
    for one in slices:
        missing = f", {one.missing:,} missing" if one.missing else ""
        cell = f"{one.right:,} of {one.answered:,}{missing}" if one.answered or one.missing else NONE
        rows.setdefault((one.task, one.name), []).append(cell)
    shown: Iterable[Lines] = ([task_name(task), safe(name), *cells] for (task, name), cells in rows.items())
    return table(["task", by, *map(safe, summary.conditions)], list(shown))


def _cells(summary: Summary) -> list[Cell]:
    return [cell for cell in (*summary.cells, *summary.totals) if cell.task in summary.shown]


def _marked(cell: Cell) -> str:
    return safe(cell.condition) + (" **(!)**" if cell.too_many_missing else "")


def _picture(pictures: Mapping[str, str], name: str, title: str) -> Lines:
    return [f"![{title}]({pictures[name]})", ""] if name in pictures else []
