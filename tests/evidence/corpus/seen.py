"""The layouts that may be looked at while the finder is tuned."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_html, as_text, bare
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def aligned(*cells: tuple[int, str]) -> str:
    """A line of cells at columns; a negative column is where the cell ends."""
    line, width = "", 0
    for column, source in cells:
        start = column if column >= 0 else -column - len(bare(source))
        gap = max(start - width, 2 if width else 0)
        line += " " * gap + source
        width += gap + len(bare(source))
    return line


def m(key: str, words: object) -> str:
    return f"⟦{key}|{words}⟧"


def goods(dice: random.Random, count: int) -> list[dict[str, Any]]:
    rows = []
    for thing in dice.sample(pools.GOODS, count):
        price = money(dice, 300, 60_000)
        quantity = dice.choice([1, 2, 3, 4, 6, 12, 25])
        rows.append(
            {"description": thing, "quantity": quantity, "unit_price": price, "amount": cents(price * quantity)}
        )
    return rows


def invoice_text(dice: random.Random, draft: Draft) -> Made:
    """American invoice, aligned columns; month first; subtotal, tax, total; a row's amount equals another row's."""
    rows = goods(dice, dice.randint(3, 6))
    twin = dict(rows[0])
    twin["description"] = "Restocking service"
    twin["quantity"], twin["unit_price"] = 1, rows[0]["amount"]
    rows.append(twin)
    subtotal = sum((row["amount"] for row in rows), Decimal(0))
    rate = dice.choice(["8.25", "6.5", "7"])
    tax = cents(subtotal * Decimal(rate) / 100)
    discount = cents(subtotal / 50)
    total = subtotal + tax - discount
    issued, ordered, shipped = murky_day(dice), clear_day(dice), murky_day(dice)
    due = issued + timedelta(days=30)
    number, order = f"INV-{dice.randint(2000, 2999)}-{dice.randint(100, 999)}", f"PO {dice.randint(10000, 99999)}"
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    lines = [
        aligned((0, m("seller", seller)), (62, "INVOICE")),
        aligned((0, dice.choice(pools.STREETS))),
        "",
        aligned((0, "Invoice number:"), (22, m("number", number)), (48, "Bill to:")),
        aligned((0, "Invoice date:"), (22, m("issued", pools.slash_us(issued))), (48, m("buyer", buyer))),
        aligned(
            (0, "Order date:"),
            (22, m("ordered", pools.slash_us(ordered))),
            (48, "Attn. " + m("contact", dice.choice(pools.PEOPLE))),
        ),
        aligned((0, "Ship date:"), (22, m("shipped", pools.slash_us(shipped)))),
        aligned((0, "Due date:"), (22, m("due", pools.slash_us(due)))),
        aligned((0, "Your order:"), (22, m("order", order))),
        "",
        aligned((0, "Description"), (-40, "Qty"), (-58, "Unit Price"), (-76, "Amount")),
        "-" * 76,
    ]
    for index, row in enumerate(rows):
        lines.append(
            aligned(
                (0, m(f"d{index}", row["description"])),
                (-40, m(f"q{index}", row["quantity"])),
                (-58, m(f"p{index}", "$" + us(row["unit_price"]))),
                (-76, m(f"a{index}", "$" + us(row["amount"]))),
            )
        )
    lines += [
        "-" * 76,
        aligned((-58, "Subtotal"), (-76, m("subtotal", "$" + us(subtotal)))),
        aligned((-58, f"Sales tax ({m('rate', rate + '%')})"), (-76, m("tax", "$" + us(tax)))),
        aligned((-58, "Discount"), (-76, m("discount", f"-${us(discount)}"))),
        aligned((-58, "Total"), (-76, m("total", "$" + us(total)))),
        "",
        f"Terms: net {m('net', 30)} days. Late payments bear interest of 1.5% per month.",
        "Gift wrapping: " + m("gift", "No") + "   Insurance included: " + m("insured", "Yes"),
    ]
    draft.says("invoice_number", number.replace("-", " ").lower(), "number", traps="id_spacing")
    draft.says("vendor_name", seller, "seller", traps="unlabelled")
    draft.says("customer_name", buyer.upper(), "buyer", traps="label_above")
    draft.says("purchase_order", order.replace(" ", "-"), "order", traps="id_spacing")
    draft.says("invoice_date", issued, "issued", traps="day_month_context", elsewhere=True)
    draft.says("due_date", due, "due", traps="day_month_context", elsewhere=True)
    draft.says("order_date", ordered, "ordered", traps="date_forms", elsewhere=True)
    draft.empty("ship_date", swapped(shipped), "swapped_date contradicted")
    draft.says("payment_days", 30, "net", traps="label_after")
    draft.says("subtotal", subtotal, "subtotal", traps="repeated_role", elsewhere=True)
    draft.says("tax_rate", Decimal(rate) / 100, "rate", traps="percent paren_aside")
    draft.says("tax_amount", tax, "tax", traps="currency")
    if dice.random() < 0.5:
        draft.says("discount", -discount, "discount", traps="negative")
    else:
        draft.empty("discount", discount, "other_sign contradicted")
    if dice.random() < 0.6:
        draft.says("total", total, "total", traps="currency repeated_role", elsewhere=True)
    else:
        draft.empty("total", subtotal, "other_role contradicted")
    draft.says("gift_wrap", False, "gift", traps="boolean")
    draft.says("insurance_included", True, "insured", traps="boolean")
    draft.empty("shipping_cost", None, "none")
    draft.empty("total_quantity", sum(row["quantity"] for row in rows) + 100, "computable")
    wrong = dice.randrange(len(rows) - 1)
    for index, row in enumerate(rows):
        draft.says(f"items[{index}].description", row["description"], f"d{index}", traps="table_row")
        draft.says(f"items[{index}].quantity", row["quantity"], f"q{index}", traps="column_heading", elsewhere=True)
        draft.says(f"items[{index}].unit_price", row["unit_price"], f"p{index}", traps="column_heading")
        if index == wrong:
            other = rows[index + 1]["amount"] if rows[index + 1]["amount"] != row["amount"] else Decimal("1.11")
            draft.empty(f"items[{index}].amount", other, "other_row contradicted")
        else:
            draft.says(f"items[{index}].amount", row["amount"], f"a{index}", traps="same_amount_rows", elsewhere=True)
    return as_text("\n".join(lines))


def rechnung_pdf(dice: random.Random, draft: Draft) -> Made:
    """German invoice as a PDF: decimal comma, points for thousands, German labels, English field names."""
    pdf = PdfDraft()
    rows = goods(dice, dice.randint(2, 5))
    net = sum((row["amount"] for row in rows), Decimal(0))
    rate = dice.choice([19, 7])
    tax = cents(net * rate / 100)
    gross = net + tax
    issued, delivered = murky_day(dice), murky_day(dice)
    due = issued + timedelta(days=14)
    number = f"RE-{issued.year}/{dice.randint(1000, 9999)}"
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    iban = f"DE{dice.randint(10, 99)} 3704 0044 0532 0130 {dice.randint(10, 99)}"
    pdf.text(50, 50, m("seller", seller), size=14, font=1)
    pdf.text(50, 68, f"{dice.choice(pools.STREETS)} · {dice.choice(pools.CITIES)}", size=8)
    pdf.text(50, 120, "Rechnung an", size=8)
    pdf.text(50, 134, m("buyer", buyer))
    for index, (label, value) in enumerate(
        [
            ("Rechnungsnummer", m("number", number)),
            ("Rechnungsdatum", m("issued", pools.dots(issued))),
            ("Lieferdatum", m("delivered", pools.dots(delivered))),
            ("Kundennummer", m("client", "K-" + str(dice.randint(10000, 99999)))),
        ]
    ):
        pdf.row(120 + 15 * index, [(340, label), (-545, value)])
    y = 230.0
    pdf.row(y, [(50, "Bezeichnung"), (-330, "Menge"), (-430, "Einzelpreis"), (-545, "Gesamt")])
    for index, row in enumerate(rows):
        y += 18
        pdf.row(
            y,
            [
                (50, m(f"d{index}", row["description"])),
                (-330, m(f"q{index}", row["quantity"])),
                (-430, m(f"p{index}", eu(row["unit_price"]) + " €")),
                (-545, m(f"a{index}", eu(row["amount"]) + " €")),
            ],
        )
    y += 30
    for label, value in [
        ("Nettobetrag", m("net", eu(net) + " €")),
        (f"zzgl. MwSt ({m('rate', f'{rate} %')})", m("tax", eu(tax) + " €")),
        ("Rechnungsbetrag", m("gross", eu(gross) + " €")),
    ]:
        pdf.row(y, [(-430, label), (-545, value)])
        y += 16
    pdf.text(50, y + 30, f"Zahlbar bis {m('due', pools.german(due))} ohne Abzug auf IBAN {m('iban', iban)}.", size=9)
    pdf.text(50, y + 46, f"Skonto wird {m('skonto', 'nicht gewährt')}.", size=9)
    draft.says("invoice_number", number.replace("/", " "), "number", traps="id_spacing")
    draft.says("seller_name", seller, "seller", traps="accents unlabelled")
    draft.says("customer_name", buyer, "buyer", traps="label_above")
    draft.says("customer_number", _drawn(pdf, "client"), "client", traps="foreign_label")
    draft.says("invoice_date", issued.isoformat(), "issued", traps="european_date", elsewhere=True)
    draft.says("delivery_date", delivered, "delivered", traps="european_date")
    draft.says("due_date", due, "due", traps="foreign_month")
    draft.says("net_amount", net, "net", traps="european_number")
    draft.says("tax_rate", Decimal(rate) / 100, "rate", traps="percent paren_aside european_number")
    draft.says("tax_amount", float(tax), "tax", traps="european_number")
    if dice.random() < 0.6:
        draft.says("total_amount", gross, "gross", traps="european_number foreign_label")
    else:
        draft.empty("total_amount", net, "other_role contradicted")
    draft.says("iban", iban.replace(" ", ""), "iban", traps="id_spacing")
    draft.empty("order_number", None, "none")
    draft.empty("shipping_cost", cents(gross * 3 + 1), "absent")
    for index, row in enumerate(rows):
        draft.says(f"items[{index}].description", row["description"], f"d{index}", traps="table_row")
        draft.says(
            f"items[{index}].quantity",
            row["quantity"],
            f"q{index}",
            traps="column_heading foreign_label",
            elsewhere=True,
        )
        draft.says(f"items[{index}].unit_price", row["unit_price"], f"p{index}", traps="european_number column_heading")
        draft.says(f"items[{index}].total", float(row["amount"]), f"a{index}", traps="european_number column_heading")
    return pdf.done()


def _drawn(pdf: PdfDraft, key: str) -> str:
    import re

    return next(found[1] for *_, source in pdf.drawn if (found := re.search(rf"⟦{key}\|([^⟧]*)⟧", source)))


def wrap(source: str, width: int = 78) -> str:
    """Break prose into lines by what will be visible; marks may break too."""
    words = source.split(" ")
    lines, line = [], ""
    for word in words:
        if (
            line
            and len(
                bare(
                    line + " " + word + "⟧"
                    if "⟦" in line and "⟧" not in line[line.rindex("⟦") :]
                    else line + " " + word
                )
            )
            > width
        ):
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def contract_prose(dice: random.Random, draft: Draft) -> Made:
    """A lease in sentences: several dates, numbers in words, negated clauses, values broken over lines."""
    landlord, tenant = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    start = clear_day(dice)
    signed = start - timedelta(days=dice.randint(20, 50))
    end = start + timedelta(days=dice.choice([730, 1095, 1461]))
    rent, deposit = Decimal(dice.randint(900, 4800)), Decimal(dice.randint(5000, 9900))
    notice, (words, cure) = (
        dice.choice([60, 90, 45]),
        dice.choice([("thirty", 30), ("fourteen", 14), ("twenty-one", 21)]),
    )
    pets, renews = dice.random() < 0.5, dice.random() < 0.5
    insured = dice.choice(["2.5", "1.5", "3"])
    address = f"{dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}"
    paragraphs = [
        "RESIDENTIAL LEASE AGREEMENT",
        f'This agreement is made on {m("signed", pools.us_long(signed))} between {m("landlord", landlord)} (the "Landlord") and'
        f' {m("tenant", tenant)} (the "Tenant") for the premises at {m("address", address)}.',
        f"1. Term. The lease starts on {m('start', pools.us_long(start))} and ends on {m('end', pools.us_long(end))}. It"
        + (
            f" {m('renew', 'renews automatically')} for one year."
            if renews
            else f" {m('renew', 'does not renew automatically')} at its end."
        ),
        f"2. Rent. The Tenant pays a monthly rent of {m('rent', '$' + us(rent))}, due on the first day of each month. A security deposit"
        f" of {m('deposit', '$' + us(deposit, 0))} is payable at signing.",
        f"3. Notice. Either party may end this agreement with {m('notice', notice)} days' written notice. A breach must be cured within"
        f" {m('cure', words)} ({m('cure2', cure)}) days.",
        f"4. Insurance. The Landlord carries liability cover of {m('cover', f'${insured} million')} per event.",
        f"5. Use. {m('pets', 'Pets are allowed' if pets else 'No pets are allowed')} on the premises. {m('smoke', 'Smoking is not permitted')} in any part of the building.",
    ]
    draft.says("landlord", landlord, "landlord", traps="label_after")
    draft.says("tenant_name", tenant, "tenant", traps="accents label_after")
    draft.says("property_address", address, "address", traps="broken_line")
    if dice.random() < 0.7:
        draft.says("start_date", start, "start", traps="broken_line date_forms", elsewhere=True)
    else:
        draft.empty("start_date", signed, "other_role contradicted")
    draft.says("end_date", end, "end", traps="broken_line date_forms")
    draft.says("signing_date", signed, "signed", traps="broken_line")
    draft.says("monthly_rent", rent, "rent", traps="currency prose")
    draft.says("security_deposit", deposit, "deposit", traps="currency prose")
    draft.says("notice_period_days", notice, "notice", traps="label_after prose")
    draft.says("cure_period_days", cure, "cure", "cure2", traps="number_words")
    draft.says("liability_coverage", int(Decimal(insured) * 1_000_000), "cover", traps="million")
    truth = dice.random() < 0.6
    if truth:
        draft.says("pets_allowed", pets, "pets", traps="boolean_negation", inside=True)
        draft.says("auto_renewal", renews, "renew", traps="boolean_negation", inside=True)
    else:
        draft.empty("pets_allowed", not pets, "negated contradicted")
        draft.empty("auto_renewal", not renews, "negated contradicted")
    draft.says("smoking_permitted", False, "smoke", traps="boolean_negation", inside=True)
    draft.empty("guarantor", None, "none")
    draft.empty("total_rent_over_term", rent * 24 + 7, "computable")
    return as_text("\n\n".join(wrap(paragraph) for paragraph in paragraphs))


def statement_thousands(dice: random.Random, draft: Draft) -> Made:
    """A financial statement: figures in thousands, two years side by side, losses in parentheses, a headcount."""
    company = dice.choice(pools.COMPANIES)
    year = dice.choice([2022, 2023, 2024])
    rows = [
        "Revenue",
        "Cost of sales",
        "Gross profit",
        "Operating expenses",
        "Operating result",
        "Interest expense",
        "Net result",
    ]
    keys = ["revenue", "cogs", "gross", "opex", "operating", "interest", "net"]
    figures: dict[str, tuple[int, int]] = {}
    for key in keys:
        sign = -1 if key in ("cogs", "opex", "interest") or (key == "net" and dice.random() < 0.6) else 1
        figures[key] = (sign * dice.randint(1100, 99000), sign * dice.randint(1100, 99000))

    def form(amount: int) -> str:
        return f"({-amount:,})" if amount < 0 else f"{amount:,}"

    lines = [
        company,
        "Consolidated statement of income",
        "(in thousands of US dollars, except per share data and headcount)",
        "",
        aligned((0, "Year ended December 31"), (-50, str(year)), (-66, str(year - 1))),
        "",
    ]
    for row, key in zip(rows, keys, strict=True):
        now, before = figures[key]
        lines.append(aligned((0, row), (-50, m(key, form(now))), (-66, m(key + "_prior", form(before)))))
    staff, staff_before = dice.randint(200, 3000), dice.randint(200, 3000)
    share = f"{dice.randint(1, 9)}.{dice.randint(10, 99)}"
    lines += [
        aligned((0, "Earnings per share"), (-50, m("eps", share)), (-66, "0.77")),
        aligned((0, "Number of employees"), (-50, m("staff", f"{staff:,}")), (-66, f"{staff_before:,}")),
        aligned((0, "Gross margin"), (-50, m("margin", f"{dice.randint(20, 60)}.5%")), (-66, "31.2%")),
        "",
        wrap(
            f"Management expects capital expenditure of {m('capex', '$4.2 million')} next year, after {m('capex_now', '$3.1 million')}"
            f" in {year}. The board proposed no dividend."
        ),
    ]
    draft.says("revenue", figures["revenue"][0] * 1000, "revenue", traps="thousands")
    draft.says("prior_year_revenue", figures["revenue"][1] * 1000, "revenue_prior", traps="thousands column_heading")
    draft.says("cost_of_sales", figures["cogs"][0] * 1000, "cogs", traps="thousands negative_paren")
    draft.says("gross_profit", float(figures["gross"][0] * 1000), "gross", traps="thousands")
    draft.says("operating_result", figures["operating"][0] * 1000, "operating", traps="thousands row_label")
    net = figures["net"][0] * 1000
    if net < 0 and dice.random() < 0.5:
        draft.empty("net_result", -net, "other_sign contradicted")
    else:
        draft.says("net_result", net, "net", traps="thousands negative_paren")
    draft.empty("interest_expense", figures["interest"][1] * 1000, "other_column contradicted")
    draft.empty("operating_expenses", -figures["opex"][0] * 1000, "other_sign contradicted")
    draft.says("earnings_per_share", Decimal(share), "eps", traps="row_label")
    draft.says("employees", staff, "staff", traps="row_label unscaled")
    draft.says("capital_expenditure_forecast", 4_200_000, "capex", traps="million prose")
    draft.says("gross_margin", Decimal(bare_of(lines, "margin").rstrip("%")) / 100, "margin", traps="percent")
    draft.empty("dividend", None, "none")
    draft.empty("revenue_growth", round(figures["revenue"][0] / figures["revenue"][1] - 1, 4) + 3, "computable")
    return as_text("\n".join(lines))


def bare_of(lines: list[str], key: str) -> str:
    import re

    found = re.search(rf"⟦{key}\|([^⟧]*)⟧", "\n".join(lines))
    assert found
    return found[1]


def order_html(dice: random.Random, draft: Draft) -> Made:
    """An order confirmation as HTML: label and value cells, an item table, two addresses, British dates."""
    rows = goods(dice, dice.randint(2, 5))
    items_total = sum((row["amount"] for row in rows), Decimal(0))
    postage, voucher = money(dice, 300, 2500), money(dice, 100, 900)
    total = items_total + postage - voucher
    ordered, promised = murky_day(dice), clear_day(dice)
    number = f"{dice.randint(100, 999)}-{dice.randint(1000000, 9999999)}-{dice.randint(1000, 9999)}"
    buyer, receiver = dice.sample(pools.PEOPLE, 2)
    status = dice.choice(["shipped", "processing", "on hold"])
    gift, express = dice.random() < 0.5, dice.random() < 0.5
    cells = "".join(
        f"<tr><td>{m(f'd{i}', r['description'])}</td><td>{m(f'q{i}', r['quantity'])}</td><td>{m(f'p{i}', '£' + us(r['unit_price']))}</td>"
        f"<td>{m(f'a{i}', '£' + us(r['amount']))}</td></tr>"
        for i, r in enumerate(rows)
    )
    source = f"""<!DOCTYPE html><html><head><title>Order</title></head><body><h1>Order confirmation</h1>
    <p>Dear {m("buyer2", buyer)}, thank you for your order {m("number", number)}.</p>
    <table><tr><td>Order date</td><td>{m("ordered", pools.slash_uk(ordered))}</td></tr>
    <tr><td>Estimated delivery</td><td>{m("promised", pools.slash_uk(promised))}</td></tr>
    <tr><td>Status</td><td>{m("status", status.title())}</td></tr>
    <tr><td>Gift message</td><td>{m("gift", "yes" if gift else "no")}</td></tr>
    <tr><td>Loyalty number</td><td>N/A</td></tr></table>
    <h2>Billing address</h2><p>{m("buyer", buyer)}<br>{m("street", pools.STREETS[0])}<br>Leeds LS2 7EY</p>
    <h2>Shipping address</h2><p>{m("receiver", receiver)}<br>{m("street2", pools.STREETS[2])}<br>Bristol BS1 5TR</p>
    <table><tr><th>Article</th><th>Quantity</th><th>Price</th><th>Sum</th></tr>{cells}</table>
    <table><tr><td>Items</td><td>{m("items", "£" + us(items_total))}</td></tr><tr><td>Postage</td><td>{m("postage", "£" + us(postage))}</td></tr>
    <tr><td>Voucher</td><td>{m("voucher", "-£" + us(voucher))}</td></tr><tr><td>Order total</td><td>{m("total", "£" + us(total))}</td></tr></table>
    <p>Your parcel {m("express", "is sent by express" if express else "is not sent by express")} and prices include VAT at 20%.</p></body></html>"""
    draft.schema = {
        "properties": {
            "status": {"enum": ["PROCESSING", "SHIPPED", "ON_HOLD", "CANCELLED"]},
            "postage": {"type": "number", "description": "What shipping costs"},
        }
    }
    draft.says("order_number", number.replace("-", ""), "number", traps="id_spacing")
    draft.says("order_date", ordered, "ordered", traps="day_month_context", elsewhere=True)
    draft.says("estimated_delivery", promised, "promised", traps="date_forms")
    draft.says("status", status.upper().replace(" ", "_"), "status", traps="enum")
    draft.says("billing.name", buyer, "buyer", "buyer2", traps="section")
    draft.says("billing.street", pools.STREETS[0], "street", traps="section")
    draft.says("shipping.name", receiver, "receiver", traps="section")
    draft.says("shipping.street", pools.STREETS[2], "street2", traps="section")
    draft.says("postage", postage, "postage", traps="currency")
    draft.says("order_total", total, "total", traps="currency repeated_role", elsewhere=True)
    draft.says("gift_message", gift, "gift", traps="boolean")
    if dice.random() < 0.6:
        draft.says("express", express, "express", traps="boolean_negation", inside=True)
    else:
        draft.empty("express", not express, "negated contradicted")
    draft.empty("loyalty_number", None, "none")
    draft.empty("shipped_date", None, "none")
    draft.empty("refund", total + 1, "absent")
    for index, row in enumerate(rows):
        draft.says(f"lines[{index}].article", row["description"], f"d{index}", traps="table_row")
        draft.says(f"lines[{index}].quantity", row["quantity"], f"q{index}", traps="column_heading", elsewhere=True)
        draft.says(f"lines[{index}].price", row["unit_price"], f"p{index}", traps="column_heading", elsewhere=True)
        draft.says(f"lines[{index}].sum", row["amount"], f"a{index}", traps="column_heading", elsewhere=True)
    return as_html(source)


def bank_pdf(dice: random.Random, draft: Draft) -> Made:
    """An account statement over two pages: equal amounts in several rows, a running balance, ids with blanks."""
    pdf = PdfDraft()
    holder = dice.choice(pools.PEOPLE)
    account = f"{dice.randint(1000, 9999)} {dice.randint(1000, 9999)} {dice.randint(1000, 9999)}"
    opening = money(dice, 50_000, 900_000)
    first = date(2024, dice.randint(1, 12), 1)
    bank, payees = dice.choice(pools.COMPANIES), dice.sample(pools.COMPANIES, 6)
    pdf.text(50, 50, bank, size=13, font=1)
    pdf.row(90, [(50, "Account holder"), (200, m("holder", holder))])
    pdf.row(106, [(50, "Account number"), (200, m("account", account))])
    pdf.row(122, [(50, "Opening balance"), (200, m("opening", "EUR " + us(opening)))])
    y = 170.0
    heads = [(50, "Date"), (130, "Payee"), (-400, "Debit"), (-470, "Credit"), (-545, "Balance")]
    pdf.row(y, heads)
    balance, entries = opening, []
    amounts = [money(dice, 1000, 50_000) for _ in range(5)]
    amounts.append(amounts[1])  # the same sum twice
    for index, amount in enumerate(amounts):
        booked = first + timedelta(days=3 * index + dice.randint(0, 2))
        debit = index % 3 != 2
        balance += -amount if debit else amount
        if index == 3:
            pdf.page()
            y = 60.0
            pdf.row(y, heads)
        y += 18
        cells = [
            (50, m(f"when{index}", pools.short(booked))),
            (130, m(f"payee{index}", payees[index])),
            (-400 if debit else -470, m(f"sum{index}", us(amount))),
            (-545, m(f"balance{index}", us(balance))),
        ]
        pdf.row(y, cells)
        entries.append((booked, payees[index], amount, debit, balance))
    pdf.row(y + 40, [(50, "Closing balance"), (200, m("closing", "EUR " + us(balance)))])
    draft.says("account_holder", holder, "holder", traps="accents row_label")
    draft.says("account_number", account.replace(" ", ""), "account", traps="id_spacing")
    draft.says("opening_balance", opening, "opening", traps="row_label")
    draft.says("closing_balance", balance, "closing", traps="row_label repeated_role", elsewhere=True)
    draft.empty("overdraft_limit", Decimal("12345.67"), "absent")
    wrong = dice.randrange(5)
    for index, (booked, payee, amount, debit, after) in enumerate(entries):
        draft.says(f"transactions[{index}].date", booked, f"when{index}", traps="date_forms table_row")
        draft.says(f"transactions[{index}].payee", payee, f"payee{index}", traps="table_row accents")
        twin = index in (1, 5)
        if index == wrong:
            draft.empty(f"transactions[{index}].amount", entries[(index + 2) % 5][2], "other_row contradicted")
        else:
            traps = "same_amount_rows" if twin else "column_heading"
            draft.says(
                f"transactions[{index}].{'debit' if debit else 'credit'}",
                amount,
                f"sum{index}",
                traps=traps,
                elsewhere=twin,
            )
        draft.says(
            f"transactions[{index}].balance", after, f"balance{index}", traps="column_heading", elsewhere=index == 5
        )
    return pdf.done()


def record_text(dice: random.Random, draft: Draft) -> Made:
    """A personnel record: dotted leaders, labels below a signature, look-alike ids, an enum that is denied."""
    person, boss = dice.sample(pools.PEOPLE, 2)
    born, hired, review = clear_day(dice, date(1970, 1, 1), 9000), murky_day(dice), clear_day(dice)
    salary, bonus = Decimal(dice.randint(38_000, 140_000)), Decimal(dice.randint(1000, 9000))
    staff_id = f"{dice.randint(10, 99)}{dice.randint(1000, 9999)}"
    status = dice.choice(["active", "on leave"])
    denied = dice.random() < 0.5
    days = dice.choice([12, 20, 25])
    union = dice.random() < 0.5

    def dotted(label: str, value: str) -> str:
        return f"{label} {'.' * (38 - len(label))} {value}"

    lines = [
        "PERSONNEL RECORD                                   Form 2012-12",
        "",
        dotted("Employee", m("person", person)),
        dotted("Employee no.", m("id", f"{staff_id[:2]} {staff_id[2:]}")),
        dotted("Date of birth", m("born", pools.uk_long(born))),
        dotted("Date of hire", m("hired", pools.uk_long(hired))),
        dotted("Next review", m("review", pools.uk_long(review))),
        dotted("Annual salary", m("salary", f"GBP {us(salary, 0)}")),
        dotted("Target bonus", m("bonus", f"GBP {us(bonus, 0)}")),
        dotted("Vacation days", m("days", days)),
        dotted("Notice period", m("notice", "3") + " months"),
        dotted("Fax", "n/a"),
        dotted("Union member", m("union", "Yes" if union else "No")),
        "",
        wrap(
            f"Remarks: the employee is {'not active' if denied else m('status', status)} in the pension scheme of 2012 and reports to"
            f" {m('boss', boss)}. Overtime of 120 hours was carried over from the previous year."
        ),
        "",
        "[x] " + m("tax", "Tax form received"),
        "[ ] Medical check done",
        "",
        m("signer", dice.choice(pools.PEOPLE))
        + "                "
        + m("signed", pools.uk_long(review - timedelta(days=17))),
        "____________________          ____________",
        "Name of HR officer            Date signed",
    ]
    officer = bare_of(lines, "signer")
    if officer in (person, boss):
        lines[-3] = lines[-3].replace(officer, "Olga Petrova")
        officer = "Olga Petrova"
    draft.schema = {"properties": {"status": {"enum": ["active", "on leave", "retired"]}}}
    draft.says("employee_name", person, "person", traps="accents row_label")
    draft.says("employee_number", staff_id, "id", traps="id_spacing")
    draft.says("date_of_birth", born, "born", traps="date_forms")
    draft.says("hire_date", hired, "hired", traps="date_forms")
    draft.says("next_review_date", review, "review", traps="date_forms")
    draft.says("annual_salary", float(salary), "salary", traps="currency row_label")
    draft.says("vacation_days", days, "days", traps="token_boundary", elsewhere=days == 12)
    draft.says("notice_period_months", 3, "notice", traps="row_label")
    if denied:
        draft.empty("status", "active", "negated contradicted")
    else:
        draft.says("status", status, "status", traps="enum")
    draft.says("union_member", union, "union", traps="boolean")
    draft.says("manager", boss, "boss", traps="prose accents")
    draft.says("tax_form_received", True, "tax", traps="boolean_box", inside=True)
    draft.empty("medical_check_done", True, "negated contradicted")
    draft.says("hr_officer", officer, "signer", traps="label_below")
    draft.says("signing_date", review - timedelta(days=17), "signed", traps="label_below")
    draft.empty("fax", None, "none")
    draft.empty("overtime_hours", 20, "token_boundary absent")
    draft.empty("sick_days", 2012, "absent")
    return as_text("\n".join(lines))


def offer_docx(dice: random.Random, draft: Draft) -> Made:
    """A French offer as DOCX: narrow blanks for thousands, two options with the same fields, accents stripped."""
    client, seller = dice.choice(pools.PEOPLE), dice.choice(pools.COMPANIES)
    price = [money(dice, 150_000, 900_000) for _ in range(2)]
    weeks = dice.sample([3, 4, 6, 8], 2)
    valid, made = clear_day(dice), murky_day(dice)
    share = dice.choice([30, 40])
    rows: list[str | list[str]] = [
        m("seller", seller),
        f"Devis n° {m('number', 'D' + str(dice.randint(20000, 29999)))} du {m('made', f'{made.day} {FRENCH[made.month - 1]} {made.year}')}",
        f"Client : {m('client', client)}",
        f"Offre valable jusqu'au {m('valid', pools.slash_uk(valid))}",
        "",
        ["Option", "Délai (semaines)", "Montant HT", "TVA", "Montant TTC"],
        [
            m("n0", "Standard"),
            m("w0", weeks[0]),
            m("p0", pools.fr(price[0]) + " €"),
            "20 %",
            m("t0", pools.fr(cents(price[0] * 6 / 5)) + " €"),
        ],
        [
            m("n1", "Premium"),
            m("w1", weeks[1]),
            m("p1", pools.fr(price[1]) + " €"),
            "20 %",
            m("t1", pools.fr(cents(price[1] * 6 / 5)) + " €"),
        ],
        "",
        f"Acompte de {m('share', f'{share} %')} à la commande. La livraison {m('delivery', 'n’est pas comprise')}.",
    ]
    draft.schema = {
        "properties": {
            "valid_until": {"description": "Offre valable jusqu'au"},
            "deposit_rate": {"description": "acompte"},
            "client_name": {"description": "client"},
        }
    }
    draft.says(
        "quote_number", bare_of([r for r in rows if isinstance(r, str)], "number").lower(), "number", traps="id_spacing"
    )
    draft.says("seller", seller, "seller", traps="unlabelled accents")
    draft.says("client_name", client, "client", traps="accents")
    draft.says("quote_date", made, "made", traps="foreign_month")
    draft.says("valid_until", valid, "valid", traps="date_forms")
    draft.says("deposit_rate", Decimal(share) / 100, "share", traps="percent")
    for index, name in enumerate(["Standard", "Premium"]):
        draft.says(f"options[{index}].name", name, f"n{index}", traps="table_row")
        draft.says(f"options[{index}].weeks", weeks[index], f"w{index}", traps="column_heading foreign_label")
        draft.says(f"options[{index}].net_amount", price[index], f"p{index}", traps="european_number column_heading")
        draft.says(
            f"options[{index}].gross_amount",
            cents(price[index] * 6 / 5),
            f"t{index}",
            traps="european_number column_heading",
        )
    draft.empty("order_number", None, "none")
    draft.empty("discount", Decimal("111.11"), "absent")
    return as_docx(rows)


FRENCH = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
]

LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    invoice_text,
    rechnung_pdf,
    contract_prose,
    statement_thousands,
    order_html,
    bank_pdf,
    record_text,
    offer_docx,
]
