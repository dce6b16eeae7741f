"""How often and how long a call is tried again: failures by number, refusals by time, at each door of a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import RunPaused
from batchwork.core.failure import FailureKind
from tests.support.runs import run_all, statuses_of
from tests.support.scripted import Scripted, failure
from tests.support.virtual_time import run_virtual, virtual_now

_REFUSALS = [FailureKind.RATE_LIMITED, FailureKind.OVERLOADED]


def sends_of(backend: Scripted, prompt: str) -> list[float]:
    """When this prompt was sent."""
    return [start for start, asked in zip(backend.starts, backend.asked, strict=True) if asked == prompt]


@pytest.mark.parametrize("retries", [0, 1, 4])
@pytest.mark.parametrize("kind", [FailureKind.SERVER, FailureKind.TIMEOUT, FailureKind.CONNECTION])
def test_what_fails_is_sent_once_and_as_often_again_as_the_retries_say(kind: FailureKind, retries: int) -> None:
    backend = Scripted(lambda *_: failure(kind), free=True)
    (only,) = run_all(["a"], backend=backend, retries=retries)
    assert only.failure is not None
    assert (only.failure.kind, len(backend.asked)) == (kind, retries + 1)


def test_calls_that_take_longer_than_the_timeout_use_up_all_retries_however_long_that_takes() -> None:
    backend = Scripted(latency=1e6, free=True)
    (only,) = run_all(["a"], backend=backend, retries=4)  # of ten minutes each
    assert (only.attempts, len(backend.asked)) == (5, 5)


def _refused(kind: FailureKind, after: float | None = None) -> Callable[[str, int], Any]:
    return lambda prompt, _: failure(kind, after=after) if prompt == "refused" else prompt


@pytest.mark.parametrize("max_wait", [10.0, 100.0])
@pytest.mark.parametrize("after", [None, 7.0])
@pytest.mark.parametrize("kind", _REFUSALS)
def test_an_item_that_is_refused_fails_after_max_wait_while_the_others_are_answered(
    kind: FailureKind, after: float | None, max_wait: float
) -> None:
    backend = Scripted(_refused(kind, after), latency=1.0, free=True)
    prompts = ["refused", *map(str, range(300))]
    results = run_all(prompts, backend=backend, max_wait=max_wait, retries=0, max_in_flight=2)
    first, *others = results
    assert first.failure is not None
    assert first.failure.kind is kind
    assert {other.status.value for other in others} == {"succeeded"}
    sends = sends_of(backend, "refused")
    assert len(sends) > 1  # refusals are no failures: retries=0 does not bound them
    assert max_wait - 15.0 < sends[-1] - (sends[0] + 1.0) <= max_wait + 2.0  # for a slot


def test_a_refused_item_outlives_its_retries_when_the_provider_recovers_within_max_wait() -> None:
    backend = Scripted(
        lambda prompt, _: failure(FailureKind.OVERLOADED) if virtual_now() < 200 else prompt, latency=0.5, free=True
    )
    results = run_all(["a", "b"], backend=backend, retries=0)
    assert statuses_of(results) == ["succeeded", "succeeded"]


@pytest.mark.parametrize("max_wait", [5.0, 60.0, 900.0])
def test_when_nobody_is_answered_the_run_pauses_and_fails_nobody(max_wait: float) -> None:
    backend = Scripted(lambda *_: failure(FailureKind.RATE_LIMITED), free=True)

    async def main() -> tuple[set[str], float]:
        with pytest.raises(RunPaused, match="refused every call") as paused:
            await batchwork.arun(map(str, range(30)), model="mock:echo", backend=backend, max_wait=max_wait)
        return set(statuses_of(paused.value.results)), virtual_now()

    statuses, now = run_virtual(main())
    assert statuses == {"pending"}
    assert now <= min(max_wait, 300.0) + 10.0


def test_what_is_left_of_a_failed_item_says_how_often_it_was_tried(tmp_path: Path) -> None:
    options: dict[str, Any] = {"journal": tmp_path / "j.db", "max_wait": 10.0, "max_in_flight": 2}
    backend = Scripted(_refused(FailureKind.RATE_LIMITED), latency=1.0, free=True)
    prompts = ["refused", *map(str, range(40))]
    first = run_all(prompts, backend=backend, **options)[0]
    assert first.attempts == len(sends_of(backend, "refused"))
    again = run_all(prompts, backend=Scripted(free=True), retry_failed=True, **options)
    assert set(statuses_of(again)) == {"succeeded"}
