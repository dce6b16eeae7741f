"""Short ways to run managers and to look at their state files."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from batchwork import BatchManager
from tests.support.batch_provider import BatchProvider
from tests.support.scripted import Scripted


class City(BaseModel):
    city: str


class Town(BaseModel):
    town: str


def prompts(count: int) -> list[str]:
    return [f"p{i}" for i in range(count)]


def options(backend: Any, state: Path | None, **more: Any) -> dict[str, Any]:
    given = {"model": "scripted", "backend": backend, "price": (1, 1), "max_tokens": 10, "poll_interval": 0.01}
    return given | {"state_path": state, "items_per_job": 4} | more


def read_state(path: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(path.read_text())
    return state


def items_in(path: Path) -> list[dict[str, Any]]:
    return [item for job in read_state(path)["jobs"] for item in job["items"]]


def interrupt_when(ready: Any, manager: BatchManager) -> str:
    """Run a manager in this, the main, thread and press Ctrl-C when it is time; what it says."""

    def press() -> None:
        waited = threading.Event()
        while not ready():
            waited.wait(0.01)
        waited.wait(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        manager.run()
    return str(stopped.value)


def scripted(provider: BatchProvider | Scripted, **more: Any) -> dict[str, Any]:
    backend = provider.client() if isinstance(provider, BatchProvider) else provider
    return {"model": "scripted", "backend": backend, "price": (1, 1), "max_tokens": 10, "poll_interval": 0.01} | more


def cities(count: int) -> list[str]:
    return [f"City: Berlin{i}\nWhich city is it?" for i in range(count)]
