"""Numbers and verdicts in plain words, and text that is safe in Markdown; nothing is computed here."""

import re
from collections.abc import Sequence

from batchwork.benchmarks.report.figures import ALL, Cell, Comparison, Compression, Summary, Verdict
from batchwork.benchmarks.statistics import Interval
from batchwork.benchmarks.trial import RunInfo

NONE = "-"  # where there is no number
TOGETHER = "together"  # the rows above, summed up
# What a run can show in which a literal reader answered; two lines where there is no room for one.
LIMITS = (
    "It shows that the pipeline works and which answers stand in the text that each condition gives,",
    "and cannot show whether a language model answers better with one of them.",
)
REMEDY = "Whether a model answers better is seen with --backend api, claude-code or local."
_LONGEST = 120
# An underscore within a word is only an underscore; everything else that Markdown could take for its own is escaped.
_SPECIAL = re.compile(r"[\\`*<>\[\]|&~$#!]|(?<![^\W_])_|_(?![^\W_])")


def safe(text: str, longest: int = _LONGEST) -> str:
    """Foreign text on one line of Markdown, also inside a table: nothing in it means anything, and it may be cut."""
    return _SPECIAL.sub(r"\\\g<0>", one_line(text, longest))


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Foreign text on one line, cut where it is too long."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 2) -> list[str]:
    """A Markdown table, whose first columns are names and stand to the left; the cells are safe already."""
    marks = [":--"] * names + ["--:"] * (len(head) - names)
    return [f"| {' | '.join(line)} |" for line in (head, marks, *rows)] + [""]


def percent(share: float | None, *, digits: int = 1) -> str:
    """0.123 as 12.3%."""
    return NONE if share is None else f"{100 * share:.{digits}f}%"


def points(difference: float | None) -> str:
    """A difference of shares, in percentage points with its sign."""
    return NONE if difference is None else f"{100 * difference:+.1f}"


def between(interval: Interval | None) -> str:
    """An interval of a share."""
    return NONE if interval is None else f"{percent(interval.low)} to {percent(interval.high)}"


def between_points(interval: Interval | None) -> str:
    """An interval of a difference."""
    return NONE if interval is None else f"{points(interval.low)} to {points(interval.high)}"


def probability(p: float | None) -> str:
    """A p-value with as many digits as mean something."""
    if p is None:
        return NONE
    return "<0.0001" if p < 0.0001 else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"


def plain(value: float | None, *, digits: int = 2) -> str:
    """A number with thousands separated."""
    return NONE if value is None else f"{value:,.{digits}f}"


