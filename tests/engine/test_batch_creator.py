"""Creating a batch exactly once, whatever the provider answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.core.errors import BackendError, NotCreatedError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchTag, Candidate, Sighting
from batchwork.core.prompt import intakes
from batchwork.options import defaults_of, plan_of, supplied_of
from batchwork.progress import snapshot
from batchwork.run_session import RunSession
from tests.support.batch_provider import BatchClient, BatchProvider
from tests.support.virtual_time import run_virtual, virtual_now

PROMPTS = [f"p{i}" for i in range(10)]
TOLD: dict[str, Any] = {"model": "scripted", "mode": "batch", "price": (1, 1), "items_per_batch": 5}


def answered(status: int, kind: FailureKind = FailureKind.SERVER) -> BackendError:
    return BackendError(Failure(kind=kind, message=f"status {status}", status=status))


class Creating(BatchClient):
    """Creates, or not, and answers as it is told; the first time only."""

    def __init__(self, provider: BatchProvider, error: BackendError, *, creates: bool) -> None:
        super().__init__(provider)
        self._error: BackendError | None = error
        self._creates = creates
        self.looks: list[BatchTag] = []

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        error, self._error = self._error, None
        if error is None:
            return await super().submit_batch(lines, tag)
        if self._creates:
            await super().submit_batch(lines, tag)
        raise error

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        self.looks.append(tag)
        return await super().find_batch(tag)


class Filing(BatchClient):
    """Makes batches of files, and keeps no name with them: the file alone tells which batch is whose."""

    def __init__(self, provider: BatchProvider, *, uploads_fail: int = 0) -> None:
        super().__init__(provider)
        self.uploads: list[str] = []
        self._uploads_fail = uploads_fail
        self.looks = 0

    async def upload_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        assert tag.file_id is None
        if self._uploads_fail:
            self._uploads_fail -= 1
            raise BackendError(Failure(kind=FailureKind.CONNECTION, message="cut upload", unconfirmed=True))
        self.uploads.append(f"file-{len(self.uploads)}")
        return self.uploads[-1]

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        assert tag.file_id in self.uploads
        return await super().submit_batch(lines, tag)

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        self.looks += 1
        made = self._provider.batches.items()
        return next((name for name, batch in made if batch.tag.file_id == tag.file_id), Sighting.ABSENT)


def run(client: BatchClient, **options: Any) -> batchwork.Results:
    return run_virtual(batchwork.arun(PROMPTS, backend=client, **(TOLD | options)))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (500, FailureKind.SERVER),
        (503, FailureKind.OVERLOADED),
        (529, FailureKind.OVERLOADED),
        (504, FailureKind.TIMEOUT),
        (408, FailureKind.TIMEOUT),
        (409, FailureKind.SERVER),
    ],
)
def test_a_batch_that_was_created_although_the_answer_was_an_error_is_found(status: int, kind: FailureKind) -> None:
    provider = BatchProvider()
    client = Creating(provider, answered(status, kind), creates=True)
    assert run(client).accounting.succeeded == 10
    assert len(provider.batches) == 2
    assert set(provider.billed.values()) == {1}


@pytest.mark.parametrize("status", [429])
def test_a_refusal_that_created_nothing_is_not_searched_for(status: int) -> None:
    provider = BatchProvider()
    client = Creating(provider, answered(status, FailureKind.RATE_LIMITED), creates=False)
    assert run(client).accounting.succeeded == 10
    assert client.looks == []


def test_a_failure_before_the_creation_is_not_searched_for() -> None:
    provider = BatchProvider()
    upload = NotCreatedError(Failure(kind=FailureKind.CONNECTION, message="cut upload", unconfirmed=True))
    client = Creating(provider, upload, creates=False)
    assert run(client).accounting.succeeded == 10
    assert client.looks == []


def test_a_batch_that_was_not_created_is_delayed_by_the_search_alone() -> None:
    provider = BatchProvider(takes_s=1000.0)
    client = Creating(provider, answered(529, FailureKind.OVERLOADED), creates=False)
    submitted: list[float] = []
    inner = client.submit_batch

    async def timed(lines: list[bytes], tag: BatchTag) -> str:
        submitted.append(virtual_now())
        return await inner(lines, tag)

    client.submit_batch = timed  # type: ignore[method-assign]
    assert run(client, adopt_wait=50.0).accounting.succeeded == 10
    first, *_, last = submitted
    assert 50.0 <= last - first <= 50.0 + 5.0, "adopt_wait, one look and a retry's first wait"


def test_the_search_is_told_which_batches_are_others_of_ours() -> None:
    provider = BatchProvider(takes_s=1000.0)
    client = Creating(provider, answered(529, FailureKind.OVERLOADED), creates=False)
    run(client, adopt_wait=20.0)
    assert client.looks[-1].known == {"batch_0"}, "the sibling that was created meanwhile"


def test_an_ended_batch_that_may_be_ours_and_stays_unreadable_is_lost_and_not_paid_for_twice() -> None:
    provider = BatchProvider()

    class Unreadable(Creating):
        async def find_batch(self, tag: BatchTag) -> Any:
            found = await super().find_batch(tag)
            return Candidate(found) if isinstance(found, str) else found

        async def collect_batch(self, batch_id: str) -> Any:
            if batch_id == "batch_0":
                raise answered(404)
            async for told in super().collect_batch(batch_id):
                yield told

    results = run(Unreadable(provider, answered(500), creates=True), results_wait=60.0)
    assert [str(r.error).split(":")[0] for r in results if r.error] == ["result_lost"] * 5
    assert len(provider.batches) == 2, "nothing was created a second time"


def test_waiting_for_a_strangers_batch_is_said_once_and_shown(caplog: pytest.LogCaptureFixture) -> None:
    tallies: list[Any] = []

    class Beside(Creating):
        async def find_batch(self, tag: BatchTag) -> str | Sighting:
            if virtual_now() < 400.0:
                shown.append(snapshot(tallies[0], elapsed_s=1.0, now=0.0, ceiling_nano=None, priced=True).waiting)
                return Sighting.UNDECIDED
            return await super().find_batch(tag)

    shown: list[str | None] = []
    told = TOLD | {"backend": Beside(BatchProvider(), answered(529, FailureKind.OVERLOADED), creates=False)}
    run = RunSession(
        plan_of(told),
        intakes(PROMPTS, defaults_of(told)),
        supplied_of(told),
        on_open=lambda engine: tallies.append(engine.tally),
    )
    assert run_virtual(run.execute()).accounting.succeeded == 10
    said = [record.getMessage() for record in caplog.records if "still running at the provider" in record.getMessage()]
    assert len(said) == 1
    assert shown[0] is None
    assert "still running at the provider" in str(shown[-1])
    assert tallies[0].notice == "", "it is over"


def test_a_file_is_on_disk_before_its_batch_is_made_and_identifies_it(tmp_path: Path) -> None:
    provider = BatchProvider()
    provider.lost_answers = 2
    client = Filing(provider)
    events: list[Any] = []
    assert run(client, journal=tmp_path / "j.db", on_event=events.append).accounting.succeeded == 10
    assert (len(provider.batches), set(provider.billed.values())) == (2, {1})
    assert client.uploads == ["file-0", "file-1"], "one file for a batch, however often it is looked for"
    steps = [type(event).__name__ for event in events if getattr(event, "chunk", None) == 1]
    assert steps == ["BatchIntended", "BatchUploaded", "BatchSubmitted", "BatchClosed"]


def test_an_upload_that_fails_is_tried_again_and_nothing_is_searched_for() -> None:
    provider = BatchProvider()
    client = Filing(provider, uploads_fail=2)
    assert run(client).accounting.succeeded == 10
    assert (len(client.uploads), client.looks) == (2, 0)


def test_a_batch_whose_creation_a_crash_has_cut_off_is_known_by_its_file(tmp_path: Path) -> None:
    provider = BatchProvider()
    client = Filing(provider)

    async def dies() -> None:
        made = client.submit_batch

        async def submit(lines: list[bytes], tag: BatchTag) -> str:
            await made(lines, tag)
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(1)
            raise AssertionError

        client.submit_batch = submit  # type: ignore[method-assign]
        job = asyncio.create_task(batchwork.arun(PROMPTS, backend=client, **TOLD, journal=tmp_path / "j.db"))
        await asyncio.sleep(5)
        job.cancel()
        await asyncio.wait([job])
        del client.submit_batch

    run_virtual(dies())
    made = len(provider.batches)
    assert made == 2
    assert run(client, journal=tmp_path / "j.db").accounting.succeeded == 10
    assert (len(provider.batches), set(provider.billed.values())) == (made, {1})
