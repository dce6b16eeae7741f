"""Layouts of tables and records: a balance sheet, a card statement, a stock list, a laboratory report, a dump, a form of boxes."""
# One line of a document is one line here:
# fmt: off

import json
import random
import re
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import clear_day, dots, eu, money, murky_day, slash_us, swapped, us
from tests.evidence.corpus.seen import m

Made = tuple[Any, dict[str, list[tuple[int, int]]]]

def either(draft: Draft, holds: bool, path: str, right: tuple[Any, str, str], wrong: tuple[Any, str], *, elsewhere: bool = False, inside: bool = False) -> None:
    """The field with its value, mark and traps; or, where that does not hold, with a value that may not be cited and why."""
    if holds:
        draft.says(path, right[0], right[1], traps=right[2], elsewhere=elsewhere, inside=inside)
    else:
        draft.empty(path, *wrong)


_BALANCE = [
    ("Non-current assets", None), ("Property, plant and equipment", "ppe"), ("Intangible assets", "intangible_assets"), ("Current assets", None),
    ("Inventories", "inventories"), ("Trade and other receivables", "receivables"), ("Cash and cash equivalents", "cash"), ("Total assets", "total_assets"),
    ("Equity", None), ("Share capital", "share_capital"), ("Retained earnings / (accumulated deficit)", "retained_earnings"), ("Non-current liabilities", None),
    ("Borrowings", "long_term_debt"), ("Current liabilities", None), ("Borrowings", "short_term_debt"), ("Trade payables", "trade_payables"),
    ("Total equity and liabilities", "total_equity_and_liabilities"),
]


def _balance_figures(dice: random.Random) -> dict[str, int]:
    figures = {field: dice.randint(1_100, 98_000) for _, field in _BALANCE if field and not field.startswith(("total", "retain"))}
    figures["total_assets"] = sum(figures[field] for field in ("ppe", "intangible_assets", "inventories", "receivables", "cash"))
    claims = sum(figures[field] for field in ("share_capital", "long_term_debt", "short_term_debt", "trade_payables"))
    figures["retained_earnings"] = figures["total_assets"] - claims
    figures["total_equity_and_liabilities"] = figures["total_assets"]
    return figures


