# fmt: off
"""Business papers, second half: a subscription's bill, a quotation, a delivery note, a statement, a timesheet, a folio."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap
from tests.evidence.corpus.seen_bills import Made, either

ROW = "other_row contradicted"
NEGATED = "negated contradicted"


def subscription_bill_html(dice: random.Random, draft: Draft) -> Made:
    """A software bill: seats at a price, unused time given back, a coupon, usage against an allowance, next charge."""
    vendor, client = dice.sample(pools.COMPANIES, 2)
    sign, fmt = dice.choice(["$", "€", "£"]), dice.choice([pools.us_long, pools.uk_long])
    start = clear_day(dice)
    end, renewal = start + timedelta(days=30), start + timedelta(days=31)
    seats, price, plan = dice.randint(6, 48), Decimal(dice.choice(["9.50", "14.00", "22.00"])), dice.choice(["Team", "Business", "Scale"])
    used, allowed = dice.randint(1_020_000, 1_900_000), 1_000_000
    fee, unused, coupon = seats * price, money(dice, 1_000, 4_000), dice.choice([10, 15, 20])
    extra = money(dice, 2_000, 9_000)
    off = cents((fee + extra - unused) * coupon / 100)
    before = fee + extra - unused - off
    tax_rate = dice.choice(["8.25", "19", "20"])
    tax = cents(before * Decimal(tax_rate) / 100)
    total = before + tax
    number, customer, card = f"{dice.choice('ABCDEF')}{dice.randint(100, 999)}{dice.choice('KLMN')}-{dice.randint(1, 40):04d}", f"cus_{dice.randint(100_000, 999_999)}", f"{dice.randint(1000, 9999)}"
    renews, paid = dice.random() < 0.6, dice.random() < 0.6
    head = [("Invoice number", m("number", number)), ("Date of issue", m("issued", fmt(start))), ("Customer ID", m("customer", customer)), ("Billing period", f"{m('start', fmt(start))} to {m('end', fmt(end))}")]
    dice.shuffle(head)
    lines = [
        (f"{m('plan', plan)} plan, {m('seats', seats)} seats at {m('price', sign + us(price))} per seat and month", m("fee", sign + us(fee))),
        (f"API calls over the allowance: {m('used', f'{used:,}')} used, {m('allowed', '1 million')} included", m("extra", sign + us(extra))),
        (dice.choice(["Unused time on Starter plan", "Credit for unused time on Starter plan"]), m("unused", f"-{sign}{us(unused)}")),
        (f"Coupon SAVE{coupon} ({m('coupon', f'{coupon}%')} off)", m("off", f"-{sign}{us(off)}")),
    ]
    sums = [(dice.choice(["Total excluding tax", "Subtotal before tax"]), m("before", sign + us(before))), (f"Tax ({m('rate', tax_rate + '%')})", m("tax", sign + us(tax))), ("Total", m("total", sign + us(total)))]
    sums += [("Amount paid", m("paid", sign + us(total))), ("Amount due", m("due", f"{sign}0.00"))] if paid else [("Amount due", m("due", sign + us(total)))]
    nothing = f"No payment is needed: {sign}{us(total)} was charged to your card ending in {m('card', card)}." if paid else f"We will charge your card ending in {m('card', card)} within three days."
    source = f"""<!doctype html><html><head><title>Invoice</title></head><body><h1>{m("vendor", vendor)}</h1><h2>Invoice</h2>
