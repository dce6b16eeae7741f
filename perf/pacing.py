"""How a run meets refusals, in virtual time: other people's 429s, storms, limits that move, keys that are shared.

Every cell is a provider written down in a few lines, met by the real engine and, beside it, by what people write by
hand: the SDK's own retries behind a semaphore, and a plain loop with exponential waits. Nothing is drawn from a table:
the seconds are those of an event loop whose clock jumps, so the figures are the same on every machine.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean

import batchwork
from batchwork.core.errors import BackendError
from batchwork.core.event import Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Traits
from batchwork.core.reply import Limit, Reply, ReportedLimits, Usage
from batchwork.core.request import Request
from perf._harness import arguments, show_table, verdict
from perf.virtual_time import run_virtually
from tests.support.virtual_time import virtual_now

_STATUS = {429: FailureKind.RATE_LIMITED, 503: FailureKind.OVERLOADED, 529: FailureKind.OVERLOADED}
FIRST_WAVE_S = 2.0  # refusals until then are counted apart
_SEEDS = range(1, 13)  # luck is part of the matter: a rule that is right on average may still be ruinous now and then
_WORST = 3.0  # times the best peer's mean: the most that the worst of them may take
_FAIR = 0.5  # of its due: the least that one of several processes gets
Refusal = tuple[int, float | None]  # a status, and its Retry-After


@dataclass(kw_only=True)
class Provider:
    """Refuses as it is told to; every process that meets it shares it."""

    latency_s: float = 0.02
    spread: float = 0.0  # sigma of a lognormal latency around the median
    random_refusals: Sequence[tuple[float, Refusal]] = ()  # probability and what is said
    per_s: Callable[[float], float] | None = None  # the limit at a time; None: none
    burst: float = 6.0
    headers: bool = False
    retry_after: Callable[[float], float | None] = lambda _: None
    storms: Sequence[tuple[float, float]] = ()  # from, to: everything is a 529
    long_waits: Sequence[int] = ()  # the calls, by number, that are told to wait 20 s
    workers: int | None = None  # calls beyond so many at once wait for their turn
    seed: int = 1
    calls: int = 0
    refused: int = 0
    refused_first: int = 0  # of those, in the first wave
    traits: Traits = field(default_factory=lambda: Traits(name="pacing", free=True, limited=True))

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._level, self._at = self.burst, 0.0
        self._slots = asyncio.Semaphore(self.workers) if self.workers else None
        self.answered_at: list[float] = []
        self.allowed = 0.0  # calls that the limit allowed so far

    def _refusal(self) -> Refusal | None:
        now = virtual_now()
        self.calls += 1
        if self.calls in self.long_waits:
            return 429, 20.0
        if any(start <= now < end for start, end in self.storms):
            return 529, None
        roll = self._dice.random()
        for probability, refusal in self.random_refusals:
            if roll < probability:
                return refusal
            roll -= probability
        if self.per_s is not None:
            rate = self.per_s(now)
            self._level, self._at = min(self.burst, self._level + (now - self._at) * rate), now
            if self._level < 1.0:
                return 429, self.retry_after((1.0 - self._level) / rate)
            self._level -= 1.0
        return None

    def _limits(self) -> ReportedLimits | None:
        if not self.headers or self.per_s is None:
            return None
        return ReportedLimits(
            requests=Limit(per_minute=60.0 * self.per_s(virtual_now()), remaining=max(0, int(self._level)))
        )

    async def answer(self) -> Refusal | None:
        """One call: None when it was answered."""
        latency = self.latency_s
        if self.spread:
            latency *= self._dice.lognormvariate(0.0, self.spread)
        refusal = self._refusal()
        if refusal is not None:
            self.refused += 1
            self.refused_first += virtual_now() < FIRST_WAVE_S
            await asyncio.sleep(min(latency, 0.02))
            return refusal
        if self._slots is None:
            await asyncio.sleep(latency)
        else:
            async with self._slots:
                await asyncio.sleep(latency)
        self.answered_at.append(virtual_now())
        return None

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:  # noqa: ARG002
        """The same for our engine."""
        refusal = await self.answer()
        limits = self._limits()
        if refusal is None:
            return Reply(text="ok", usage=Usage(input_tokens=1, output_tokens=1), limits=limits)
        status, after = refusal
        kind = _STATUS.get(status, FailureKind.SERVER)
        raise BackendError(Failure(kind=kind, message=str(status), status=status, retry_after_s=after, limits=limits))

    async def aclose(self) -> None:
        """Nothing is open."""


# -- three ways of meeting it ----------------------------------------------------------------------


async def ours(provider: Provider, calls: int, window: int, **options: object) -> int:
    """How many of the calls were lost."""
    results = await batchwork.arun(
        [f"p{i}" for i in range(calls)], model="pacing", backend=provider, max_in_flight=window, retries=8, **options
    )
    return calls - results.accounting.succeeded


async def _by_hand(
    provider: Provider, calls: int, window: int, wait: Callable[[int, float | None, random.Random], float]
) -> int:
    dice, slots, lost = random.Random(7), asyncio.Semaphore(window), 0

    async def one() -> None:
        nonlocal lost
        async with slots:
            for tries in range(9):
                refusal = await provider.answer()
                if refusal is None:
                    return
                await asyncio.sleep(wait(tries, refusal[1], dice))
            lost += 1

    await asyncio.gather(*(one() for _ in range(calls)))
    return lost


async def sdk(provider: Provider, calls: int, window: int) -> int:
    """The SDK's own retries: half a second, doubled up to 8, less up to a quarter; a Retry-After as it stands."""

    def wait(tries: int, after: float | None, dice: random.Random) -> float:
        return after if after is not None else min(0.5 * 2.0**tries, 8.0) * (1.0 - 0.25 * dice.random())

    return await _by_hand(provider, calls, window, wait)


