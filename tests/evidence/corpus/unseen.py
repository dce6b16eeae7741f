"""The layouts kept out of tuning: only their score is looked at, and only at the end."""

import random
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def claim_form_pdf(dice: random.Random, draft: Draft) -> Made:
    """An insurance claim form: labels above values in boxes, ticked boxes, day first by its own hint."""
    pdf = PdfDraft()
    insured, witness = dice.sample(pools.PEOPLE, 2)
    policy = f"{dice.choice('ABC')}{dice.randint(10, 99)}-{dice.randint(100000, 999999)}"
    loss, report, born = murky_day(dice), murky_day(dice), murky_day(dice, date(1960, 1, 1), 9000)
    claimed, excess = money(dice, 90_000, 900_000), Decimal(dice.choice([150, 250, 500]))
    police, injured = dice.random() < 0.5, dice.random() < 0.5
    kind = dice.choice(["Fire", "Theft", "Water"])
    pdf.text(50, 50, "CLAIM FORM", size=16, font=1)
    pdf.text(50, 66, "Please write all dates as DD/MM/YYYY", size=8)
    grid = [
        [
            ("Policy number", m("policy", policy)),
            ("Date of loss", m("loss", pools.slash_uk(loss))),
            ("Date reported", m("report", pools.slash_uk(report))),
        ],
        [
            ("Insured person", m("insured", insured)),
            ("Date of birth", m("born", pools.slash_uk(born))),
            ("Telephone", m("phone", "0117 496 0" + str(dice.randint(100, 999)))),
        ],
        [
            ("Witness", m("witness", witness)),
            ("Amount claimed", m("claimed", "£" + us(claimed))),
            ("Policy excess", m("excess", "£" + us(excess))),
        ],
    ]
    y = 100.0
    for row in grid:
        for x, (label, _) in zip((50, 230, 400), row, strict=True):
            pdf.text(x, y, label, size=8)
        for x, (_, value) in zip((50, 230, 400), row, strict=True):
            pdf.text(x, y + 13, value)
        y += 44
    boxes = "   ".join(
        f"[{'x' if option == kind else ' '}] {m('kind', option) if option == kind else option}"
        for option in ["Fire", "Theft", "Water"]
    )
    pdf.text(50, y, f"Cause of loss: {boxes}")
    pdf.text(
        50,
        y + 18,
        f"Were the police informed?  {'[x] ' + m('police', 'Yes') + '  [ ] No' if police else '[ ] Yes  [x] ' + m('police', 'No')}",
    )
    pdf.text(
        50,
        y + 36,
        f"Was anybody injured?  {'[x] ' + m('injured', 'Yes') + '  [ ] No' if injured else '[ ] Yes  [x] ' + m('injured', 'No')}",
    )
    draft.schema = {"properties": {"cause": {"enum": ["fire", "theft", "water"], "description": "Cause of loss"}}}
    draft.says("policy_number", policy.replace("-", " ").lower(), "policy", traps="id_spacing label_above")
    if dice.random() < 0.5:
        draft.says("date_of_loss", loss, "loss", traps="day_month_context label_above")
    else:
        draft.empty("date_of_loss", swapped(loss), "swapped_date contradicted")
    draft.says("report_date", report, "report", traps="day_month_context label_above")
    draft.says("date_of_birth", born, "born", traps="day_month_context label_above")
    draft.says("insured_name", insured, "insured", traps="accents label_above")
    draft.says("phone", _raw(pdf, "phone").replace(" ", ""), "phone", traps="id_spacing")
    draft.says("claimed_amount", claimed, "claimed", traps="currency label_above")
    draft.says("excess", excess, "excess", traps="currency label_above")
    draft.says("witness_name", witness, "witness", traps="accents label_above")
    draft.says("cause", kind.lower(), "kind", traps="enum boolean_box")
    other = next(option for option in ("theft", "fire", "water") if option != kind.lower())
    draft.empty("second_cause", other, "negated contradicted")
    draft.says("police_informed", police, "police", traps="boolean_box", inside=True)
    if dice.random() < 0.5:
        draft.says("injured", injured, "injured", traps="boolean_box", inside=True)
    else:
        draft.empty("injured", not injured, "negated contradicted")
    draft.empty("repair_cost", None, "none")
    draft.empty("net_payout", cents(claimed - excess), "computable")
    return pdf.done()


