"""The figures of the page about a run: where it stands, what it waits for, its rate and cost, and why items fail."""

from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batchwork.core.duration import duration
from batchwork.core.event import Attempted, Began, Ended
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Failed, Status
from batchwork.core.words import Door, command_line, counted, manager_door
from batchwork.journal import JournalReader
from batchwork.manager.run_folder import MANAGER
from batchwork.plan import account_names
from batchwork.summary import FailureGroup
from batchwork.view.columns import ItemColumns
from batchwork.view.distribution import distribution_of
from batchwork.view.fold import KINDS
from batchwork.view.index import RunRow, SideIndex
from batchwork.view.run_figures import Allowed, BatchLine, FailureKindRow, RunPage, RunSpan, Series, Wait
from batchwork.view.timeline import Timeline, timeline_of
from batchwork.view.watch import JournalWatch, Progress

_REFUSALS = (FailureKind.RATE_LIMITED, FailureKind.OVERLOADED, FailureKind.QUOTA)
_RECENT_S = 60.0
_MOST_BATCHES = 200
# Rates by the provider's name: what they limit, and the setting that states one.
_RATES = {
    "requests": ("calls", "rpm"),
    "input_tokens": ("tokens in", "input_tpm"),
    "output_tokens": ("tokens out", "output_tpm"),
    "tokens": ("tokens", ""),
}
_STOPPED = {
    None: ("finished", "Finished"),
    "budget": ("stopped", "Stopped by the budget"),
    "paused": ("stopped", "Paused"),
    "interrupted": ("stopped", "Interrupted"),
    "cancelled": ("stopped", "Cancelled"),
    "error": ("stopped", "Stopped by an error"),
    "imported": ("finished", "Taken over from a state file"),
}


def door_of(reader: JournalReader, last: Began | None) -> Door:
    """In whose words remedies are given: a manager's, or the command line's."""
    if last is not None and MANAGER in last.settings:
        return manager_door(reader.path.with_suffix("") if isinstance(reader.path, Path) else reader.path)
    return command_line(reader.path)


def run_page(watch: JournalWatch, *, now: float) -> RunPage:
    """The figures as they are now (UTC)."""
    progress, is_written = watch.progress, watch.is_written
    with watch.reading() as (reader, index):
        return _Figures(reader, index, watch.columns, progress, is_written=is_written, now=now).page()


