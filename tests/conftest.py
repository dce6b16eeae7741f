"""What every test has: the support modules, and settings for hypothesis that suit a busy machine."""

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.matrix_report import pytest_terminal_summary  # noqa: F401 - a hook
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.program import Program

_ASKED_FOR = ("slow", "real", "browser", "scale")  # marks of tests that run only where somebody asks for them

settings.register_profile(
    "house",
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is asked for by its mark alone: the full-size cuts, what needs a real model or a browser."""
    if config.option.markexpr:
        return
    left_out = {item for item in items if any(map(item.get_closest_marker, _ASKED_FOR))}
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Spare every later collection of garbage the thousands of tests: those that collect on purpose took 0.2 s each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL, started for the first test that asks for it; without one, the test is skipped."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program `batchwork`, as often as somebody wants it, for the price of importing it once."""
    program = Program(tmp_path_factory.mktemp("program"))
    yield program
    program.close()


@pytest.fixture
def postgres_journal(postgres: PostgresServer) -> Callable[[Path], Any]:
    """Opens a journal in a database; the path stands for the name of the journal."""
    from batchwork.core.dsn import Dsn
    from batchwork.postgres.journal import PostgresJournal

    names: dict[Path, str] = {}
    return lambda path: PostgresJournal(
        Dsn.parse(names.setdefault(path, postgres.journal())), utc=lambda: 1000.0, max_wait_s=20.0
    )
