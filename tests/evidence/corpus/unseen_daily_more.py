"""Layouts kept out of tuning: a till receipt, a bank statement, a contract."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_text
from tests.evidence.corpus.pools import clear_day, money, murky_day, swapped, us
from tests.evidence.corpus.seen import aligned, m, wrap
from tests.evidence.corpus.seen_forms import bare_mark
from tests.evidence.corpus.unseen_daily import Fact, Made, crossed, described, digits, perhaps, tell


def daily_receipt(dice: random.Random, draft: Draft) -> Made:
    """A till receipt: quantities only where there are several, a voucher, two VAT rates, card and change."""
    shop, sold = dice.choice(pools.COMPANIES), clear_day(dice)
    stamp = dice.choice([pools.slash_uk(sold), pools.dots(sold), f"{sold:%d/%m/%y}", pools.short(sold)])
    rows = [
        (good, dice.choice([1, 1, 2, 3, 4, 6]), money(dice, 120, 2_900), dice.choice("AB"))
        for good in dice.sample(pools.GOODS, dice.randint(3, 4))
    ]
    sums = {code: sum((q * price for _, q, price, c in rows if c == code), Decimal(0)) for code in "AB"}
    gross = sum(sums.values())
    off = money(dice, 50, 250)
    total = gross - off
    given = (total // 10 + dice.randint(1, 3)) * 10
    by_card, points = dice.random() < 0.5, dice.randint(210, 1_900)
    number, card, till = f"{digits(dice, 4)} {digits(dice, 4)} {digits(dice, 2)}", digits(dice, 4), dice.randint(11, 29)
    lines = [
        f"      {m('shop', shop.upper() if dice.random() < 0.5 else shop)}",
        f"      {m('street', dice.choice(pools.STREETS))}   Tel 0117 496 {digits(dice, 4)}",
        "",
        f"{m('stamp', stamp)} {dice.randint(9, 19)}:{dice.randint(10, 59)}   Till {m('till', till)}   Receipt {m('number', number)}",
        f"Served by: {m('clerk', dice.choice(pools.PEOPLE))}",
        "",
    ]
    for index, (good, quantity, price, code) in enumerate(rows):
        each = f"{m(f'q{index}', quantity)} x {m(f'p{index}', us(price))}" if quantity > 1 else ""
        amount = m(f"a{index}", us(quantity * price))
        lines.append(aligned((0, m(f"g{index}", good)), (24, each), (-48, amount)) + f" {code}")
    lines += [
        aligned((0, dice.choice(["Voucher", "Coupon", "Loyalty voucher"])), (-48, m("off", f"-{us(off)}"))),
        aligned((0, "TOTAL"), (-48, m("total", "£" + us(total)))),
        *(
            [aligned((0, f"VISA DEBIT ************{m('card', card)}"), (-48, m("onto", us(total))))]
            if by_card
            else [
                aligned((0, "Cash"), (-48, m("given", us(given)))),
                aligned((0, dice.choice(["Change", "CHANGE DUE"])), (-48, m("change", us(given - total)))),
            ]
        ),
        "",
        aligned((0, "VAT"), (8, "Rate"), (-30, "Gross")),
        *(
            aligned((0, code), (8, m(f"r{code}", f"{rate}%")), (-30, m(f"v{code}", us(sums[code]))))
            for code, rate in (("A", 20), ("B", 5))
        ),
        "",
        f"You earned {m('points', points)} points on your card {digits(dice, 10)}.",
        f"{m('back', 'No refunds')} on sale items. Exchange within {m('days', 28)} days with this receipt.",
    ]
    described(draft, register_no="Number of the till", discount="Reduction, as a negative amount")
    facts: list[Fact] = [
        ("merchant", shop, "shop", "unlabelled accents"),
        ("purchase_date", sold, "stamp", "date_forms"),
        ("register_no", till, "till", "prose"),
        ("receipt_number", number.replace(" ", ""), "number", "id_spacing"),
        ("cashier", bare_mark(lines, "clerk"), "clerk", "accents"),
        perhaps(dice, "discount", -off, "off", "negative", off, "other_sign"),
        ("total", total, "total", "currency elsewhere" if by_card else "currency"),
        ("sum_before_discount", gross, "", "computable"),
        ("card_last_four", card, "card", "token_boundary") if by_card else ("card_last_four", None, "", "none"),
        ("charged_to_card", total, "onto", "elsewhere") if by_card else ("charged_to_card", None, "", "none"),
        ("cash_tendered", None, "", "none") if by_card else ("cash_tendered", given, "given", "row_label"),
        ("tip", None, "", "none"),
        ("exchange_days", 28, "days", "prose"),
        perhaps(dice, "sale_items_refundable", False, "back", "boolean_negation inside", True, "negated"),
        ("vat[0].rate", Decimal("0.2"), "rA", "percent column_heading"),
        ("vat[0].gross", sums["A"], "vA", "column_heading"),
        ("vat[1].rate", 5, "rB", "percent column_heading"),
        ("vat[1].gross", sums["B"], "vB", "column_heading"),
    ]
    if not by_card:
        facts.append(perhaps(dice, "change", given - total, "change", "row_label", given, "other_role"))
    for index, (good, quantity, price, _) in enumerate(rows):
        several, other = quantity > 1, rows[0][1] * rows[0][2]
        twin = "table_row" + " elsewhere" * (quantity * price in sums.values())
        facts += [
            (f"items[{index}].name", good, f"g{index}", "table_row"),
            (f"items[{index}].qty", quantity, f"q{index}", "table_row")
            if several
            else (f"items[{index}].qty", 1, "", "absent"),
            crossed(f"items[{index}].total", quantity * price, f"a{index}", twin, other, index == 1),
        ]
        facts += [(f"items[{index}].unit_price", price, f"p{index}", "table_row")] if several else []
    tell(draft, facts)
    return as_text("\n".join(lines))


def spaced(when: date) -> str:
    return f"{when.day:02d} {pools.MONTHS[when.month - 1][:3]} {when.year}"


def daily_statement_pdf(dice: random.Random, draft: Draft) -> Made:
    """A bank statement: a summary above its figures, money out and in, equal amounts in two rows, an overdraft."""
    pdf = PdfDraft()
    holder, start = dice.choice(pools.PEOPLE), clear_day(dice).replace(day=1)
    end = (start + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    sort_code, account = (
        f"{digits(dice, 2)}-{digits(dice, 2)}-{digits(dice, 2)}",
        f"{digits(dice, 4)} {digits(dice, 4)}",
    )
    opening = balance = money(dice, -60_000, 90_000)
    payees = dice.sample(pools.COMPANIES, 5)
    written = dice.choice([pools.slash_uk, pools.short, spaced])
    signed = dice.choice(["({})", "-{}"])

    def shown(amount: Decimal) -> str:
        return us(amount) if amount >= 0 else signed.format(us(-amount))

    rows: list[tuple[date, str, Decimal, bool, Decimal]] = []
    for index, payee in enumerate(payees):
        amount = rows[0][2] if index == 3 else money(dice, 900, 95_000)
        outward = index in (0, 3) or (index != 1 and dice.random() < 0.6)
        balance += -amount if outward else amount
        rows.append((start + timedelta(days=3 + 5 * index), payee, amount, outward, balance))
    paid_in = sum((row[2] for row in rows if not row[3]), Decimal(0))
    pdf.text(
        60,
        60,
        m("bank", dice.choice(["Harrow & Vale Bank plc", "Northgate Savings Bank", "Banque de l'Étang"])),
        size=15,
        font=1,
    )
    pdf.text(60, 78, f"Statement of account from {m('start', written(start))} to {m('end', written(end))}")
    pdf.row(110, [(60, m("holder", holder)), (330, "Sort code"), (430, m("sort", sort_code))])
    pdf.row(124, [(60, dice.choice(pools.STREETS)), (330, "Account number"), (430, m("account", account))])
    pdf.row(160, [(60, "Opening balance"), (190, "Total paid in"), (320, "Total paid out"), (450, "Closing balance")])
    figures = [
        m("opening", "£" + us(opening)) if opening >= 0 else m("opening", signed.format("£" + us(-opening))),
        m("in", "£" + us(paid_in)),
    ]
    figures += [
        m("out", "£" + us(opening + paid_in - balance)),
        m("closing", "£" + us(balance)) if balance >= 0 else m("closing", signed.format("£" + us(-balance))),
    ]
    pdf.row(176, [(60 + 130 * column, words) for column, words in enumerate(figures)])
    pdf.row(
        215,
        [
            (60, "Date"),
            (140, "Details"),
            (-370, dice.choice(["Paid out", "Debits"])),
            (-450, dice.choice(["Paid in", "Credits"])),
            (-540, "Balance"),
        ],
    )
    pdf.row(231, [(140, "Brought forward"), (-540, shown(opening))])
    for index, (when, payee, amount, outward, after) in enumerate(rows):
        cells = [
            (60, m(f"d{index}", written(when))),
            (140, m(f"n{index}", payee)),
            (-370 if outward else -450, m(f"x{index}", us(amount))),
        ]
        pdf.row(247 + 16 * index, [*cells, (-540, m(f"b{index}", shown(after)))])
    limit, rate = dice.choice([500, 750, 1500]), dice.choice(["19.9", "34.5", "39.9"])
    pdf.text(
        60,
        360,
        f"Your arranged overdraft limit is {m('limit', f'£{limit:,}')}. Interest on overdrafts: {m('rate', rate + '%')} a year.",
        size=9,
    )
    pdf.text(
        60, 374, f"This account {m('shared', 'is not a joint account')}. Deposits are protected up to £85,000.", size=9
    )
    described(draft, transactions="The booked movements, in order; debit and credit are unsigned")
    below = "label_above" + " negative" * (balance < 0)
    facts: list[Fact] = [
        ("bank_name", bare_mark([pdf.drawn[0][3]], "bank"), "bank", "unlabelled accents"),
        ("account_holder", holder, "holder", "unlabelled accents"),
        ("sort_code", sort_code.replace("-", ""), "sort", "id_spacing"),
        ("account_number", account.replace(" ", ""), "account", "id_spacing"),
        ("period_start", start, "start", "date_forms range"),
        ("period_end", end, "end", "date_forms range"),
        ("total_paid_in", paid_in, "in", "label_above currency"),
        ("total_paid_out", opening + paid_in - balance, "out", "label_above currency"),
        perhaps(dice, "closing_balance", balance, "closing b4", below, -balance, "other_sign"),
        ("net_change", balance - opening, "", "computable"),
        ("minimum_balance", money(dice, 1_000, 9_000), "", "absent"),
        ("overdraft_limit", limit, "limit", "currency prose"),
        ("overdraft_rate", Decimal(rate) / 100, "rate", "percent prose"),
        perhaps(dice, "is_joint_account", False, "shared", "boolean_negation inside", True, "negated"),
        ("iban", None, "", "none"),
    ]
    for index, (when, payee, amount, outward, after) in enumerate(rows[:4]):
        item, twin = f"transactions[{index}]", "same_amount_rows elsewhere" if index in (0, 3) else "column_heading"
        paid = (f"{item}.{'debit' if outward else 'credit'}", amount, f"x{index}", twin)
        facts += [
            crossed(f"{item}.date", when, f"d{index}", "date_forms table_row", rows[1][0], index == 2),
            (f"{item}.description", payee, f"n{index}", "table_row accents"),
            paid if index != 1 else (f"{item}.debit", amount, "", "other_role contradicted"),
            (f"{item}.balance", after, f"b{index}", "column_heading" + " negative" * (after < 0)),
        ]
    tell(draft, facts)
    return pdf.done()


def daily_contract(dice: random.Random, draft: Draft) -> Made:
    """A services agreement in prose: clauses in any order, numbers in words and figures, the same days in two roles."""
    client, provider = dice.sample(pools.COMPANIES, 2)
    signs, counter = dice.sample(pools.PEOPLE, 2)
    made, ends = murky_day(dice), murky_day(dice, date(2027, 1, 1))
    months, term_words = dice.choice([(24, "twenty-four"), (36, "thirty-six"), (18, "eighteen")])
    fee, late = money(dice, 200_000, 1_900_000), dice.choice(["8", "1.5", "4.25"])
    setup = dice.choice([fee, money(dice, 100_000, 400_000)])
    notice, pay = dice.choice([(30, 30), (90, 30), (60, 14)])
    sign, cap = dice.choice(["$", "€", "£"]), dice.choice(["1.5", "2", "2.75"])
    renews, alone, sub = (dice.random() < 0.5 for _ in range(3))
    law, court = dice.choice(
        [("Ireland", "Dublin"), ("the State of Delaware", "Wilmington"), ("England and Wales", "London")]
    )
    number = f"MSA {digits(dice, 3)} {digits(dice, 4)}"
    same_fee, same_days = "elsewhere" if setup == fee else "", "elsewhere" if notice == pay else ""
    clauses = [
        f"Term. This Agreement runs for an initial term of {m('tw', term_words)} ({m('term', months)}) months and ends on {m('ends', ends.isoformat())}."
        f" After that it {m('renews', 'shall renew automatically') if renews else m('renews', 'shall not renew automatically')} for further years.",
        f"Fees. The Client shall pay a monthly fee of {m('fee', sign + us(fee))} and, once, a set-up fee of {m('setup', sign + us(setup))}. Invoices are"
        f" payable within {m('pay', pay)} days of receipt; overdue amounts bear interest at {m('late', late + dice.choice(['%', ' percent']))} per annum.",
        f"Termination. Either party may terminate this Agreement for convenience on {m('notice', notice)} days' prior written notice.",
        f"Liability. The aggregate liability of either party is limited to {m('cap', f'{sign}{cap} million')}; this does not apply to fraud.",
        f"Exclusivity. The services are provided on {m('alone', 'an exclusive basis') if alone else m('alone', 'a non-exclusive basis')}."
        f" The Provider {m('sub', 'may engage subcontractors') if sub else m('sub', 'may not engage subcontractors')}.",
        f"Law. This Agreement is governed by the laws of {m('law', law)}. The courts of {m('court', court)} have jurisdiction.",
        f"Confidentiality. The duties under this clause survive for {m('cw', 'five')} ({m('conf', 5)}) years after the end of this Agreement.",
    ]
    dice.shuffle(clauses)
    text = "\n\n".join(
        [
            f"MASTER SERVICES AGREEMENT No. {m('number', number)}",
            wrap(
                f'This agreement (the "Agreement") {dice.choice(["is made on", "takes effect on", "is effective as of"])} {m("made", pools.uk_long(made))} between {m("client", client)}, {dice.choice(pools.STREETS)}'
                f' (the "Client"), and {m("provider", provider)}, {dice.choice(pools.CITIES)} (the "Provider").'
            ),
            *(wrap(f"{index + 1}. {clause}") for index, clause in enumerate(clauses)),
            aligned((0, "For the Client:"), (40, "For the Provider:"))
            + "\n"
            + aligned((0, m("signs", signs)), (40, m("counter", counter))),
        ]
    )
    described(draft, cure_days="Days to remedy a breach", liability_cap="Highest liability in full currency units")
    tell(
        draft,
        [
            ("agreement_number", number.replace(" ", "-"), "number", "id_spacing"),
            ("client.name", client, "client", "accents prose label_below"),
            ("client.signatory", signs, "signs", "label_above accents"),
            ("provider.name", provider, "provider", "accents prose label_below"),
            perhaps(dice, "provider.signatory", counter, "counter", "label_above accents", signs, "other_role"),
            perhaps(dice, "effective_date", made, "made", "date_forms prose", swapped(made), "swapped_date"),
            perhaps(dice, "end_date", ends, "ends", "date_forms prose", swapped(ends), "swapped_date"),
            ("initial_term_months", months, "term tw", "prose"),
            perhaps(dice, "auto_renewal", renews, "renews", "boolean_negation inside", not renews, "negated"),
            ("fees.monthly", fee, "fee", f"currency prose repeated_role {same_fee}"),
            ("fees.setup", setup, "setup", f"currency prose repeated_role {same_fee}"),
            ("fees.total_over_term", fee * months + setup, "", "computable"),
            ("payment_days", pay, "pay", f"prose repeated_role {same_days}"),
            ("late_interest_rate", Decimal(late) / 100, "late", "percent prose"),
            ("notice_period_days", notice, "notice", f"prose repeated_role {same_days}"),
            ("cure_days", 10, "", "absent"),
            ("liability_cap", int(Decimal(cap) * 1_000_000), "cap", "million prose"),
            perhaps(dice, "is_exclusive", alone, "alone", "boolean_negation inside", not alone, "negated"),
            ("subcontracting_allowed", sub, "sub", "boolean_negation inside"),
            ("governing_law", law, "law", "prose"),
            ("jurisdiction", court, "court", "prose"),
            ("confidentiality_years", 5, "conf cw", "prose"),
            ("insurance_minimum", None, "", "none"),
        ],
    )
    return as_text(text)


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (daily_receipt, daily_statement_pdf, daily_contract)
