"""Kept out of tuning and scored once: papers of courts, pharmacies and farms, and of other countries."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, as_docx, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, us
from tests.evidence.corpus.seen import aligned, goods, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def judgment_prose(dice: random.Random, draft: Draft) -> Made:
    """A judgment: the parties around "v.", sums that were asked and sums that were awarded, costs, an appeal."""
    claimant, defendant = dice.sample(pools.COMPANIES, 2)
    judge = dice.choice(pools.PEOPLE)
    heard, given = clear_day(dice), clear_day(dice)
    asked, awarded = Decimal(dice.randint(60, 99)) * 1000, Decimal(dice.randint(20, 59)) * 1000
    costs, rate = money(dice, 200_000, 900_000), f"{dice.randint(3, 8)}"
    number = f"{dice.randint(2019, 2024)}-CV-{dice.randint(1000, 9999)}"
    appeal, jury = dice.random() < 0.5, dice.random() < 0.5
    text = [
        f"Case No. {m('number', number)}",
        f"{m('claimant', claimant)} (Claimant) v. {m('defendant', defendant)} (Defendant)",
        f"Before Judge {m('judge', judge)}. Heard on {m('heard', pools.uk_long(heard))}; judgment given on {m('given', pools.uk_long(given))}.",
        f"The claimant sought damages of {m('asked', '£' + us(asked, 0))}. The court awards damages of {m('awarded', '£' + us(awarded, 0))} with interest at {m('rate', rate + ' per cent')} a year, and orders the defendant to pay costs of {m('costs', '£' + us(costs))}.",
        f"The case was {m('jury', 'tried by a jury' if jury else 'not tried by a jury')}. Leave to appeal is {m('appeal', 'granted' if appeal else 'refused')}. The injunction was not extended.",
    ]
    draft.says("case_number", number.replace("-", " "), "number", traps="id_spacing")
    draft.says("claimant", claimant, "claimant", traps="prose accents")
    draft.says("defendant", defendant, "defendant", traps="prose accents")
    draft.says("judge", judge, "judge", traps="prose accents")
    draft.says("hearing_date", heard, "heard", traps="prose date_forms")
    if dice.random() < 0.6:
        draft.says("judgment_date", given, "given", traps="prose date_forms broken_line")
    else:
        draft.empty("judgment_date", heard, "other_role contradicted")
    draft.says("damages_awarded", awarded, "awarded", traps="prose currency")
    draft.says("damages_sought", asked, "asked", traps="prose currency")
    draft.says("interest_rate", Decimal(rate) / 100, "rate", traps="prose percent")
    draft.says("costs", costs, "costs", traps="prose currency")
    draft.empty("injunction_extended", True, "negated contradicted")
    draft.empty("total_payable", awarded + costs, "computable")
    draft.empty("settlement", None, "none")
    draft.empty("expert_witness", judge, "unrelated")
    draft.empty("insurer", defendant, "unrelated")
    return as_text("\n\n".join(wrap(part, 78) for part in text))


def prescription_text(dice: random.Random, draft: Draft) -> Made:
    """A prescription: numbered medicines with strength, amount and use in a line each, repeats, warnings."""
    clinic, (patient, doctor) = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    born, issued = clear_day(dice), clear_day(dice)
    drugs = [
        (name, dice.choice([5, 10, 20, 40]), dice.choice([14, 28, 30, 60]), dice.choice([0, 1, 2]))
        for name in dice.sample(["Amlodipine", "Metformin", "Atorvastatin", "Omeprazole", "Ramipril"], 3)
    ]
    drugs[2] = (drugs[2][0], drugs[0][1], drugs[0][2], drugs[2][3])
    swap = dice.random() < 0.5
    lines = [
        m("clinic", clinic),
        "Prescription",
        "",
        f"Patient: {m('patient', patient)}   DOB: {m('born', pools.dots(born))}   Issued: {m('issued', pools.dots(issued))}",
        f"Prescriber: {m('doctor', 'Dr ' + doctor)}   GMC No: {m('gmc', str(dice.randint(1000000, 9999999)))}",
        "",
        *(
            f"{i + 1}. {m(f'n{i}', name)} {m(f's{i}', strength)} mg tablets, {m(f'q{i}', count)} tablets, one a day, repeats: {m(f'r{i}', repeats)}"
            for i, (name, strength, count, repeats) in enumerate(drugs)
        ),
        "",
        f"Generic substitution {m('swap', 'permitted' if swap else 'not permitted')}. Allergies: none known.",
        "Total items: 3",
    ]
    draft.says("clinic", clinic, "clinic", traps="unlabelled accents")
    draft.says("patient_name", patient, "patient", traps="row_label accents")
    draft.says("date_of_birth", born, "born", traps="european_date")
    draft.says("issue_date", issued, "issued", traps="european_date")
    draft.says("prescriber", "Dr " + doctor, "doctor", traps="row_label accents")
    if dice.random() < 0.6:
        draft.says("substitution_permitted", swap, "swap", traps="boolean_negation", inside=True)
    else:
        draft.empty("substitution_permitted", not swap, "negated contradicted")
    draft.empty("pharmacist", doctor, "unrelated")
    draft.empty("insurance_number", None, "none")
    for i, (name, strength, count, _repeats) in enumerate(drugs):
        draft.says(f"medicines[{i}].name", name, f"n{i}", traps="bullet")
        draft.says(
            f"medicines[{i}].strength_mg", strength, f"s{i}", traps="bullet same_amount_rows", elsewhere=i in (0, 2)
        )
        if i == 1 and drugs[0][2] != count:
            draft.empty(f"medicines[{i}].tablets", drugs[0][2], "other_row contradicted")
        else:
            draft.says(
                f"medicines[{i}].tablets", count, f"q{i}", traps="bullet same_amount_rows", elsewhere=i in (0, 2)
            )
    return as_text("\n".join(lines))


def gehalt_text(dice: random.Random, draft: Draft) -> Made:
    """A German payslip: German labels and numbers, a minus behind deductions, net pay, leave."""
    employer, person = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    gross, tax, church, care = (
        money(dice, 300_000, 600_000),
        money(dice, 40_000, 90_000),
        money(dice, 1_000, 5_000),
        money(dice, 20_000, 39_000),
    )
    net = gross - tax - church - care
    paid = clear_day(dice)
    number, insurance = (
        str(dice.randint(1000, 9999)),
        f"{dice.randint(10, 99)} {dice.randint(100000, 999999)} {dice.choice('ABC')} {dice.randint(100, 999)}",
    )
    lines = [
        m("employer", employer),
        f"Entgeltabrechnung {pools.MONATE[paid.month - 1]} {paid.year}",
        "",
        aligned((0, "Mitarbeiter"), (26, m("person", person))),
        aligned((0, "Personalnummer"), (26, m("number", number))),
        aligned((0, "SV-Nummer"), (26, m("insurance", insurance))),
        aligned((0, "Auszahlung am"), (26, m("paid", pools.dots(paid)))),
        "",
        aligned((0, "Bruttogehalt"), (-52, m("gross", eu(gross)))),
        aligned((0, "Lohnsteuer"), (-53, m("tax", eu(tax) + "-"))),
        aligned((0, "Kirchensteuer"), (-53, m("church", eu(church) + "-"))),
        aligned((0, "Krankenversicherung"), (-53, m("care", eu(care) + "-"))),
        aligned((0, "Nettogehalt"), (-52, m("net", eu(net)))),
        "",
        f"Resturlaub: {m('leave', '11,5')} Tage",
    ]
    draft.schema = {
        "properties": {
            "employee_number": {"description": "Personalnummer"},
            "wage_tax": {"description": "Lohnsteuer"},
            "church_tax": {"description": "Kirchensteuer"},
            "health_insurance": {"description": "Krankenversicherung"},
            "remaining_leave_days": {"description": "Resturlaub"},
            "payment_date": {"description": "Auszahlung am"},
        }
    }
    draft.says("employer", employer, "employer", traps="unlabelled accents")
    draft.says("employee", person, "person", traps="foreign_label accents")
    draft.says("employee_number", number, "number", traps="foreign_label")
    draft.says("payment_date", paid, "paid", traps="foreign_label european_date")
    if dice.random() < 0.6:
        draft.says("gross_salary", gross, "gross", traps="foreign_label european_number")
    else:
        draft.empty("gross_salary", net, "other_role contradicted")
    draft.says("net_salary", net, "net", traps="foreign_label european_number")
    if dice.random() < 0.5:
        draft.says("wage_tax", -tax, "tax", traps="foreign_label negative")
    else:
        draft.empty("wage_tax", tax, "other_sign contradicted")
    draft.says("church_tax", -church, "church", traps="foreign_label negative")
    draft.says("health_insurance", -care, "care", traps="foreign_label negative")
    draft.says("remaining_leave_days", Decimal("11.5"), "leave", traps="foreign_label european_number")
    draft.empty("bonus", None, "none")
    draft.empty("total_deductions", tax + church + care, "computable")
    draft.empty("tax_consultant", person, "unrelated")
    return as_text("\n".join(lines))


def decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "."))


def station_csv(dice: random.Random, draft: Draft) -> Made:
    """A weather station's export: semicolons, decimal commas, a line of metadata above, equal readings in rows."""
    station = dice.choice(["Cape Orlan", "Fell Gate", "Lower Marsh"])
    height = dice.randint(11, 990)
    day = clear_day(dice)
    rows = [
        (
            day + timedelta(days=i),
            f"{dice.randint(-9, 28)},{dice.randint(1, 9)}",
            f"{dice.randint(0, 20)},{dice.randint(1, 9)}",
            dice.randint(1, 17),
            dice.choice(["N", "SW", "E"]),
        )
        for i in range(5)
    ]
    lines = [
        f"# station: {m('station', station)}",
        f"# height: {m('height', height)} m",
        "date;temperature_c;rain_mm;wind_ms;wind_direction",
        *(
            f"{m(f'd{i}', pools.dots(when))};{m(f't{i}', warm)};{m(f'r{i}', rain)};{m(f'w{i}', wind)};{m(f'v{i}', way)}"
            for i, (when, warm, rain, wind, way) in enumerate(rows)
        ),
    ]
    draft.says("station", station, "station", traps="row_label")
    draft.says("height_m", height, "height", traps="row_label")
    draft.empty("operator", None, "none")
    draft.empty("river", station, "unrelated")
    for i, (when, warm, rain, _, way) in enumerate(rows):
        draft.says(f"readings[{i}].date", when, f"d{i}", traps="table_row european_date")
        if i == 3 and rows[4][1] != warm and rows[4][1] != rain:
            draft.empty(f"readings[{i}].temperature_c", decimal(rows[4][1]), "other_row contradicted")
        else:
            draft.says(
                f"readings[{i}].temperature_c",
                decimal(warm),
                f"t{i}",
                traps="column_heading european_number",
                elsewhere=warm == rain,
            )
        draft.says(
            f"readings[{i}].rain_mm",
            decimal(rain),
            f"r{i}",
            traps="column_heading european_number",
            elsewhere=warm == rain,
        )
        draft.says(f"readings[{i}].wind_direction", way, f"v{i}", traps="column_heading", elsewhere=True)
    return as_text("\n".join(lines))