def balance_pdf(dice: random.Random, draft: Draft) -> Made:
    """A balance sheet in thousands, two years in either order, a column of notes, the same line in two sections."""
    company, year, currency = dice.choice(pools.COMPANIES), dice.choice([2021, 2022, 2023]), dice.choice(["EUR", "USD", "CHF"])
    unit = dice.choice([f"{currency} in thousands", f"(in thousands of {currency})", f"All amounts in {currency} '000"])
    years = {"current_year": _balance_figures(dice), "prior_year": _balance_figures(dice)}
    order = dice.choice([["current_year", "prior_year"], ["prior_year", "current_year"]])
    pdf = PdfDraft()
    pdf.text(60, 70, m("company", company), size=15, font=1)
    pdf.text(60, 90, f"Consolidated statement of financial position as at {m('as_of', f'31 December {year}')}")
    pdf.text(60, 104, unit, size=8)
    pdf.row(130, [(320.0, "Note")] + [(-(430.0 + 90 * at), str(year - (name != "current_year"))) for at, name in enumerate(order)])
    y = 148
    for number, (label, field) in enumerate(_BALANCE):
        y += 16
        if field is None:
            pdf.text(60, y, label, font=1)
            continue
        cells = [(60.0, label)] + ([] if field.startswith("total") else [(325.0, str(number))])
        for at, name in enumerate(order):
            amount = years[name][field]
            cells.append((-(430.0 + 90 * at), m(f"{name}.{field}", f"({-amount:,})" if amount < 0 else f"{amount:,}")))
        pdf.row(y, cells)
    pdf.text(60, y + 40, "The notes are an integral part of these statements. Rounding differences may occur.", size=8)
    signed = clear_day(dice, date(year + 1, 2, 1), 80)
    pdf.text(60, y + 54, f"Authorised for issue by the board on {m('signed', pools.uk_long(signed))}.", size=8)
    debts = {
        "long_term_debt": {"type": "integer", "description": "Borrowings among the non-current liabilities"},
        "short_term_debt": {"type": "integer", "description": "Borrowings among the current liabilities"},
    }
    released = {"type": "string", "format": "date", "description": "Day the board released the accounts"}
    draft.schema = {"properties": {"authorised_on": released, "current_year": {"properties": debts}, "prior_year": {"properties": debts}}}
    draft.says("company", company, "company", traps="unlabelled accents")
    draft.says("balance_sheet_date", date(year, 12, 31), "as_of", traps="prose date_forms")
    draft.says("authorised_on", signed, "signed", traps="prose date_forms")
    draft.empty("auditor", None, "none")
    signs = {"inventories": 1, "receivables": 1, "cash": 1, "short_term_debt": -1, "trade_payables": -1}
    draft.empty("working_capital", sum(1000 * sign * years["current_year"][field] for field, sign in signs.items()), "computable")
    wrong = dice.choice(["inventories", "receivables", "trade_payables"])
    for name in order:
        for field in ("ppe", "inventories", "receivables", "cash", "total_assets", "retained_earnings", "long_term_debt", "short_term_debt", "trade_payables"):
            path, amount = f"{name}.{field}", years[name][field]
            if name == "current_year" and field == wrong:
                draft.empty(path, 1000 * years["prior_year"][field], "other_column contradicted")
            elif name == "prior_year" and field == "retained_earnings":
                draft.empty(path, -1000 * amount, "other_sign contradicted")
            else:
                traps = "thousands two_years" + (" negative" if amount < 0 else "")
                draft.says(path, 1000 * amount, path, traps=traps, elsewhere=field == "total_assets")
        draft.empty(f"{name}.goodwill", None, "none")
    draft.empty("current_year.dividends_payable", 250_000, "absent")
    return pdf.done()


