"""More layouts that may be looked at: a bill, a lab report, minutes, an export, two columns of text, a mail."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def utility_pdf(dice: random.Random, draft: Draft) -> Made:
    """An electricity bill: previous and current everything, a period from-to, credits, two sums that are equal."""
    pdf = PdfDraft()
    name = dice.choice(pools.PEOPLE)
    begin = clear_day(dice)
    end = begin + timedelta(days=30)
    billed, due = end + timedelta(days=3), end + timedelta(days=24)
    before, used = dice.randint(10_000, 70_000), dice.randint(200, 990)
    previous, charges = money(dice, 4_000, 20_000), money(dice, 4_000, 20_000)
    same = dice.random() < 0.5
    paid = previous if same else cents(previous / 2)
    total = previous - paid + charges
    account = f"{dice.randint(100, 999)}-{dice.randint(1000, 9999)}-{dice.randint(10, 99)}"
    pdf.text(50, 50, "City Power & Light", size=15, font=1)
    pdf.row(80, [(50, f"Account {m('account', account)}"), (330, f"Bill date {m('billed', pools.us_long(billed))}")])
    pdf.row(
        96,
        [
            (50, m("name", name)),
            (330, f"Billing period {m('begin', pools.us_long(begin))} to {m('end', pools.us_long(end))}"),
        ],
    )
    pdf.text(50, 140, "Meter readings", font=1)
    pdf.row(156, [(60, "Previous reading"), (-300, m("before", f"{before:,}"))])
    pdf.row(170, [(60, "Current reading"), (-300, m("after", f"{before + used:,}"))])
    pdf.row(184, [(60, "Usage (kWh)"), (-300, m("used", used))])
    pdf.text(50, 220, "Account summary", font=1)
    pdf.row(236, [(60, "Previous balance"), (-300, m("previous", "$" + us(previous)))])
    pdf.row(250, [(60, "Payment received, thank you"), (-300, m("paid", f"-${us(paid)}"))])
    pdf.row(264, [(60, "Current charges"), (-300, m("charges", "$" + us(charges)))])
    pdf.row(278, [(60, "Amount due"), (-300, m("total", "$" + us(total)))])
    pdf.text(50, 310, f"Please pay by {m('due', pools.us_long(due))} to avoid a late fee of {m('late', '$12.50')}.")
    pdf.text(
        50, 330, "You are not enrolled in automatic payments." if same else "You are enrolled in automatic payments."
    )
    draft.says("account_number", account.replace("-", ""), "account", traps="id_spacing")
    draft.says("customer", name, "name", traps="unlabelled accents")
    draft.says("bill_date", billed, "billed", traps="date_forms")
    draft.says("period_start", begin, "begin", traps="date_range")
    draft.says("period_end", end, "end", traps="date_range")
    draft.says("due_date", due, "due", traps="date_forms prose")
    draft.says("previous_reading", before, "before", traps="row_label")
    draft.says("current_reading", before + used, "after", traps="row_label")
    draft.says("usage_kwh", used, "used", traps="row_label")
    draft.says("previous_balance", previous, "previous", traps="repeated_role", elsewhere=same)
    draft.says("current_charges", charges, "charges", traps="repeated_role", elsewhere=same)
    draft.says("amount_due", total, "total", traps="repeated_role", elsewhere=same)
    draft.empty("payment_received", paid, "other_sign contradicted")
    draft.says("late_fee", Decimal("12.5"), "late", traps="currency prose")
    draft.empty("deposit", charges + 1, "absent")
    draft.empty("average_daily_usage", round(used / 30, 2), "computable")
    return pdf.done()


def lab_text(dice: random.Random, draft: Draft) -> Made:
    """A laboratory report: results beside reference ranges with the same figures, units, flags."""
    patient, doctor = dice.sample(pools.PEOPLE, 2)
    born, drawn = clear_day(dice, date(1940, 1, 1), 20000), clear_day(dice)
    tests = [
        ("Glucose", "mg/dL", 70, 99),
        ("Sodium", "mmol/L", 135, 145),
        ("Potassium", "mmol/L", 3, 5),
        ("Creatinine", "mg/dL", 1, 2),
        ("Hemoglobin", "g/dL", 12, 16),
    ]
    lines = [
        "LABORATORY REPORT",
        "",
        aligned((0, f"Patient: {m('patient', patient)}"), (44, f"DOB: {m('born', pools.slash_us(born))}")),
        aligned(
            (0, f"Physician: {m('doctor', doctor)}"), (44, f"Collected: {m('drawn', pools.slash_us(drawn))} 08:15")
        ),
        aligned((0, f"MRN: {m('mrn', dice.randint(1000000, 9999999))}"), (44, "Specimen: serum")),
        "",
        aligned((0, "Test"), (18, "Result"), (30, "Units"), (42, "Reference range"), (62, "Flag")),
        "=" * 68,
    ]
    rows = []
    for index, (test, unit, low, high) in enumerate(tests):
        result = Decimal(dice.choice([low, high, high + dice.randint(1, 9)]))
        flag = "H" if result > high else ""
        rows.append((test, result, unit, flag))
        lines.append(
            aligned(
                (0, m(f"t{index}", test)),
                (18, m(f"r{index}", result)),
                (30, m(f"u{index}", unit)),
                (42, f"{low} - {high}"),
                (62, m(f"f{index}", flag) if flag else ""),
            ).rstrip()
        )
    lines += [
        "",
        wrap(
            f"Comment: fasting status was {m('fast', 'not confirmed')}. Patient is a {m('smoke', 'non-smoker')}. Repeat in {m('weeks', 'six')} weeks."
        ),
    ]
    draft.says("patient_name", patient, "patient", traps="accents")
    draft.says("physician", doctor, "doctor", traps="accents")
    draft.says("date_of_birth", born, "born", traps="date_forms")
    draft.says("collection_date", drawn, "drawn", traps="date_forms")
    draft.says("mrn", bare_mark(lines, "mrn"), "mrn", traps="id_spacing")
    draft.says("fasting_confirmed", False, "fast", traps="boolean_negation", inside=True)
    if dice.random() < 0.5:
        draft.says("smoker", False, "smoke", traps="boolean_negation", inside=True)
    else:
        draft.empty("smoker", True, "negated contradicted")
    draft.says("repeat_in_weeks", 6, "weeks", traps="number_words")
    draft.empty("insurance", None, "none")
    for index, (test, result, unit, flag) in enumerate(rows):
        draft.says(f"results[{index}].test", test, f"t{index}", traps="table_row")
        draft.says(f"results[{index}].value", result, f"r{index}", traps="column_heading", elsewhere=True)
        draft.says(f"results[{index}].unit", unit, f"u{index}", traps="column_heading")
        if flag:
            draft.says(f"results[{index}].flag", "H", f"f{index}", traps="column_heading")
        else:
            draft.empty(f"results[{index}].flag", None, "none")
    return as_text("\n".join(lines))


def bare_mark(lines: list[str], key: str) -> str:
    import re

    found = re.search(rf"⟦{key}\|([^⟧]*)⟧", "\n".join(lines))
    assert found
    return found[1]


def minutes_text(dice: random.Random, draft: Draft) -> Made:
    """Minutes of a meeting: lists of names, decisions with votes, an amount that stands twice without a difference."""
    chair, clerk, *others = dice.sample(pools.PEOPLE, 5)
    held, following = murky_day(dice), clear_day(dice)
    grant, cap = money(dice, 100_000, 900_000), Decimal(dice.randint(20, 90)) * 1000
    ayes, nays = dice.randint(7, 12), dice.randint(1, 5)
    quorum = dice.random() < 0.5
    twice = money(dice, 10_000, 50_000)
    paragraphs = [
        f"MINUTES of the board meeting held on {m('held', pools.uk_long(held))} at 10:30 in Room 12",
        f"Chair: {m('chair', chair)}\nClerk: {m('clerk', clerk)}\nPresent: "
        + ", ".join(m(f"p{i}", name) for i, name in enumerate(others)),
        wrap(
            f"A quorum was {m('quorum', 'reached' if quorum else 'not reached')}. The minutes of the last meeting were approved."
        ),
        wrap(
            f"Item 1. The board resolved, by {m('ayes', ayes)} votes to {m('nays', nays)}, to award a research grant of"
            f" {m('grant', 'EUR ' + us(grant))} to {m('winner', dice.choice(pools.COMPANIES))}, with travel costs capped at"
            f" {m('cap', 'EUR ' + us(cap, 0))}."
        ),
        wrap(f"Item 2. The north wing costs EUR {us(twice)}; the south wing costs EUR {us(twice)}. Both were noted."),
        wrap(
            f"The next meeting takes place on {m('next', pools.uk_long(following))}. Membership fees are payable in advance."
        ),
    ]
    source = "\n\n".join(paragraphs)
    draft.says("meeting_date", held, "held", traps="date_forms prose")
    draft.says("next_meeting_date", following, "next", traps="date_forms prose")
    draft.says("chair", chair, "chair", traps="accents")
    draft.says("clerk", clerk, "clerk", traps="accents")
    for index, name in enumerate(others):
        draft.says(f"present[{index}]", name, f"p{index}", traps="list accents")
    draft.says("quorum_reached", quorum, "quorum", traps="boolean_negation", inside=True)
    draft.says("grant_amount", grant, "grant", traps="currency prose broken_line")
    draft.says("travel_cost_cap", cap, "cap", traps="currency prose broken_line")
    draft.says("grant_recipient", bare_mark([source], "winner"), "winner", traps="prose broken_line accents")
    draft.empty("wing_cost", twice, "ambiguous")
    draft.empty("treasurer", None, "none")
    draft.empty("membership_fee", grant, "other_role contradicted")
    return as_text(source)


def export_csv(dice: random.Random, draft: Draft) -> Made:
    """Semicolon separated values with decimal commas; one row's value offered for another."""
    lines = ["Artikelnummer;Bezeichnung;Menge;Einzelpreis;Gesamtbetrag;Lieferdatum"]
    rows = []
    for index, thing in enumerate(dice.sample(pools.GOODS, 5)):
        count, price = dice.choice([1, 2, 5, 10, 10]), money(dice, 500, 90_000)
        code, when = f"{dice.choice('XYZ')}{dice.randint(100, 999)}-{dice.randint(10, 99)}", clear_day(dice)
        rows.append((code, thing, count, price, cents(price * count), when))
        lines.append(
            ";".join(
                [
                    m(f"k{index}", code), m(f"d{index}", thing), m(f"q{index}", count), m(f"p{index}", eu(price)),
                    m(f"a{index}", eu(cents(price * count))), m(f"w{index}", pools.dots(when)),
                ]
            )
        )  # fmt: skip
    wrong = dice.randrange(4)
    for index, (code, thing, count, price, amount, when) in enumerate(rows):
        draft.says(f"rows[{index}].article_number", code.replace("-", ""), f"k{index}", traps="id_spacing table_row")
        draft.says(f"rows[{index}].description", thing, f"d{index}", traps="table_row")
        draft.says(f"rows[{index}].quantity", count, f"q{index}", traps="column_heading foreign_label")
        draft.says(f"rows[{index}].unit_price", price, f"p{index}", traps="european_number column_heading")
        if index == wrong:
            draft.empty(f"rows[{index}].total", rows[index + 1][4], "other_row contradicted")
        else:
            draft.says(f"rows[{index}].total", amount, f"a{index}", traps="european_number column_heading")
        draft.says(f"rows[{index}].delivery_date", when, f"w{index}", traps="european_date")
    return as_text("\n".join(lines))


