import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from batchwork.server import logs
from tests.server.house import House, serving


@pytest.fixture(scope="module")
def echo() -> Iterator[House]:
    """A server that echoes at once."""
    with serving() as house:
        yield house


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """Every log line of the server, as the program writes it."""
    seen: list[dict[str, Any]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(json.loads(logs.JsonLines().format(record)))

    handler, logger = Keep(), logging.getLogger("batchwork")
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    yield seen
    logger.removeHandler(handler)
    logger.setLevel(before)
