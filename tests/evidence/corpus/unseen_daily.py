"""Layouts kept out of tuning: invoices in three layouts."""

import random
from collections.abc import Callable, Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m
from tests.evidence.corpus.seen_forms import bare_mark

Made = tuple[Any, dict[str, list[tuple[int, int]]]]
Fact = tuple[str, Any, str, str]  # path, value, the keys of its marks (none: must stay empty), traps and flags


def tell(draft: Draft, facts: Iterable[Fact]) -> None:
    """Label the fields; `elsewhere` and `inside` among the traps are flags."""
    for path, value, keys, words in facts:
        flags = words.split()
        traps = " ".join(flag for flag in flags if flag not in ("elsewhere", "inside"))
        if keys:
            draft.says(
                path, value, *keys.split(), traps=traps, elsewhere="elsewhere" in flags, inside="inside" in flags
            )
        else:
            draft.empty(path, value, traps)


def perhaps(dice: random.Random, path: str, value: Any, keys: str, traps: str, wrong: Any, why: str) -> Fact:
    """The field as the document says it, or with a value that the document contradicts."""
    return (path, value, keys, traps) if dice.random() < 0.4 else (path, wrong, "", f"{why} contradicted")


def crossed(path: str, value: Any, keys: str, traps: str, other: Any, here: bool) -> Fact:
    """The cell's own value, or `here` that of another row where it differs."""
    return (path, other, "", "other_row contradicted") if here and other != value else (path, value, keys, traps)


def described(draft: Draft, **words: str) -> None:
    draft.schema = {"properties": {name: {"description": text} for name, text in words.items()}}


def digits(dice: random.Random, count: int) -> str:
    return str(dice.randint(10 ** (count - 1), 10**count - 1))


