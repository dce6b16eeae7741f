"""Sends the row that a test proves along with its report, so that `tests.hostile.table` can say how each ended."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("attack"):
            item.user_properties.append(("attack", list(mark.args)))
