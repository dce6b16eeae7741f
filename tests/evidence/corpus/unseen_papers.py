"""More trades kept out of tuning: an employment contract, a trial's table, a transcript, travel expenses."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_text
from tests.evidence.corpus.pools import cents, clear_day, money, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def employment_prose(dice: random.Random, draft: Draft) -> Made:
    """An employment contract: everything in sentences, two notice periods, two salaries, denials of several kinds."""
    employer, (employee, boss) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    begins = clear_day(dice)
    signed = begins - timedelta(days=dice.randint(20, 60))
    title = dice.choice(["Warehouse Supervisor", "Quality Inspector", "Media Buyer"])
    salary, bonus = dice.randint(38, 90) * 1000, dice.randint(2, 9) * 500
    hours, leave = f"{dice.choice([35, 37, 38])}.5", dice.choice([25, 27, 28, 30])
    probation = dice.choice([3, 6])
    notice, trial_notice = dice.choice([8, 12]), dice.choice([1, 2])
    overtime, remote, compete = (dice.random() < 0.5 for _ in range(3))
    text = [
        f"Contract of employment dated {m('signed', pools.uk_long(signed))}",
        f"{m('employer', employer)} of {dice.choice(pools.STREETS)} employs {m('employee', employee)} as {m('title', title)}. The employment begins on {m('begins', pools.uk_long(begins))}. The employee reports to {m('boss', boss)}.",
        f"The place of work is {m('place', 'Dundee')}. Normal working time is {m('hours', hours)} hours per week. Overtime is {m('overtime', 'paid' if overtime else 'not paid')}. Remote work is {m('remote', 'permitted' if remote else 'excluded')}.",
        f"The annual salary amounts to {m('salary', f'£{salary:,}')} gross; a signing bonus of {m('bonus', f'£{bonus:,}')} is paid with the first salary. The employee is entitled to {m('leave', leave)} days of paid leave a year.",
        f"The first {m('probation', {3: 'three', 6: 'six'}[probation])} months are a probationary period, during which either side may give notice of {m('trial', trial_notice)} weeks. Afterwards the notice period is {m('notice', notice)} weeks.",
        f"The employee {m('compete', 'must not work for a competitor' if compete else 'is free to work for a competitor')} after leaving. The company pension scheme is open to the employee, who has {m('joined', 'not joined it')}.",
    ]
    source = "\n\n".join(wrap(part, 70) for part in text)
    draft.says("contract_date", signed, "signed", traps="date_forms")
    draft.says("employer", employer, "employer", traps="prose accents broken_line")
    draft.says("employee", employee, "employee", traps="prose accents broken_line")
    draft.says("job_title", title, "title", traps="prose broken_line")
    if dice.random() < 0.6:
        draft.says("start_date", begins, "begins", traps="prose date_forms broken_line")
    else:
        draft.empty("start_date", signed, "other_role contradicted")
    draft.says("reports_to", boss, "boss", traps="prose accents broken_line")
    draft.says("place_of_work", "Dundee", "place", traps="prose")
    draft.says("weekly_hours", Decimal(hours), "hours", traps="prose")
    draft.says("annual_salary", salary, "salary", traps="prose currency")
    draft.says("signing_bonus", bonus, "bonus", traps="prose currency")
    draft.says("annual_leave_days", leave, "leave", traps="prose")
    draft.says("probation_months", probation, "probation", traps="prose number_words")
    draft.says("notice_weeks", notice, "notice", traps="prose", elsewhere=True)
    for path, key, said in (("overtime_paid", "overtime", overtime), ("remote_work_permitted", "remote", remote)):
        if dice.random() < 0.6:
            draft.says(path, said, key, traps="boolean_negation", inside=True)
        else:
            draft.empty(path, not said, "negated contradicted")
    draft.empty("monthly_salary", cents(Decimal(salary) / 12), "computable")
    draft.empty("company_car", None, "none")
    draft.empty("works_council_member", boss, "unrelated")
    draft.empty("pension_provider", employer, "unrelated")
    draft.empty("hometown", "Dundee", "unrelated")
    return as_text(source)


def trial_docx(dice: random.Random, draft: Draft) -> Made:
    """A trial's summary: a table with a heading over two arms, counts with shares in parentheses, p values."""
    drug, sponsor = dice.choice(["Velorazin", "Tamidexol", "Orbicept"]), dice.choice(pools.COMPANIES)
    lead = dice.choice(pools.PEOPLE)
    code = f"NCT{dice.randint(10000000, 99999999)}"
    sizes = [dice.randint(100, 190), dice.randint(191, 290)]
    rows = []
    for name in ("Response at week 12", "Headache", "Nausea", "Withdrawal"):
        counts = [dice.randint(5, size // 2) for size in sizes]
        rows.append(
            (
                name,
                counts,
                [f"{100 * count / size:.1f}" for count, size in zip(counts, sizes, strict=True)],
                f"0.{dice.randint(1, 9)}{dice.randint(10, 99)}",
            )
        )
    started, ended = clear_day(dice), clear_day(dice)
    met, blinded = dice.random() < 0.5, dice.random() < 0.5
    table: list[str | list[str]] = [
        m("title", f"Efficacy of {drug} in adults"),
        f"Trial registration: {m('code', code[:3] + ' ' + code[3:])}. Sponsor: {m('sponsor', sponsor)}. Principal investigator: {m('lead', lead)}.",
        f"Enrolment ran from {m('started', pools.short(started))} to {m('ended', pools.short(ended))}. The study was {m('blinded', 'double-blind' if blinded else 'not blinded')}.",
        "",
        ["Outcome", f"{drug} (n = {m('n0', sizes[0])})", f"Placebo (n = {m('n1', sizes[1])})", "p value"],
        *[
            [
                m(f"o{i}", name),
                f"{m(f'd{i}', counts[0])} ({m(f'e{i}', shares[0] + '%')})",
                f"{m(f'q{i}', counts[1])} ({m(f'r{i}', shares[1] + '%')})",
                m(f"v{i}", p),
            ]
            for i, (name, counts, shares, p) in enumerate(rows)
        ],
        "",
        f"The primary endpoint was {m('met', 'met' if met else 'not met')}. No deaths occurred. Mean age was {m('age', '54.3')} years; {m('women', '61%')} were women.",
    ]
    draft.says("title", f"Efficacy of {drug} in adults", "title", traps="unlabelled")
    draft.says("registration_number", code, "code", traps="id_spacing")
    draft.says("sponsor", sponsor, "sponsor", traps="accents")
    draft.says("principal_investigator", lead, "lead", traps="accents")
    draft.says("enrolment_start", started, "started", traps="date_forms date_range")
    if dice.random() < 0.6:
        draft.says("enrolment_end", ended, "ended", traps="date_forms date_range")
    else:
        draft.empty("enrolment_end", started, "other_role contradicted")
    if dice.random() < 0.6:
        draft.says("primary_endpoint_met", met, "met", traps="boolean_negation", inside=True)
    else:
        draft.empty("primary_endpoint_met", not met, "negated contradicted")
    draft.says("mean_age", Decimal("54.3"), "age", traps="prose")
    draft.says("share_of_women", Decimal("0.61"), "women", traps="prose percent label_after")
    draft.says("placebo_group_size", sizes[1], "n1", traps="paren_aside")
    draft.empty("deaths_occurred", True, "negated contradicted")
    draft.empty("ethics_committee", sponsor, "unrelated")
    draft.empty("statistician", lead, "unrelated")
    draft.empty("total_participants", sum(sizes), "computable")
    draft.empty("follow_up_months", None, "none")
    for i, (name, counts, shares, p) in enumerate(rows):
        draft.says(f"outcomes[{i}].outcome", name, f"o{i}", traps="table_row")
        if counts[0] != counts[1]:
            draft.says(f"outcomes[{i}].placebo_count", counts[1], f"q{i}", traps="column_heading")
        draft.says(f"outcomes[{i}].p_value", Decimal(p), f"v{i}", traps="column_heading")
        if i == 2 and shares[1] != shares[0]:
            draft.empty(f"outcomes[{i}].placebo_percent", Decimal(shares[0]), "other_column contradicted")
        else:
            draft.says(f"outcomes[{i}].placebo_percent", Decimal(shares[1]), f"r{i}", traps="column_heading percent")
    return as_docx(table)


def transcript_pdf(dice: random.Random, draft: Draft) -> Made:
    """A transcript: terms as headings of small tables, the same grade in many rows, totals per term and overall."""
    pdf = PdfDraft()
    school, student, registrar = dice.choice(pools.COMPANIES), *dice.sample(pools.PEOPLE, 2)
    number = f"{dice.randint(10, 99)}-{dice.randint(10000, 99999)}"
    admitted, printed = clear_day(dice), clear_day(dice)
    courses = dice.sample(
        [
            "Linear Algebra",
            "Organic Chemistry",
            "Modern History",
            "Statistics I",
            "Microeconomics",
            "Field Botany",
            "Rhetoric",
        ],
        6,
    )
    codes = [f"{name[:3].upper()} {dice.randint(100, 499)}" for name in courses]
    grades = [dice.choice(["A", "B+", "A-", "C"]) for _ in courses]
    points = [dice.choice([3, 4, 6]) for _ in courses]
    averages = [f"{dice.randint(2, 3)}.{dice.randint(10, 99)}" for _ in range(3)]
    pdf.text(50, 44, m("school", school), size=14, font=1)
    pdf.text(50, 62, "Official academic transcript", size=11)
    pdf.row(90, [(50, "Student"), (150, m("student", student)), (330, "Student ID"), (430, m("number", number))])
    pdf.row(
        106,
        [
            (50, "Programme"),
            (150, m("programme", "BSc Environmental Science")),
            (330, "Admitted"),
            (430, m("admitted", pools.us_long(admitted))),
        ],
    )
    y = 140
    for term in range(2):
        pdf.text(50, y, f"{('Fall', 'Spring')[term]} term", size=11, font=1)
        pdf.row(y + 16, [(50, "Course"), (130, "Title"), (-380, "Credits"), (-460, "Grade")])
        for row in range(3):
            i = 3 * term + row
            pdf.row(
                y + 32 + 15 * row,
                [
                    (50, m(f"c{i}", codes[i])),
                    (130, m(f"t{i}", courses[i])),
                    (-380, m(f"k{i}", points[i])),
                    (-460, m(f"g{i}", grades[i])),
                ],
            )
        pdf.row(y + 80, [(130, "Term GPA"), (-460, m(f"gpa{term}", averages[term]))])
        y += 112
    pdf.row(
        y,
        [
            (50, "Cumulative GPA"),
            (150, m("gpa", averages[2])),
            (330, "Total credits"),
            (430, m("credits", sum(points))),
        ],
    )
    pdf.text(
        50,
        y + 30,
        f"Printed on {m('printed', pools.us_long(printed))}. Academic standing: {m('standing', 'good')}. Degree {m('degree', 'not yet conferred')}.",
    )
    pdf.text(50, y + 60, m("registrar", registrar))
    pdf.text(50, y + 72, "Registrar", size=8)
    draft.says("institution", school, "school", traps="unlabelled accents")
    draft.says("student_name", student, "student", traps="row_label accents")
    draft.says("student_id", number.replace("-", ""), "number", traps="id_spacing")
    draft.says("programme", "BSc Environmental Science", "programme", traps="row_label")
    draft.says("admission_date", admitted, "admitted", traps="date_forms")
    if dice.random() < 0.6:
        draft.says("print_date", printed, "printed", traps="date_forms prose")
    else:
        draft.empty("print_date", admitted, "other_role contradicted")
    draft.says("cumulative_gpa", Decimal(averages[2]), "gpa", traps="row_label")
    draft.says("total_credits", sum(points), "credits", traps="row_label")
    draft.says("registrar", registrar, "registrar", traps="label_below accents")
    draft.empty("degree_conferred", True, "negated contradicted")
    draft.empty("thesis_supervisor", registrar, "unrelated")
    draft.empty("minor_subject", "BSc Environmental Science", "unrelated")
    draft.empty("scholarship", None, "none")
    for i, course in enumerate(courses):
        draft.says(f"courses[{i}].code", codes[i].replace(" ", ""), f"c{i}", traps="table_row id_spacing")
        draft.says(f"courses[{i}].title", course, f"t{i}", traps="table_row")
        draft.says(f"courses[{i}].credits", points[i], f"k{i}", traps="column_heading", elsewhere=True)
        others = [grade for grade in grades if grade != grades[i]]
        if i == 4 and others:
            draft.empty(f"courses[{i}].grade", others[0], "other_row contradicted")
        else:
            draft.says(f"courses[{i}].grade", grades[i], f"g{i}", traps="column_heading", elsewhere=True)
    return pdf.done()


def expenses_text(dice: random.Random, draft: Draft) -> Made:
    """Travel expenses: amounts in the currency of the place, the rate, and the same in the currency at home."""
    person, approver = dice.sample(pools.PEOPLE, 2)
    company = dice.choice(pools.COMPANIES)
    left = clear_day(dice)
    back = left + timedelta(days=dice.randint(3, 6))
    rates = {"USD": Decimal("0.92"), "GBP": Decimal("1.17"), "JPY": Decimal("0.0062"), "EUR": Decimal("1.00")}
    signs = {"USD": "$", "GBP": "£", "JPY": "¥", "EUR": "€"}
    rows = []
    for i, (what, currency) in enumerate(
        [
            ("Flight to Osaka", "EUR"),
            ("Hotel, 3 nights", "JPY"),
            ("Client dinner", "JPY"),
            ("Airport taxi", "GBP"),
            ("Conference fee", "USD"),
        ]
    ):
        amount = money(dice, 3_000, 90_000) if currency != "JPY" else Decimal(dice.randint(4_000, 90_000))
        rows.append(
            (left + timedelta(days=i % 3), what, currency, amount, rates[currency], cents(amount * rates[currency]))
        )
    total = sum((row[5] for row in rows), Decimal(0))
    advance = Decimal(dice.choice([200, 300, 500]))
    payable = total - advance
    receipts, private = dice.random() < 0.5, dice.random() < 0.5
    lines = [
        "EXPENSE REPORT",
        f"Employee: {m('person', person)}      Company: {m('company', company)}",
        f"Trip: {m('trip', 'Osaka trade fair')}      From {m('left', pools.short(left))} to {m('back', pools.short(back))}",
        "",
        aligned((0, ""), (13, ""), (-50, "Local"), (-62, "Exchange"), (-76, "Amount")),
        aligned((0, "Date"), (13, "Expense"), (-50, "amount"), (-62, "rate"), (-76, "in EUR")),
        aligned((0, "-" * 76)),
    ]
    for i, (when, what, currency, amount, rate, home) in enumerate(rows):
        shown = f"{signs[currency]}{amount:,.0f}" if currency == "JPY" else f"{signs[currency]}{us(amount)}"
        lines.append(
            aligned(
                (0, m(f"w{i}", pools.short(when))),
                (13, m(f"e{i}", what)),
                (-50, m(f"l{i}", shown)),
                (-62, m(f"x{i}", rate)),
                (-76, m(f"h{i}", us(home))),
            )
        )
    lines += [
        aligned((0, "-" * 76)),
        aligned((13, "Total"), (-76, m("total", us(total)))),
        aligned((13, "Less cash advance"), (-76, m("advance", f"({us(advance)})"))),
        aligned((13, "Reimbursement"), (-76, m("payable", us(payable)))),
        "",
        f"[{'x' if receipts else ' '}] {m('receipts', 'All receipts attached')}    [{'x' if private else ' '}] {m('private', 'Private use of rental car')}",
        f"Approved: {m('approver', approver)}      Cost centre: {m('centre', '77-' + str(dice.randint(100, 999)))}",
    ]
    draft.says("employee", person, "person", traps="accents row_label")
    draft.says("company", company, "company", traps="accents row_label")
    draft.says("purpose_of_trip", "Osaka trade fair", "trip", traps="row_label")
    draft.says("departure_date", left, "left", traps="date_range date_forms", elsewhere=True)
    if dice.random() < 0.6:
        draft.says("return_date", back, "back", traps="date_range date_forms")
    else:
        draft.empty("return_date", left - timedelta(days=400), "absent")
    draft.says("total", total, "total", traps="row_label")
    if dice.random() < 0.5:
        draft.says("cash_advance", -advance, "advance", traps="negative_paren")
    else:
        draft.empty("cash_advance", advance, "other_sign contradicted")
    draft.says("reimbursement", payable, "payable", traps="row_label")
    if receipts:
        draft.says("receipts_attached", True, "receipts", traps="boolean_box", inside=True)
    else:
        draft.empty("receipts_attached", True, "negated contradicted")
    draft.says("approved_by", approver, "approver", traps="accents row_label")
    draft.empty("hotel_name", company, "unrelated")
    draft.empty("auditor", approver, "unrelated")
    draft.empty("per_diem", None, "none")
    draft.empty("total_usd", cents(total / rates["USD"]), "computable")
    for i, (when, what, _currency, amount, rate, home) in enumerate(rows):
        draft.says(f"expenses[{i}].description", what, f"e{i}", traps="table_row")
        draft.says(f"expenses[{i}].date", when, f"w{i}", traps="column_heading date_forms", elsewhere=True)
        draft.says(
            f"expenses[{i}].local_amount", amount, f"l{i}", traps="multi_currency merged_heading", elsewhere=i == 0
        )
        if i == 3:
            draft.empty(f"expenses[{i}].amount_eur", rows[4][5], "other_row contradicted")
        else:
            draft.says(
                f"expenses[{i}].amount_eur", home, f"h{i}", traps="multi_currency merged_heading", elsewhere=i == 0
            )
        draft.says(f"expenses[{i}].exchange_rate", rate, f"x{i}", traps="merged_heading", elsewhere=True)
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [employment_prose, trial_docx, transcript_pdf, expenses_text]