def daily_invoice_pdf(dice: random.Random, draft: Draft) -> Made:
    """An American invoice: two address blocks side by side, a box of references, a table, totals flush right."""
    pdf = PdfDraft()
    seller, buyer, site = dice.sample(pools.COMPANIES, 3)
    here, there, dock = dice.sample(pools.STREETS, 3)
    issued = clear_day(dice)
    due = murky_day(dice, issued + timedelta(days=14), 60)
    number, tax_id, account = (
        f"INV-{issued.year}-{digits(dice, 4)}",
        f"{digits(dice, 2)}-{digits(dice, 7)}",
        digits(dice, 6),
    )
    count = 3
    rows = [(good, dice.randint(2, 40), money(dice, 350, 9_000)) for good in dice.sample(pools.GOODS, count)]
    rows[-1] = (rows[-1][0], *rows[0][1:])
    subtotal = sum((quantity * price for _, quantity, price in rows), Decimal(0))
    rate = dice.choice(["6.25", "7.5", "8.25", "8.875"])
    tax, freight = cents(subtotal * Decimal(rate) / 100), money(dice, 2_500, 19_000)
    total = subtotal + tax + freight
    paid = cents(total * dice.choice([25, 30, 50]) / 100)
    pdf.text(60, 60, m("seller", seller), size=14, font=1)
    pdf.text(60, 76, f"{here} · Tax ID {m('taxid', tax_id)}", size=9)
    pdf.text(540, 60, "INVOICE", size=18, right=True)
    box = [
        (dice.choice(["Invoice #", "Invoice no.", "Number"]), m("number", number)),
        (dice.choice(["Date", "Invoice date", "Issued"]), m("issued", pools.slash_us(issued))),
        (dice.choice(["Due date", "Payment due", "Due by"]), m("due", pools.slash_us(due))),
        ("Customer account", m("account", account)),
        ("Your P.O.", "N/A"),
    ]
    for line, (name, words) in enumerate(box):
        pdf.row(100 + 14 * line, [(360, name), (-540, words)])
    pdf.row(
        190, [(60, dice.choice(["BILL TO", "Sold to", "Billed to"])), (320, dice.choice(["SHIP TO", "Deliver to"]))]
    )
    pdf.row(204, [(60, m("buyer", buyer)), (320, m("site", site))])
    pdf.row(218, [(60, m("there", there)), (320, m("dock", dock))])
    pdf.row(260, [(60, "Description"), (-330, "Qty"), (-430, "Unit price"), (-540, "Amount (USD)")])
    for index, (good, quantity, price) in enumerate(rows):
        cells = [(60, m(f"g{index}", good)), (-330, m(f"q{index}", quantity)), (-430, m(f"p{index}", us(price)))]
        pdf.row(278 + 16 * index, [*cells, (-540, m(f"a{index}", us(quantity * price)))])
    totals = [
        ("Subtotal", m("sub", "$" + us(subtotal))),
        (f"Sales tax ({m('rate', rate + '%')})", m("tax", "$" + us(tax))),
        (dice.choice(["Freight", "Shipping", "Shipping & handling"]), m("freight", "$" + us(freight))),
        ("TOTAL", m("total", "$" + us(total))),
        ("Deposit received", m("paid", f"(${us(paid)})" if dice.random() < 0.5 else "-$" + us(paid))),
        (dice.choice(["Balance due", "AMOUNT DUE"]), m("open", "$" + us(total - paid))),
    ]
    for line, (name, words) in enumerate(totals):
        pdf.row(370 + 15 * line, [(360, name), (-540, words)])
    late = dice.choice(["1", "1.5", "2"])
    pdf.text(
        60, 500, f"Balances open after the due date bear {m('late', late + '%')} per month. All goods remain", size=8
    )
    pdf.text(60, 511, f"the property of {m('seller', seller)} until paid in full.", size=8)
    pdf.text(297, 800, "Page 1 of 1", size=8)
    described(
        draft,
        deposit="Advance payment, negative as it reduces the amount payable",
        late_fee_pct="Monthly interest on overdue balances, in percent",
    )
    facts: list[Fact] = [
        ("vendor.name", seller, "seller", "unlabelled accents"),
        ("vendor.tax_id", tax_id.replace("-", ""), "taxid", "id_spacing"),
        ("customer.name", buyer, "buyer", "label_above accents"),
        ("customer.street", there, "there", "label_above"),
        ("customer.tax_id", tax_id, "", "other_role contradicted"),
        ("customer.account_number", account, "account", "row_label"),
        perhaps(dice, "ship_to.name", site, "site", "label_above", buyer, "other_role"),
        ("ship_to.street", dock, "dock", "label_above"),
        ("invoice_number", number, "number", "row_label"),
        ("invoice_date", issued, "issued", "date_forms"),
        perhaps(dice, "due_date", due, "due", "day_month_context", swapped(due), "swapped_date"),
        ("po_number", None, "", "none"),
        ("subtotal", subtotal, "sub", "currency"),
        ("tax_rate", Decimal(rate) / 100, "rate", "percent paren_aside"),
        ("tax_amount", tax, "tax", "currency"),
        ("shipping_cost", freight, "freight", "currency"),
        ("total_amount", float(total), "total", "currency repeated_role"),
        perhaps(dice, "deposit", -paid, "paid", "negative currency", paid, "other_sign"),
        ("amount_due", total - paid, "open", "currency repeated_role"),
        ("late_fee_pct", float(late), "late", "percent prose"),
        ("discount_total", money(dice, 1_000, 9_000), "", "absent"),
        ("total_quantity", sum(row[1] for row in rows), "", "computable"),
    ]
    for index, (good, quantity, price) in enumerate(rows):
        twin = "same_amount_rows elsewhere" if index in (0, count - 1) else "table_row"
        item, other = f"line_items[{index}]", rows[0][1] * rows[0][2]
        facts += [
            (f"{item}.description", good, f"g{index}", "table_row"),
            (f"{item}.quantity", quantity, f"q{index}", twin),
            (f"{item}.unit_price", price, f"p{index}", twin),
            crossed(f"{item}.amount", quantity * price, f"a{index}", twin, other, index == 1),
        ]
    tell(draft, facts)
    return pdf.done()