def card_html(dice: random.Random, draft: Draft) -> Made:
    """A card statement: a summary in either of two shapes, postings with two dates, a payment equal to the old balance."""
    holder, mark = dice.choice(pools.PEOPLE), dice.choice(["$", "$", "£"])
    closing = clear_day(dice)
    due, opened = murky_day(dice, closing, 60), murky_day(dice, date(2015, 1, 1))
    form: Callable[[Any], str] = slash_us if mark == "$" else pools.slash_uk
    before, limit = money(dice, 20_000, 300_000), Decimal(dice.choice([5000, 7500, 12000]))
    interest = money(dice, 300, 4_000)
    days = [closing - timedelta(days=back) for back in sorted(dice.sample(range(3, 29), 4), reverse=True)]
    rows = [(days[0], "PAYMENT RECEIVED - THANK YOU", -before)]
    shops = ["GREENLEAF MARKET #112", "CITY TRANSIT 24H", "NORTHSIDE FUEL 0087", "ALDER BOOKS", "PIXELBOX.COM", "CAFE ORTEGA"]
    rows += [(days[at + 1], shop, money(dice, 500, 40_000)) for at, shop in enumerate(dice.sample(shops, dice.choice([2, 3])))]
    spent = sum((row[2] for row in rows[1:]), Decimal(0))
    after, tail = spent + interest, dice.randint(1000, 9999)

    def cash(amount: Decimal) -> str:
        return ("\N{MINUS SIGN}" if amount < 0 else "") + mark + us(abs(amount))

    summary = [
        (dice.choice(["Previous balance", "Balance brought forward"]), m("before", cash(before))), ("Payments and credits", m("paid", cash(-before))),
        (dice.choice(["Purchases", "New purchases"]), m("spent", cash(spent))), ("Fees charged", cash(Decimal(0))),
        ("Interest charged", m("interest", cash(interest))), (dice.choice(["New balance", "Closing balance"]), m("after", cash(after))),
        (dice.choice(["Minimum payment due", "Minimum payment"]), m("least", cash(Decimal("35.00")))), ("Payment due date", m("due", form(due))),
        ("Credit limit", m("limit", cash(limit))), ("Available credit", m("left", cash(limit - after))),
    ]
    if dice.random() < 0.5:
        shown = "<table>" + "".join(f"<tr><td>{label}</td><td>{value}</td></tr>" for label, value in summary) + "</table>"
    else:
        shown = "<dl>" + "".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in summary) + "</dl>"
    posted = [(when, timedelta(days=dice.choice([1, 2]))) for when, _, _ in rows]
    body = "".join(
        f"<tr><td>{m(f't{at}', form(when))}</td><td>{m(f'p{at}', form(when + later))}</td><td>{m(f'n{at}', rows[at][1])}</td><td>{m(f'a{at}', cash(rows[at][2]))}</td></tr>"
        for at, (when, later) in enumerate(posted)
    )
    enrolled = dice.random() < 0.5
    auto = "You are enrolled in AutoPay" if enrolled else "You are not enrolled in AutoPay"
    page = (
        f"<html><body><h1>Meridian Rewards Card</h1><p>Prepared for {m('holder', holder)}<br>Account ending in {m('tail', tail)}<br>"
        f"Member since {m('opened', form(opened))}<br>Statement closing date {m('closing', form(closing))}</p>"
        f"<h2>Account summary</h2>{shown}<p>{m('auto', auto)}. A late payment may cost you up to {mark}40.00.</p>"
        f"<h2>Transactions</h2><table><tr><th>Trans. date</th><th>Post date</th><th>Merchant</th><th>Amount</th></tr>{body}"
        f"<tr><td colspan=3>Total purchases this period</td><td>{m('spent', cash(spent))}</td></tr></table>"
        f"<footer>Questions? Call 0800 555 0{tail % 1000:03d}. Limits of {mark}500.00 per day apply to cash machines.</footer></body></html>"
    )
    draft.schema = {"properties": {"card_last4": {"type": "string", "description": "Last four digits of the account"}}}
    for path, value, key, traps in (
        ("cardholder", holder, "holder", "accents prose"), ("card_last4", str(tail), "tail", "prose"), ("statement_date", closing, "closing", "date_forms"),
        ("previous_balance", before, "before", "currency repeated_role"), ("payments_and_credits", -before, "paid", "negative repeated_role"), ("total_purchases", spent, "spent", "currency"),
        ("interest_charged", interest, "interest", "currency"), ("new_balance", after, "after", "currency"), ("minimum_payment", Decimal("35.00"), "least", "currency"),
        ("credit_limit", limit, "limit", "currency"),
    ):
        draft.says(path, value, key, traps=traps, elsewhere="repeated" in traps)
    either(draft, dice.random() < 0.5, "payment_due_date", (due, "due", "day_month_context"), (swapped(due), "swapped_date contradicted"))
    draft.empty("available_credit", limit, "other_role contradicted")
    either(draft, dice.random() < 0.5, "autopay_enrolled", (enrolled, "auto", "boolean"), (not enrolled, "negated contradicted"), inside=True)
    draft.empty("cash_advances", None, "none")
    draft.empty("late_fee_charged", None, "none")
    draft.empty("utilisation", (after / limit).quantize(Decimal("0.0001")), "computable")
    for at, (when, shop, amount) in enumerate(rows):
        draft.says(f"transactions[{at}].merchant", shop, f"n{at}", traps="table_row")
        draft.says(f"transactions[{at}].posted_on", when + posted[at][1], f"p{at}", traps="column_heading day_month_context")
        either(draft, at != 1, f"transactions[{at}].amount", (amount, f"a{at}", "column_heading"), (-amount, "other_sign contradicted"), elsewhere=at == 0)
        draft.empty(f"transactions[{at}].category", None, "none")
    return as_html(page)


