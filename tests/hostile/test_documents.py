"""Documents of strangers: each is read or fails by name within its limits, and the others go on."""

from __future__ import annotations

import codecs
import encodings.aliases
import os
import random
import socket
import stat
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager
from batchwork.documents import Document, DocumentError, DocumentLimits, read_document
from tests.support.hostile_documents import (
    FILLING,
    HTML,
    LARGE_NUMBER,
    damaged_member,
    docx,
    docx_in,
    far_apart,
    flate_bomb,
    lattice,
    overlapping,
    scattered,
    wrong_member,
)

ITEM = "that item fails with the cause, the others go on"
SOON_S = 5.0  # of computing time, for what takes a fraction of it


def read_or_refused(data: bytes | Path, **limits: Any) -> Document | DocumentError:
    try:
        return read_document(data, limits=DocumentLimits(**limits))
    except DocumentError as error:
        return error


def run_beside_good_ones(files: list[Any], **options: Any) -> list[Any]:
    """Through a manager, between files that are good; what became of the bad ones."""
    mixed = [b"first", *(one for file in files for one in (file, b"good")), b"<html><p>last</p></html>"]
    manager = BatchManager(files=mixed, prompt="Say it.", model="mock:echo", mode="live", **options)
    results = list(manager.run())
    good, bad = [results[0], *results[2:-1:2], results[-1]], results[1:-1:2]
    assert [result.status for result in good] == ["succeeded"] * len(good)
    return bad


@pytest.mark.attack("documents", "DOCX whose XML names an odd encoding (shift_jis, rot13, every codec there is)", ITEM)
def test_an_odd_encoding_is_that_items_error() -> None:
    failed = run_beside_good_ones([docx_in("shift_jis"), docx_in("rot13"), docx_in("x" * 5_000), docx_in("idna")])
    for result in failed:
        assert result.status == "failed"
        assert "is damaged: its XML is in" in str(result.error)
    for codec in sorted({*encodings.aliases.aliases.values(), "utf-8", "UTF-16", "latin-1", "nope", "undefined"}):
        assert isinstance(read_or_refused(docx_in(codec)), Document | DocumentError), codec


def test_encodings_that_word_processors_write_are_read() -> None:
    for codec in ("UTF-8", "utf-8", "US-ASCII", "ISO-8859-1", "windows-1252"):
        document = read_document(docx_in(codec))
        assert document.text.startswith("Plain text")
    wide = docx(head="<?xml version='1.0' encoding='UTF-16'?>", encoding="utf-16")
    assert read_document(wide).text.startswith("Plain text")
    assert codecs.lookup("shift_jis").name == "shift_jis"  # it exists, and is refused all the same


@pytest.mark.attack(
    "documents", "DOCX with corrupt or mislabelled members (stored, Deflate, BZIP2, LZMA, unknown)", ITEM
)
def test_corrupt_members_of_every_method_are_that_items_error() -> None:
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    for method in methods:
        assert read_document(docx(method=method)).text.startswith("Plain text")
        for seed in range(8):
            assert isinstance(read_or_refused(damaged_member(method, seed)), DocumentError)
        whole = docx(method=method)
        for end in range(4, len(whole), 37):
            assert isinstance(read_or_refused(whole[:end]), DocumentError)
    for method in (1, 6, 8, 9, 12, 14, 93, 95, 97, 99, 0xFFFF):
        assert isinstance(read_or_refused(wrong_member(method)), DocumentError)
    failed = run_beside_good_ones([damaged_member(zipfile.ZIP_BZIP2, 1), damaged_member(zipfile.ZIP_LZMA, 1)])
    assert all("is damaged" in str(result.error) for result in failed)


@pytest.mark.attack(
    "documents", "DOCX and HTML with numbers of 5,000 digits in attributes and references", "they are read"
)
def test_absurd_numbers_are_read_as_none() -> None:
    cells = "<w:tr>" + "<w:tc><w:tcPr><w:gridSpan w:val='{}'/></w:tcPr>{}</w:tc>" * 2 + "</w:tr>"
    table = f"<w:tbl>{cells}</w:tbl>".format(*(2 * [LARGE_NUMBER, FILLING[: FILLING.index("</w:p>") + 6]]))
    page = f"<html><table><tr><td colspan={LARGE_NUMBER}>a<td rowspan=-1>b<td colspan=1e9>c&#{LARGE_NUMBER};&#xD800;"
    read = run_beside_good_ones([docx(table), page.encode()])
    assert [result.status for result in read] == ["succeeded", "succeeded"]
    assert read[0].document.text == "Plain text that goes on.\tPlain text that goes on."
    assert read[1].document.text == "a\tb\tc\ufffd\ufffd"