class _Figures:
    """What the page is made from."""

    def __init__(
        self,
        reader: JournalReader,
        index: SideIndex,
        columns: ItemColumns,
        progress: Progress,
        *,
        is_written: bool,
        now: float,
    ) -> None:
        self._reader, self._index, self._columns, self._progress = reader, index, columns.now(), progress
        self._now = now
        self._began = reader.last_run()
        self._door = door_of(reader, self._began)
        self._runs = index.runs()
        self._ends = [self._ended(run) for run in self._runs]
        self._is_live = bool(self._runs) and is_written and self._ends[-1] is None
        self._timeline = timeline_of(self._runs, now=now if self._is_live else None)
        self._sums = reader.sums()

    def _ended(self, run: RunRow) -> Ended | None:
        if run.ended_seq is None:
            return None
        event = self._reader.events_after(run.ended_seq - 1, 1)[0][2]
        return event if isinstance(event, Ended) else None

    def page(self) -> RunPage:
        began, counts = self._began, {status.value: count for status, count in self._sums.counts.items()}
        settings = {} if began is None else began.settings
        total, places = self._total(), sum(counts.values())
        done = places - counts[Status.PENDING] - counts[Status.DEFERRED]
        rate = self._rate()
        left = None if total is None else max(0, total - done - counts[Status.DEFERRED])
        state, headline, remedy = self._state(counts)
        priced = began is None or began.priced or bool(self._sums.spent)
        latency, tokens_in, tokens_out = self._columns.of_input("latency", "input", "output")
        return RunPage(
            journal=str(self._reader.path),
            model="" if began is None else began.model,
            mode=str(settings.get("mode", "live")),
            state=state,
            headline=headline,
            remedy=remedy,
            counts=counts,
            total=total,
            read=places,
            done=done,
            rate_per_s=rate,
            allowed=self._allowed(settings),
            eta_s=left / rate if self._is_live and left is not None and rate else None,
            elapsed_s=self._timeline.length_s,
            spent_nano=self._sums.spent if priced else None,
            unconfirmed_nano=self._sums.unconfirmed,
            ceiling_nano=None if began is None else began.max_cost_nano,
            forecast_nano=self._forecast(done, None if total is None else total - done) if priced else None,
            tokens={"input": int(tokens_in.sum()), "output": int(tokens_out.sum())},
            waits=self._waits(counts),
            failures=self._failures(),
            runs=self._spans(),
            batches=self._batches(),
            all_batches=len(self._index.batches()),
            series=self._series(),
            latency=distribution_of(latency),
            input_tokens=distribution_of(tokens_in),
            output_tokens=distribution_of(tokens_out),
            indexed=self._progress.done,
            events=self._progress.total,
            problem=self._progress.problem,
        )

    def _allowed(self, settings: dict[str, Any]) -> list[Allowed]:
        """The rates that hold: of one that was stated and one that the provider told, the lower one."""
        told = self._runs[-1].limits if self._runs else {}
        allowed = []
        for name, (what, setting) in _RATES.items():
            known = [(float(rate), "as stated") for rate in (settings.get(setting),) if rate]
            known += [(rate, "as the provider tells") for rate in (told.get(name),) if rate]
            if known:
                per_minute, source = min(known)
                allowed.append(Allowed(what=what, per_minute=per_minute, source=source))
        return allowed

    def _total(self) -> int | None:
        """Rows in the latest input: as its end says, or as was known beforehand."""
        latest = self._ends[-1] if self._ends else None
        if latest is not None and latest.inputs is not None:
            return latest.inputs
        if self._began is None:
            return None
        known = self._began.input.total
        return known if known is not None else self._began.settings.get(MANAGER, {}).get("items")

    def _state(self, counts: dict[str, int]) -> tuple[str, str, str]:
        if not self._runs:
            return "stopped", "No run has begun on this journal", ""
        ended = self._ends[-1]
        if ended is None and self._is_live:
            return "running", "Running", ""
        if ended is None:
            return "cut_off", "Cut off: everything finished is kept", f"To go on, {self._door.again}."
        state, headline = _STOPPED.get(ended.stopped, ("stopped", str(ended.stopped)))
        if ended.stopped == "paused":
            return state, f"Paused: {ended.reason or 'no reason was recorded'}", self._words(ended.remedy)
        if ended.stopped == "budget":
            return state, headline, f"{self._more_money()} for the deferred ones."
        if ended.stopped is not None and ended.stopped != "imported":
            return state, headline, f"To go on, {self._door.again}."
        if counts[Status.FAILED]:
            return state, f"{headline}, {counts[Status.FAILED]:,} failed", ""
        return state, headline, ""

    def _more_money(self) -> str:
        settings = {} if self._began is None else self._began.settings
        has_ceiling = self._began is not None and self._began.max_cost_nano is not None
        return _sentence(self._door.with_money(account_names(settings.get("account")), has_ceiling=has_ceiling))

    def _words(self, remedy: str | None) -> str:
        try:
            return "" if remedy is None else self._door.words(remedy)
        except (KeyError, ValueError, IndexError):  # of another version
            return str(remedy)

    def _rate(self) -> float:
        """Items settled per second: in the last minute of a run that goes on, else over the latest run's time."""
        if not self._runs:
            return 0.0
        settled, run = self._columns["settled_at"], self._runs[-1]
        if self._is_live:
            since = max(self._now - _RECENT_S, run.began_at)
            return float((settled > since).sum()) / max(1.0, self._now - since)
        until = run.ended_at or run.last_at
        return float((settled >= run.began_at).sum()) / max(0.001, until - run.began_at)

    def _forecast(self, done: int, left: int | None) -> int | None:
        """What it will have cost when all is done, if the rest costs what the items so far did on average."""
        if left is None or not done or not left:
            return None
        return self._sums.spent + round(self._sums.spent / done * left)

    def _waits(self, counts: dict[str, int]) -> list[Wait]:
        waits = []
        recent = self._index.recent_misses(self._now - _RECENT_S) if self._is_live else {}
        if refused := sum(recent.get(KINDS.index(kind) + 1, 0) for kind in _REFUSALS):
            what = f"{counted(refused, 'call was', 'calls were')} refused in the last minute"
            waits.append(Wait(what="limit", text=f"{what}; the run slows down by itself."))
        columns = self._columns
        again = np.flatnonzero((columns["status"] == 0) & (columns["attempts"] > 0) & columns.placed)
        if len(again):
            text = counted(len(again), "item waits to be tried again", "items wait to be tried again")
            waits.append(Wait(what="retries", text=f"{text}{self._why(int(again[-1]))}"))
        if counts[Status.DEFERRED]:
            text = counted(counts[Status.DEFERRED], "item waits for money", "items wait for money")
            waits.append(Wait(what="money", text=text, remedy=f"{self._more_money().rstrip(',')}."))
        if open_batches := [batch for batch in self._index.batches() if batch.closed_at is None]:
            items = sum(batch.items for batch in open_batches)
            text = f"{counted(len(open_batches), 'batch is', 'batches are')} at the provider ({counted(items, 'item')})"
            waits.append(Wait(what="batches", text=text))
        return waits

    def _why(self, item: int) -> str:
        """What the latest call for an item came to."""
        for seq in reversed(self._index.trace(item)):
            event = self._reader.events_after(seq - 1, 1)[0][2]
            if isinstance(event, Attempted):
                return f": {event.kind.value}{': ' if event.message else ''}{event.message}"
        return ""

    def _failures(self) -> list[FailureKindRow]:
        rows = []
        for kind, count, item in self._columns.failures():
            entry = self._reader.entry(item)
            outcome = None if entry is None else entry.outcome
            message = outcome.failure.message if isinstance(outcome, Failed) else ""
            group = FailureGroup(kind=FailureKind(kind), count=count, example=message)
            remedy = group.lines(self._door)[-1].strip()
            place = None if entry is None else entry.index
            rows.append(FailureKindRow(kind=kind, count=count, example=message, place=place, remedy=remedy))
        return rows

    def _spans(self) -> list[RunSpan]:
        spans: list[RunSpan] = []
        for number, (run, ended) in enumerate(zip(self._runs, self._ends, strict=True)):
            is_live = self._is_live and number == len(self._runs) - 1
            state, how = ("running", "Running") if is_live else ("cut_off", "Cut off")
            if ended is not None:
                state, how = _STOPPED.get(ended.stopped, ("stopped", str(ended.stopped)))
            until = None if is_live else run.ended_at or run.last_at
            before = None if not spans or spans[-1].ended_at is None else max(0.0, run.began_at - spans[-1].ended_at)
            spans.append(RunSpan(began_at=run.began_at, ended_at=until, how=how, state=state, pause_before_s=before))
        return spans

    def _batches(self) -> list[BatchLine]:
        return [
            BatchLine(
                number=batch.chunk,
                batch_id=batch.batch_id,
                items=batch.items,
                state=batch.how or ("at the provider" if batch.batch_id else "about to be submitted"),
                intended_at=batch.intended_at,
                closed_at=batch.closed_at,
            )
            for batch in self._index.batches()[-_MOST_BATCHES:]
        ]

    def _series(self) -> Series:
        line, columns = self._timeline, self._columns
        times, kinds, paid = columns.of_input("settled_at", "kind", "paid")
        if not (settled := times > 0).all():
            times, kinds, paid = times[settled], kinds[settled], paid[settled]
        failed = kinds > 0
        misses = self._index.misses(max(1, int(line.width_s)))
        refused = np.array([[at, count] for at, kind, count in misses if KINDS[kind - 1] in _REFUSALS] or [[0, 0]])
        buckets = line.bucket(times)
        all_of_them, of_failed = line.sums(buckets), line.sums(buckets[failed])
        return Series(
            width_s=line.width_s,
            succeeded=[every - bad for every, bad in zip(all_of_them, of_failed, strict=True)],
            failed=of_failed,
            refused=line.sums(line.bucket(refused[:, 0]), refused[:, 1]),
            spent_nano=list(accumulate(line.sums(buckets, paid))),
            breaks=self._breaks(line),
        )

    def _breaks(self, line: Timeline) -> list[tuple[float, str]]:
        breaks: list[tuple[float, str]] = []
        for number in range(1, len(self._runs)):
            before = self._ends[number - 1]
            how = "cut off" if before is None else before.stopped or "finished"
            gap = float(line.starts[number] - line.ends[number - 1])
            breaks.append((float(line.offsets[number]), f"{how}, resumed after {duration(max(0.0, gap))}"))
        return breaks


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def as_json(page: Any) -> bytes:
    """A page's figures, as its `.json` twin has them."""
    return msgspec.json.format(msgspec.json.encode(page), indent=2)
