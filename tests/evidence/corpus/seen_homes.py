"""Papers of houses, auctions, libraries and buyers, first scored blind and then looked at."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, us
from tests.evidence.corpus.seen import goods, m

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def auction_html(dice: random.Random, draft: Draft) -> Made:
    """An auction's catalogue: lots as blocks, an estimate as a range, a price that was or was not reached."""
    house = dice.choice(pools.COMPANIES)
    sale = clear_day(dice)
    lots = []
    for i, thing in enumerate(dice.sample(["Oak settle", "Brass sextant", "Delft charger", "Long-case clock"], 3)):
        low = dice.randint(2, 40) * 100
        lots.append((40 + i, thing, low, low + dice.randint(2, 9) * 100, low + dice.randint(1, 30) * 10 + 5))
    blocks = "".join(
        f"<h3>Lot {m(f'l{i}', lot)}</h3><p>{m(f't{i}', thing)}</p><p>Estimate: {m(f'e{i}', f'£{low:,}')} - {m(f'h{i}', f'£{high:,}')}</p><p>Hammer price: {m(f'p{i}', f'£{price:,}')}</p>"
        for i, (lot, thing, low, high, price) in enumerate(lots)
    )
    source = f"""<html><body><h1>{m("house", house)}</h1><p>Sale {m("sale_number", "No. 1" + str(dice.randint(100, 999)))} on {m("sale", pools.uk_long(sale))}, auctioneer {m("auctioneer", "Ruth Abara")}</p>{blocks}
    <p>Buyer's premium {m("premium", "24 %")}. Online bidding is {m("online", "not available")}.</p></body></html>"""
    draft.says("auction_house", house, "house", traps="unlabelled accents")
    draft.says("sale_date", sale, "sale", traps="date_forms prose")
    draft.says("auctioneer", "Ruth Abara", "auctioneer", traps="prose")
    draft.says("buyers_premium", Decimal("0.24"), "premium", traps="percent prose")
    draft.empty("online_bidding_available", True, "negated contradicted")
    draft.empty("vendor_commission", None, "none")
    draft.empty("restorer", "Ruth Abara", "unrelated")
    draft.empty("total_hammer", sum(lot[4] for lot in lots), "computable")
    for i, (lot, thing, low, high, price) in enumerate(lots):
        draft.says(f"lots[{i}].lot_number", lot, f"l{i}", traps="block")
        draft.says(f"lots[{i}].title", thing, f"t{i}", traps="block")
        draft.says(f"lots[{i}].estimate_low", low, f"e{i}", traps="block range")
        draft.says(f"lots[{i}].estimate_high", high, f"h{i}", traps="block range")
        if i == 1:
            draft.empty(
                f"lots[{i}].hammer_price", lots[0][4] if lots[0][4] != price else price + 3, "other_row contradicted"
            )
        else:
            draft.says(f"lots[{i}].hammer_price", price, f"p{i}", traps="block currency")
    return as_html(source)


def energy_pdf(dice: random.Random, draft: Draft) -> Made:
    """An energy certificate: label and value with units in two columns, now and potential, a rating letter."""
    pdf = PdfDraft()
    assessor = dice.choice(pools.PEOPLE)
    issued = clear_day(dice)
    until = issued + timedelta(days=3652)
    now, potential, area, built = (
        dice.randint(81, 240),
        dice.randint(30, 80),
        dice.randint(60, 240),
        dice.randint(1890, 2005),
    )
    rating, better = dice.choice("DEF"), dice.choice("AB")
    cost, solar = Decimal(dice.randint(900, 2900)), dice.random() < 0.5
    pdf.text(50, 46, "Energy Performance Certificate", size=15, font=1)
    pdf.row(80, [(50, "Property"), (170, m("address", "58 Rue Lepic, Leeds LS2 7EY"))])
    pdf.row(
        96,
        [(50, "Year of construction"), (170, m("built", built)), (320, "Floor area"), (430, f"{m('area', area)} m²")],
    )
    pdf.row(
        112,
        [
            (50, "Issued"),
            (170, m("issued", pools.short(issued))),
            (320, "Valid until"),
            (430, m("until", pools.short(until))),
        ],
    )
    pdf.row(146, [(200, "Current"), (320, "Potential")])
    pdf.row(162, [(50, "Rating"), (200, m("rating", rating)), (320, m("better", better))])
    pdf.row(178, [(50, "Energy use (kWh/m²)"), (200, m("now", now)), (320, m("potential", potential))])
    pdf.text(
        50,
        210,
        f"Estimated heating cost per year: {m('cost', '£' + us(cost, 0))}. Solar panels: {m('solar', 'yes' if solar else 'no')}",
    )
    pdf.text(
        50,
        226,
        f"Assessed by {m('assessor', assessor)}, accreditation {m('accreditation', 'EPC ' + str(dice.randint(10000, 99999)))}",
    )
    draft.says("property_address", "58 Rue Lepic, Leeds LS2 7EY", "address", traps="row_label")
    draft.says("construction_year", built, "built", traps="row_label")
    draft.says("floor_area_m2", area, "area", traps="row_label")
    draft.says("issue_date", issued, "issued", traps="date_forms")
    if dice.random() < 0.6:
        draft.says("expiry_date", until, "until", traps="date_forms")
    else:
        draft.empty("expiry_date", issued, "other_role contradicted")
    draft.says("current_rating", rating, "rating", traps="column_heading")
    draft.says("current_energy_use", now, "now", traps="column_heading")
    if dice.random() < 0.6:
        draft.says("potential_energy_use", potential, "potential", traps="column_heading")
    else:
        draft.empty("potential_energy_use", now, "other_column contradicted")
    draft.says("annual_heating_cost", cost, "cost", traps="currency")
    draft.says("solar_panels", solar, "solar", traps="boolean", inside=True)
    draft.says("assessor", assessor, "assessor", traps="prose accents")
    draft.empty("owner", assessor, "unrelated")
    draft.empty("heat_pump", None, "none")
    draft.empty("savings", (now - potential) * 1000, "computable")
    return pdf.done()


