"""Keys, addresses and prompts: where they must never stand, whatever a server, a user or another process does."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import BatchManager
from batchwork.backends._http import endpoint
from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.core.errors import BatchworkError, ConfigError
from batchwork.core.ledger import Ledger
from batchwork.core.request import Request
from batchwork.journal import DayBook, back_up
from batchwork.options import plan_of
from batchwork.server.config import ServerConfig
from batchwork.server.keys import add_key, new_key
from batchwork.settings import Settings
from tests.server.house import serving
from tests.support.echoing_server import WAYS, echoing
from tests.support.fake_claude import RESULT, Program, until_written

MODEL = "anthropic:claude-haiku-5-5"
KEY = "sk-CANARYKEY-4f2a9c07d1e8"
IN_QUERY = "CANARYQUERY+a/b=5d"
QUERY = "?api-version=2026-11-15&key=CANARYQUERY%2Ba%2Fb%3D5d"
FORMS = ("CANARYKEY", "CANARYQUERY", "CANARYUSER", "CANARYPASS")
STREAMS = ("stdout", "stderr")


def found_in(folder: Path, *texts: str) -> list[str]:
    """Where a canary stands: in which file of a folder, or in which text."""
    held = {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    held |= {f"text {number}": text.encode() for number, text in enumerate(texts)}
    return [f"{form} in {name}" for name, body in held.items() for form in FORMS if form.encode() in body]


def traceback_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def options(url: str, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "base_url": url + QUERY, "api_key": KEY, "retries": 0, "timeout": 10, **more}


@pytest.mark.attack(
    "Secrets",
    "a server says the request again, with the key and the query of the base URL, in an error, a page, headers, a"
    " redirect, a broken answer or the answer itself",
    "neither stands in the journal, the results, an error, a log or what is printed",
)
@pytest.mark.parametrize("way", [*WAYS, "refused"])
def test_what_a_server_says_again_is_written_nowhere(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    shown = []
    with echoing("answer" if way == "refused" else way) as (address, requests):
        url = "http://127.0.0.1:1" if way == "refused" else address
        try:
            results = batchwork.run(["a", "b"], **options(url, journal=tmp_path / "j.db", progress=True))
            shown += [repr(results), *(f"{r!r} {r.text} {r.error}" for r in results)]
            results.close()
        except BatchworkError as paused:
            shown.append(traceback_of(paused))
        manager = BatchManager(
            messages=["c"],
            **options(url, mode="live", state_path=tmp_path / "s.json", save_results_dir=tmp_path / "results"),
        )
        try:
            shown.append(repr(manager.run(print_progress=True).values()))
        except BatchworkError as paused:
            shown.append(traceback_of(paused))
    assert way == "refused" or any("CANARYQUERY" in head and "CANARYKEY" in head for head in requests)
    assert found_in(tmp_path, *shown, caplog.text, *capfd.readouterr()) == []
    assert (tmp_path / "results" / "raw").is_dir() or way == "refused"


@pytest.mark.attack(
    "Secrets",
    "the same in batch mode, where every call of the batch API fails so",
    "nothing of it is written either",
)
@pytest.mark.parametrize("way", ["error", "page"])
def test_nor_in_batch_mode(way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shown = ""
    with echoing(way) as (url, requests):
        try:
            batchwork.run(["a"], **options(url, mode="batch", journal=tmp_path / "j.db")).close()
        except BatchworkError as paused:
            shown = traceback_of(paused)
    assert requests
    assert found_in(tmp_path, shown, caplog.text) == []


@pytest.mark.attack(
    "Secrets",
    "a run with a key in the query of --base-url is made, shown, and tried again from its journal alone",
    "the query is not kept: `retry` asks for the address again, showing it without the query",
)
def test_the_program_keeps_and_shows_no_query(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"prompt": "a"}\n')
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_API_KEY": KEY, "NO_COLOR": "1"}

    def program(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "batchwork", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    with echoing("error") as (url, _):
        ran = program("run", "in.jsonl", "-o", "out.csv", "--model", MODEL, "--base-url", url + QUERY, "--retries", "0")
        again = program("retry", "out.csv.journal.db")
    assert ran.returncode == 1
    assert again.returncode == 2
    assert f"the base URL of the last run ({url})" in again.stderr
    assert found_in(tmp_path, ran.stdout, ran.stderr, again.stdout, again.stderr) == []


@pytest.mark.attack(
    "Secrets",
    "`batchwork serve` and its pages, logs, metrics and answers, with such an address and such a server behind it",
    "nothing of it reaches a caller or the log",
)
def test_the_service_shows_no_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with (
        echoing("error") as (url, requests),
        serving(None, model=MODEL, base_url=url + QUERY, price="1,1", retries=0) as house,
    ):
        answers = [house.prompt(prompt="x", max_tokens=5), house.prompts(["a"])]
        answers += [house.get(path) for path in ("/health", "/metrics", "/openapi.json", "/docs", "/nowhere")]
    assert requests
    assert found_in(tmp_path, caplog.text, *(f"{a.headers} {a.body!r}" for a in answers)) == []


BAD = [
    "http://CANARYUSER:CANARYPASS@127.0.0.1:1/v1",
    "https://CANARYUSER@127.0.0.1/v1",
    "htps://CANARYUSER:CANARYPASS@host/v1",
    "CANARYUSER:CANARYPASS@host/v1",
    "http://CANARYUSER:CANARY?CANARYPASS@host/v1",
    "http://CANARYUSER:CANARY/CANARYPASS@host/v1",
    "http://CANARYUSER:CANARY#CANARYPASS@host/v1",
    "localhost:8000/v1?key=CANARYQUERY",
    "ftp://host/?key=CANARYQUERY#CANARYPASS",
    "http://[CANARYUSER:CANARYPASS@host/",
    "http:///v1?key=CANARYQUERY",
]


AMBIGUOUS = BAD[4:7]  # a host and, further on, an "@" that may be part of a path, a query or a fragment


@pytest.mark.attack(
    "Secrets",
    "a base URL with a user and password, well-formed or not, or of a wrong kind",
    "refused before anything is sent, where it can be told from a host with an odd path; repeated in no case",
)
@pytest.mark.parametrize("url", [*BAD, b"http://x?key=CANARYQUERY", ["http://x?key=CANARYQUERY"]])
@pytest.mark.parametrize("model", [MODEL, "openai:gpt-6-luna", "claude-code:sonnet"])
def test_a_bad_address_is_not_repeated(
    url: Any, model: str, tmp_path: Path, monkeypatch: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    Program(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    shown, refused = "", False
    try:
        batchwork.run(["a"], model=model, base_url=url, api_key="none", retries=0, journal=tmp_path / "j.db").close()
    except BatchworkError as error:
        shown, refused = traceback_of(error), isinstance(error, ConfigError)
    seen = found_in(tmp_path, shown, *capfd.readouterr())
    assert [where for where in seen if "calls.jsonl" not in where] == []  # there the fake notes its own environment
    assert refused or model == "claude-code:sonnet" or url in AMBIGUOUS


@pytest.mark.attack(
    "Secrets",
    "settings, plans and configurations with keys and addresses are printed by whoever debugs",
    "neither stands in their repr; a benchmark, whose settings are written down, refuses such an address",
)
def test_reprs_show_no_secret() -> None:
    url = "https://host/v1" + QUERY
    environment = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    plan = plan_of({"model": MODEL, "base_url": url, "api_key": KEY})
    held = [Settings.from_environment(environment), plan, ServerConfig(model=MODEL, base_url=url)]
    assert [form for form in FORMS for one in held if form in repr(one)] == []
    assert [form for form in FORMS if form in repr(plan.settings)] == []
    assert endpoint(url, "messages").query["key"] == IN_QUERY, "or nothing would be proved"
    with pytest.raises(ConfigurationError, match="base_url") as refused:
        BenchmarkConfig(base_url=url).check()
    assert "CANARY" not in str(refused.value)


# -- the process list and files of claude-code ------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "program").mkdir()
    return Program(tmp_path / "program")


@pytest.mark.attack(
    "Secrets",
    "somebody else on the machine reads the arguments of the `claude` programs that are started",
    "system prompt, prompt and key do not stand there: a file that its owner alone reads, standard input, the"
    " environment",
)
def test_the_process_list_shows_no_prompt_and_no_key(program: Program, tmp_path: Path) -> None:
    request = Request.ask("CANARYPASS prompt", system="CANARYUSER system")
    program.ask(request, base_url="http://127.0.0.1:1" + QUERY, api_key=KEY)
    call = program.call
    assert [form for form in FORMS if form in " ".join(call["args"])] == []
    assert (call["system"]["text"], call["system"]["mode"]) == ("CANARYUSER system", 0o600)
    assert call["prompt"] == "CANARYPASS prompt"
    assert call["env"]["ANTHROPIC_API_KEY"] == KEY
    assert list((tmp_path / "tmp").iterdir()) == [], "the file and its folder are gone"


@pytest.mark.attack(
    "Secrets",
    "the `claude` program prints the key and the address that it was given",
    "they are hidden before anything is kept of it",
)
@pytest.mark.parametrize("code", [0, 1])
def test_what_the_program_says_again_is_hidden(code: int, program: Program) -> None:
    shown = f"cannot reach http://host/v1{QUERY} with {KEY} or {IN_QUERY}"
    program.prints([{**RESULT, "result": shown, "is_error": bool(code)}], stderr=shown, code=code)
    reply = program.ask(base_url="http://host/v1" + QUERY, api_key=KEY)
    assert [form for form in FORMS if form in repr(reply)] == []
    program.prints("no JSON: " + shown, code=1)
    assert [form for form in FORMS if form in repr(program.ask(base_url="http://h/" + QUERY, api_key=KEY))] == []


@pytest.mark.attack(
    "Secrets",
    "a process is killed with SIGKILL while the `claude` program works for it",
    "the system prompt that it left behind is private, and goes when the next one starts",
)
def test_what_a_killed_process_left_goes_with_the_next(program: Program, tmp_path: Path) -> None:
    program.prints([RESULT], hang=True)
    code = (
        "import sys; from pathlib import Path; from batchwork.core.request import Request\n"
        "from tests.support.fake_claude import Program\n"
        "p = Program(Path(sys.argv[1])); p.prints([], hang=True); p.ask(Request.ask('x', system='CANARYUSER'))"
    )
    environment = {"TMPDIR": str(tmp_path / "tmp"), "PATH": os.environ["PATH"]}
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", code, str(program.folder)]
    process = subprocess.Popen(command, cwd=root, env=environment)
    asyncio.run(until_written(program.folder / "child.pid"))
    process.kill()
    process.wait()
    os.killpg(program.call["pid"], signal.SIGKILL)
    left = [file for file in (tmp_path / "tmp").rglob("*") if file.is_file() and b"CANARYUSER" in file.read_bytes()]
    assert [stat.S_IMODE(path.stat().st_mode) for file in left for path in (file, file.parent)] == [0o600, 0o700]
    program.prints([RESULT])
    program.ask()
    assert list((tmp_path / "tmp").iterdir()) == []


# -- files at rest ---------------------------------------------------------------------------------------------


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    found = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # a file aside that has been renamed meanwhile
            found[path.relative_to(folder).as_posix()] = stat.S_IMODE(path.lstat().st_mode)
    return found


def private(found: dict[str, int], *, but: tuple[str, ...] = ()) -> list[str]:
    return [name for name, mode in found.items() if mode & 0o077 and not name.endswith(but)]


@pytest.mark.attack(
    "Secrets",
    "another user of the machine looks for journals, states, results, keys, budgets and backups, under any umask",
    "files that were made are 0600 and folders 0700, also while a run goes on; OUT is as the umask says",
)
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_what_is_made_is_private(mask: int, tmp_path: Path) -> None:
    seen: dict[str, int] = {}

    def look(event: object) -> None:
        seen.update(modes(tmp_path))

    with umask(mask):
        manager = BatchManager(
            messages=["a", "b"],
            model="mock:echo",
            mode="live",
            state_path=tmp_path / "s.json",
            save_results_dir=tmp_path / "deep" / "results",
            on_event=look,
        )
        manager.run()
        batchwork.run(["a"], model="mock:echo", journal=tmp_path / "j.db", on_event=look).close()
        back_up(tmp_path / "j.db", tmp_path / "copy.db")
        add_key(tmp_path / "keys", new_key())

        async def spend() -> None:
            book = DayBook(tmp_path / "other" / "deep" / "book", ledger=Ledger(ceiling=100), utc=lambda: 0.0)
            book.ledger.reserve(5)
            await book.cover()
            seen.update(modes(tmp_path))
            await book.aclose()

        asyncio.run(spend())
        manager.to_jsonl(tmp_path / "table.jsonl")
        seen.update(modes(tmp_path))
    assert {"j.db", "j.db-wal", "j.db-shm", "j.db.lock", "j.db.mark", "s.json", "s.json.journal", "keys"} <= seen.keys()
    assert {"deep", "deep/results/raw", "copy.db", "copy.db.mark", "other/deep/book", "other/deep"} <= seen.keys()
    assert private(seen, but=("table.jsonl",)) == []
    assert seen["table.jsonl"] == 0o666 & ~mask


@pytest.mark.attack(
    "Secrets",
    "files of the user's that exist already, with other modes, are written again",
    "they keep their mode; the lock, mark and log of a shared journal are shared as it is",
)
def test_what_is_there_keeps_its_mode(tmp_path: Path) -> None:
    seen: dict[str, int] = {}
    shared = {"j.db": 0o660, "s.json": 0o640, "table.jsonl": 0o604, "keys": 0o644}
    settings: dict[str, Any] = {
        "messages": ["a"],
        "model": "mock:echo",
        "mode": "live",
        "state_path": tmp_path / "s.json",
    }
    batchwork.run(["a"], model="mock:echo", journal=tmp_path / "j.db").close()
    manager = BatchManager(**settings)
    manager.run()
    manager.to_jsonl(tmp_path / "table.jsonl")
    add_key(tmp_path / "keys", new_key())
    for name, mode in shared.items():
        (tmp_path / name).chmod(mode)
    for part in ("-wal", "-shm"):
        (tmp_path / f"j.db{part}").unlink(missing_ok=True)
    with umask(0o077):
        again = batchwork.run(
            ["a", "b"], model="mock:echo", journal=tmp_path / "j.db", on_event=lambda e: seen.update(modes(tmp_path))
        )
        again.close()
        manager = BatchManager(**settings)
        manager.run()
        manager.to_jsonl(tmp_path / "table.jsonl")
        add_key(tmp_path / "keys", new_key())
    assert {name: modes(tmp_path)[name] for name in shared} == shared
    assert {seen[f"j.db{part}"] for part in ("-wal", "-shm", ".lock", ".mark")} == {0o660}
