"""More prose and letters: minutes, a house for sale, a curriculum vitae."""

import random
from datetime import date, timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, as_docx, as_text
from tests.evidence.corpus.pools import clear_day, murky_day, swapped
from tests.evidence.corpus.prose import CASH_STYLES, Claims, Made
from tests.evidence.corpus.seen import m, wrap


def minutes_docx(dice: random.Random, draft: Draft) -> Made:
    """Minutes of an association: who was there and who was not, a vote, sums approved and refused, tasks in sentences."""
    people = dice.sample(pools.PEOPLE, 8)
    chair, writer, here, there, away, treasurer, *doers = people
    held = murky_day(dice)
    before, following = held - timedelta(days=dice.randint(20, 40)), held + timedelta(days=dice.randint(20, 40))
    on = dice.choice([pools.dots, pools.slash_uk])
    number, place = (
        dice.randint(14, 88),
        dice.choice(["Community Hall, Room 2", "Quayside Library", "Upper Meeting Room"]),
    )
    opened, closed = f"19:{dice.choice(['00', '05', '15'])}", f"21:{dice.randint(10, 50)}"
    balance, roof, kitchen, dues = (Decimal(n) for n in dice.sample(range(1200, 9900, 50), 4))
    yes, no, none = dice.sample(range(2, 19), 3)
    cash = dice.choice(CASH_STYLES[:4])
    carried, minutes_ok = dice.random() < 0.5, dice.random() < 0.6
    jobs = [
        (name, what, clear_day(dice, held + timedelta(days=3), 60))
        for name, what in zip(doers, dice.sample(["obtain three quotes", "write to the council", "renew the insurance"], 2), strict=True)
    ]  # fmt: skip
    task = dice.choice(["{name} will {what} by {due}.", "{name} to {what} (due {due})."])
    sentences: list[str | list[str]] = [
        f"Held {m('held', on(held))} (day first), {m('place', place)}",
        f"Chair: {m('chair', chair)}. Minutes taken by: {m('writer', writer)}.",
    ]
    table: list[str | list[str]] = [
        ["Date (day first)", m("held", on(held))],
        ["Place", m("place", place)],
        ["Chair", m("chair", chair)],
        ["Minutes taken by", m("writer", writer)],
    ]
    heading = dice.choice([sentences, table])
    topics = [
        f"Finance. {treasurer}, treasurer, reported a bank balance of {m('balance', cash(balance))}. Outstanding subscriptions amount to {m('dues', cash(dues))}.",
        f"Roof repair. A budget of {m('roof', cash(roof))} was approved. A request for {m('kitchen', cash(kitchen))} for the kitchen {m('refused', 'was turned down')}.",
        f"Motion to change the statutes. {m('yes', yes)} in favour, {m('no', no)} against, {m('none', none)} abstained; the motion {m('carried', 'was carried' if carried else 'was not carried')}.",
    ]
    dice.shuffle(topics)
    rows: list[str | list[str]] = [
        f"Minutes of Committee Meeting No. {m('number', number)}",
        *heading,
        f"Present: {m('p0', here)}, {m('p1', there)}, {m('p2', treasurer)}",
        f"Apologies: {m('away', away)}",
        f"The chair opened the meeting at {m('opened', opened)}. The minutes of {m('before', on(before))} were {m('accepted', 'approved' if minutes_ok else 'not approved')}.",
        *topics,
        "Actions:",
        *(
            "- " + task.format(name=m(f"n{i}", n), what=m(f"w{i}", w), due=m(f"d{i}", pools.uk_long(d)))
            for i, (n, w, d) in enumerate(jobs)
        ),
        f"Next meeting: {m('next', on(following))}. The meeting closed at {m('closed', closed)}.",
    ]
    draft.schema = {
        "properties": {
            "absent_members": {"type": "array", "description": "Those who sent apologies"},
            "roof_budget": {"description": "Sum approved for the roof"},
            "unpaid_dues": {"description": "Subscriptions still outstanding"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("meeting_number", number, "number", traps="title")
    claims("meeting_date", held, "held", swapped(held), "swapped_date", traps="day_month_context")
    draft.says("location", place, "place", traps="unlabelled")
    claims("chair", chair, "chair", away, "other_role", traps="label accents")
    draft.says("minute_taker", writer, "writer", traps="label accents")
    for index, name in enumerate((here, there, treasurer)):
        draft.says(f"present[{index}]", name, f"p{index}", traps="label accents")
    claims("absent_members[0]", away, "away", here, "other_role", traps="label accents")
    draft.says("opened_at", opened, "opened", traps="prose")
    claims("closed_at", closed, "closed", opened, "other_role", traps="prose")
    draft.says("previous_meeting_date", before, "before", traps="prose date_forms")
    draft.says("next_meeting_date", following, "next", traps="label date_forms")
    claims("previous_minutes_approved", minutes_ok, "accepted", not minutes_ok, "negated", traps="boolean prose", inside=True)  # fmt: skip
    draft.says("bank_balance", balance, "balance", traps="prose currency")
    claims("unpaid_dues", dues, "dues", balance, "other_role", traps="prose currency")
    claims("roof_budget", roof, "roof", kitchen, "other_role", traps="prose currency")
    draft.says("motion.votes_for", yes, "yes", traps="prose")
    claims("motion.votes_against", no, "no", yes, "other_role", traps="prose")
    draft.says("motion.abstentions", none, "none", traps="prose")
    claims("motion.carried", carried, "carried", not carried, "negated", traps="boolean prose", inside=True)
    for index, (name, what, due) in enumerate(jobs):
        draft.says(f"actions[{index}].owner", name, f"n{index}", traps="bullet accents")
        draft.says(f"actions[{index}].task", what.capitalize(), f"w{index}", traps="bullet")
        claims(
            f"actions[{index}].due_date", due, f"d{index}", jobs[index - 1][2], "other_row", traps="bullet date_forms"
        )
    claims("kitchen_budget_approved", False, "refused", True, "negated", traps="boolean prose", inside=True)
    draft.empty("guest_speaker", None, "none")
    draft.empty("total_votes", yes + no + none, "computable")
    draft.empty("quorum", None, "none")
    return as_docx(rows)


def property_text(dice: random.Random, draft: Draft) -> Made:
    """A house for sale: the price and what it was, areas in two units, rooms as sentences, small print."""
    agent, person = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    home = f"{dice.choice(pools.STREETS)}, {dice.choice(pools.CITIES)}"
    price = Decimal(dice.randint(180, 640) * 1000)
    before = price + dice.randint(10, 30) * 1000
    sign = dice.choice(["£", "€", "$"])
    beds, baths = dice.randint(3, 6), dice.randint(1, 2)
    metres, feet, plot = dice.randint(78, 240), dice.randint(840, 2500), dice.randint(310, 990)
    built, redone = dice.randint(1890, 1968), dice.randint(2009, 2022)
    band, energy = dice.choice("CDEF"), dice.choice(["B", "C", "D"])
    service, ground, left = dice.randint(900, 2900), dice.randint(110, 390), dice.choice([87, 112, 125, 940])
    walk, drive = dice.sample(range(4, 24), 2)
    garage, chain, furnished = (dice.random() < 0.5 for _ in range(3))
    tenure = dice.choice(["leasehold", "leasehold", "share of freehold"])
    viewing = clear_day(dice)
    rooms = [
        (name, f"{dice.randint(45, 68) / 10}", f"{dice.randint(21, 44) / 10}")
        for name in dice.sample(
            ["Kitchen", "Sitting room", "Study", "Main bedroom", "Dining room"], dice.choice([2, 3])
        )
    ]
    reference = f"{dice.choice('KLM')}{dice.randint(1000, 9999)}-S"
    shown = dice.choice(["Guide price {new} (previously {old})", "Reduced from {old} - now offered at {new}"])
    top = [
        m("home", home),
        shown.format(new=m("price", f"{sign}{price:,.0f}"), old=m("before", f"{sign}{before:,.0f}")),
        "",
        wrap(f"A handsome period house with {m('beds', beds)} bedrooms and {m('baths', baths)} bathroom{'s' * (baths > 1)}, built in {m('built', built)} and renovated throughout in {m('redone', redone)}. The living space is {m('metres', metres)} sq m ({m('feet', f'{feet:,}')} sq ft) on a plot of {m('plot', plot)} sq m. The station is {m('walk', walk)} minutes away on foot; the airport {m('drive', drive)} minutes by car.", 80),
        "",
    ]  # fmt: skip
    told = [
        f"{m(f'r{i}', n)}: {m(f'l{i}', a)} m x {m(f'b{i}', b)} m." if dice.random() < 0.5 else f"{m(f'r{i}', n)} measuring {m(f'l{i}', a)} m by {m(f'b{i}', b)} m."
        for i, (n, a, b) in enumerate(rooms)
    ]  # fmt: skip
    facts = [
        f"Tenure: {m('tenure', tenure.capitalize())}, {m('left', left)} years remaining",
        f"Council tax band: {m('band', band)}",
        f"Energy rating: {m('energy', energy)}",
        f"Service charge: {m('service', f'{sign}{service:,}')} a year",
        f"Ground rent: {m('ground', f'{sign}{ground}')} a year",
    ]
    dice.shuffle(facts)
    close = wrap(
        f"The house {m('garage', 'comes with a garage' if garage else 'has no garage')}, is {m('furnished', 'sold furnished' if furnished else 'sold unfurnished')} and {m('chain', 'is chain-free' if chain else 'is not chain-free')}. Open house on {m('viewing', pools.uk_long(viewing))}; ask for {m('person', person)} at {m('agent', agent)}, quoting {m('reference', reference)}.",
        80,
    )
    draft.schema = {
        "properties": {
            "epc_rating": {"description": "Energy rating, a letter"},
            "floor_area_sqft": {"type": "integer"},
            "tenure": {"enum": ["freehold", "leasehold", "share_of_freehold"]},
            "walk_to_station_min": {"description": "Minutes on foot to the station"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("address", home, "home", traps="title")
    draft.says("asking_price", price, "price", traps="currency before_after")
    claims("previous_price", before, "before", price, "other_role", traps="currency before_after")
    draft.says("bedrooms", beds, "beds", traps="prose")
    claims("bathrooms", baths, "baths", beds, "other_role", traps="prose")
    draft.says("year_built", built, "built", traps="prose")
    claims("year_renovated", redone, "redone", built, "other_role", traps="prose")
    draft.says("floor_area_sqm", metres, "metres", traps="prose unit")
    draft.says("floor_area_sqft", feet, "feet", traps="prose unit paren_aside")
    claims("plot_sqm", plot, "plot", metres, "other_role", traps="prose unit")
    claims("walk_to_station_min", walk, "walk", drive, "other_role", traps="prose")
    for index, (name, length, breadth) in enumerate(rooms):
        draft.says(f"rooms[{index}].name", name, f"r{index}", traps="block")
        draft.says(f"rooms[{index}].length_m", float(length), f"l{index}", traps="pair")
        claims(f"rooms[{index}].width_m", float(breadth), f"b{index}", float(rooms[index - 1][2]), "other_row", traps="pair")  # fmt: skip
    draft.says("tenure", tenure.replace(" ", "_"), "tenure", traps="enum")
    draft.says("lease_years_remaining", left, "left", traps="label")
    claims("council_tax_band", band, "band", energy, "other_role", traps="label", elsewhere=band == energy)
    draft.says("epc_rating", energy, "energy", traps="label", elsewhere=band == energy)
    draft.says("service_charge", service, "service", traps="currency label")
    claims("ground_rent", ground, "ground", service, "other_role", traps="currency label")
    claims("has_garage", garage, "garage", not garage, "negated", traps="boolean prose", inside=True)
    claims("furnished", furnished, "furnished", not furnished, "negated", traps="boolean prose", inside=True)
    claims("chain_free", chain, "chain", not chain, "negated", traps="boolean prose", inside=True)
    draft.says("open_house_date", viewing, "viewing", traps="prose date_forms")
    draft.says("contact_person", person, "person", traps="prose accents")
    draft.says("agency", agent, "agent", traps="prose accents")
    draft.says("listing_ref", reference.replace("-", ""), "reference", traps="id_spacing prose")
    draft.empty("price_reduction", before - price, "computable")
    draft.empty("parking_spaces", None, "none")
    draft.empty("price_per_sqm", round(price / metres), "computable")
    draft.empty("flood_risk", None, "none")
    end = "Measurements are approximate. These particulars do not form part of any contract."
    return as_text("\n".join([*top, *told, "", *facts, "", close, "", end]))


def vita_text(dice: random.Random, draft: Draft) -> Made:
    """A curriculum vitae: jobs as blocks, periods in the heading or below it, figures inside the bullets."""
    name, referee = dice.sample(pools.PEOPLE, 2)
    firms = dice.sample(pools.COMPANIES, dice.choice([2, 3]))
    phone = f"+49 30 {dice.randint(1000, 9999)} {dice.randint(100, 999)}"
    mail = f"{dice.choice(['contact', 'hello', 'post'])}{dice.randint(10, 99)}@mailbox.example"
    born = clear_day(dice, date(1976, 1, 1), 6000)
    year, jobs = dice.randint(2021, 2024), []
    titles = dice.sample(
        ["Warehouse Manager", "Logistics Coordinator", "Supply Planner", "Forwarding Clerk"], len(firms)
    )
    below = dice.random() < 0.5
    for index, (firm, title) in enumerate(zip(firms, titles, strict=True)):
        since = year - dice.randint(2, 4)
        jobs.append((firm, title, since, None if index == 0 else year, dice.randint(3, 60), dice.randint(11, 39)))
        year = since
    lines = ["CURRICULUM VITAE" if dice.random() < 0.5 else "Résumé", "", m("name", name), f"{dice.choice(pools.STREETS)} · {m('phone', phone)} · {m('mail', mail)}", f"Born {m('born', dice.choice([pools.uk_long, pools.short])(born))}", "", "EXPERIENCE", ""]  # fmt: skip
    for index, (firm, title, since, until, team, saved) in enumerate(jobs):
        span = f"{m(f's{index}', since)} - {m(f'u{index}', until) if until else 'present'}"
        head = f"{m(f't{index}', title)}, {m(f'f{index}', firm)}"
        lines += [head, span] if below else [f"{span}   {head}"]
        lines += [
            f"  * {dice.choice(['Led a team of', 'Responsible for a staff of'])} {m(f'n{index}', team)}",
            f"  * {dice.choice(['Cut freight costs by', 'Reduced costs by'])} {m(f'c{index}', f'{saved}%')}",
            "",
        ]
    school, college = dice.sample(
        ["University of Leeds", "TU Delft", "Universidad de Sevilla", "Uppsala University"], 2
    )
    done, first = jobs[-1][2] - 1, jobs[-1][2] - 4
    grade = f"{dice.randint(30, 39) / 10}"
    tongues = dice.sample(
        [("German", "native"), ("English", "fluent"), ("Polish", "basic"), ("French", "intermediate")], 2
    )
    licence, travel = dice.random() < 0.5, dice.random() < 0.5
    wage, weeks = Decimal(dice.randint(48, 92) * 1000), dice.choice([4, 6, 12])
    lines += [
        "EDUCATION",
        "",
        f"MSc Logistics, {m('school', school)}, {m('done', done)} (grade point average {m('grade', grade)})",
        f"BSc Economics, {m('college', college)}, {m('first', first)}",
        "",
        "LANGUAGES",
        "",
        dice.choice([", ", "; "]).join(f"{m(f'g{i}', g)} ({m(f'v{i}', v)})" for i, (g, v) in enumerate(tongues)),
        "",
        wrap(f"I {m('licence', 'hold a driving licence' if licence else 'do not hold a driving licence')} and {m('travel', 'am willing to travel' if travel else 'am not willing to travel')}. My notice period is {m('weeks', weeks)} weeks; I expect a salary of {m('wage', f'{wage:,.0f} EUR')} a year. Reference: {m('referee', referee)}, {m('tie', 'former supervisor')}."),
    ]  # fmt: skip
    draft.schema = {
        "properties": {
            "full_name": {"description": "The person whose curriculum vitae this is"},
            "employment": {"type": "array", "description": "Newest first"},
            "gpa": {"description": "Grade point average of the highest degree"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    claims("full_name", name, "name", referee, "other_role", traps="unlabelled accents")
    draft.says("phone", phone.replace(" ", ""), "phone", traps="id_spacing unlabelled")
    draft.says("email", mail, "mail", traps="unlabelled")
    draft.says("birth_date", born, "born", traps="date_forms")
    for index, (firm, title, since, until, team, saved) in enumerate(jobs):
        path, near = f"employment[{index}]", jobs[index - 1]
        draft.says(f"{path}.employer", firm, f"f{index}", traps="block accents")
        claims(f"{path}.title", title, f"t{index}", near[1], "other_row", traps="block")
        draft.says(f"{path}.start_year", since, f"s{index}", traps="block range", elsewhere=index < len(jobs) - 1)
        if until is None:
            draft.empty(f"{path}.end_year", None, "none")
        else:
            draft.says(f"{path}.end_year", until, f"u{index}", traps="block range", elsewhere=True)
        draft.says(f"{path}.team_size", team, f"n{index}", traps="block")
        claims(f"{path}.cost_reduction", Decimal(saved) / 100, f"c{index}", Decimal(near[5]) / 100, "other_row", traps="block percent")  # fmt: skip
    for index, (place, key, at, when) in enumerate(((school, "school", "done", done), (college, "college", "first", first))):  # fmt: skip
        draft.says(f"education[{index}].institution", place, key, traps="row")
        claims(f"education[{index}].year", when, at, first if index == 0 else done, "other_row", traps="row")
    draft.says("gpa", Decimal(grade), "grade", traps="paren_aside")
    for index, (tongue, level) in enumerate(tongues):
        draft.says(f"languages[{index}].language", tongue, f"g{index}", traps="list")
        claims(f"languages[{index}].level", level, f"v{index}", tongues[index - 1][1], "other_row", traps="list")
    claims("has_driving_licence", licence, "licence", not licence, "negated", traps="boolean prose", inside=True)
    claims("willing_to_travel", travel, "travel", not travel, "negated", traps="boolean prose", inside=True)
    draft.says("notice_period_weeks", weeks, "weeks", traps="prose")
    draft.says("salary_expectation", wage, "wage", traps="prose currency")
    draft.says("reference_name", referee, "referee", traps="prose accents")
    draft.empty("years_of_experience", jobs[0][2] - jobs[-1][2], "computable")
    draft.empty("linkedin_url", None, "none")
    draft.empty("age_at_graduation", done - born.year, "computable")
    return as_text("\n".join(lines))
