"""Layouts kept out of tuning: release notes, a building permit, a travel itinerary, a court docket."""

import random
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, as_docx, as_html, as_text
from tests.evidence.corpus.pools import clear_day, eu, money, murky_day, slash_us, swapped, uk_long, us, us_long
from tests.evidence.corpus.seen import m
from tests.evidence.corpus.unseen_fields import Layout, Made, Pen


def release_markdown(dice: random.Random, draft: Draft) -> Made:
    """Release notes: a facts list, one section per version with its date, fixes in prose and bullets, the licence."""
    pen = Pen(dice, draft)
    name, owner = dice.choice(["Fernwood", "Quillbase", "Tidepool", "Larkspur"]), dice.choice(pools.COMPANIES)
    major, minor = dice.randint(2, 6), dice.randint(4, 9)
    dated = clear_day(dice, date(2024, 1, 1), 600)
    ends = clear_day(dice, dated + timedelta(days=500), 300)
    sections, versions, days = "", [], []
    for i in range(dice.choice([2, 3])):
        versions.append(f"{major}.{minor - i}.{dice.randint(0, 4)}")
        days.append(dated)
        at, breaking = f"releases[{i}]", dice.random() < 0.5
        fixed, added = dice.sample(range(3, 40), 2)
        issue, wish = dice.sample(range(1200, 9800), 2)
        note = "This release contains breaking changes" if breaking else "This release contains no breaking changes"
        when = pen(f"{at}.released_on", dated, dated.isoformat(), "date_forms", wrong=(days[0], "other_row"))
        sections += f"""
## {pen(f"{at}.version", versions[i], None, "block", elsewhere=i == 0)} ({when})

{pen.flag(f"{at}.has_breaking_changes", breaking, note)}. It brings {pen(f"{at}.new_features", added, None, "prose")} new features and {pen(f"{at}.bugs_fixed", fixed, None, "prose", wrong=(added, "other_role"))} bug fixes by {pen(f"{at}.contributors", dice.randint(41, 90), None, "prose")} contributors.

- Fixed a deadlock on shutdown (#{issue})
- {dice.choice(["Faster", "Safer"])} import of large archives (#{wish})
"""
        dated -= timedelta(days=dice.randint(30, 120))
    size, memory = Decimal(dice.randint(210, 990)) / 10, dice.choice([2, 4, 8])
    licence, other = dice.sample(["Apache-2.0", "MIT", "MPL-2.0", "BSD-3-Clause"], 2)
    cves = [f"CVE-{days[0].year}-{dice.randint(10000, 49999)}" for _ in range(2)]
    facts = [
        f"- Current version: **{pen('latest_version', versions[0], None, 'beside', wrong=(versions[1], 'other_row'), also='releases[0].version')}**",
        f"- Download size: {pen('download_mb', size)} MB",
        f"- Requires Python {pen('python_min', dice.choice(['3.10', '3.11', '3.12']), None, 'adjacent_label')} or newer and at least {pen('ram_gb', memory, None, 'prose')} GB of memory",
        f"- Supported until {pen('support_ends', ends, us_long(ends), 'date_forms', wrong=(days[0], 'other_role'))}",
        f"- SHA-256 (first 16 digits): `{pen('checksum', f'{dice.getrandbits(64):016x}', None, 'id')}`",
    ]
    dice.shuffle(facts)
    listed = "\n".join(facts)
    source = f"""# {pen("product", name, None, "unlabelled")} release notes

{listed}
{sections}
## Security

{m("cve_ids[0]", cves[0])} and {m("cve_ids[1]", cves[1])} are resolved in {versions[0]}. Reported by {pen("reported_by", dice.choice(pools.PEOPLE), None, "prose accents")}.

## Licence

Copyright {days[-1].year - 3}-{days[0].year} {pen("copyright_holder", owner, None, "accents prose")}. Licensed under {pen("license", licence, None, "prose", wrong=(other, "other_role"))}; bundled fonts are under {pen("fonts_license", other, None, "prose")}. The software is provided "as is", without warranty of any kind."""
    for i, cve in enumerate(cves):
        draft.says(f"cve_ids[{i}]", cve, f"cve_ids[{i}]", traps="list prose")
    draft.schema = {"properties": {"ram_gb": {"description": "Minimum memory in gigabytes"}}}
    pen.none("homepage", "docker_image", "price_per_seat")
    pen.computed(days_since_previous=(days[0] - days[1]).days)
    pen.mix()
    return as_text(source)