@pytest.mark.attack(
    "documents", "a file whose name is not UTF-8, or holds line ends and controls", "it is read, its name shown escaped"
)
def test_a_name_that_is_not_text_is_shown_escaped(tmp_path: Path) -> None:
    names = [os.fsdecode(b"caf\xe9-\xff.txt"), "new\nline \x1b[31m.txt", "surrogate.txt"]
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_text("City: Oslo")
    state = tmp_path / "state.json"
    results = run_beside_good_ones([*paths, os.fsencode(paths[0]).decode("utf-8", "surrogateescape")], state_path=state)
    assert [result.status for result in results] == ["succeeded"] * 4
    assert r"caf\udce9-\udcff.txt" in state.read_text(encoding="utf-8").replace("\\\\", "\\")
    paths[0].write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(DocumentError, match="is damaged") as refused:
        read_document(paths[0])
    assert str(refused.value).encode()  # it can be written down
    assert read_document(paths[1]).name == str(paths[1])


@pytest.mark.attack(
    "documents",
    "a device, a FIFO, a socket, a folder or a loop of links in place of a file",
    "refused by its kind, not opened",
)
def test_what_is_no_file_is_refused_by_its_kind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "link").symlink_to("/dev/zero")
    server = socket.socket(socket.AF_UNIX)
    folder = Path(os.path.relpath(tmp_path))  # the path of a socket is short
    try:
        server.bind(str(folder / "socket") if len(str(folder)) < 80 else str(tmp_path / "socket"))
        for path, what in {
            Path("/dev/zero"): "a device",
            tmp_path / "link": "a device",
            tmp_path / "pipe": "a pipe",
            tmp_path / "socket": "a socket",
            tmp_path: "a folder",
            tmp_path / "loop": "symbolic links",
            tmp_path / ("x" * 5_000): "name too long",
            Path("/proc/self/mem"): "cannot be read",
            tmp_path / "a\0b": "null",
        }.items():
            with pytest.raises(
                DocumentError, match=rf"cannot be read.*(?i:{what})" if what != "cannot be read" else what
            ):
                read_document(path)
    finally:
        server.close()


@pytest.mark.attack(
    "documents", "a file that becomes a FIFO, vanishes, may not be read or is too long a name before its turn", ITEM
)
def test_a_file_that_changes_its_kind_before_its_turn_is_that_items_error(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("pipe", "gone", "folder", "closed")]
    for path in paths:
        path.write_text("there when the manager looks")
    mixed = [b"first", *paths, Path("x" * 5_000), b"last"]
    manager = BatchManager(files=mixed, prompt="Say it.", model="mock:echo", mode="live")
    for path in paths[:3]:
        path.unlink()
    os.mkfifo(paths[0])
    paths[2].mkdir()
    paths[3].chmod(0)
    results = list(manager.run())
    may_read = os.geteuid() == 0
    assert [result.status for result in results] == [
        "succeeded", "failed", "failed", "failed", "succeeded" if may_read else "failed", "failed", "succeeded",
    ]  # fmt: skip
    causes = ("a pipe", "No such file", "a folder")
    assert all(cause in str(result.error) for cause, result in zip(causes, results[1:4], strict=True))
    assert stat.S_IMODE(paths[3].stat().st_mode) == 0


@pytest.mark.attack("documents", "a file that grows without end while it is read", "left at max_bytes")
def test_a_file_that_grows_while_it_is_read_is_left_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"x" * 900_000)
    done = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            while not done.is_set():
                file.write(b"x" * 100_000)
                file.flush()

    writer = threading.Thread(target=grow)
    with path.open("rb"):
        writer.start()
        try:
            for _ in range(50):
                outcome = read_or_refused(path, max_bytes=1_000_000)
                if isinstance(outcome, DocumentError):
                    break
        finally:
            done.set()
            writer.join()
    assert "more than 1000000; raise max_bytes" in str(outcome)


@pytest.mark.attack(
    "documents",
    "PDF of 2 kB that unpacks to a gigabyte; DOCX and overlapping archives that do",
    "its reader is ended at max_memory_mb, or it is refused by its density",
)
def test_bombs_are_ended_at_their_limit_and_the_others_go_on() -> None:
    bomb = flate_bomb(100_000_000)
    assert len(bomb) < 5_000
    failed = run_beside_good_ones([bomb, overlapping(), docx(" " * 10_000_000)], max_memory_mb=100)
    assert "takes more than 100 MB of memory to read; raise max_memory_mb" in str(failed[0].error)
    assert "is damaged" in str(failed[1].error)  # the directory and the members do not agree
    assert "no honest document" in str(failed[2].error)
    own = read_memory_mb()
    assert isinstance(read_or_refused(bomb, max_memory_mb=100), DocumentError)
    assert read_memory_mb() < own + 50