def _raw(pdf: PdfDraft, key: str) -> str:
    import re

    return next(found[1] for *_, source in pdf.drawn if (found := re.search(rf"⟦{key}\|([^⟧]*)⟧", source)))


def report_markdown(dice: random.Random, draft: Draft) -> Made:
    """A project report in Markdown: headings, a pipe table, bullets, the same label under two headings."""
    lead, sponsor = dice.sample(pools.PEOPLE, 2)
    budget, spent = Decimal(dice.randint(200, 900)) * 1000, Decimal(dice.randint(20, 190)) * 1000
    kick, live = clear_day(dice), clear_day(dice)
    places = dice.sample(["Lyon", "Graz", "Porto", "Gdańsk", "Utrecht"], 3)
    figures = [(dice.randint(10, 99), money(dice, 10_000, 90_000), dice.randint(1, 9)) for _ in places]
    fee = {"Hosting": money(dice, 10_000, 90_000), "Support": money(dice, 10_000, 90_000)}
    same = dice.random() < 0.5
    if same:
        fee["Support"] = fee["Hosting"]
    done = dice.choice([35, 60, 85])
    late = dice.random() < 0.5
    source = (
        f"""# Project Heron

Prepared by **{m("lead", lead)}** for the sponsor {m("sponsor", sponsor)}.

## Key facts

- Kick-off: {m("kick", pools.short(kick))}
- Go-live: {m("live", pools.short(live))}
- Approved budget: {m("budget", "€" + us(budget, 0))}
- Spent so far: {m("spent", "€" + us(spent, 0))}
- Completion: {m("done", f"{done} %")}
- The project is {m("late", "behind schedule" if late else "not behind schedule")}.

## Sites

| Site | Desks | Monthly cost (€) | Open issues |
|------|------:|-----------------:|------------:|
"""
        + "\n".join(
            f"| {m(f's{i}', place)} | {m(f'n{i}', desks)} | {m(f'c{i}', us(cost))} | {m(f'o{i}', issues)} |"
            for i, (place, (desks, cost, issues)) in enumerate(zip(places, figures, strict=True))
        )
        + f"""
| Total | {sum(f[0] for f in figures)} | {us(sum((f[1] for f in figures), Decimal(0)))} | {sum(f[2] for f in figures)} |

## Hosting

Provider: {m("hoster", dice.choice(pools.COMPANIES[:8]))}
Annual fee: {m("hosting", "€" + us(fee["Hosting"]))}

## Support

Provider: {m("helper", dice.choice(pools.COMPANIES[8:16]))}
Annual fee: {m("support", "€" + us(fee["Support"]))}
"""
    )
    draft.says("project_lead", lead, "lead", traps="prose accents")
    draft.says("sponsor", sponsor, "sponsor", traps="prose accents")
    draft.says("kickoff_date", kick, "kick", traps="date_forms")
    draft.says("go_live_date", live, "live", traps="date_forms")
    draft.says("approved_budget", budget, "budget", traps="currency")
    draft.says("spent", spent, "spent", traps="currency")
    draft.says("completion", Decimal(done) / 100, "done", traps="percent")
    if dice.random() < 0.5:
        draft.says("behind_schedule", late, "late", traps="boolean_negation", inside=True)
    else:
        draft.empty("behind_schedule", not late, "negated contradicted")
    draft.says("hosting.provider", _mark(source, "hoster"), "hoster", traps="section accents")
    draft.says("hosting.annual_fee", fee["Hosting"], "hosting", traps="section", elsewhere=same)
    draft.says("support.provider", _mark(source, "helper"), "helper", traps="section accents")
    draft.says("support.annual_fee", fee["Support"], "support", traps="section", elsewhere=same)
    draft.empty("remaining_budget", budget - spent, "computable")
    draft.empty("steering_committee", None, "none")
    wrong = dice.randrange(3)
    for i, (place, (desks, cost, issues)) in enumerate(zip(places, figures, strict=True)):
        draft.says(f"sites[{i}].site", place, f"s{i}", traps="table_row accents")
        draft.says(f"sites[{i}].desks", desks, f"n{i}", traps="column_heading")
        if i == wrong:
            draft.empty(f"sites[{i}].monthly_cost", figures[(i + 1) % 3][1], "other_row contradicted")
        else:
            draft.says(f"sites[{i}].monthly_cost", cost, f"c{i}", traps="column_heading")
        draft.says(f"sites[{i}].open_issues", issues, f"o{i}", traps="column_heading", elsewhere=True)
    return as_text(source)


