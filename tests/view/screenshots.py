"""Makes the pictures of README.md and docs/view.md: `make screenshots`, or `python -m tests.view.screenshots FOLDER`.

What they show is real: a run over rivers and the invoices of the example, both answered by the simulator, with faults.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import batchwork
from batchwork import BatchManager
from batchwork.simulator import Simulator, SimulatorConfig
from batchwork.simulator.config import Latency
from batchwork.simulator.faults import Faults
from examples.invoices import make_invoices
from examples.process_invoices import Invoice
from tests.support.browser import Window, chromium, viewer


def main(folder: Path) -> None:
    """Make all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        place = Path(name)
        os.chdir(place)
        _ask_about_rivers(place / "rivers.db")
        with viewer(place / "rivers.db") as url:
            for scheme in ("light", "dark"):
                _shoot(browser, url, folder / f"view-run-{scheme}.png", scheme)
            _shoot(browser, f"{url}items?status=failed&sort=latency&order=desc", folder / "view-items.png", "light")
            _shoot(browser, url, folder / "view-narrow.png", "dark", width=390)
        state = _read_invoices(place)
        with viewer(state.with_name(f"{state.name}.journal")) as url:
            _shoot(browser, f"{url}items/3/documents/0#mark-2", folder / "view-document.png", "light", height=1000)
            _shoot(browser, f"{url}items/3", folder / "view-item.png", "light")


def _shoot(browser: Any, url: str, path: Path, scheme: str, *, width: int = 1200, height: int = 800) -> None:
    window = Window(browser, scheme=scheme, width=width, height=height)
    window.page.goto(url)
    window.page.wait_for_timeout(2500)
    window.page.evaluate("scrollTo(0, 0)")
    window.page.screenshot(path=path)
    window.close()
    print(path)


def _ask_about_rivers(journal: Path) -> None:
    faults = Faults.parse("500=0.02,529=0.02,refusal=0.01")
    with Simulator(SimulatorConfig(latency=Latency(median_s=0.6, sigma=0.5), rpm=9000, faults=faults)) as provider:
        batchwork.run(
            (
                f"River {i} rises in {'the hills of ' * (i % 23)}Land {i % 97}. Where does it rise?"
                for i in range(3_000)
            ),
            model="anthropic:claude-haiku-5-5",
            journal=journal,
            max_cost=1.0,
            retries=2,
            base_url=provider.anthropic_url,
            api_key="not needed by the simulator",
        ).close()


def _read_invoices(folder: Path) -> Path:
    invoices = make_invoices(12)
    for invoice in invoices:
        (folder / invoice.name).write_bytes(invoice.data)
    with Simulator(SimulatorConfig(persona="reader", batch_time_s=1.0)) as provider:
        BatchManager(
            files=[Path(invoice.name) for invoice in invoices],
            prompt="Extract invoice data with line items",
            model="claude-haiku-5-5",
            response_model=Invoice,
            enable_citations=True,
            items_per_job=5,
            max_cost=5.0,
            state_path=folder / "invoices.json",
            save_results_dir=folder / "results",
            max_tokens=4096,
            base_url=provider.anthropic_url,
            api_key="not needed by the simulator",
            poll_interval=0.5,
        ).run()
    return folder / "invoices.json"


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