<dl>{"".join(f"<dt>{label}</dt><dd>{words}</dd>" for label, words in head)}</dl>
<h3>Bill to</h3><p>{m("client", client)}<br>{m("street", dice.choice(pools.STREETS))}<br>{dice.choice(pools.CITIES)}</p>
<table><tr><th>Description</th><th>Amount</th></tr>{"".join(f"<tr><td>{what}</td><td>{amount}</td></tr>" for what, amount in lines)}</table>
<table>{"".join(f"<tr><td>{what}</td><td>{amount}</td></tr>" for what, amount in sums)}</table>
<p>{nothing} Your subscription {m("renews", "renews automatically" if renews else "does not renew automatically")}; {"the next charge is on" if renews else "it runs out on"} {m("renewal", fmt(renewal))}.</p>
<p>Support is available on weekdays from 9 to 17. Downgrades take effect at the end of the period. {m("vendor", vendor)}, {dice.choice(pools.CITIES)}</p></body></html>"""
    draft.schema = {"properties": {"proration_credit": {"description": "Credit for unused time, negative"}, "api_allowance": {"description": "API calls included"}, "plan": {"enum": ["starter", "team", "business", "scale"]}}}
    draft.says("vendor", vendor, "vendor", traps="unlabelled accents")
    draft.says("invoice_id", number.replace("-", " "), "number", traps="label_above id_spacing")
    draft.says("issued_on", start, "issued", traps="label_above date_forms", elsewhere=True)
    draft.says("customer_id", customer, "customer", traps="label_above")
    draft.says("period_start", start, "start", traps="date_range date_forms", elsewhere=True)
    either(draft, dice, "period_end", end, "end", renewal, traps="date_range date_forms")
    draft.says("bill_to.name", client, "client", traps="label_above accents")
    draft.says("bill_to.street", source.split("⟦street|")[1].split("⟧", maxsplit=1)[0], "street", traps="block")
    draft.empty("bill_to.vat_number", None, "none")
    either(draft, dice, "plan", plan.lower(), "plan", "starter", traps="enum")
    draft.says("seat_count", seats, "seats", traps="prose")
    either(draft, dice, "price_per_seat", price, "price", fee, traps="prose currency")
    draft.says("plan_charge", fee, "fee", traps="row_label currency")
    either(draft, dice, "api_calls_used", used, "used", allowed, traps="prose")
    draft.says("api_allowance", allowed, "allowed", traps="million prose")
    draft.empty("api_calls_over", used - allowed, "computable")
    draft.says("overage_charge", extra, "extra", traps="row_label currency")
    either(draft, dice, "proration_credit", -unused, "unused", unused, "other_sign contradicted", traps="negative row_label")
    draft.says("coupon_percent", coupon, "coupon", traps="percent paren_aside")
    either(draft, dice, "discount_amount", -off, "off", -unused, traps="negative row_label")
    draft.says("total_before_tax", before, "before", traps="row_label currency")
    draft.says("tax_rate", Decimal(tax_rate) / 100, "rate", traps="percent paren_aside")
    either(draft, dice, "tax_amount", tax, "tax", off, traps="row_label currency")
    draft.says("total", total, "total", traps="row_label currency", elsewhere=True)
    either(draft, dice, "amount_due", Decimal(0) if paid else total, "due", total if paid else Decimal(0), traps="row_label currency", elsewhere=True)
    draft.says("card_last4", card, "card", traps="prose")
    either(draft, dice, "auto_renew", renews, "renews", not renews, NEGATED, traps="boolean_negation prose", inside=True)
    if renews:
        draft.says("next_charge_date", renewal, "renewal", traps="prose date_forms")
    else:
        draft.empty("next_charge_date", None, "none")
    return as_html(source)


def quotation_docx(dice: random.Random, draft: Draft) -> Made:
    """A quotation: list price and net price per line, an option outside the sum, a deposit in percent and in money."""
    maker, client = dice.sample(pools.COMPANIES, 2)
    seller, asker = dice.sample(pools.PEOPLE, 2)
    asked = clear_day(dice)
    made, valid = asked + timedelta(days=4), asked + timedelta(days=34)
    code, weeks, months, fmt = dice.choice(["EUR", "USD", "AUD"]), dice.randint(4, 9), dice.choice([12, 24, 36]), dice.choice([pools.uk_long, pools.short])
    number, inquiry = f"Q{made.year % 100}-{dice.randint(100, 999)}", f"RFQ {dice.randint(1000, 9999)}"
    rows = []
    for what in dice.sample(pools.GOODS, dice.randint(2, 3)):
        listed, count, cut = Decimal(dice.randint(40, 900)), dice.choice([2, 5, 10, 15]), dice.choice([5, 10, 12])
        rows.append((what, count, listed, cut, cents(listed * (100 - cut) / 100), cents(listed * (100 - cut) / 100) * count))
    goods, freight, option = sum((row[5] for row in rows), Decimal(0)), Decimal(dice.randint(60, 240)), Decimal(dice.randint(300, 990))
    total = goods + freight
    deposit = cents(total * 3 / 10)
    fitted, binding = dice.random() < 0.5, dice.random() < 0.5
    parts: list[str | list[str]] = [
        m("maker", maker), f"Quotation {m('number', number)}", f"Prepared by {m('seller', seller)} for {m('client', client)}, attention {m('asker', asker)}",
        f"Date: {m('made', fmt(made))}. Your inquiry {m('inquiry', inquiry)} of {m('asked', fmt(asked))}.", "All prices in " + m("code", code) + ", without tax.",
        ["Item", "Qty", "List price", "Discount", dice.choice(["Net price each", "Net unit price"]), "Line total"],
        *([m(f"w{i}", what), m(f"q{i}", count), m(f"l{i}", us(listed)), m(f"c{i}", f"{cut}%"), m(f"n{i}", us(net)), m(f"t{i}", us(amount))] for i, (what, count, listed, cut, net, amount) in enumerate(rows)),
        ["Goods", "", "", "", "", m("goods", us(goods))], ["Freight and packing", "", "", "", "", m("freight", us(freight))], [dice.choice(["Quotation total", "Total price"]), "", "", "", "", m("total", us(total))],
        f"Option, not contained in the total: on-site training, one day, {m('option', us(option))}.",
        f"A deposit of {m('share', '30%')} ({m('deposit', us(deposit))}) is payable with the order, the rest {m('rest', dice.choice([14, 30]))} days after delivery. Delivery takes {m('weeks', weeks)} weeks from receipt of the deposit.",
        f"Installation {m('fitted', 'is included' if fitted else 'is not included')}. The warranty runs for {m('months', months)} months. This offer {m('binding', 'is binding' if binding else 'is not binding')} and can be accepted until {m('valid', fmt(valid))}.",
        f"{m('maker', maker)} | {dice.choice(pools.STREETS)} | {dice.choice(pools.CITIES)} | Minimum order 100.00",
    ]
    rest = next(p for p in parts if isinstance(p, str) and "⟦rest|" in p).split("⟦rest|")[1].split("⟧")[0]
    draft.schema = {"properties": {"deposit_rate": {"description": "Fraction payable with the order"}, "lead_time_weeks": {"description": "Delivery time"}}}
    draft.says("supplier", maker, "maker", traps="unlabelled accents")
    draft.says("quote_number", number, "number", traps="row_label")
    either(draft, dice, "prepared_by", seller, "seller", asker, traps="prose accents")
    draft.says("customer", client, "client", traps="prose accents")
    draft.says("attention", asker, "asker", traps="prose accents")
    either(draft, dice, "quote_date", made, "made", asked, traps="date_forms")
    draft.says("inquiry_no", inquiry, "inquiry", traps="prose")
    draft.says("inquiry_date", asked, "asked", traps="prose date_forms")
    draft.says("currency", code, "code", traps="prose")
    for i, (what, count, listed, _, net, amount) in enumerate(rows):
        draft.says(f"items[{i}].name", what, f"w{i}", traps="table_row")
        draft.says(f"items[{i}].qty", count, f"q{i}", traps="column_heading", elsewhere=True)
        either(draft, dice, f"items[{i}].net_unit_price", net, f"n{i}", listed, "other_column contradicted", traps="column_heading")
        either(draft, dice, f"items[{i}].line_total", amount, f"t{i}", rows[i - 1][5], ROW, traps="column_heading")
    draft.says("freight", freight, "freight", traps="row_label")
    either(draft, dice, "total", total, "total", goods, traps="row_label")
    draft.empty("total_with_option", total + option, "computable")
    draft.says("training_option_price", option, "option", traps="prose")
    draft.says("deposit_rate", Decimal("0.3"), "share", traps="prose percent")
    draft.says("deposit_amount", deposit, "deposit", traps="prose paren_aside")
    either(draft, dice, "lead_time_weeks", weeks, "weeks", int(rest), traps="prose")
    either(draft, dice, "installation_included", fitted, "fitted", not fitted, NEGATED, traps="boolean_negation prose", inside=True)
    draft.says("warranty_months", months, "months", traps="prose")
    either(draft, dice, "binding", binding, "binding", not binding, NEGATED, traps="boolean_negation prose", inside=True)
    either(draft, dice, "valid_until", valid, "valid", made, traps="prose date_forms")
    draft.empty("penalty_per_week", None, "none")
    return as_docx(parts)


def delivery_note_pdf(dice: random.Random, draft: Draft) -> Made:
    """A delivery note: ordered, delivered and to follow side by side, weights, lots, a signature under its line; day first."""
    pdf = PdfDraft()
    sender, receiver, carrier = dice.sample(pools.COMPANIES, 3)
    packer, driver, taker = dice.sample(pools.PEOPLE, 3)
    ordered = murky_day(dice)
    sent = clear_day(dice, ordered + timedelta(days=5), 30)
    taken = sent + timedelta(days=1)
    note, order, truck = f"LN {dice.randint(100_000, 999_999)}", f"{dice.randint(5000, 9999)}/{dice.randint(10, 99)}", f"{dice.choice('BHK')}-{dice.choice('XYZ')}{dice.choice('AC')} {dice.randint(100, 999)}"
    pallets, gross = dice.randint(2, 9), Decimal(dice.randint(4_000, 19_000)) / 10
    tare = Decimal(dice.randint(200, 900)) / 10
    damaged, chilled = dice.random() < 0.5, dice.random() < 0.5
    pdf.text(50, 50, m("sender", sender), size=13, font=1)
    pdf.text(400, 50, "DELIVERY NOTE", size=13, font=1)
    facts = [[("Delivery note", "note", note), ("Your order", "order", order)], [("Dispatch date", "sent", pools.slash_uk(sent)), ("Order date", "ordered", pools.slash_uk(ordered))], [("Carrier", "carrier", carrier), ("Vehicle", "truck", truck)]]
    dice.shuffle(facts)
    for i, ((one, key, words), (two, key2, words2)) in enumerate(facts):
        pdf.row(80 + 15 * i, [(50, one + ":"), (140, m(key, words)), (340, two + ":"), (430, m(key2, words2))])
    pdf.text(50, 140, "Delivered to", size=8)
    for y, words in ((153, m("receiver", receiver)), (166, m("street", dice.choice(pools.STREETS))), (179, m("city", dice.choice(pools.CITIES)))):
        pdf.text(50, y, words)
    pdf.row(215, [(50, "Item"), (110, "Description"), (-300, "Ordered"), (-365, dice.choice(["Delivered", "Shipped now"])), (-430, dice.choice(["To follow", "Back order"])), (450, "Lot"), (-550, "kg")], size=9)
    rows = []
    for i, what in enumerate(dice.sample(pools.GOODS, dice.randint(2, 3))):
        wanted = dice.choice([20, 40, 60, 80])
        later = dice.choice([0, 5, 15]) if i else 8
        rows.append((f"{dice.randint(1000, 9999)}", what, wanted, wanted - later, later, f"L{dice.randint(100, 999)}{dice.choice('PQR')}", Decimal(dice.randint(50, 900)) / 10))
        item, _, _, now, _, lot, weight = rows[i]
        cells = [(50.0, m(f"i{i}", item)), (110.0, m(f"w{i}", what)), (-300.0, m(f"o{i}", wanted)), (-365.0, m(f"d{i}", now)), (-430.0, m(f"f{i}", later)), (450.0, m(f"l{i}", lot))]
        pdf.row(231 + 15 * i, [*cells, (-550, m(f"k{i}", weight))], size=9)
    pdf.text(50, 320, f"Pallets: {m('pallets', pallets)}    Gross weight: {m('gross', us(gross, 1))} kg    Tare: {m('tare', us(tare, 1))} kg")
    pdf.text(50, 340, f"The goods {m('chilled', 'must be kept chilled' if chilled else 'need not be kept chilled')}. Items to follow are sent without further charge.")
    pdf.text(50, 354, f"Packed by {m('packer', packer)}. Empty pallets are taken back within {m('back', dice.choice([21, 28, 42]))} days. This is not an invoice.")
    pdf.text(50, 400, f"Goods received on {m('taken', pools.slash_uk(taken))} {m('damage', 'with visible damage' if damaged else 'without visible damage')}")
    pdf.row(430, [(50, m("driver", driver)), (300, m("taker", taker))])
    pdf.row(443, [(50, "Name of driver"), (300, "Received by (name in capitals)")], size=8)
    back, street, city = (next(s for _, _, _, s in pdf.drawn if f"⟦{k}|" in s).split(f"⟦{k}|")[1].split("⟧")[0] for k in ("back", "street", "city"))
    draft.schema = {"properties": {"received_by": {"description": "Person who took the goods at the customer"}, "net_weight_kg": {"type": "number"}}}
    draft.says("delivery_note_no", note.replace(" ", "-"), "note", traps="id_spacing row_label")
    draft.says("customer_order_no", order, "order", traps="row_label")
    either(draft, dice, "dispatch_date", sent, "sent", ordered, traps="day_month_context row_label")
    either(draft, dice, "order_date", ordered, "ordered", swapped(ordered), "swapped_date contradicted", traps="day_month_context row_label")
    either(draft, dice, "carrier", carrier, "carrier", sender, traps="accents row_label")
    draft.says("vehicle_plate", truck.replace(" ", "").replace("-", ""), "truck", traps="id_spacing row_label")
    draft.says("ship_to.name", receiver, "receiver", traps="label_above accents")
    draft.says("ship_to.street", street, "street", traps="block")
    draft.says("ship_to.city", city, "city", traps="block")
    for i, (item, what, wanted, now, _, lot, _) in enumerate(rows):
        draft.says(f"items[{i}].item_no", item, f"i{i}", traps="table_row")
        draft.says(f"items[{i}].description", what, f"w{i}", traps="table_row")
        either(draft, dice, f"items[{i}].qty_delivered", now, f"d{i}", wanted, "other_column contradicted", traps="column_heading", elsewhere=True)
        either(draft, dice, f"items[{i}].lot_number", lot, f"l{i}", rows[i - 1][5], ROW, traps="column_heading")
    draft.says("pallet_count", pallets, "pallets", traps="row_label")
    draft.says("gross_weight_kg", gross, "gross", traps="row_label")
    draft.empty("net_weight_kg", gross - tare, "computable")
    either(draft, dice, "requires_cooling", chilled, "chilled", not chilled, NEGATED, traps="boolean_negation prose", inside=True)
    draft.says("packed_by", packer, "packer", traps="prose accents")
    draft.says("pallet_return_days", int(back), "back", traps="prose")
    either(draft, dice, "received_on", taken, "taken", sent, traps="day_month_context prose")
    either(draft, dice, "damage_visible", damaged, "damage", not damaged, NEGATED, traps="boolean_negation prose", inside=True)
    either(draft, dice, "received_by", taker, "taker", driver, traps="label_below accents")
    draft.says("driver_name", driver, "driver", traps="label_below accents")
    draft.empty("seal_number", None, "none")
    return pdf.done()


def account_statement_text(dice: random.Random, draft: Draft) -> Made:
    """A statement of account: movements with debit, credit and balance; ageing in columns; the same figure in several roles."""
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    first = date(dice.choice([2023, 2024]), dice.randint(1, 12), 1)
    last = first + timedelta(days=27)
    sign, fmt, number = dice.choice(["£", "$", "€"]), dice.choice([pools.short, pools.uk_long]), f"{dice.choice('ABC')}{dice.randint(10_000, 99_999)}"
    opening, limit = money(dice, 50_000, 400_000), Decimal(dice.choice([10_000, 15_000, 25_000]))
    balance, moves = opening, []
    for i, kind in enumerate(dice.choice([["Invoice", "Payment", "Invoice"], ["Payment", "Invoice", "Credit note"], ["Invoice", "Invoice", "Payment", "Credit note"]])):
        amount = opening if kind == "Payment" else money(dice, *((40_000, 200_000) if kind == "Invoice" else (2_000, 9_000)))
        balance += amount if kind == "Invoice" else -amount
        moves.append((first + timedelta(days=4 + 6 * i), kind, f"{kind[0]}{dice.randint(1000, 9999)}", amount, balance))
    invoiced, credited = sum((mv[3] for mv in moves if mv[1] == "Invoice"), Decimal(0)), sum((mv[3] for mv in moves if mv[1] != "Invoice"), Decimal(0))
    old = cents(balance / 3)
    ages = [balance - old, old, Decimal(0), Decimal(0)]
    manager, hold = dice.choice(pools.PEOPLE), dice.random() < 0.5
    lines = [
        aligned((0, m("seller", seller)), (50, "STATEMENT OF ACCOUNT")), dice.choice(pools.STREETS), "",
        aligned((0, f"To: {m('buyer', buyer)}"), (50, f"Account no: {m('number', number)}")),
        aligned((0, f"    {dice.choice(pools.CITIES)}"), (50, f"Statement date: {m('dated', fmt(last))}")),
        aligned((0, f"Period: {m('first', fmt(first))} - {m('last', fmt(last))}"), (50, f"Credit limit: {m('limit', sign + us(limit, 0))}")), "",
        aligned((0, "Date"), (20, "Transaction"), (36, "Ref"), (-54, "Debit"), (-68, "Credit"), (-82, "Balance")),
        aligned((0, fmt(first)), (20, dice.choice(["Balance brought forward", "Opening balance"])), (-82, m("opening", us(opening)))),
    ]
    for i, (when, kind, ref, amount, now) in enumerate(moves):
        place = -54 if kind == "Invoice" else -68
        lines.append(aligned((0, m(f"d{i}", fmt(when))), (20, m(f"k{i}", kind)), (36, m(f"r{i}", ref)), (place, m(f"a{i}", us(amount))), (-82, m(f"b{i}", us(now)))))
    lines += [
        aligned((20, "Totals"), (-54, m("invoiced", us(invoiced))), (-68, m("credited", us(credited)))),
        aligned((20, dice.choice(["Balance carried forward", "Closing balance"])), (-82, m("closing", sign + us(balance)))), "",
        "Age of the balance", aligned((-16, dice.choice(["Not yet due", "Current"])), (-32, "1-30 days"), (-48, "31-60 days"), (-64, "Over 60 days")),
        aligned(*((-16 * (i + 1), m(f"g{i}", us(amount))) for i, amount in enumerate(ages))), "",
        wrap(f"Your account {m('hold', 'is on hold' if hold else 'is not on hold')}. Please settle {m('ask', sign + us(old))}, which is past due, within {m('days', dice.choice([5, 7, 10]))} days. Your credit controller is {m('manager', manager)}. Payments made after {m('cut', fmt(last))} are not shown."),
    ]
    text = "\n".join(lines)
    draft.schema = {"properties": {"aging": {"properties": {"current": {"description": "Not yet due"}, "days_1_30": {"type": "number"}}}, "past_due": {"description": "Amount that should have been paid already"}}}
    draft.says("creditor", seller, "seller", traps="unlabelled accents")
    draft.says("customer_name", buyer, "buyer", traps="accents row_label")
    draft.says("account_number", number, "number", traps="row_label")
    draft.says("statement_date", last, "dated", traps="row_label date_forms", elsewhere=True)
    draft.says("period.start", first, "first", traps="date_range date_forms", elsewhere=True)
    either(draft, dice, "period.end", last, "last", moves[-1][0], traps="date_range date_forms", elsewhere=True)
    draft.says("credit_limit", limit, "limit", traps="row_label currency")
    either(draft, dice, "opening_balance", opening, "opening", balance, traps="row_label", elsewhere=True)
    for i, (when, kind, ref, amount, now) in enumerate(moves):
        debit = kind == "Invoice"
        draft.says(f"transactions[{i}].date", when, f"d{i}", traps="column_heading date_forms")
        draft.says(f"transactions[{i}].reference", ref, f"r{i}", traps="column_heading")
        draft.says(f"transactions[{i}].{'debit' if debit else 'credit'}", amount, f"a{i}", traps="column_heading", elsewhere=kind == "Payment")
        if i % 2:
            draft.empty(f"transactions[{i}].{'credit' if debit else 'debit'}", amount, "other_column contradicted")
        either(draft, dice, f"transactions[{i}].balance", now, f"b{i}", moves[i - 1][4], ROW, traps="column_heading", elsewhere=i == len(moves) - 1)
    either(draft, dice, "total_debits", invoiced, "invoiced", credited, traps="row_label column_heading", elsewhere=True)
    either(draft, dice, "closing_balance", balance, "closing", opening, traps="row_label currency", elsewhere=True)
    draft.says("aging.current", ages[0], "g0", traps="label_above")
    either(draft, dice, "aging.days_1_30", old, "g1", ages[0], "other_column contradicted", traps="label_above", elsewhere=True)
    draft.says("past_due", old, "ask", "g1", traps="prose currency", elsewhere=True)
    draft.empty("available_credit", limit - balance, "computable")
    either(draft, dice, "on_hold", hold, "hold", not hold, NEGATED, traps="boolean_negation prose", inside=True)
    draft.says("credit_controller", manager, "manager", traps="prose accents")
    draft.empty("last_reminder_date", None, "none")
    return as_text(text)


def timesheet_text(dice: random.Random, draft: Draft) -> Made:
    """A freelancer's week: start, end, break and hours per day, overtime at another rate, two signatures; blanks for a day off."""
    person, boss, lead = dice.sample(pools.PEOPLE, 3)
    agency, client = dice.sample(pools.COMPANIES, 2)
    monday = clear_day(dice)
    monday -= timedelta(days=monday.weekday())
    code, rate, over_rate = dice.choice(["EUR", "GBP", "CHF"]), Decimal(dice.choice([48, 55, 62])), Decimal(dice.choice([72, 80, 93]))
    off = dice.choice([1, 2, 3])
    days = []
    for i, name in enumerate(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]):
        hours = Decimal(dice.choice(["7.50", "8.00", "8.25", "9.00"]))
        days.append((name, monday + timedelta(days=i), f"0{dice.choice([7, 8])}:{dice.choice(['00', '30', '45'])}", dice.choice([30, 45, 60]), hours))
    worked = [d for i, d in enumerate(days) if i != off]
    hours, over, km = sum((d[4] for d in worked), Decimal(0)), Decimal(dice.choice(["1.50", "2.00", "2.50"])), dice.randint(40, 300)
    pay, extra, travel = cents(hours * rate), cents(over * over_rate), cents(km * Decimal("0.42"))
    approved, project = dice.random() < 0.5, f"P-{dice.randint(300, 899)}"
    signed = monday + timedelta(days=7)
    lines = [
        m("agency", agency), "Agency for interim staff", "", "WEEKLY TIMESHEET", "", aligned((0, "Contractor"), (26, "Client"), (58, "Project")), aligned((0, m("person", person)), (26, m("client", client)), (58, m("project", project))), "",
        f"{dice.choice(['Week commencing', 'Week beginning'])} {m('monday', pools.uk_long(monday))} (week {monday.isocalendar()[1]})", "", aligned((0, "Day"), (12, "Date"), (26, "Start"), (-46, "Break (min)"), (-58, "Hours")),
    ]
    for i, (name, when, start, pause, spent) in enumerate(days):
        shown = f"{when:%d/%m/%Y}"
        lines.append(aligned((0, name), (12, shown), (26, "off sick")) if i == off else aligned((0, m(f"n{i}", name)), (12, m(f"d{i}", shown)), (26, m(f"s{i}", start)), (-46, m(f"p{i}", pause)), (-58, m(f"h{i}", spent))))
    lines += [
        aligned((0, "Regular hours"), (-58, m("hours", hours))), "",
        f"Regular time   {m('hours', hours)} h x {m('rate', f'{code} {us(rate)}')} = {m('pay', f'{code} {us(pay)}')}", f"Overtime       {m('over', over)} h x {m('over_rate', f'{code} {us(over_rate)}')} = {m('extra', f'{code} {us(extra)}')}",
        f"Travel         {m('km', km)} km x {m('per_km', f'{code} 0.42')} = {m('travel', f'{code} {us(travel)}')}", f"{dice.choice(['To be invoiced', 'Invoice amount'])} {m('total', f'{code} {us(pay + extra + travel)}')}", "",
        wrap(f"{m('lead', lead)} was the contractor's supervisor during the week. The sheet {m('approved', 'was approved' if approved else 'was not approved')} by {m('boss', boss)} on {m('signed', pools.uk_long(signed))}. Sheets that reach us after noon on Tuesday are paid {m('late', dice.choice([5, 7]))} days later."),
    ]
    text = "\n".join(lines)
    draft.schema = {"properties": {"approver": {"description": "Who decided on the timesheet"}, "mileage_km": {"type": "integer"}, "decision_date": {"description": "Day the approver decided"}}}
    draft.says("agency", agency, "agency", traps="unlabelled accents")
    either(draft, dice, "contractor", person, "person", lead, traps="label_above accents")
    draft.says("client", client, "client", traps="label_above accents")
    draft.says("project_code", project.replace("-", ""), "project", traps="label_above id_spacing")
    draft.says("week_start", monday, "monday", traps="prose date_forms", elsewhere=True)
    for i, (name, when, start, pause, spent) in enumerate(worked):
        at = days.index((name, when, start, pause, spent))
        draft.says(f"days[{i}].date", when, f"d{at}", traps="column_heading", elsewhere=at == 0)
        either(draft, dice, f"days[{i}].break_minutes", pause, f"p{at}", worked[i - 1][3], ROW, traps="column_heading", elsewhere=True)
        either(draft, dice, f"days[{i}].hours", spent, f"h{at}", worked[i - 1][4], ROW, traps="column_heading", elsewhere=True)
    either(draft, dice, "regular_hours", hours, "hours", over, traps="row_label", elsewhere=True)
    draft.says("overtime_hours", over, "over", traps="row_label")
    either(draft, dice, "hourly_rate", rate, "rate", over_rate, traps="row_label currency")
    draft.says("overtime_rate", over_rate, "over_rate", traps="row_label currency")
    draft.says("overtime_pay", extra, "extra", traps="row_label currency")
    draft.says("mileage_km", km, "km", traps="row_label")
    draft.says("travel_expenses", travel, "travel", traps="row_label currency")
    either(draft, dice, "invoice_amount", pay + extra + travel, "total", pay, traps="row_label currency")
    draft.empty("total_hours", hours + over, "computable")
    draft.says("supervisor", lead, "lead", traps="prose accents label_after")
    either(draft, dice, "approved", approved, "approved", not approved, NEGATED, traps="boolean_negation prose", inside=True)
    either(draft, dice, "approver", boss, "boss", lead, traps="prose accents")
    draft.says("decision_date", signed, "signed", traps="prose date_forms")
    draft.empty("purchase_order", None, "none")
    return as_text(text)


