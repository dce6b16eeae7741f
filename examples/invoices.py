"""Make invoices as PDFs, each with the truth it was made from.

`make_invoices(100)` gives a hundred of them, always the same ones: five layouts, twelve companies, five currencies,
1 to 12 line items. `truth` has the shape of the invoice model of the demo and a few fields more.
"""

import random
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when imported as examples.invoices
from pdf_writer import BOLD, PLAIN, Page, pdf_bytes

_COMPANIES = [
    ("Acme Industrial Supply", "12 Harbour Road", "Bristol BS1 4RN"),
    ("Northwind Traders", "88 Lakeview Drive", "Madison, WI 53703"),
    ("Bluebird Logistics GmbH", "Hafenstrasse 21", "20457 Hamburg"),
    ("Kestrel & Sons", "7 Mill Lane", "Leeds LS1 6AB"),
    ("Initech Software", "4120 Freidrich Lane", "Austin, TX 78744"),
    ("Globex Energy", "1 Turbine Way", "Calgary, AB T2P 1J9"),
    ("Umbra Lighting", "19 Rue des Lampes", "69002 Lyon"),
    ("Pine Street Bakery", "301 Pine Street", "Portland, OR 97204"),
    ("Orchid Medical", "55 Clinic Avenue", "Basel 4051"),
    ("Stellar Print Works", "9 Foundry Court", "Manchester M4 5JD"),
    ("Tamarind Foods", "14 Market Square", "Antwerp 2000"),
    ("Quarry Stone Partners", "230 Granite Road", "Denver, CO 80202"),
]
_THINGS = [
    "Steel bracket 40 mm",
    "Consulting, senior engineer",
    "Annual support plan",
    "LED panel, warm white",
    "Rye flour 25 kg",
    "Courier service, same day",
    "Safety gloves (pair)",
    "Annual licence, 10 seats",
    "Pallet, heat treated",
    "Printed brochure A5",
    "Site survey",
    "Copper cable 3 x 1.5",
    "Filter cartridge",
    "Office chair, grey",
    "Translation, per page",
    "Stainless bolt M8",
    "Workshop, half day",
    "Cold storage, week",
]
_RATES = [Decimal("0.08"), Decimal("0.19"), Decimal("0.20"), Decimal("0.055"), None]
_MONTHS = [date(2026, month, 1).strftime("%B") for month in range(1, 13)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """One generated invoice: the file's name, its bytes, and what it says."""

    name: str
    data: bytes
    truth: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How this company writes amounts and dates."""

    symbol: str
    after: bool
    comma: bool
    date_form: str

    def money(self, amount: Decimal) -> str:
        text = f"{amount:,.2f}"
        if self.comma:
            text = text.translate(str.maketrans(",.", ".,"))
        return f"{text} {self.symbol}" if self.after else f"{self.symbol}{text}"

    def day(self, day: date) -> str:
        return {
            "iso": day.isoformat(),
            "long": f"{day.day} {_MONTHS[day.month - 1]} {day.year}",
            "us": f"{_MONTHS[day.month - 1][:3]} {day.day}, {day.year}",
            "dots": f"{day.day:02d}.{day.month:02d}.{day.year}",
        }[self.date_form]


_STYLES = {
    "USD": _Style(symbol="$", after=False, comma=False, date_form="us"),
    "GBP": _Style(symbol="£", after=False, comma=False, date_form="long"),
    "EUR": _Style(symbol="€", after=True, comma=True, date_form="dots"),
    "CHF": _Style(symbol="CHF", after=True, comma=False, date_form="dots"),
    "CAD": _Style(symbol="CA$", after=False, comma=False, date_form="iso"),
}


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def make_invoice(number: int, seed: int = 0) -> Invoice:
    """The invoice with this number; the same one for the same seed, whatever else is made."""
    dice = random.Random(f"invoice {seed} {number}")
    currency = dice.choice(list(_STYLES))
    seller, buyer = dice.sample(_COMPANIES, 2)
    items = []
    for thing in dice.sample(_THINGS, dice.randint(1, 12)):
        quantity = dice.choice([1, 1, 2, 3, 5, 8, 10, 12, 40])
        price = Decimal(dice.randint(150, 99_999)) / 100
        items.append(
            {"description": thing, "quantity": quantity, "unit_price": price, "total": _cents(price * quantity)}
        )
    subtotal = sum((item["total"] for item in items), Decimal(0))
    rate = dice.choice(_RATES)
    issued = date(2026, 1, 5) + timedelta(days=dice.randrange(280))
    tax = _cents(subtotal * rate) if rate else Decimal("0.00")
    truth: dict[str, Any] = {
        "invoice_number": f"{dice.choice(['INV', 'RE', 'A'])}-{2026}-{1000 + number}",
        "company_name": seller[0],
        "customer_name": buyer[0],
        "invoice_date": issued,
        "due_date": issued + timedelta(days=dice.choice([14, 30, 45])),
        "currency": currency,
        "subtotal": subtotal,
        "tax_rate": rate,
        "tax_amount": tax if rate else None,
        "total_amount": subtotal + tax,
        "items": items,
    }
    layout = _LAYOUTS[number % len(_LAYOUTS)]
    pages = layout(truth, _STYLES[currency], seller, buyer)
    return Invoice(name=f"invoice_{number:03d}.pdf", data=pdf_bytes(pages, title=truth["invoice_number"]), truth=truth)


def make_invoices(count: int = 100, seed: int = 0) -> list[Invoice]:
    """The first `count` invoices, numbered from 1."""
    return [make_invoice(number, seed) for number in range(1, count + 1)]


def write_invoices(folder: Path, count: int = 100, seed: int = 0) -> list[Invoice]:
    """Make them and put the PDFs into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    invoices = make_invoices(count, seed)
    for invoice in invoices:
        (folder / invoice.name).write_bytes(invoice.data)
    return invoices


def _percent(rate: Decimal) -> str:
    return f"{(rate * 100).normalize():f}%"


def _lines(page: Page, x: float, y: float, lines: list[str], *, right: bool = False, size: float = 10) -> float:
    for index, line in enumerate(lines):
        page.text(x, y, line, size=size, right=right, font=BOLD if index == 0 else PLAIN)
        y += size + 4
    return y


def _table(page: Page, y: float, truth: dict[str, Any], style: _Style, heads: list[str]) -> float:
    """Item rows with a heading, amounts flush right; gives the y below."""
    for x, head, right in zip((56, 330, 430, 539), heads, (False, True, True, True), strict=True):
        page.text(x, y, head, font=BOLD, right=right)
    page.rule(56, y + 5, 539, y + 5)
    for item in truth["items"]:
        y += 20
        page.text(56, y, item["description"])
        page.text(330, y, str(item["quantity"]), right=True)
        page.text(430, y, style.money(item["unit_price"]), right=True)
        page.text(539, y, style.money(item["total"]), right=True)
    page.rule(56, y + 7, 539, y + 7)
    return y + 28


def _totals(page: Page, y: float, truth: dict[str, Any], style: _Style, words: list[str]) -> float:
    rows = [(words[0], style.money(truth["subtotal"]))]
    if truth["tax_rate"]:
        rows.append((f"{words[1]} ({_percent(truth['tax_rate'])})", style.money(truth["tax_amount"])))
    rows.append((words[2], style.money(truth["total_amount"])))
    for label, amount in rows:
        page.text(430, y, label, right=True, font=BOLD if label == words[2] else PLAIN)
        page.text(539, y, amount, right=True, font=BOLD if label == words[2] else PLAIN)
        y += 17
    return y


def _classic(truth: dict[str, Any], style: _Style, seller: tuple[str, ...], buyer: tuple[str, ...]) -> list[Page]:
    page = Page()
    _lines(page, 56, 60, list(seller), size=12)
    page.text(539, 60, "INVOICE", size=20, font=BOLD, right=True)
    page.text(56, 130, f"Invoice number: {truth['invoice_number']}")
    page.text(56, 145, f"Invoice date: {style.day(truth['invoice_date'])}")
    page.text(56, 160, f"Due date: {style.day(truth['due_date'])}")
    _lines(page, 330, 130, ["Bill to", *buyer])
    y = _table(page, 230, truth, style, ["Description", "Qty", "Unit price", "Total"])
    y = _totals(page, y, truth, style, ["Subtotal", "Tax", "Total amount"])
    page.text(56, y + 30, f"Please pay by {style.day(truth['due_date'])}. Thank you for your business.", size=9)
    return [page]


def _stacked(truth: dict[str, Any], style: _Style, seller: tuple[str, ...], buyer: tuple[str, ...]) -> list[Page]:
    """Labels stand above their values, in a row across the page."""
    page = Page()
    _lines(page, 539, 60, list(seller), right=True)
    page.text(56, 60, "Invoice", size=24)
    heads = ["Invoice no.", "Date of issue", "Payment due", "Currency"]
    values = [
        truth["invoice_number"],
        style.day(truth["invoice_date"]),
        style.day(truth["due_date"]),
        truth["currency"],
    ]
    for x, head, value in zip((56, 190, 310, 440), heads, values, strict=True):
        page.text(x, 130, head, size=8)
        page.text(x, 144, value, size=10)
    page.text(56, 180, "Customer", size=8)
    _lines(page, 56, 194, list(buyer))
    y = _table(page, 270, truth, style, ["Item", "Quantity", "Price", "Amount"])
    _totals(page, y, truth, style, ["Sub-total", "VAT", "Total due"])
    return [page]


def _two_pages(truth: dict[str, Any], style: _Style, seller: tuple[str, ...], buyer: tuple[str, ...]) -> list[Page]:
    """A cover page with the sums, the items on the second."""
    cover, detail = Page(), Page()
    _lines(cover, 56, 60, ["From", *seller])
    _lines(cover, 330, 60, ["To", *buyer])
    cover.text(56, 150, f"Invoice {truth['invoice_number']} of {style.day(truth['invoice_date'])}", size=14, font=BOLD)
    y = 190.0
    rows = [("Net amount", style.money(truth["subtotal"]))]
    if truth["tax_rate"]:
        rows.append((f"Tax rate {_percent(truth['tax_rate'])}", style.money(truth["tax_amount"])))
    rows += [
        ("Total amount payable", style.money(truth["total_amount"])),
        ("Payable until", style.day(truth["due_date"])),
    ]
    for label, value in rows:
        cover.text(56, y, label)
        cover.text(330, y, value, right=True)
        y += 18
    detail.text(56, 60, f"Invoice {truth['invoice_number']}, details", font=BOLD)
    _table(detail, 100, truth, style, ["Description of goods or service", "Units", "Unit price", "Line total"])
    return [cover, detail]


def _boxed(truth: dict[str, Any], style: _Style, seller: tuple[str, ...], buyer: tuple[str, ...]) -> list[Page]:
    """Everything in label and value cells to the right, the table below."""
    page = Page()
    _lines(page, 56, 60, [seller[0].upper(), *seller[1:]])
    y = 60.0
    for label, value in [
        ("Invoice #", truth["invoice_number"]),
        ("Issued", style.day(truth["invoice_date"])),
        ("Due", style.day(truth["due_date"])),
        ("Customer", buyer[0]),
        ("Amount due", style.money(truth["total_amount"])),
    ]:
        page.text(330, y, label)
        page.text(539, y, value, right=True)
        page.rule(330, y + 4, 539, y + 4, 0.2)
        y += 18
    y = _table(page, 200, truth, style, ["Product", "Qty", "Rate", "Amount"])
    _totals(page, y, truth, style, ["Subtotal", "Sales tax", "Total"])
    return [page]


def _letter(truth: dict[str, Any], style: _Style, seller: tuple[str, ...], buyer: tuple[str, ...]) -> list[Page]:
    """A letter that carries its sums in sentences."""
    page = Page()
    page.text(56, 56, ", ".join(seller), size=8)
    _lines(page, 56, 90, list(buyer))
    page.text(539, 150, style.day(truth["invoice_date"]), right=True)
    page.text(56, 180, f"Invoice number {truth['invoice_number']}", size=13, font=BOLD)
    page.text(56, 204, "We thank you for your order and charge as follows:")
    y = _table(page, 230, truth, style, ["Description", "Quantity", "Unit price", "Total"])
    page.text(56, y, f"The net sum is {style.money(truth['subtotal'])}.")
    if truth["tax_rate"]:
        rate, tax = _percent(truth["tax_rate"]), style.money(truth["tax_amount"])
        page.text(56, y + 15, f"Tax at {rate} comes to {tax}.")
    page.text(56, y + 30, f"The total amount of {style.money(truth['total_amount'])} is payable", font=BOLD)
    page.text(56, y + 45, f"by {style.day(truth['due_date'])} without deduction.", font=BOLD)
    page.text(56, y + 80, seller[0])
    return [page]


_LAYOUTS = [_classic, _stacked, _two_pages, _boxed, _letter]
