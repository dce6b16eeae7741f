"""The processes that read documents: how few there are, and how they end."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchwork.core.errors import DocumentError
from batchwork.documents import DocumentLimits, reader_process
from batchwork.documents.frames import Task
from batchwork.documents.pool import ReaderPool
from examples.pdf_writer import Page, pdf_bytes
from tests.documents.processes import ENDLESS, run_script
from tests.support.waiting import becomes_true

PAGE = b"<html><p>hello</p></html>"


@pytest.fixture
def pool() -> Iterator[ReaderPool]:
    made = ReaderPool(most=2)
    yield made
    made.close()


def read(pool: ReaderPool, data: bytes, kind: str = "html", **limits: float) -> str:
    return pool.read(Task(kind=kind, limits=DocumentLimits(**limits), size=len(data)), data)[0]  # type: ignore[arg-type]


COUNT_STARTS = """
    import sys
    started = []
    sys.addaudithook(lambda event, args: started.append(event) if event == "subprocess.Popen" else None)
    from batchwork.documents import read_document
"""


def test_text_markdown_and_images_start_no_process(tmp_path: Path) -> None:
    script = """
    read_document(b"hello"), read_document(b"# a\\n\\n- [x] b"), read_document(b"GIF89a..")
    print(len(started))
    """
    assert run_script(COUNT_STARTS + script, tmp_path).stdout == "0\n"


def test_many_documents_are_read_by_one_process_that_is_gone_afterwards(tmp_path: Path) -> None:
    script = """
    for _ in range(30):
        assert read_document(b"<html><p>hello</p></html>").text == "hello"
    print(len(started))
    """
    done = run_script(COUNT_STARTS + script, tmp_path)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_a_copy_of_this_process_starts_readers_of_its_own(tmp_path: Path) -> None:
    script = """
    import os, warnings
    from batchwork.documents import read_document
    warnings.simplefilter("ignore")  # Python 3.12 and later warn of every fork beside a thread
    page = b"<html><p>hello</p></html>"
    read_document(page)
    child = os.fork()
    for _ in range(20):
        assert read_document(page).text == "hello"
    if child:
        assert os.waitpid(child, 0)[1] == 0
        assert read_document(page).text == "hello"
        print("both")
    """
    done = run_script(script, tmp_path)
    assert (done.stdout, done.stderr) == ("both\n", "")


def test_an_idle_reader_is_ended_and_the_next_document_starts_another() -> None:
    pool = ReaderPool(most=1, idle_s=0.05)
    assert read(pool, PAGE) == "hello"
    (first,) = [reader for reader, _ in pool._idle]
    assert becomes_true(lambda: first._process.returncode is not None)
    assert read(pool, PAGE) == "hello"
    pool.close()


def test_a_reader_that_somebody_kills_is_replaced_without_the_document_failing(pool: ReaderPool) -> None:
    read(pool, PAGE)
    (idle, _) = pool._idle[0]
    idle._process.send_signal(signal.SIGKILL)
    assert read(pool, PAGE) == "hello"  # killed while it waited

    def kill_the_first() -> None:
        assert becomes_true(lambda: bool(pool._busy))
        (busy,) = pool._busy
        os.kill(busy._process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    assert read(pool, b"<html>" + b"<b>x</b>" * 100_000) == "x" * 100_000  # killed while it worked
    killer.join()


def test_threads_share_a_few_readers_and_wait_for_a_free_one(pool: ReaderPool) -> None:
    most_seen: list[int] = []
    texts: list[str] = []

    def work() -> None:
        for number in range(10):
            texts.append(read(pool, b"<html><p>%d</p></html>" % number))
            most_seen.append(len(pool._busy) + len(pool._idle))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts) == sorted(str(number) for number in range(10) for _ in range(6))
    assert max(most_seen) <= 2


def test_a_document_beyond_a_limit_costs_its_reader_and_nothing_else(pool: ReaderPool) -> None:
    for limit in ({"max_cpu_s": 0.2}, {"max_wall_s": 0.2}):
        with pytest.raises(DocumentError, match=f"raise {next(iter(limit))}"):
            read(pool, ENDLESS, **limit)
        assert not pool._busy
        assert read(pool, PAGE) == "hello"


def test_a_reader_that_has_grown_is_not_used_again(
    pool: ReaderPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = str(reader_process._ENTRY)
    (tmp_path / "child.py").write_text(
        f"source = open({entry!r}).read()\n"
        "large = 'import batchwork.documents.child_loop as loop; loop._RETIRED_ABOVE = 1; '\n"
        "source = source.replace('serve(0, sink)', large + 'serve(0, sink)')\n"
        f"exec(compile(source, {entry!r}, 'exec'), {{'__name__': '__main__', '__file__': {entry!r}}})\n"
    )
    monkeypatch.setattr(reader_process, "_ENTRY", tmp_path / "child.py")
    assert read(pool, PAGE) == "hello"
    assert not pool._idle
    monkeypatch.undo()
    assert read(pool, PAGE) == "hello"
    assert len(pool._idle) == 1


def test_an_interrupted_reading_leaves_no_reader_behind(pool: ReaderPool) -> None:
    def interrupt() -> None:
        assert becomes_true(lambda: bool(pool._busy))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        read(pool, ENDLESS)
    assert not pool._busy
    assert not pool._idle


def test_no_interpreter_is_an_error_in_words(pool: ReaderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DocumentError, match="no process starts for it: No such file"):
        read(pool, PAGE)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(DocumentError, match="/bin/false does not start as its reader"):
        read(pool, PAGE)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(DocumentError, match="without an interpreter"):
        read(pool, PAGE)
    monkeypatch.undo()
    assert read(pool, pdf_bytes([Page()]), kind="pdf") == ""