def typed(source: str) -> Made:
    """A DOCX written as lines: `cell ¦ cell` is a row of a table, anything else a paragraph."""
    return as_docx([line.split(" ¦ ") if " ¦ " in line else line for line in source.splitlines()])


def permit_docx(dice: random.Random, draft: Draft) -> Made:
    """A building permit: label and value tables, fees with a total, inspections, conditions in prose."""
    pen = Pen(dice, draft)
    owner, builder, official, inspector = dice.sample(pools.PEOPLE, 4)
    site, mail = dice.sample(pools.STREETS, 2)
    issued = murky_day(dice)
    applied, expires = issued - timedelta(days=dice.randint(20, 60)), issued + timedelta(days=365)
    fees = [money(dice, 8_000, 90_000) for _ in range(3)]
    total = sum(fees, Decimal(0))
    owed = Decimal(dice.choice([50, 75, 120]))
    value, area, old = money(dice, 4_000_000, 40_000_000), dice.randint(1201, 2990), dice.randint(410, 990)
    parcel = f"{dice.randint(100, 999)}-{dice.randint(100, 999)}-{dice.randint(10, 99)}"
    sides = zip(("front", "rear", "side"), dice.sample(range(5, 41), 3), strict=True)
    yards = " ¦ ".join(pen(f"setbacks.{name}_ft", feet, None, "column_heading") for name, feet in sides)
    burn = dice.random() < 0.5
    stages = ["Footing", "Framing", "Rough electrical"][: dice.choice([2, 3])]
    held, checks = [issued + timedelta(days=30 * i + dice.randint(5, 20)) for i in range(1, 4)], ""
    for i, stage in enumerate(stages):
        at, verdict = f"inspections[{i}]", dice.choice(["Approved", "Correction required"])
        checks += f"""\n{pen(f"{at}.stage", stage, None, "table_row")} ¦ {pen(f"{at}.inspected_on", held[i], us_long(held[i]), "date_forms column_heading", wrong=(held[0], "other_row"))} ¦ {pen(f"{at}.result", verdict, None, "column_heading", elsewhere=True)}"""
    costs = ""
    for label, path, fee, other in zip(
        ("Plan review", "Building permit fee", "State surcharge"),
        ("plan_review", "permit", "surcharge"),
        fees,
        (None, (fees[0], "other_row"), None),
        strict=True,
    ):
        costs += f"{label} ¦ {pen(f'fees.{path}', fee, '$' + us(fee), 'currency row_label', wrong=other)}\n"
    ban = f"Open burning on the site is {'permitted' if burn else 'prohibited'}"
    source = f"""City of {dice.choice(["Alder Falls", "Port Remy", "Cedar Point"])} - Building Department
{dice.choice(["BUILDING PERMIT", "RESIDENTIAL BUILDING PERMIT"])}
Permit No. ¦ {pen("permit_no", f"B{issued.year % 100}-{dice.randint(1000, 9999)}", None, "row_label")} ¦ Application No. ¦ {dice.randint(200000, 899999)}
Date issued ¦ {pen("issued_on", issued, us_long(issued), "date_forms", wrong=(swapped(issued), "swapped_date"))} ¦ Date of application ¦ {pen("applied_on", applied, us_long(applied), "date_forms")}
Expires ¦ {pen("expires_on", expires, us_long(expires), "date_forms", wrong=(issued, "other_role"))} ¦ Parcel (APN) ¦ {pen("parcel_no", parcel.replace("-", ""), parcel, "id_spacing")}
Job site: {pen("site_address", site, None, "beside", wrong=(mail, "other_role"))}
Owner: {pen("owner.name", owner, None, "accents")}, mailing address {mail}
Contractor: {pen("contractor.name", builder, None, "accents", wrong=(owner, "other_role"))}, State Lic. {dice.randint(100000, 199999)}
Description of work: {dice.choice(["Two-story addition at rear of dwelling", "New detached workshop with loft"])}. New floor area {pen("new_floor_area_sqft", area, us(Decimal(area), 0), "prose", wrong=(old, "other_role"))} sq ft, existing {pen("existing_floor_area_sqft", old, None, "prose")} sq ft. Valuation of work {pen("valuation", value, "$" + us(value), "currency")}.
Required setbacks in feet:
Front ¦ Rear ¦ Side
{yards}

Fee ¦ Amount
{costs}Total ¦ {pen("fees.total", total, "$" + us(total), "currency repeated_role")}
Paid with application ¦ {pen("fees.paid", total - owed, "$" + us(total - owed), "currency repeated_role", wrong=(total, "other_row"))}
Balance due ¦ {pen("fees.balance_due", owed, "$" + us(owed), "currency repeated_role")}

Inspection ¦ Date ¦ Result{checks}

Conditions: {pen.flag("open_burning_allowed", burn, ban)}. This permit becomes void if work does not begin within 180 days. Inspections are made by {inspector}.
Approved by {pen("building_official", official, None, "accents", wrong=(inspector, "other_role"))}, Building Official"""
    draft.schema = {"properties": {"new_floor_area_sqft": {"description": "Floor area added by the work, square feet"}}}
    pen.none("architect", "fees.penalty", "occupancy_group")
    pen.computed(total_floor_area_sqft=area + old)
    pen.mix()
    return typed(source)


