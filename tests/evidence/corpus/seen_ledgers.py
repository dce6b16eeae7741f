"""More trades that may be looked at: a loan agreement, a fund's fact sheet, a claim letter, a running account."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, as_docx, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def loan_prose(dice: random.Random, draft: Draft) -> Made:
    """A loan agreement in numbered clauses: defined parties, spelled numbers, rates that differ by role, denials."""
    lender, borrower, court = (
        dice.choice(pools.COMPANIES),
        dice.choice(pools.PEOPLE),
        dice.choice(["Cardiff", "Aberdeen", "Norwich"]),
    )
    guarantor = dice.choice([name for name in pools.PEOPLE if name != borrower])
    signed, first = clear_day(dice), clear_day(dice)
    amount = Decimal(dice.randint(20, 900)) * 1000
    instalments = dice.choice([24, 36, 48, 60])
    words = {24: "twenty-four", 36: "thirty-six", 48: "forty-eight", 60: "sixty"}
    rate, default = f"{dice.randint(3, 7)}.{dice.randint(1, 9)}", f"{dice.randint(8, 14)}.{dice.randint(1, 9)}"
    monthly = cents(amount / instalments)
    early, secured, assign = (dice.random() < 0.5 for _ in range(3))
    clauses = [
        f'THIS LOAN AGREEMENT is made on {m("signed", pools.uk_long(signed))} between {m("lender", lender)} (the "Lender") and {m("borrower", borrower)} (the "Borrower").',
        f"1. Amount. The Lender lends to the Borrower the sum of {m('amount', '£' + us(amount, 0))} for the purpose of {m('purpose', 'refurbishing a bakery')}.",
        f"2. Repayment. The loan is repaid in {m('count', words[instalments])} monthly instalments of {m('monthly', '£' + us(monthly))} each, the first of which falls due on {m('first', pools.uk_long(first))}.",
        f"3. Interest. Interest accrues at {m('rate', rate + '%')} per annum. Sums overdue bear default interest at {m('default', default + ' per cent')} per annum.",
        f"4. Prepayment. The Borrower {m('early', 'may repay early without charge' if early else 'may not repay early')}. The loan is {m('secured', 'secured by a mortgage' if secured else 'not secured')}.",
        f"5. Guarantee. {m('guarantor', guarantor)} guarantees the obligations of the Borrower up to {m('cap', '£' + us(amount / 2, 0))}.",
        f"6. Assignment. The Lender {m('assign', 'may assign' if assign else 'shall not assign')} its rights. Disputes are decided by the courts of {m('court', court)}.",
    ]
    source = "\n\n".join(wrap(clause, 76) for clause in clauses)
    draft.says("lender", lender, "lender", traps="prose accents broken_line")
    draft.says("borrower", borrower, "borrower", traps="prose accents broken_line")
    draft.says("agreement_date", signed, "signed", traps="prose date_forms broken_line")
    draft.says("loan_amount", amount, "amount", traps="prose currency")
    draft.says("purpose", "refurbishing a bakery", "purpose", traps="prose broken_line")
    draft.says("number_of_instalments", instalments, "count", traps="number_words prose")
    draft.says("monthly_instalment", monthly, "monthly", traps="prose currency")
    if dice.random() < 0.6:
        draft.says("first_instalment_due", first, "first", traps="prose date_forms broken_line")
    else:
        draft.empty("first_instalment_due", signed, "other_role contradicted")
    draft.says("interest_rate", Decimal(rate) / 100, "rate", traps="prose percent")
    draft.says("default_interest_rate", Decimal(default), "default", traps="prose percent")
    draft.says("guarantor", guarantor, "guarantor", traps="prose accents broken_line")
    draft.says("guarantee_limit", amount / 2, "cap", traps="prose currency")
    for path, key, said in (
        ("early_repayment_allowed", "early", early),
        ("secured", "secured", secured),
        ("assignment_allowed", "assign", assign),
    ):
        if dice.random() < 0.6:
            draft.says(path, said, key, traps="boolean_negation", inside=True)
        else:
            draft.empty(path, not said, "negated contradicted")
    draft.empty("total_repayable", monthly * instalments + 1, "computable")
    draft.empty("arrangement_fee", None, "none")
    draft.empty("witness", guarantor, "unrelated")
    draft.empty("insurer", lender, "unrelated")
    draft.empty("collateral_location", court, "unrelated")
    return as_text(source)


def signed_number(value: Decimal) -> str:
    return f"+{value}" if value > 0 else str(value).replace("-", "\u2212")


def factsheet_markdown(dice: random.Random, draft: Draft) -> Made:
    """A fund's fact sheet: share classes in several currencies, returns with signs, assets in millions."""
    fund, bank = "Meridian " + dice.choice(["Global Equity", "Euro Credit", "Small Caps"]), dice.choice(pools.COMPANIES)
    manager = dice.choice(pools.PEOPLE)
    launched, as_of = clear_day(dice), clear_day(dice)
    assets = f"{dice.randint(101, 989)}.{dice.randint(1, 9)}"
    charge, entry = f"0.{dice.randint(40, 95)}", f"{dice.randint(2, 5)}.00"
    classes = []
    for name, currency in (("A", "EUR"), ("I", "EUR"), ("H", "USD"), ("S", "CHF")):
        isin = f"LU{dice.randint(1000000000, 9999999999)}"
        price = money(dice, 5_000, 40_000)
        year, three = Decimal(dice.randint(-99, 199)) / 10, Decimal(dice.randint(-99, 299)) / 10
        classes.append([name, isin, currency, price, year, three])
    classes[2][4] = classes[0][4]
    best, worst = f"+{dice.randint(4, 9)}.{dice.randint(1, 9)}", f"{dice.randint(4, 9)}.{dice.randint(1, 9)}"
    lines = [
        f"# {m('fund', fund)}",
        "",
        f"Fact sheet as of {m('as_of', pools.uk_long(as_of))}",
        "",
        "## Key facts",
        "",
        "| | |",
        "|---|---|",
        f"| Fund manager | {m('manager', manager)} |",
        f"| Custodian | {m('bank', bank)} |",
        f"| Launch date | {m('launched', pools.uk_long(launched))} |",
        f"| Fund assets (EUR million) | {m('assets', assets)} |",
        f"| Ongoing charge | {m('charge', charge + ' %')} |",
        f"| Entry fee | up to {m('entry', entry + ' %')} |",
        "| Performance fee | none |",
        f"| Distributing | {m('distributing', 'No')} |",
        "",
        "## Share classes",
        "",
        "| Class | ISIN | Currency | Price | 1 year % | 3 years % |",
        "|---|---|---|---|---|---|",
        *(
            f"| {m(f'n{i}', name)} | {m(f'x{i}', isin[:4] + ' ' + isin[4:8] + ' ' + isin[8:])} | {m(f'c{i}', currency)} | {m(f'p{i}', us(price))} | {m(f'y{i}', signed_number(year))} | {m(f't{i}', signed_number(three))} |"
            for i, (name, isin, currency, price, year, three) in enumerate(classes)
        ),
        "",
        "## Comment",
        "",
        wrap(
            f"The best month was {m('best', best + '%')} and the worst month was {m('worst', '−' + worst + '%')}. The fund does not use leverage. It is suitable for retail investors, who should hold it for at least {m('hold', 'five')} years."
        ),
    ]
    draft.says("fund_name", fund, "fund", traps="unlabelled")
    draft.says("as_of", as_of, "as_of", traps="date_forms")
    draft.says("fund_manager", manager, "manager", traps="row_label accents")
    draft.says("custodian", bank, "bank", traps="row_label accents")
    if dice.random() < 0.6:
        draft.says("launch_date", launched, "launched", traps="date_forms row_label")
    else:
        draft.empty("launch_date", as_of, "other_role contradicted")
    draft.says("fund_assets", int(Decimal(assets) * 1_000_000), "assets", traps="million row_label")
    draft.says("ongoing_charge", Decimal(charge) / 100, "charge", traps="percent row_label")
    draft.says("entry_fee", Decimal(entry), "entry", traps="percent row_label")
    draft.empty("performance_fee", None, "none")
    draft.says("distributing", False, "distributing", traps="boolean", inside=True)
    draft.says("best_month", Decimal(best) / 100, "best", traps="percent prose")
    if dice.random() < 0.5:
        draft.says("worst_month", -Decimal(worst) / 100, "worst", traps="percent negative prose")
    else:
        draft.empty("worst_month", Decimal(worst) / 100, "other_sign contradicted")
    draft.empty("uses_leverage", True, "negated contradicted")
    draft.says("holding_years", 5, "hold", traps="number_words prose")
    draft.empty("auditor", bank, "unrelated")
    draft.empty("complaints_officer", manager, "unrelated")
    wrong = dice.randrange(4)
    for i, (_, isin, currency, price, year, three) in enumerate(classes):
        draft.says(f"share_classes[{i}].isin", isin, f"x{i}", traps="table_row id_spacing")
        draft.says(
            f"share_classes[{i}].currency", currency, f"c{i}", traps="multi_currency column_heading", elsewhere=True
        )
        draft.says(f"share_classes[{i}].price", price, f"p{i}", traps="column_heading")
        if i == wrong and classes[(i + 1) % 4][4] != year and year:
            draft.empty(f"share_classes[{i}].return_1_year", classes[(i + 1) % 4][4], "other_row contradicted")
        else:
            draft.says(
                f"share_classes[{i}].return_1_year",
                year,
                f"y{i}",
                traps="column_heading same_amount_rows",
                elsewhere=i in (0, 2),
            )
        draft.says(f"share_classes[{i}].return_3_years", three, f"t{i}", traps="column_heading")
    return as_text("\n".join(lines))


