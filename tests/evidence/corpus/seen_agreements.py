"""Prose and letters: a lease, a changed employment contract, a mail thread."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, as_docx, as_text
from tests.evidence.corpus.pools import clear_day
from tests.evidence.corpus.prose import CASH_STYLES, Claims, Made, quoted, whole, words_of
from tests.evidence.corpus.seen import m, wrap
from tests.evidence.corpus.seen_agreements_more import claim_markdown, discharge_docx, press_pdf


def lease_text(dice: random.Random, draft: Draft) -> Made:
    """A tenancy agreement: parties in the opening, sums in clauses, the deposit sometimes the same sum as the rent."""
    landlord = dice.choice(pools.COMPANIES)
    tenant, agent = dice.sample(pools.PEOPLE, 2)
    home = f"Flat {dice.randint(2, 19)}, {dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}"
    signed = clear_day(dice)
    start = signed + timedelta(days=dice.randint(8, 40))
    words, months = dice.choice([("twelve", 12), ("eighteen", 18), ("twenty-four", 24)])
    end = start + timedelta(days=months * 30)
    cash, on = dice.choice(CASH_STYLES), dice.choice([pools.uk_long, pools.us_long])
    rent = Decimal(dice.randint(70, 260) * 10)
    deposit = rent if dice.random() < 0.4 else rent + dice.randint(11, 60) * 10
    parking, late = (Decimal(n) for n in dice.sample(range(25, 140, 5), 2))
    due, grace, notice = dice.choice(["1st", "5th", "15th"]), dice.randint(6, 9), dice.choice([28, 45, 60])
    rise = dice.choice(["2.5", "3", "4.25"])
    pets, sublet, water = (dice.random() < 0.5 for _ in range(3))
    bay = f"P{dice.randint(20, 89)}"
    opening = dice.choice([
        f"This Residential Lease is made on {m('signed', on(signed))} between {m('landlord', landlord)} (\"the Landlord\"), represented by {m('agent', agent)} as managing agent, and {m('tenant', tenant)} (\"the Tenant\").",
        f"THIS AGREEMENT, dated {m('signed', on(signed))}, is entered into by {m('landlord', landlord)}, hereinafter the Landlord, acting through its managing agent {m('agent', agent)}, and {m('tenant', tenant)}, hereinafter the Tenant.",
    ])  # fmt: skip
    clauses = [
        f"Premises. The Landlord lets to the Tenant the dwelling known as {m('home', home)}, together with parking bay {m('bay', bay)}.",
        f"Term. The tenancy begins on {m('start', on(start))} and ends on {m('end', on(end))}, being a term of {m('months', words)} ({m('months', months)}) months.",
        f"Rent. The Tenant shall pay {m('rent', cash(rent))} per month, in advance, on or before the {m('due', due)} day of each month. A further {m('parking', cash(parking))} per month is payable for the parking bay.",
        f"Late payment. If rent remains unpaid {m('grace', grace)} days after it falls due, a late charge of {m('late', cash(late))} applies to each missed payment.",
        f"Security deposit. Upon signing, the Tenant has lodged {m('deposit', cash(deposit))} as security, returnable within 21 days of the end of the tenancy.",
        f"Review. On each anniversary the Landlord may raise the rent by no more than {m('rise', rise + '%')}.",
        f"Notice. Either party may terminate by giving {m('notice', notice)} days' written notice.",
        f"Use. Pets {m('pets', 'are permitted' if pets else 'are not permitted')} on the premises. The Tenant {m('sublet', 'may sublet' if sublet else 'may not sublet')} the premises. Water charges {m('water', 'are included' if water else 'are not included')} in the rent.",
    ]
    tail = clauses[4:]
    dice.shuffle(tail)
    body = [wrap(f"{number}. {clause}") for number, clause in enumerate(clauses[:4] + tail, 1)]
    law = dice.choice(["England and Wales", "the State of Delaware", "Ontario"])
    body += [
        wrap(
            f"This agreement is governed by the laws of {m('law', law)}. It replaces all earlier understandings between the parties."
        ),
        f"Landlord: ____________________        Tenant: ____________________\n\nLease ref. {m('ref', f'RL-{dice.randint(1000, 9999)}/{signed:%y}')}   Page 1 of 1",
    ]
    draft.schema = {
        "properties": {
            "rent_due_day": {"description": "Day of the month by which rent must be paid"},
            "notice_days": {"description": "Days of notice needed to end the tenancy"},
            "max_increase": {"description": "Highest yearly increase of the rent"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("landlord", landlord, "landlord", traps="prose accents")
    claims("tenant_name", tenant, "tenant", agent, "other_role", traps="prose accents")
    draft.says("managing_agent", agent, "agent", traps="prose accents")
    draft.says("premises_address", home, "home", traps="prose broken_line")
    draft.says("parking_bay", bay.lower(), "bay", traps="prose")
    draft.says("agreement_date", signed, "signed", traps="prose date_forms")
    draft.says("lease_start", start, "start", traps="prose date_forms")
    claims("lease_end", end, "end", signed, "other_role", traps="prose date_forms")
    draft.says("term_months", months, "months", traps="prose number_words")
    draft.says("monthly_rent", rent, "rent", traps="prose currency repeated_role", elsewhere=rent == deposit)
    draft.says("security_deposit", deposit, "deposit", traps="prose currency repeated_role", elsewhere=rent == deposit)
    claims("late_fee", late, "late", parking, "other_role", traps="prose currency")
    draft.says("parking_fee", parking, "parking", traps="prose currency")
    draft.says("rent_due_day", int(due[:-2]), "due", traps="prose", inside=True)
    draft.says("grace_period_days", grace, "grace", traps="prose")
    claims("notice_days", notice, "notice", 21, "other_role", traps="prose")
    draft.says("max_increase", Decimal(rise) / 100, "rise", traps="prose percent")
    claims("pets_allowed", pets, "pets", not pets, "negated", traps="boolean prose", inside=True)
    claims("subletting_allowed", sublet, "sublet", not sublet, "negated", traps="boolean prose", inside=True)
    claims("water_included", water, "water", not water, "negated", traps="boolean prose", inside=True)
    draft.says("governing_law", law, "law", traps="prose")
    draft.says("lease_reference", words_of(body[-1], "ref").replace("/", " "), "ref", traps="id_spacing footer")
    draft.empty("annual_rent", rent * 12, "computable")
    draft.empty("guarantor", None, "none")
    draft.empty("pet_deposit", None, "none")
    draft.empty("break_clause_date", None, "none")
    draft.empty("total_monthly_payment", rent + parking, "computable")
    return as_text("\n\n".join([dice.choice(["RESIDENTIAL LEASE", "TENANCY AGREEMENT"]), wrap(opening), *body]))


def amendment_docx(dice: random.Random, draft: Draft) -> Made:
    """An employment contract amended: every term twice, as it was and as it will be; a summary table in some."""
    firm = dice.choice(pools.COMPANIES)
    person, boss = dice.sample(pools.PEOPLE, 2)
    first = clear_day(dice, date(2017, 1, 1), 900)
    signed = clear_day(dice)
    since = signed + timedelta(days=dice.randint(10, 60))
    old_job, new_job = dice.sample(["Account Manager", "Plant Supervisor", "Senior Analyst", "Regional Sales Lead", "Systems Engineer"], 2)  # fmt: skip
    old_pay = Decimal(dice.randint(380, 700) * 100)
    new_pay = old_pay + dice.randint(20, 120) * 100
    (old_hours, new_hours), (old_notice, new_notice) = dice.sample([30, 32, 35, 40], 2), dice.sample([4, 6, 8, 12], 2)
    old_bonus, new_bonus = dice.sample(["5", "7.5", "10", "12.5"], 2)
    cash, on = dice.choice(CASH_STYLES), dice.choice([pools.uk_long, pools.us_long, pools.short])
    number, staff = dice.randint(2, 4), f"E-{dice.randint(10000, 99999)}"
    probation, remote = (dice.random() < 0.5 for _ in range(2))
    tabled = dice.random() < 0.5
    terms = [
        ("job", "Position", "Position", old_job, new_job),
        ("pay", "Base salary", "Annual base salary", cash(old_pay), cash(new_pay)),
        ("hours", "Working time", "Weekly hours", f"{old_hours} hours per week", f"{new_hours} hours per week"),
        ("notice", "Notice", "Notice period", f"{old_notice} weeks", f"{new_notice} weeks"),
        ("bonus", "Bonus", "Target bonus", f"{old_bonus}%", f"{new_bonus}%"),
    ]

    def marked(key: str, words: str) -> str:
        count, _, unit = words.partition(" ")
        return f"{m(key, count)} {unit}" if unit.endswith(("week", "weeks")) else m(key, words)

    rows: list[str | list[str]] = [
        f"AMENDMENT No. {m('number', number)} TO THE EMPLOYMENT AGREEMENT",
        f'between {m("firm", firm)} (the "Employer") and {m("person", person)}, personnel no. {m("staff", staff)} (the "Employee")',
        f'The parties signed an employment agreement on {m("first", on(first))} (the "Agreement"). By this amendment, concluded on {m("signed", on(signed))}, they change it as follows, with effect from {m("since", on(since))}.',
    ]
    if tabled:
        rows += [["Term", "Previously", "As amended"]]
        rows += [
            [title, marked(f"{key}_old", old), marked(f"{key}_new", new)] for key, _, title, old, new in dice.sample(terms, 5)
        ]  # fmt: skip
    else:
        for at, (key, title, _, old, new) in enumerate(dice.sample(terms, 5), 1):
            old_words, new_words = marked(f"{key}_old", old), marked(f"{key}_new", new)
            rows.append(
                f"{at}. {title}. "
                + dice.choice(
                    [
                        f'The words "{old_words}" are deleted and replaced by "{new_words}".',
                        f"Instead of {old_words} as hitherto, {new_words} shall apply.",
                        f"Changed from {old_words} to {new_words}.",
                    ]
                )
            )
    rows += [
        f"A new probationary period {m('probation', 'applies' if probation else 'does not apply')}. The Employee {m('remote', 'may work remotely' if remote else 'may not work remotely')}. All other provisions of the Agreement remain in force.",
        f"For the Employer: {m('boss', boss)}, {m('boss_job', 'Head of People')}",
        f"The Employee: {m('signer', person)}",
    ]
    draft.schema = {
        "properties": {
            "previous": {"description": "Terms before this amendment"},
            "amended": {"description": "Terms once this amendment takes effect"},
        }
    }
    claims = Claims(draft=draft, dice=dice, share=0.3)
    draft.says("amendment_number", number, "number", traps="title")
    draft.says("employer", firm, "firm", traps="prose accents")
    draft.says("employee", person, "person", "signer", traps="prose accents")
    draft.says("employee_number", staff.replace("-", ""), "staff", traps="id_spacing")
    draft.says("original_agreement_date", first, "first", traps="prose date_forms")
    claims("amendment_date", signed, "signed", since, "other_role", traps="prose date_forms")
    claims("effective_date", since, "since", first, "other_role", traps="prose date_forms")
    for path, key, old_value, new_value, traps in (
        ("job_title", "job", old_job, new_job, "before_after"),
        ("base_salary", "pay", old_pay, new_pay, "before_after currency"),
        ("weekly_hours", "hours", old_hours, new_hours, "before_after"),
        ("notice_weeks", "notice", old_notice, new_notice, "before_after"),
        ("bonus_target", "bonus", Decimal(old_bonus) / 100, Decimal(new_bonus) / 100, "before_after percent"),
    ):
        draft.says(f"previous.{path}", old_value, f"{key}_old", traps=traps)
        claims(f"amended.{path}", new_value, f"{key}_new", old_value, "other_role", traps=traps)
    claims("probation_applies", probation, "probation", not probation, "negated", traps="boolean prose", inside=True)
    claims("remote_work_allowed", remote, "remote", not remote, "negated", traps="boolean prose", inside=True)
    draft.says("employer_signatory", boss, "boss", traps="signature accents")
    draft.says("employer_signatory_title", "Head of People", "boss_job", traps="signature")
    draft.empty("salary_increase", new_pay - old_pay, "computable")
    draft.empty("relocation_allowance", None, "none")
    draft.empty("company_car", None, "none")
    draft.empty("bonus_amount", new_pay * Decimal(new_bonus) / 100, "computable")
    draft.empty("non_compete_months", None, "none")
    return as_docx(rows)


def thread_text(dice: random.Random, draft: Draft) -> Made:
    """A mail thread, newest first, the older ones quoted: three prices, one of them agreed; dates that were moved."""
    seller, buyer = dice.sample(pools.PEOPLE, 2)
    shop, client = dice.sample(pools.COMPANIES, 2)
    goods, units = dice.choice(pools.GOODS), dice.randint(12, 90)
    days = [clear_day(dice)]
    for _ in range(2):
        days.append(days[-1] + timedelta(days=dice.randint(1, 5)))
    times = [f"{dice.randint(8, 17):02d}:{dice.randint(10, 59)}" for _ in days]
    cash, on = dice.choice(CASH_STYLES), dice.choice([pools.uk_long, pools.us_long])
    asked = Decimal(dice.randint(300, 900) * 50)
    bid = asked - dice.randint(41, 80) * 50
    deal = asked - dice.randint(5, 40) * 50
    wished, promised = days[2] + timedelta(days=20), days[2] + timedelta(days=dice.randint(24, 45))
    order, terms, warranty = f"PO-{dice.randint(20000, 99999)}", dice.choice([14, 30, 45]), dice.choice([18, 24, 36])
    freight, assembly = (dice.random() < 0.5 for _ in range(2))

    def mail(name: str, index: int) -> str:
        last = name.rsplit(maxsplit=1)[-1].lower().replace("'", "")
        plain = last.encode("ascii", "ignore").decode() or "office"
        return m(f"mail{index}", f"{plain}@{('buyer', 'seller')[index % 2]}.example")

    subject = dice.choice(["Your quotation of last week", "Price and delivery", "Our enquiry"])
    oldest = whole(
        f"Dear {buyer.split()[0]},\n\nThank you for your enquiry. We can offer {m('units', units)} units of {m('goods', goods)} for {m('asked', cash(asked))} in all. Every unit carries {m('warranty', warranty)} months' warranty.\n\n{m('name0', seller)}\n{m('shop', shop)}", 70)  # fmt: skip
    middle = whole(
        f"Hello {seller.split()[0]},\n\nthat is above our budget. Could you do {m('bid', cash(bid))}? We would need the goods by {m('wished', on(wished))} at the latest, payment {m('terms', terms)} days after delivery.\n\n{m('name1', buyer)}\n{m('client', client)}", 72)  # fmt: skip
    newest = whole(
        f"Hi {buyer.split()[0]},\n\n"
        + dice.choice(
            [
                f"we cannot go that low, but let us settle on {m('deal', cash(deal))}.",
                f"meeting you halfway: the agreed price is {m('deal', cash(deal))}.",
            ]
        )
        + f" Your payment terms are fine with us. Your date is too tight for our workshop; we will deliver on {m('promised', on(promised))}. {m('freight', 'Freight is included' if freight else 'Freight is not included')} and {m('assembly', 'assembly is part of the deal' if assembly else 'assembly is not part of the deal')}. I have entered it under order no. {m('order', order)}.\n\nBest\n{m('name2', seller)}",
        74,
    )
    header = dice.choice(["On {when} at {clock}, {name} <{mail}> wrote:", "{name} <{mail}> wrote on {when}, {clock}:"])

    def heading(index: int, name: str) -> str:
        when = m(f"day{index}", on(days[index]))
        clock = m(f"time{index}", times[index])
        return header.format(when=when, clock=clock, name=m(f"name{index}", name), mail=mail(name, index + 1))

    text = "\n".join([
        f"From: {m('name2', seller)} <{mail(seller, 3)}>",
        f"To: {buyer}",
        f"Sent: {m('day2', on(days[2]))} {m('time2', times[2])}",
        f"Subject: Re: Re: {m('subject', subject)}",
        "",
        newest,
        "",
        heading(1, buyer),
        quoted(middle, ">"),
        ">",
        quoted(heading(0, seller), ">"),
        quoted(oldest, ">>"),
        "",
        "This e-mail is confidential. If you are not the intended recipient, delete it.",
    ])  # fmt: skip
    draft.schema = {
        "properties": {
            "asking_price": {"description": "What the seller first wanted"},
            "counter_offer": {"description": "What the buyer proposed"},
            "messages": {"description": "Newest first"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("subject", subject, "subject", traps="label")
    draft.says("product", goods, "goods", traps="prose")
    draft.says("quantity", units, "units", traps="prose")
    draft.says("asking_price", asked, "asked", traps="thread currency")
    draft.says("counter_offer", bid, "bid", traps="thread currency")
    claims("agreed_price", deal, "deal", bid, "other_role", traps="thread currency")
    draft.says("requested_delivery_date", wished, "wished", traps="thread date_forms")
    claims("confirmed_delivery_date", promised, "promised", wished, "other_role", traps="thread date_forms")
    draft.says("payment_days", terms, "terms", traps="thread prose")
    draft.says("warranty_months", warranty, "warranty", traps="thread prose")
    claims("freight_included", freight, "freight", not freight, "negated", traps="boolean prose", inside=True)
    claims("assembly_included", assembly, "assembly", not assembly, "negated", traps="boolean prose", inside=True)
    draft.says("order_number", order.replace("-", " "), "order", traps="id_spacing")
    draft.says("seller_company", shop, "shop", traps="thread signature accents")
    claims("buyer_company", client, "client", shop, "other_role", traps="thread signature accents")
    for index, who in ((2, seller), (1, buyer), (0, seller)):
        path = f"messages[{2 - index}]"
        draft.says(f"{path}.sender", who, f"name{index}", traps="thread accents", elsewhere=index != 1)
        claims(f"{path}.sent_on", days[index], f"day{index}", days[index - 1], "other_row", traps="thread date_forms")
        draft.says(f"{path}.sent_at", times[index], f"time{index}", traps="thread")
    draft.empty("discount", asked - deal, "computable")
    draft.empty("invoice_number", None, "none")
    draft.empty("delivery_address", None, "none")
    draft.empty("price_per_unit", pools.cents(deal / units), "computable")
    draft.empty("vat_rate", None, "none")
    return as_text(text)


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (
    lease_text,
    amendment_docx,
    thread_text,
    discharge_docx,
    claim_markdown,
    press_pdf,
)
