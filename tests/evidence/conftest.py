"""What the evidence finder is asked for and does not do yet: every known failure, in one list, `falls_short.txt`.

A test of this list is expected to fail, strictly: one that begins to pass fails the suite until its line is deleted.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = set((HERE / "falls_short.txt").read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.path.parent == HERE and item.nodeid.rpartition("evidence/")[2] in known:
            item.add_marker(pytest.mark.xfail(strict=True, reason="known, see tests/evidence/falls_short.txt"))