def columns_text(dice: random.Random, draft: Draft) -> Made:
    """Two parties side by side in plain text, their addresses broken inside the columns."""
    buyer, seller = dice.sample([c for c in pools.COMPANIES if len(c) < 24], 2)
    streets, cities = dice.sample(pools.STREETS, 2), dice.sample(pools.CITIES, 2)
    agent = dice.sample(pools.PEOPLE, 2)
    price, earnest = Decimal(dice.randint(100, 900)) * 1000, Decimal(dice.randint(5, 20)) * 1000
    closing = clear_day(dice)
    lines = [
        "SALE OF EQUIPMENT",
        "",
        aligned((0, "SELLER"), (42, "BUYER")),
        aligned((0, m("seller", seller)), (42, m("buyer", buyer))),
        aligned((0, m("s_street", streets[0])), (42, m("b_street", streets[1]))),
        aligned((0, m("s_city", cities[0])), (42, m("b_city", cities[1]))),
        aligned((0, "Agent: " + m("s_agent", agent[0])), (42, "Agent: " + m("b_agent", agent[1]))),
        "",
        f"Purchase price ............. {m('price', '$' + us(price, 0))}",
        f"Earnest money .............. {m('earnest', '$' + us(earnest, 0))}",
        f"Closing .................... {m('closing', pools.us_long(closing))}",
        f"Financing contingency ...... {m('contingent', 'waived')}",
    ]
    draft.says("seller.name", seller, "seller", traps="section label_above")
    draft.says("buyer.name", buyer, "buyer", traps="section label_above")
    draft.says("seller.address", f"{streets[0]}, {cities[0]}", "s_street", "s_city", traps="broken_columns")
    draft.says("buyer.address", f"{streets[1]}, {cities[1]}", "b_street", "b_city", traps="broken_columns")
    draft.says("seller.agent", agent[0], "s_agent", traps="accents")
    draft.says("buyer.agent", agent[1], "b_agent", traps="accents")
    draft.says("purchase_price", price, "price", traps="currency row_label")
    draft.says("earnest_money", earnest, "earnest", traps="currency row_label")
    draft.says("closing_date", closing, "closing", traps="date_forms")
    draft.says("financing_contingency", False, "contingent", traps="boolean", inside=True)
    draft.empty("inspection_date", None, "none")
    draft.empty("broker_fee", price - earnest, "computable")
    return as_text("\n".join(lines))


