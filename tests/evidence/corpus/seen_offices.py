"""Papers of offices that may be looked at: an income statement, numbered boxes, an offer of work, a survey's table."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_html, as_text
from tests.evidence.corpus.pools import clear_day, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap
from tests.evidence.corpus.seen_letters import box

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def income_html(dice: random.Random, draft: Draft) -> Made:
    """Results in millions except per share: a column of notes, three years, a loss in one of them."""
    company, auditor = dice.sample(pools.COMPANIES, 2)
    year = dice.choice([2021, 2022, 2023])
    figures = {
        key: [dice.randint(1_100, 9_900) for _ in range(3)] for key in ("revenue", "cost", "research", "operating")
    }
    figures["interest"] = [dice.randint(20, 99) for _ in range(3)]
    loss = dice.randint(101, 899)
    shares = [f"{dice.randint(0, 3)}.{dice.randint(10, 99)}" for _ in range(3)]
    names = {
        "revenue": "Revenue",
        "cost": "Cost of sales",
        "research": "Research and development",
        "operating": "Operating profit",
        "interest": "Interest paid",
    }
    rows = "".join(
        f"<tr><td>{names[key]}</td><td>{number + 2}</td>"
        + "".join(f"<td>{m(f'{key}{i}', f'{value:,}')}</td>" for i, value in enumerate(values))
        + "</tr>"
        for number, (key, values) in enumerate(figures.items())
    )
    source = f"""<html><body><h1>{m("company", company)}</h1><h2>Consolidated income statement</h2>
    <p>for the years ended 30 June, in EUR millions except per share data</p>
    <table><tr><th></th><th>Notes</th><th>{year}</th><th>{year - 1}</th><th>{year - 2}</th></tr>{rows}
    <tr><td>Net result</td><td>11</td><td>{m("net0", f"({loss})")}</td><td>{m("net1", loss + 31)}</td><td>{m("net2", loss + 77)}</td></tr>
    <tr><td>Earnings per share (EUR)</td><td>12</td>{"".join(f"<td>{m(f'share{i}', value)}</td>" for i, value in enumerate(shares))}</tr>
    <tr><td>Average number of staff</td><td>13</td><td>{m("staff", 412)}</td><td>398</td><td>377</td></tr></table>
    <p>The statements were reviewed by {m("auditor", auditor)}. They have {m("audited", "not been audited")}. The general meeting takes place on {m("meeting", pools.uk_long(clear_day(dice)))}.</p></body></html>"""
    draft.says("company", company, "company", traps="unlabelled accents")
    draft.says("revenue", figures["revenue"][0] * 1_000_000, "revenue0", traps="thousands column_heading")
    draft.says("revenue_previous_year", figures["revenue"][1] * 1_000_000, "revenue1", traps="thousands column_heading")
    draft.says("cost_of_sales", figures["cost"][0] * 1_000_000, "cost0", traps="thousands column_heading")
    draft.empty("research_and_development", figures["research"][1] * 1_000_000, "other_column contradicted")
    draft.says("operating_profit", figures["operating"][0] * 1_000_000, "operating0", traps="thousands column_heading")
    draft.says("interest_paid", figures["interest"][0] * 1_000_000, "interest0", traps="thousands column_heading")
    if dice.random() < 0.5:
        draft.says("net_result", -loss * 1_000_000, "net0", traps="thousands negative_paren")
    else:
        draft.empty("net_result", loss * 1_000_000, "other_sign contradicted")
    draft.says("earnings_per_share", Decimal(shares[0]), "share0", traps="unscaled")
    draft.says("staff", 412, "staff", traps="unscaled")
    draft.says("reviewed_by", auditor, "auditor", traps="prose accents")
    draft.empty("audited", True, "negated contradicted")
    draft.empty("gross_profit", (figures["revenue"][0] - figures["cost"][0]) * 1_000_000, "computable")
    draft.empty("dividend", None, "none")
    draft.empty("biggest_customer", auditor, "unrelated")
    return as_html(source)


def wage_boxes_text(dice: random.Random, draft: Draft) -> Made:
    """A yearly wage form: boxes with letters and numbers, the label over the value, three boxes side by side."""
    employer, person = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    ssn, ein = (
        f"{dice.randint(100, 899)}-{dice.randint(10, 99)}-{dice.randint(1000, 9999)}",
        f"{dice.randint(10, 99)}-{dice.randint(1000000, 9999999)}",
    )
    wages = money(dice, 3_000_000, 12_000_000)
    medicare, tips = wages + money(dice, 10_000, 90_000), money(dice, 10_000, 300_000)
    withheld, social = money(dice, 400_000, 900_000), money(dice, 200_000, 390_000)
    state, local = money(dice, 100_000, 190_000), money(dice, 10_000, 90_000)
    plan = dice.random() < 0.5
    lines = [
        "Form W-9X   Wage and Tax Summary   2023",
        "-" * 88,
        aligned((0, "a Employee's social security number"), (44, "b Employer identification number")),
        aligned((2, m("ssn", ssn)), (46, m("ein", ein))),
        "-" * 88,
        aligned((0, "c Employer's name"), (44, "e Employee's name")),
        aligned((2, m("employer", employer)), (46, m("person", person))),
        "-" * 88,
        aligned((0, "1 Wages, tips, other"), (30, "2 Federal income tax withheld"), (64, "3 Social security tax")),
        aligned((2, m("wages", us(wages))), (32, m("withheld", us(withheld))), (66, m("social", us(social)))),
        "-" * 88,
        aligned((0, "5 Medicare wages"), (30, "7 Social security tips"), (64, "10 Dependent care benefits")),
        aligned((2, m("medicare", us(medicare))), (32, m("tips", us(tips)))),
        "-" * 88,
        aligned((0, "16 State wages"), (30, "17 State income tax"), (64, "19 Local income tax")),
        aligned((2, us(wages)), (32, m("state", us(state))), (66, m("local", us(local)))),
        "-" * 88,
        f"13 Statutory employee [ ]   Retirement plan [{'X' if plan else ' '}]   Third-party sick pay [ ]",
    ]
    draft.says("employee_ssn", ssn.replace("-", ""), "ssn", traps="id_spacing label_above")
    draft.says("employer_identification_number", ein, "ein", traps="label_above")
    draft.says("employer_name", employer, "employer", traps="label_above accents")
    draft.says("employee_name", person, "person", traps="label_above accents")
    draft.says("wages_tips_other", wages, "wages", traps="label_above", elsewhere=True)
    if dice.random() < 0.6:
        draft.says("federal_income_tax_withheld", withheld, "withheld", traps="label_above")
    else:
        draft.empty("federal_income_tax_withheld", state, "other_role contradicted")
    draft.says("social_security_tax", social, "social", traps="label_above")
    draft.says("medicare_wages", medicare, "medicare", traps="label_above")
    draft.says("social_security_tips", tips, "tips", traps="label_above")
    draft.says("state_income_tax", state, "state", traps="label_above")
    draft.says("local_income_tax", local, "local", traps="label_above")
    draft.empty("dependent_care_benefits", None, "none")
    draft.empty("total_tax", withheld + state + local, "computable")
    draft.empty("tax_preparer", person, "unrelated")
    draft.empty("statutory_employee", True, "negated contradicted")
    return as_text("\n".join(lines))


def offer_letter_prose(dice: random.Random, draft: Draft) -> Made:
    """An offer of work in sentences: two payments, two dates, two numbers of days, what is and what is not included."""
    company, (person, boss, signer) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 3)
    title = dice.choice(["Senior Cartographer", "Night Shift Nurse", "Grants Officer"])
    begins, answer = clear_day(dice), clear_day(dice)
    pay, extra = dice.randint(41, 96) * 1000, dice.randint(3, 9) * 1000
    vacation, sick = dice.choice([22, 24, 26]), dice.choice([6, 8, 9])
    hours = dice.choice([36, 38, 40])
    relocation, car, parking = (dice.random() < 0.5 for _ in range(3))
    text = [
        f"Dear {m('person', person)},",
        f"We are pleased to offer you the position of {m('title', title)} at {m('company', company)}, reporting to {m('boss', boss)}, our Head of Operations. Your first day will be {m('begins', pools.us_long(begins))}.",
        f"Your starting salary will be {m('pay', f'${pay:,}')} per year, paid monthly, with a target bonus of {m('extra', f'${extra:,}')}. You will work {m('hours', hours)} hours per week at our {m('office', 'Tacoma')} office.",
        f"You are entitled to {m('vacation', vacation)} vacation days and {m('sick', sick)} sick days per year. Relocation costs {m('relocation', 'are covered' if relocation else 'are not covered')}. A company car is {m('car', 'provided' if car else 'not provided')}; parking is {m('parking', 'free of charge' if parking else 'charged')}.",
        f"This offer expires on {m('answer', pools.us_long(answer))}. It is conditional on a background check, but not on a drug test.",
        f"Sincerely,\n{m('signer', signer)}\nHuman Resources",
    ]
    source = "\n\n".join(part if "\n" in part else wrap(part, 74) for part in text)
    draft.says("candidate", person, "person", traps="prose accents")
    draft.says("position", title, "title", traps="prose broken_line")
    draft.says("company", company, "company", traps="prose accents broken_line")
    draft.says("supervisor", boss, "boss", traps="prose accents broken_line")
    if dice.random() < 0.6:
        draft.says("start_date", begins, "begins", traps="prose date_forms broken_line")
    else:
        draft.empty("start_date", answer, "other_role contradicted")
    draft.says("salary", pay, "pay", traps="prose currency")
    draft.says("bonus", extra, "extra", traps="prose currency")
    draft.says("hours_per_week", hours, "hours", traps="prose")
    draft.says("office_location", "Tacoma", "office", traps="prose")
    draft.says("vacation_days", vacation, "vacation", traps="prose label_after")
    draft.says("sick_days", sick, "sick", traps="prose label_after")
    draft.says("offer_expiry", answer, "answer", traps="prose date_forms broken_line")
    for path, key, said in (("relocation_covered", "relocation", relocation), ("company_car_provided", "car", car)):
        if dice.random() < 0.6:
            draft.says(path, said, key, traps="boolean_negation", inside=True)
        else:
            draft.empty(path, not said, "negated contradicted")
    draft.empty("drug_test_required", True, "negated contradicted")
    draft.empty("weekly_pay", round(pay / 52, 2), "computable")
    draft.empty("stock_options", None, "none")
    draft.empty("previous_employer", company, "unrelated")
    draft.empty("union_delegate", signer, "unrelated")
    draft.empty("birthplace", "Tacoma", "unrelated")
    return as_text(source)


def survey_docx(dice: random.Random, draft: Draft) -> Made:
    """A survey: groups as columns with their size in the heading, counts with shares in parentheses."""
    institute, lead = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    sizes = [dice.randint(310, 480), dice.randint(500, 690)]
    rows = []
    for name in ("Uses the bus daily", "Owns a car", "Cycles to work", "Works at home"):
        counts = [dice.randint(30, size // 2) for size in sizes]
        rows.append((name, counts, [f"{100 * count / size:.1f}" for count, size in zip(counts, sizes, strict=True)]))
    begin = clear_day(dice)
    end = begin + timedelta(days=dice.randint(20, 50))
    weighted = dice.random() < 0.5
    table: list[str | list[str]] = [
        m("title", "How the town travels"),
        f"Commissioned by {m('institute', institute)}; written by {m('lead', lead)}.",
        f"Interviews were held between {m('begin', pools.uk_long(begin))} and {m('end', pools.uk_long(end))}. Results are {m('weighted', 'weighted' if weighted else 'not weighted')}.",
        "",
        ["Answer", f"Urban (n = {m('n0', sizes[0])})", f"Rural (n = {m('n1', sizes[1])})"],
        *[
            [
                m(f"a{i}", name),
                f"{m(f'u{i}', counts[0])} ({m(f'x{i}', shares[0] + '%')})",
                f"{m(f'r{i}', counts[1])} ({m(f'y{i}', shares[1] + '%')})",
            ]
            for i, (name, counts, shares) in enumerate(rows)
        ],
        "",
        f"The response rate was {m('rate', '38.4%')}; the margin of error is {m('margin', '2.9')} points.",
    ]
    draft.says("title", "How the town travels", "title", traps="unlabelled")
    draft.says("commissioned_by", institute, "institute", traps="prose accents")
    draft.says("author", lead, "lead", traps="prose accents")
    draft.says("fieldwork_start", begin, "begin", traps="date_range date_forms")
    if dice.random() < 0.6:
        draft.says("fieldwork_end", end, "end", traps="date_range date_forms")
    else:
        draft.empty("fieldwork_end", begin, "other_role contradicted")
    draft.says("urban_sample_size", sizes[0], "n0", traps="paren_aside")
    draft.says("rural_sample_size", sizes[1], "n1", traps="paren_aside")
    draft.says("response_rate", Decimal("0.384"), "rate", traps="percent prose")
    draft.says("margin_of_error", Decimal("2.9"), "margin", traps="prose")
    draft.empty("total_sample", sum(sizes), "computable")
    draft.empty("interviewer", lead, "unrelated")
    draft.empty("language", None, "none")
    for i, (name, counts, shares) in enumerate(rows):
        draft.says(f"answers[{i}].answer", name, f"a{i}", traps="table_row")
        draft.says(
            f"answers[{i}].urban_count", counts[0], f"u{i}", traps="column_heading", elsewhere=counts[0] == counts[1]
        )
        draft.says(
            f"answers[{i}].rural_count", counts[1], f"r{i}", traps="column_heading", elsewhere=counts[0] == counts[1]
        )
        if i == 1 and shares[0] != shares[1]:
            draft.empty(f"answers[{i}].urban_percent", Decimal(shares[1]), "other_column contradicted")
        else:
            draft.says(f"answers[{i}].urban_percent", Decimal(shares[0]), f"x{i}", traps="column_heading percent")
    return as_docx(table)


def ticket_pdf(dice: random.Random, draft: Draft) -> Made:
    """A ticket: legs from and to, days both ways round settled by a form's hint, one fare twice, boxes without a value."""
    pdf = PdfDraft()
    airline, (person, companion) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    places = dice.sample(["Lisbon", "Nairobi", "Toronto", "Perth", "Oslo"], 2)
    out = murky_day(dice)
    back = out + timedelta(days=dice.randint(6, 25))
    locator = "".join(dice.choice("ABCDEFGHJKLMNPQR23456789") for _ in range(6))
    fare, taxes, seat = money(dice, 20_000, 90_000), money(dice, 4_000, 19_000), money(dice, 1_500, 3_900)
    total = fare + taxes + seat
    refundable, checked = dice.random() < 0.5, dice.choice([1, 2])
    ticket = f"{dice.randint(100, 999)} {dice.randint(1000000000, 9999999999)}"
    pdf.text(50, 44, m("airline", airline), size=15, font=1)
    pdf.text(50, 60, "E-ticket itinerary and receipt (dates as dd/mm/yyyy)", size=9)
    pdf.row(
        90, [(50, "Passenger:"), (150, m("person", person)), (330, "Booking reference:"), (450, m("locator", locator))]
    )
    pdf.row(106, [(50, "Travelling with:"), (150, companion), (330, "Ticket number:"), (450, m("ticket", ticket))])
    pdf.row(140, [(50, "Flight"), (120, "From"), (220, "To"), (320, "Date"), (410, "Departs"), (480, "Cabin")])
    legs = [
        (f"HX {dice.randint(100, 999)}", places[0], places[1], out, "07:35"),
        (f"HX {dice.randint(100, 999)}", places[1], places[0], back, "18:10"),
    ]
    for i, (flight, origin, goal, when, clock) in enumerate(legs):
        pdf.row(
            156 + 16 * i,
            [
                (50, m(f"f{i}", flight)),
                (120, m(f"o{i}", origin)),
                (220, m(f"g{i}", goal)),
                (320, m(f"w{i}", pools.slash_uk(when))),
                (410, m(f"t{i}", clock)),
                (480, m(f"c{i}", "Economy")),
            ],
        )
    for i, (label, key, amount) in enumerate(
        (
            ("Fare", "fare", fare),
            ("Taxes and fees", "taxes", taxes),
            ("Seat selection", "seat", seat),
            ("Total", "total", total),
        )
    ):
        pdf.row(220 + 15 * i, [(50, label), (-250, m(key, "USD " + us(amount)))])
    pdf.text(
        50,
        300,
        f"This ticket is {m('refund', 'refundable' if refundable else 'non-refundable')}. Baggage allowance: {m('bags', checked)} checked, 1 cabin.",
    )
    pdf.text(
        50,
        316,
        f"Charged to Visa ending in {m('card', dice.randint(1000, 9999))}. Meal preference: none. Frequent flyer number: N/A",
    )
    draft.says("airline", airline, "airline", traps="unlabelled accents")
    draft.says("passenger_name", person, "person", traps="row_label accents")
    draft.says("booking_reference", locator, "locator", traps="row_label")
    draft.says("ticket_number", ticket.replace(" ", "-"), "ticket", traps="id_spacing")
    draft.says("base_fare", fare, "fare", traps="currency row_label")
    draft.says("taxes", taxes, "taxes", traps="currency row_label")
    if dice.random() < 0.6:
        draft.says("total_price", total, "total", traps="currency row_label")
    else:
        draft.empty("total_price", fare, "other_role contradicted")
    if dice.random() < 0.6:
        draft.says("refundable", refundable, "refund", traps="boolean_negation", inside=True)
    else:
        draft.empty("refundable", not refundable, "negated contradicted")
    draft.says("checked_bags", checked, "bags", traps="label_after")
    draft.empty("frequent_flyer_number", None, "none")
    draft.empty("travel_agency", companion, "unrelated")
    draft.empty("emergency_contact", companion, "unrelated")
    for i, (flight, origin, goal, when, clock) in enumerate(legs):
        draft.says(f"flights[{i}].flight_number", flight.replace(" ", ""), f"f{i}", traps="table_row id_spacing")
        draft.says(f"flights[{i}].origin", origin, f"o{i}", traps="column_heading", elsewhere=True)
        if i == 1:
            draft.empty(f"flights[{i}].destination", origin, "other_column contradicted")
            draft.empty(
                f"flights[{i}].date",
                swapped(when) if when.day <= 12 and when.day != when.month else out,
                "swapped_date contradicted",
            )
        else:
            draft.says(f"flights[{i}].destination", goal, f"g{i}", traps="column_heading", elsewhere=True)
            draft.says(f"flights[{i}].date", when, f"w{i}", traps="column_heading day_month_context")
        draft.says(f"flights[{i}].departure_time", clock, f"t{i}", traps="column_heading")
    return pdf.done()


