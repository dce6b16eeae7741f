"""Layouts that may be looked at: forms with options, elements as blocks and as sentences, figures in prose."""

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_text
from tests.evidence.corpus.pools import clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def intake_text(dice: random.Random, draft: Draft) -> Made:
    """A form in text: labels above values, options with marks before or behind, two styles of boxes."""
    name, contact = dice.sample(pools.PEOPLE, 2)
    born, seen = murky_day(dice), murky_day(dice)
    on, off = dice.choice([("[X]", "[ ]"), ("(x)", "( )"), ("☑", "☐"), ("[x]", "[]")])
    smoker, consent, allergy = (dice.random() < 0.5 for _ in range(3))
    visit = dice.choice(["Routine", "Emergency", "Follow-up"])
    plan = dice.choice(["Basic", "Extended", "Family"])
    limit = money(dice, 100_000, 900_000)

    def options(key: str, said: bool, behind: bool = False) -> str:
        yes, no = (m(key, "Yes"), "No") if said else ("Yes", m(key, "No"))
        marks = (on, off) if said else (off, on)
        return f"{yes} {marks[0]}  {no} {marks[1]}" if behind else f"{marks[0]} {yes}  {marks[1]} {no}"

    def chosen(key: str, given: str, among: list[str]) -> str:
        return "  ".join(
            f"{on if option == given else off} {m(key, option) if option == given else option}" for option in among
        )

    lines = [
        "PATIENT INTAKE (dates are day/month/year)",
        "",
        aligned((0, "Full name"), (30, "Birth date"), (50, "Last visit")),
        aligned((0, m("name", name)), (30, m("born", pools.slash_uk(born))), (50, m("seen", pools.slash_uk(seen)))),
        "",
        aligned((0, "Emergency contact"), (30, "Member ID"), (50, "Coverage limit")),
        aligned(
            (0, m("contact", contact)),
            (30, m("member", f"MB {dice.randint(100, 999)} {dice.randint(100, 999)}")),
            (50, m("limit", "£" + us(limit))),
        ),
        "",
        "Reason for visit:  " + chosen("visit", visit, ["Routine", "Emergency", "Follow-up"]),
        "Plan:  " + chosen("plan", plan, ["Basic", "Extended", "Family"]),
        "Do you smoke?  " + options("smoke", smoker),
        "Consent given:  " + options("consent", consent, behind=True),
        "Known allergies:  " + options("allergy", allergy),
    ]
    draft.schema = {
        "properties": {
            "visit_reason": {"enum": ["routine", "emergency", "follow-up"]},
            "plan": {"enum": ["basic", "extended", "family"]},
        }
    }
    draft.says("full_name", name, "name", traps="label_above accents")
    draft.says("birth_date", born, "born", traps="label_above day_month_context")
    if dice.random() < 0.5:
        draft.says("last_visit", seen, "seen", traps="label_above day_month_context")
    else:
        draft.empty("last_visit", swapped(seen), "swapped_date contradicted")
    draft.says("emergency_contact", contact, "contact", traps="label_above accents")
    draft.says(
        "member_id", bare_mark(lines, "member").replace(" ", "-").lower(), "member", traps="label_above id_spacing"
    )
    draft.says("coverage_limit", limit, "limit", traps="label_above currency")
    if dice.random() < 0.6:
        draft.says("visit_reason", visit.lower(), "visit", traps="enum boolean_box")
        draft.says("plan", plan.lower(), "plan", traps="enum boolean_box")
    else:
        draft.empty("visit_reason", {"Routine": "emergency"}.get(visit, "routine"), "negated contradicted")
        draft.empty("plan", {"Basic": "family"}.get(plan, "basic"), "negated contradicted")
    for path, key, said in (
        ("smoker", "smoke", smoker),
        ("consent_given", "consent", consent),
        ("has_allergies", "allergy", allergy),
    ):
        if dice.random() < 0.6:
            draft.says(path, said, key, traps="boolean_box", inside=True)
        else:
            draft.empty(path, not said, "negated contradicted")
    draft.empty("insurer", None, "none")
    return as_text("\n".join(lines))