def mail_text(dice: random.Random, draft: Draft) -> Made:
    """A mail with a quoted one: head lines, times, an ambiguous date, amounts in k and m."""
    sender, receiver = dice.sample(pools.PEOPLE, 2)
    sent, visit = murky_day(dice), murky_day(dice)
    seats, budget = dice.randint(20, 90), dice.choice(["1.2", "2.4", "3.6"])
    rate = dice.choice(["4.25", "3.75"])
    offer = dice.randint(11, 95)
    lines = [
        f"From: {m('sender', sender)} <{m('mail', sender.split()[0].lower() + '@example.org')}>",
        f"To: {m('receiver', receiver)}",
        f"Sent: {m('sent', pools.short(sent))} 14:{dice.randint(10, 59)}",
        f"Subject: Offer {m('offer', 'Q-' + str(dice.randint(1000, 9999)))}",
        "",
        f"Hi {receiver.split()[0]},",
        "",
        wrap(
            f"we can license {m('seats', seats)} seats for EUR {offer}k in the first year. The total programme budget is"
            f" {m('budget', f'EUR {budget}m')}, financed at an interest rate of {m('rate', rate + '%')}. Our visit is planned for"
            f" {m('visit', pools.slash_us(visit))}. The licence is non-transferable; {m('support', 'support is included')}."
        ),
        "",
        "> Could you also tell us whether training is included?",
    ]
    draft.says("sender_name", sender, "sender", traps="accents")
    draft.says("recipient", receiver, "receiver", traps="accents")
    draft.says("sender_email", bare_mark(lines, "mail").upper(), "mail", traps="id_spacing")
    draft.says("sent_date", sent, "sent", traps="date_forms")
    draft.says("offer_number", bare_mark(lines, "offer"), "offer", traps="id_spacing")
    draft.says("seats", seats, "seats", traps="label_after prose")
    draft.says("programme_budget", int(Decimal(budget) * 1_000_000), "budget", traps="million prose")
    draft.says("interest_rate", Decimal(rate), "rate", traps="percent prose")
    draft.empty("visit_date", visit, "ambiguous")
    draft.says("support_included", True, "support", traps="boolean", inside=True)
    draft.empty("training_included", True, "absent")
    draft.empty("transferable", True, "negated contradicted")
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    utility_pdf,
    lab_text,
    minutes_text,
    export_csv,
    columns_text,
    mail_text,
]