def read_memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.attack(
    "documents", "a document that takes longer than it may", "its reader is ended at max_cpu_s or max_wall_s"
)
def test_a_document_that_takes_too_long_is_ended_by_name() -> None:
    page = b"<html>" + b"<b>x</b>" * 400_000
    (slow,) = run_beside_good_ones([page], max_cpu_s=0.1)
    assert "takes more than 0.1 s of computing time to read; raise max_cpu_s" in str(slow.error)
    started = time.monotonic()
    outcome = read_or_refused(page, max_wall_s=0.1)
    assert "is not read after 0.1 s; raise max_wall_s" in str(outcome)
    assert time.monotonic() - started < 30


@pytest.mark.attack(
    "documents",
    "PDF of 65 kB with letters scattered over the page, or in a lattice, or millions of points apart",
    "read, in work that grows with the page",
)
@pytest.mark.parametrize("data", [scattered(1_500), lattice(150, 20), far_apart()], ids=["scattered", "lattice", "far"])
def test_a_page_of_scattered_letters_is_read_in_time(data: bytes) -> None:
    document = read_document(data, limits=DocumentLimits(max_cpu_s=SOON_S * 2))
    assert len(document.text) < 3_000_000


@pytest.mark.attack(
    "documents",
    "HTML of repeated openings: tags, comments, quotes, titles, scripts, tables that never end",
    "read, in work that grows with the file",
)
@pytest.mark.parametrize("kind", HTML)
def test_markup_without_end_is_read_in_time(kind: str) -> None:
    outcome = read_or_refused(b"<html>" + HTML[kind](100_000).encode(), max_cpu_s=SOON_S)
    assert isinstance(outcome, Document) or "is empty" in str(outcome) or "max_characters" in str(outcome)


@pytest.mark.attack(
    "documents", "Markdown that opens with comments, brackets, blank lines or rules without end", "read at once"
)
@pytest.mark.parametrize(
    "start",
    ["<!-- a -->\n" * 400, "<!--" * 2_000, "[" * 20_000, "\n" * 20_000 + "x", "|" + "-" * 20_000, "**a " * 5_000],
)
def test_markdown_is_recognised_in_time(start: str) -> None:
    before = time.process_time()
    read_document((start + "\n# Title\n\n- [x] done\n").encode())
    assert time.process_time() - before < 1.0


@pytest.mark.attack(
    "documents",
    "DOCX with deep nesting, entities, a document type; text with NULs and half characters",
    "read or refused in words",
)
def test_odd_content_is_read_or_refused() -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 20_000
    for data in (
        docx(deep + FILLING + "</w:tc></w:tr></w:tbl>" * 20_000),
        docx(deep),
        docx(head="<!DOCTYPE a [<!ENTITY a 'b'><!ENTITY c '&a;&a;'>]>"),
        docx("&#0;"),
        docx("<w:t>&#xD800;</w:t>"),
        docx("<w:p xmlns:w='other'/>" * 10),
        b"a\0b" * 50 + b"text " * 5_000,
        "half \ud800 character".encode("utf-8", "surrogatepass"),
        "half \ud800 character".encode("utf-16", "surrogatepass"),
        codecs.BOM_UTF32_LE + b"\xff" * 40,
    ):
        outcome = read_or_refused(data, max_cpu_s=SOON_S)
        assert isinstance(outcome, DocumentError) or outcome.text.encode()


@pytest.mark.attack(
    "documents",
    "mutated files of every kind, a few hundred (make fuzz: an hour of them)",
    "each is read or fails by name",
)
def test_whatever_a_file_holds_it_is_read_or_refused() -> None:
    dice = random.Random(13)
    sources: list[Callable[[], bytes]] = [
        docx,
        lambda: scattered(20),
        lambda: b"<html><p>a</p><table><tr><td>b",
    ]
    for _ in range(150):
        data = bytearray(dice.choice(sources)())
        for _ in range(dice.randint(1, 30)):
            place = dice.randrange(len(data))
            data[place : place + dice.randint(0, 4)] = dice.randbytes(dice.randint(0, 4))
        assert isinstance(read_or_refused(bytes(data), max_cpu_s=SOON_S), Document | DocumentError)


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [600, 1_000, 2_000])
def test_bombs_of_any_size_are_ended_at_the_default_limit(megabytes: int) -> None:
    started = time.monotonic()
    outcome = read_or_refused(flate_bomb(megabytes * 1_000_000))
    assert "max_memory_mb" in str(outcome)
    assert time.monotonic() - started < 60
    assert read_document(b"<html><p>hello</p></html>").text == "hello"


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [scattered(12_000), lattice(300, 60), lattice(60, 300)], ids=["scattered", "tall", "wide"]
)
def test_large_pages_of_scattered_letters_are_read_within_the_limits(data: bytes) -> None:
    assert read_document(data, limits=DocumentLimits(max_cpu_s=20)).text