def notice_mail(dice: random.Random, draft: Draft) -> Made:
    """A mail of a library: headers, a list of books with their days, fees, a quoted older mail that says otherwise."""
    person = dice.choice(pools.PEOPLE)
    sent = clear_day(dice)
    books = [
        (title, sent - timedelta(days=dice.randint(3, 30)), Decimal(dice.randint(20, 300)) / 100)
        for title in dice.sample(["A History of Rope", "Moss and Lichen", "The Tin Whistle", "Bridges of Asia"], 3)
    ]
    total, card = sum((book[2] for book in books), Decimal(0)), f"{dice.randint(1000, 9999)} {dice.randint(1000, 9999)}"
    text = [
        "From: Town Library <desk@library.example>",
        f"To: {m('person', person)} <{m('mail', 'reader@example.org')}>",
        f"Date: {m('sent', pools.short(sent))}",
        "Subject: Overdue books",
        "",
        f"Your card {m('card', card)} has overdue books:",
        *(
            f"* {m(f't{i}', title)}, due {m(f'd{i}', pools.uk_long(due))}, fee so far ${us(fee)}"
            for i, (title, due, fee) in enumerate(books)
        ),
        "",
        f"Total fees: {m('total', '$' + us(total))}. Your account {m('blocked', 'is not blocked')}. Renewals are possible {m('times', 'twice')}.",
        "",
        "> On an earlier day the library wrote:",
        "> Total fees: $0.00. Your account is fine.",
    ]
    draft.says("reader_name", person, "person", traps="row_label accents")
    draft.says("reader_email", "READER@example.org", "mail", traps="id_spacing")
    draft.says("sent_on", sent, "sent", traps="date_forms row_label")
    draft.says("card_number", card.replace(" ", "-"), "card", traps="id_spacing prose")
    draft.empty("account_blocked", True, "negated contradicted")
    draft.empty("librarian", person, "unrelated")
    draft.empty("reservation_number", None, "none")
    for i, (title, due, _fee) in enumerate(books):
        draft.says(f"books[{i}].title", title, f"t{i}", traps="bullet")
        if i == 2:
            draft.empty(
                f"books[{i}].due_date",
                books[0][1] if books[0][1] != due else due + timedelta(days=400),
                "other_row contradicted",
            )
        else:
            draft.says(f"books[{i}].due_date", due, f"d{i}", traps="bullet date_forms")
    return as_text("\n".join(text))


