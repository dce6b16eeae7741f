"""Which event loop runs, and an interrupt that ends a script: what the shell and an application that catches it see."""

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import uvloop

import batchwork
from batchwork._bridge import BackgroundLoop, run_sync
from tests.support.fast_time import FastLoop, fast_loops

_SCRIPT = """
import os, signal, sys, threading
import batchwork
from batchwork.core.event import Settled

signal.signal(signal.SIGINT, signal.default_int_handler)

def stop(event):
    if isinstance(event, Settled):
        os.kill(os.getpid(), signal.SIGINT)

given = {"model": "mock:echo?latency=0.05", "on_event": stop, "max_in_flight": 1}
prompts = [str(n) for n in range(50)]

def main():
    if sys.argv[1] == "manager":
        batchwork.BatchManager(messages=prompts, state_path="s.json", **given).run()
    else:
        batchwork.run(prompts, journal="j.db", **given)

if sys.argv[2] == "caught":
    try:
        main()
    except KeyboardInterrupt as stopped:
        print("caught:", stopped)
else:
    main()
"""


@pytest.mark.parametrize(("door", "go_on"), [("manager", "call run() again on s.json"), ("run", "on the same journal")])
def test_ctrl_c_in_a_script_says_how_to_go_on_without_a_traceback(door: str, go_on: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    command = [sys.executable, "script.py", door, "free"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGINT  # which a shell shows as 130
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("stopped: what is finished is kept; to go on, ")
    assert go_on in done.stderr.splitlines()[-1]


def test_an_application_can_still_catch_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_SCRIPT)
    command = [sys.executable, "script.py", "manager", "caught"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("caught: stopped: what is finished is kept")


async def loop_type():
    return type(asyncio.get_running_loop())


def ours():
    return run_sync(loop_type, interrupt=lambda: None)


def test_where_the_loop_is_ours_it_is_uvloops():
    assert ours() is uvloop.Loop
    assert BackgroundLoop(loop_type).result(lambda: None) is uvloop.Loop


def test_a_thread_of_its_own_has_one_as_well():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(ours()))
    thread.start()
    thread.join()
    assert seen == [uvloop.Loop]


def test_the_users_loop_stays_what_it_is_and_ours_beside_it_is_uvloops():
    async def main():
        return await loop_type(), ours()

    users, own = asyncio.run(main())
    assert users is asyncio.SelectorEventLoop
    assert own is uvloop.Loop


def test_without_uvloop_and_under_another_policy_it_is_asyncios(monkeypatch: pytest.MonkeyPatch):
    with fast_loops():
        assert ours() is FastLoop
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert ours() is asyncio.SelectorEventLoop
    assert [result.text for result in batchwork.run(["a"], model="mock:echo")] == ["a"]