def stock_csv(dice: random.Random, draft: Draft) -> Made:
    """A stock list as comma or semicolon separated values: quoted cells, blanks, a line of totals, signed differences."""
    european = dice.random() < 0.5
    gap = ";" if european else ","
    head = dice.choice([
        ["Item no.", "Description", "Bin", "On hand", "Reserved", "Reorder point", "Unit cost", "Last counted", "Count diff.", "Remark"],
        ["sku", "name", "location", "qty_on_hand", "qty_allocated", "min_stock", "cost_each", "count_date", "variance", "note"],
    ])
    counted, exported = clear_day(dice), clear_day(dice)
    things, rows = dice.sample(pools.GOODS, dice.choice([3, 4])), list[dict[str, Any]]()
    for at, thing in enumerate(things):
        rows.append({
            "sku": f"{dice.choice('ABK')}{dice.choice('TRW')}-{dice.randint(10_000, 99_999)}", "name": thing + (", boxed" if at == 1 else ""), "bin": f"{dice.choice('CDE')}{dice.randint(1, 9)}-{dice.randint(10, 40)}",
            "hand": dice.randint(201, 1900), "kept": dice.choice([12, 24, 40]), "least": dice.choice([12, 24, 40, 60]),
            "cost": money(dice, 130_000 if at == 0 else 200, 180_000 if at == 0 else 9_000), "diff": dice.choice([-7, -3, 2, 5]),
        })
    number = eu if european else us
    lines = [f"# Warehouse{gap}{m('site', dice.choice(['Leith', 'Halle', 'Toledo']))}", f"# Exported{gap}{m('exported', exported.isoformat())}", gap.join(head)]

    def quoted(key: str, words: object) -> str:
        text = m(key, words)
        return f'"{text}"' if gap in str(words) else text

    for at, row in enumerate(rows):
        row["when"] = counted if at % 2 else exported
        lines.append(gap.join([
            quoted(f"sku{at}", row["sku"]), quoted(f"name{at}", row["name"]), quoted(f"bin{at}", row["bin"]), quoted(f"hand{at}", row["hand"]),
            quoted(f"kept{at}", row["kept"]), quoted(f"least{at}", row["least"]), quoted(f"cost{at}", number(row["cost"])), quoted(f"when{at}", row["when"].isoformat()),
            quoted(f"diff{at}", f"{row['diff']:+d}"), "" if at else quoted("note0", "slow mover"),
        ]))
    lines.append(gap.join(["TOTAL", "", "", m("sum", sum(row["hand"] for row in rows)), str(sum(row["kept"] for row in rows)), "", "", "", "", ""]))
    item_fields = {"allocated": {"description": "Quantity reserved for open orders"}, "min_level": {"description": "Reorder point: stock below this is bought again"}}
    draft.schema = {"properties": {"items": {"type": "array", "items": {"properties": item_fields}}}}
    draft.says("warehouse", lines[0].split("|")[1][:-1], "site", traps="csv")
    draft.says("export_date", exported, "exported", traps="csv", elsewhere=True)
    draft.says("total_on_hand", sum(row["hand"] for row in rows), "sum", traps="csv totals")
    draft.empty("stock_value", sum((row["hand"] * row["cost"] for row in rows), Decimal(0)), "computable")
    wrong = dice.randrange(len(rows))
    for at, row in enumerate(rows):
        item = f"items[{at}]"
        draft.says(f"{item}.item_number", row["sku"].replace("-", " "), f"sku{at}", traps="csv id_spacing")
        draft.says(f"{item}.quantity_on_hand", row["hand"], f"hand{at}", traps="csv column_heading")
        draft.says(f"{item}.allocated", row["kept"], f"kept{at}", traps="csv column_heading", elsewhere=True)
        draft.says(f"{item}.min_level", row["least"], f"least{at}", traps="csv column_heading", elsewhere=True)
        either(draft, at != wrong, f"{item}.unit_cost", (row["cost"], f"cost{at}", "csv column_heading"), (rows[at - 1]["cost"], "other_row contradicted"))
        either(draft, at != wrong, f"{item}.count_difference", (row["diff"], f"diff{at}", "csv column_heading"), (-row["diff"], "other_sign contradicted"))
        draft.says(f"{item}.last_counted", row["when"], f"when{at}", traps="csv column_heading", elsewhere=True)
        if at < 2:
            draft.empty(f"{item}.supplier", None, "none")
    return as_text("\n".join(lines) + "\n")