def itinerary_html(dice: random.Random, draft: Draft) -> Made:
    """A travel itinerary: flights in a table, a hotel in labels and values, the fare with taxes, terms in small print."""
    pen = Pen(dice, draft)
    traveller, agent = dice.sample(pools.PEOPLE, 2)
    out = clear_day(dice, date(2025, 2, 1), 300)
    nights = dice.randint(3, 9)
    back, booked = out + timedelta(days=nights), out - timedelta(days=dice.randint(20, 90))
    cities = [("Lisbon", "LIS"), ("Copenhagen", "CPH"), ("Vienna", "VIE"), ("Athens", "ATH"), ("Dublin", "DUB")]
    start, hub, goal = dice.sample(cities, 3)
    legs = [(start, goal, out), (goal, start, back)]
    if dice.random() < 0.5:
        legs = [(start, hub, out), (hub, goal, out), (goal, start, back)]
    sign, write = dice.choice([("€", us), ("€", eu), ("£", us)])
    fare, taxes, rate = money(dice, 15_000, 60_000), money(dice, 3_000, 9_000), money(dice, 7_000, 19_000)
    insured = dice.random() < 0.5
    seats = [f"{n}{dice.choice('ACDF')}" for n in dice.sample(range(3, 33), 3)]
    rows, codes = "", dice.sample(range(200, 999), 3)
    for i, (origin, target, on) in enumerate(legs):
        at = f"flights[{i}]"
        leaves, lands = (
            f"{dice.randint(6, 12):02d}:{dice.randint(10, 59)}",
            f"{dice.randint(13, 22)}:{dice.randint(10, 59)}",
        )
        rows += f"""<tr><td>{pen(f"{at}.flight_no", f"TK{codes[i]}", f"TK {codes[i]}", "table_row id_spacing")}</td><td>{pen(f"{at}.date", on, uk_long(on), "column_heading", elsewhere=True)}</td><td>{origin[0]} ({pen(f"{at}.origin", origin[1], None, "column_heading paren_aside", wrong=(target[1], "other_role") if i == 0 else None, elsewhere=True)})</td><td>{pen(f"{at}.departs", leaves, None, "column_heading")}</td><td>{target[0]} ({pen(f"{at}.destination", target[1], None, "column_heading paren_aside", elsewhere=True)})</td><td>{pen(f"{at}.arrives", lands, None, "column_heading", wrong=(leaves, "other_role") if i == 1 else None)}</td><td>{pen(f"{at}.seat", seats[i], None, "column_heading", wrong=(seats[0], "other_row"))}</td></tr>\n"""
    stay, total = rate * nights, fare + taxes + rate * nights
    cover = "Travel insurance is included in this booking" if insured else "Travel insurance has not been purchased"
    parts = [
        f"""<h2>Flights</h2><table><tr><th>Flight</th><th>Date</th><th>From</th><th>Dep.</th><th>To</th><th>Arr.</th><th>Seat</th></tr>
{rows}</table><p>Checked baggage: {dice.choice([1, 2])} x 23 kg. Times are local.</p>""",
        f"""<h2>Hotel</h2><p><b>{dice.choice(["Hotel Miramar", "The Old Mill Inn", "Pension Edelweiss"])}</b><br>{dice.choice(pools.STREETS)}, {goal[0]}</p>
<table><tr><td>Check-in</td><td>{pen("hotel.check_in", out, uk_long(out), "row_label", wrong=(back, "other_role"), elsewhere=True)}</td></tr>
<tr><td>Check-out</td><td>{pen("hotel.check_out", back, uk_long(back), "row_label", elsewhere=True)}</td></tr>
<tr><td>Nights</td><td>{nights}</td></tr>
<tr><td>Rate per night</td><td>{pen("hotel.nightly_rate", rate, sign + write(rate), "currency", wrong=(stay, "other_role"))}</td></tr>
<tr><td>Room total</td><td>{pen("hotel.total", stay, sign + write(stay), "currency")}</td></tr></table>""",
    ]
    dice.shuffle(parts)
    source = f"""<html><body><h1>Your itinerary</h1>
<p>Booking reference <b>{pen("booking_reference", f"{dice.choice('QXZ')}{dice.randint(10, 99)}{dice.choice('KLM')}R{dice.randint(1, 9)}")}</b>, booked {pen("booked_on", booked, uk_long(booked), "date_forms", wrong=(out, "other_role"))} by {agent}</p>
<p>{dice.choice(["Traveller", "Passenger"])}: {pen("passenger", traveller, None, "accents", wrong=(agent, "other_role"))}</p>
{parts[0]}{parts[1]}
<h2>Price</h2><table><tr><td>Air fare</td><td>{pen("price.air_fare", fare, sign + write(fare), "currency row_label")}</td></tr>
<tr><td>Taxes and fees</td><td>{pen("price.taxes", taxes, sign + write(taxes), "currency row_label")}</td></tr>
<tr><td>Hotel</td><td>{m("hotel.total", sign + write(stay))}</td></tr>
<tr><td>Total</td><td>{pen("price.total", total, sign + write(total), "currency repeated_role")}</td></tr></table>
<p>{pen.flag("insured", insured, cover)}. Changes cost {sign}{dice.randint(60, 90)} per person. Refunds are made within 14 days.</p></body></html>"""
    insurance = {"description": "Whether travel insurance is part of the booking"}
    draft.schema = {
        "properties": {
            "insured": insurance,
            "hotel": {"properties": {"total": {"description": "Price of the whole stay"}}},
        }
    }
    pen.none("frequent_flyer_no", "car_rental.pickup_date", "meal_preference")
    pen.mix()
    return as_html(source)


