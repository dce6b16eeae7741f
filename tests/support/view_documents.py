"""The journal and the state file of a manager that has read one PDF."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import msgspec

from batchwork.core.outcome import Succeeded
from batchwork.core.reply import Reply
from batchwork.core.request import Attachment, Schema
from batchwork.documents import read_document
from batchwork.manager.state_file import ItemView, JobView, State
from batchwork.schema import quoted_schema
from examples.pdf_writer import Page, pdf_bytes
from tests.support.journals import BEGAN, row, settle, sqlite_journal

LINES = ["Invoice A-17", "Net 40.00", "Tax 40.00", "Total due 80.00", "<script>alert(1)</script>"]
_FIELDS = {"invoice_number": {}, "total_due": {"type": "number"}, "tax": {}}
_SCHEMA = Schema.of({"type": "object", "properties": _FIELDS})


def pdf_of(lines: list[str]) -> bytes:
    """One page with these lines."""
    page = Page()
    for number, line in enumerate(lines):
        page.text(50, 60 + 30 * number, line)
    return pdf_bytes([page])


def document_journal(folder: Path, quotes: list[dict[str, str]] | None = None) -> Path:
    """`state.json`, its journal, and the PDF beside them; the journal. With `quotes` the model was asked for those."""
    data = pdf_of(LINES)
    (folder / "invoice.pdf").write_bytes(data)
    document = read_document(data)
    attachment = Attachment(
        media_type="application/pdf",
        digest=hashlib.sha256(data).digest(),
        text=document.text,
        pages=document.pages,
        title="invoice.pdf",
    )
    journal = sqlite_journal(folder / "state.json.journal")
    journal.begin(BEGAN)
    schema = _SCHEMA if quotes is None else quoted_schema(_SCHEMA)
    item = journal.place(0, row("read it", schema=schema, documents=(attachment,))).item
    value = {"invoice_number": "A-17", "total_due": 80.0, "tax": 40.0}
    said = value if quotes is None else {"answer": value, "quotes": quotes}
    settle(journal, item, Succeeded(index=0, reply=Reply(text=json.dumps(said)), parsed=value, attempts=1))
    journal.close()
    view = ItemView(original_index=0, content="invoice.pdf")
    job = JobView(index=0, items=[view])
    state = State(manager_id="m", created_at="", model="mock:echo", items_per_job=1, jobs=[job])
    (folder / "state.json").write_bytes(msgspec.json.encode(state))
    return folder / "state.json.journal"
