import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import batchwork
from batchwork import BatchManager
from batchwork.notebook import NotebookBar


class Cell:
    """The output of a notebook's cell, as far as a bar writes into it."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> "Cell":
        assert raw
        assert display_id
        return self.update(data, raw=raw)

    def update(self, data: dict[str, str], *, raw: bool) -> "Cell":
        self.shown.append(data)
        return self


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    cell = Cell()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", cell)  # type: ignore[arg-type]
    return cell


def test_a_run_in_a_notebook_has_a_bar_that_stays_with_how_it_ended(
    cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    batchwork.run(["a", "b"], model="mock:echo")
    last = cell.shown[-1]
    assert last["text/html"].startswith('<div><progress value="2" max="2"')
    assert "2/2 (100.0%) done" in last["text/plain"]
    assert "mock backend: no language model is called" in last["text/plain"]
    BatchManager(["a"], model="mock:echo").run()
    assert cell.shown[-1]["text/plain"].endswith("All succeeded.")
    assert capsys.readouterr() == ("", "")


def test_what_a_bar_says_is_text(cell: Cell) -> None:
    NotebookBar().note("<script>alert(1)</script>")
    assert cell.shown[-1]["text/html"] == "<div><pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre></div>"


def test_a_run_that_is_told_to_be_silent_is(cell: Cell) -> None:
    batchwork.run(["a"], model="mock:echo", progress=False)
    BatchManager(["a"], model="mock:echo").run(print_progress=False)
    assert cell.shown == []


CELLS = """
import batchwork
results = batchwork.run([{"city": "<b>Oslo</b>"}], prompt="Where is {city}?", model="mock:echo")
results
---
len(await batchwork.arun(["a", "b"], model="mock:echo"))
---
import os, signal, threading
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
batchwork.run((str(n) for n in range(10**6)), model="mock:echo", journal="j.db", rpm=600)
---
len(batchwork.open_results("j.db")) > 1
---
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
await batchwork.arun((str(n) for n in range(10**6)), model="mock:echo", journal="j.db", rpm=600)
---
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
async for _ in batchwork.astream((str(n) for n in range(10**6)), model="mock:echo", journal="j.db", rpm=600):
    pass
"""


@pytest.mark.real
def test_in_a_real_kernel_the_bar_ends_cleanly_and_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat").v4
    client = pytest.importorskip("nbclient").NotebookClient
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell(one) for one in CELLS.split("---")])
    client(notebook, timeout=60, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}).execute()
    first, second, third, fourth, *awaited = (cell.outputs for cell in notebook.cells)
    assert [one["output_type"] for one in first] == ["display_data", "execute_result"]
    assert "1/1 (100.0%) done" in _html(first[0])
    assert "<td>&lt;b&gt;Oslo&lt;/b&gt;</td>" in _html(first[1])
    assert "2/2 (100.0%) done" in _html(second[0])
    bar, stopped = third
    assert "press Ctrl-C again to leave at once" in _html(bar)
    assert (stopped["ename"], stopped["traceback"]) == ("KeyboardInterrupt", [stopped["evalue"]])
    assert stopped["evalue"].endswith("to go on, make the same call again on the same journal")
    assert fourth[0]["data"]["text/plain"] == "True"
    for outputs in awaited:
        assert (outputs[-1]["ename"], outputs[-1]["traceback"]) == ("CancelledError", [stopped["evalue"]])


def _html(output: Any) -> str:
    text: str = output["data"]["text/html"]
    return text
