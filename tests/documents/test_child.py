"""The entry of a reader: what it sees, and when it ends."""

import subprocess
import sys
import textwrap
from pathlib import Path

from batchwork.documents.reader_process import ReaderProcess
from batchwork.documents.usage import usage_of
from tests.documents.processes import ENDLESS, readers_of, run_script
from tests.support.waiting import becomes_true


def test_a_reader_sees_neither_environment_nor_working_folder(tmp_path: Path) -> None:
    for name in ("json", "zipfile", "struct", "html", "re", "statistics", "pypdfium2_cfg", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(
            "import sys\nif any('documents/child.py' in word for word in sys.argv + sys.orig_argv):\n"
            f"    open({str(tmp_path / 'taken')!r}, 'a').write({name!r})\n"
            "else:\n    raise ImportError('for the reader alone')\n"
        )
    script = """
    import sys
    sys.path.remove("")
    import os, pathlib
    from batchwork.documents import read_document
    from batchwork.documents.files import _POOL
    sys.path.insert(0, "")
    read_document(b"<html><p>hello</p></html>")
    (reader, _), = _POOL._idle
    of = pathlib.Path(f"/proc/{reader._process.pid}")
    print(of.joinpath("environ").read_bytes(), os.readlink(of / "cwd"))
    """
    environment = {"ANTHROPIC_API_KEY": "secret", "PYTHONSTARTUP": str(tmp_path / "json.py")}
    assert run_script(script, tmp_path, **environment).stdout == "b'' /\n"
    assert not (tmp_path / "taken").exists()


def test_a_reader_imports_the_readers_alone() -> None:
    reader = ReaderProcess()
    try:
        maps = Path(f"/proc/{reader._process.pid}/maps").read_text()
    finally:
        reader.end()
    assert not any(name in maps for name in ("aiohttp", "msgspec", "pydantic", "_sqlite3"))


def test_a_reader_ends_with_whoever_started_it_even_when_busy(tmp_path: Path) -> None:
    script = f"""
    import os, threading, time
    from batchwork.documents import read_document
    data = b"<html>" + b"<b>x</b>" * {len(ENDLESS) // 8}
    threading.Thread(target=read_document, args=(data,), daemon=True).start()
    print(os.getpid(), flush=True)
    time.sleep(60)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        assert becomes_true(lambda: any((usage_of(pid) or 0) for pid in readers_of(parent.pid)))
        (reader,) = readers_of(parent.pid)
        assert becomes_true(lambda: (usage := usage_of(reader)) is not None and usage.cpu_s > 0.2)
    finally:
        parent.kill()
        parent.communicate()
    assert becomes_true(lambda: usage_of(reader) is None)