def inspection_text(dice: random.Random, draft: Draft) -> Made:
    """A vehicle inspection: marks and codes, boxes before and behind their words, readings with limits, defects as a list."""
    garage, (owner, inspector) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    vin = "".join(dice.choice("ABCDEFGHJKLMNPRSTUVWXYZ0123456789") for _ in range(17))
    plate = f"{dice.choice('KLMN')}{dice.choice('ABCD')}-{dice.choice('XYZ')} {dice.randint(100, 999)}"
    km = dice.randint(20_000, 190_000)
    checked, born = clear_day(dice), clear_day(dice, date(2010, 1, 1), 3000)
    until = checked + timedelta(days=365)
    brake_left, brake_right = dice.randint(210, 290), dice.randint(210, 290)
    tread, smoke = f"{dice.randint(2, 7)},{dice.randint(1, 9)}", f"0,{dice.randint(11, 99)}"
    horn, lights, leak = (dice.random() < 0.5 for _ in range(3))
    passed = dice.random() < 0.5
    lines = [
        f"{m('garage', garage)}  -  periodic vehicle inspection",
        "",
        f"Vehicle identification no. ....... {m('vin', vin[:3] + ' ' + vin[3:9] + ' ' + vin[9:])}",
        f"Registration mark ................ {m('plate', plate)}",
        f"Registered keeper ................ {m('owner', owner)}",
        f"First registered ................. {m('born', pools.dots(born))}",
        f"Odometer ......................... {m('km', f'{km:,}'.replace(',', '.'))} km",
        f"Date of inspection ............... {m('checked', pools.dots(checked))}",
        "",
        "Readings            left     right    limit",
        f"Service brake (daN)  {m('bl', brake_left)}      {m('br', brake_right)}      200",
        "",
        f"Tyre tread depth: {m('tread', tread)} mm (minimum 1,6 mm)",
        f"Exhaust opacity:  {m('smoke', smoke)} 1/m (maximum 1,50 1/m)",
        "",
        f"{box(horn)} {m('horn', 'Horn works')}    {box(lights)} {m('lights', 'Headlights aligned')}    {box(leak)} {m('leak', 'Oil leak found')}",
        "",
        f"Result: the vehicle {m('result', 'passed the inspection' if passed else 'did not pass the inspection')}.",
        f"Next inspection due by {m('until', pools.dots(until))}. Inspector: {m('inspector', inspector)}, licence {m('licence', 'I-' + str(dice.randint(1000, 9999)))}",
    ]
    draft.says("workshop", garage, "garage", traps="unlabelled accents")
    draft.says("vin", vin, "vin", traps="id_spacing")
    draft.says("registration", plate.replace("-", " "), "plate", traps="id_spacing")
    draft.says("keeper", owner, "owner", traps="row_label accents")
    draft.says("first_registration_date", born, "born", traps="european_date")
    draft.says("mileage_km", km, "km", traps="european_number")
    draft.says("inspection_date", checked, "checked", traps="european_date")
    if dice.random() < 0.6:
        draft.says("next_inspection_date", until, "until", traps="european_date")
    else:
        draft.empty("next_inspection_date", checked, "other_role contradicted")
    draft.says("brake_force_left", brake_left, "bl", traps="column_heading")
    draft.says("brake_force_right", brake_right, "br", traps="column_heading")
    draft.says("tread_depth_mm", Decimal(tread.replace(",", ".")), "tread", traps="european_number")
    draft.says("exhaust_opacity", Decimal(smoke.replace(",", ".")), "smoke", traps="european_number")
    for path, key, said in (
        ("horn_works", "horn", horn),
        ("headlights_aligned", "lights", lights),
        ("oil_leak_found", "leak", leak),
    ):
        if dice.random() < 0.6:
            draft.says(path, said, key, traps="boolean_box", inside=True)
        else:
            draft.empty(path, not said, "negated contradicted")
    if dice.random() < 0.6:
        draft.says("passed", passed, "result", traps="boolean_negation", inside=True)
    else:
        draft.empty("passed", not passed, "negated contradicted")
    draft.says("inspector", inspector, "inspector", traps="row_label accents")
    draft.empty("insurance_company", garage, "unrelated")
    draft.empty("previous_owner", None, "none")
    draft.empty("brake_imbalance", abs(brake_left - brake_right) + 1000, "computable")
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    income_html,
    wage_boxes_text,
    offer_letter_prose,
    survey_docx,
    ticket_pdf,
    inspection_text,
]