def daily_invoice_text(dice: random.Random, draft: Draft) -> Made:
    """A European invoice as plain text: decimal commas, a credited row, a discount for early payment, bank details."""
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    issued = murky_day(dice)
    early, due = issued + timedelta(days=10), murky_day(dice, issued + timedelta(days=25), 60)
    sent = clear_day(dice, issued - timedelta(days=40), 40)
    number, customer = f"RE-{issued.year}/{digits(dice, 5)}", digits(dice, 5)
    vat_id, iban = (
        f"DE {digits(dice, 3)} {digits(dice, 3)} {digits(dice, 3)}",
        "DE" + " ".join([digits(dice, 2), *(digits(dice, 4) for _ in range(4)), digits(dice, 2)]),
    )
    rows = [
        (good, dice.randint(3, 60), money(dice, 220, 18_000)) for good in dice.sample(pools.GOODS, dice.randint(2, 3))
    ]
    back = money(dice, 1_500, 9_900)
    net = sum((quantity * price for _, quantity, price in rows), Decimal(0)) - back
    rate = dice.choice([19, 21, 7, 20])
    vat = cents(net * rate / 100)
    percent = dice.choice([2, 3])
    saved = cents((net + vat) * percent / 100)
    reverse = dice.random() < 0.5
    minus = dice.choice(["-{}", "({})", "\u2212{}"])
    lines = [
        aligned((0, m("seller", seller)), (44, f"VAT ID: {m('vatid', vat_id)}")),
        "Industriestraße 12, 50667 Köln",
        "",
        f"To: {m('buyer', buyer)}",
        "",
        dice.choice(["INVOICE {}", "Invoice No. {}", "TAX INVOICE   {}"]).format(m("number", number)),
        aligned((0, f"Date: {m('issued', pools.dots(issued))}"), (30, f"Customer no.: {m('customer', customer)}")),
        "",
        "For the goods handed over to the carrier on "
        + m("sent", f"{sent.day} {pools.MONTHS[sent.month - 1]}\n{sent.year}"),
        "we charge, according to our terms of 01.01.2020:",
        "",
        aligned((0, "Pos"), (5, "Article"), (-40, "Qty"), (-56, "Price each"), (-72, "EUR")),
        "-" * 72,
    ]
    for index, (good, quantity, price) in enumerate(rows):
        cells = [(5, m(f"g{index}", good)), (-40, m(f"q{index}", quantity)), (-56, m(f"p{index}", eu(price)))]
        lines.append(aligned((0, f"{index + 1:02d}"), *cells, (-72, m(f"a{index}", eu(quantity * price)))))
    lines += [
        aligned(
            (0, f"{len(rows) + 1:02d}"), (5, "Credit for returned pallets"), (-72, m("back", minus.format(eu(back))))
        ),
        "-" * 72,
        aligned((30, dice.choice(["Net total", "Total excl. VAT"])), (-72, m("net", eu(net)))),
        aligned((30, f"plus {m('rate', f'{rate} %')} VAT"), (-72, m("vat", eu(vat)))),
        aligned(
            (30, dice.choice(["Invoice total", "Total incl. VAT", "Gross total"])),
            (-72, m("gross", eu(net + vat) + " EUR")),
        ),
        "",
        f"Payable by {m('due', pools.dots(due))} without deduction. If you pay by {m('early', pools.german(early))}",
        f"you may deduct {m('percent', f'{percent}%')} (that is {m('saved', eu(saved) + ' €')}).",
        f"The reverse charge procedure {m('reverse', 'applies') if reverse else m('reverse', 'does not apply')} to this supply.",
        "",
        f"Bank: Sparkasse KölnBonn   IBAN: {m('iban', iban)}   BIC: {m('bic', 'COLSDE33XXX')}",
        f"Managing director: {m('boss', dice.choice(pools.PEOPLE))}   Commercial register: HRB {digits(dice, 5)}",
    ]
    described(
        draft,
        pallet_credit="Signed amount of the position for returned pallets",
        skonto_percent="Discount for early payment, in percent",
        skonto_until="Last day on which the early payment discount is granted",
        dispatch_date="When the goods were given to the carrier",
    )
    facts: list[Fact] = [
        ("supplier", seller, "seller", "unlabelled accents"),
        ("supplier_vat_id", vat_id.replace(" ", ""), "vatid", "id_spacing"),
        ("recipient", buyer, "buyer", "accents"),
        ("invoice_no", number.lower(), "number", "id_case"),
        perhaps(dice, "invoice_date", issued, "issued", "day_month_context", swapped(issued), "swapped_date"),
        ("dispatch_date", sent, "sent", "broken_line date_forms"),
        ("customer_number", customer, "customer", "row_label"),
        ("net_total", net, "net", "european_number"),
        ("vat_rate", Decimal(rate) / 100, "rate", "percent"),
        ("vat_amount", vat, "vat", "european_number"),
        ("gross_total", net + vat, "gross", "european_number currency repeated_role"),
        perhaps(dice, "pallet_credit", -back, "back", "negative european_number", back, "other_sign"),
        ("due_date", due, "due", "day_month_context prose"),
        ("skonto_percent", percent, "percent", "percent prose"),
        ("skonto_amount", saved, "saved", "paren_aside european_number currency"),
        ("skonto_until", early, "early", "date_forms prose"),
        ("payable_with_skonto", net + vat - saved, "", "computable"),
        perhaps(dice, "reverse_charge", reverse, "reverse", "boolean_negation inside", not reverse, "negated"),
        ("iban", iban.replace(" ", ""), "iban", "id_spacing"),
        ("bic", "COLSDE33XXX", "bic", "row_label"),
        ("managing_director", bare_mark(lines, "boss"), "boss", "row_label accents"),
        ("recipient_vat_id", None, "", "none"),
        ("order_number", "AB-" + digits(dice, 6), "", "absent"),
    ]
    for index, (good, quantity, price) in enumerate(rows):
        item = f"positions[{index}]"
        facts += [
            (f"{item}.article", good, f"g{index}", "table_row"),
            (f"{item}.qty", quantity, f"q{index}", "table_row"),
            crossed(f"{item}.price_each", price, f"p{index}", "european_number table_row", rows[0][2], index == 1),
            (f"{item}.line_total", quantity * price, f"a{index}", "european_number table_row"),
        ]
    tell(draft, facts)
    return as_text("\n".join(lines))


