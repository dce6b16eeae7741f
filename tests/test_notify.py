"""Notices of a run: when they come, what they say, and that they neither fail a run nor tell where they go."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork import BatchManager, ConfigError, FailureKind, RunPaused
from batchwork.notify import NoticeTarget
from tests.support.scripted import Scripted, failure


class Hook:
    """A server on loopback that keeps what is posted to it."""

    def __init__(self, status: int = 204) -> None:
        notices = self.notices = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                notices.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook/s3cret?token=s3cret"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def events(self) -> list[str]:
        return [notice["event"] for notice in self.notices]


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.close()


def test_the_end_of_a_run_is_posted(hook: Hook, tmp_path: Path) -> None:
    batchwork.run(["a", "b"], model="mock:echo", notify=hook.url, journal=tmp_path / "j.db")
    (notice,) = hook.notices
    assert (notice["event"], notice["stopped"], notice["done"]) == ("ended", None, 2)
    assert notice["text"] == "batchwork: the run finished; 2 succeeded, 0 failed, $0.00 (mock:echo)"
    assert notice["journal"] == str(tmp_path / "j.db")
    assert notice["in_this_run"]["succeeded"] == 2


def test_a_pause_is_posted_with_its_reason(hook: Hook) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.AUTH))
    with pytest.raises(RunPaused) as paused:
        batchwork.run(["a"], model="scripted", backend=backend, notify=hook.url)
    (notice,) = hook.notices
    assert (notice["event"], notice["reason"]) == ("paused", str(paused.value))


def test_a_budget_that_is_used_up_is_posted_before_the_end(hook: Hook) -> None:
    options: dict[str, Any] = {"price": (1, 1), "max_cost": 0.00005, "max_tokens": 10, "max_in_flight": 1}
    batchwork.run(["a"] * 50, model="scripted", backend=Scripted(), notify=hook.url, **options)
    assert sorted(hook.events) == ["budget", "ended"]
    notices = {notice["event"]: notice for notice in hook.notices}
    assert (notices["budget"]["percent"], notices["ended"]["stopped"]) == (100, "budget")
    assert notices["budget"]["max_cost_usd"] == 0.00005
    ended = notices["ended"]
    assert ended["succeeded"] + ended["deferred"] == 50
    assert ended["deferred"] > 0
    assert f"; {ended['succeeded']} succeeded, 0 failed, {ended['deferred']} deferred, $" in ended["text"]


def test_a_rerun_counts_what_failed_before_as_failed(hook: Hook, tmp_path: Path) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt != "a" else prompt)
    for _ in range(2):
        batchwork.run(["a", "b", "c"], model="s", backend=backend, notify=hook.url, journal=tmp_path / "j.db")
    assert [(notice["succeeded"], notice["failed"], notice["done"]) for notice in hook.notices] == [(1, 2, 3)] * 2
    assert "; 1 succeeded, 2 failed, " in hook.notices[1]["text"]


def test_half_of_the_budget_is_posted_once_over_all_runs(hook: Hook, tmp_path: Path) -> None:
    # 15 tokens a call at a dollar per million: 110 calls are 1,650 of 3,000 millionths
    options: dict[str, Any] = {"price": (1, 1), "max_cost": 0.003, "max_tokens": 10, "journal": tmp_path / "j.db"}
    for count in (110, 120):
        batchwork.run([str(n) for n in range(count)], model="s", backend=Scripted(), notify=hook.url, **options)
    assert [notice.get("percent") for notice in hook.notices if notice["event"] == "budget"] == [50]


def test_a_command_gets_the_notice_on_its_standard_input_and_its_text_as_argument(tmp_path: Path) -> None:
    out = tmp_path / "notice"
    command = f'cat > {out}.json; printf %s "$1" > {out}.txt; echo on stdout; echo on stderr >&2'
    manager = BatchManager(["a"], model="mock:echo", notify=command, state_path=tmp_path / "s.json")
    manager.run()
    assert json.loads(Path(f"{out}.json").read_text())["text"] == Path(f"{out}.txt").read_text()
    assert "notify" not in (tmp_path / "s.json").read_text()


def test_a_program_by_its_bare_path_gets_the_text_as_its_argument(tmp_path: Path) -> None:
    program = tmp_path / "tell me"
    program.write_text('#!/bin/sh\n{ echo "$1"; cat; } > "$0.txt"\n')
    program.chmod(0o700)
    batchwork.run(["a"], model="mock:echo", notify=str(program))
    text, notice = (tmp_path / "tell me.txt").read_text().split("\n", 1)
    assert text == json.loads(notice)["text"] == "batchwork: the run finished; 1 succeeded, 0 failed, $0.00 (mock:echo)"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("exit 3", "the command of notify: it ended with 3"),
        ("true && s3cret-command", "the command of notify: it ended with 127, so there is no such program"),
        ("http://127.0.0.1:9/s3cret", "127.0.0.1:9: connection refused"),
        ("http://u:s3cret@127.0.0.1:9/", "127.0.0.1:9: connection refused"),
    ],
)
def test_a_notice_that_cannot_be_delivered_is_a_warning_without_its_address(
    target: str, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert batchwork.run(["a"], model="mock:echo", notify=target)[0].text == "a"
    assert caplog.messages == [f"a notice could not be handed to {problem}"]


def test_a_server_that_refuses_a_notice_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    hook = Hook(status=500)
    try:
        batchwork.run(["a"], model="mock:echo", notify=hook.url)
    finally:
        hook.close()
    address = hook.url.split("/")[2]
    assert caplog.messages == [f"a notice could not be handed to {address}: it answered 500"]


def test_a_command_that_does_not_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("batchwork.notify._TIMEOUT_S", 0.2)
    batchwork.run(["a"], model="mock:echo", notify="sleep 60 & sleep 60")
    assert caplog.messages == ["a notice could not be handed to the command of notify: no end within 0.2 seconds"]


def test_the_address_is_written_nowhere(hook: Hook, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    BatchManager(["a"], model="mock:echo", notify=hook.url, state_path=tmp_path / "s.json").run()
    assert hook.events == ["ended"]
    assert not [path.name for path in tmp_path.iterdir() if b"s3cret" in path.read_bytes()]
    assert "s3cret" not in caplog.text + repr(NoticeTarget(hook.url))


@pytest.mark.parametrize("target", ["", "  ", "htps://s3cret.example.org/x", "http:///s3cret", "https://[s3cret", 5])
def test_a_wrong_target_is_refused_without_being_shown(target: Any) -> None:
    with pytest.raises(ConfigError, match="notify") as refused:
        batchwork.run(["a"], model="mock:echo", notify=target)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-program", "is not there, or not in PATH"),
        ('no-such-program -s "$1"', "is not there, or not in PATH"),
        ("./tell", "may not be executed"),
        ('./tell "$1"', "may not be executed"),
        ("./folder", "is a folder"),
        ('mail "me', "no command that a shell could read"),
    ],
)
def test_a_program_that_is_not_there_is_refused_before_the_run(
    command: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tell").write_text("#!/bin/sh")
    Path("folder").mkdir()
    with pytest.raises(ConfigError, match=problem):
        batchwork.run(["a"], model="mock:echo", notify=command)


@pytest.mark.parametrize("command", ['cd / && echo "$1"', "true", 'A=1 no-such-program "$1"', "(no-such-program)", ":"])
def test_what_only_a_shell_can_tell_is_left_to_it(command: str) -> None:
    assert batchwork.run(["a"], model="mock:echo", notify=command).accounting.succeeded == 1
