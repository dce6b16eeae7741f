"""Whatever becomes of an input from run to run, every text has its own vector and none is sent again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Traits
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.core.text_pack import PackLimits, PackLoad, parts_of, problem_with, texts_of, tokens_in
from batchwork.embed_run import EmbedRun
from batchwork.embeddings import Embeddings
from batchwork.engine.engine import Supplied
from batchwork.journal import MemoryJournal

BAD = "bad"


class Embedder:
    """Makes a vector of a text's own number; refuses what holds a bad text, whole."""

    traits = Traits(name="numbers", free=True)
    pack_limits = PackLimits(max_texts=5, max_tokens=1000, text_tokens=100)

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()  # texts that were answered

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        await asyncio.sleep(0)
        texts = texts_of(request)
        if any(BAD in text for text in texts):
            kind = FailureKind.BAD_INPUT if len(texts) > 1 else FailureKind.REJECTED
            raise BackendError(Failure(kind=kind, message="refused", status=400))
        self.sent.update(texts)
        vectors = b"".join(vector(text) for text in texts)
        return Reply(text="", usage=Usage(input_tokens=len(texts)), vectors=vectors, dimensions=2)

    async def aclose(self) -> None:
        pass


def vector(text: str) -> bytes:
    return text.encode().ljust(8, b"\0")[:8]


def embedded(texts: Iterable[Any], backend: Embedder, journal: MemoryJournal) -> Embeddings:
    run = EmbedRun(texts, {"model": "numbers", "backend": backend, "max_consecutive_failures": 10_000})
    run._supplied = Supplied(
        **{name: getattr(run._supplied, name) for name in Supplied.__slots__} | {"journal": journal}
    )
    run.session = run._session()
    return asyncio.run(run.execute())


def check(made: Embeddings, texts: list[str]) -> None:
    found = list(made)
    assert [one.index for one in found] == list(range(len(texts)))
    for one, text in zip(found, texts, strict=True):
        assert one.data == (None if BAD in text else vector(text)), (one, text)
    bad = sum(BAD in text for text in texts)
    assert (made.accounting.succeeded, made.accounting.failed) == (len(texts) - bad, bad)


TEXT = st.sampled_from([f"t{i}" for i in range(30)] + [f"{BAD}{i}" for i in range(3)])


@settings(max_examples=20, deadline=None)
@example([["t1", "t2"], [], ["t1", "t2"]], False)  # a pack that is known, although the run before had it not
@example([["t1", "bad1"], [], ["t1", "bad1"]], True)
@given(st.lists(st.lists(TEXT, max_size=40), min_size=1, max_size=4), st.booleans())
def test_no_text_of_the_run_before_is_sent_again(inputs: list[list[str]], is_lazy: bool) -> None:
    backend, journal = Embedder(), MemoryJournal()
    before: set[str] = set()
    for texts in inputs:
        backend.sent.clear()
        check(embedded(iter(texts) if is_lazy else texts, backend, journal), texts)
        assert not backend.sent.keys() & before, "what the input had before is not sent again"
        before = set(texts)


def test_an_input_that_has_not_changed_is_compared_and_not_looked_up() -> None:
    backend, journal = Embedder(), MemoryJournal()
    texts = [f"t{i}" for i in range(23)]
    check(embedded(texts, backend, journal), texts)
    assert set(backend.sent.values()) == {1}
    run = EmbedRun(texts, {"model": "numbers", "backend": backend})
    run._supplied = Supplied(
        **{name: getattr(run._supplied, name) for name in Supplied.__slots__} | {"journal": journal}
    )
    run.session = run._session()
    asyncio.run(run.execute())
    assert run._input is not None
    assert run._input._numbers is None
    assert sum(backend.sent.values()) == 23


@pytest.mark.parametrize(("count", "parts"), [(2, 2), (16, 16), (17, 9), (256, 16), (2048, 16)])
def test_a_pack_falls_into_parts_that_are_all_of_it(count: int, parts: int) -> None:
    texts = [str(i) for i in range(count)]
    found = parts_of(texts)
    assert len(found) == parts
    assert [text for part in found for text in part] == texts


@pytest.mark.parametrize(
    ("dimensions", "most"), [(16, 2048), (384, 2048), (1536, 512), (None, 512), (3072, 256), (10**9, 1)]
)
def test_a_pack_asks_for_no_more_than_three_megabytes_of_vectors(dimensions: int | None, most: int) -> None:
    limits = PackLimits(max_texts=2048, max_tokens=50, text_tokens=20)
    assert limits.with_vectors(dimensions) == PackLimits(max_texts=most, max_tokens=50, text_tokens=20)


def test_a_pack_is_full_by_count_by_tokens_and_by_one_long_text() -> None:
    load = PackLoad(PackLimits(max_texts=3, max_tokens=50, text_tokens=20))
    assert load.takes(1000), "whatever it is, it may be tried alone"
    load.add("a", 20)
    assert load.takes(20)
    assert not load.takes(21), "one that may be too long goes alone"
    load.add("b", 20)
    assert not load.takes(20)
    load.add("c", 1)
    assert not load.takes(1)
    alone = PackLoad(PackLimits(max_texts=3, max_tokens=50, text_tokens=20))
    alone.add("long", 30)
    assert not alone.takes(1)


def test_what_cannot_be_sent_is_named() -> None:
    assert problem_with("é") is None
    assert problem_with("\ud800") == "the text holds half of a surrogate pair, which no provider takes"
    assert tokens_in("é" * 30) > tokens_in("e" * 30)