def docket_text(dice: random.Random, draft: Draft) -> Made:
    """A court docket: captions, parties with counsel indented below, numbered entries with dates, a hearing, fees."""
    pen = Pen(dice, draft)
    judge, magistrate, first, second, clerk = dice.sample(pools.PEOPLE, 5)
    plaintiff, defendant = dice.sample(pools.COMPANIES, 2)
    filed = murky_day(dice)
    served = 13 - filed.day + dice.randint(0, 6)  # a date that can be read in one way only tells how the others are
    heard = clear_day(dice, filed + timedelta(days=120), 90)
    fee, claim = dice.choice([350, 402, 405]), money(dice, 8_000_000, 90_000_000)
    case = f"{dice.randint(1, 4)}:{filed.year % 100}-cv-{dice.randint(1000, 9999):05d}"
    acts = ["COMPLAINT", "SUMMONS ISSUED", "ANSWER", "MOTION TO DISMISS"]
    entries, when, days = "", filed, []
    for i, act in enumerate(acts[: dice.choice([3, 4])]):
        at, by = f"entries[{i}]", dice.choice(["Plaintiff", "Clerk", "Court"])
        days.append(when)
        pages = dice.randint(13, 60)
        entries += f"""{pen(f"{at}.number", i + 1, None, "column_heading", elsewhere=True)}   {pen(f"{at}.filed_on", when, slash_us(when), "column_heading day_month_context", wrong=(days[0], "other_row"), elsewhere=i == 0)}  {pen(f"{at}.title", act.title(), act, "column_heading")} ({pen(f"{at}.pages", pages, None, "prose")} pages). Entered by {by}.\n"""
        when += timedelta(days=served + i)
    demanded = dice.random() < 0.5
    jury = "A jury trial has been demanded" if demanded else "No jury trial has been demanded"
    facts = [
        f"Assigned to: Judge {pen('assigned_judge', judge, None, 'beside accents', wrong=(magistrate, 'other_role'))}",
        f"Referred to: Magistrate Judge {pen('magistrate_judge', magistrate, None, 'beside accents')}",
        f"Date Filed: {pen('date_filed', filed, slash_us(filed), 'day_month_context', wrong=(swapped(filed), 'swapped_date'), also='entries[0].filed_on')}",
        f"Demand: {pen('amount_demanded', claim, '$' + us(claim), 'currency')}",
        f"Nature of Suit: {pen('nature_of_suit_code', str(dice.choice([110, 190, 365])), None, 'beside')} {dice.choice(['Contract', 'Civil'])}",
    ]
    dice.shuffle(facts)
    listed = "\n".join(facts)
    source = f"""{dice.choice(["UNITED STATES DISTRICT COURT", "U.S. District Court"])}
{dice.choice(["Northern", "Southern"])} District of {dice.choice(["Iowa", "Georgia", "Ohio"])}
CIVIL DOCKET FOR CASE #: {pen("case_number", case.replace("-", " "), case, "id_spacing")}

{listed}

Plaintiff
{pen("plaintiff.name", plaintiff, None, "label_above accents", wrong=(defendant, "other_role"))}
    represented by {pen("plaintiff.counsel", first, None, "accents", wrong=(second, "other_role"))}
    {dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}

V.

Defendant
{pen("defendant.name", defendant, None, "label_above accents")}
    represented by {pen("defendant.counsel", second, None, "accents")}
    {dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}

#   Date Filed  Docket Text
{entries}
Filing fee of {pen("filing_fee", fee, f"${fee}", "currency prose")} paid, receipt number A{dice.randint(100000, 999999)}. {pen.flag("jury_demanded", demanded, jury)}.
{dice.choice(["A status conference is set for", "The pretrial conference will be held on"])} {pen("next_hearing.date", heard, us_long(heard), "date_forms prose", wrong=(filed, "other_role"))} at {pen("next_hearing.time", f"{dice.randint(8, 11)}:{dice.choice(['00', '15', '30'])} AM", None, "prose")} in Courtroom {pen("next_hearing.courtroom", f"{dice.randint(2, 9)}{dice.choice('ABC')}", None, "prose")}.
Clerk of court: {clerk}    Page 1 of 1"""
    draft.schema = {
        "properties": {
            "amount_demanded": {"description": "Sum claimed in the complaint, US dollars"},
            "next_hearing": {"description": "The next hearing or conference that the court has set"},
        }
    }
    pen.none("verdict", "damages_awarded", "date_terminated")
    pen.computed(days_to_hearing=(heard - filed).days)
    pen.mix()
    return as_text(source)


LAYOUTS: tuple[Layout, ...] = (release_markdown, permit_docx, itinerary_html, docket_text)