def purchase_order_html(dice: random.Random, draft: Draft) -> Made:
    """A purchase order: merged headings over ordered, received and open quantities, three currencies, terms in prose."""
    buyer, supplier = dice.sample(pools.COMPANIES, 2)
    contact, approver = dice.sample(pools.PEOPLE, 2)
    rows = goods(dice, 4)
    for row in rows:
        row["ordered"] = row["quantity"] * 4
        row["received"] = dice.choice([0, row["quantity"], row["ordered"]])
        row["open"] = row["ordered"] - row["received"]
        row["code"] = f"{dice.choice('XYZ')}{dice.randint(100, 999)}.{dice.randint(10, 99)}"
    total = sum((row["unit_price"] * row["ordered"] for row in rows), Decimal(0))
    number = f"45{dice.randint(10000000, 99999999)}"
    placed, wanted = clear_day(dice), clear_day(dice)
    usd, gbp = cents(total * 108 / 100), cents(total * 86 / 100)
    partial = dice.random() < 0.5
    cells = "".join(
        f"<tr><td>{m(f'k{i}', row['code'])}</td><td>{m(f'd{i}', row['description'])}</td><td>{m(f'o{i}', row['ordered'])}</td>"
        f"<td>{m(f'r{i}', row['received'])}</td><td>{m(f'n{i}', row['open'])}</td><td>{m(f'p{i}', us(row['unit_price']))}</td></tr>"
        for i, row in enumerate(rows)
    )
    source = f"""<html><body><h1>Purchase Order {m("number", number[:2] + " " + number[2:6] + " " + number[6:])}</h1>
    <table><tr><td>Buyer</td><td>{m("buyer", buyer)}</td><td>Supplier</td><td>{m("supplier", supplier)}</td></tr>
    <tr><td>Order date</td><td>{m("placed", pools.us_long(placed))}</td><td>Requested delivery</td><td>{m("wanted", pools.us_long(wanted))}</td></tr>
    <tr><td>Contact</td><td>{m("contact", contact)}</td><td>Incoterms</td><td>{m("terms", "FCA Hamburg")}</td></tr></table>
    <h2>Positions</h2>
    <table><tr><th rowspan="2">Part no.</th><th rowspan="2">Description</th><th colspan="3">Quantity</th><th rowspan="2">Unit price EUR</th></tr>
    <tr><th>Ordered</th><th>Received</th><th>Open</th></tr>{cells}</table>
    <p>Order value: {m("eur", "EUR " + us(total))} (equivalent to {m("usd", "USD " + us(usd))} or {m("gbp", "GBP " + us(gbp))}).</p>
    <p>Partial deliveries are {m("partial", "accepted" if partial else "not accepted")}. Payment within {m("days", "forty-five")} days of receipt of invoice,
    {m("cash", "2.5 %")} discount within 10 days. Approved by {m("approver", approver)}.</p></body></html>"""
    draft.says("order_number", number, "number", traps="id_spacing")
    draft.says("buyer_name", buyer, "buyer", traps="row_label accents")
    draft.says("supplier_name", supplier, "supplier", traps="row_label accents")
    draft.says("order_date", placed, "placed", traps="date_forms")
    if dice.random() < 0.6:
        draft.says("requested_delivery_date", wanted, "wanted", traps="date_forms")
    else:
        draft.empty("requested_delivery_date", placed, "other_role contradicted")
    draft.says("contact_person", contact, "contact", traps="row_label accents")
    draft.says("incoterms", "FCA Hamburg", "terms", traps="row_label")
    draft.says("order_value_eur", total, "eur", traps="currency multi_currency")
    draft.says("order_value_usd", usd, "usd", traps="currency multi_currency")
    draft.says("order_value_gbp", gbp, "gbp", traps="currency multi_currency")
    draft.says("payment_days", 45, "days", traps="number_words prose")
    draft.says("cash_discount", Decimal("0.025"), "cash", traps="percent prose")
    draft.says("approved_by", approver, "approver", traps="prose accents")
    if dice.random() < 0.6:
        draft.says("partial_deliveries_accepted", partial, "partial", traps="boolean_negation", inside=True)
    else:
        draft.empty("partial_deliveries_accepted", not partial, "negated contradicted")
    draft.empty("warehouse_keeper", contact, "unrelated")
    draft.empty("framework_agreement", None, "none")
    for i, row in enumerate(rows):
        draft.says(f"positions[{i}].part_number", row["code"].replace(".", " "), f"k{i}", traps="table_row id_spacing")
        draft.says(f"positions[{i}].description", row["description"], f"d{i}", traps="table_row")
        draft.says(f"positions[{i}].ordered", row["ordered"], f"o{i}", traps="merged_heading", elsewhere=True)
        draft.says(f"positions[{i}].received", row["received"], f"r{i}", traps="merged_heading", elsewhere=True)
        draft.says(f"positions[{i}].open", row["open"], f"n{i}", traps="merged_heading", elsewhere=True)
        draft.says(f"positions[{i}].unit_price", row["unit_price"], f"p{i}", traps="column_heading")
        if i == 0:
            draft.empty(f"positions[{i}].line_total", row["unit_price"] * row["ordered"], "computable")
    return as_html(source)


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [auction_html, energy_pdf, notice_mail, purchase_order_html]
