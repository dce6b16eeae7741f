"""Trades kept out of tuning: a phone bill, a customs form, a balance sheet, a hotel's account."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def phone_bill_pdf(dice: random.Random, draft: Draft) -> Made:
    """A phone bill: a box with the sum due beside the address, a summary with a credit, lines with equal charges."""
    pdf = PdfDraft()
    company, customer = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    street = dice.choice(pools.STREETS)
    account = f"{dice.randint(100, 999)} {dice.randint(1000, 9999)} {dice.randint(10, 99)}"
    billed = clear_day(dice)
    due = billed + timedelta(days=21)
    previous, paid = money(dice, 4_000, 20_000), money(dice, 4_000, 20_000)
    credit = money(dice, 500, 3_000)
    numbers = [f"555-01{dice.randint(10, 99)}" for _ in range(3)]
    plans = [money(dice, 1_500, 6_000) for _ in range(3)]
    plans[2] = plans[0]
    extras = [money(dice, 100, 1_400) for _ in range(3)]
    usage = [dice.randint(2, 60) for _ in range(3)]
    charges = sum(plans, Decimal(0)) + sum(extras, Decimal(0))
    tax = cents(charges * 9 / 100)
    total = previous - paid - credit + charges + tax
    pdf.text(40, 40, m("company", company), size=15, font=1)
    pdf.row(70, [(40, m("customer", customer)), (360, "Amount due"), (-550, m("total", "$" + us(total)))])
    pdf.row(84, [(40, m("street", street)), (360, "Due date"), (-550, m("due", pools.us_long(due)))])
    pdf.row(98, [(40, "Boise, ID 83702"), (360, "Account"), (-550, m("account", account))])
    pdf.row(112, [(360, "Bill date"), (-550, m("billed", pools.us_long(billed)))])
    pdf.text(40, 150, "Summary", size=12, font=1)
    for index, (label, value) in enumerate(
        [
            ("Previous balance", m("previous", "$" + us(previous))),
            ("Payment received, thank you", m("paid", "-$" + us(paid))),
            ("Loyalty credit", m("credit", "-$" + us(credit))),
            ("New charges", m("charges", "$" + us(charges))),
            ("Taxes and surcharges", m("tax", "$" + us(tax))),
        ]
    ):
        pdf.row(168 + 15 * index, [(40, label), (-300, value)])
    pdf.row(270, [(40, "Line"), (-230, "Data used (GB)"), (-330, "Plan"), (-430, "Extras")])
    for i, number in enumerate(numbers):
        pdf.row(
            286 + 15 * i,
            [
                (40, m(f"n{i}", number)),
                (-230, m(f"u{i}", usage[i])),
                (-330, m(f"p{i}", us(plans[i]))),
                (-430, m(f"x{i}", us(extras[i]))),
            ],
        )
    auto = dice.random() < 0.5
    pdf.text(
        40,
        350,
        f"AutoPay is {m('auto', 'on' if auto else 'not active')} for this account. Your contract ends in {m('months', '14')} months.",
    )
    draft.says("provider", company, "company", traps="unlabelled accents")
    draft.says("customer.name", customer, "customer", traps="unlabelled accents")
    draft.says("account_number", account.replace(" ", ""), "account", traps="id_spacing row_label")
    draft.says("amount_due", total, "total", traps="currency row_label")
    if dice.random() < 0.6:
        draft.says("due_date", due, "due", traps="date_forms row_label")
    else:
        draft.empty("due_date", billed, "other_role contradicted")
    draft.says("bill_date", billed, "billed", traps="date_forms row_label")
    draft.says("previous_balance", previous, "previous", traps="currency row_label")
    if dice.random() < 0.5:
        draft.says("loyalty_credit", -credit, "credit", traps="negative row_label")
    else:
        draft.empty("loyalty_credit", credit, "other_sign contradicted")
    draft.says("new_charges", charges, "charges", traps="currency row_label")
    draft.says("taxes", tax, "tax", traps="currency row_label")
    draft.says("months_remaining", 14, "months", traps="prose")
    draft.empty("device_balance", None, "none")
    draft.empty("average_per_line", cents(charges / 7), "computable")
    draft.empty("technician", customer, "unrelated")
    wrong = dice.randrange(3)
    for i, number in enumerate(numbers):
        draft.says(f"lines[{i}].phone_number", number.replace("-", ""), f"n{i}", traps="table_row id_spacing")
        draft.says(
            f"lines[{i}].plan_charge", plans[i], f"p{i}", traps="column_heading same_amount_rows", elsewhere=i in (0, 2)
        )
        draft.says(f"lines[{i}].data_used_gb", usage[i], f"u{i}", traps="column_heading")
        if i == wrong and extras[(i + 1) % 3] != extras[i]:
            draft.empty(f"lines[{i}].extras", extras[(i + 1) % 3], "other_row contradicted")
        else:
            draft.says(f"lines[{i}].extras", extras[i], f"x{i}", traps="column_heading")
    return pdf.done()


def customs_text(dice: random.Random, draft: Draft) -> Made:
    """A customs declaration: numbered boxes side by side, each label above its value, codes that look alike."""
    exporter, importer, agent = dice.sample(pools.COMPANIES, 3)
    origin, destination = dice.sample(["Türkiye", "Vietnam", "Morocco", "Canada", "Norway"], 2)
    code = f"{dice.randint(1000, 9999)}.{dice.randint(10, 99)}.{dice.randint(10, 99)}"
    declared = murky_day(dice)
    value, duty_rate = money(dice, 100_000, 9_000_000), dice.choice(["2.7", "4.5", "6.5"])
    duty = cents(value * Decimal(duty_rate) / 100)
    gross, net, packages = dice.randint(500, 9000), dice.randint(100, 499), dice.randint(12, 96)
    reference = f"{declared.year % 100}DE{dice.randint(1000, 9999)}{dice.randint(1000, 9999)}"
    licence = dice.random() < 0.5
    lines = [
        "CUSTOMS DECLARATION                                   (dates: DD.MM.YYYY)",
        "=" * 78,
        aligned((0, "1 Exporter"), (40, "2 Importer")),
        aligned((2, m("exporter", exporter)), (42, m("importer", importer))),
        "-" * 78,
        aligned((0, "3 Country of origin"), (26, "4 Country of destination"), (56, "5 Declaration date")),
        aligned(
            (2, m("origin", origin)), (28, m("destination", destination)), (58, m("declared", pools.dots(declared)))
        ),
        "-" * 78,
        aligned((0, "6 Commodity code"), (26, "7 Packages"), (40, "8 Gross mass (kg)"), (60, "9 Net mass (kg)")),
        aligned((2, m("code", code)), (28, m("packages", packages)), (42, m("gross", gross)), (62, m("net", net))),
        "-" * 78,
        aligned((0, "10 Customs value (EUR)"), (26, "11 Duty rate"), (40, "12 Duty payable (EUR)")),
        aligned(
            (2, m("value", eu(value))), (28, m("rate", duty_rate.replace(".", ",") + " %")), (42, m("duty", eu(duty)))
        ),
        "-" * 78,
        aligned((0, "13 Representative"), (40, "14 Reference")),
        aligned((2, m("agent", agent)), (42, m("reference", f"{reference[:4]} {reference[4:8]} {reference[8:]}"))),
        "=" * 78,
        m("licence", "An import licence is required." if licence else "No import licence is required."),
        f"Preferential treatment: {m('preference', 'not claimed')}",
    ]
    draft.says("exporter", exporter, "exporter", traps="label_above accents")
    draft.says("importer", importer, "importer", traps="label_above accents")
    draft.says("country_of_origin", origin, "origin", traps="label_above accents")
    if dice.random() < 0.5:
        draft.says("country_of_destination", destination, "destination", traps="label_above accents")
    else:
        draft.empty("country_of_destination", origin, "other_role contradicted")
    if dice.random() < 0.6:
        draft.says("declaration_date", declared, "declared", traps="day_month_context label_above")
    else:
        draft.empty("declaration_date", swapped(declared), "swapped_date contradicted")
    draft.says("commodity_code", code.replace(".", ""), "code", traps="id_spacing label_above")
    draft.says("packages", packages, "packages", traps="label_above")
    draft.says("gross_mass_kg", gross, "gross", traps="label_above")
    if dice.random() < 0.6:
        draft.says("net_mass_kg", net, "net", traps="label_above")
    else:
        draft.empty("net_mass_kg", gross, "other_role contradicted")
    draft.says("customs_value", value, "value", traps="label_above european_number")
    draft.says("duty_rate", Decimal(duty_rate) / 100, "rate", traps="label_above percent")
    draft.says("duty_payable", duty, "duty", traps="label_above european_number")
    draft.says("representative", agent, "agent", traps="label_above accents")
    draft.says("reference", reference, "reference", traps="id_spacing label_above")
    if dice.random() < 0.6:
        draft.says("import_licence_required", licence, "licence", traps="boolean_negation", inside=True)
    else:
        draft.empty("import_licence_required", not licence, "negated contradicted")
    draft.says("preferential_treatment_claimed", False, "preference", traps="boolean_negation", inside=True)
    draft.empty("vat_number", None, "none")
    draft.empty("manufacturer", agent, "unrelated")
    draft.empty("warehouse", importer, "unrelated")
    draft.empty("duty_per_package", cents(duty / packages) + 1, "computable")
    return as_text("\n".join(lines))


def balance_html(dice: random.Random, draft: Draft) -> Made:
    """A balance sheet in thousands except per share: two years, losses in parentheses, notes, equal figures."""
    company, auditor = dice.sample(pools.COMPANIES, 2)
    year = dice.choice([2022, 2023, 2024])
    now = [dice.randint(1_000, 99_000) for _ in range(5)]
    then = [dice.randint(1_000, 99_000) for _ in range(5)]
    then[0] = now[3]  # last year's cash is this year's debt
    loss = dice.randint(100, 900)
    per_share, per_share_then = (
        f"{dice.randint(1, 9)}.{dice.randint(10, 99)}",
        f"{dice.randint(1, 9)}.{dice.randint(10, 99)}",
    )
    staff = dice.randint(120, 990)
    names = ["Cash and cash equivalents", "Trade receivables", "Inventories", "Long-term debt", "Share capital"]
    keys = ["cash", "receivables", "inventories", "debt", "capital"]
    rows = "".join(
        f"<tr><td>{name}</td><td>{i + 3}</td><td>{m(key, f'{now[i]:,}')}</td><td>{m(key + '_then', f'{then[i]:,}')}</td></tr>"
        for i, (name, key) in enumerate(zip(names, keys, strict=True))
    )
    source = f"""<html><body><h1>{m("company", company)}</h1><p>Consolidated balance sheet as at 31 December {year} (in thousands of USD, except per share)</p>
    <table><tr><th></th><th>Note</th><th>{year}</th><th>{year - 1}</th></tr>{rows}
    <tr><td>Net loss</td><td>9</td><td>{m("loss", f"({loss})")}</td><td>{m("loss_then", f"({loss + 7})")}</td></tr>
    <tr><td>Book value per share</td><td>10</td><td>{m("share", per_share)}</td><td>{m("share_then", per_share_then)}</td></tr>
    <tr><td>Number of employees</td><td>11</td><td>{m("staff", staff)}</td><td>{m("staff_then", staff - 20)}</td></tr></table>
    <p>The accounts were audited by {m("auditor", auditor)}, who issued {m("opinion", "an unqualified opinion")}. No dividend was declared.
    The board approved them on {m("approved", f"14 March {year + 1}")}.</p></body></html>"""
    draft.says("company_name", company, "company", traps="unlabelled accents")
    for i, (key, path) in enumerate(
        zip(
            keys,
            ("cash_and_equivalents", "trade_receivables", "inventories", "long_term_debt", "share_capital"),
            strict=True,
        )
    ):
        if i == 2:
            draft.empty(path, then[i] * 1000, "other_column contradicted")
        else:
            draft.says(path, now[i] * 1000, key, traps="thousands column_heading", elsewhere=i == 3)
    draft.says("cash_previous_year", then[0] * 1000, "cash_then", traps="thousands column_heading", elsewhere=True)
    if dice.random() < 0.5:
        draft.says("net_loss", -loss * 1000, "loss", traps="thousands negative_paren")
    else:
        draft.empty("net_loss", loss * 1000, "other_sign contradicted")
    draft.says("book_value_per_share", Decimal(per_share), "share", traps="unscaled")
    draft.says("employees", staff, "staff", traps="unscaled")
    draft.says("auditor", auditor, "auditor", traps="prose accents")
    draft.empty("dividend_declared", True, "negated contradicted")
    draft.empty("dividend_per_share", None, "none")
    draft.empty("total_assets", sum(now[:3]) * 1000, "computable")
    draft.empty("legal_counsel", auditor, "unrelated")
    return as_html(source)


def folio_text(dice: random.Random, draft: Draft) -> Made:
    """A hotel's account: nights as equal rows, a payment with a minus behind it, arrival and departure, a group."""
    hotel, company = dice.sample(pools.COMPANIES, 2)
    guest, clerk = dice.sample(pools.PEOPLE, 2)
    arrival = clear_day(dice)
    nights = dice.choice([2, 3, 4])
    departure = arrival + timedelta(days=nights)
    room, rate = dice.randint(201, 989), money(dice, 9_000, 30_000)
    dinner, spa = money(dice, 2_000, 9_000), money(dice, 3_000, 9_900)
    net = rate * nights + dinner + spa
    tax = cents(net / 10)
    deposit = money(dice, 5_000, 9_000)
    due = net + tax - deposit
    folio, member = (
        f"{dice.randint(100000, 999999)}",
        f"{dice.randint(100, 999)}-{dice.randint(100, 999)}-{dice.randint(100, 999)}",
    )
    smoking, pets = dice.random() < 0.5, dice.random() < 0.5
    lines = [
        m("hotel", hotel).center(72).rstrip(),
        "GUEST FOLIO".center(72).rstrip(),
        "",
        aligned((0, f"Guest ......... {m('guest', guest)}"), (46, f"Folio # {m('folio', folio)}")),
        aligned((0, f"Company ....... {m('company', company)}"), (46, f"Room    {m('room', room)}")),
        aligned((0, f"Arrival ....... {m('arrival', pools.short(arrival))}"), (46, f"Member  {m('member', member)}")),
        aligned((0, f"Departure ..... {m('departure', pools.short(departure))}"), (46, f"Adults  {m('adults', 2)}")),
        "",
        aligned((0, "Date"), (14, "Description"), (-56, "Charges"), (-70, "Credits")),
    ]
    entries = [(arrival + timedelta(days=i), "Room charge", rate) for i in range(nights)]
    entries += [(arrival, "Restaurant", dinner), (arrival + timedelta(days=1), "Spa treatment", spa)]
    for i, (when, what, amount) in enumerate(entries):
        lines.append(aligned((0, m(f"w{i}", pools.short(when))), (14, m(f"e{i}", what)), (-56, m(f"a{i}", us(amount)))))
    lines += [
        aligned((0, pools.short(departure)), (14, "Occupancy tax 10%"), (-56, m("tax", us(tax)))),
        aligned((0, pools.short(arrival)), (14, "Advance deposit"), (-70, m("deposit", us(deposit) + "-"))),
        aligned((14, "Balance due"), (-56, m("due", "$" + us(due)))),
        "",
        f"This is a {m('smoking', 'smoking' if smoking else 'non-smoking')} room. Pets are {m('pets', 'welcome and allowed' if pets else 'not allowed')}.",
        f"You were checked out by {m('clerk', clerk)}.",
    ]
    draft.says("hotel_name", hotel, "hotel", traps="unlabelled accents")
    draft.says("guest_name", guest, "guest", traps="row_label accents")
    draft.says("company", company, "company", traps="row_label accents")
    draft.says("folio_number", folio, "folio", traps="row_label")
    draft.says("room_number", room, "room", traps="row_label")
    draft.says("membership_number", member.replace("-", " "), "member", traps="id_spacing")
    draft.says("arrival_date", arrival, "arrival", traps="date_forms", elsewhere=True)
    if dice.random() < 0.6:
        draft.says("departure_date", departure, "departure", traps="date_forms", elsewhere=True)
    else:
        draft.empty("departure_date", arrival, "other_role contradicted")
    draft.says("restaurant", dinner, "a" + str(nights), traps="row_label")
    draft.says("occupancy_tax", tax, "tax", traps="row_label")
    if dice.random() < 0.5:
        draft.says("advance_deposit", -deposit, "deposit", traps="negative")
    else:
        draft.empty("advance_deposit", deposit, "other_sign contradicted")
    draft.says("balance_due", due, "due", traps="currency row_label")
    if dice.random() < 0.6:
        draft.says("pets_allowed", pets, "pets", traps="boolean_negation", inside=True)
    else:
        draft.empty("pets_allowed", not pets, "negated contradicted")
    draft.says("smoking_room", smoking, "smoking", traps="boolean_negation", inside=True)
    draft.says("checked_out_by", clerk, "clerk", traps="prose accents")
    draft.empty("nights", None, "none")
    draft.empty("travel_agent", company, "unrelated")
    draft.empty("emergency_contact", clerk, "unrelated")
    draft.empty("room_total", rate * nights, "computable")
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [phone_bill_pdf, customs_text, balance_html, folio_text]
