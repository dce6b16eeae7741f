"""Letters and agreements that may be looked at: most is told in sentences, much has no label at all."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def tenancy_prose(dice: random.Random, draft: Draft) -> Made:
    """A tenancy in sentences: who lets what to whom, from when until when, two rents, what is and is not allowed."""
    owner, (tenant, agent) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    begins, signed = clear_day(dice), clear_day(dice)
    ends = begins + timedelta(days=dice.choice([181, 365, 730]))
    rent, deposit, fine = (
        Decimal(dice.randint(600, 2400)),
        Decimal(dice.randint(2500, 4900)),
        Decimal(dice.choice([25, 40, 60])),
    )
    notice, repair = dice.choice([2, 3, 4]), dice.choice([7, 10, 21])
    pets, smoke, sublet = (dice.random() < 0.5 for _ in range(3))
    text = [
        f"TENANCY AGREEMENT signed on {m('signed', pools.uk_long(signed))}",
        f"{m('owner', owner)}, represented by {m('agent', agent)}, lets the flat at {m('address', '9 Cobbler' + chr(39) + 's Row, Bristol BS1 5TR')} to {m('tenant', tenant)}. The tenancy runs from {m('begins', pools.uk_long(begins))} until {m('ends', pools.uk_long(ends))}.",
        f"The rent is {m('rent', f'£{rent:,}')} a month and is due on the {m('day', '5th')} of each month. The tenant has paid a deposit of {m('deposit', f'£{deposit:,}')}, which is held by {m('scheme', 'Mydeposits Trust')}. Late rent costs {m('fine', f'£{fine}')}.",
        f"Either party may end the tenancy with {m('notice', {2: 'two', 3: 'three', 4: 'four'}[notice])} months' notice. Defects are reported within {m('repair', repair)} days.",
        f"Pets {m('pets', 'are allowed' if pets else 'are not allowed')}. The tenant {m('smoke', 'may smoke' if smoke else 'may not smoke')} indoors. Subletting is {m('sublet', 'permitted' if sublet else 'prohibited')}. Council tax is paid by the tenant.",
    ]
    source = "\n\n".join(wrap(part, 72) for part in text)
    draft.says("signing_date", signed, "signed", traps="date_forms")
    draft.says("landlord", owner, "owner", traps="prose accents broken_line")
    draft.says("landlord_representative", agent, "agent", traps="prose accents broken_line")
    draft.says("tenant", tenant, "tenant", traps="prose accents broken_line")
    draft.says("property_address", "9 Cobbler's Row, Bristol BS1 5TR", "address", traps="prose broken_line")
    draft.says("tenancy_start", begins, "begins", traps="date_range prose")
    if dice.random() < 0.6:
        draft.says("tenancy_end", ends, "ends", traps="date_range prose")
    else:
        draft.empty("tenancy_end", begins, "other_role contradicted")
    draft.says("monthly_rent", rent, "rent", traps="prose currency")
    draft.says("deposit", deposit, "deposit", traps="prose currency")
    draft.says("deposit_scheme", "Mydeposits Trust", "scheme", traps="prose broken_line")
    draft.says("late_fee", fine, "fine", traps="prose currency")
    draft.says("notice_months", notice, "notice", traps="prose number_words")
    for path, key, said in (
        ("pets_allowed", "pets", pets),
        ("smoking_allowed", "smoke", smoke),
        ("subletting_permitted", "sublet", sublet),
    ):
        if dice.random() < 0.6:
            draft.says(path, said, key, traps="boolean_negation", inside=True)
        else:
            draft.empty(path, not said, "negated contradicted")
    draft.empty("annual_rent", rent * 12, "computable")
    draft.empty("parking_space", None, "none")
    draft.empty("cleaning_company", owner, "unrelated")
    draft.empty("caretaker", agent, "unrelated")
    draft.empty("guarantor", tenant, "unrelated")
    return as_text(source)


def museum_loan_docx(dice: random.Random, draft: Draft) -> Made:
    """A museum lends: a letterhead without a word about whose it is, objects with values, transport told in prose."""
    museum, borrower, carrier = dice.sample(pools.COMPANIES, 3)
    registrar = dice.choice(pools.PEOPLE)
    written, begin = clear_day(dice), clear_day(dice)
    end = begin + timedelta(days=dice.randint(60, 200))
    objects = [
        (
            name,
            f"{dice.choice('ABC')} {dice.randint(100, 999)}.{dice.randint(1, 9)}",
            Decimal(dice.randint(20, 900)) * 1000,
        )
        for name in dice.sample(["Bronze lamp", "Votive tablet", "Silk banner", "Glass beaker", "Ivory comb"], 3)
    ]
    fee = Decimal(dice.randint(300, 900))
    packed, climate = dice.random() < 0.5, dice.random() < 0.5
    rows: list[str | list[str]] = [
        m("museum", museum),
        m("street", "Industrieweg 31"),
        m("city", "50667 Köln"),
        "",
        m("written", pools.german(written)),
        "",
        f"Loan agreement with {m('borrower', borrower)}",
        f"The objects below are lent for the exhibition “{m('show', 'Light and Shadow')}” from {m('begin', pools.dots(begin))} to {m('end', pools.dots(end))}.",
        ["Object", "Inventory no.", "Insurance value (EUR)"],
        *[
            [m(f"o{i}", name), m(f"i{i}", number), m(f"v{i}", eu(value))]
            for i, (name, number, value) in enumerate(objects)
        ],
        "",
        f"Transport is arranged by {m('carrier', carrier)}. Crates {m('packed', 'are provided' if packed else 'are not provided')} by the lender. Climate control is {m('climate', 'required' if climate else 'not required')}; the relative humidity must stay at {m('humid', '52 %')}.",
        f"Lending fee: {m('fee', 'EUR ' + eu(fee))}. Photography: {m('photo', 'without flash only')}.",
        m("registrar", registrar),
        "Registrar",
    ]
    draft.says("lender", museum, "museum", traps="unlabelled accents")
    draft.says("lender_city", "50667 Köln", "city", traps="unlabelled accents")
    draft.says("agreement_date", written, "written", traps="unlabelled foreign_month")
    draft.says("borrower", borrower, "borrower", traps="prose accents")
    draft.says("exhibition", "Light and Shadow", "show", traps="prose")
    draft.says("loan_start", begin, "begin", traps="date_range european_date")
    if dice.random() < 0.6:
        draft.says("loan_end", end, "end", traps="date_range european_date")
    else:
        draft.empty("loan_end", begin, "other_role contradicted")
    draft.says("transport_company", carrier, "carrier", traps="prose accents")
    draft.says("humidity", Decimal("0.52"), "humid", traps="prose percent")
    draft.says("lending_fee", fee, "fee", traps="european_number")
    if dice.random() < 0.6:
        draft.says("crates_provided", packed, "packed", traps="boolean_negation", inside=True)
        draft.says("climate_control_required", climate, "climate", traps="boolean_negation", inside=True)
    else:
        draft.empty("crates_provided", not packed, "negated contradicted")
        draft.empty("climate_control_required", not climate, "negated contradicted")
    draft.says("registrar", registrar, "registrar", traps="label_below accents")
    draft.empty("total_insurance_value", sum((value for *_, value in objects), Decimal(0)), "computable")
    draft.empty("courier_name", registrar, "unrelated")
    draft.empty("sponsor", carrier, "unrelated")
    draft.empty("catalogue_price", None, "none")
    for i, (name, number, value) in enumerate(objects):
        draft.says(f"objects[{i}].object", name, f"o{i}", traps="table_row")
        draft.says(
            f"objects[{i}].inventory_number", number.replace(" ", ""), f"i{i}", traps="id_spacing column_heading"
        )
        if i == 1:
            draft.empty(
                f"objects[{i}].insurance_value",
                objects[2][2] if objects[2][2] != value else value + 1,
                "other_row contradicted",
            )
        else:
            draft.says(f"objects[{i}].insurance_value", value, f"v{i}", traps="european_number column_heading")
    return as_docx(rows)


def box(ticked: bool) -> str:
    return "[x]" if ticked else "[ ]"


def checklist_text(dice: random.Random, draft: Draft) -> Made:
    """A site visit: boxes before and behind words, two to a line, yes and no columns, findings as bullets."""
    site, (officer, manager) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    visited = clear_day(dice)
    marks = {key: dice.random() < 0.5 for key in ("helmets", "exits", "alarm", "spill", "log", "training")}
    workers, accidents, noise = dice.randint(12, 88), dice.choice([0, 1, 2, 3]), dice.randint(61, 84)
    answers = {key: "Yes" if marks[key] else "No" for key in ("log", "training")}
    lines = [
        "SITE SAFETY VISIT",
        f"Site: {m('site', site)}    Visited on {m('visited', pools.us_long(visited))} by {m('officer', officer)}",
        f"Site manager present: {m('manager', manager)}    Workers on site: {m('workers', workers)}",
        "",
        f"{box(marks['helmets'])} {m('helmets', 'Helmets worn')}        {box(marks['exits'])} {m('exits', 'Emergency exits clear')}",
        f"{m('alarm', 'Fire alarm tested ' + box(marks['alarm']))}     {m('spill', 'Spill kit available ' + box(marks['spill']))}",
        "",
        aligned((0, "Question"), (48, "Answer")),
        aligned((0, "Is the accident log kept?"), (48, m("log", answers["log"]))),
        aligned((0, "Has the crew had training this year?"), (48, m("training", answers["training"]))),
        "",
        "Findings",
        f"- {m('accidents', {0: 'no', 1: 'one', 2: 'two', 3: 'three'}[accidents])} accidents since the last visit",
        f"- noise at the saw: {m('noise', noise)} dB (limit 85 dB)",
        f"- next visit planned for {m('next', pools.us_long(visited + timedelta(days=90)))}",
    ]
    draft.says("site_name", site, "site", traps="row_label accents")
    draft.says("visit_date", visited, "visited", traps="date_forms")
    draft.says("visited_by", officer, "officer", traps="row_label accents")
    draft.says("site_manager", manager, "manager", traps="row_label accents")
    draft.says("workers_on_site", workers, "workers", traps="row_label")
    draft.says("noise_db", noise, "noise", traps="bullet")
    draft.says("next_visit", visited + timedelta(days=90), "next", traps="bullet date_forms")
    if accidents:
        draft.says("accidents", accidents, "accidents", traps="number_words bullet")
    for path, key in (
        ("helmets_worn", "helmets"),
        ("emergency_exits_clear", "exits"),
        ("fire_alarm_tested", "alarm"),
        ("spill_kit_available", "spill"),
        ("accident_log_kept", "log"),
        ("training_this_year", "training"),
    ):
        if dice.random() < 0.6:
            draft.says(path, marks[key], key, traps="boolean_box", inside=True)
        else:
            draft.empty(path, not marks[key], "negated contradicted")
    draft.empty("fines", None, "none")
    draft.empty("architect", manager, "unrelated")
    draft.empty("first_aider", officer, "unrelated")
    draft.empty("insurer", site, "unrelated")
    return as_text("\n".join(lines))


def grant_letter_pdf(dice: random.Random, draft: Draft) -> Made:
    """A grant letter in two columns: the foundation's data in a narrow column, the letter in the other."""
    pdf = PdfDraft()
    foundation, project = (
        dice.choice(pools.COMPANIES),
        dice.choice(["Clean River Map", "Open Choir Archive", "Village Solar Plan"]),
    )
    person, officer = dice.sample(pools.PEOPLE, 2)
    written, ends = clear_day(dice), clear_day(dice)
    sum_granted, own_share = Decimal(dice.randint(20, 95)) * 1000, Decimal(dice.randint(2, 19)) * 1000
    first = cents(sum_granted * dice.choice([Decimal("0.25"), Decimal("0.4")]))
    phone = f"+44 20 7946 0{dice.randint(100, 999)}"
    number = f"{dice.randint(2021, 2025)}/{dice.randint(100, 999)}-{dice.choice('KLM')}"
    pdf.text(50, 50, m("foundation", foundation), size=14, font=1)
    side = [
        "Grant number",
        m("number", number),
        "Programme",
        m("programme", "Culture and Climate"),
        "Your contact",
        m("officer", officer),
        "Telephone",
        m("phone", phone),
        "Date",
        m("written", pools.uk_long(written)),
    ]
    for index, words in enumerate(side):
        pdf.text(430, 90 + 16 * index, words, size=9)
    body = [
        m("person", person), "Chair of the association", "", f"Dear {person.split()[0]},", "",
        f"we are glad to support {m('project', project)} with",
        f"a grant of {m('sum', '£' + us(sum_granted, 0))}. You contribute",
        f"{m('own', '£' + us(own_share, 0))} from your own funds.",
        f"A first instalment of {m('first', '£' + us(first))} is paid at once.",
        f"The project ends on {m('ends', pools.uk_long(ends))}.",
        f"Costs before that letter {m('before', 'cannot be claimed')}.",
        f"An audit is {m('audit', 'not required')}.",
    ]  # fmt: skip
    for index, words in enumerate(body):
        if words:
            pdf.text(50, 110 + 18 * index, words)
    draft.says("foundation", foundation, "foundation", traps="unlabelled accents")
    draft.says("grant_number", number.replace("/", " "), "number", traps="id_spacing label_above")
    draft.says("programme", "Culture and Climate", "programme", traps="label_above")
    draft.says("contact", officer, "officer", traps="label_above accents")
    draft.says("phone", phone.replace(" ", ""), "phone", traps="id_spacing label_above")
    draft.says("letter_date", written, "written", traps="date_forms label_above")
    draft.says("recipient", person, "person", traps="unlabelled accents")
    draft.says("project", project, "project", traps="prose")
    draft.says("grant_amount", sum_granted, "sum", traps="prose currency")
    if dice.random() < 0.5:
        draft.says("own_contribution", own_share, "own", traps="prose currency")
    else:
        draft.empty("own_contribution", first, "other_role contradicted")
    draft.says("first_instalment", first, "first", traps="prose currency")
    draft.says("project_end", ends, "ends", traps="prose date_forms")
    if dice.random() < 0.5:
        draft.says("audit_required", False, "audit", traps="boolean_negation", inside=True)
    else:
        draft.empty("audit_required", True, "negated contradicted")
    draft.empty("total_budget", sum_granted + own_share, "computable")
    draft.empty("co_funder", None, "none")
    draft.empty("tax_adviser", officer, "unrelated")
    draft.empty("bank_name", project, "unrelated")
    return pdf.done()


