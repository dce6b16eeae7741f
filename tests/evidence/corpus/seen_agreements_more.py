"""More prose and letters: a hospital letter, a claim decided, a press release."""

import random
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_docx, as_text
from tests.evidence.corpus.pools import clear_day, murky_day, swapped
from tests.evidence.corpus.prose import CASH_STYLES, Claims, Made, written
from tests.evidence.corpus.seen import m

_DRUGS = [("ramipril", "5"), ("bisoprolol", "2.5"), ("atorvastatin", "40"), ("metformin", "500"), ("apixaban", "5"), ("furosemide", "20"), ("amlodipine", "10")]  # fmt: skip


def discharge_docx(dice: random.Random, draft: Draft) -> Made:
    """A hospital letter to the family doctor: dates in many roles, readings with units, medicines as bullets or a table."""
    patient, consultant, doctor = dice.sample(pools.PEOPLE, 3)
    born, came = murky_day(dice, date(1944, 1, 1), 12000), clear_day(dice)
    left = came + timedelta(days=dice.randint(3, 9))
    written = left + timedelta(days=dice.randint(1, 4))
    illness, other = dice.sample(["community-acquired pneumonia", "atrial fibrillation", "acute pancreatitis", "decompensated heart failure"], 2)  # fmt: skip
    number = f"{dice.randint(100, 999)} {dice.randint(100, 999)} {dice.randint(1000, 9999)}"
    upper, lower, pulse, later = (
        dice.randint(121, 165),
        dice.randint(66, 92),
        dice.randint(93, 130),
        dice.randint(58, 79),
    )
    before, after = f"{dice.randint(80, 99) / 10}", f"{dice.randint(105, 139) / 10}"
    weight, weeks = f"{dice.randint(520, 980) / 10}", dice.choice([2, 4, 6])
    drugs = [
        (name, dose, dice.choice(["once daily", "twice daily", "at night"]))
        for name, dose in dice.sample(_DRUGS, dice.choice([3, 4]))
    ]
    allergic, smokes, drives = (dice.random() < 0.5 for _ in range(3))
    on = pools.slash_uk
    readings = dice.choice(
        [
            f"On arrival the blood pressure was {m('upper', upper)}/{m('lower', lower)} mmHg with a pulse of {m('pulse', pulse)} per minute; when leaving, the pulse had settled to {m('later', later)}. Haemoglobin rose from {m('before', before)} g/dL on admission to {m('after', after)} g/dL at discharge. Body weight was {m('weight', weight)} kg.",
            f"Observations on arrival: BP {m('upper', upper)}/{m('lower', lower)} mmHg, pulse {m('pulse', pulse)} per minute, weight {m('weight', weight)} kg. The haemoglobin, {m('before', before)} g/dL when admitted, was {m('after', after)} g/dL when discharged, and the pulse had come down to {m('later', later)}.",
        ]
    )
    rows: list[str | list[str]] = [
        dice.choice(["Northgate General Hospital", "St Brannoc's Infirmary"]) + " - Department of Medicine",
        f"{m('written', pools.uk_long(written))}",
        f"Dear Dr {m('doctor', doctor)},",
        f"Re: {m('patient', patient)}, born {m('born', on(born))}, hospital number {m('number', number)}",
        f"Your patient was admitted on {m('came', on(came))} and discharged home on {m('left', on(left))} under the care of {m('consultant', consultant)}, consultant physician. The main diagnosis was {m('illness', illness)}. There is a past history of {other}.",
        readings,
        f"The patient {m('allergy', 'is allergic to penicillin' if allergic else 'has no known allergies')} and {m('smoke', 'smokes' if smokes else 'has never smoked')}.",
        dice.choice(["Medication on discharge:", "To take home:"]),
    ]
    if dice.random() < 0.5:
        rows.append(["Medicine", "Dose (mg)", "Frequency"])
        rows += [[m(f"d{i}", d), m(f"q{i}", q), m(f"f{i}", f)] for i, (d, q, f) in enumerate(drugs)]
    else:
        rows += [f"- {m(f'd{i}', d)} {m(f'q{i}', q)} mg {m(f'f{i}', f)}" for i, (d, q, f) in enumerate(drugs)]
    rows += [
        f"The patient {m('drive', 'may drive' if drives else 'must not drive')} for the time being. We shall see your patient again in clinic in {m('weeks', weeks)} weeks.",
        "Dictated but not signed to avoid delay.",
    ]
    draft.schema = {
        "properties": {
            "mrn": {"description": "Hospital number of the patient"},
            "gp_name": {"description": "Family doctor to whom the letter is addressed"},
            "hr_admission": {"description": "Pulse on arrival, per minute"},
            "hr_discharge": {"description": "Pulse when leaving the hospital"},
            "letter_date": {"type": "string", "format": "date"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("patient_name", patient, "patient", traps="prose accents")
    claims("date_of_birth", born, "born", swapped(born), "swapped_date", traps="day_month_context prose")
    draft.says("mrn", number.replace(" ", ""), "number", traps="id_spacing")
    draft.says("letter_date", written, "written", traps="unlabelled date_forms")
    draft.says("gp_name", doctor, "doctor", traps="letter accents")
    claims("consultant", consultant, "consultant", doctor, "other_role", traps="prose accents")
    draft.says("admission_date", came, "came", traps="prose date_forms")
    claims("discharge_date", left, "left", came, "other_role", traps="prose date_forms")
    claims("primary_diagnosis", illness, "illness", other, "other_role", traps="prose")
    draft.says("bp_systolic", upper, "upper", traps="prose pair")
    claims("bp_diastolic", lower, "lower", upper, "other_role", traps="prose pair")
    draft.says("hr_admission", pulse, "pulse", traps="prose")
    draft.says("hr_discharge", later, "later", traps="prose")
    draft.says("haemoglobin.at_admission", Decimal(before), "before", traps="prose before_after")
    claims(
        "haemoglobin.at_discharge", Decimal(after), "after", Decimal(before), "other_role", traps="prose before_after"
    )
    draft.says("weight_kg", float(weight), "weight", traps="prose")
    claims("has_allergies", allergic, "allergy", not allergic, "negated", traps="boolean prose", inside=True)
    claims("smoker", smokes, "smoke", not smokes, "negated", traps="boolean prose", inside=True)
    claims("fit_to_drive", drives, "drive", not drives, "negated", traps="boolean prose", inside=True)
    draft.says("follow_up_weeks", weeks, "weeks", traps="prose")
    for index, (name, dose, often) in enumerate(drugs):
        draft.says(f"medications[{index}].name", name.capitalize(), f"d{index}", traps="bullet")
        near = Decimal(drugs[index - 1][1])
        claims(f"medications[{index}].dose_mg", Decimal(dose), f"q{index}", near, "other_row", traps="bullet")
        draft.says(f"medications[{index}].frequency", often, f"f{index}", traps="bullet same_amount_rows")
    draft.empty("length_of_stay_days", (left - came).days, "computable")
    draft.empty("next_of_kin", None, "none")
    draft.empty("age", came.year - born.year, "computable")
    draft.empty("ward", None, "none")
    return as_docx(rows)


def claim_markdown(dice: random.Random, draft: Draft) -> Made:
    """A claim decided: the letter in Markdown, a table with claimed and allowed sums, deductible and payment below."""
    insurer = dice.choice(pools.COMPANIES)
    holder, adjuster = dice.sample(pools.PEOPLE, 2)
    lost = clear_day(dice)
    told, seen = lost + timedelta(days=dice.randint(1, 6)), lost + timedelta(days=dice.randint(8, 20))
    written = seen + timedelta(days=dice.randint(2, 15))
    claim, policy = (
        f"CL-{lost.year}-{dice.randint(1000, 9999)}",
        f"HO {dice.randint(100, 999)} {dice.randint(1000, 9999)}",
    )
    cause = dice.choice(["a burst pipe", "wind and hail", "a kitchen fire", "an attempted burglary"])
    street = dice.choice(pools.STREETS)
    parts = []
    for name in dice.sample(["Living room carpet", "Kitchen cabinets", "Ceiling drywall", "Front window", "Oak flooring", "Bicycle"], dice.choice([3, 4, 5])):  # fmt: skip
        asked = Decimal(dice.randint(200, 4000))
        parts.append((name, asked, asked if dice.random() < 0.3 else asked - dice.randint(20, 150)))
    asked_sum = sum((part[1] for part in parts), Decimal(0))
    given_sum = sum((part[2] for part in parts), Decimal(0))
    own = Decimal(dice.choice([250, 300, 500]))
    cash = dice.choice(CASH_STYLES[:3])
    on = dice.choice([pools.us_long, pools.uk_long])
    approved, salvage, days = dice.random() < 0.7, dice.random() < 0.5, dice.choice([10, 14, 21])
    police = f"{dice.randint(10, 99)}/{dice.randint(10000, 99999)}"
    lines = [
        f"# {m('insurer', insurer)}",
        "",
        m("written", on(written)),
        "",
        f"**Claim** {m('claim', claim)} | **Policy** {m('policy', policy)}",
        "",
        f"Dear {m('holder', holder)},",
        "",
        f"We refer to the loss at {m('street', street)} on {m('lost', on(lost))}, which you reported to us on {m('told', on(told))}. Our adjuster, {m('adjuster', adjuster)}, inspected the damage on {m('seen', on(seen))} and found that it was caused by {m('cause', cause)}. The police recorded the event under file {m('police', police)}.",
        "",
        "## Assessment",
        "",
        "| Item | Claimed | Allowed |",
        "|---|---:|---:|",
        *(f"| {m(f'n{i}', n)} | {m(f'a{i}', cash(a))} | {m(f'g{i}', cash(g))} |" for i, (n, a, g) in enumerate(parts)),
        f"| **Total** | {m('asked', cash(asked_sum))} | {m('given', cash(given_sum))} |",
        "",
        f"After your deductible of {m('own', cash(own))} the amount payable is **{m('net', cash(given_sum - own))}**. Payment will reach you within {m('days', days)} days.",
        "",
        f"Emergency repairs {m('approved', 'have been approved' if approved else 'have not been approved')}. You {m('salvage', 'may keep' if salvage else 'may not keep')} the damaged articles. If you disagree, write to us before {m('appeal', on(written + timedelta(days=60)))}.",
        "",
        "---",
        f"*{insurer} is authorised and regulated. Calls are recorded.*",
    ]
    draft.schema = {
        "properties": {
            "salvage_retained": {"type": "boolean", "description": "Whether the insured may keep the damaged articles"},
            "loss": {"type": "object", "description": "What happened"},
            "appeal_deadline": {"type": "string", "format": "date"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("insurer", insurer, "insurer", traps="letterhead accents")
    draft.says("claim_number", claim.replace("-", " "), "claim", traps="id_spacing markdown")
    draft.says("policy_number", policy.replace(" ", ""), "policy", traps="id_spacing markdown")
    draft.says("insured_name", holder, "holder", traps="letter accents")
    draft.says("letter_date", written, "written", traps="unlabelled date_forms")
    draft.says("adjuster", adjuster, "adjuster", traps="prose accents")
    draft.says("loss.date", lost, "lost", traps="prose date_forms")
    draft.says("loss.location", street, "street", traps="prose")
    draft.says("loss.cause", cause.split(" ", 1)[1] if cause[1] == " " else cause, "cause", traps="prose", inside=True)
    claims("reported_date", told, "told", lost, "other_role", traps="prose date_forms")
    claims("inspection_date", seen, "seen", told, "other_role", traps="prose date_forms")
    draft.says("police_file", police, "police", traps="prose")
    for index, (name, asked, given) in enumerate(parts):
        draft.says(f"items[{index}].description", name, f"n{index}", traps="table_row")
        draft.says(f"items[{index}].claimed", asked, f"a{index}", traps="column_heading", elsewhere=asked == given)
        wrong = parts[index - 1][2]
        claims(f"items[{index}].allowed", given, f"g{index}", asked if asked != given else wrong, "other_role", traps="column_heading", elsewhere=asked == given)  # fmt: skip
    draft.says("total_claimed", asked_sum, "asked", traps="total_row")
    claims("total_allowed", given_sum, "given", asked_sum, "other_role", traps="total_row")
    draft.says("deductible", own, "own", traps="prose currency")
    draft.says("net_payment", given_sum - own, "net", traps="prose currency markdown")
    draft.says("payment_within_days", days, "days", traps="prose")
    claims(
        "emergency_repairs_approved", approved, "approved", not approved, "negated", traps="boolean prose", inside=True
    )
    claims("salvage_retained", salvage, "salvage", not salvage, "negated", traps="boolean prose", inside=True)
    draft.says("appeal_deadline", written + timedelta(days=60), "appeal", traps="prose date_forms")
    draft.empty("reduction", -(asked_sum - given_sum), "computable")
    draft.empty("reserve", None, "none")
    draft.empty("days_to_decision", (written - told).days, "computable")
    draft.empty("loss_adjuster_fee", None, "none")
    return as_text("\n".join(lines))


def press_pdf(dice: random.Random, draft: Draft) -> Made:
    """A press release with figures: this year and last in one sentence, a loss in words, a small table in thousands."""
    firm = dice.choice(pools.COMPANIES)
    chief, purse, voice = dice.sample(pools.PEOPLE, 3)
    when = clear_day(dice)
    call = when + timedelta(days=1)
    town = dice.choice(["BRISTOL", "BOISE", "ROTTERDAM"])
    sales, old_sales, orders = (Decimal(n) / 10 for n in dice.sample(range(2100, 8900), 3))
    loss, old_profit = (Decimal(n) / 10 for n in dice.sample(range(31, 290), 2))
    margin, old_margin = (f"{n / 10}" for n in dice.sample(range(210, 480), 2))
    staff, stores = dice.randint(1200, 9800), dice.randint(14, 88)
    low = int(sales) * 4 + dice.randint(0, 80)
    high = low + dice.randint(10, 70)
    sign = dice.choice(["$", "€", "£"])
    verb = "rose" if sales > old_sales else "fell"
    dividend, audited = (dice.random() < 0.5 for _ in range(2))

    def mio(amount: object) -> str:
        return f"{sign}{amount} million"

    figures = dice.choice(
        [
            f"Revenue {verb} to {m('sales', mio(sales))} from {m('old_sales', mio(old_sales))} in the same quarter of last year. Gross margin was {m('margin', margin + '%')}, compared with {m('old_margin', old_margin + '%')} a year ago.",
            f"Revenue came to {m('sales', mio(sales))} (prior year: {m('old_sales', mio(old_sales))}) at a gross margin of {m('margin', margin + '%')} (prior year: {m('old_margin', old_margin + '%')}).",
        ]
    )
    prose = [
        f"{town}, {m('when', pools.us_long(when))} - {m('firm', firm)} today reported results for its third quarter. {figures}",
        f"The company posted a net loss of {m('loss', mio(loss))}, after a net profit of {m('old_profit', mio(old_profit))} in the prior-year period. Order backlog stood at {m('orders', mio(orders))}. At quarter end the group employed {m('staff', f'{staff:,}')} people in {m('stores', stores)} stores.",
        f'"We are on track," said {m("chief", chief)}, Chief Executive Officer. {m("purse", purse)}, who serves as Chief Financial Officer, added that full-year revenue is now expected between {m("low", mio(f"{low:,}"))} and {m("high", mio(f"{high:,}"))}.',
        f"The board {m('dividend', 'declared' if dividend else 'did not declare')} a dividend. The figures {m('audited', 'have been audited' if audited else 'are unaudited')}. A conference call will be held on {m('call', pools.us_long(call))} at {m('clock', '10:30')} Eastern Time.",
    ]
    phone = f"+44 20 7946 0{dice.randint(100, 999)}"
    pdf = PdfDraft()
    pdf.text(60, 60, dice.choice(["PRESS RELEASE", "FOR IMMEDIATE RELEASE"]), size=14, font=1)
    y = 95.0
    for paragraph in prose:
        y = written(pdf, y, paragraph) + 10
    cost, cash = dice.randint(100_000, 900_000), dice.randint(10_000, 90_000)
    old_cost, old_cash = dice.randint(100_000, 900_000), dice.randint(10_000, 90_000)
    pdf.row(y, [(60, "(in thousands)"), (-390, "This year"), (-500, "Last year")])
    pdf.row(y + 18, [(60, "Cost of sales"), (-390, m("cost", f"{cost:,}")), (-500, m("old_cost", f"{old_cost:,}"))])
    pdf.row(y + 36, [(60, "Cash flow from operations"), (-390, m("flow", f"({cash:,})")), (-500, m("old_flow", f"{old_cash:,}"))])  # fmt: skip
    pdf.text(60, y + 70, f"Media contact: {m('voice', voice)}, tel. {m('phone', phone)}")
    pdf.text(60, 800, "Forward-looking statements involve risks; actual results may differ materially.", size=8)
    million = 1_000_000
    draft.schema = {
        "properties": {
            "backlog": {"description": "Orders not yet delivered"},
            "ceo": {"description": "Chief executive"},
            "headcount": {"type": "integer"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("company", firm, "firm", traps="prose accents")
    draft.says("release_date", when, "when", traps="dateline date_forms")
    draft.says("revenue", sales * million, "sales", traps="million prose")
    claims("revenue_prior_year", old_sales * million, "old_sales", sales * million, "other_role", traps="million prose")
    draft.says("gross_margin", Decimal(margin) / 100, "margin", traps="percent prose")
    claims("gross_margin_prior_year", Decimal(old_margin) / 100, "old_margin", Decimal(margin) / 100, "other_role", traps="percent prose")  # fmt: skip
    if dice.random() < 0.5:
        draft.says("net_loss", loss * million, "loss", traps="million prose")
    else:
        draft.empty("net_profit", loss * million, "other_sign contradicted")
    draft.says("net_profit_prior_year", old_profit * million, "old_profit", traps="million prose")
    draft.says("backlog", orders * million, "orders", traps="million prose")
    draft.says("headcount", staff, "staff", traps="prose")
    draft.says("store_count", stores, "stores", traps="prose")
    draft.says("ceo", chief, "chief", traps="prose accents")
    claims("cfo", purse, "purse", chief, "other_role", traps="prose accents")
    draft.says("guidance.low", low * million, "low", traps="million prose range")
    claims("guidance.high", high * million, "high", low * million, "other_role", traps="million prose range")
    claims("dividend_declared", dividend, "dividend", not dividend, "negated", traps="boolean prose", inside=True)
    claims("audited", audited, "audited", not audited, "negated", traps="boolean prose", inside=True)
    draft.says("call_date", call, "call", traps="prose date_forms")
    draft.says("call_time", "10:30", "clock", traps="prose")
    draft.says("cost_of_sales", cost * 1000, "cost", traps="thousands column_heading")
    draft.says("cost_of_sales_prior_year", old_cost * 1000, "old_cost", traps="thousands column_heading")
    claims("operating_cash_flow", -cash * 1000, "flow", cash * 1000, "other_sign", traps="thousands negative")
    draft.says("media_contact.name", voice, "voice", traps="footer accents")
    draft.says("media_contact.phone", phone.replace(" ", ""), "phone", traps="footer id_spacing")
    draft.empty("revenue_change", sales * million - old_sales * million, "computable")
    draft.empty("ebitda", None, "none")
    draft.empty("revenue_growth", (sales / old_sales - 1).quantize(Decimal("0.001")), "computable")
    draft.empty("ticker", None, "none")
    return pdf.done()