def bare_mark(lines: list[str], key: str) -> str:
    import re

    found = re.search(rf"⟦{key}\|([^⟧]*)⟧", "\n".join(lines))
    assert found
    return found[1]


def fleet_text(dice: random.Random, draft: Draft) -> Made:
    """Vehicles as blocks of label and value, some with equal figures; a summary below; one value of another block."""
    lines = [
        "FLEET SCHEDULE",
        f"Insurer: {m('insurer', dice.choice(pools.COMPANIES))}   Policy: {m('policy', 'FL-' + str(dice.randint(10000, 99999)))}",
        "",
    ]
    makes = dice.sample(["Volvo FH16", "MAN TGX", "Scania R450", "Iveco Daily", "Ford Transit"], 3)
    cars = []
    for index, make in enumerate(makes):
        plate = f"{dice.choice('ABCD')}{dice.choice('KLMN')} {dice.randint(10, 99)} {dice.choice('PQRS')}{dice.choice('TUVW')}{dice.choice('XYZ')}"
        cars.append(
            [
                make,
                plate,
                dice.choice([2019, 2020, 2021]),
                dice.choice([12, 18, 26]),
                money(dice, 1_000_000, 9_000_000),
                money(dice, 50_000, 300_000),
            ]
        )
        if index == 2:
            cars[2][5] = cars[0][5]
            cars[2][3] = cars[0][3]
        model, plate, year, tons, worth, premium = cars[index]
        head = dice.choice([f"Vehicle {index + 1}", f"{index + 1}. Vehicle", f"Unit #{index + 1}"])
        gap = ":" + " " * dice.choice([1, 3])
        lines += [
            head,
            f"Make and model{gap}{m(f'm{index}', model)}",
            f"Registration{gap}{m(f'p{index}', plate)}",
            f"Year{gap}{m(f'y{index}', year)}",
            f"Payload{gap}{m(f't{index}', tons)} t",
            f"Insured value{gap}{m(f'w{index}', eu(worth) + ' EUR')}",
            f"Annual premium{gap}{m(f'a{index}', eu(premium) + ' EUR')}",
            "",
        ]
    total = sum((car[5] for car in cars), Decimal(0))
    lines += [
        f"Total annual premium: {m('total', eu(total) + ' EUR')}",
        f"Glass cover is {m('glass', 'not included')}.",
    ]
    draft.says("insurer", bare_mark(lines, "insurer"), "insurer", traps="accents")
    draft.says("policy_number", bare_mark(lines, "policy").replace("-", " "), "policy", traps="id_spacing")
    draft.says("total_premium", total, "total", traps="european_number repeated_role")
    draft.says("glass_cover_included", False, "glass", traps="boolean_negation", inside=True)
    draft.empty("deductible", None, "none")
    for index, (make, plate, year, tons, worth, premium) in enumerate(cars):
        twin = index in (0, 2)
        draft.says(f"vehicles[{index}].model", make, f"m{index}", traps="block")
        draft.says(f"vehicles[{index}].registration", plate.replace(" ", "-"), f"p{index}", traps="block id_spacing")
        draft.says(f"vehicles[{index}].year", year, f"y{index}", traps="block")
        draft.says(
            f"vehicles[{index}].payload_tons",
            tons,
            f"t{index}",
            traps="same_amount_rows" if twin else "block",
            elsewhere=twin,
        )
        if index == 1:
            draft.empty(f"vehicles[{index}].insured_value", cars[0][4], "other_row contradicted")
        else:
            draft.says(f"vehicles[{index}].insured_value", worth, f"w{index}", traps="european_number block")
        draft.says(
            f"vehicles[{index}].annual_premium",
            premium,
            f"a{index}",
            traps="same_amount_rows" if twin else "block",
            elsewhere=twin,
        )
    return as_text("\n".join(lines))


