"""Trades that the first layouts did not know: payslip, manifest, laboratory. May be looked at."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_text
from tests.evidence.corpus.pools import cents, clear_day, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def payslip_pdf(dice: random.Random, draft: Draft) -> Made:
    """Earnings and deductions side by side, each with this period and the year to date; the net pay twice."""
    pdf = PdfDraft()
    employer = dice.choice(pools.COMPANIES)
    person, manager = dice.sample(pools.PEOPLE, 2)
    paid_on = murky_day(dice)
    salary, overtime, bonus = money(dice, 200_000, 600_000), money(dice, 10_000, 60_000), money(dice, 5_000, 40_000)
    tax, pension, union = cents(salary / 5), cents(salary / 20), money(dice, 1_000, 3_000)
    gross, deducted = salary + overtime + bonus, tax + pension + union
    net = gross - deducted
    months = dice.randint(3, 9)
    staff, insurance = (
        f"{dice.randint(10000, 99999)}",
        f"QQ {dice.randint(10, 99)} {dice.randint(10, 99)} {dice.randint(10, 99)} C",
    )
    holiday = f"{dice.randint(3, 19)}.5"
    pdf.text(50, 44, m("employer", employer), size=14, font=1)
    pdf.text(430, 44, "PAY ADVICE", size=12)
    pdf.row(74, [(50, "Employee"), (140, m("person", person)), (320, "Payroll no."), (430, m("staff", staff))])
    pdf.row(
        90,
        [
            (50, "NI number"),
            (140, m("insurance", insurance)),
            (320, "Pay date"),
            (430, m("paid_on", pools.slash_uk(paid_on))),
        ],
    )
    pdf.row(
        106, [(50, "Department"), (140, m("department", "Field Service")), (320, "Tax code"), (430, m("code", "1257L"))]
    )
    pdf.row(
        140,
        [
            (50, "Earnings"),
            (-230, "This period"),
            (-300, "Year to date"),
            (320, "Deductions"),
            (-470, "This period"),
            (-545, "Year to date"),
        ],
        size=9,
    )
    left = [("Basic salary", "salary", salary), ("Overtime", "overtime", overtime), ("Bonus", "bonus", bonus)]
    right = [("Income tax", "tax", tax), ("Pension", "pension", pension), ("Union dues", "union", union)]
    for index, (earned, taken) in enumerate(zip(left, right, strict=True)):
        pdf.row(
            156 + 16 * index,
            [
                (50, earned[0]), (-230, m(earned[1], us(earned[2]))), (-300, m(earned[1] + "_year", us(earned[2] * months))),
                (320, taken[0]), (-470, m(taken[1], us(taken[2]))), (-545, m(taken[1] + "_year", us(taken[2] * months))),
            ],
            size=9,
        )  # fmt: skip
    pdf.row(
        216,
        [
            (50, "Gross pay"),
            (-230, m("gross", us(gross))),
            (320, "Total deductions"),
            (-470, m("deducted", us(deducted))),
        ],
        size=9,
    )
    pdf.row(246, [(320, "NET PAY"), (-470, m("net", "£" + us(net)))], size=11)
    pdf.text(
        50,
        276,
        f"Holiday remaining: {m('holiday', holiday)} days. Questions go to {m('manager', manager)}, payroll manager.",
        size=9,
    )
    pdf.text(50, 290, f"Paid by bank transfer to account ending {m('ending', dice.randint(1000, 9999))}.", size=9)
    draft.says("employer", employer, "employer", traps="unlabelled accents")
    draft.says("employee.name", person, "person", traps="row_label accents")
    draft.says("employee.payroll_number", staff, "staff", traps="row_label")
    draft.says("employee.national_insurance_number", insurance.replace(" ", ""), "insurance", traps="id_spacing")
    draft.says("employee.department", "field service", "department", traps="row_label")
    draft.says("tax_code", "1257L", "code", traps="row_label")
    if dice.random() < 0.6:
        draft.says("pay_date", paid_on, "paid_on", traps="day_month_context")
    else:
        draft.empty("pay_date", swapped(paid_on), "swapped_date contradicted")
    for path, key, amount in (
        ("basic_salary", "salary", salary),
        ("overtime", "overtime", overtime),
        ("income_tax", "tax", tax),
    ):
        draft.says(path, amount, key, traps="two_tables")
        draft.says(f"{path}_ytd", amount * months, f"{key}_year", traps="two_tables column_heading")
    draft.says("pension", pension, "pension", traps="two_tables")
    draft.says("gross_pay", gross, "gross", traps="two_tables")
    draft.says("total_deductions", deducted, "deducted", traps="two_tables")
    if dice.random() < 0.6:
        draft.says("net_pay", net, "net", traps="currency")
    else:
        draft.empty("net_pay", gross, "other_role contradicted")
    draft.says("holiday_days_remaining", Decimal(holiday), "holiday", traps="prose")
    draft.empty("annual_salary", salary * 12, "computable")
    draft.empty("student_loan", None, "none")
    draft.empty("union_representative", manager, "unrelated")
    draft.empty("job_title", "Field Service", "unrelated")
    return pdf.done()


def manifest_text(dice: random.Random, draft: Draft) -> Made:
    """A bill of lading: parties side by side, ports, containers as rows with seals, weights in two units."""
    shipper, consignee, notify = dice.sample(pools.COMPANIES, 3)
    streets = dice.sample(pools.STREETS, 3)
    vessel, voyage = (
        dice.choice(["MV Aurora Borealis", "MV Cap Finisterre", "MS Silver Lake"]),
        f"{dice.randint(100, 999)}W",
    )
    loading, discharge = dice.sample(["Rotterdam", "Felixstowe", "Valparaíso", "Santos", "Busan", "Halifax"], 2)
    sailed = clear_day(dice)
    arrives = sailed + timedelta(days=dice.randint(13, 40))
    number = f"MAEU{dice.randint(100000000, 999999999)}"
    hazardous = dice.random() < 0.5
    rows = []
    for thing in dice.sample(pools.GOODS, 4):
        box = f"{dice.choice(['TGHU', 'MSKU', 'CAIU'])}{dice.randint(1000000, 9999999)}"
        rows.append(
            [box, f"S{dice.randint(10000, 99999)}", thing, dice.choice([20, 40, 120, 250]), dice.randint(2_000, 24_000)]
        )
    rows[3][3] = rows[1][3]
    total = sum(row[4] for row in rows)
    lines = [
        aligned((0, "BILL OF LADING"), (52, f"B/L No.: {m('number', number[:4] + ' ' + number[4:])}")),
        "",
        aligned((0, "SHIPPER"), (30, "CONSIGNEE"), (60, "NOTIFY PARTY")),
        aligned((0, m("shipper", shipper)), (30, m("consignee", consignee)), (60, m("notify", notify))),
        aligned((0, m("shipper_street", streets[0])), (30, m("consignee_street", streets[1])), (60, streets[2])),
        "",
        aligned(
            (0, "Vessel / Voyage:"),
            (20, f"{m('vessel', vessel)} / {m('voyage', voyage)}"),
            (52, "Port of loading:"),
            (72, m("loading", loading)),
        ),
        aligned(
            (0, "Sailed:"),
            (20, m("sailed", pools.short(sailed))),
            (52, "Port of discharge:"),
            (72, m("discharge", discharge)),
        ),
        aligned(
            (0, "Freight:"),
            (20, m("freight", "PREPAID")),
            (52, "Estimated arrival:"),
            (72, m("arrives", pools.short(arrives))),
        ),
        "",
        aligned((0, "Container"), (16, "Seal"), (26, "Description of goods"), (-60, "Packages"), (-76, "Gross kg")),
        "-" * 76,
    ]
    for i, (box, seal, thing, count, kilos) in enumerate(rows):
        lines.append(
            aligned(
                (0, m(f"c{i}", f"{box[:4]} {box[4:10]}-{box[10:]}")),
                (16, m(f"s{i}", seal)),
                (26, m(f"g{i}", thing)),
                (-60, m(f"n{i}", count)),
                (-76, m(f"k{i}", f"{kilos:,}")),
            )
        )
    lines += [
        "-" * 76,
        aligned((26, "TOTAL"), (-76, m("total", f"{total:,}"))),
        "",
        m("hazard", "Contains dangerous goods (IMO class 3)." if hazardous else "Contains no dangerous goods."),
        f"Issued at {m('place', 'Antwerp')} on {m('issued', pools.short(sailed - timedelta(days=1)))}. Number of originals: {m('originals', 'three (3)')}.",
    ]
    draft.says("bill_of_lading_number", number, "number", traps="id_spacing")
    draft.says("shipper.name", shipper, "shipper", traps="label_above accents")
    draft.says("shipper.address", streets[0], "shipper_street", traps="label_above")
    draft.says("consignee.name", consignee, "consignee", traps="label_above accents")
    draft.says("consignee.address", streets[1], "consignee_street", traps="label_above")
    if dice.random() < 0.6:
        draft.says("notify_party", notify, "notify", traps="label_above accents")
    else:
        draft.empty("notify_party", shipper, "other_role contradicted")
    draft.says("vessel", vessel, "vessel", traps="row_label")
    draft.says("voyage", voyage, "voyage", traps="row_label")
    draft.says("port_of_loading", loading, "loading", traps="row_label accents")
    if dice.random() < 0.5:
        draft.says("port_of_discharge", discharge, "discharge", traps="row_label accents")
    else:
        draft.empty("port_of_discharge", loading, "other_role contradicted")
    draft.says("sailing_date", sailed, "sailed", traps="date_forms")
    draft.says("estimated_arrival", arrives, "arrives", traps="date_forms")
    draft.says("total_gross_weight_kg", total, "total", traps="row_label")
    draft.says("place_of_issue", "Antwerp", "place", traps="prose")
    draft.says("freight_terms", "prepaid", "freight", traps="enum")
    if dice.random() < 0.6:
        draft.says("dangerous_goods", hazardous, "hazard", traps="boolean_negation", inside=True)
    else:
        draft.empty("dangerous_goods", not hazardous, "negated contradicted")
    draft.empty("customs_broker", notify, "unrelated")
    draft.empty("place_of_delivery", None, "none")
    draft.empty("average_package_weight", round(total / sum(row[3] for row in rows), 3), "computable")
    wrong = dice.randrange(4)
    for i, (box, seal, thing, count, kilos) in enumerate(rows):
        draft.says(f"containers[{i}].container_number", box, f"c{i}", traps="table_row id_spacing")
        draft.says(f"containers[{i}].seal_number", seal, f"s{i}", traps="column_heading")
        draft.says(f"containers[{i}].description", thing, f"g{i}", traps="column_heading")
        draft.says(
            f"containers[{i}].packages", count, f"n{i}", traps="column_heading same_amount_rows", elsewhere=i in (1, 3)
        )
        if i == wrong:
            draft.empty(f"containers[{i}].gross_weight_kg", rows[(i + 1) % 4][4], "other_row contradicted")
        else:
            draft.says(f"containers[{i}].gross_weight_kg", kilos, f"k{i}", traps="column_heading")
    return as_text("\n".join(lines))


def pathology_pdf(dice: random.Random, draft: Draft) -> Made:
    """A laboratory report: results between a previous result and a range whose end may equal the result, flags."""
    pdf = PdfDraft()
    lab = dice.choice([name for name in pools.COMPANIES if not name.endswith(("GmbH", "Ltd"))])
    patient, doctor = dice.sample(pools.PEOPLE, 2)
    born, taken = clear_day(dice, date(1945, 1, 1), 15000), murky_day(dice)
    told = taken + timedelta(days=2)
    fasting = dice.random() < 0.5
    tests = [
        ("Haemoglobin", "g/dL", 12.0, 16.0),
        ("Sodium", "mmol/L", 135, 145),
        ("Potassium", "mmol/L", 3.5, 5.1),
        ("Creatinine", "mg/dL", 0.6, 1.2),
        ("Ferritin", "ng/mL", 30, 400),
    ]
    pdf.text(50, 44, m("lab", lab), size=14, font=1)
    pdf.text(50, 58, "2207 Larkspur Avenue, Boise, ID 83702", size=8)
    pdf.row(
        86, [(50, "Patient:"), (130, m("patient", patient)), (330, "Specimen:"), (430, m("specimen", "Venous blood"))]
    )
    pdf.row(
        102,
        [
            (50, "Date of birth:"),
            (130, m("born", pools.short(born))),
            (330, "Collected:"),
            (430, m("taken", pools.slash_us(taken))),
        ],
    )
    pdf.row(
        118,
        [
            (50, "Referred by:"),
            (130, "Dr. " + m("doctor", doctor)),
            (330, "Reported:"),
            (430, m("told", pools.slash_us(told))),
        ],
    )
    pdf.row(
        134,
        [
            (50, "Lab ID:"),
            (130, m("id", f"{dice.randint(10, 99)}-{dice.randint(100000, 999999)}")),
            (330, "Fasting:"),
            (430, m("fasting", "Yes" if fasting else "No")),
        ],
    )
    pdf.row(
        168,
        [(50, "Test"), (-230, "Result"), (250, "Flag"), (290, "Unit"), (360, "Reference range"), (-540, "Previous")],
    )
    rows = []
    for i, (test, unit, low, high) in enumerate(tests):
        places = 1 if isinstance(low, float) else 0
        value = Decimal(str(dice.choice([low, high, round(dice.uniform(low * 0.8, high * 1.2), places)]))).quantize(
            Decimal(10) ** -places
        )
        previous = Decimal(str(round(dice.uniform(low, high), places))).quantize(Decimal(10) ** -places)
        flag = "H" if value > Decimal(str(high)) else "L" if value < Decimal(str(low)) else ""
        rows.append((test, unit, value, previous, low, high))
        pdf.row(
            186 + 16 * i,
            [
                (50, m(f"t{i}", test)),
                (-230, m(f"v{i}", value)),
                *([(250, flag)] if flag else []),
                (290, m(f"u{i}", unit)),
                (360, f"{m(f'l{i}', low)}-{m(f'h{i}', high)}"),
                (-540, m(f"p{i}", previous)),
            ],
        )
    pdf.text(50, 290, f"Comment: sample {m('haemolysed', 'was not haemolysed')}. MRSA {m('mrsa', 'not detected')}.")
    pdf.text(50, 306, f"Validated by {m('validated', 'Dr. A. Lund')}, clinical chemist.")
    draft.says("laboratory", lab, "lab", traps="unlabelled accents")
    draft.says("patient_name", patient, "patient", traps="row_label accents")
    draft.says("date_of_birth", born, "born", traps="date_forms")
    draft.says("referring_physician", doctor, "doctor", traps="row_label accents")
    draft.says("specimen_type", "venous blood", "specimen", traps="row_label")
    draft.empty("accession_number", "19-000000", "absent")
    if dice.random() < 0.6:
        draft.says("collection_date", taken, "taken", traps="day_month_context")
    else:
        draft.empty("collection_date", told, "other_role contradicted")
    draft.says("fasting", fasting, "fasting", traps="boolean", inside=True)
    draft.says("sample_haemolysed", False, "haemolysed", traps="boolean_negation", inside=True)
    draft.empty("mrsa_detected", True, "negated contradicted")
    draft.says("validated_by", "Dr A Lund", "validated", traps="prose")
    draft.empty("next_of_kin", doctor, "unrelated")
    draft.empty("ward", "Venous blood", "unrelated")
    draft.empty("comments_by_patient", None, "none")
    for i, (test, unit, value, previous, low, high) in enumerate(rows):
        draft.says(f"results[{i}].test", test, f"t{i}", traps="table_row")
        draft.says(
            f"results[{i}].result",
            value,
            f"v{i}",
            traps="column_heading",
            elsewhere=value in (Decimal(str(low)), Decimal(str(high)), previous),
        )
        draft.says(f"results[{i}].unit", unit, f"u{i}", traps="column_heading", elsewhere=unit == "mmol/L")
        if i % 2:
            draft.says(
                f"results[{i}].previous_result",
                previous,
                f"p{i}",
                traps="column_heading",
                elsewhere=previous in (value, Decimal(str(low)), Decimal(str(high))),
            )
    return pdf.done()


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [payslip_pdf, manifest_text, pathology_pdf]