def fattura_docx(dice: random.Random, draft: Draft) -> Made:
    """An Italian invoice: Italian labels, a table with Italian headings, totals with a currency word before them."""
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    rows = goods(dice, 3)
    net = sum((row["amount"] for row in rows), Decimal(0))
    vat = cents(net * 22 / 100)
    issued = clear_day(dice)
    number = f"{dice.randint(10, 999)}/{issued.year}"
    body: list[str | list[str]] = [
        m("seller", seller),
        f"Fattura n. {m('number', number)} del {m('issued', pools.dots(issued))}",
        f"Cliente: {m('buyer', buyer)}",
        ["Descrizione", "Quantità", "Prezzo", "Importo"],
        *[
            [
                m(f"d{i}", row["description"]),
                m(f"q{i}", row["quantity"]),
                m(f"p{i}", eu(row["unit_price"])),
                m(f"a{i}", eu(row["amount"])),
            ]
            for i, row in enumerate(rows)
        ],
        "",
        f"Imponibile: {m('net', 'EUR ' + eu(net))}",
        f"IVA 22%: {m('vat', 'EUR ' + eu(vat))}",
        f"Totale: {m('total', 'EUR ' + eu(net + vat))}",
        f"Scadenza: {m('due', pools.dots(issued + timedelta(days=30)))}",
    ]
    draft.schema = {
        "properties": {"net_amount": {"description": "Imponibile"}, "due_date": {"description": "Scadenza"}}
    }
    draft.says("seller", seller, "seller", traps="unlabelled accents")
    draft.says("invoice_number", number.replace("/", "-"), "number", traps="id_spacing foreign_label")
    draft.says("invoice_date", issued, "issued", traps="european_date foreign_label")
    draft.says("customer", buyer, "buyer", traps="foreign_label accents")
    draft.says("net_amount", net, "net", traps="foreign_label european_number")
    draft.says("vat", vat, "vat", traps="foreign_label european_number")
    if dice.random() < 0.6:
        draft.says("total", net + vat, "total", traps="foreign_label european_number")
    else:
        draft.empty("total", net, "other_role contradicted")
    draft.says("due_date", issued + timedelta(days=30), "due", traps="foreign_label european_date")
    draft.empty("discount", None, "none")
    draft.empty("carrier", buyer, "unrelated")
    for i, row in enumerate(rows):
        draft.says(f"items[{i}].description", row["description"], f"d{i}", traps="table_row")
        draft.says(
            f"items[{i}].quantity", row["quantity"], f"q{i}", traps="column_heading foreign_label", elsewhere=True
        )
        draft.says(f"items[{i}].price", row["unit_price"], f"p{i}", traps="column_heading european_number")
        draft.says(f"items[{i}].amount", row["amount"], f"a{i}", traps="column_heading european_number")
    return as_docx(body)


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    judgment_prose,
    prescription_text,
    gehalt_text,
    station_csv,
    fattura_docx,
]
