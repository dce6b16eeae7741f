"""`batchwork describe`: a column of numbers in words."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytest.importorskip("scipy")


@pytest.fixture
def flow(folder: Path) -> Path:
    path = folder / "flow.csv"
    path.write_text("day,level\n" + "".join(f"2026-01-{d:02d},{10 + d}\n" for d in range(1, 29)))
    return path


def test_the_text_states_count_and_mean(batchwork: Run, flow: Path) -> None:
    done = batchwork("describe", flow.name)
    assert done.returncode == 0, done.stderr
    assert "28" in done.stdout
    assert "mean 24.5" in done.stdout


def test_json_and_a_plot_on_demand(batchwork: Run, flow: Path, folder: Path) -> None:
    done = batchwork("describe", flow.name, "--column", "level", "--json", "--plot", "flow.png")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert (folder / "flow.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("file", "says"), [("nowhere.csv", "nowhere.csv"), ("flow.csv --column x", "level")])
def test_what_cannot_be_described_is_one_clear_line(batchwork: Run, flow: Path, file: str, says: str) -> None:
    done = batchwork("describe", *file.split())
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_every_column_of_numbers_is_described_and_one_is_drawn(batchwork: Run, folder: Path) -> None:
    (folder / "two.csv").write_text(
        "when,load,price\n" + "".join(f"2026-01-{d:02},{d},{3 * d}\n" for d in range(1, 29))
    )
    done = batchwork("describe", "two.csv")
    assert "numeric columns 2, times in when" in done.stdout
    assert "correlations: load and price 1." in done.stdout
    refused = batchwork("describe", "two.csv", "--plot", "two.png")
    assert refused.returncode == 2
    assert "--column load" in refused.stderr
