"""Every misbehaviour of a provider, at the services that differ from OpenAI on its wire: live and in batches.

The whole is `make torture-wires`'s; a cut of it always runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from batchwork.core.providers import providers
from tests.support.misbehaving import Trial
from tests.torture.misbehaviours import ANSWERED, COVERS, EQUAL, ROWS

SERVICES = ("azure", "azure-classic", "groq", "openrouter", "together")
MARKS = (EQUAL, COVERS, ANSWERED, "refused", "paused")
# What is about OpenAI's own lanes and caches, and about a stranger's batch, which is made at OpenAI's own paths.
_OPENAIS = ("service_tier", "default tier", "the cache", "stranger", "somebody")
CELLS = [
    (row.name, service, mode)
    for row in ROWS
    for service in SERVICES
    for mode in ("live", "batch")
    if not isinstance(cell := row.cell("openai", mode), str)
    and not cell.stranger
    and not any(words in row.name for words in _OPENAIS)
    and not (service == "together" and "counts are low" in row.name)  # its batches have no counts
    and not (service == "openrouter" and any(words in row.name for words in ("upload", "download", "results")))
    and (mode == "live" or providers()[service].batch is not None)
]
BY_NAME = {row.name: row for row in ROWS}
SMOKE = [
    ("creates the batch, or answers the call, but: 503_after", "together", "batch"),
    ("creates the batch, or answers the call, but: reset_after", "azure-classic", "batch"),
    ("creates the batch, or answers the call, but: 504_after", "groq", "live"),
    ("refuses the upload with 413", "together", "batch"),
    ("one result line for good: missing", "groq", "batch"),
    ("one request never ran: expired", "azure", "batch"),
    ("creates the batch, or answers the call, but: reset_after", "openrouter", "batch"),
]


@pytest.mark.parametrize("cell", SMOKE, ids="-".join)
def test_a_misbehaviour_of_a_service_costs_nothing_twice(cell: tuple[str, str, str], tmp_path: Path) -> None:
    assert cell in CELLS
    assert _mark_of(cell, tmp_path) in MARKS


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_misbehaviour_of_a_service_costs_nothing_twice(cell: tuple[str, str, str], tmp_path: Path) -> None:
    assert _mark_of(cell, tmp_path) in MARKS


def _mark_of(cell: tuple[str, str, str], folder: Path) -> str:
    """How the cell ended; what it costs is judged on the way."""
    name, service, mode = cell
    todo = BY_NAME[name].cell("openai", mode)
    assert not isinstance(todo, str)
    return Trial(todo, service, mode, folder).run()
