"""The words at the end of a run: what its figures come to, why items failed, and what to do next. Pure.

The one place that says it, for `batchwork run`, `retry` and `status` and for `BatchManager` alike, each in the words of
its own door.
"""

import shlex
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from batchwork.core.dsn import JournalAddress
from batchwork.core.duration import duration
from batchwork.core.failure import FailureKind
from batchwork.core.money import show, show_up
from batchwork.core.ports import Totals
from batchwork.core.stats import Accounting, RunFigures
from batchwork.core.words import Door, counted

_INDENT = 9 * " "  # behind the label
_LONGEST_EXAMPLE = 160
UNCONFIRMED = (
    "unconfirmed: calls that were cut off or told no usage, which may or may not be billed; booked at their worst case"
)


class Exit(IntEnum):
    """How a run ended, by the exit code of the command line. Where several hold, the one furthest down."""

    ALL_SUCCEEDED = 0
    SOME_FAILED = 1
    BAD_INPUT = 2
    BUDGET = 3
    PAUSED = 4
    INTERRUPTED = 130


_LATER = "{retry} sends {them} again"
# What to do about a kind of failure, and whether sending the same again can help.
_REMEDIES: dict[FailureKind, tuple[str, bool]] = {
    FailureKind.RATE_LIMITED: (
        f"turned away for longer than {{max_wait}} allows; when the provider takes calls again, {_LATER}",
        True,
    ),
    FailureKind.OVERLOADED: (
        f"the provider was too busy for longer than {{max_wait}} allows; later {_LATER}",
        True,
    ),
    FailureKind.TIMEOUT: (f"no answer came in time; {_LATER}", True),
    FailureKind.CONNECTION: (f"check the address and the network, then {_LATER}", True),
    FailureKind.SERVER: (f"the provider failed; later {_LATER}", True),
    FailureKind.AUTH: (f"set a valid key, then {_LATER}", True),
    FailureKind.QUOTA: (f"raise the quota or wait for its end, then {_LATER}", True),
    FailureKind.REJECTED: (
        f"correct what the provider names, then {_LATER}, with another {{base_url}} where that was wrong; what is wrong"
        " in the rows, correct there and {corrected}",
        True,
    ),
    FailureKind.TOO_LONG: ("shorten {them}, then {corrected}; or ask a model that takes more", False),
    FailureKind.REFUSED: ("the model declined to answer: reword {them}, then {corrected}", False),
    FailureKind.TRUNCATED: (
        "cut off by {max_tokens}: a run with a higher one is another question, and asks every input anew; cheapest is"
        " one over {them} alone",
        False,
    ),
    FailureKind.SCHEMA_VIOLATION: (f"against the schema: {_LATER}; a clearer prompt or schema helps more", True),
    FailureKind.BAD_INPUT: ("never sent: correct {them}, then {corrected}", False),
    FailureKind.EXPIRED: (f"the provider's batch ended too early; {_LATER}", True),
    FailureKind.RESULT_LOST: (
        "answered and probably billed, but the answer cannot be had; {retry} asks for it before anything is sent",
        True,
    ),
    FailureKind.INTERNAL: (f"a defect in a backend, please report it; {_LATER}", True),
}
_KINDS = {kind.value: kind for kind in FailureKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """The items that failed in one way."""

    kind: FailureKind
    count: int
    example: str  # the message of one of them

    def lines(self, door: Door) -> list[str]:
        """What happened, and the remedy."""
        for_example = ", for example" if self.count > 1 else ""
        shown = "".join(sign if sign.isprintable() else " " for sign in self.example)  # it is the provider's text
        example = textwrap.shorten(shown, _LONGEST_EXAMPLE, placeholder=" ...")
        remedy = door.words(_REMEDIES[self.kind][0].replace("{them}", "it" if self.count == 1 else "them"))
        return [
            f"failed   {self.count:,} {self.kind.value}{for_example}: {example}",
            f"{_INDENT}{remedy[0].upper()}{remedy[1:]}.",
        ]


def grouped(errors: Iterable[str | None]) -> tuple[FailureGroup, ...]:
    """The failures behind errors of the form `kind: message`, the most frequent kind first."""
    counts: dict[FailureKind, int] = {}
    examples: dict[FailureKind, str] = {}
    for error in errors:
        name, _, message = (error or "").partition(": ")
        kind = _KINDS.get(name, FailureKind.INTERNAL)
        counts[kind] = counts.get(kind, 0) + 1
        examples.setdefault(kind, message or error or "not known")
    ranked = sorted(counts, key=lambda kind: -counts[kind])
    return tuple(FailureGroup(kind=kind, count=counts[kind], example=examples[kind]) for kind in ranked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the runs on a journal have come to."""

    accounting: Accounting
    totals: Totals
    priced: bool
    door: Door
    journal: JournalAddress | None = None
    ceiling_nano: int | None = None
    accounts: tuple[str, ...] = ()  # that the run shares with others, whose money may be what is missing
    failures: tuple[FailureGroup, ...] = ()
    has_ended: bool = True  # the latest run; else it goes on, or was killed
    running: str | None = None  # the process that is at work on it, where one is
    progress: str = ""  # how far that is
    figures: RunFigures | None = None  # of that run; None: they are not known
    is_unread: bool = False  # no run has read the input to its end
    missing: int = 0  # rows of it that were never reached, as far as that is known
    open_batches: int = 0  # that go on at the provider
    open_nano: int = 0  # the most that these can cost
    under_way: int = 0  # calls without an outcome: of a run that goes on, or was killed
    under_way_nano: int = 0  # the most that these can cost
    needed_nano: int = 0  # the worst case of what is deferred; 0: not known
    least_nano: int = 0  # the least of it that one item needs
    paused: str | None = None
    interrupted: bool = False
    error: str | None = None

    @property
    def code(self) -> Exit:
        """How it ended."""
        return self._verdict()[0]

    @property
    def verdict(self) -> str:
        """How it ended, and what to do next."""
        return self._verdict()[1]

    def lines(self, *, run: str = "this run") -> list[str]:
        """The accounting, what the latest `run` did, the cost, the failures by kind, and what else is open."""
        not_reached = f" ({counted(self.missing, 'more row')} not reached)" if self.missing > 0 else ""
        texts = [] if self.journal is None else [f"journal  {self.journal}"]
        texts.append(f"items    {self.accounting}{not_reached}")
        texts += [f"running  {self.progress}"] if self.running is not None and self.progress else []
        if self.figures is not None:
            texts.append(f"{run} {self._done(self.figures)}")
            tokens = self.figures.input_tokens, self.figures.output_tokens
            texts += [f"tokens   {tokens[0]:,} in, {tokens[1]:,} out ({run})"] if any(tokens) else []
        texts.append(f"cost     {self._cost(run)}")
        if self.under_way:
            nouns = ("call is", "calls are") if self.running else ("call was", "calls were")
            calls = counted(self.under_way, *nouns)
            later = "" if self.running else ", which the next run books as unconfirmed"
            texts.append(f"{_INDENT}{calls} under way: up to {show(self.under_way_nano)} more{later}")
        if self.figures is not None and self.figures.truncated:
            cut = counted(self.figures.truncated, "answer was", "answers were")
            texts.append(
                f"cut off  {cut} cut off by {self.door['max_tokens']}, and counted as succeeded; a run with a higher"
                " one is another question, and asks every input anew: cheapest is a run over the rows with `truncated`"
                " alone, from a file of their own"
            )
        for group in self.failures:
            texts += group.lines(self.door)
        if (deferred := self.accounting.deferred) and self.running is None:
            wait = counted(deferred, "waits for money: its worst case does", "wait for money: their worst cases do")
            texts.append(f"deferred {wait} not fit under the limit; {self._more_money()}")
        if self.open_batches:
            batches = counted(self.open_batches, "batch goes", "batches go")
            take_up = "" if self.running is not None else f"; {self.door.again} to take up what is finished"
            more = f", up to {show(self.open_nano)} more" if self.open_nano else ""
            texts.append(f"open     {batches} on at the provider{more}{take_up}")
        return texts if self.error is None else [*texts, f"error    {self.error}"]

    def _done(self, run: RunFigures) -> str:
        if run.sent or run.calls:
            left = "left alone" if run.is_retry else "done before"
            before = f", {run.reused:,} {left}" if run.reused else ""
            return f"{run.sent:,} sent{before}, {', '.join(_calls(run))}, {duration(run.elapsed_s)}"
        if run.is_retry and not self.accounting.deferred:
            never = "what failed was never sent, because the input itself is bad; correct it and " + self.door.corrected
            return f"nothing to send: {never if run.reused else 'nothing has failed'}"
        if run.reused and run.reused == self.accounting.inputs:
            failed = f" ({self.accounting.failed:,} of them failed)" if self.accounting.failed else ""
            return f"nothing to send: all {counted(run.reused, 'was', 'were')} done before{failed}"
        before = "" if run.is_retry else f", {run.reused:,} done before"
        return f"nothing was sent{before}, {duration(run.elapsed_s)}"

    def _more_money(self) -> str:
        """What is to be raised, and to what: what is spent and the worst case of the rest; or lowered."""
        limit = self.door["max_cost"]
        if self.accounts and self.ceiling_nano is None:
            needed = f", and the worst case of these is {show_up(self.needed_nano)}" if self.needed_nano else ""
            return f"`batchwork account show {shlex.quote(self.accounts[0])}` tells what is left{needed}"
        if not self.needed_nano:
            return f"raise {limit}"
        to = self.totals.spent_nano + self.open_nano + self.needed_nano
        text = f"raise {limit} to {show_up(to)}, with which one call for each surely fits"
        if self.ceiling_nano is not None and self.least_nano > self.ceiling_nano:
            tokens = self.door["max_tokens"]
            text += f" (a single one may cost {show(self.least_nano)}, by its {tokens}: a lower one may do)"
        return text

    def _cost(self, run: str) -> str:
        spent, unconfirmed = self.totals.spent_nano, self.totals.unconfirmed_nano
        cost = show(spent) if self.priced or spent else "unknown"
        cost += "" if self.ceiling_nano is None else f" of {show(self.ceiling_nano)}"
        if self.ceiling_nano is not None and spent > self.ceiling_nano:
            cost += " (earlier runs spent more than this limit: nothing more is sent under it)"
        own = None if self.figures is None else self.figures.charged_nano
        if own is not None and own != spent and cost != "unknown":
            cost = f"{show(own)} ({run}), {cost} in all runs"
        return f"{cost}, of which {show(unconfirmed)} {UNCONFIRMED}" if unconfirmed else cost

    def _verdict(self) -> tuple[Exit, str]:
        """How it ended, and what to do next: the first of these that holds."""
        counts, door = self.accounting, self.door
        if self.interrupted:
            return Exit.INTERRUPTED, f"Interrupted: everything finished is kept; {door.again} to go on."
        if self.paused is not None:
            return Exit.PAUSED, f"Paused: {self.paused}"
        if self.running is not None:
            return Exit.INTERRUPTED, f"Running: process {self.running} is at work on it."
        if not self.has_ended and self.error is None:
            text = f"Cut off: the latest run was killed, or its machine stopped; {door.again} to go on."
            return Exit.INTERRUPTED, text
        if counts.deferred:
            money = self.door.with_money(self.accounts, has_ceiling=self.ceiling_nano is not None)
            text = f"Stopped by the budget: {money} for the deferred ones."
            return Exit.BUDGET, text + self._about_rest(" ")
        if self.error is not None:
            return Exit.BAD_INPUT, f"Everything finished is kept; mend the cause and {door.again}."
        if counts.failed:
            return Exit.SOME_FAILED, self._after_failures() + self._about_rest(" ")
        if counts.pending:
            return Exit.SOME_FAILED, f"Some are pending: {door.again} to go on."
        if self.is_unread:
            return Exit.SOME_FAILED, self._about_rest()
        return Exit.ALL_SUCCEEDED, "All succeeded." if counts.inputs else "There was nothing to do."

    def _about_rest(self, before: str = "") -> str:
        """What was never read of the input, and how it is asked."""
        if not self.is_unread:
            return ""
        if self.missing < 1:
            return f"{before}The input was not read to its end: {self.door.again} to ask what is left of it."
        rows = counted(self.missing, "row of the input was", "rows of the input were")
        return f"{before}{rows} never reached: {self.door.again} to ask {'it' if self.missing == 1 else 'them'}."

    def _after_failures(self) -> str:
        see = " See the column 'error'." if self.door.is_command else ""
        failed, helped = self.accounting.failed, sum(group.count for group in self.failures if _REMEDIES[group.kind][1])
        if not helped:
            then = f", then {self.door.corrected}" if self.door.is_command else ""
            return f"Some failed: what to do about each kind stands above{then}.{see}"
        which = "" if helped == failed else f", which may help {helped:,} of {failed:,}"
        return f"Some failed: {self.door.retry} tries them again{which}.{see}"


def _calls(run: RunFigures) -> list[str]:
    """What was sent, in calls or in provider batches, and what became of it."""
    if run.batches is None:
        texts = [counted(run.calls, "call")]
        texts += [counted(run.retries, "retry", "retries")] if run.retries else []
    else:
        again = f" ({run.retries:,} of them tried again)" if run.retries else ""
        texts = [counted(run.batches, "new batch", "new batches"), counted(run.calls, "result") + again]
    texts += [f"{run.refusals:,} turned away (429, 503, 529)"] if run.refusals else []
    return texts + ([f"{run.cut_off:,} cut off"] if run.cut_off else [])


def wrapped(text: str, width: int | None, *, indent: str = _INDENT) -> str:
    """A line of a summary, broken between words where a terminal is narrower."""
    if width is None or len(text) <= width:
        return text
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
