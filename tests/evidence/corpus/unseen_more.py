"""More layouts kept out of tuning: written after the finder, looked at only as a score."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, goods, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def tax_form_pdf(dice: random.Random, draft: Draft) -> Made:
    """A tax return: numbered lines whose numbers look like values, negative lines in parentheses, two equal sums."""
    pdf = PdfDraft()
    name, spouse = dice.sample(pools.PEOPLE, 2)
    wages, interest, loss = money(dice, 3_000_000, 9_000_000), money(dice, 1_000, 90_000), money(dice, 10_000, 90_000)
    dependents = dice.choice([2, 3, 4])
    total = wages + interest - loss
    tax, paid = cents(total / 5), cents(total / 4)
    refund = paid - tax
    filed = murky_day(dice)
    pdf.text(50, 46, "Form 1300   Individual Income Statement   2023", size=13, font=1)
    pdf.row(76, [(50, "Taxpayer"), (170, m("name", name)), (330, "SSN"), (400, m("ssn", "078-05-1120"))])
    pdf.row(92, [(50, "Spouse"), (170, m("spouse", spouse)), (330, "Dependents"), (400, m("dependents", dependents))])
    rows = [
        ("1", "Wages and salaries", m("wages", us(wages))),
        ("2", "Taxable interest", m("interest", us(interest))),
        ("3", "Capital loss", m("loss", f"({us(loss)})")),
        ("4", "Total income (add lines 1 to 3)", m("total", us(total))),
        ("5", "Tax on line 4", m("tax", us(tax))),
        ("6", "Federal tax withheld", m("paid", us(paid))),
        ("7", "Refund due (line 6 less line 5)", m("refund", us(refund))),
    ]
    for index, (line, label, amount) in enumerate(rows):
        pdf.row(140 + 18 * index, [(50, line), (74, label), (-520, amount)])
    pdf.text(
        50,
        300,
        f"Filed electronically on {m('filed', pools.slash_us(filed))}. Do you elect direct deposit?  [x] {m('deposit', 'Yes')}  [ ] No",
    )
    pdf.text(50, 318, "Mail to: Revenue Office, Ogden, UT 84201")
    draft.says("taxpayer_name", name, "name", traps="accents row_label")
    draft.says("spouse_name", spouse, "spouse", traps="accents row_label")
    draft.says("ssn", "078051120", "ssn", traps="id_spacing")
    draft.says("dependents", dependents, "dependents", traps="row_label", elsewhere=True)
    draft.says("wages", wages, "wages", traps="row_label")
    draft.says("taxable_interest", interest, "interest", traps="row_label")
    if dice.random() < 0.5:
        draft.says("capital_loss", -loss, "loss", traps="negative_paren")
    else:
        draft.empty("capital_loss", loss, "other_sign contradicted")
    draft.says("total_income", total, "total", traps="row_label")
    draft.says("tax_withheld", paid, "paid", traps="row_label")
    draft.says("refund", refund, "refund", traps="row_label")
    if dice.random() < 0.5:
        draft.says("filing_date", filed, "filed", traps="day_month_context prose")
    else:
        draft.empty("filing_date", swapped(filed), "swapped_date contradicted")
    draft.says("direct_deposit", True, "deposit", traps="boolean_box", inside=True)
    draft.empty("preparer", None, "none")
    draft.empty("net_income_after_tax", total - tax, "computable")
    return pdf.done()


def factura_pdf(dice: random.Random, draft: Draft) -> Made:
    """A Spanish invoice: Spanish labels, points for thousands, label cells above value cells, a footer on each page."""
    pdf = PdfDraft()
    rows = goods(dice, 3)
    base = sum((row["amount"] for row in rows), Decimal(0))
    iva = cents(base * 21 / 100)
    total = base + iva
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    issued = murky_day(dice)
    due = issued + timedelta(days=60)
    number = f"F{issued.year}-{dice.randint(100, 999)}"
    months = [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ]
    pdf.text(50, 50, m("seller", seller), size=14, font=1)
    pdf.row(90, [(50, "Número de factura"), (220, "Fecha"), (400, "Vencimiento")], size=8)
    pdf.row(
        104,
        [
            (50, m("number", number)),
            (220, m("issued", f"{issued.day} de {months[issued.month - 1]} de {issued.year}")),
            (400, m("due", pools.slash_uk(due))),
        ],
    )
    pdf.text(50, 134, "Cliente", size=8)
    pdf.text(50, 148, m("buyer", buyer))
    pdf.row(190, [(50, "Descripción"), (-310, "Cantidad"), (-420, "Precio"), (-545, "Importe")])
    for index, row in enumerate(rows):
        pdf.row(
            208 + 18 * index,
            [
                (50, m(f"d{index}", row["description"])),
                (-310, m(f"q{index}", row["quantity"])),
                (-420, m(f"p{index}", eu(row["unit_price"]) + " €")),
                (-545, m(f"a{index}", eu(row["amount"]) + " €")),
            ],
        )
    for index, (label, value) in enumerate(
        [
            ("Base imponible", m("base", eu(base) + " €")),
            ("IVA 21 %", m("iva", eu(iva) + " €")),
            ("Total factura", m("total", eu(total) + " €")),
        ]
    ):
        pdf.row(290 + 16 * index, [(-420, label), (-545, value)])
    draft.schema = {
        "properties": {
            "tax_base": {"description": "Base imponible"},
            "due_date": {"description": "Fecha de vencimiento"},
        }
    }
    draft.says("invoice_number", number.replace("-", "/"), "number", traps="id_spacing label_above")
    draft.says("seller_name", seller, "seller", traps="unlabelled accents")
    draft.says("customer_name", buyer, "buyer", traps="label_above accents")
    draft.says("invoice_date", issued, "issued", traps="foreign_month label_above")
    draft.says("due_date", due, "due", traps="day_month_context label_above")
    draft.says("tax_base", base, "base", traps="european_number")
    draft.says("tax_amount", iva, "iva", traps="european_number")
    if dice.random() < 0.6:
        draft.says("total_amount", total, "total", traps="european_number")
    else:
        draft.empty("total_amount", base, "other_role contradicted")
    draft.empty("discount", None, "none")
    for index, row in enumerate(rows):
        draft.says(f"items[{index}].description", row["description"], f"d{index}", traps="table_row")
        draft.says(f"items[{index}].quantity", row["quantity"], f"q{index}", traps="column_heading", elsewhere=True)
        draft.says(f"items[{index}].price", row["unit_price"], f"p{index}", traps="column_heading european_number")
        draft.says(f"items[{index}].amount", row["amount"], f"a{index}", traps="column_heading european_number")
    return pdf.done()


def discharge_text(dice: random.Random, draft: Draft) -> Made:
    """A doctor's letter in prose: many numbers with units, dates of other things, denials."""
    patient, doctor = dice.sample(pools.PEOPLE, 2)
    admitted = clear_day(dice)
    left = admitted + timedelta(days=dice.randint(4, 11))
    again = left + timedelta(days=14)
    weight, pulse, sugar = dice.randint(55, 98), dice.randint(58, 96), f"{dice.randint(4, 9)}.{dice.randint(1, 9)}"
    dose = dice.choice([5, 10, 20])
    smoker, drives = dice.random() < 0.5, dice.random() < 0.5
    paragraphs = [
        f"Dear colleague, we report on {m('patient', patient)}, born on {m('born', pools.uk_long(clear_day(dice, date(1950, 1, 1), 9000)))}, who was"
        f" admitted on {m('admitted', pools.uk_long(admitted))} and discharged on {m('left', pools.uk_long(left))}.",
        f"On admission the patient weighed {m('weight', weight)} kg with a pulse of {m('pulse', pulse)} beats per minute; fasting glucose was"
        f" {m('sugar', sugar)} mmol/l. The patient {m('smoke', 'smokes' if smoker else 'does not smoke')} and has no known allergies.",
        f"We started ramipril at a dose of {m('dose', dose)} mg daily. {m('drive', 'Driving is permitted' if drives else 'Driving is not permitted')} for now."
        f" A follow-up visit is planned for {m('again', pools.uk_long(again))}. Signed, Dr. {m('doctor', doctor)}, consultant.",
    ]
    source = "\n\n".join(wrap(paragraph, 72) for paragraph in paragraphs)
    draft.says("patient_name", patient, "patient", traps="prose accents broken_line")
    draft.says("admission_date", admitted, "admitted", traps="prose date_forms broken_line")
    if dice.random() < 0.6:
        draft.says("discharge_date", left, "left", traps="prose date_forms broken_line")
    else:
        draft.empty("discharge_date", admitted, "other_role contradicted")
    draft.says("follow_up_date", again, "again", traps="prose date_forms broken_line")
    draft.says("weight_kg", weight, "weight", traps="prose")
    draft.says("pulse", pulse, "pulse", traps="prose")
    draft.says("fasting_glucose", Decimal(sugar), "sugar", traps="prose broken_line")
    draft.says("ramipril_dose_mg", dose, "dose", traps="prose")
    draft.says("consultant", doctor, "doctor", traps="prose accents")
    if dice.random() < 0.6:
        draft.says("smoker", smoker, "smoke", traps="boolean_negation", inside=True)
        draft.says("driving_permitted", drives, "drive", traps="boolean_negation", inside=True)
    else:
        draft.empty("smoker", not smoker, "negated contradicted")
        draft.empty("driving_permitted", not drives, "negated contradicted")
    draft.empty("blood_pressure", None, "none")
    draft.empty("length_of_stay_days", (left - admitted).days * 100, "computable")
    return as_text(source)


