"""run, arun, stream, astream as a user meets them."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import Request
from batchwork.core.event import Settled
from batchwork.core.ports import Traits
from tests.support.runs import run_all, texts_of
from tests.support.scripted import Scripted, prompt_of
from tests.support.virtual_time import run_virtual, virtual_now


def test_equal_prompts_are_asked_once_each() -> None:
    backend = Scripted(lambda prompt, call: f"answer {call}", free=True)
    results = run_all(["a", "a", "a"], backend=backend, max_in_flight=1)
    assert texts_of(results) == ["answer 1", "answer 2", "answer 3"]


def test_run_works_inside_a_running_loop() -> None:
    async def notebook() -> list[str | None]:
        return texts_of(batchwork.run(["a", "b"], model="mock:echo"))

    assert run_virtual(notebook()) == ["a", "b"]


def test_run_works_in_a_thread() -> None:
    said: list[Any] = []
    thread = threading.Thread(target=lambda: said.extend(texts_of(batchwork.run(["a"], model="mock:echo"))))
    thread.start()
    thread.join()
    assert said == ["a"]


def test_stream_yields_as_they_settle() -> None:
    outcomes = list(batchwork.stream(["0.03", "0.0"], model="mock:echo", backend=Scripted(latency=float, free=True)))
    assert [(outcome.index, outcome.text) for outcome in outcomes] == [(1, "0.0"), (0, "0.03")]


def test_astream_yields_as_they_settle() -> None:
    async def main() -> list[tuple[int, float]]:
        backend = Scripted(latency=float, free=True)
        return [
            (outcome.index, virtual_now())
            async for outcome in batchwork.astream(["3", "1", "2"], model="mock:echo", backend=backend)
        ]

    assert run_virtual(main()) == [(1, 1.0), (2, 2.0), (0, 3.0)]


def test_a_slow_consumer_holds_the_run_back() -> None:
    async def main() -> int:
        backend, most = Scripted(free=True), 0
        prompts = map(str, range(5000))
        taken = 0
        async for _ in batchwork.astream(prompts, model="mock:echo", backend=backend, max_in_flight=10):
            taken += 1
            if taken % 500 == 1:
                await asyncio.sleep(100)
                most = max(most, len(backend.asked) - taken)
        assert taken == 5000
        return most

    assert run_virtual(main()) <= 1100


def test_an_abandoned_astream_ends_cleanly() -> None:
    async def main() -> tuple[int, int]:
        backend = Scripted(latency=1.0, free=True)
        stream = batchwork.astream(map(str, range(1000)), model="mock:echo", backend=backend, max_in_flight=5)
        async for _ in stream:
            break
        await stream.aclose()  # type: ignore[attr-defined]
        return len(backend.asked), backend.in_flight

    asked, in_flight = run_virtual(main())
    assert asked <= 10
    assert in_flight == 0


def test_an_abandoned_stream_ends_cleanly_and_keeps_what_it_had(tmp_path: Path) -> None:
    stream = batchwork.stream(map(str, range(1000)), model="mock:echo", journal=tmp_path / "j.db", max_in_flight=5)
    first = next(stream)
    stream.close()  # type: ignore[attr-defined]
    asked: list[int] = []
    batchwork.run(
        map(str, range(1000)),
        model="mock:echo",
        journal=tmp_path / "j.db",
        on_event=lambda event: asked.append(event.outcome.index) if isinstance(event, Settled) else None,
    )
    assert first.index not in asked
    assert 0 < len(asked) < 1000


def test_a_cancelled_arun_lets_calls_in_flight_finish_and_keeps_them(tmp_path: Path) -> None:
    backend = Scripted(latency=10.0, free=True)

    async def main() -> None:
        async with asyncio.timeout(15):
            await batchwork.arun(
                map(str, range(100)), model="mock:echo", backend=backend, journal=tmp_path / "j.db", max_in_flight=5
            )

    with pytest.raises(TimeoutError):
        run_virtual(main())
    assert len(backend.asked) == 10
    again = Scripted(free=True)
    run_all(map(str, range(100)), backend=again, journal=tmp_path / "j.db")
    assert len(again.asked) == 90


def test_traits_and_prompts_of_the_scripted_backend_are_what_the_tests_think() -> None:
    assert Scripted(free=True).traits == Traits(name="scripted", free=True)
    assert prompt_of(Request.ask("x")) == "x"


def test_one_request_may_have_a_schema_of_its_own() -> None:
    schema = {"type": "object", "properties": {"river": {"type": "string"}}, "required": ["river"]}
    asked = Request.ask("river: Rhine\n\nWhat is the river?", schema=schema)
    typed, plain = batchwork.run([asked, "river: Rhine\n\nWhat is the river?"], model="mock:reader")
    assert typed.value == {"river": "Rhine"}
    assert plain.value is None


@pytest.mark.parametrize("retry_in_place", [False, True])
def test_a_place_is_filled_again_the_moment_it_is_free(retry_in_place: bool) -> None:
    # One call of nine seconds beside nine of one second each: no place is ever empty.
    uneven = Scripted(latency=lambda prompt: 9.0 if prompt == "p0" else 1.0)
    run_all([f"p{i}" for i in range(10)], backend=uneven, max_in_flight=2, retry_in_place=retry_in_place)
    assert uneven.starts == pytest.approx([0, *range(9)], abs=0.01)