def analyst_text(dice: random.Random, draft: Draft) -> Made:
    """An analyst's note: growth, margins and guidance in prose, ranges, signs in words and in figures."""
    company, rival = dice.sample(pools.COMPANIES, 2)
    sales, debt = f"{dice.randint(2, 9)}.{dice.randint(1, 9)}", f"{dice.randint(101, 899)}"
    growth, margin, churn = (
        f"{dice.randint(4, 29)}",
        f"{dice.randint(21, 49)}.{dice.randint(1, 9)}",
        f"{dice.randint(1, 9)}.{dice.randint(1, 9)}",
    )
    low, high = dice.randint(30, 45), dice.randint(46, 60)
    target, price = f"{dice.randint(50, 99)}.00", f"{dice.randint(20, 49)}.{dice.randint(10, 99)}"
    when = clear_day(dice)
    text = "\n\n".join(
        [
            f"{m('company', company)}: raising our target",
            wrap(
                f"Revenue grew {m('growth', growth + '%')} year over year to {m('sales', f'${sales} billion')}, and the gross margin widened to"
                f" {m('margin', margin + ' percent')}. Customer churn declined to {m('churn', churn + '%')}. Net debt stood at {m('debt', f'$ {debt} million')}"
                f" at the end of the quarter."
            ),
            wrap(
                f"For the coming year management guides to earnings between {m('low', f'${low} million')} and {m('high', f'${high} million')}."
                f" We raise our price target to {m('target', '$' + target)} (the shares closed at {m('price', '$' + price)} yesterday) and keep the"
                f" rating at {m('rating', 'Buy')}. The company {m('acquire', 'has not acquired')} {rival} and {m('buyback', 'will repurchase shares')}"
                f" in {when.year + 1}. Results are due on {m('when', pools.us_long(when))}."
            ),
        ]
    )
    draft.says("company", company, "company", traps="unlabelled accents")
    draft.says("revenue", int(Decimal(sales) * 1_000_000_000), "sales", traps="million prose")
    draft.says("revenue_growth", Decimal(growth) / 100, "growth", traps="percent prose")
    draft.says("gross_margin", Decimal(margin), "margin", traps="percent prose")
    draft.says("churn_rate", Decimal(churn) / 100, "churn", traps="percent prose")
    draft.says("net_debt", int(debt) * 1_000_000, "debt", traps="million prose")
    draft.says("price_target", float(target), "target", traps="currency prose")
    draft.says("closing_price", Decimal(price), "price", traps="currency prose paren_aside")
    draft.says("rating", "BUY", "rating", traps="enum")
    draft.says("results_date", when, "when", traps="date_forms prose")
    draft.says("guidance_low", low * 1_000_000, "low", traps="million prose range")
    draft.says("guidance_high", high * 1_000_000, "high", traps="million prose range")
    draft.empty("growth_rate_prior", -Decimal(growth) / 100, "other_sign contradicted")
    draft.empty("dividend_per_share", None, "none")
    return as_text(text)


def roster_text(dice: random.Random, draft: Draft) -> Made:
    """Elements as sentences and as bullets, not as rows."""
    people = dice.sample(pools.PEOPLE, 4)
    rows = []
    lines = ["Staffing plan", "", "The following people join the project:", ""]
    for index, name in enumerate(people):
        hours, rate, start = dice.choice([20, 24, 32, 40]), dice.randint(45, 120), clear_day(dice)
        role = dice.choice(["data engineer", "designer", "tester", "project manager"])
        rows.append((name, role, hours, rate, start))
        lines.append(
            f"- {m(f'n{index}', name)} ({m(f'r{index}', role)}) works {m(f'h{index}', hours)} hours a week at {m(f'e{index}', f'€{rate}')} per hour from"
            f" {m(f's{index}', pools.uk_long(start))}."
        )
    lines += [
        "",
        wrap(f"Travel is {m('travel', 'not reimbursed')}. The plan was approved by {m('boss', 'Dr. Ines Falk')}."),
    ]
    draft.says("approved_by", "Dr Ines Falk", "boss", traps="prose")
    draft.says("travel_reimbursed", False, "travel", traps="boolean_negation", inside=True)
    wrong = dice.randrange(3)
    for index, (name, role, hours, rate, start) in enumerate(rows):
        draft.says(f"people[{index}].name", name, f"n{index}", traps="bullet accents")
        draft.says(f"people[{index}].role", role, f"r{index}", traps="bullet")
        draft.says(f"people[{index}].hours_per_week", hours, f"h{index}", traps="bullet", elsewhere=True)
        draft.says(f"people[{index}].hourly_rate", rate, f"e{index}", traps="bullet")
        if index == wrong and rows[index + 1][4] != start:
            draft.empty(f"people[{index}].start_date", rows[index + 1][4], "other_row contradicted")
        else:
            draft.says(f"people[{index}].start_date", start, f"s{index}", traps="bullet date_forms")
    return as_text("\n".join(lines))