def tender_docx(dice: random.Random, draft: Draft) -> Made:
    """A tender as DOCX: headings, a table of bidders with text columns, deadlines, thresholds in millions."""
    authority = dice.choice(pools.COMPANIES)
    bidders = dice.sample([c for c in pools.COMPANIES if c != authority], 3)
    scores = [dice.randint(60, 99) for _ in bidders]
    prices = [Decimal(dice.randint(11, 98)) / 10 for _ in bidders]
    award = ["Rejected", "Accepted", "Reserve"]
    dice.shuffle(award)
    published, deadline, opening = (clear_day(dice) for _ in range(3))
    lots = dice.choice([4, 6, 8])
    rows: list[str | list[str]] = [
        "TENDER NOTICE",
        f"Contracting authority: {m('authority', authority)}",
        f"Reference: {m('reference', f'T {dice.randint(100, 999)} / {dice.randint(10, 99)}')}",
        f"Published {m('published', pools.short(published))}; deadline for bids {m('deadline', pools.short(deadline))}; opening of bids {m('opening', pools.short(opening))}.",
        f"The contract is divided into {m('lots', {4: 'four', 6: 'six', 8: 'eight'}[lots])} lots. Variants are {m('variants', 'not accepted')}. A bid bond of {m('bond', '2.5 %')} is required.",
        "",
        ["Bidder", "Price (EUR million)", "Score", "Decision"],
        *[
            [m(f"b{i}", bidder), m(f"p{i}", price), m(f"s{i}", score), m(f"d{i}", decision)]
            for i, (bidder, price, score, decision) in enumerate(zip(bidders, prices, scores, award, strict=True))
        ],
        "",
        "Complaints may be lodged within 10 days.",
    ]
    draft.schema = {
        "properties": {"bids": {"items": {"properties": {"decision": {"enum": ["accepted", "rejected", "reserve"]}}}}}
    }
    draft.says("contracting_authority", authority, "authority", traps="accents")
    draft.says("published_on", published, "published", traps="date_forms")
    draft.says("bid_deadline", deadline, "deadline", traps="date_forms")
    if dice.random() < 0.6:
        draft.says("opening_date", opening, "opening", traps="date_forms")
    else:
        draft.empty("opening_date", published, "other_role contradicted")
    draft.says("number_of_lots", lots, "lots", traps="number_words")
    draft.says("variants_accepted", False, "variants", traps="boolean_negation", inside=True)
    draft.says("bid_bond", Decimal("0.025"), "bond", traps="percent prose")
    draft.empty("estimated_value", None, "none")
    wrong = dice.randrange(3)
    for i, (bidder, price, score, decision) in enumerate(zip(bidders, prices, scores, award, strict=True)):
        draft.says(f"bids[{i}].bidder", bidder, f"b{i}", traps="table_row accents")
        draft.says(f"bids[{i}].price", int(price * 1_000_000), f"p{i}", traps="million column_heading")
        if i == wrong and scores[(i + 1) % 3] != score:
            draft.empty(f"bids[{i}].score", scores[(i + 1) % 3], "other_row contradicted")
        else:
            draft.says(f"bids[{i}].score", score, f"s{i}", traps="column_heading")
        draft.says(f"bids[{i}].decision", decision.upper(), f"d{i}", traps="enum column_heading")
    return as_docx(rows)


