# fmt: off
"""Business papers, first half: a workshop's invoice, a Rechnung, a till receipt, a credit note, an order, a reminder."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]
OTHER_ROLE = "other_role contradicted"


def either(draft: Draft, dice: random.Random, path: str, value: Any, key: str, wrong: Any, why: str = OTHER_ROLE, **how: Any) -> None:
    """The field with its right value, or with a wrong one that must stay without evidence."""
    if wrong == value or dice.random() < 0.5:
        draft.says(path, value, key, **how)
    else:
        draft.empty(path, wrong, why)


def workshop_invoice_text(dice: random.Random, draft: Draft) -> Made:
    """A garage: labour and parts in two tables, a fee outside VAT, a deposit; day first; the invoice day is the day out."""
    name, owner = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    came = murky_day(dice)
    paid = clear_day(dice, came - timedelta(days=45), 40)
    out = came + timedelta(days=dice.randint(1, 3))
    number, card, miles = dice.randint(20_000, 29_999), dice.randint(30_000, 39_999), dice.randint(31_000, 89_000)
    plate = f"{dice.choice('AEKL')}{dice.choice('BFGY')}{dice.randint(10, 24)} {dice.choice('DHJT')}{dice.choice('NPRS')}{dice.choice('UVWX')}"
    rate = Decimal(dice.choice([58, 62, 74]))
    jobs = []
    for what in dice.sample(["Replace timing belt", "Front brake overhaul", "Full service", "Diagnose warning light"], 2):
        hours = Decimal(dice.choice(["0.5", "1.5", "2.5", "3.0"]))
        jobs.append((what, hours, cents(hours * rate)))
    parts = []
    for what in dice.sample(["Belt kit", "Brake pads (set)", "Oil filter", "Engine oil 5W-30", "Wiper blade"], dice.randint(2, 3)):
        price, count = money(dice, 450, 9_900), dice.choice([1, 2, 4])
        parts.append((f"{dice.choice('BMX')}{dice.randint(100, 999)}-{dice.randint(10, 99)}", what, count, price, cents(price * count)))
    labour, goods = sum((job[2] for job in jobs), Decimal(0)), sum((part[4] for part in parts), Decimal(0))
    vat, fee, deposit = cents((labour + goods) / 5), Decimal("54.85"), Decimal(dice.choice([50, 75, 100]))
    total, returned = labour + goods + vat + fee, dice.random() < 0.5
    lines = [
        m("name", name.upper() if dice.random() < 0.3 else name),
        f"{dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}",
        f"VAT Reg. GB {dice.randint(100, 999)} {dice.randint(1000, 9999)} {dice.randint(10, 99)}", "",
        aligned((0, f"Customer: {m('owner', owner)}"), (42, f"Invoice no. {m('number', number)}")),
        aligned((0, f"Vehicle reg.: {m('plate', plate)}"), (42, f"Tax point: {m('tax', pools.slash_uk(out))}")),
        aligned((0, f"Mileage: {m('miles', f'{miles:,}')}"), (42, f"Job card: {m('card', card)}")),
        f"Booked in {m('in', pools.slash_uk(came))}, collected {m('out', pools.slash_uk(out))}",
        "", aligned((0, "LABOUR"), (-44, "Hours"), (-56, "Rate"), (-68, "Amount")),
    ]
    lines += [aligned((0, m(f"j{i}", what)), (-44, m(f"h{i}", hours)), (-56, us(rate)), (-68, m(f"ja{i}", us(amount)))) for i, (what, hours, amount) in enumerate(jobs)]
    lines += ["", aligned((0, "PARTS"), (14, "Description"), (-44, "Qty"), (-56, "Each"), (-68, "Amount"))]
    lines += [aligned((0, m(f"n{i}", no)), (14, what), (-44, m(f"q{i}", count)), (-56, m(f"e{i}", us(price))), (-68, m(f"pa{i}", us(amount)))) for i, (no, what, count, price, amount) in enumerate(parts)]
    sums = [("Total labour", "labour", labour), ("Total parts", "goods", goods), ("VAT @ 20%", "vat", vat), ("MOT test (outside scope of VAT)", "fee", fee)]
    sums += [(dice.choice(["INVOICE TOTAL", "Total incl. VAT"]), "total", total), (f"Less deposit received {pools.slash_uk(paid)}", "deposit", deposit), (dice.choice(["BALANCE TO PAY", "Balance due", "Now payable"]), "balance", total - deposit)]
    lines += ["", *(aligned((20, what), (-68, m(key, "£" + us(amount)))) for what, key, amount in sums), ""]
    lines.append(wrap(f"Parts are guaranteed for {m('months', 24)} months or 12,000 miles. Replaced parts {m('old', 'were handed back to' if returned else 'were not handed back to')} the customer. We are closed on Sundays."))
    draft.schema = {"properties": {"odometer": {"type": "integer", "description": "Mileage when the car came in"}, "tax_point": {"type": "string", "format": "date"}}}
    draft.says("garage_name", name, "name", traps="unlabelled accents")
    draft.says("customer", owner, "owner", traps="accents")
    either(draft, dice, "invoice_no", str(number), "number", str(card))
    draft.says("vehicle_registration", plate.replace(" ", ""), "plate", traps="id_spacing")
    draft.says("odometer", miles, "miles", traps="row_label")
    draft.says("tax_point", out, "tax", traps="day_month_context", elsewhere=True)
    either(draft, dice, "date_in", came, "in", swapped(came), "swapped_date contradicted", traps="day_month_context")
    draft.says("date_collected", out, "out", traps="day_month_context prose", elsewhere=True)
    for i, (what, hours, amount) in enumerate(jobs):
        draft.says(f"labour[{i}].task", what, f"j{i}", traps="table_row")
        either(draft, dice, f"labour[{i}].hours", hours, f"h{i}", jobs[1 - i][1], "other_row contradicted", traps="column_heading")
        draft.says(f"labour[{i}].amount", amount, f"ja{i}", traps="column_heading two_tables")
    for i, (no, _, count, price, amount) in enumerate(parts):
        draft.says(f"parts[{i}].part_no", no, f"n{i}", traps="table_row")
        draft.says(f"parts[{i}].qty", count, f"q{i}", traps="column_heading")
        either(draft, dice, f"parts[{i}].unit_price", price, f"e{i}", amount, "other_column contradicted", traps="column_heading", elsewhere=count == 1)
    draft.says("labour_total", labour, "labour", traps="row_label currency")
    draft.says("vat_amount", vat, "vat", traps="row_label currency")
    draft.empty("net_total", labour + goods, "computable")
    either(draft, dice, "total_incl_vat", total, "total", total - deposit, traps="row_label currency")
    draft.says("deposit_paid", deposit, "deposit", traps="row_label currency")
    either(draft, dice, "balance_due", total - deposit, "balance", total, traps="row_label currency")
    draft.says("guarantee_months", 24, "months", traps="prose")
    either(draft, dice, "old_parts_returned", returned, "old", not returned, "negated contradicted", traps="boolean_negation", inside=True)
    draft.empty("courtesy_car_charge", None, "none")
    return as_text("\n".join(lines))


def skonto_pdf(dice: random.Random, draft: Draft) -> Made:
    """A German invoice with English field names: period of service, discount for early payment, footer in columns."""
    pdf = PdfDraft()
    sender, receiver = dice.sample(pools.COMPANIES, 2)
    clerk, director = dice.sample(pools.PEOPLE, 2)
    start = clear_day(dice)
    end, issued = start + timedelta(days=20), start + timedelta(days=24)
    early, due, ordered = issued + timedelta(days=10), issued + timedelta(days=30), murky_day(dice, start - timedelta(days=80), 60)
    number, client = f"RE-{issued.year}-{dice.randint(1000, 9999)}", f"{dice.randint(10_000, 99_999)}"
    tax_id, iban = (f"DE{dice.randint(100_000_000, 999_999_999)}", f"DE{dice.randint(10, 99)} {dice.randint(1000, 9999)} {dice.randint(1000, 9999)} {dice.randint(1000, 9999)} {dice.randint(1000, 9999)} 00")
    pdf.text(60, 60, m("sender", sender), size=16, font=1)
    for y, line in ((110, m("receiver", receiver)), (124, dice.choice(pools.STREETS)), (138, dice.choice(pools.CITIES))):
        pdf.text(60, y, line)
    facts = [(dice.choice(["Rechnungsnummer", "Rechnung Nr."]), "number", number), ("Rechnungsdatum", "issued", pools.dots(issued)), (dice.choice(["Kundennummer", "Kunden-Nr."]), "client", client)]
    facts += [("Ihre Bestellung vom", "ordered", pools.dots(ordered)), ("Ansprechpartner", "clerk", clerk)]
    dice.shuffle(facts)
    for i, (label, key, words) in enumerate(facts):
        pdf.row(110 + 14 * i, [(340, label), (450, m(key, words))])
    pdf.text(60, 210, f"Leistungszeitraum: {m('start', pools.dots(start))} - {m('end', pools.dots(end))}")
    pdf.row(240, [(60, "Pos."), (90, dice.choice(["Bezeichnung", "Leistung"])), (-330, "Menge"), (-420, "Einzelpreis EUR"), (-530, "Gesamtpreis EUR")])
    rows = []
    for i, what in enumerate(dice.sample(["Wartung Heizung", "Anfahrt", "Dichtungssatz", "Montagestunde", "Entsorgung"], dice.randint(2, 3))):
        count, price = dice.choice([2, 3, 5, 8]), money(dice, 1_500, 24_000)
        rows.append((what, count, price, cents(count * price)))
        cells = [(60.0, str(i + 1)), (90.0, m(f"d{i}", what)), (-330.0, m(f"q{i}", count)), (-420.0, m(f"p{i}", eu(price))), (-530.0, m(f"t{i}", eu(rows[i][3])))]
        pdf.row(258 + 16 * i, cells)
    net = sum((row[3] for row in rows), Decimal(0))
    tax, skonto = cents(net * 19 / 100), cents(net * 119 / 5000)
    for y, label, key, amount in ((330, dice.choice(["Nettobetrag", "Summe netto"]), "net", net), (345, dice.choice(["zzgl. 19 % Umsatzsteuer", "19 % MwSt."]), "tax", tax), (360, dice.choice(["Rechnungsbetrag", "Gesamtbetrag", "Summe brutto"]), "gross", net + tax)):
        pdf.row(y, [(340, label), (-530, m(key, eu(amount)))])
    pdf.text(60, 390, f"Zahlbar bis zum {m('due', pools.dots(due))} ohne Abzug. Bei Zahlung bis zum {m('early', pools.dots(early))}")
    pdf.text(60, 404, f"gewähren wir {m('rate', '2 %')} Skonto, das sind {m('skonto', eu(skonto) + ' EUR')}.")
    pdf.row(780, [(60, f"Geschäftsführer: {m('director', director)}"), (300, f"USt-IdNr.: {m('vat', tax_id)}")], size=8)
    pdf.row(792, [(60, f"IBAN: {m('iban', iban)}"), (300, f"Amtsgericht Köln HRB {dice.randint(1000, 9999)}")], size=8)
    draft.schema = {"properties": {
            "managing_director": {"type": "string", "description": "Geschäftsführer of the sender"},
            "early_payment": {"properties": {"amount": {"description": "Skonto in euros"}}},
            "gross_total": {"description": "Amount including VAT"}
    }}
    draft.says("seller", sender, "sender", traps="unlabelled accents")
    draft.says("invoice_number", number.replace("-", " "), "number", traps="id_spacing foreign_label")
    either(draft, dice, "invoice_date", issued, "issued", end, traps="european_date foreign_label")
    draft.says("customer_number", client, "client", traps="foreign_label")
    either(draft, dice, "order_date", ordered, "ordered", swapped(ordered), "swapped_date contradicted", traps="european_date foreign_label")
    either(draft, dice, "contact_person", clerk, "clerk", director, traps="accents foreign_label")
    draft.says("service_period.start", start, "start", traps="date_range foreign_label")
    draft.says("service_period.end", end, "end", traps="date_range foreign_label")
    for i, (what, count, price, amount) in enumerate(rows):
        following = rows[(i + 1) % len(rows)]
        draft.says(f"items[{i}].description", what, f"d{i}", traps="table_row")
        draft.says(f"items[{i}].quantity", count, f"q{i}", traps="column_heading foreign_label", elsewhere=True)
        either(draft, dice, f"items[{i}].unit_price", price, f"p{i}", following[2], "other_row contradicted", traps="european_number column_heading")
        draft.says(f"items[{i}].line_total", amount, f"t{i}", traps="european_number column_heading")
    draft.says("net_total", net, "net", traps="european_number foreign_label")
    draft.says("vat_amount", tax, "tax", traps="european_number foreign_label")
    either(draft, dice, "gross_total", net + tax, "gross", net, traps="european_number foreign_label")
    either(draft, dice, "due_date", due, "due", early, traps="prose european_date foreign_label")
    draft.says("early_payment.until", early, "early", traps="prose european_date foreign_label")
    draft.says("early_payment.rate", Decimal("0.02"), "rate", traps="percent prose")
    draft.says("early_payment.amount", skonto, "skonto", traps="european_number prose")
    draft.empty("amount_after_early_payment", net + tax - skonto, "computable")
    draft.says("iban", iban.replace(" ", ""), "iban", traps="id_spacing")
    draft.says("vat_id", tax_id, "vat", traps="foreign_label")
    draft.says("managing_director", director, "director", traps="accents foreign_label")
    draft.empty("purchase_order_number", None, "none")
    return pdf.done()


def till_receipt_text(dice: random.Random, draft: Draft) -> Made:
    """A narrow receipt: counts on a line of their own, a saving, a bottle deposit, tax codes, change."""
    shop, bought = dice.choice(pools.COMPANIES), clear_day(dice)
    sign, above = dice.choice(["£", "€", "$"]), dice.random() < 0.5
    things = dice.sample(["OAT MILK 1L", "GREEK YOGHURT", "RYE BREAD", "COLA 6X330ML", "DISH SOAP", "CHEDDAR 400G"], dice.randint(3, 4))
    rows: list[tuple[str, int, Decimal, Decimal]] = []
    lines = [
        shop.upper().center(36).rstrip(),
        aligned((0, f"STORE {m('store', f'0{dice.randint(110, 989)}')}"), (14, f"TILL {m('till', f'0{dice.randint(3, 9)}')}"), (24, f"CASHIER {m('who', dice.choice(pools.PEOPLE).split()[0].upper())}")),
        aligned((0, m("bought", f"{bought:%d/%m/%y}")), (10, f"{dice.randint(9, 20):02d}:{dice.randint(10, 59)}"), (20, f"TRANS {m('trans', dice.randint(40_000, 99_999))}")), "-" * 36,
    ]
    for i, thing in enumerate(things):
        count, price = (dice.choice([2, 3]) if i % 2 else 1), money(dice, 79, 990)
        rows.append((thing, count, price, price * count))
        printed = [f"  {m(f'c{i}', count)} x {m(f'u{i}', us(price))}"] if count > 1 else []
        printed.insert(len(printed) if above else 0, aligned((0, m(f"n{i}", thing)), (-32, m(f"a{i}", us(price * count))), (34, "B" if i % 2 else "A")))
        lines += printed
    saving, bottle = money(dice, 20, 78), Decimal("0.15") * dice.randint(1, 4)
    goods = sum((row[3] for row in rows), Decimal(0))
    total = goods - saving + bottle
    given, count = (total // 10 + dice.choice([1, 2])) * 10, sum(row[1] for row in rows)
    tax = cents(sum((row[3] for row in rows[1::2]), Decimal(0)) / 6)
    points, balance = int(total), dice.randint(1_100, 4_900)
    lines += [
        aligned((0, "MULTIBUY SAVING"), (-32, m("saving", f"-{us(saving)}"))),
        aligned((0, dice.choice(["BOTTLE DEPOSIT", "DEPOSIT (BOTTLES)"])), (-32, m("bottle", us(bottle)))), "-" * 36,
        aligned((0, f"TOTAL ({m('count', count)} ITEMS)"), (-32, m("total", sign + us(total)))),
        aligned((0, dice.choice(["CASH", "CASH TENDERED"])), (-32, m("given", sign + us(given)))),
        aligned((0, dice.choice(["CHANGE", "CHANGE DUE"])), (-32, m("change", sign + us(given - total)))), "",
        aligned((0, "CODE"), (8, "RATE"), (-24, "TAX INCL.")), aligned((0, "A"), (8, "0%"), (-24, "0.00")),
        aligned((0, "B"), (8, m("rate", "20%")), (-24, m("tax", us(tax)))), "",
        f"POINTS EARNED TODAY: {m('points', points)}", f"YOUR POINTS BALANCE: {m('balance', f'{balance:,}')}",
        f"Keep this receipt. Refunds within {m('days', dice.choice([14, 28, 30]))} days.",
    ]
    text = "\n".join(lines)
    value = {key: text.split(f"⟦{key}|")[1].split("⟧")[0] for key in ("store", "till", "who", "trans", "days")}
    draft.schema = {"properties": {"tax_included": {"description": "Tax contained in the total"}}}
    draft.says("store_number", value["store"], "store", traps="row_label")
    draft.says("till", int(value["till"]), "till", traps="row_label")
    draft.says("cashier", value["who"].title(), "who", traps="row_label")
    either(draft, dice, "purchase_date", bought, "bought", bought.replace(year=bought.year + 1), "unrelated contradicted", traps="unlabelled date_forms")
    draft.says("transaction_id", value["trans"], "trans", traps="row_label")
    for i, (thing, number, price, amount) in enumerate(rows):
        draft.says(f"lines[{i}].product", thing.title(), f"n{i}", traps="table_row")
        if number > 1:
            draft.says(f"lines[{i}].quantity", number, f"c{i}", traps="label_above")
            either(draft, dice, f"lines[{i}].unit_price", price, f"u{i}", rows[i - 1][2], "other_row contradicted", traps="label_above")
        else:
            draft.empty(f"lines[{i}].weight_kg", None, "none")
        either(draft, dice, f"lines[{i}].price", amount, f"a{i}", rows[(i + 1) % len(rows)][3], "other_row contradicted", traps="table_row")
    either(draft, dice, "multibuy_saving", -saving, "saving", saving, "other_sign contradicted", traps="negative row_label")
    draft.says("bottle_deposit", bottle, "bottle", traps="row_label")
    draft.says("item_count", count, "count", traps="paren_aside")
    draft.says("total", total, "total", traps="row_label currency")
    either(draft, dice, "cash_given", given, "given", total, traps="row_label currency")
    draft.says("change", given - total, "change", traps="row_label currency")
    draft.empty("goods_before_savings", goods, "computable")
    draft.says("tax_included", tax, "tax", traps="column_heading")
    either(draft, dice, "points_earned", points, "points", balance, traps="row_label")
    draft.says("points_balance", balance, "balance", traps="row_label")
    draft.says("refund_period_days", int(value["days"]), "days", traps="prose")
    draft.empty("card_last_four", None, "none")
    return as_text(text)


def credit_note_html(dice: random.Random, draft: Draft) -> Made:
    """A credit note: figures in brackets or with a minus, the invoice it corrects with its own number, day and total."""
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    issued = clear_day(dice)
    billed, refund = clear_day(dice, issued - timedelta(days=90), 60), clear_day(dice, issued + timedelta(days=5), 40)
    sign, minus, fmt = dice.choice(["$", "£", "€"]), dice.random() < 0.5, dice.choice([pools.uk_long, pools.us_long, pools.short])
    note, invoice, account = (f"CN-{dice.randint(1000, 9999)}", f"INV-{dice.randint(10_000, 99_999)}", f"C{dice.randint(1000, 9999)}")
    vat_rate, rows = dice.choice([20, 21, 25]), []
    for what in dice.sample(pools.GOODS, dice.randint(2, 3)):
        price, back = money(dice, 900, 20_000), dice.choice([2, 3, 4, 6])
        rows.append((what, f"{dice.choice('KLM')}-{dice.randint(200, 899)}", back, price, cents(price * back)))
    net, fee = sum((row[4] for row in rows), Decimal(0)), money(dice, 500, 2_500)
    vat = cents((net - fee) * vat_rate / 100)
    total, was = net - fee + vat, cents(net * 3 + money(dice, 1_000, 9_000))
    reason, swap = dice.choice(["damaged in transit", "supplied in the wrong size", "ordered in error"]), dice.random() < 0.5

    def back_out(amount: Decimal) -> str:
        return f"-{sign}{us(amount)}" if minus else f"({sign}{us(amount)})"

    facts = [("Credit note", m("note", note)), ("Date of issue", m("issued", fmt(issued))), ("Customer", m("buyer", buyer)), ("Account", m("account", account))]
    facts += [(dice.choice(["Corrects invoice", "Relates to invoice"]), f"{m('invoice', invoice)} of {m('billed', fmt(billed))}"), ("Original invoice total", m("was", sign + us(was)))]
    body = "".join(f"<tr><th>{label}</th><td>{words}</td></tr>" for label, words in facts)
    table = "".join(f"<tr><td>{m(f's{i}', sku)}</td><td>{m(f'd{i}', what)}</td><td>{m(f'q{i}', back)}</td><td>{sign}{us(price)}</td><td>{m(f'a{i}', back_out(amount))}</td></tr>" for i, (what, sku, back, price, amount) in enumerate(rows))
    sums = [("Goods credited", "net", back_out(net)), (dice.choice(["Restocking charge", "Restocking fee"]), "fee", sign + us(fee)), (f"VAT ({vat_rate}%)", "vat", back_out(vat)), (dice.choice(["Total credit", "Credit note total"]), "total", back_out(total))]
    source = f"""<!doctype html><html><body><h1>{m("seller", seller)}</h1><h2>CREDIT NOTE</h2><table>{body}</table>
