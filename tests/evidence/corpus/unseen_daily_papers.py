"""Layouts kept out of tuning: an income statement, a laboratory report, a job offer."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_text
from tests.evidence.corpus.pools import clear_day, eu, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap
from tests.evidence.corpus.seen_forms import bare_mark
from tests.evidence.corpus.unseen_daily import Fact, Made, described, digits, perhaps, tell


def daily_income_pdf(dice: random.Random, draft: Draft) -> Made:
    """An income statement in thousands: two years, a column of notes, costs and losses in brackets."""
    pdf = PdfDraft()
    company, year = dice.choice(pools.COMPANIES), dice.choice([2023, 2024])
    newest_first, minus_costs = dice.random() < 0.6, dice.random() < 0.5
    years: list[dict[str, Decimal]] = []
    for _ in range(2):
        revenue, cost = dice.randint(40_000, 90_000), dice.randint(21_000, 39_000)
        admin, research, interest = dice.randint(3_000, 30_000), dice.randint(1_000, 9_000), dice.randint(110, 990)
        profit = revenue - cost - admin - research
        tax = dice.randint(200, 4_000)
        figures = [revenue, cost, revenue - cost, admin, research, profit, interest, tax, profit - interest - tax]
        years.append(dict(zip(_LINES, map(Decimal, figures), strict=True)))
        years[-1]["eps"] = Decimal(figures[-1]).scaleb(-4).quantize(Decimal("0.01"))
    pdf.text(60, 60, m("company", company), size=15, font=1)
    pdf.text(60, 78, dice.choice(["CONSOLIDATED INCOME STATEMENT", "Consolidated Statements of Operations"]))
    pdf.text(60, 92, f"for the year ended {m('closed', pools.us_long(date(year, 12, 31)))}", size=9)
    pdf.text(
        60,
        105,
        dice.choice(
            ["(in thousands of US dollars, except per share data)", "(US$ thousands, except per share amounts)"]
        ),
        size=9,
    )
    places = (-430, -530) if newest_first else (-530, -430)
    pdf.row(135, [(300, "Note"), (places[0], str(year)), (places[1], str(year - 1))])
    for line, (name, words) in enumerate(_LINES.items()):
        cells: list[tuple[float, str]] = [(60, dice.choice(words)), (305, str(dice.randint(3, 19)))]
        for column in range(2):
            amount = years[column][name]
            if minus_costs and name in _COSTS:
                amount = years[column][name] = -amount
            cells.append((places[column], m(f"{name}{column}", f"({-amount:,})" if amount < 0 else f"{amount:,}")))
        pdf.row(155 + 16 * line, cells)
    earned = [
        m(f"eps{column}", f"({-entry['eps']})" if entry["eps"] < 0 else entry["eps"])
        for column, entry in enumerate(years)
    ]
    pdf.row(305, [(60, "Basic earnings (loss) per share (US$)"), (places[0], earned[0]), (places[1], earned[1])])
    share, staff = f"0.{dice.randint(11, 49)}", dice.randint(1_100, 8_900)
    dividend = f"The board proposes a dividend of {m('share', '$' + share)} per share. At year-end the Group had {m('staff', f'{staff:,}')} employees."
    pdf.text(60, 330, dividend, size=9)
    pdf.text(
        60,
        344,
        f"The comparative figures {m('restated', 'have not been restated')}. The notes form part of these statements.",
        size=9,
    )
    described(
        draft, current="Figures of the year reported on, in dollars", prior="Figures of the year before, in dollars"
    )
    facts: list[Fact] = [
        ("company_name", company, "company", "unlabelled accents"),
        ("fiscal_year_end", date(year, 12, 31), "closed", "date_forms"),
        ("dividend_per_share", Decimal(share), "share", "currency prose"),
        ("headcount", staff, "staff", "prose"),
        perhaps(dice, "prior_year_restated", False, "restated", "boolean_negation inside", True, "negated"),
        ("auditor", None, "", "none"),
        ("capital_expenditure", dice.randint(1_000, 9_999) * 1000, "", "absent"),
        ("ebitda", None, "", "none"),
        ("gross_margin_pct", round(float(years[0]["gross_profit"] / years[0]["revenue"] * 100), 1), "", "computable"),
        ("current.total_operating_expenses", int(abs(years[0]["sga"]) + abs(years[0]["rnd"])) * 1000, "", "computable"),
    ]
    for column, title in enumerate(("current", "prior")):
        for name in _LINES:
            dollars, other = (int(entry[name]) * 1000 for entry in (years[column], years[1 - column]))
            fact = (
                f"{title}.{name}",
                dollars,
                f"{name}{column}",
                "thousands column_heading" + " negative" * (dollars < 0),
            )
            if name == "operating_income" and column == 0:
                fact = perhaps(dice, *fact, other, "other_role")
            if name == "net_income":
                fact = perhaps(dice, *fact, -dollars, "other_sign")
            facts.append(fact)
        eps = years[column]["eps"]
        facts.append((f"{title}.eps", eps, f"eps{column}", "column_heading" + " negative" * (eps < 0)))
    tell(draft, facts)
    return pdf.done()


_LINES = {
    "revenue": ["Revenue", "Net sales", "Total revenue"],
    "cost_of_sales": ["Cost of sales", "Cost of goods sold"],
    "gross_profit": ["Gross profit"],
    "sga": ["Selling, general and administrative", "SG&A expenses"],
    "rnd": ["Research and development"],
    "operating_income": ["Operating income (loss)", "Operating profit (loss)"],
    "interest_expense": ["Interest expense", "Interest expense, net"],
    "income_tax": ["Income taxes", "Provision for income taxes"],
    "net_income": ["Net income (loss)", "Net profit (loss) for the year"],
}
_COSTS = ("cost_of_sales", "sga", "rnd", "interest_expense", "income_tax")


def daily_lab_report(dice: random.Random, draft: Draft) -> Made:
    """A laboratory report: two doctors, three dates, results beside earlier ones, reference ranges, boxes."""
    patient, orderer, reader = dice.sample(pools.PEOPLE, 3)
    born, drawn = murky_day(dice, date(1950, 1, 1), 15_000), clear_day(dice)
    told = drawn + timedelta(days=dice.randint(1, 3))
    comma = dice.random() < 0.4
    sex, urgent, fasting = dice.choice(["Female", "Male"]), dice.random() < 0.5, dice.random() < 0.5
    on, off = dice.choice([("[x]", "[ ]"), ("(X)", "( )"), ("☒", "☐")])
    sample = f"{dice.choice('HLS')}{digits(dice, 2)}-{digits(dice, 6)}"
    tests, dash = dice.sample(_TESTS, dice.randint(3, 4)), dice.choice(["-", "\u2013"])

    def number(amount: Decimal) -> str:
        return str(amount).replace(".", ",") if comma else str(amount)

    def box(key: str, said: bool) -> str:
        return f"{m(key, on + ' Yes')} {off} No" if said else f"{off} Yes {m(key, on + ' No')}"

    lines = [
        "CITY MEDICAL LABORATORY            FINAL REPORT",
        "Dates: day/month/year",
        "",
        aligned((0, f"Patient: {m('patient', patient)}"), (40, f"DOB: {m('born', pools.slash_uk(born))}")),
        aligned((0, f"Sex: {m('sex', sex[0] if comma else sex)}"), (40, f"Specimen no.: {m('sample', sample)}")),
        aligned(
            (0, f"{dice.choice(['Requested by', 'Ordering physician'])}: Dr. {m('orderer', orderer)}"),
            (40, f"Fasting: {box('fasting', fasting)}"),
        ),
        aligned(
            (0, f"Collected: {m('drawn', pools.slash_uk(drawn))} 08:{dice.randint(10, 59)}"),
            (40, f"Reported: {m('told', pools.slash_uk(told))}"),
        ),
        f"Priority: {off} Routine {m('urgent', on + ' Urgent')}"
        if urgent
        else f"Priority: {m('urgent', on + ' Routine')} {off} Urgent",
        "",
        aligned((0, "Test"), (-30, "Result"), (32, "Flag"), (38, "Unit"), (48, "Reference"), (64, "Previous")),
    ]
    results = []
    for index, (name, unit, low, high) in enumerate(tests):
        low_or_high = [low * Decimal("0.8"), *(low + (high - low) * tenth / 10 for tenth in (2, 4, 5, 7, 13))]
        value, before = (dice.choice(low_or_high).quantize(low) for _ in range(2))
        flag = "L" if value < low else "H" if value > high else None
        reference = f"{m(f'l{index}', number(low))} {dash} {m(f'h{index}', number(high))}"
        cells = [
            (0, m(f"t{index}", name)),
            (-30, m(f"v{index}", number(value))),
            (32, m(f"f{index}", flag) if flag else ""),
        ]
        lines.append(aligned(*cells, (38, m(f"u{index}", unit)), (48, reference), (64, number(before))))
        results.append((name, value, flag, unit, low, high, before))
    lines += [
        "",
        wrap(
            f"Comment: The sample {m('hemo', 'was not haemolysed')}. A repeat measurement in {m('weeks', dice.choice([4, 6, 8]))} weeks is recommended."
        ),
        "",
        m("reader", reader),
        "Clinical pathologist",
    ]
    sexes = {"properties": {"sex": {"enum": ["female", "male", "F", "M"]}}}
    draft.schema = {"properties": {"patient": sexes, "priority": {"enum": ["routine", "urgent"]}}}
    facts: list[Fact] = [
        ("patient.name", patient, "patient", "accents"),
        perhaps(dice, "patient.date_of_birth", born, "born", "day_month_context", swapped(born), "swapped_date"),
        ("patient.sex", sex[0] if comma else sex.lower(), "sex", "enum"),
        ("patient.phone", None, "", "none"),
        ("specimen_id", sample.replace("-", " "), "sample", "id_spacing"),
        ("ordering_physician", orderer, "orderer", "accents"),
        perhaps(dice, "pathologist", reader, "reader", "label_below accents", orderer, "other_role"),
        ("collected_on", drawn, "drawn", "date_forms"),
        perhaps(dice, "reported_on", told, "told", "date_forms", drawn, "other_role"),
        ("priority", "urgent" if urgent else "routine", "urgent", "enum boolean_box inside"),
        perhaps(dice, "fasting", fasting, "fasting", "boolean_box inside", not fasting, "negated"),
        perhaps(dice, "haemolysed", False, "hemo", "boolean_negation inside", True, "negated"),
    ]
    for index, (name, value, flag, unit, low, high, before) in enumerate(results):
        item, twin = f"results[{index}]", " elsewhere" * (value in (low, high, before))
        right = (f"{item}.value", value, f"v{index}", "column_heading table_row" + twin)
        wrong = (f"{item}.value", before, "", "other_role contradicted")
        facts += [
            (f"{item}.test", name, f"t{index}", "table_row"),
            wrong if index == 2 and before not in (value, low, high) else right,
            (f"{item}.flag", flag, f"f{index}" if flag else "", "enum" if flag else "none"),
            (f"{item}.unit", unit, f"u{index}", "column_heading"),
            (f"{item}.ref_high", high, f"h{index}", "range"),
        ]
    tell(draft, facts)
    return as_text("\n".join(lines))


_TESTS = [
    ("Potassium", "mmol/L", Decimal("3.5"), Decimal("5.1")),
    ("Creatinine", "µmol/L", Decimal(62), Decimal(106)),
    ("Haemoglobin", "g/dL", Decimal("12.1"), Decimal("15.8")),
    ("TSH", "mIU/L", Decimal("0.40"), Decimal("4.20")),
    ("Ferritin", "ng/mL", Decimal(15), Decimal(150)),
    ("LDL cholesterol", "mmol/L", Decimal("1.8"), Decimal("3.4")),
]


def daily_job_offer(dice: random.Random, draft: Draft) -> Made:
    """A job offer as a letter with a reply slip: pay in several forms, days and weeks in several roles, boxes."""
    company, (person, boss, signer) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 3)
    written = clear_day(dice)
    begins = clear_day(dice, written + timedelta(days=40), 90)
    answer = written + timedelta(days=dice.choice([10, 14, 21]))
    title, unit = (
        dice.choice(["Senior Data Engineer", "Quality Manager", "Tax Analyst"]),
        dice.choice(["Platform", "Operations", "Finance"]),
    )
    base, bonus, joining = (
        dice.randint(48, 120) * 1000,
        dice.choice(["7.5", "10", "12"]),
        dice.choice([2500, 4000, 5000]),
    )
    hours, leave, trial, notice = dice.choice([(40, 25, 6, 3), (37.5, 28, 3, 3), (35, 30, 6, 6)])
    style = dice.choice(["€{}", "EUR {}", "{} EUR"])
    plain = dice.choice([eu, us])
    salary = style.format(plain(Decimal(base), 0))
    remote, car, visa = (dice.random() < 0.5 for _ in range(3))
    on, off = dice.choice([("☒", "☐"), ("[X]", "[  ]"), ("[x]", "[ ]")])
    plan, shirts = dice.choice(["Basic", "Plus", "Premium"]), dice.choice(["train pass", "parking space"])
    plans = "   ".join(
        m("plan", f"{on} {name}") if name == plan else f"{off} {name}" for name in ("Basic", "Plus", "Premium")
    )

    def box(key: str, said: bool) -> str:
        return f"{m(key, 'Yes ' + on)}  No {off}" if said else f"Yes {off}  {m(key, 'No ' + on)}"

    paragraphs = [
        f"We are pleased to offer you the position of {m('title', title)} in our {m('unit', unit)} department, reporting to {m('boss', boss)}."
        f" Your employment begins on {m('begins', pools.us_long(begins))}; the first {m('trial', trial)} months are a probationary period.",
        f"Your gross annual salary is {m('salary', salary)}, paid in 12 equal instalments. You are eligible for a target bonus of {m('bonus', bonus + dice.choice(['%', ' %']))}"
        f" of base pay, and you receive a sign-on payment of {m('joining', style.format(plain(Decimal(joining), 0)))} with your first pay.",
        f"The weekly working time is {m('hours', hours)} hours. You are entitled to {m('leave', leave)} days of paid leave a year. After probation either side may"
        f" end the employment with {m('notice', notice)} months' notice.",
        f"You {m('remote', 'may work remotely') if remote else m('remote', 'may not work remotely')}. A company car {m('car', 'is provided') if car else m('car', 'is not included')}.",
    ]
    rows: list[str | list[str]] = [
        m("company", company),
        f"{dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}",
        f"{m('written', pools.us_long(written))}    Our reference: {m('ref', f'HR/{digits(dice, 4)}/{written.year}')}",
        f"Dear {m('person', person)},",
        *paragraphs,
        f"Please let us have your answer by {m('answer', pools.us_long(answer))}.",
        m("signer", signer),
        "Head of People",
        "REPLY SLIP",
        ["I accept the offer", box("accepts", True)],
        ["I need a work visa", box("visa", visa)],
        ["Health plan", plans],
        [f"I would like a {shirts}", box("perk", not visa)],
        ["T-shirt size", "N/A"],
    ]
    slip = {
        "health_plan": {"enum": ["basic", "plus", "premium"]},
        "perk": {"description": f"Whether a {shirts} is wanted"},
    }
    draft.schema = {"properties": {"reply": {"properties": slip}}}
    reference = bare_mark([f"{rows[2]}"], "ref")
    tell(
        draft,
        [
            ("employer", company, "company", "unlabelled accents"),
            ("candidate_name", person, "person", "accents prose"),
            ("offer_date", written, "written", "unlabelled date_forms"),
            ("reference", reference.replace("/", "-").lower(), "ref", "id_spacing id_case"),
            ("job_title", title.lower(), "title", "prose"),
            ("department", unit, "unit", "prose"),
            perhaps(dice, "line_manager", boss, "boss", "prose accents", signer, "other_role"),
            ("signed_by", signer, "signer", "label_below accents"),
            perhaps(dice, "start_date", begins, "begins", "date_forms prose", answer, "other_role"),
            ("acceptance_deadline", answer, "answer", "date_forms prose"),
            ("probation_months", trial, "trial", "prose repeated_role" + " elsewhere" * (trial == notice)),
            ("notice_period_months", notice, "notice", "prose repeated_role" + " elsewhere" * (trial == notice)),
            ("compensation.base_salary", base, "salary", "currency prose" + " european_number" * (plain is eu)),
            ("compensation.monthly_salary", round(base / 12, 2), "", "computable"),
            ("compensation.bonus_target", float(bonus) / 100, "bonus", "percent prose"),
            ("compensation.sign_on_bonus", joining, "joining", "currency prose"),
            ("compensation.stock_options", None, "", "none"),
            ("weekly_hours", hours, "hours", "prose"),
            ("vacation_days", leave, "leave", "prose"),
            perhaps(dice, "remote_work_allowed", remote, "remote", "boolean_negation inside", not remote, "negated"),
            perhaps(dice, "company_car", car, "car", "boolean_negation inside", not car, "negated"),
            ("reply.accepted", True, "accepts", "boolean_box inside"),
            perhaps(dice, "reply.visa_required", visa, "visa", "boolean_box inside", not visa, "negated"),
            ("reply.health_plan", plan.lower(), "plan", "enum boolean_box inside"),
            ("reply.perk", not visa, "perk", "boolean_box inside"),
            ("reply.t_shirt_size", None, "", "none"),
        ],
    )
    return as_docx(rows)


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (daily_income_pdf, daily_lab_report, daily_job_offer)