def listing_html(dice: random.Random, draft: Draft) -> Made:
    """A property listing as HTML: definition lists, bullet points of features, price history with the same price twice."""
    street, city = dice.choice(pools.STREETS), dice.choice(pools.CITIES)
    agent = dice.choice(pools.PEOPLE)
    price, tax = Decimal(dice.randint(200, 900)) * 1000, Decimal(dice.randint(2000, 9900))
    beds, baths, area, built = dice.randint(2, 6), dice.randint(1, 3), dice.randint(900, 3900), dice.randint(1920, 2015)
    fee = dice.choice(["85", "120", "240"])
    listed, sold = clear_day(dice), clear_day(dice)
    garage, pool = dice.random() < 0.5, dice.random() < 0.5
    source = f"""<html><body><h1>{m("street", street)}, {m("city", city)}</h1>
    <dl><dt>Asking price</dt><dd>{m("price", "$" + us(price, 0))}</dd><dt>Bedrooms</dt><dd>{m("beds", beds)}</dd><dt>Bathrooms</dt><dd>{m("baths", baths)}</dd>
    <dt>Living area (sq ft)</dt><dd>{m("area", f"{area:,}")}</dd><dt>Year built</dt><dd>{m("built", built)}</dd><dt>HOA fee</dt><dd>{m("fee", "$" + fee)} monthly</dd>
    <dt>Annual property tax</dt><dd>{m("tax", "$" + us(tax))}</dd><dt>Pool</dt><dd>{m("pool", "Yes" if pool else "None")}</dd></dl>
    <h2>Features</h2><ul><li>{m("garage", "Attached garage" if garage else "No garage")}</li><li>Central air, {beds} ceiling fans</li><li>Corner lot</li></ul>
    <h2>Price history</h2><table><tr><th>Date</th><th>Event</th><th>Price</th></tr>
    <tr><td>{m("listed", pools.slash_us(listed))}</td><td>Listed</td><td>{m("h0", "$" + us(price, 0))}</td></tr>
    <tr><td>{m("sold", pools.slash_us(sold))}</td><td>Sold</td><td>{m("h1", "$" + us(price / 2, 0))}</td></tr></table>
    <p>Listed by {m("agent", agent)}. Listing ID {m("id", "ML" + str(dice.randint(1000000, 9999999)))}.</p></body></html>"""
    draft.says("address.street", street, "street", traps="unlabelled")
    draft.says("address.city", city, "city", traps="unlabelled")
    draft.says("asking_price", price, "price", traps="repeated_role", elsewhere=True)
    draft.says("bedrooms", beds, "beds", traps="label_above", elsewhere=True)
    draft.says("bathrooms", baths, "baths", traps="label_above")
    draft.says("living_area_sqft", area, "area", traps="label_above")
    draft.says("year_built", built, "built", traps="label_above")
    draft.says("hoa_fee", int(fee), "fee", traps="currency label_above")
    draft.says("annual_property_tax", tax, "tax", traps="currency label_above")
    draft.says("agent", agent, "agent", traps="prose accents")
    draft.says("history[0].date", listed, "listed", traps="table_row date_forms")
    draft.says("history[0].price", price, "h0", traps="column_heading", elsewhere=True)
    draft.says("history[1].date", sold, "sold", traps="table_row date_forms")
    draft.says("history[1].price", price / 2, "h1", traps="column_heading")
    if dice.random() < 0.6:
        draft.says("has_garage", garage, "garage", traps="boolean_negation", inside=True)
    else:
        draft.empty("has_garage", not garage, "negated contradicted")
    draft.empty("basement", None, "none")
    draft.empty("price_per_sqft", round(float(price) / area, 2), "computable")
    return as_html(source)


