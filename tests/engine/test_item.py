"""Whatever fails, dawdles or is cut off: order, counts, money and the journal are right."""

import asyncio
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import batchwork
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Status
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.journal import JournalReader
from tests.support.scripted import Scripted, failure, reply
from tests.support.virtual_time import run_virtual

_FATES = st.sampled_from(["answer", "answer", "server", "timeout", "rate_limited", "overloaded", "rejected", "refused"])
_LIFE = st.tuples(st.lists(_FATES, max_size=4), st.floats(0, 30), st.integers(1, 300))
_COST = 2_000  # what an answer costs, in nano-dollars


class _Fated(Scripted):
    """Every prompt has its own fate: what its calls meet one after the other, and how long they take."""

    def __init__(self, lives: list[tuple[list[str], float, int]]) -> None:
        self._lives = lives
        self.answered = 0
        super().__init__(self._meet, latency=lambda prompt: lives[int(prompt[:3])][1])

    def _meet(self, prompt: str, call: int) -> Any:
        fates = self._lives[int(prompt[:3])][0]
        fate = fates[call - 1] if call <= len(fates) else "answer"
        if fate != "answer":
            return failure(FailureKind(fate), unconfirmed=fate == "timeout")
        self.answered += 1
        return reply(f"answer to {prompt}", tokens_in=1, tokens_out=1)


def _prompts(lives: list[tuple[list[str], float, int]]) -> list[str]:
    return [f"{n:03d}" + "x" * size for n, (_, _, size) in enumerate(lives)]


def _options(backend: _Fated, **more: Any) -> dict[str, Any]:
    return {
        "model": "mock:echo",
        "backend": backend,
        "price": (1, 1),
        "max_tokens": 5,
        "max_consecutive_failures": 10_000,
        "retries": 2,
        **more,
    }


def _must_be_right(results: batchwork.Results, prompts: list[str], backend: _Fated, ceiling: int | None) -> None:
    outcomes = list(results)
    assert [outcome.index for outcome in outcomes] == list(range(len(prompts)))
    for prompt, outcome in zip(prompts, outcomes, strict=True):
        if outcome.status is Status.SUCCEEDED:
            assert outcome.text == f"answer to {prompt}"
    counted = results.accounting
    assert counted.inputs == len(prompts)
    assert counted.succeeded == sum(outcome.status is Status.SUCCEEDED for outcome in outcomes)
    assert counted.pending == 0
    total = results.total_cost
    assert total is not None
    spent = int(total * 1_000_000_000)
    assert spent == sum(outcome.cost_nano or 0 for outcome in outcomes)
    assert spent >= backend.answered * _COST
    assert ceiling is None or spent <= ceiling


@settings(max_examples=60)
@given(st.lists(_LIFE, max_size=25), st.integers(1, 8), st.one_of(st.none(), st.integers(0, 3_000)))
def test_every_input_ends_once_in_its_place(
    lives: list[tuple[list[str], float, int]], window: int, cents: int | None
) -> None:
    backend, prompts = _Fated(lives), _prompts(lives)
    max_cost = None if cents is None else cents / 1_000_000
    results = run_virtual(batchwork.arun(prompts, **_options(backend, max_in_flight=window, max_cost=max_cost)))
    _must_be_right(results, prompts, backend, None if cents is None else cents * 1000)
    assert backend.most_in_flight <= window
    assert (results.stopped == "budget") == (results.accounting.deferred > 0)


@settings(max_examples=12)
@given(lives=st.lists(_LIFE, min_size=1, max_size=15), cuts=st.lists(st.floats(0.1, 40), max_size=3))
def test_cancelled_again_and_again_it_still_ends_right(
    tmp_path_factory: Any, lives: list[tuple[list[str], float, int]], cuts: list[float]
) -> None:
    path: Path = tmp_path_factory.mktemp("cut") / "j.db"
    backend, prompts = _Fated(lives), _prompts(lives)
    options = _options(backend, max_in_flight=4, max_cost="0.02", journal=path)

    async def cut_off(after: float) -> None:
        try:
            async with asyncio.timeout(after):
                (await batchwork.arun(prompts, **options)).close()
        except TimeoutError:
            return

    for after in cuts:
        run_virtual(cut_off(after))
    results = run_virtual(batchwork.arun(prompts, **options))
    _must_be_right(results, prompts, backend, 20_000_000)
    results.close()
    asked = len(backend.asked)
    run_virtual(batchwork.arun(prompts, **options)).close()
    assert len(backend.asked) == asked, "a settled item was asked again"


def test_a_run_that_is_cut_off_loses_no_answer_that_has_come(tmp_path: Path) -> None:
    """Also those of which the disk does not know yet."""
    path, came = tmp_path / "j.db", []

    class Tells(Scripted):
        async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
            answer = await super().complete(request, ceiling_nano=ceiling_nano)
            came.append(answer.text)
            return answer

    async def cut_off() -> None:
        backend = Tells(latency=lambda prompt: 0.5 + int(prompt) / 1000)
        options: dict[str, Any] = {"price": (1, 1), "max_in_flight": 40, "journal": path}
        run = asyncio.create_task(
            batchwork.arun([f"{n:02d}" for n in range(40)], model="mock:echo", backend=backend, **options)
        )
        await asyncio.sleep(0.5124)  # between two commits
        run.cancel()
        with suppress(asyncio.CancelledError):
            await run

    run_virtual(cut_off())
    with closing(JournalReader(path)) as reader:
        assert 0 < reader.counts()[Status.SUCCEEDED] == len(came) < 40
