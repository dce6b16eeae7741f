"""A schema is filled field by field from the text, rows included, and nothing is made up."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.literal import fill

DATE = {"type": "string", "format": "date"}
ITEM = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "quantity": {"type": "integer"},
        "unit_price": {"type": "number"},
        "total": {"type": "number"},
    },
    "required": ["description", "quantity", "unit_price", "total"],
}
INVOICE = {
    "type": "object",
    "properties": {
        "invoice_number": {"type": "string"},
        "company_name": {"type": "string"},
        "customer_name": {"type": "string"},
        "invoice_date": DATE,
        "due_date": DATE,
        "currency": {"type": "string"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "subtotal": {"type": "number"},
        "tax_rate": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "tax_amount": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "total_amount": {"type": "number"},
        "po_number": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "$defs": {"Item": ITEM},
}
HEAD = {
    "invoice_number": "INV-001",
    "company_name": "Acme Corp",
    "customer_name": "Widget LLC",
    "invoice_date": "2026-03-04",
    "due_date": "2026-04-03",
}
ROWS = [
    {"description": "Blue widget 3mm", "quantity": 2, "unit_price": 10.0, "total": 20.0},
    {"description": "Consulting hours", "quantity": 12, "unit_price": 150.0, "total": 1800.0},
]
SUMS = {
    "subtotal": 1820.0,
    "tax_rate": 8,
    "tax_amount": 145.6,
    "total_amount": 1965.6,
    "po_number": None,
    "currency": "USD",
}

LAYOUTS = {
    "labels and a table without borders, as a PDF gives it": (
        "Acme Corp\n12 Main Street\nINVOICE\nInvoice Number: INV-001 Date: 2026-03-04\n"
        "Due Date: April 3, 2026\nBill To:\n"
        "Widget LLC\nDescription Qty Unit Price Total\nBlue widget 3mm 2 $10.00 $20.00\n"
        "Consulting hours 12 $150.00 $1,800.00\n"
        "Subtotal: $1,820.00\nTax (8%): $145.60\nTotal: $1,965.60\n"
    ),
    "columns kept apart by gaps": (
        "Acme Corp                         INVOICE\n12 Main Street\n\nInvoice no.      Date         Due date\n"
        "INV-001          04.03.2026   03.04.2026\n\nCustomer\nWidget LLC\n\n"
        "Item                 Qty     Price        Amount\nBlue widget 3mm        2    $10.00        $20.00\n"
        "Consulting hours      12   $150.00     $1,800.00\n\n                       Subtotal     $1,820.00\n"
        "                       VAT (8%)       $145.60\n                      Total due     $1,965.60\n"
    ),
    "Markdown": (
        "# Acme Corp\n\n**Invoice number:** INV-001\n**Invoice date:** March 4, 2026\n**Due date:** April 3, 2026\n"
        "**Customer:** Widget LLC\n\n| Description | Quantity | Unit price | Line total |\n|---|---:|---:|---:|\n"
        "| Blue widget 3mm | 2 | $10.00 | $20.00 |\n| Consulting hours | 12 | $150.00 | $1,800.00 |\n\n"
        "Subtotal: $1,820.00\nSales tax 8%: $145.60\nGrand total: $1,965.60\n"
    ),
    "a list of lines": (
        "Vendor: Acme Corp\nInvoice #: INV-001\nIssued: 4 March 2026\nPay by: 3 April 2026\nBilled to: Widget LLC\n\n"
        "2 x Blue widget 3mm @ $10.00 = $20.00\n12 x Consulting hours @ $150.00 = $1,800.00\n\n"
        "Net: $1,820.00\nTax rate: 8%\nTax amount: $145.60\nAmount due: $1,965.60\n"
    ),
    "every cell on a line of its own": (
        "Acme Corp\nInvoice\nInvoice number\nINV-001\nInvoice date\n4 March 2026\nDue date\n"
        "3 April 2026\nBill to\nWidget LLC\n"
        "Description\nQty\nUnit price\nTotal\nBlue widget 3mm\n2\n$10.00\n$20.00\n"
        "Consulting hours\n12\n$150.00\n$1,800.00\n"
        "Subtotal\n$1,820.00\nTax (8%)\n$145.60\nTotal amount\n$1,965.60\n"
    ),
    "JSON": json.dumps(
        {
            **HEAD,
            "items": ROWS,
            "subtotal": 1820.0,
            "tax_rate": "8%",
            "tax_amount": 145.6,
            "total_amount": 1965.6,
            "currency": "USD",
        },
        indent=1,
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_invoice_is_read_in_every_layout(name):
    text = LAYOUTS[name]
    value, spans = fill(INVOICE, text)
    assert value == {**HEAD, "items": ROWS, **SUMS}
    for places in spans.values():
        assert all(0 <= start < end <= len(text) for start, end in places)
    ((start, end),) = spans["items[1].unit_price"]
    assert "150.0" in text[start:end]
    assert "po_number" not in spans


def test_a_letter_is_read_too():
    text = (
        "Acme Corp, 12 Main Street, Springfield\n\nWidget LLC\n9 Foundry Court\n\n4 March 2026\n\n"
        "Invoice number INV-001\n\n"
        "The net sum is $1,820.00.\nTax at 8% comes to $145.60.\n"
        "The total amount of $1,965.60 is payable\nby 3 April 2026.\n"
    )
    value, _ = fill(INVOICE, text)
    assert value == {**HEAD, **SUMS}


def test_what_is_not_there_is_null_empty_or_left_out_but_never_made_up():
    schema = {
        "type": "object",
        "properties": {
            "total": {"type": "number"},
            "note": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "discount": {"type": ["number", "null"]},
            "color": {"enum": ["red", "blue"]},
        },
        "required": ["total", "note", "tags", "discount", "color"],
    }
    assert fill(schema, "nothing here") == ({"note": "", "tags": [], "discount": None}, {})


def test_types_are_kept():
    schema = {
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "active": {"type": "boolean"},
            "status": {"enum": ["open", "closed", "on_hold"]},
            "created": {"type": "string", "format": "date-time"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "sizes": {"type": "array", "items": {"type": "integer"}},
        },
    }
    text = (
        "Count: 12\nRatio: 0.25\nActive: no\nStatus: On hold\nCreated: 4 May 2026\n"
        "Tags: red, round and new\nSizes: 3, 5, 8"
    )
    value, _ = fill(schema, text)
    assert value == {
        "count": 12,
        "ratio": 0.25,
        "active": False,
        "status": "on_hold",
        "created": "2026-05-04T00:00:00Z",
        "tags": ["red", "round and new"],
        "sizes": [3, 5, 8],
    }


def test_nested_objects_are_found_under_their_own_names():
    person = {"type": "object", "properties": {"name": {"type": "string"}, "address": {"type": "string"}}}
    schema = {"type": "object", "properties": {"customer": person, "vendor": person}}
    text = "Vendor name: Acme\nVendor address: 1 Main St\nCustomer name: Widget\nCustomer address: 9 Side St\n"
    value, spans = fill(schema, text)
    assert value == {
        "customer": {"name": "Widget", "address": "9 Side St"},
        "vendor": {"name": "Acme", "address": "1 Main St"},
    }
    assert set(spans) == {"customer.name", "customer.address", "vendor.name", "vendor.address"}


def test_a_description_helps_where_the_name_says_nothing():
    schema = {"type": "object", "properties": {"x1": {"type": "number", "description": "The net weight, in kg"}}}
    assert fill(schema, "Net weight: 12.5 kg")[0] == {"x1": 12.5}


def test_a_plain_answer_field_means_the_question():
    def answer(kind, question, text):
        schema = {"type": "object", "properties": {"answer": kind}, "required": ["answer"]}
        return fill(schema, text, question=question)[0].get("answer")

    text = "mean 4.9, median 5.1, anomalies: 2: at 50 value 40; at 200 value -20. trend: falling."
    assert answer({"type": "number"}, "What is the mean?", text) == 4.9
    assert answer({"type": "integer"}, "How many anomalies are there?", text) == 2
    assert answer({"type": "boolean"}, "Does the series contain anomalies?", text) is True
    assert answer({"enum": ["increasing", "decreasing", "stable"]}, "What is the trend?", text) == "decreasing"
    assert answer({"type": "array", "items": {"type": "integer"}}, "At which positions are the anomalies?", text) == [
        50,
        200,
    ]
    assert answer({"enum": ["mean", "median"]}, "Which is larger, the mean or the median?", text) == "median"
    assert answer({"type": "number"}, "What is the kurtosis?", text) is None


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=400))
def test_no_text_makes_it_stumble(text):
    value, spans = fill(INVOICE, text)
    assert isinstance(value, dict)
    assert all(0 <= start <= end <= len(text) for places in spans.values() for start, end in places)


PLACES = {
    "type": "object",
    "properties": {"answer": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}},
    "required": ["answer"],
}


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("outliers: 2: at 12 value 9; at 45 value 8", [12, 45]),
        ("There are no outliers.", []),
        ("outliers: none", []),
        ("1.5, 2.5, 9, 4, 3", None),
        ("mean 5, std 2", None),
    ],
)
def test_a_list_is_empty_when_the_text_says_so_and_null_when_it_says_nothing(text, listed):
    assert fill(PLACES, text, question="At which positions are the outliers?")[0] == {"answer": listed}