def hotel_folio_pdf(dice: random.Random, draft: Draft) -> Made:
    """A hotel's bill in European figures: nights by rate, a city tax per person and night, a deposit, two tax rates, two pages."""
    pdf = PdfDraft()
    hotel, firm = dice.choice(["Hotel Bellevue", "Gasthof Adler", "Pension Seeblick"]), dice.choice(pools.COMPANIES)
    guest, host = dice.sample(pools.PEOPLE, 2)
    arrive = clear_day(dice)
    nights, people, room = dice.randint(2, 5), dice.choice([1, 2]), dice.randint(101, 429)
    leave, booked = arrive + timedelta(days=nights), murky_day(dice, arrive - timedelta(days=90), 60)
    rate, per_head, breakfast = Decimal(dice.randint(79, 189)), Decimal(dice.choice(["2.50", "3.20"])), Decimal("14.50")
    charges = [("Accommodation", nights, rate), ("City tax", nights * people, per_head), ("Breakfast", nights, breakfast), ("Parking", nights, Decimal("12.00"))]
    total = sum((count * price for _, count, price in charges), Decimal(0))
    deposit, low, high = Decimal(dice.choice([80, 100, 150])), cents(nights * rate * 7 / 107), cents(nights * (breakfast + 12) * 19 / 119)
    number, booking, late = f"F{dice.randint(20_000, 89_999)}", f"{dice.choice('GHJK')}{dice.choice('MNPQ')}{dice.randint(1000, 9999)}", dice.random() < 0.5
    pdf.text(50, 50, m("hotel", hotel), size=15, font=1)
    pdf.text(50, 66, f"{dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}", size=8)
    left = [("Guest", "guest", guest), ("Company", "firm", firm), ("Room", "room", room), (dice.choice(["Persons", "Guests"]), "people", people)]
    right = [("Folio no.", "number", number), (dice.choice(["Arrival", "Check-in"]), "arrive", pools.dots(arrive)), (dice.choice(["Departure", "Check-out"]), "leave", pools.dots(leave)), ("Booked on", "booked", pools.dots(booked))]
    for i, ((one, key, words), (two, key2, words2)) in enumerate(zip(left, right, strict=True)):
        pdf.row(100 + 15 * i, [(50, one), (120, m(key, words)), (340, two), (430, m(key2, words2))])
    pdf.row(180, [(50, "Service"), (-280, "Number"), (-390, "Price each (EUR)"), (-520, "Amount (EUR)")])
    for i, (what, count, price) in enumerate(charges):
        pdf.row(198 + 15 * i, [(50, m(f"w{i}", what)), (-280, m(f"q{i}", count)), (-390, m(f"p{i}", eu(price))), (-520, m(f"a{i}", eu(count * price)))])
    for y, label, key, amount in ((275, dice.choice(["Total of services", "Total"]), "total", total), (290, "Deposit paid at booking", "deposit", -deposit), (305, dice.choice(["Still to pay", "Balance due", "Open amount"]), "due", total - deposit)):
        pdf.row(y, [(300, label), (-520, m(key, eu(amount)))])
    pdf.page()
    pdf.text(50, 60, f"Folio {m('number2', number)}, page 2", size=8)
    pdf.row(90, [(50, "VAT contained"), (-200, "Rate"), (-300, "VAT")])
    pdf.row(106, [(50, "Accommodation"), (-200, m("r0", "7 %")), (-300, m("low", eu(low)))])
    pdf.row(122, [(50, "Breakfast, parking"), (-200, m("r1", "19 %")), (-300, m("high", eu(high)))])
    pdf.text(50, 160, f"{m('late', 'Late check-out was granted' if late else 'Late check-out was not granted')}. Your booking code was {m('booking', booking)}.")
    pdf.text(50, 174, f"Paid {dice.choice(['by card', 'in cash'])}; you were served by {m('host', host)}. Breakfast is from 7 to 10, the pool opens at 8.")
    draft.schema = {"properties": {"vat": {"properties": {"reduced_amount": {"description": "VAT on accommodation"}, "standard_amount": {"description": "VAT on breakfast and parking"}}}, "guest_count": {"type": "integer"}}}
    draft.says("hotel_name", hotel, "hotel", traps="unlabelled")
    draft.says("guest_name", guest, "guest", traps="row_label accents")
    draft.says("company", firm, "firm", traps="row_label accents")
    draft.says("room_number", str(room), "room", traps="row_label")
    draft.says("guest_count", people, "people", traps="row_label", elsewhere=True)
    draft.says("folio_number", number, "number", "number2", traps="row_label")
    either(draft, dice, "check_in", arrive, "arrive", booked, traps="european_date row_label")
    either(draft, dice, "check_out", leave, "leave", arrive, traps="european_date row_label")
    either(draft, dice, "booking_date", booked, "booked", swapped(booked), "swapped_date contradicted", traps="european_date row_label")
    for i, (what, count, price) in enumerate(charges):
        draft.says(f"charges[{i}].service", what, f"w{i}", traps="table_row")
        draft.says(f"charges[{i}].quantity", count, f"q{i}", traps="column_heading", elsewhere=True)
        either(draft, dice, f"charges[{i}].unit_price", price, f"p{i}", charges[i - 1][2], ROW, traps="column_heading european_number")
        either(draft, dice, f"charges[{i}].amount", count * price, f"a{i}", price, "other_column contradicted", traps="column_heading european_number")
    either(draft, dice, "total", total, "total", total - deposit, traps="row_label european_number")
    either(draft, dice, "deposit", -deposit, "deposit", deposit, "other_sign contradicted", traps="negative european_number")
    draft.says("balance_due", total - deposit, "due", traps="row_label european_number")
    either(draft, dice, "vat.reduced_amount", low, "low", high, traps="column_heading european_number")
    draft.says("vat.standard_amount", high, "high", traps="column_heading european_number")
    draft.empty("vat.total", low + high, "computable")
    either(draft, dice, "late_checkout", late, "late", not late, NEGATED, traps="boolean_negation prose", inside=True)
    draft.says("booking_code", booking.lower(), "booking", traps="prose")
    draft.empty("loyalty_number", None, "none")
    return pdf.done()


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (subscription_bill_html, quotation_docx, delivery_note_pdf, account_statement_text, timesheet_text, hotel_folio_pdf)