_BLOOD = [
    ("Hämoglobin", "g/dl", "13,5", "17,5", (110, 190)), ("Leukozyten", "Tsd./µl", "3,9", "10,2", (25, 140)),
    ("Thrombozyten", "Tsd./µl", "150", "370", (1200, 4500)), ("Kreatinin", "mg/dl", "0,6", "1,2", (4, 19)),
    ("Kalium", "mmol/l", "3,5", "5,1", (28, 62)), ("Glukose nüchtern", "mg/dl", "60", "99", (550, 1600)),
]


def labor_pdf(dice: random.Random, draft: Draft) -> Made:
    """A German laboratory report: three dates, reference ranges, flags, one result with an upper bound alone."""
    patient, doctor = dice.sample(pools.PEOPLE, 2)
    born, drawn = murky_day(dice, date(1950, 1, 1), 15_000), murky_day(dice)
    reported = drawn + timedelta(days=2)
    pdf = PdfDraft()
    pdf.text(60, 60, dice.choice(["Labor Dr. Brandt & Kollegen", "MVZ Labor Nordpark"]), size=13, font=1)
    pdf.text(60, 74, "Industrieweg 31, 50667 Köln · Tel. 0221 / 555 01 20", size=8)
    number = f"{dice.randint(10, 99)}-{dice.randint(100_000, 999_999)}"
    pdf.row(104, [(60, "Patient:"), (150, m("patient", patient)), (330, "Auftrags-Nr.:"), (430, m("order", number))])
    pdf.row(120, [(60, dice.choice(["Geb.-Datum:", "geboren am:"])), (150, m("born", dots(born))), (330, "Entnahme:"), (430, m("drawn", dots(drawn)))])
    pdf.row(136, [(60, "Einsender:"), (150, m("doctor", doctor)), (330, "Befunddatum:"), (430, m("reported", dots(reported)))])
    pdf.row(170, [(60, "Untersuchung"), (-260, "Ergebnis"), (290, "Einheit"), (370, "Referenzbereich"), (480, "Bewertung")])
    rows = []
    for at, (name, unit, low, high, (least, most)) in enumerate(dice.sample(_BLOOD, 4)):
        value = Decimal(dice.randint(least, most)) / 10
        flag = "erniedrigt" if value < Decimal(low.replace(",", ".")) else "erhöht" if value > Decimal(high.replace(",", ".")) else ""
        rows.append((name, value, unit, low, high, flag))
        cells = [(60.0, m(f"n{at}", name)), (-260.0, m(f"v{at}", eu(value, 1))), (290.0, m(f"u{at}", unit)), (370.0, f"{m(f'l{at}', low)} - {m(f'h{at}', high)}")]
        pdf.row(188 + 16 * at, cells + ([(480.0, m(f"f{at}", flag))] if flag else []))
    crp = Decimal(dice.randint(6, 90)) / 10
    pdf.row(252, [(60, "CRP"), (-260, m("crp", eu(crp, 1))), (290, "mg/l"), (370, f"< {m('crp_high', '5,0')}")])
    fasting = dice.random() < 0.5
    pdf.text(60, 290, m("fasting", "Die Blutentnahme erfolgte nüchtern." if fasting else "Die Blutentnahme erfolgte nicht nüchtern."))
    pdf.text(60, 306, f"Probenmaterial: {m('sample', 'Serum, EDTA-Blut')}. Befund {m('final', 'vollständig')}.")
    pdf.text(60, 780, f"Seite 1 von 1 · gedruckt am {dots(reported + timedelta(days=3))}", size=8)
    draft.schema = {"properties": {"fasting": {"type": "boolean", "description": "Blutentnahme nüchtern"}, "referring_physician": {"type": "string", "description": "Einsender"}}}
    draft.says("patient_name", patient, "patient", traps="foreign accents")
    draft.says("date_of_birth", born, "born", traps="foreign date_forms")
    draft.says("order_number", number.replace("-", " "), "order", traps="foreign id_spacing")
    draft.says("referring_physician", doctor, "doctor", traps="foreign accents")
    either(draft, dice.random() < 0.5, "collected_on", (drawn, "drawn", "foreign date_forms"), (swapped(drawn), "swapped_date contradicted"))
    draft.says("report_date", reported, "reported", traps="foreign date_forms")
    either(draft, dice.random() < 0.5, "fasting", (fasting, "fasting", "foreign boolean"), (not fasting, "negated contradicted"), inside=True)
    draft.empty("insurance_number", None, "none")
    for at, (name, value, unit, low, high, flag) in enumerate(rows):
        path = f"results[{at}]"
        draft.says(f"{path}.analyte", name, f"n{at}", traps="foreign table_row accents")
        either(draft, at != 2, f"{path}.value", (value, f"v{at}", "foreign european_number column_heading"), (rows[1][1] if rows[1][1] != value else value + 1, "other_row contradicted"))
        if at < 2:
            draft.says(f"{path}.unit", unit, f"u{at}", traps="foreign column_heading")
        draft.says(f"{path}.ref_low", Decimal(low.replace(",", ".")), f"l{at}", traps="foreign range")
        either(draft, at != 3, f"{path}.ref_high", (Decimal(high.replace(",", ".")), f"h{at}", "foreign range"), (Decimal(low.replace(",", ".")), "other_role contradicted"))
        either(draft, bool(flag), f"{path}.flag", (flag, f"f{at}", "foreign column_heading accents"), (None, "none"))
    draft.says("crp.value", crp, "crp", traps="foreign european_number row_label")
    draft.says("crp.upper_limit", Decimal("5.0"), "crp_high", traps="foreign range")
    draft.empty("crp.lower_limit", None, "none")
    return pdf.done()