async def plain(provider: Provider, calls: int, window: int) -> int:
    """A loop with exponential waits at random, and a Retry-After as it stands."""

    def wait(tries: int, after: float | None, dice: random.Random) -> float:
        return after if after is not None else dice.random() * min(60.0, 2.0**tries)

    return await _by_hand(provider, calls, window, wait)


# -- the cells -------------------------------------------------------------------------------------

Meet = Callable[[Provider, int, int], Awaitable[int]]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A cell that is judged by the time of the best peer."""

    name: str
    calls: int
    window: int = 20
    provider: Callable[[int], Provider] = field(repr=False)
    most: float = 1.5


def _random(share: float, after: float | None, status: int = 429) -> Callable[[int], Provider]:
    return lambda seed: Provider(random_refusals=[(share, (status, after))], seed=seed)


def _slow(more: dict[str, object]) -> Callable[[int], Provider]:
    return lambda seed: Provider(latency_s=0.2, seed=seed, **more)  # type: ignore[arg-type]


def _beside() -> list[Beside]:
    cells = []
    for after in (1.0, None):
        said = "Retry-After: 1" if after else "no Retry-After"
        for percent in (1, 2, 5, 10, 20):
            for calls in (100, 2_000):
                made = _random(percent / 100, after)
                cells.append(
                    Beside(name=f"random 429, {percent}%, {said}, {calls:,} calls", calls=calls, provider=made)
                )
    for percent, window, calls in ((5, 20, 300), (2, 60, 600)):
        cells.append(
            Beside(
                name=f"random 429, {percent}%, {calls} calls of 2 s, {window} at once",
                calls=calls,
                window=window,
                provider=lambda seed, share=percent / 100: Provider(  # type: ignore[misc]
                    latency_s=2.0, spread=0.5, random_refusals=[(share, (429, None))], seed=seed
                ),
            )
        )
    mixed = [(0.10, (429, 1.0)), (0.05, (503, None)), (0.03, (500, None))]
    cells.append(
        Beside(
            name="10% 429, 5% 503, 3% 500, 200 calls",
            calls=200,
            provider=lambda seed: Provider(random_refusals=mixed, seed=seed),  # type: ignore[arg-type]
        )
    )
    cells.extend(
        Beside(name=f"random {status}, 10%, 500 calls", calls=500, provider=_random(0.1, None, status))
        for status in (503, 529)
    )
    for name, calls, more in (
        ("a storm of 529s of 3 s, 400 calls of 0.2 s", 400, {"storms": [(1.0, 4.0)]}),
        ("two storms, 1,000 calls of 0.2 s", 1_000, {"storms": [(1.0, 4.0), (7.0, 10.0)]}),
        ("three of 300 told to wait 20 s", 300, {"long_waits": (40, 90, 150)}),
    ):
        cells.append(Beside(name=name, calls=calls, provider=_slow(more)))
    return cells


@dataclass(frozen=True, kw_only=True)
class Share:
    """A cell that is judged by the share of what was allowed, and by how often it had to be refused."""

    name: str
    provider: Callable[[int], Provider] = field(repr=False)
    allowed: Callable[[float], float] = field(repr=False)  # calls that a limit allows up to a time
    least: float
    most_refused: float = 0.03
    calls: int = 1_200
    processes: int = 1
    options: dict[str, object] = field(default_factory=dict)


def _steady(per_s: float) -> Callable[[float], float]:
    return lambda seconds: per_s * seconds


def _shares() -> list[Share]:
    def limited(**more: object) -> Callable[[int], Provider]:
        return lambda seed: Provider(
            latency_s=0.3,
            spread=0.8,
            per_s=lambda _: 40.0,
            seed=seed,
            **more,  # type: ignore[arg-type]
        )

    def dipping(headers: bool) -> Callable[[int], Provider]:
        rate = lambda t: 40.0 / 3 if 10.0 <= t < 30.0 else 40.0  # noqa: E731
        return lambda seed: Provider(latency_s=0.3, spread=0.8, per_s=rate, headers=headers, seed=seed)

    def dipped(seconds: float) -> float:
        return 40.0 * seconds - (40.0 - 40.0 / 3) * min(max(seconds - 10.0, 0.0), 20.0)

    always = {"retry_after": lambda wait: max(1.0, round(wait))}
    cells = [
        Share(
            name="stated limit",
            provider=limited(),
            allowed=_steady(40),
            least=0.92,
            most_refused=0.005,
            options={"rpm": 2400},
        ),
        Share(
            name="limit in headers", provider=limited(headers=True), allowed=_steady(40), least=0.92, most_refused=0.005
        ),
        Share(name="blind", provider=limited(), allowed=_steady(40), least=0.80),
        Share(name="blind, Retry-After", provider=limited(**always), allowed=_steady(40), least=0.80),
        Share(name="blind, burst of 60", provider=limited(burst=60.0), allowed=lambda s: 54 + 40 * s, least=0.80),
        Share(
            name="blind, and 5% refused at random",
            provider=limited(random_refusals=[(0.05, (429, None))]),
            allowed=_steady(40),
            least=0.60,
            most_refused=0.05 + 0.03,
        ),
        Share(name="drops to a third and comes back, headers", provider=dipping(True), allowed=dipped, least=0.85),
        Share(name="drops to a third and comes back, blind", provider=dipping(False), allowed=dipped, least=0.70),
    ]
    for count in (2, 5):
        for headers, least in ((True, 0.85), (False, 0.70)):
            word = "headers" if headers else "blind"
            cells.append(
                Share(
                    name=f"{count} processes on one key, {word}",
                    provider=limited(headers=headers),
                    allowed=_steady(40),
                    least=least,
                    processes=count,
                    calls=2_400 if count == 2 else 4_000,
                )
            )
    return cells


def measure_beside(cell: Beside, seeds: Sequence[int]) -> tuple[dict[str, list[float]], int]:
    """Seconds of ours, the SDK and the loop with every seed, and what we lost."""
    meets: dict[str, Meet] = {"ours": ours, "SDK": sdk, "loop": plain}
    times: dict[str, list[float]] = {name: [] for name in meets}
    lost = 0
    for seed in seeds:
        for name, meet in meets.items():
            random.seed(seed)

            async def go(meet: Meet = meet, seed: int = seed) -> int:
                return await meet(cell.provider(seed), cell.calls, cell.window)

            gone, seconds = run_virtually(go())
            times[name].append(seconds)
            lost += gone if name == "ours" else 0
    return times, lost


def measure_share(cell: Share, seed: int) -> tuple[float, float, float, int]:
    """The share of what was allowed, the share refused, the least share of one process in its due, what was lost."""
    random.seed(seed)

    async def go() -> tuple[Provider, list[tuple[float, int, list[float]]]]:
        provider = cell.provider(seed)
        each = cell.calls // cell.processes

        async def one() -> tuple[float, int, list[float]]:
            times: list[float] = []

            def on_event(event: object) -> None:
                if isinstance(event, Settled):
                    times.append(virtual_now())

            lost = await ours(provider, each, 100, on_event=on_event, **cell.options)
            return virtual_now(), lost, times

        return provider, list(await asyncio.gather(*(one() for _ in range(cell.processes))))

    (provider, ends), _ = run_virtually(go())
    # Until the first process is done all of them compete; what comes after is another question.
    first = min(at for at, _, _ in ends)
    done = [sum(at <= first for at in times) for _, _, times in ends]
    share = sum(done) / cell.allowed(first)
    fair = min(done) / (sum(done) / cell.processes)
    return share, (provider.refused - provider.refused_first) / provider.calls, fair, sum(lost for _, lost, _ in ends)


def main() -> int:
    """The two tables, and how they end."""
    smoke = arguments(__doc__ or "").smoke
    rows, short, lost_in_all = [], [], 0
    for cell in _beside():
        if smoke and cell.calls > 300:
            continue
        times, lost = measure_beside(cell, _SEEDS[:1] if smoke else _SEEDS)
        best = min(mean(times["SDK"]), mean(times["loop"]))
        usual, worst = mean(times["ours"]) / best, max(times["ours"]) / best
        lost_in_all += lost
        if usual > cell.most or worst > _WORST or lost:
            short.append(cell.name)
        means = [f"{mean(seconds):.1f}" for seconds in times.values()]
        rows.append([cell.name, *means, f"{usual:.2f}", f"{worst:.2f}", str(lost)])
    show_table(["seconds", "ours", "SDK", "loop", "of the best", "worst seed", "lost"], rows)
    rows = []
    for share in _shares():
        runs = [measure_share(share, seed) for seed in (_SEEDS[:1] if smoke else _SEEDS[:6])]
        used, refused, fair = (mean(run[i] for run in runs) for i in (0, 1, 2))
        lost = sum(run[3] for run in runs)
        lost_in_all += lost
        if used < share.least or refused > share.most_refused or lost or fair < _FAIR:
            short.append(share.name)
        bars = f"{share.least:.2f} / {share.most_refused:.1%} / {_FAIR}"
        least_used, most_refused, least_fair = min(r[0] for r in runs), max(r[1] for r in runs), min(r[2] for r in runs)
        worst_of = f"{least_used:.2f} / {most_refused:.1%} / {least_fair:.2f}"
        rows.append([share.name, f"{used:.3f}", f"{refused:.2%}", f"{fair:.2f}", worst_of, str(lost), bars])
    show_table(["limits", "used", "refused", "least share", "worst seeds", "lost", "bars"], rows)
    figure = "every cell within its bar" if not short else f"{len(short)} cells short: {'; '.join(short)}"
    if smoke:  # one draw of luck per cell shows that it runs, and that nothing is lost
        figure = f"{len(rows)} limits met, {lost_in_all} calls lost"
    ok = not lost_in_all if smoke else not short
    bar = f"1.5 times the best peer, {_WORST:.0f} times with the worst seed, and the shares above"
    return verdict("pacing", figure, bar, ok=ok, timed=False)


if __name__ == "__main__":
    sys.exit(main())