def counted(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def dollars(cell: Cell) -> str:
    """What the calls cost, with what is not known of it; unknown is never nothing."""
    if cell.cost_usd is None:
        return "unknown" if cell.cost_unknown else NONE
    known = f"${cell.cost_usd:,.4f}"
    return f"{known} and {cell.cost_unknown:,} unknown" if cell.cost_unknown else known


def task_name(task: str) -> str:
    """A task in a table; the sum of them may lack tasks that were planned, and does not call itself all."""
    return f"**{TOGETHER}**" if task == ALL else safe(task)


def verdict(one: Comparison) -> str:
    """The verdict in a table."""
    if one.verdict is Verdict.NO_PAIRS:
        return "no complete pair"
    return f"**{one.verdict}**" if one.significant else one.verdict


def could_see(one: Comparison) -> str:
    """The smallest difference a comparison could have seen, in a table."""
    if one.verdict is Verdict.NO_PAIRS:
        return NONE
    return "none" if one.detectable is None else f"{100 * one.detectable:.1f}"


def sentence(one: Comparison) -> str:
    """The verdict of one comparison as a sentence of its own."""
    treatment, baseline = safe(one.treatment), safe(one.baseline)
    where = "Over all tasks" if one.task == ALL else f"In {safe(one.task)}"
    if one.verdict is Verdict.NO_PAIRS:
        return f"{where}, no trial was answered both with {treatment} and with {baseline}: nothing can be compared."
    if one.verdict is Verdict.NO_MODEL:
        found = one.both_right + one.only_treatment
        return (
            f"{where}, the answers to {found:,} of {counted(one.pairs, 'question')} stand in {treatment},"
            f" and to {one.both_right + one.only_baseline:,} in {baseline}, of those that were asked both ways:"
            " the reader copies and reckons nothing."
        )
    measured = (
        f"{points(one.difference)} points, 95% interval {between_points(one.interval)}, {counted(one.pairs, 'pair')}"
    )
    adjusted = f"adjusted p {probability(one.p_holm)}"
    if one.without:
        return (
            f"{where}, **the run cannot tell** {treatment} from {baseline}: there is no pair in {_listed(one.without)}."
            f" Over {_listed(one.of)} alone: {measured}."
        )
    if one.verdict is Verdict.CANNOT_TELL:
        seen = (
            "no difference, however large, could have been seen with so few pairs"
            if one.detectable is None
            else f"it could have seen a difference of {100 * one.detectable:.0f} points or more"
        )
        return f"{where}, **the run cannot tell** {treatment} from {baseline} ({measured}, {adjusted}); {seen}."
    more = "more" if one.verdict is Verdict.BETTER else "less"
    return f"{where}, **{treatment} was right {more} often than {baseline}** ({measured}, {adjusted})."


def savings(one: Compression) -> str:
    """What a treatment saved, each share with what it was counted in: tokens and characters are not the same."""
    counted = "as the provider counted them" if one.source == "provider" else f"counted by {one.source}"
    return (
        f"saved {percent(one.saved)} of the input tokens ({counted}),"
        f" and {percent(one.data_saved)} of the characters of the data part alone."
    )


def misjudged(summary: Summary) -> str:
    """How far the shares of invented numbers can be trusted."""
    told, rate = summary.invented_error, summary.false_alarm_rate
    if told is not None:
        return (
            f"How often this measure errs: of the true numbers that it knows how to compute, it takes"
            f" {percent(told.false_alarm_listed)} for invented, and {percent(told.false_alarm_unlisted)} of those that"
            f" follow from the data in a way it does not know. Of made-up numbers it lets {percent(told.miss_50)} pass"
            f" when a series has 50 points, {percent(told.miss_500)} at 500 and {percent(told.miss_5000)} at 5,000:"
            " where many values stand, one is soon near. A share counts for no more than these allow."
        )
    if rate is not None:
        return f"False-alarm rate of this measure: {percent(rate, digits=2)}; a share of that size means nothing."
    return "How often this measure errs was not given for this run."


def _listed(tasks: Sequence[str]) -> str:
    *others, last = map(safe, tasks)
    return f"{', '.join(others)} and {last}" if others else last


def answered_by(run: RunInfo) -> list[str]:
    """Who answered, by its own account, where that is another than was asked: a simulation says that it is one."""
    return [name for name in run.answered_by if name != run.model]


def who(run: RunInfo) -> list[str]:
    """What answered, in a line or two, for what may be shown without the rest of the report."""
    others = answered_by(run)
    model = f"{run.model}, answered by {', '.join(others)}" if others else run.model
    notice = (run.notice, *LIMITS) if run.notice else ()
    return [one_line(line) for line in (*notice, model) if line]


def measured(summary: Summary) -> str:
    """The name of what is counted: a reader that copies has no accuracy of its own."""
    return "Accuracy" if summary.by_model else "Answers that stand in the text"


def done(summary: Summary) -> str:
    """How much of the plan came to an answer."""
    return (
        f"{summary.answered:,} of {summary.planned:,} planned calls were answered ({percent(summary.answered_share)})"
    )


def sizes_of(summary: Summary) -> str:
    """Which task the sizes are of."""
    tasks = {one.task for one in summary.by_size}
    return (
        "every task with an answer"
        if ALL in tasks
        else f"the task {safe(''.join(tasks))}"
        if tasks
        else "nothing was answered"
    )
