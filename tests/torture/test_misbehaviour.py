"""Every misbehaviour of a provider, on every wire, live, in batches and attached: one outcome each, nothing paid twice.

The whole matrix is `make torture`'s, which prints it; a cut of it always runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fast_time import SPEED
from tests.support.matrix_report import MODES, PROPERTY, WIRES
from tests.support.misbehaving import Trial
from tests.torture.misbehaviours import ANSWERED, COVERS, EQUAL, ROWS, Cell

MARKS = (EQUAL, COVERS, ANSWERED, "refused", "paused")
_OLDEST = ("anthropic", "openai")
CELLS = [(row, wire, mode) for row in ROWS for wire in WIRES for mode in MODES]
BY_NAME = {row.name: row for row in ROWS}
SMOKE = [
    ("creates the batch, or answers the call, but: 503_after", "anthropic", "batch"),
    ("creates the batch, or answers the call, but: 529_after", "openai", "batch"),
    ("creates the batch, or answers the call, but: unreadable_after", "openai", "live"),
    ("creates both batches of equal size: 529_after", "anthropic", "batch"),
    ("huge headers on every answer", "anthropic", "live"),
    ("creates nothing and says 529", "openai", "batch"),
    ("refuses with 422", "anthropic", "batch"),
    ("refuses the upload with 413", "openai", "batch"),
    ("answers one request with null", "anthropic", "batch"),
    ("answers one request with no_usage", "openai", "batch"),
    ("answers one request with zero_usage", "openai", "attach"),
    ("one result line for good: missing", "anthropic", "batch"),
    ("one result line for good: not_json", "openai", "attach"),
    ("one request never ran: expired", "openai", "batch"),
    ("the results of one batch are gone for good", "openai", "batch"),
    ("results: short, once", "anthropic", "attach"),
    ("results: truncated, once", "openai", "attach"),
    ("results: 529, once", "anthropic", "attach"),
    ("poll: counts are low", "anthropic", "batch"),
    ("service_tier: ultrafast", "openai", "live"),
    ("speed: fast", "anthropic", "live"),
    ("creates the batch, or answers the call, but: 503_after", "gemini", "batch"),
    ("the upload fails: 500_after, reset_after, a web page", "gemini", "batch"),
    ("one result line for good: missing", "gemini", "attach"),
    ("serviceTier: priority", "gemini", "live"),
    ("creates the batch, or answers the call, but: 529_after", "mistral", "batch"),
    ("one request never ran: expired", "mistral", "batch"),
    ("creates the batch, or answers the call, but: truncated", "bedrock", "live"),
    ("refuses with quota", "bedrock", "live"),
]


def _named(cell: tuple[object, ...]) -> str:
    return "-".join(str(getattr(part, "name", part)) for part in cell)


@pytest.mark.parametrize("cell", SMOKE, ids=_named)
def test_a_misbehaviour_costs_nothing_twice(cell: tuple[str, str, str], tmp_path: Path) -> None:
    name, wire, mode = cell
    todo = BY_NAME[name].cell(wire, mode)
    assert not isinstance(todo, str)
    assert Trial(todo, wire, mode, tmp_path).run() in MARKS


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [pytest.param(cell, marks=() if cell[1] in _OLDEST else pytest.mark.wires) for cell in CELLS],
    ids=_named,
)
def test_every_misbehaviour_costs_nothing_twice(cell, record_property, tmp_path: Path) -> None:
    row, wire, mode = cell
    todo = row.cell(wire, mode)
    name = (ROWS.index(row), row.name, wire, mode)
    record_property(PROPERTY, (*name, "ran"))
    mark = f"n/a {todo}" if isinstance(todo, str) else Trial(todo, wire, mode, tmp_path).run()
    record_property(PROPERTY, (*name, mark))
    assert mark.startswith("n/a ") or mark in MARKS


def test_the_names_in_the_table_are_all_different_and_every_empty_cell_says_why() -> None:
    assert len(BY_NAME) == len(ROWS)
    for row, wire, mode in CELLS:
        cell = row.cell(wire, mode)
        assert not isinstance(cell, str) or len(cell) > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["529", "500"])
@pytest.mark.parametrize(
    "wire",
    [pytest.param(wire, marks=() if wire in _OLDEST else pytest.mark.wires) for wire in WIRES if wire != "bedrock"],
)
def test_a_failed_create_beside_an_equal_sibling_waits_no_longer_than_adopt_wait(
    wire: str, kind: str, tmp_path: Path
) -> None:
    sibling_s, adopt_wait_s = 5.0, 20.0
    cell = Cell(first={"create": ("ok", kind)}, provider={"batch_time_s": sibling_s}, sent_once=True,
                options={"adopt_wait": adopt_wait_s})  # fmt: skip
    trial = Trial(cell, wire, "batch", tmp_path)
    assert trial.run() == EQUAL
    at = sorted(row["at"] for row in trial.rows)
    one_look_s = 1.5  # and what a busy machine adds
    assert at[-1] - at[0] < adopt_wait_s / SPEED + one_look_s, "our own batches are no candidates"
