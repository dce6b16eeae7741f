"""Read 100 invoice PDFs into typed results with citations, at batch price, and check every field against the truth.

The PDFs are generated (varied layouts, companies, currencies, 1 to 12 line items), the provider is the simulator on
loopback: no key, no network. Its `reader` persona really reads what it is sent; nothing is made up.
Reading PDFs needs `pip install 'batchwork[documents]'`.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, field_validator

from batchwork import BatchManager, BatchResult, ConfigError
from batchwork.simulator import Simulator, SimulatorConfig

sys.path.insert(0, str(Path(__file__).parent))
from invoices import Invoice as Generated
from invoices import make_invoices

COUNT = 100


class InvoiceItem(BaseModel):
    """One line of an invoice."""

    description: str
    quantity: int
    unit_price: float
    total: float


class Invoice(BaseModel):
    """What we want to know about an invoice."""

    invoice_number: str
    company_name: str
    total_amount: float
    items: list[InvoiceItem]
    tax_rate: float | None = None

    @field_validator("tax_rate")
    @classmethod
    def _as_fraction(cls, rate: float | None) -> float | None:
        """A literal reader says 8 where the invoice says 8%."""
        return rate / 100 if rate is not None and rate >= 1 else rate


def main() -> None:
    """Generate, process, show, check."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="batchwork-invoices-") as name:
        folder = Path(name)
        invoices = make_invoices(COUNT)
        for invoice in invoices:
            (folder / invoice.name).write_bytes(invoice.data)
        print(f"{COUNT} invoice PDFs in {folder}\n")
        with Simulator(SimulatorConfig(persona="reader", batch_time_s=2.0)) as provider:
            manager = BatchManager(
                files=[folder / invoice.name for invoice in invoices],
                prompt="Extract invoice data with line items",
                model="claude-haiku-5-5",
                response_model=Invoice,
                enable_citations=True,
                items_per_job=10,  # Process 10 invoices per job
                max_parallel_jobs=3,
                max_cost=5.0,
                state_path=folder / "invoice_processing.json",
                save_results_dir=folder / "invoice_results",
                max_tokens=4096,
                base_url=provider.anthropic_url,
                api_key="not needed by the simulator",
                poll_interval=0.5,
            )
            results = manager.run(print_progress=True)
            billed = provider.log()["total"]
        stats = manager.stats
        print(f"\n{stats.total_items} items = {stats.completed_items} succeeded + {stats.failed_items} failed", end="")
        print(f" + {stats.deferred_items} deferred, in {stats.jobs_completed} jobs")
        print(
            f"cost ${stats.total_cost} of ${stats.max_cost} allowed; the provider billed {billed['billed']} calls,",
            end="",
        )
        print(f" ${billed['nano_dollars'] / 1e9:.6f}")
        if stats.failed_items:
            first = next(result for result in results if result.error is not None)
            sys.exit(f"{stats.failed_items} items failed, the first: {first.error}")
        for place in (0, 1, 2):
            show(results[place])
        right, all_fields, quoted = check(list(results), invoices)
        processed = sorted(path.name for path in (folder / "invoice_results" / "processed").iterdir())
        print(f"\nresults on disk: {len(processed)} processed files, {processed[0]} ...")
        print(
            f"fields right: {right:,} of {all_fields:,} over {COUNT} invoices; cited in the PDF's own words: {quoted:,}"
        )
        print(f"took {time.monotonic() - started:.0f} s")
        results.close()
    if right != all_fields or stats.completed_items != COUNT:
        sys.exit("not everything is right")


def show(result: BatchResult) -> None:
    """One typed result with its citations quoted from the PDF."""
    invoice = result.value
    lines = f"{len(invoice.items)} line item{'s' if len(invoice.items) != 1 else ''}"
    print(f"\n{invoice.invoice_number} · {invoice.company_name} · {lines}")
    paths = ["invoice_number", "company_name", "total_amount", "tax_rate", "items[0].unit_price"]
    for path in paths:
        for place in result.citations.get(path, [])[:1]:
            quote = result.document.text[place["start"] : place["end"]] if result.document else ""
            print(f"  {path:20} page {place['page']}, characters {place['start']}-{place['end']}: {quote!r}")


def check(results: list[BatchResult], invoices: list[Generated]) -> tuple[int, int, int]:
    """How many fields are right, how many there are, and how many of them are cited truly."""
    right = total = quoted = 0
    for result, invoice in zip(results, invoices, strict=True):
        want = _leaves(Invoice.model_validate(invoice.truth).model_dump())
        have = _leaves(result.value.model_dump()) if result.value is not None else {}
        total += len(want)
        for path, value in want.items():
            good = _alike(have.get(path), value)
            right += good
            if not good:
                print(f"{invoice.name} {path}: {have.get(path)!r} instead of {value!r}")
        text = result.document.text if result.document is not None else ""
        for places in result.citations.values():
            quoted += any(text[place["start"] : place["end"]] == place["text"] for place in places)
    return right, total, quoted


def _alike(have: Any, want: Any) -> bool:
    """Equal; the name of a company is printed in capitals by one of the layouts."""
    return have.casefold() == want.casefold() if isinstance(have, str) and isinstance(want, str) else have == want


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {k: v for key, held in value.items() for k, v in _leaves(held, f"{path}.{key}".lstrip(".")).items()}
    if isinstance(value, list):
        return {k: v for i, held in enumerate(value) for k, v in _leaves(held, f"{path}[{i}]").items()}
    return {path: value}


if __name__ == "__main__":
    try:
        main()
    except ConfigError as error:
        sys.exit(f"process_invoices: {error}")
