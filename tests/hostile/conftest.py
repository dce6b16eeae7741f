"""The journal that a killed run leaves, and the row that a test proves, sent along with its report.

`tests.hostile.table` says by these rows how each attack ended.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.hostile.disk import PARTS, ROOT, program


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("attack"):
            item.user_properties.append(("attack", list(mark.args)))


@pytest.fixture(scope="session")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run leaves that was killed after 30 of its 40 answers."""
    folder = tmp_path_factory.mktemp("left")
    ended = subprocess.run(
        program("tests.support.killed", "j.db", "calls", "settled:30:after"),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    return folder


@pytest.fixture
def killed(left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be maltreated, in the working folder: the model's name, with its log, is the same everywhere."""
    monkeypatch.chdir(tmp_path)
    for part in PARTS:
        shutil.copy2(left / f"j.db{part}", tmp_path / f"j.db{part}")
    shutil.copy2(left / "calls", tmp_path / "calls")
    return tmp_path