def certificate_pdf(dice: random.Random, draft: Draft) -> Made:
    """A certificate: values above their labels, wide tables with units in the headings, a wrapped cell."""
    pdf = PdfDraft()
    person, trainer = dice.sample(pools.PEOPLE, 2)
    held, until = clear_day(dice), clear_day(dice)
    number = f"{dice.randint(100, 999)}/{dice.randint(10, 99)}-{dice.choice('ABC')}"
    pdf.text(297, 80, "CERTIFICATE OF CALIBRATION", size=18, font=1, right=False)
    pdf.text(60, 130, m("person", person), size=14)
    pdf.text(60, 146, "Responsible engineer", size=8)
    pdf.text(330, 130, m("trainer", trainer), size=14)
    pdf.text(330, 146, "Approved by", size=8)
    pdf.row(
        190,
        [
            (60, "Certificate no."),
            (200, m("number", number)),
            (330, "Calibrated on"),
            (450, m("held", pools.short(held))),
        ],
    )
    pdf.row(
        206,
        [
            (60, "Instrument"),
            (200, m("tool", "Pressure gauge P-12")),
            (330, "Valid until"),
            (450, m("until", pools.short(until))),
        ],
    )
    pdf.row(250, [(60, "Point"), (-260, "Nominal (bar)"), (-380, "Measured (bar)"), (-500, "Deviation (%)")])
    points = []
    for index in range(4):
        nominal = Decimal(10 * (index + 1))
        error = Decimal(dice.randint(-30, 30)) / 10
        measured = nominal + error / 10
        points.append((f"P{index + 1}", nominal, measured, error))
        shown = f"{error:+.1f}" if error > 0 else f"{error:.1f}".replace("-", "\u2013" if index % 2 else "-")
        pdf.row(
            268 + 18 * index,
            [
                (60, m(f"k{index}", f"P{index + 1}")),
                (-260, m(f"n{index}", f"{nominal:.1f}")),
                (-380, m(f"x{index}", f"{measured:.2f}")),
                (-500, m(f"e{index}", shown)),
            ],
        )
    pdf.text(
        60, 360, f"The instrument {m('pass', 'passed')} the calibration. Ambient temperature {m('heat', '21.5')} °C."
    )
    draft.says("responsible_engineer", person, "person", traps="label_below accents")
    draft.says("approved_by", trainer, "trainer", traps="label_below accents")
    draft.says("certificate_number", number.replace("/", " "), "number", traps="id_spacing")
    draft.says("calibration_date", held, "held", traps="date_forms")
    draft.says("valid_until", until, "until", traps="date_forms")
    draft.says("instrument", "Pressure Gauge P-12", "tool", traps="row_label")
    draft.says("ambient_temperature", Decimal("21.5"), "heat", traps="prose")
    draft.says("passed", True, "pass", traps="boolean", inside=True)
    draft.empty("humidity", None, "none")
    for index, (point, nominal, measured, error) in enumerate(points):
        draft.says(f"points[{index}].point", point, f"k{index}", traps="table_row")
        draft.says(f"points[{index}].nominal_bar", nominal, f"n{index}", traps="column_heading", elsewhere=True)
        draft.says(f"points[{index}].measured_bar", measured, f"x{index}", traps="column_heading", elsewhere=True)
        if error < 0 and index == 0:
            draft.empty(f"points[{index}].deviation_percent", -error, "other_sign contradicted")
        else:
            draft.says(f"points[{index}].deviation_percent", error, f"e{index}", traps="column_heading negative")
    return pdf.done()


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    intake_text,
    fleet_text,
    analyst_text,
    roster_text,
    certificate_pdf,
]