def claim_letter_docx(dice: random.Random, draft: Draft) -> Made:
    """A letter about a claim: sender and reader as blocks, a subject line, amounts told in sentences and in a table."""
    sender, reader = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    handler = dice.choice([name for name in pools.PEOPLE if name != reader])
    street, city = dice.choice(pools.STREETS), dice.choice(pools.CITIES)
    written, happened, reported = clear_day(dice), clear_day(dice), clear_day(dice)
    claim, policy = (
        f"CL/{dice.randint(100, 999)}/{dice.randint(1000, 9999)}",
        f"HH {dice.randint(100, 999)} {dice.randint(100, 999)}",
    )
    parts = [(thing, money(dice, 5_000, 90_000)) for thing in dice.sample(pools.GOODS, 3)]
    allowed = [cents(amount * dice.choice([Decimal("0.5"), Decimal("0.8"), Decimal("0.9")])) for _, amount in parts]
    excess = Decimal(dice.choice([100, 250, 500]))
    paid = sum(allowed, Decimal(0)) - excess
    police, witness = dice.random() < 0.5, dice.random() < 0.5
    rows: list[str | list[str]] = [
        m("sender", sender),
        m("street_from", "Claims Department, PO Box 91"),
        "",
        m("reader", reader),
        m("street", street),
        m("city", city),
        "",
        m("written", pools.uk_long(written)),
        "",
        f"Re: Claim {m('claim', claim)} under policy {m('policy', policy)}",
        f"Dear {reader.split()[0]},",
        f"Thank you for reporting on {m('reported', pools.uk_long(reported))} the burst pipe of {m('happened', pools.uk_long(happened))}. The loss adjuster visited the property together with {m('handler', handler)}, who handles your claim.",
        f"The police {m('police', 'were informed' if police else 'were not informed')}, and there {m('witness', 'were witnesses' if witness else 'were no witnesses')}. We assessed the items as follows:",
        ["Item", "Claimed", "Allowed"],
        *[
            [m(f"i{i}", thing), m(f"c{i}", "€ " + eu(amount)), m(f"a{i}", "€ " + eu(allowed[i]))]
            for i, (thing, amount) in enumerate(parts)
        ],
        "",
        f"After deduction of your excess of {m('excess', f'€ {excess}')} we will pay {m('paid', '€ ' + eu(paid))} to your account {m('account', 'DE89 3704 0044 0532 0130 00')} within 14 days.",
        f"Your premium of {m('premium', '€ 312,40')} is not affected.",
        "Yours sincerely",
        m("signer", "Beatrix Oyelaran"),
        "Head of Claims",
    ]
    draft.says("insurer", sender, "sender", traps="unlabelled accents")
    draft.says("policyholder.name", reader, "reader", traps="unlabelled accents")
    draft.says("policyholder.street", street, "street", traps="unlabelled")
    draft.says("policyholder.city", city, "city", traps="unlabelled")
    draft.says("letter_date", written, "written", traps="date_forms unlabelled")
    draft.says("claim_number", claim.replace("/", "-"), "claim", traps="id_spacing prose")
    draft.says("policy_number", policy.replace(" ", ""), "policy", traps="id_spacing prose")
    draft.says("reported_on", reported, "reported", traps="prose date_forms")
    draft.says("claim_handler", handler, "handler", traps="prose accents")
    if dice.random() < 0.5:
        draft.says("police_informed", police, "police", traps="boolean_negation", inside=True)
    else:
        draft.empty("police_informed", not police, "negated contradicted")
    draft.says("excess", excess, "excess", traps="prose currency")
    draft.says("amount_paid", paid, "paid", traps="prose european_number")
    draft.says("iban", "DE89370400440532013000", "account", traps="id_spacing prose")
    draft.empty("premium_affected", True, "negated contradicted")
    draft.empty("total_claimed", sum((amount for _, amount in parts), Decimal(0)), "computable")
    draft.empty("deductible_waived", None, "none")
    draft.empty("plumber", handler, "unrelated")
    for i, (thing, amount) in enumerate(parts):
        draft.says(f"items[{i}].item", thing, f"i{i}", traps="table_row")
        draft.says(f"items[{i}].claimed", amount, f"c{i}", traps="column_heading european_number")
        if i == 1:
            draft.empty(f"items[{i}].allowed", amount, "other_role contradicted")
        else:
            draft.says(f"items[{i}].allowed", allowed[i], f"a{i}", traps="column_heading european_number")
    return as_docx(rows)


