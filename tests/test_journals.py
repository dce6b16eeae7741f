"""A database is taken wherever a journal is: the doors over one real PostgreSQL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError, open_results, run
from batchwork.cli import main
from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalError
from batchwork.journals import named_journal, open_reader, put_aside
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.scripted import Scripted

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run a command in this process: its exit code, and what it printed."""
    before, sys.argv = sys.argv, ["batchwork", *arguments]
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as end:
            main()
    finally:
        sys.argv = before
        signal.signal(signal.SIGTERM, handler)
    said = capsys.readouterr()
    return int(end.value.code or 0), said.out + said.err


def test_a_second_run_on_a_database_sends_nothing_again(postgres: PostgresServer) -> None:
    dsn = postgres.journal()
    backend = Scripted()
    prompts = [f"p{n}" for n in range(40)]
    first = run(prompts, model="scripted", backend=backend, journal=dsn, price=(1, 1), max_cost=1, max_tokens=10)
    sent, before = len(backend.asked), [outcome.text for outcome in first]
    again = run([*prompts, "more"], model="scripted", backend=backend, journal=dsn, price=(1, 1), max_tokens=10)
    assert (sent, len(backend.asked)) == (40, 41)
    assert [outcome.text for outcome in again][:40] == before
    with closing(open_results(dsn)) as results:
        assert len(list(results)) == 41
    with closing(open_reader(named_journal(dsn))) as reader:
        assert reader.writer() is None


def test_the_commands_take_a_database(
    postgres: PostgresServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dsn = postgres.journal()
    Path("in.jsonl").write_text("".join(json.dumps({"text": f"river {n}"}) + "\n" for n in range(5)))
    ask = ("run", "in.jsonl", "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "Say {text}", "-q")
    assert command(capsys, *ask, "--journal", dsn)[0] == 0
    assert len(Path("out.jsonl").read_text().splitlines()) == 5
    monkeypatch.setenv("BATCHWORK_JOURNAL", dsn)
    assert command(capsys, *ask)[0] == 0  # the same journal wrote OUT, so it may be replaced
    code, said = command(capsys, "status")
    assert code == 0
    assert "5 succeeded" in said
    assert dsn.split("?")[1] in said
    assert command(capsys, "results", dsn, "-o", "again.jsonl")[0] == 0
    assert Path("again.jsonl").read_text() == Path("out.jsonl").read_text()
    assert command(capsys, "retry", dsn, "-q")[0] == 0
    code, said = command(capsys, "estimate", "in.jsonl", "--model", "mock:echo", "--prompt", "Say {text}")
    assert (code, "5 done before, 0 to ask" in said) == (0, True)
    for refused in (("recover", dsn), ("backup", dsn, "copy.db")):
        code, said = command(capsys, *refused)
        assert code == 2
        assert "pg_dump" in said
    assert command(capsys, "view", dsn, "--export", "report.html")[0] == 0
    assert "river 3" in Path("report.html").read_text()


def test_a_password_is_not_taken_from_a_command_line_and_shown_nowhere(
    postgres: PostgresServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with_password = postgres.journal().replace("postgres@", "postgres:hush-hush@")
    Path("in.jsonl").write_text('{"text": "a"}\n')
    ask = ("run", "in.jsonl", "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "{text}", "-q")
    code, said = command(capsys, *ask, "--journal", with_password)
    assert (code, "BATCHWORK_JOURNAL" in said) == (2, True)
    monkeypatch.setenv("BATCHWORK_JOURNAL", with_password)
    texts = [said, *(command(capsys, *each)[1] for each in (ask, ("status",), ("recover",), ("retry", "-q")))]
    with closing(open_reader(Dsn.parse(with_password))) as reader:
        texts += [repr(event) for event in reader.events()]
    dump = postgres.execute("SELECT string_agg(application_name || coalesce(query, ''), '') FROM pg_stat_activity")
    assert "hush" not in "".join([*texts, str(dump), repr(Dsn.parse(with_password))])


def test_fresh_sets_the_old_journal_aside_under_another_name(postgres: PostgresServer) -> None:
    dsn = postgres.journal()
    run(["a", "b"], model="mock:echo", journal=dsn)
    run(["c"], model="mock:echo", journal=dsn, fresh=True)
    with closing(open_results(dsn)) as now, closing(open_results(f"{dsn}.old-1")) as before:
        assert (len(list(now)), len(list(before))) == (1, 2)
    assert str(put_aside(named_journal(dsn))).endswith(".old-2")
    with pytest.raises(JournalError, match="no journal"):
        open_results(dsn)


def test_a_manager_goes_on_from_a_database_with_and_without_its_state_file(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres.journal()
    state = tmp_path / "state.json"
    backend = Scripted()
    options: dict[str, Any] = {"model": "scripted", "backend": backend, "price": (1, 1), "max_tokens": 10}
    options |= {"items_per_job": 4, "mode": "live", "messages": [f"p{n}" for n in range(10)]}
    BatchManager(**options, journal=dsn, state_path=state).run()
    assert sum(len(job["items"]) for job in json.loads(state.read_text())["jobs"]) == 10
    again = BatchManager(**options, journal=dsn)  # another machine
    assert again.stats.completed_items == 10
    assert len(list(again.run())) == 10
    assert len(backend.asked) == 10
    with pytest.raises(ConfigError, match="belongs to another run"):
        BatchManager(**{**options, "messages": ["other"]}, journal=dsn).run()
    with pytest.raises(ConfigError, match="state_path"):
        BatchManager(**options, journal=tmp_path / "j.db")


def test_what_a_database_needs_is_not_imported_without_one() -> None:
    code = (
        "import sys, batchwork, batchwork.cli; batchwork.run(['a'], model='mock:echo');"
        "print([name for name in sys.modules if name.startswith(('psycopg', 'batchwork.postgres'))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}
    )
    assert ran.stdout.strip() == "[]"