def _mark(source: str, key: str) -> str:
    import re

    found = re.search(rf"⟦{key}\|([^⟧]*)⟧", source)
    assert found
    return found[1]


def newsletter_pdf(dice: random.Random, draft: Draft) -> Made:
    """A press release in two columns of prose: values broken over lines, millions, growth and decline."""
    pdf = PdfDraft()
    company, partner = dice.sample(pools.COMPANIES, 2)
    chief = dice.choice(pools.PEOPLE)
    held, paid = clear_day(dice), clear_day(dice)
    sales, profit, stores = (
        f"{dice.randint(12, 98)}.{dice.randint(1, 9)}",
        f"{dice.randint(2, 9)}.{dice.randint(1, 9)}",
        dice.randint(40, 400),
    )
    up, down = f"{dice.randint(3, 19)}.{dice.randint(1, 9)}", f"{dice.randint(2, 9)}"
    left = (
        f"{m('company', company)} today reported results for the half year. Net sales rose by {m('up', up + '%')} to"
        f" {m('sales', '$' + sales + ' million')}, while operating profit came to {m('profit', '$' + profit + ' million')}. Traffic in"
        f" stores changed by {m('down', '-' + down + '%')} compared with the year before. The company now runs {m('stores', stores)} stores."
    )
    right = (
        f"Chief executive {m('chief', chief)} said the partnership with {m('partner', partner)} was not terminated and would go on. The"
        f" annual meeting will be held on {m('held', pools.uk_long(held))} and the dividend is paid on {m('paid', pools.uk_long(paid))}."
        " The outlook for the full year remains unchanged, and no layoffs are planned at any site of the group."
    )
    pdf.text(
        50,
        50,
        "Half-year results: growth continues in all regions and channels of the group, says management",
        size=11,
        font=1,
    )
    for x, column in ((50, left), (310, right)):
        for index, line in enumerate(_split_marks(wrap(column, 44))):
            pdf.text(x, 90 + 14 * index, line)
    draft.says("company_name", company, "company", traps="unlabelled accents broken_line")
    draft.says("net_sales", int(Decimal(sales) * 1_000_000), "sales", traps="million prose broken_line")
    draft.says("sales_growth", Decimal(up) / 100, "up", traps="percent prose")
    draft.says("operating_profit", float(Decimal(profit) * 1_000_000), "profit", traps="million prose broken_line")
    if dice.random() < 0.5:
        draft.says("traffic_change", -Decimal(down) / 100, "down", traps="percent negative prose")
    else:
        draft.empty("traffic_change", Decimal(down) / 100, "other_sign contradicted")
    draft.says("number_of_stores", stores, "stores", traps="prose label_after")
    draft.says("chief_executive", chief, "chief", traps="accents prose broken_line")
    draft.says("partner", partner, "partner", traps="accents prose broken_line")
    draft.says("annual_meeting_date", held, "held", traps="date_forms prose broken_line")
    if dice.random() < 0.6:
        draft.says("dividend_payment_date", paid, "paid", traps="date_forms prose broken_line")
    else:
        draft.empty("dividend_payment_date", held, "other_role contradicted")
    draft.empty("partnership_terminated", True, "negated contradicted")
    draft.empty("net_debt", None, "none")
    draft.empty("profit_margin", round(float(profit) / float(sales), 4), "computable")
    return pdf.done()


def _split_marks(text: str) -> list[str]:
    """A mark that runs over a line end becomes two parts of one value."""
    lines, carried = [], ""
    for line in text.split("\n"):
        source = f"⟦{carried}~2|{line}" if carried else line
        carried = ""
        if source.rfind("⟦") > source.rfind("⟧"):
            key = source[source.rfind("⟦") + 1 :].split("|")[0]
            carried = key.split("~")[0]
            source = (
                source[: source.rfind("⟦")] + "⟦" + carried + "~1" + source[source.rfind("⟦") + 1 + len(key) :] + "⟧"
            )
        lines.append(source)
    return lines