def stock_text(dice: random.Random, draft: Draft) -> Made:
    """A stock count with boxes drawn in characters: signed adjustments, ids that contain each other, a text column."""
    lines = [
        "STOCK COUNT   Warehouse 12   " + m("when", pools.short(clear_day(dice))),
        "Counted by: " + m("who", dice.choice(pools.PEOPLE)) + "    Checked by: " + m("check", "Olga Petrova"),
        "+----------+----------------------+-------+------+------------+-----------+",
        "| SKU      | Item                 | Shelf | Qty  | Adjustment | Condition |",
        "+----------+----------------------+-------+------+------------+-----------+",
    ]
    rows = []
    stem = dice.randint(100, 899)
    for index, thing in enumerate(dice.sample([g for g in pools.GOODS if len(g) <= 20], 5)):
        sku = f"K-{stem}" if index == 0 else f"K-{stem}-{index}"
        count, change, state = dice.randint(10, 99), dice.randint(-9, 9) or 5, dice.choice(["good", "damaged", "good"])
        shelf = f"{dice.choice('ABC')}{dice.randint(1, 9)}"
        rows.append((sku, thing, shelf, count, change, state))
        cells = [
            m(f"k{index}", sku),
            m(f"t{index}", thing),
            m(f"s{index}", shelf),
            m(f"q{index}", count),
            m(f"c{index}", f"{change:+d}"),
            m(f"o{index}", state),
        ]
        widths = [8, 20, 5, 4, 10, 9]
        padded = []
        for cell, width, (value) in zip(
            cells, widths, (sku, thing, shelf, str(count), f"{change:+d}", state), strict=True
        ):
            padded.append(cell + " " * (width - len(value)))
        lines.append("| " + " | ".join(padded) + " |")
    lines += [
        "+----------+----------------------+-------+------+------------+-----------+",
        aligned(
            (2, f"Items: {len(rows)}"), (40, f"Value at cost: {m('worth', '$' + us(money(dice, 100_000, 900_000)))}")
        ),
        "Recount required: " + m("again", "no"),
    ]
    import re

    found = re.search(r"⟦worth\|\$([^⟧]*)⟧", "\n".join(lines))
    assert found
    draft.says("value_at_cost", Decimal(found[1].replace(",", "")), "worth", traps="currency")
    draft.says("checked_by", "OLGA PETROVA", "check", traps="accents")
    draft.says("recount_required", False, "again", traps="boolean")
    draft.empty("supervisor", None, "none")
    wrong = dice.randrange(4)
    for index, (sku, thing, shelf, count, change, state) in enumerate(rows):
        draft.says(
            f"items[{index}].sku", sku.replace("-", " ") if index else sku, f"k{index}", traps="id_spacing table_row"
        )
        draft.says(f"items[{index}].item", thing, f"t{index}", traps="table_row")
        draft.says(f"items[{index}].shelf", shelf.lower(), f"s{index}", traps="column_heading")
        if index == wrong and rows[index + 1][3] != count:
            draft.empty(f"items[{index}].quantity", rows[index + 1][3], "other_row contradicted")
        else:
            draft.says(f"items[{index}].quantity", count, f"q{index}", traps="column_heading")
        if change < 0 and index % 2:
            draft.empty(f"items[{index}].adjustment", -change, "other_sign contradicted")
        else:
            draft.says(f"items[{index}].adjustment", change, f"c{index}", traps="negative column_heading")
        draft.says(f"items[{index}].condition", state, f"o{index}", traps="column_heading", elsewhere=True)
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    tax_form_pdf,
    factura_pdf,
    discharge_text,
    tender_docx,
    listing_html,
    stock_text,
]