def _yaml(tree: dict[str, Any], depth: int = 0) -> list[str]:
    lines: list[str] = []
    for key, entry in tree.items():
        if isinstance(entry, dict):
            lines += [f"{'  ' * depth}{key}:", *_yaml(entry, depth + 1)]
        else:
            lines.append(f"{'  ' * depth}{key}: {entry}")
    return lines


def _flat(tree: dict[str, Any], stem: str = "") -> list[str]:
    lines: list[str] = []
    for key, entry in tree.items():
        lines += _flat(entry, f"{stem}{key}.") if isinstance(entry, dict) else [f"{stem}{key} = {entry}"]
    return lines


def _dumped(tree: dict[str, Any], style: str) -> str:
    if style == "yaml":
        return "\n".join(_yaml(tree))
    if style == "flat":
        return "\n".join(_flat(tree))
    bare_scalar = re.compile(r'"(⟦\w+\|(?:\d+|true|false)⟧|null)"')
    return bare_scalar.sub(r"\1", json.dumps(tree, indent=2, ensure_ascii=False))


def job_dump_text(dice: random.Random, draft: Draft) -> Made:
    """A job's record as YAML, JSON or dotted keys, and the end of its log: the same numbers under many keys."""
    name, space = dice.choice(["nightly-export", "ledger-sync", "reindex-catalog"]), dice.choice(["finance", "search", "core"])
    width, cpu, memory = dice.choice([2, 4]), dice.choice([2, 4]), dice.choice([4, 8])
    created = clear_day(dice)
    read, rejected, skipped = dice.randint(20_000, 90_000), dice.randint(101, 900), dice.randint(1_001, 1_900)
    written, seconds = read - rejected - skipped, dice.randint(130, 890)
    notify, failed = dice.random() < 0.5, dice.random() < 0.5
    phase, code = ("Failed", 137) if failed else ("Succeeded", 0)
    tree: dict[str, Any] = {
        "metadata": {"name": m("name", name), "namespace": m("space", space), "creationTimestamp": m("made", f"{created}T01:00:00Z"), "generation": width},
        "spec": {
            "schedule": m("cron", f"{dice.choice([0, 15, 30])} 1 * * *"),
            "parallelism": m("width", width),
            "retry": {"limit": m("retries", width), "backoffSeconds": m("backoff", 30)},
            "activeDeadlineSeconds": m("deadline", 1800),
            "resources": {
                "requests": {"cpu": m("cpu_low", cpu), "memoryGb": m("mem_low", memory)},
                "limits": {"cpu": m("cpu_high", cpu * 2), "memoryGb": m("mem_high", memory * 2)},
            },
            m("notify", "notifyOnFailure"): m("notify", str(notify).lower()),
            "owner": "null",
        },
        "status": {"phase": m("phase", phase), "exitCode": m("code", code), "rowsRead": m("read", read), "rowsWritten": m("written", written), "rowsRejected": m("rejected", rejected)},
    }
    host = f"worker-{dice.randint(10, 60)}"
    ended = f"01:{(seconds + 2) // 60:02d}:{(seconds + 2) % 60:02d} {'ERROR' if failed else 'INFO '}"
    log = [
        f"{created} 01:00:02 INFO  scheduler  started {m('name', name)} with {width} shards",
        f"{created} 01:00:09 INFO  {m('host', host)}  connected to db-{dice.randint(1, 3)}.internal:5432",
        f"{created} 01:01:44 WARN  {host}  {m('rejected', rejected)} rows rejected (bad checksum)",
        f"{created} {ended} scheduler  finished in {m('seconds', seconds)} s, exit code {m('code', code)}",
    ]
    draft.schema = {"properties": {"timeout_seconds": {"type": "integer", "description": "Active deadline of the job"}, "status": {"enum": ["failed", "succeeded", "running"]}}}
    for path, value, key, traps in (
        ("job_name", name, "name", "key_value"), ("namespace", space, "space", "key_value"), ("created_at", f"{created}T01:00:00Z", "made", "key_value"),
        ("parallelism", width, "width", "key_value repeated_role"), ("max_retries", width, "retries", "key_value repeated_role"), ("retry_backoff_seconds", 30, "backoff", "key_value"),
        ("timeout_seconds", 1800, "deadline", "key_value"), ("resources.cpu_request", cpu, "cpu_low", "key_value repeated_role"), ("resources.cpu_limit", cpu * 2, "cpu_high", "key_value repeated_role"),
        ("resources.memory_request_gb", memory, "mem_low", "key_value repeated_role"), ("status", phase.lower(), "phase", "key_value enum"), ("exit_code", code, "code", "key_value"),
        ("rows_read", read, "read", "key_value"), ("rows_written", written, "written", "key_value"), ("rows_rejected", rejected, "rejected", "key_value"),
        ("duration_s", seconds, "seconds", "log"),
    ):
        draft.says(path, value, key, traps=traps, elsewhere="repeated" in traps)
    draft.empty("resources.memory_limit_gb", memory, "other_role contradicted")
    draft.empty("rows_skipped", skipped, "computable")
    draft.empty("owner", None, "none")
    draft.empty("image", None, "none")
    either(draft, dice.random() < 0.5, "notify_on_failure", (notify, "notify", "key_value boolean"), (not notify, "negated contradicted"), inside=True)
    return as_text(_dumped(tree, dice.choice(["yaml", "flat", "json"])) + "\n\n# log, last lines\n" + "\n".join(log) + "\n")