def account_text(dice: random.Random, draft: Draft) -> Made:
    """A bank account in fixed width: debits and credits by column, a running balance, CR and DR, carried forward."""
    bank, owner = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    payees = dice.sample([name for name in pools.COMPANIES if name != bank], 5)
    begin = murky_day(dice)
    opening = money(dice, 200_000, 900_000)
    balance, days, rows = opening, begin, []
    for i, payee in enumerate(payees):
        days += timedelta(days=dice.randint(1, 5))
        amount = money(dice, 1_000, 90_000) if i != 3 else rows[1][2]
        out = i != 2
        balance = balance - amount if out else balance + amount
        rows.append((days, payee, amount, out, balance))
    end = days + timedelta(days=3)
    spent, got = (
        sum((row[2] for row in rows if row[3]), Decimal(0)),
        sum((row[2] for row in rows if not row[3]), Decimal(0)),
    )
    iban = "GB29 NWBK 6016 1331 9268 19"
    limit = Decimal(dice.choice([500, 1500, 2500]))
    lines = [
        aligned((0, m("bank", bank)), (58, "Page 1 of 1")),
        "Current account statement (dates are DD/MM/YYYY)",
        "",
        aligned((0, "Account holder"), (24, m("owner", owner))),
        aligned((0, "IBAN"), (24, m("iban", iban))),
        aligned(
            (0, "Statement period"), (24, f"{m('begin', pools.slash_uk(begin))} to {m('end', pools.slash_uk(end))}")
        ),
        aligned((0, "Arranged overdraft"), (24, m("limit", "£" + us(limit)))),
        "",
        aligned((0, "Date"), (13, "Details"), (-52, "Paid out"), (-66, "Paid in"), (-82, "Balance")),
        aligned((13, "BROUGHT FORWARD"), (-82, m("opening", us(opening)))),
    ]
    for i, (when, payee, amount, out, left) in enumerate(rows):
        lines.append(
            aligned(
                (0, m(f"w{i}", pools.slash_uk(when))),
                (13, m(f"p{i}", payee)),
                (-52 if out else -66, m(f"a{i}", us(amount))),
                (-82, m(f"b{i}", us(left))),
            )
        )
    lines += [
        aligned((13, "CARRIED FORWARD"), (-82, m("closing", us(balance)))),
        "",
        aligned((0, "Total paid out"), (24, m("spent", us(spent)) + " DR")),
        aligned((0, "Total paid in"), (24, m("got", us(got)) + " CR")),
        "",
        f"Your deposit is {m('protected', 'protected')} up to £85,000. Paperless statements: {m('paperless', 'switched off')}.",
    ]
    draft.says("bank", bank, "bank", traps="unlabelled accents")
    draft.says("account_holder", owner, "owner", traps="row_label accents")
    draft.says("iban", iban.replace(" ", ""), "iban", traps="id_spacing")
    if dice.random() < 0.6:
        draft.says("period_start", begin, "begin", traps="date_range day_month_context")
        draft.says("period_end", end, "end", traps="date_range")
    else:
        draft.empty("period_start", swapped(begin), "swapped_date contradicted")
    draft.says("overdraft_limit", limit, "limit", traps="row_label currency")
    draft.says("opening_balance", opening, "opening", traps="row_label")
    draft.says("closing_balance", balance, "closing", "b4", traps="row_label", elsewhere=True)
    draft.says("total_paid_out", spent, "spent", traps="row_label")
    if dice.random() < 0.6:
        draft.says("total_paid_in", got, "got", traps="row_label", elsewhere=True)
    else:
        draft.empty("total_paid_in", spent, "other_role contradicted")
    draft.empty("net_change", balance - opening, "computable")
    draft.empty("branch_manager", owner, "unrelated")
    draft.empty("employer", payees[4], "unrelated")
    draft.empty("interest_rate", None, "none")
    for i, (when, payee, amount, out, left) in enumerate(rows):
        draft.says(f"transactions[{i}].date", when, f"w{i}", traps="column_heading day_month_context")
        draft.says(f"transactions[{i}].details", payee, f"p{i}", traps="table_row accents")
        draft.says(
            f"transactions[{i}].{'paid_out' if out else 'paid_in'}",
            amount,
            f"a{i}",
            traps="column_heading same_amount_rows",
            elsewhere=i in (1, 2, 3),
        )
        if i == 1:
            draft.empty(f"transactions[{i}].balance", rows[2][4], "other_row contradicted")
        else:
            draft.says(f"transactions[{i}].balance", left, f"b{i}", traps="column_heading", elsewhere=i == 4)
    return as_text("\n".join(lines))


LAYOUTS: list[Callable[[random.Random, Draft], Made]] = [
    loan_prose,
    factsheet_markdown,
    claim_letter_docx,
    account_text,
]
