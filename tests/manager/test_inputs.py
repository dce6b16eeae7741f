"""Every kind of document on its way through a manager, to a provider on loopback and back with citations."""

from __future__ import annotations

import io
import os
import sys
import threading
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from batchwork import BatchManager, ConfigError, batch
from batchwork.core.event import Event, Settled
from examples.pdf_writer import Page, pdf_bytes


class City(BaseModel):
    city: str


def docx(*paragraphs: str) -> bytes:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {space}><w:body>{body}</w:body></w:document>")
    return packed.getvalue()


def png() -> bytes:
    """One white pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    head = chunk(b"IHDR", (1).to_bytes(4, "big") * 2 + b"\x08\x00\x00\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\x00\xff")) + chunk(b"IEND", b"")


def pdf(*lines: str) -> bytes:
    page = Page()
    for number, line in enumerate(lines):
        page.text(60, 60 + 20 * number, line)
    return pdf_bytes([page])


KINDS = {
    "docx": docx("To whom it may concern", "City: Lyon"),
    "html": b"<html><body><h1>Letter</h1><p>City: Lyon</p></body></html>",
    "markdown": b"# Letter\n\nCity: Lyon\n",
    "pdf": pdf("Letter", "City: Lyon"),
    "text": b"Letter\n\nCity: Lyon\n",
}


def cited(files: list[Any], at_provider: dict[str, Any], **more: Any) -> Any:
    wish = {"files": files, "prompt": "Which city?", "response_model": City, "enable_citations": True}
    return BatchManager(**(wish | at_provider | more)).run()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_typed_and_cited_where_it_says_so(kind: str, at_provider: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "letter.bin"  # the content tells what it is, not the name
    path.write_bytes(KINDS[kind])
    by_path, by_bytes = cited([path, KINDS[kind]], at_provider)
    assert by_path.value == by_bytes.value == City(city="Lyon")
    for result in (by_path, by_bytes):
        (place,) = result.citations["city"]
        assert place["text"] == "Lyon" == result.document.text[place["start"] : place["end"]]
        assert place.get("page") == (1 if kind == "pdf" else None)
        assert result.note is None


def test_an_image_is_sent_as_it_is_and_says_that_it_cannot_be_cited(at_provider: dict[str, Any]) -> None:
    image, letter = cited([png(), KINDS["text"]], at_provider, prompt="City: Oslo. Which city?")
    assert image.value == City(city="Oslo")
    assert image.document.media_type == "image/png"
    assert image.citations == {"city": []}
    assert "no text" in image.note
    assert letter.note is None


def test_a_pdf_goes_as_the_file_when_told_so_and_is_cited_all_the_same(at_provider: dict[str, Any]) -> None:
    (result,) = cited([KINDS["pdf"]], at_provider, pdf="native")
    assert result.value == City(city="Lyon")
    assert [place["text"] for place in result.citations["city"]] == ["Lyon"]


def test_kinds_may_be_mixed_and_a_broken_one_is_its_own_failure(at_provider: dict[str, Any]) -> None:
    files = [KINDS["docx"], KINDS["docx"][:60], KINDS["html"], b"%PDF-1.4 nothing", KINDS["pdf"]]
    results = cited(files, at_provider, items_per_job=2)
    assert [result.status for result in results] == ["succeeded", "failed", "succeeded", "failed", "succeeded"]
    assert "damaged" in results[3].error
    assert results.values() == [City(city="Lyon"), None, City(city="Lyon"), None, City(city="Lyon")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_huge_file_is_refused_by_its_size_without_being_read(tmp_path: Path) -> None:
    huge, small = tmp_path / "huge.txt", tmp_path / "small.txt"
    with huge.open("wb") as file:
        file.truncate(2**40)  # a hole: it takes no room on disk, and none has the memory to read it
    small.write_text("City: Oslo")
    results = batch(files=[huge, small], prompt="Which city?", model="mock:reader").results()
    assert [r.status for r in results] == ["failed", "succeeded"]
    assert f"has {2**40} bytes, more than 100000000; raise max_bytes" in str(results[0].error)


@pytest.mark.parametrize("door", ["batch", "manager"])
def test_limits_of_documents_can_be_lowered_and_raised_at_the_doors(door: str) -> None:
    given: dict[str, Any] = {"files": [b"City: Oslo"], "prompt": "Which city?", "model": "mock:reader"}

    def results(**limits: int) -> Any:
        return batch(**given, **limits).results() if door == "batch" else BatchManager(**given, **limits).run()

    assert "more than 5; raise max_bytes" in str(results(max_bytes=5)[0].error)
    assert "raise max_characters" in str(results(max_characters=5)[0].error)
    assert results(max_bytes=10, max_pages=1)[0].status == "succeeded"
    with pytest.raises(ConfigError, match="max_pages must be a whole number of at least 1"):
        results(max_pages=0)


def test_a_file_that_takes_its_time_holds_up_no_other(tmp_path: Path) -> None:
    (tmp_path / "slow.txt").write_text("the rest")
    first_is_settled = threading.Event()
    run_has_begun = threading.Event()
    waited: list[bool] = []

    class SlowPath:
        def __fspath__(self) -> str:
            if run_has_begun.is_set():
                assert first_is_settled.wait(30)
                waited.append(True)
            return str(tmp_path / "slow.txt")

    def feed(event: Event) -> None:
        run_has_begun.set()
        if isinstance(event, Settled) and event.outcome.index == 0:
            first_is_settled.set()  # its reader waits for this, and nobody may wait for its reader

    files = [b"first", SlowPath(), b"last"]
    manager = BatchManager(files=files, prompt="Say it.", model="mock:echo", mode="live", on_event=feed)
    assert [result.document.text for result in manager.run()] == ["first", "the rest", "last"]
    assert waited


@pytest.mark.parametrize("reopened", [False, True])
def test_a_missing_library_is_one_refusal_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reopened: bool
) -> None:
    text, pdf = tmp_path / "a.txt", tmp_path / "b"
    text.write_text("Length: 3 km"), pdf.write_bytes(b"%PDF-1.4 ...")
    state = tmp_path / "state.json"
    if reopened:
        state.write_text("")
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(ConfigError, match=r"b is a PDF, .*pip install 'batchwork\[documents\]'"):
        BatchManager(files=[text, pdf], prompt="What?", model="mock:echo", state_path=state).run()
    BatchManager(files=[text], prompt="What?", model="mock:echo")