<p>Reason for the credit: goods {m("reason", reason)}. Replacements {m("swap", "have been shipped" if swap else "will not be shipped")}.</p>
<table><thead><tr><th>Article</th><th>Description</th><th>Returned</th><th>Unit price</th><th>Amount</th></tr></thead><tbody>{table}</tbody></table>
<table>{"".join(f"<tr><td>{label}</td><td>{m(key, words)}</td></tr>" for label, key, words in sums)}</table>
<p>The credit will be paid to your bank account by {m("refund", fmt(refund))}. It cannot be offset against later invoices.</p>
<footer>{seller}, {dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}</footer></body></html>"""
    draft.schema = {"properties": {"return_reason": {"enum": ["damaged in transit", "supplied in the wrong size", "ordered in error"]}, "total": {"description": "Total of the credit note, negative"}}}
    draft.says("credit_note_number", note, "note", traps="row_label")
    either(draft, dice, "issue_date", issued, "issued", billed, traps="date_forms row_label")
    draft.says("customer.name", buyer, "buyer", traps="accents row_label")
    draft.says("customer.account_no", account, "account", traps="row_label")
    draft.empty("customer.vat_id", None, "none")
    draft.says("original_invoice.number", invoice.replace("-", " "), "invoice", traps="id_spacing row_label")
    draft.says("original_invoice.date", billed, "billed", traps="date_forms")
    either(draft, dice, "original_invoice.total", was, "was", total, traps="currency row_label")
    draft.says("return_reason", reason, "reason", traps="enum prose", inside=True)
    either(draft, dice, "replacement_shipped", swap, "swap", not swap, "negated contradicted", traps="boolean_negation prose", inside=True)
    for i, (what, sku, back, _, amount) in enumerate(rows):
        draft.says(f"items[{i}].sku", sku, f"s{i}", traps="table_row")
        draft.says(f"items[{i}].description", what, f"d{i}", traps="table_row")
        draft.says(f"items[{i}].quantity_returned", back, f"q{i}", traps="column_heading", elsewhere=True)
        either(draft, dice, f"items[{i}].amount", -amount, f"a{i}", amount, "other_sign contradicted", traps="negative" if minus else "negative_paren")
    draft.says("restocking_fee", fee, "fee", traps="currency row_label")
    draft.says("vat", -vat, "vat", traps="negative" if minus else "negative_paren")
    either(draft, dice, "total", -total, "total", -net, traps="negative" if minus else "negative_paren")
    draft.says("refund_by", refund, "refund", traps="date_forms prose")
    draft.empty("remaining_invoice_balance", was - total, "computable")
    return as_html(source)


def purchase_order_pdf(dice: random.Random, draft: Draft) -> Made:
    """An American order: three blocks of addresses, each line with its own day, prices per unit, month first."""
    pdf = PdfDraft()
    buyer, vendor, depot = dice.sample(pools.COMPANIES, 3)
    agent, dock = dice.sample(pools.PEOPLE, 2)
    ordered = murky_day(dice)
    confirm = clear_day(dice, ordered + timedelta(days=2), 30)
    number, vendor_id, revision = (f"45{dice.randint(10_000_000, 99_999_999)}", f"V{dice.randint(1000, 9999)}", dice.randint(1, 4))
    exempt, days, pages, cities = dice.random() < 0.5, dice.choice([30, 45, 60]), dice.choice([1, 2]), dice.sample(pools.CITIES, 3)
    pdf.row(50, [(40, m("buyer", buyer)), (400, "PURCHASE ORDER")], size=14)
    pdf.row(80, [(40, "PO number"), (150, "Order date"), (260, "Revision"), (350, "Payment terms"), (460, "Buyer")], size=8)
    pdf.row(93, [(40, m("number", number)), (150, m("ordered", pools.slash_us(ordered))), (260, m("revision", revision)), (350, f"Net {m('days', days)} days"), (460, m("agent", agent))])
    pdf.row(125, [(40, "VENDOR"), (230, "SHIP TO"), (410, "BILL TO")], size=8)
    pdf.row(138, [(40, m("vendor", vendor)), (230, m("depot", depot)), (410, buyer)], size=9)
    pdf.row(150, [(40, m("c0", cities[0])), (230, m("c1", cities[1])), (410, m("c2", cities[2]))], size=9)
    pdf.row(162, [(40, f"Vendor ID: {m('vid', vendor_id)}"), (230, f"Attn: {m('dock', dock)}")], size=9)
    pdf.row(200, [(40, "Line"), (80, "Part no."), (160, "Description"), (-345, "Qty ordered"), (-425, "Price / unit"), (-490, dice.choice(["Need by", "Required by", "Deliver by"])), (-560, "Extended")], size=9)
    rows = []
    for i, what in enumerate(dice.sample(pools.GOODS, dice.randint(2, 3))):
        count, price, need = (dice.choice([10, 24, 36, 100]), money(dice, 210, 8_900), (murky_day if i else clear_day)(dice, ordered + timedelta(days=20), 120))
        rows.append((f"{dice.randint(100, 999)}-{dice.choice('ABC')}{dice.randint(10, 99)}", what, count, price, need, cents(price * count)))
        part, _, _, _, _, amount = rows[i]
        cells = [(40.0, str(10 * i + 10)), (80.0, m(f"n{i}", part)), (160.0, what), (-345.0, m(f"q{i}", count)), (-425.0, m(f"p{i}", us(price))), (-490.0, m(f"b{i}", pools.slash_us(need)))]
        pdf.row(216 + 15 * i, [*cells, (-560, m(f"x{i}", us(amount)))], size=9)
    subtotal, freight = sum((row[5] for row in rows), Decimal(0)), money(dice, 2_000, 30_000)
    for y, label, key, amount in ((300, "Subtotal", "sub", subtotal), (314, "Freight allowance", "freight", -freight), (328, dice.choice(["Order total (USD)", "Total USD"]), "total", subtotal - freight)):
        pdf.row(y, [(400, label), (-560, m(key, us(amount)))])
    pdf.text(40, 360, f"This purchase {m('exempt', 'is exempt from sales tax' if exempt else 'is subject to sales tax, which is not included above')}.")
    pdf.text(40, 374, f"Please confirm this order no later than {m('confirm', pools.us_long(confirm))}. Partial shipments {m('partial', 'are not accepted')}.")
    pdf.text(40, 388, f"Quote our number {m('number2', number)} on every package. Invoices without it are returned unpaid.")
    pdf.text(40, 800, f"{buyer} - PO {m('number3', number)} - Page 1 of {pages}", size=7)
    draft.schema = {"properties": {"tax_exempt": {"type": "boolean"}, "lines": {"items": {"properties": {"extended": {"description": "Quantity times price"}}}}}}
    draft.says("po_number", number, "number", "number2", "number3", traps="label_above")
    either(draft, dice, "po_date", ordered, "ordered", swapped(ordered), "swapped_date contradicted", traps="label_above day_month_context")
    draft.says("revision", revision, "revision", traps="label_above", elsewhere=True)
    draft.says("payment_terms_days", days, "days", traps="label_above")
    either(draft, dice, "buyer_contact", agent, "agent", dock, traps="label_above accents")
    draft.says("vendor.name", vendor, "vendor", traps="label_above accents")
    draft.says("vendor.id", vendor_id, "vid", traps="row_label")
    either(draft, dice, "ship_to.company", depot, "depot", vendor, traps="label_above accents")
    draft.says("ship_to.attention", dock, "dock", traps="accents")
    draft.says("ship_to.city", cities[1], "c1", traps="block")
    either(draft, dice, "bill_to.city", cities[2], "c2", cities[0], traps="block")
    for i, (part, _, count, price, need, amount) in enumerate(rows):
        following = rows[(i + 1) % len(rows)]
        draft.says(f"lines[{i}].part_number", part, f"n{i}", traps="table_row")
        draft.says(f"lines[{i}].quantity", count, f"q{i}", traps="column_heading", elsewhere=True)
        draft.says(f"lines[{i}].unit_price", price, f"p{i}", traps="column_heading")
        either(draft, dice, f"lines[{i}].need_by", need, f"b{i}", following[4], "other_row contradicted", traps="column_heading day_month_context")
        draft.says(f"lines[{i}].extended", amount, f"x{i}", traps="column_heading")
    either(draft, dice, "freight_allowance", -freight, "freight", freight, "other_sign contradicted", traps="negative row_label")
    either(draft, dice, "order_total", subtotal - freight, "total", subtotal, traps="row_label")
    either(draft, dice, "tax_exempt", exempt, "exempt", not exempt, "negated contradicted", traps="boolean prose", inside=True)
    either(draft, dice, "partial_shipments_allowed", False, "partial", True, "negated contradicted", traps="boolean_negation prose", inside=True)
    draft.says("confirm_by", confirm, "confirm", traps="prose date_forms")
    draft.empty("incoterm", None, "none")
    return pdf.done()


def reminder_letter_text(dice: random.Random, draft: Draft) -> Made:
    """A dunning letter: open invoices with two days each, a part payment, fee and interest in prose, an earlier reminder."""
    creditor, debtor = dice.sample(pools.COMPANIES, 2)
    clerk, chief = dice.sample(pools.PEOPLE, 2)
    written = clear_day(dice)
    before, until = written - timedelta(days=dice.randint(15, 25)), written + timedelta(days=dice.choice([7, 10, 14]))
    fmt, code = dice.choice([pools.uk_long, pools.us_long]), dice.choice(["EUR", "CHF", "GBP"])
    reference = f"{dice.choice(['MA', 'DN'])}/{dice.randint(1000, 9999)}"
    (level, earlier), rows = dice.choice([("second", "first"), ("third", "second")]), []
    for i in range(dice.randint(2, 4)):
        billed = written - timedelta(days=dice.randint(60, 120))
        rows.append((str(dice.randint(70_000, 79_999) + i), billed, billed + timedelta(days=30), money(dice, 12_000, 300_000), (written - billed).days - 30))
    rows[-1] = (*rows[-1][:3], rows[0][3], rows[-1][4])
    open_sum, paid = sum((row[3] for row in rows), Decimal(0)), money(dice, 2_000, 9_000)
    fee, interest = Decimal(dice.choice([15, 25, 40])), money(dice, 1_100, 8_000)
    due, stopped = open_sum - paid + fee + interest, dice.random() < 0.5
    lines = [m("creditor", creditor), f"{dice.choice(pools.STREETS)} - {dice.choice(pools.CITIES)}", "", m("debtor", debtor), "Accounts Payable", f"{dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}", ""]
    lines += [aligned((0, f"Our ref: {m('ref', reference)}"), (40, m("written", fmt(written)))), "", f"{m('level', level.capitalize())} reminder", "", "Dear Sir or Madam,", ""]
    lines.append(wrap(f"Despite our {earlier} reminder of {m('before', fmt(before))} we still find the following invoices open on your account:"))
    lines += ["", aligned((0, "Invoice"), (10, "Dated"), (32, dice.choice(["Fell due", "Due date", "Was due"])), (-68, f"Open amount {code}"), (-82, "Days late"))]
    lines += [aligned((0, m(f"n{i}", no)), (10, m(f"d{i}", fmt(billed))), (32, m(f"f{i}", fmt(fell))), (-68, m(f"a{i}", us(amount))), (-82, m(f"l{i}", late))) for i, (no, billed, fell, amount, late) in enumerate(rows)]
    lines += [aligned((0, dice.choice(["Sum", "Total open"])), (-68, m("sum", us(open_sum)))), ""]
    lines.append(wrap(
        f"Your part payment of {m('paid', f'{code} {us(paid)}')} has been taken into account. Together with a reminder fee of "
            f"{m('fee', f'{code} {us(fee)}')} and late interest of {m('interest', f'{code} {us(interest)}')} (at {m('rate', '8.5%')} a year) the amount you owe us is "
            f"{m('due', f'{code} {us(due)}')}. {dice.choice(['Please pay it by', 'We expect your transfer by'])} {m('until', fmt(until))} at the latest. Deliveries to you "
            f"{m('stopped', 'have been suspended' if stopped else 'have not been suspended')} for the time being."
    ))
    lines += [
        "", wrap(f"Should you have questions, {m('clerk', clerk)} of our accounts department is glad to help (extension {m('ext', dice.randint(200, 899))}). If you paid in the last few days, please disregard this letter."), "", "Yours faithfully,", m("chief", chief), "Head of Finance",
    ]
    text = "\n".join(lines)
    draft.schema = {"properties": {"level": {"enum": ["first", "second", "third"]}, "amount_payable": {"description": "Everything owed, with fee and interest"}}}
    draft.says("creditor", creditor, "creditor", traps="unlabelled accents")
    draft.says("debtor", debtor, "debtor", traps="unlabelled accents")
    draft.says("reference", reference.replace("/", " "), "ref", traps="id_spacing")
    either(draft, dice, "letter_date", written, "written", before, traps="unlabelled date_forms")
    either(draft, dice, "level", level, "level", earlier, traps="enum")
    draft.says("previous_reminder_date", before, "before", traps="prose date_forms broken_line")
    for i, (no, billed, fell, amount, late) in enumerate(rows):
        draft.says(f"invoices[{i}].number", no, f"n{i}", traps="table_row")
        either(draft, dice, f"invoices[{i}].due_date", fell, f"f{i}", billed, "other_column contradicted", traps="column_heading date_forms")
        draft.says(f"invoices[{i}].open_amount", amount, f"a{i}", traps="same_amount_rows column_heading", elsewhere=i in (0, len(rows) - 1))
        either(draft, dice, f"invoices[{i}].days_overdue", late, f"l{i}", rows[i - 1][4], "other_row contradicted", traps="column_heading")
    draft.says("invoices_total", open_sum, "sum", traps="row_label")
    draft.says("part_payment", paid, "paid", traps="prose currency broken_line")
    either(draft, dice, "reminder_fee", fee, "fee", interest, traps="prose currency broken_line")
    draft.says("interest_amount", interest, "interest", traps="prose currency broken_line")
    draft.says("interest_rate", Decimal("0.085"), "rate", traps="prose percent paren_aside")
    either(draft, dice, "amount_payable", due, "due", open_sum, traps="prose currency broken_line")
    draft.empty("open_after_payment", open_sum - paid, "computable")
    either(draft, dice, "pay_by", until, "until", written, traps="prose date_forms broken_line")
    either(draft, dice, "deliveries_suspended", stopped, "stopped", not stopped, "negated contradicted", traps="boolean_negation prose", inside=True)
    either(draft, dice, "contact_name", clerk, "clerk", chief, traps="prose accents")
    draft.says("contact_extension", text.split("⟦ext|")[1].split("⟧")[0], "ext", traps="prose")
    draft.says("signed_by", chief, "chief", traps="label_below accents")
    draft.empty("collection_agency", None, "none")
    return as_text(text)


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (workshop_invoice_text, skonto_pdf, till_receipt_text, credit_note_html, purchase_order_pdf, reminder_letter_text)
