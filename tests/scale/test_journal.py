"""The torture of a journal in a file, over a journal in a database: kills, misbehaving providers. A cut always runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchwork.core.dsn import Dsn
from tests.support.killed import ITEMS
from tests.support.misbehaving import Trial
from tests.support.postgres_server import PostgresServer, why_not
from tests.torture.test_kill import LIVE, WHEN, at_instants, kill_and_go_on
from tests.torture.test_misbehaviour import BY_NAME, CELLS, MARKS

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
SMOKE = [
    ("creates the batch, or answers the call, but: 503_after", "anthropic", "batch"),
    ("one result line for good: missing", "anthropic", "batch"),
    ("the results of one batch are gone for good", "openai", "batch"),
    ("huge headers on every answer", "anthropic", "live"),
]


def test_a_run_that_was_killed_is_gone_on_with_in_another_process(postgres: PostgresServer, tmp_path: Path) -> None:
    assert kill_and_go_on(tmp_path, "settled:20:before", Dsn.parse(postgres.journal())) == ITEMS


@pytest.mark.parametrize("cell", SMOKE, ids="-".join)
def test_a_misbehaviour_costs_nothing_twice_in_a_database(
    postgres: PostgresServer, cell: tuple[str, str, str], tmp_path: Path
) -> None:
    name, wire, mode = cell
    todo = BY_NAME[name].cell(wire, mode)
    assert not isinstance(todo, str)
    assert Trial(todo, wire, mode, tmp_path, postgres.journal()).run() in MARKS


@pytest.mark.scale
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("kind", LIVE)
def test_killed_at_every_kind_of_write(postgres: PostgresServer, kind: str, when: str, tmp_path: Path) -> None:
    assert kill_and_go_on(tmp_path, f"{kind}:{when}", Dsn.parse(postgres.journal())) == ITEMS


@pytest.mark.scale
@pytest.mark.parametrize("seed", range(5))
def test_killed_at_random_instants(postgres: PostgresServer, seed: int, tmp_path: Path) -> None:
    assert at_instants(tmp_path, seed, 3, Dsn.parse(postgres.journal()))[0] == ITEMS


@pytest.mark.scale
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell[2] != "attach"], ids=lambda cell: f"{cell[0].name}")
def test_every_misbehaviour_costs_nothing_twice_in_a_database(
    postgres: PostgresServer, cell: Any, tmp_path: Path
) -> None:
    row, wire, mode = cell
    todo = row.cell(wire, mode)
    if isinstance(todo, str):
        pytest.skip(todo)
    assert Trial(todo, wire, mode, tmp_path, postgres.journal()).run() in MARKS