def wage_boxes_pdf(dice: random.Random, draft: Draft) -> Made:
    """A yearly wage form of numbered boxes: label in small print above, equal amounts in several boxes, check boxes."""
    person, employer = dice.choice(pools.PEOPLE), dice.choice(pools.COMPANIES)
    wages, state_tax, federal, plan = (money(dice, low, high) for low, high in ((3_000_000, 9_000_000), (90_000, 400_000), (300_000, 1_200_000), (100_000, 500_000)))
    insured = wages + plan
    social, medical = pools.cents(insured * Decimal("0.062")), pools.cents(insured * Decimal("0.0145"))
    ssn = f"{dice.randint(100, 899)}-{dice.randint(10, 99)}-{dice.randint(1000, 9999)}"
    ein = f"{dice.randint(10, 99)}-{dice.randint(1_000_000, 9_999_999)}"
    year, state = dice.choice([2021, 2022, 2023]), dice.choice(["OR", "ID", "DE"])
    pdf = PdfDraft()
    pdf.row(60, [(60, "Form W-2  Wage and Tax Statement"), (480, m("year", year))])
    boxes = [
        [("a  Employee's social security number", m("ssn", ssn)), ("1  Wages, tips, other compensation", m("wages", us(wages))), ("2  Federal income tax withheld", m("federal", us(federal)))],
        [("b  Employer identification number (EIN)", m("ein", ein)), ("3  Social security wages", m("insured", us(insured))), ("4  Social security tax withheld", m("social", us(social)))],
        [("c  Employer's name", m("employer", employer)), ("5  Medicare wages and tips", m("covered", us(insured))), ("6  Medicare tax withheld", m("medical", us(medical)))],
        [("e  Employee's name", m("person", person)), ("7  Social security tips", ""), ("12a  Code D", m("plan", us(plan)))],
        [("15  State", m("state", state)), ("16  State wages, tips, etc.", m("state_wages", us(wages))), ("17  State income tax", m("state_tax", us(state_tax)))],
    ]
    for at, line in enumerate(boxes):
        for column, (label, filled) in enumerate(line):
            pdf.text(60 + 175 * column, 90 + 40 * at, label, size=7)
            if filled:
                pdf.text(66 + 175 * column, 104 + 40 * at, filled)
    retirement, statutory = dice.random() < 0.7, dice.random() < 0.3
    ticks = [("statutory", "Statutory employee", statutory), ("retirement", "Retirement plan", retirement), ("sick", "Third-party sick pay", False)]
    pdf.text(60, 300, "13", size=9)
    for at, (key, label, said) in enumerate(ticks):
        pdf.text(80 + 165 * at, 300, m(key, f"[{'X' if said else ' '}] {label}"), size=9)
    pdf.text(60, 330, "Copy C - For employee's records. Keep this copy for at least 3 years.", size=8)
    pdf.text(60, 342, f"If your wages exceed {us(Decimal(200_000))}, see the instructions for additional Medicare tax.", size=8)
    draft.schema = {"properties": {"elective_deferrals": {"type": "number", "description": "Box 12, code D: 401(k) contributions"}, "tax_year": {"type": "integer"}}}
    for path, value, key, traps in (
        ("tax_year", year, "year", "unlabelled"), ("employee.ssn", ssn.replace("-", ""), "ssn", "boxes label_above id_spacing"), ("employee.name", person, "person", "boxes label_above accents"),
        ("employer.name", employer, "employer", "boxes label_above accents"), ("employer.ein", ein, "ein", "boxes label_above"), ("wages", wages, "wages", "boxes label_above repeated_role"),
        ("federal_income_tax", federal, "federal", "boxes label_above"), ("social_security_wages", insured, "insured", "boxes label_above repeated_role"), ("medicare_wages", insured, "covered", "boxes label_above repeated_role"),
        ("medicare_tax", medical, "medical", "boxes label_above"), ("elective_deferrals", plan, "plan", "boxes label_above"), ("state.code", state, "state", "boxes label_above"),
        ("state.wages", wages, "state_wages", "boxes label_above repeated_role"), ("state.income_tax", state_tax, "state_tax", "boxes label_above"),
    ):
        draft.says(path, value, key, traps=traps, elsewhere="repeated" in traps)
    draft.empty("social_security_tax", federal, "other_role contradicted")
    draft.empty("social_security_tips", None, "none")
    draft.empty("total_tax_withheld", federal + social + medical, "computable")
    draft.empty("local_income_tax", None, "none")
    for path, key, marked in (("statutory_employee", "statutory", statutory), ("has_retirement_plan", "retirement", retirement), ("third_party_sick_pay", "sick", False)):
        either(draft, dice.random() < 0.6, path, (marked, key, "boolean_box"), (not marked, "negated contradicted"), inside=True)
    return pdf.done()


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (balance_pdf, card_html, stock_csv, labor_pdf, job_dump_text, wage_boxes_pdf)
