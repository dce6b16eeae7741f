"""The estimate of a run: items, tokens, cost, time, of what its journal has not settled yet. Sends nothing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from batchwork.assembly import Terms
from batchwork.core.bounds import Expectation, WorstCase
from batchwork.core.duration import duration
from batchwork.core.intake import Intake
from batchwork.core.money import show, show_up
from batchwork.core.outcome import Status
from batchwork.core.policy import Policy
from batchwork.core.pricing import lane_asked
from batchwork.core.reply import Usage
from batchwork.core.words import counted
from batchwork.journal import JournalReader
from batchwork.plan import Plan

_DONE = frozenset({Status.SUCCEEDED, Status.FAILED})
_ABOUT = (
    '"about" is a guess: a token for every four bytes of a prompt, 256 for an answer (or --max-tokens, if less);'
    '\n"at most" is what one call for each can cost, and what --max-cost sets aside for it'
)


@dataclass(slots=True, kw_only=True)
class Estimate:
    """Sums over the rows of an input."""

    items: int = 0
    done: int = 0  # settled by earlier runs on the journal
    bad: int = 0
    most_input: int = 0
    likely_input: int = 0
    most_output: int = 0
    likely_output: int = 0
    unbounded: int = 0  # requests whose cost has no bound
    reason: str = ""  # of the first of them
    worst_nano: int | None = 0
    likely_nano: int | None = 0
    dearest_nano: int = 0  # the worst case of one row
    room_nano: int = 0  # what the budget leaves
    fitting: int = 0  # rows whose worst cases it holds at once, in their order


class Journaled:
    """What a journal has settled of an input, looked up without changing it."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self._met: Counter[bytes] = Counter()
        self.spent_nano = reader.totals().spent_nano

    def is_done(self, index: int, fingerprint: bytes) -> bool:
        """Whether the row at this place needs no call; rows are asked about in their order."""
        occurrence = self._met[fingerprint]
        self._met[fingerprint] += 1
        row = self._reader.at(index)
        if row is None or (row.fingerprint, row.occurrence) != (fingerprint, occurrence):
            row = self._reader.find(fingerprint, occurrence)
        return row is not None and row.status in _DONE


def add_up(
    intakes: Iterable[Intake], terms: Terms, journal: Journaled | None = None, *, ceiling_nano: int | None = None
) -> Estimate:
    """Go through an input without sending it."""
    price, worst = terms.price, WorstCase(terms.price, terms.traits)
    sums = Estimate(worst_nano=0 if price else None, likely_nano=0 if price else None)
    sums.room_nano = max(0, (ceiling_nano or 0) - (0 if journal is None else journal.spent_nano))
    expect = Expectation()
    for index, intake in enumerate(intakes):
        sums.items += 1
        if journal is not None and journal.is_done(index, intake.fingerprint):
            sums.done += 1
            continue
        if intake.request is None:
            sums.bad += 1
            continue
        bound = worst.input_tokens(intake.request)
        tokens_in, tokens_out = expect.of(bound, intake.request.output_bound)
        sums.most_input += bound
        sums.most_output += intake.request.output_bound
        sums.likely_input += tokens_in
        sums.likely_output += tokens_out
        if (reason := worst.unbounded(intake.request)) is not None:
            sums.unbounded += 1
            sums.reason = sums.reason or reason
        if price is not None and sums.worst_nano is not None and sums.likely_nano is not None:
            nano = worst.nano(intake.request, input_tokens=bound)
            sums.worst_nano += nano
            sums.dearest_nano = max(sums.dearest_nano, nano)
            sums.fitting += sums.worst_nano <= sums.room_nano
            usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
            sums.likely_nano += price.cost(usage, lane_asked(intake.request.extra_body))
    return sums


def lines(sums: Estimate, plan: Plan, terms: Terms, journal: Journaled | None = None) -> list[str]:
    """The estimate for people."""
    price, policy = terms.price, plan.policy
    before = f": {sums.done:,} done before, {sums.items - sums.done:,} to ask" if sums.done else ""
    texts = [
        f"model          {plan.model}",
        f"items          {sums.items:,}{before}" + (f" ({sums.bad:,} cannot be sent)" if sums.bad else ""),
        f"input tokens   about {sums.likely_input:,}, at most {sums.most_input:,}",
        f"output tokens  about {sums.likely_output:,}, at most {sums.most_output:,}",
        f"price          {price if price is not None else 'not known; state it with --price IN,OUT'}",
        f"cost           about {show(sums.likely_nano)}, at most {show(sums.worst_nano)}",
    ]
    if policy.max_cost_nano is not None and sums.worst_nano is not None:
        spent = 0 if journal is None else journal.spent_nano
        of_it = f", {show(spent)} of it spent before" if spent else ""
        texts.append(f"budget         {show(policy.max_cost_nano)}{of_it}: {_fit(sums, spent, batches=terms.batches)}")
    if sums.unbounded:
        texts.append(f"no bound       {sums.unbounded:,}; the first {sums.reason}")
    if plan.mode == "batch" and not terms.batches:
        texts.append(f"mode           live: {plan.model} has no batches")
    texts.append(f"time           {_time(sums, policy, batches=terms.batches)}")
    return [*texts, _ABOUT]


def _fit(sums: Estimate, spent: int, *, batches: bool) -> str:
    """What of the rest a budget holds, and how much would hold all of it."""
    assert sums.worst_nano is not None
    assert sums.likely_nano is not None
    if sums.worst_nano <= sums.room_nano:
        return "the worst case fits"
    asked = sums.items - sums.done - sums.bad
    about = min(asked, sums.room_nano * asked // max(1, sums.likely_nano)) if sums.fitting else 0
    text = f"the worst case does not fit; it holds {sums.fitting:,} of {asked:,} at once, and pays for about {about:,}"
    text += f"; with {show_up(spent + sums.worst_nano)} one call for each surely fits"
    if sums.dearest_nano > sums.room_nano:
        text += f" (a single one may cost {show(sums.dearest_nano)}: a lower --max-tokens may do)"
    elif batches:
        text += " (the rest goes in further batches, one after another)"
    return text


def _time(sums: Estimate, policy: Policy, *, batches: bool) -> str:
    rates, at_once = policy.rates, policy.batch.max_parallel
    if batches:
        return f"up to 24 hours for each batch, {at_once} at once; limits per minute are for live calls alone"
    needs = (
        (sums.items - sums.done - sums.bad, rates.rpm, "requests"),
        (sums.likely_input, rates.input_tpm, "input tokens"),
        (sums.likely_output, rates.output_tpm, "output tokens"),
    )
    minutes = [(amount / limit, name) for amount, limit, name in needs if limit is not None]
    if not minutes:
        return f"as fast as {counted(policy.max_in_flight, 'call')} at once can go (no rate limit stated)"
    longest, name = max(minutes)
    return f"at least {duration(60 * longest)} at the limit of {name}"
