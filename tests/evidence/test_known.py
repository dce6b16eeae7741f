"""Documents as they come, one for each way of writing that a finder has failed at."""

from datetime import date
from typing import Any

import pytest

from batchwork.evidence import DEFAULT_LINE, find_evidence

COLUMNS = """SELLER                      BUYER
Foo Trading Ltd             Bar Industries Inc
VAT registered: yes         VAT registered: yes
Country: UK                 Country: US
"""
RECEIPT = """FRESH MART
123 Main St

ORG BANANAS
  1 @ 2.49            2.49
WHOLE MILK 1G
  2 @ 3.99            7.98
SUBTOTAL             10.47
TAX 1                 0.32
TOTAL                10.79
"""
INDENTED = f"{' ' * 55}Payment terms: Payment is due within 30 days of the date of invoice.\n"
PAGES = """Invoice No. 30064443                              Page 1
Widget A           2     10.00
Invoice No. 30064443                              Page 2
Total                    65.00
"""
NOTICE = """8. Termination. Either party may terminate this Agreement on 90 days' prior written notice.
9. Disputes. Claims must be raised within 90 days of the invoice date.
"""
CONTRACT = """MASTER SERVICES AGREEMENT

This Master Services Agreement is entered into as of December 1, 2025 (the "Effective Date"), by and between Acme Corp.,
a Delaware corporation ("Provider"), and Beta LLC, a Texas limited liability company ("Client").

12. Governing Law. This Agreement shall be governed by the laws of the State of New York.
"""
GST = """TOTAL SALES (EXCLUDING GST) :   76.32
TOTAL GST :                      4.58
TOTAL SALES (INCLUSIVE OF GST) : 80.90
CASH :                          100.00
"""
COMMAS = "Field,Value\nInvoice number,INV-77\nTotal amount,1250.50\nDue date,2024-05-01\nCurrency,EUR\n"


@pytest.mark.parametrize(
    ("text", "value", "path", "start"),
    [
        (COLUMNS, {"seller": {"vat_registered": True}, "buyer": {"vat_registered": True}}, "seller.vat_registered", 97),
        (COLUMNS, {"seller": {"vat_registered": True}, "buyer": {"vat_registered": True}}, "buyer.vat_registered", 125),
        (COLUMNS, {"seller": {"name": "Foo Trading Ltd"}, "buyer": {"country": "US"}}, "buyer.country", 166),
        (RECEIPT, {"subtotal": 10.47, "tax": 0.32, "total": 10.79}, "total", RECEIPT.index("10.79")),
        (INDENTED, {"payment_terms_days": 30}, "payment_terms_days", INDENTED.index("30")),
        (PAGES, {"invoice_number": "30064443", "total": 65.0}, "invoice_number", PAGES.index("30064443")),
        (NOTICE, {"termination_notice_days": 90, "claim_days": 90}, "termination_notice_days", NOTICE.index("90")),
        (CONTRACT, {"effective_date": date(2025, 12, 1)}, "effective_date", CONTRACT.index("December")),
        (CONTRACT, {"provider": "Acme Corp.", "client": "Beta LLC"}, "client", CONTRACT.index("Beta")),
        (CONTRACT, {"governing_law": "New York"}, "governing_law", CONTRACT.index("New York")),
        (GST, {"total": 80.9, "tax": 4.58}, "total", GST.index("80.90")),
        (COMMAS, {"total_amount": 1250.5, "currency": "EUR"}, "total_amount", COMMAS.index("1250.50")),
        (COMMAS, {"due_date": date(2024, 5, 1)}, "due_date", COMMAS.index("2024")),
    ],
)  # fmt: skip
def test_what_once_failed_is_cited_at_its_place(text: str, value: Any, path: str, start: int) -> None:
    best = find_evidence(value, text)[path][0]
    assert best.start == start
    assert best.confidence >= DEFAULT_LINE


def test_an_item_of_a_receipt_owns_the_line_below_its_name() -> None:
    items = [
        {"name": "ORG BANANAS", "quantity": 1, "unit_price": 2.49, "total": 2.49},
        {"name": "WHOLE MILK 1G", "quantity": 2, "unit_price": 3.99, "total": 7.98},
    ]
    found = find_evidence({"items": items}, RECEIPT)
    assert found["items[0].unit_price"][0].start == RECEIPT.index("2.49")
    assert found["items[0].total"][0].start == RECEIPT.rindex("2.49")
    assert found["items[1].quantity"][0].start == RECEIPT.index("2 @ 3.99")
    assert found["items[1].total"][0].text == "7.98"


def test_of_a_heading_that_every_page_repeats_the_first_is_cited() -> None:
    found = find_evidence({"invoice_number": "30064443"}, PAGES)["invoice_number"]
    assert [citation.start for citation in found] == [PAGES.index("30064443")]


def test_the_order_of_sets_and_dictionaries_in_memory_changes_nothing() -> None:
    first = find_evidence({"total": 80.9, "tax": 4.58, "change": 4.58}, GST)
    assert first == find_evidence({"total": 80.9, "tax": 4.58, "change": 4.58}, GST)
