import asyncio
import sys
import threading

import pytest
import uvloop

import batchwork
from batchwork._bridge import BackgroundLoop, run_sync
from tests.support.fast_time import FastLoop, fast_loops


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