def daily_invoice_html(dice: random.Random, draft: Draft) -> Made:
    """A subscription invoice as a web page: references above their values, seats and discounts, a credit, a status."""
    vendor, client = dice.sample(pools.COMPANIES, 2)
    contact = dice.choice(pools.PEOPLE)
    street, city = dice.choice(pools.STREETS), dice.choice(pools.CITIES)
    start = clear_day(dice).replace(day=1)
    end = (start + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    issued, due = end + timedelta(days=dice.randint(2, 9)), end + timedelta(days=dice.randint(20, 40))
    sign = dice.choice("$£€")
    number, sub = (
        f"{dice.choice('ABCDEF')}{digits(dice, 7)}-{digits(dice, 4)}",
        f"sub_{dice.choice('GHKM')}{digits(dice, 6)}{dice.choice('xyz')}",
    )
    plans = dice.sample(
        ["Team plan", "Audit log add-on", "Priority support", "Extra storage", "Sandbox"], dice.randint(2, 3)
    )
    rows = [(plan, dice.randint(2, 90), money(dice, 500, 6_000), dice.choice([5, 10, 15, 20])) for plan in plans]
    amounts = [cents(seats * price * (100 - cut) / 100) for _, seats, price, cut in rows]
    credit = money(dice, 800, 3_000)
    rate = dice.choice(["20", "8.1", "5.5"])
    vat = cents((sum(amounts) - credit) * Decimal(rate) / 100)
    total = sum(amounts) - credit + vat
    paid, renews = dice.random() < 0.5, dice.random() < 0.5
    written = dice.choice([pools.uk_long, pools.us_long, pools.short])
    card, less = digits(dice, 4), dice.choice(["\u2212", "-"])
    body = "".join(
        f"<tr><td>{m(f'n{index}', plan)}</td><td>{m(f's{index}', seats)}</td><td>{m(f'p{index}', sign + us(price))}</td><td>{m(f'c{index}', f'{cut}%')}</td>"
        f"<td>{m(f'a{index}', sign + us(amounts[index]))}</td></tr>"
        for index, (plan, seats, price, cut) in enumerate(rows)
    )
    status = (
        dice.choice(["This invoice has been paid", "Paid in full"])
        if paid
        else dice.choice(["This invoice has not been paid yet", "Payment is still outstanding"])
    )
    renewal = "renews automatically" if renews else "will not renew automatically"
    source = f"""<html><head><title>Invoice</title><style>td {{ padding: 12px }}</style></head><body>
<h1>{m("vendor", vendor.replace("&", "&amp;"))}</h1>
<table><tr><th>Invoice number</th><th>{dice.choice(["Date of issue", "Issued on"])}</th><th>{dice.choice(["Date due", "Pay by"])}</th><th>Subscription</th></tr>
<tr><td>{m("number", number)}</td><td>{m("issued", written(issued))}</td><td>{m("due", written(due))}</td><td>{m("sub", sub)}</td></tr></table>
<h3>Bill to</h3><p>{m("client", client.replace("&", "&amp;"))}<br>Attn. {m("contact", contact)}<br>{m("address", f"{street}<br>{city}")}</p>
<p>Service period: {m("start", written(start))} \u2013 {m("end", written(end))}</p>
<table><tr><th>Product</th><th>Seats</th><th>Unit price</th><th>Discount</th><th>Amount</th></tr>{body}</table>
<table><tr><td>Account credit</td><td>{m("credit", less + sign + us(credit))}</td></tr>
<tr><td>VAT at {m("rate", rate + "%")}</td><td>{m("vat", sign + us(vat))}</td></tr>
<tr><td><b>{dice.choice(["Total", "Total due"])}</b></td><td><b>{m("total", sign + us(total))}</b></td></tr></table>
<p>{m("paid", status)}. Your subscription {m("renews", renewal)} on the last day of the period. Card on file: Visa ending in {m("card", card)}.</p>
<div>Questions? Write to billing@example.com or call +44 20 7946 {digits(dice, 4)}. Company no. {digits(dice, 8)}. Page 1/1</div>
</body></html>"""
    described(draft, account_credit="Signed: a credit lowers the total")
    facts: list[Fact] = [
        ("vendor_name", vendor, "vendor", "unlabelled accents"),
        ("invoice_id", number.replace("-", " ").lower(), "number", "id_spacing id_case label_above"),
        ("issued_on", issued, "issued", "date_forms label_above"),
        ("due_on", due, "due", "date_forms label_above"),
        ("subscription_id", sub, "sub", "label_above"),
        ("bill_to.company", client, "client", "label_above accents"),
        ("bill_to.attention", contact, "contact", "accents"),
        ("bill_to.address", f"{street}, {city}", "address", "broken_line"),
        ("period.start", start, "start", "date_forms range"),
        perhaps(dice, "period.end", end, "end", "date_forms range", issued, "other_role"),
        perhaps(dice, "account_credit", -credit, "credit", "negative currency", credit, "other_sign"),
        ("vat_percent", Decimal(rate), "rate", "percent"),
        ("vat", vat, "vat", "currency"),
        ("total", total, "total", "currency"),
        perhaps(dice, "is_paid", paid, "paid", "boolean inside", not paid, "negated"),
        ("auto_renew", renews, "renews", "boolean_negation inside"),
        ("card_last4", card, "card", "prose"),
        ("total_before_vat", total - vat, "", "computable"),
        ("purchase_order", None, "", "none"),
    ]
    for index, (plan, seats, price, cut) in enumerate(rows):
        item = f"items[{index}]"
        facts += [
            (f"{item}.product", plan, f"n{index}", "table_row"),
            crossed(f"{item}.seats", seats, f"s{index}", "column_heading", rows[0][1], index == 1),
            (f"{item}.unit_price", price, f"p{index}", "column_heading currency"),
            (f"{item}.discount", cut / 100, f"c{index}", "column_heading percent"),
            (f"{item}.amount", amounts[index], f"a{index}", "column_heading currency"),
        ]
    tell(draft, facts)
    return as_html(source)


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (
    daily_invoice_pdf,
    daily_invoice_text,
    daily_invoice_html,
)