def packing_text(dice: random.Random, draft: Draft) -> Made:
    """A customs packing list: several consignments as blocks of label and value, European numbers, equal fields."""
    sender, carrier = dice.sample(pools.COMPANIES, 2)
    leaves, arrives = murky_day(dice), clear_day(dice)
    boxes = [
        (
            thing,
            dice.randint(2, 60),
            Decimal(dice.randint(1000, 99_999)) / 10,
            money(dice, 100_000, 4_000_000),
            f"{dice.randint(7000, 8999)} {dice.randint(10, 99)} {dice.randint(10, 99)}",
        )
        for thing in dice.sample(pools.GOODS, 3)
    ]
    boxes[2] = (boxes[2][0], boxes[0][1], boxes[2][2], boxes[2][3], boxes[2][4])  # the same count in two blocks
    hazardous = dice.random() < 0.5
    lines = [
        "PACKING LIST / COLISAGE",
        "",
        f"Sender: {m('sender', sender)} | Carrier: {m('carrier', carrier)}",
        f"Departure: {m('leaves', pools.dots(leaves))} | Arrival: {m('arrives', pools.dots(arrives))}",
        f"Seal no.: {m('seal', 'EU–' + str(dice.randint(400000, 499999)))}",
        "",
    ]
    for index, (thing, count, weight, worth, code) in enumerate(boxes):
        lines += [
            f"Consignment {index + 1}",
            f"  Contents:      {m(f't{index}', thing)}",
            f"  Packages:      {m(f'n{index}', count)}",
            f"  Gross weight:  {m(f'w{index}', eu(weight, 1))} kg",
            f"  Value:         {m(f'v{index}', eu(worth) + ' EUR')}",
            f"  Tariff code:   {m(f'c{index}', code)}",
            "",
        ]
    total = sum((box[3] for box in boxes), Decimal(0))
    lines += [
        f"Total value: {m('total', eu(total) + ' EUR')}; packages in all: {m('packages', sum(box[1] for box in boxes))}",
        f"The goods {m('hazard', 'are hazardous' if hazardous else 'are not hazardous')} within the meaning of ADR.",
        "Remarks: none. Return load: n/a.",
    ]
    draft.says("sender", sender, "sender", traps="accents")
    draft.says("carrier", carrier, "carrier", traps="accents")
    draft.says("departure_date", leaves, "leaves", traps="european_date day_month_context")
    draft.says("arrival_date", arrives, "arrives", traps="european_date")
    draft.says("seal_number", _mark("\n".join(lines), "seal").replace("–", "-"), "seal", traps="dashes id_spacing")
    draft.says("total_value", total, "total", traps="european_number repeated_role")
    draft.says("total_packages", sum(box[1] for box in boxes), "packages", traps="repeated_role")
    if dice.random() < 0.5:
        draft.says("hazardous", hazardous, "hazard", traps="boolean_negation", inside=True)
    else:
        draft.empty("hazardous", not hazardous, "negated contradicted")
    draft.empty("return_load", None, "none")
    draft.empty("insurance_value", total * 2 + 3, "absent")
    for index, (thing, count, weight, worth, code) in enumerate(boxes):
        draft.says(f"consignments[{index}].contents", thing, f"t{index}", traps="table_row")
        twin = index in (0, 2)
        draft.says(
            f"consignments[{index}].packages",
            count,
            f"n{index}",
            traps="same_amount_rows" if twin else "row_label",
            elsewhere=twin,
        )
        draft.says(f"consignments[{index}].gross_weight_kg", weight, f"w{index}", traps="european_number")
        if index == 1:
            draft.empty(f"consignments[{index}].value", boxes[2][3], "other_row contradicted")
        else:
            draft.says(f"consignments[{index}].value", worth, f"v{index}", traps="european_number")
        draft.says(f"consignments[{index}].tariff_code", code.replace(" ", "."), f"c{index}", traps="id_spacing")
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [claim_form_pdf, report_markdown, newsletter_pdf, packing_text]