def club_html(dice: random.Random, draft: Draft) -> Made:
    """A club's page: a definition list, prices per group in a table with a heading over two columns, opening hours."""
    club, (chair, coach) = "Rowing Club " + dice.choice(["Alster", "Tay", "Loire"]), dice.sample(pools.PEOPLE, 2)
    groups = ["Adults", "Students", "Families"]
    prices = [[money(dice, 1_000, 9_000), money(dice, 10_000, 60_000)] for _ in groups]
    members, founded = dice.randint(120, 900), dice.randint(1880, 1960)
    trial, guests = dice.random() < 0.5, dice.random() < 0.5
    rows = "".join(
        f"<tr><td>{m(f'g{i}', group)}</td><td>{m(f'p{i}', '€' + us(prices[i][0]))}</td><td>{m(f'y{i}', '€' + us(prices[i][1]))}</td></tr>"
        for i, group in enumerate(groups)
    )
    source = f"""<html><body><h1>{m("club", club)}</h1><p>Founded in {m("founded", founded)}, {m("members", members)} members. Chair: {m("chair", chair)}.</p>
    <dl><dt>Address</dt><dd>{m("address", "14 Quay Street, Leeds LS2 7EY")}</dd><dt>Opening hours</dt><dd>{m("hours", "Tue to Sun, 9 am to 8 pm")}</dd><dt>Head coach</dt><dd>{m("coach", coach)}</dd></dl>
    <h2>Membership</h2><table><tr><th rowspan="2">Group</th><th colspan="2">Fee</th></tr><tr><th>Monthly</th><th>Yearly</th></tr>{rows}</table>
    <p>Trial training is {m("trial", "free" if trial else "not free")}. Guests are {m("guests", "welcome" if guests else "not admitted")}. A joining fee of {m("join", "€35")} applies once. Boats may not be used after dark.</p></body></html>"""
    draft.says("club_name", club, "club", traps="unlabelled")
    draft.says("founded", founded, "founded", traps="prose")
    draft.says("member_count", members, "members", traps="prose label_after")
    draft.says("chair", chair, "chair", traps="row_label accents")
    draft.says("address", "14 Quay Street, Leeds LS2 7EY", "address", traps="row_label")
    draft.says("opening_hours", "Tue to Sun, 9 am to 8 pm", "hours", traps="row_label")
    draft.says("head_coach", coach, "coach", traps="row_label accents")
    draft.says("joining_fee", 35, "join", traps="prose currency")
    if dice.random() < 0.5:
        draft.says("trial_training_free", trial, "trial", traps="boolean_negation", inside=True)
    else:
        draft.empty("trial_training_free", not trial, "negated contradicted")
    draft.empty("treasurer", chair, "unrelated")
    draft.empty("sponsor", coach, "unrelated")
    draft.empty("boats", None, "none")
    for i, group in enumerate(groups):
        draft.says(f"fees[{i}].group", group, f"g{i}", traps="table_row")
        if i == 2:
            draft.empty(f"fees[{i}].monthly_fee", prices[i][1], "other_column contradicted")
        else:
            draft.says(f"fees[{i}].monthly_fee", prices[i][0], f"p{i}", traps="merged_heading")
        draft.says(f"fees[{i}].yearly_fee", prices[i][1], f"y{i}", traps="merged_heading")
    return as_html(source)


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    tenancy_prose,
    museum_loan_docx,
    checklist_text,
    grant_letter_pdf,
    club_html,
]
