from collections.abc import Iterator

import pytest

from tests.server.house import House, serving


@pytest.fixture(scope="module")
def echo() -> Iterator[House]:
    """A server that echoes at once."""
    with serving() as house:
        yield house
