"""Layouts kept out of tuning: a bill of lading, a school report, a crop bulletin, race results, a data sheet."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import clear_day, eu, murky_day, short, swapped, uk_long, us
from tests.evidence.corpus.seen import aligned, m, wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]
DASHES = ("-", "\u2013", "\u2212")  # hyphen, en dash, minus sign
Layout = Callable[[random.Random, Draft], Made]


@dataclass(frozen=True, slots=True)
class Pen:
    """Writes a value into the text and its label into the draft at once; the mark bears the field's path."""

    dice: random.Random
    draft: Draft

    def __call__(
        self,
        path: str,
        value: Any,
        words: object = None,
        traps: str = "",
        *,
        wrong: tuple[Any, str] | None = None,
        elsewhere: bool = False,
        inside: bool = False,
        also: str | None = None,
    ) -> str:
        """The words, marked, `also` names another mark in the same role; with `wrong`, every other time the result holds that value and must stay uncited."""
        shown = value if words is None else words
        if wrong is not None and wrong[0] != value and self.dice.random() < 0.5:
            self.draft.empty(path, wrong[0], f"{wrong[1]} contradicted")
            return str(shown)
        keys = (path, also) if also else (path,)
        self.draft.says(path, value, *keys, traps=traps, elsewhere=elsewhere, inside=inside)
        return m(path, shown)

    def flag(self, path: str, said: bool, phrase: str) -> str:
        """A phrase that says yes or no; every other time the result holds the opposite."""
        return self(path, said, phrase, "boolean", wrong=(not said, "negated"), inside=True)

    def none(self, *paths: str) -> None:
        """Fields that the document says nothing about."""
        for path in paths:
            self.draft.empty(path, None, "none")

    def computed(self, **fields: Any) -> None:
        """Values that stand nowhere and can only be worked out."""
        for path, value in fields.items():
            self.draft.empty(path, value, "computed")

    def mix(self) -> None:
        """Fields in another order than the document's, the same one in every element of a list, as a model has it."""
        ranks: dict[str, float] = {}
        self.draft.wanted.sort(key=lambda want: ranks.setdefault(re.sub(r"\d+", "", want.path), self.dice.random()))


def drawn(source: str) -> Made:
    """A PDF page written as lines: `y size x words ¦ x words`; a negative x is where the words end."""
    pdf = PdfDraft()
    for line in source.strip().splitlines():
        y, size, cells = line.split(" ", 2)
        for cell in cells.split("¦"):
            x, words = cell.strip().split(" ", 1)
            pdf.text(abs(float(x)), float(y), words, size=float(size), right=float(x) < 0)
    return pdf.done()


def lading_pdf(dice: random.Random, draft: Draft) -> Made:
    """A bill of lading: boxes with small labels above, containers in a table with a total, dates of two acts."""
    pen = Pen(dice, draft)
    shipper, consignee, agent = dice.sample(pools.COMPANIES, 3)
    loading, discharge, inland = dice.sample(["Rotterdam", "Santos", "Durban", "Felixstowe", "Busan", "Gdynia"], 3)
    boarded = murky_day(dice)
    issued = boarded + timedelta(days=dice.randint(1, 4))
    number, terms = dice.choice([us, eu]), dice.choice(["Prepaid", "Collect"])
    code = f"{dice.choice(['HLCU', 'MEDU', 'OOLU'])}{dice.randint(1000000, 9999999)}"
    book = f"BK {dice.randint(100, 999)} {dice.randint(1000, 9999)}"
    place = dice.choice([discharge, inland])
    same = place == discharge
    boxes: list[tuple[str, str, int, Decimal, Decimal]] = []
    rows = ""
    for i in range(dice.choice([2, 3])):
        weight, volume = Decimal(dice.randint(90000, 260000)) / 10, Decimal(dice.randint(200, 640)) / 10
        boxes.append(
            (
                f"TGHU {dice.randint(100000, 999999)}-{i}",
                f"SL{dice.randint(10000, 99999)}",
                dice.randint(100, 480),
                weight,
                volume,
            )
        )
        at, before = f"containers[{i}]", boxes[0]
        seal = pen(f"{at}.seal", boxes[i][1], None, "column_heading", wrong=(before[1], "other_row"))
        heavy = pen(f"{at}.gross_kg", weight, number(weight, 1), "column_heading", wrong=(before[3], "other_row"))
        rows += f"""{366 + 15 * i} 10 50 {pen(f"{at}.number", boxes[i][0].replace(" ", ""), boxes[i][0], "table_row id_spacing")} ¦ 150 {seal} ¦ -290 {pen(f"{at}.package_count", boxes[i][2], None, "column_heading")} ¦ -400 {heavy} ¦ -510 {pen(f"{at}.volume_cbm", volume, number(volume, 1), "column_heading")}\n"""
    end, total = 366 + 15 * len(boxes), sum((box[3] for box in boxes), Decimal(0))
    page = f"""50 15 50 {dice.choice(["BILL OF LADING", "OCEAN BILL OF LADING"])}
64 7 50 For port-to-port shipment or combined transport
90 7 50 {dice.choice(["Shipper", "Shipper / Exporter"])} ¦ 330 B/L No. ¦ 450 Booking ref.
102 10 50 {pen("shipper.name", shipper, None, "label_above accents")} ¦ 330 {pen("bl_number", code, None, "label_above")} ¦ 450 {pen("booking_ref", book.replace(" ", ""), book, "label_above id_spacing")}
114 10 50 {dice.choice(pools.STREETS)}
126 10 50 {dice.choice(pools.CITIES)}
150 7 50 Consignee ¦ 330 Export references ¦ 450 Forwarder's file
162 10 50 {pen("consignee.name", consignee, None, "label_above accents", wrong=(shipper, "other_role"))} ¦ 330 PO {dice.randint(10000, 99999)} ¦ 450 F/{dice.randint(100, 999)}
174 10 50 {dice.choice(pools.STREETS)}
210 7 50 {dice.choice(["Notify party", "Notify address"])}
222 10 50 {pen("notify_party.name", agent, None, "label_above accents", wrong=(consignee, "other_role"))}
234 10 50 {dice.choice(pools.CITIES)}
270 7 50 {dice.choice(["Vessel", "Ocean vessel"])} ¦ 200 Voyage No. ¦ 330 Port of loading
282 10 50 {pen("vessel", dice.choice(["MV Aurelia", "Ever Crown", "Maren Star"]), None, "label_above")} ¦ 200 {pen("voyage", f"{dice.randint(100, 499)}{dice.choice('EWNS')}", None, "label_above")} ¦ 330 {pen("port_of_loading", loading, None, "label_above", wrong=(discharge, "other_role"))}
304 7 50 Port of discharge ¦ 200 Place of delivery ¦ 330 Freight and charges
316 10 50 {pen("port_of_discharge", discharge, None, "label_above", elsewhere=same)} ¦ 200 {pen("place_of_delivery", place, None, "label_above", elsewhere=same)} ¦ 330 {pen("freight_terms", terms.lower(), terms.upper(), "enum")}
350 8 50 Container No. ¦ 150 Seal No. ¦ -290 Packages ¦ -400 Gross weight (kg) ¦ -510 Measurement (m3)
{rows}{end} 10 50 Total ¦ -290 {pen("total_packages", sum(box[2] for box in boxes), None, "repeated_role")} ¦ -400 {pen("total_gross_kg", total, number(total, 1), "repeated_role")}
{end + 40} 10 50 Shipped on board ¦ 200 {pen("on_board_date", boarded, short(boarded), "date_forms", wrong=(swapped(boarded), "swapped_date"))}
{end + 55} 10 50 Place and date of issue ¦ 200 {loading}, {pen("issued_on", issued, short(issued), "date_forms", wrong=(boarded, "other_role"))}
{end + 70} 10 50 Number of original Bs/L ¦ 200 {m("originals", "THREE")} ({m("originals", "3")}) ¦ 330 Declared value ¦ 450 N/A
{end + 100} 7 50 Received in apparent good order and condition unless otherwise stated. One original being accomplished, the others stand void."""
    draft.says("originals", 3, "originals", traps="number_words")
    draft.schema = {
        "properties": {
            "issued_on": {"description": "Date on which the bill of lading was issued"},
            "freight_terms": {"enum": ["prepaid", "collect"]},
        }
    }
    pen.none("declared_value", "transhipment_port")
    volumes = sum((box[4] for box in boxes), Decimal(0))
    pen.computed(average_gross_kg=round(total / len(boxes), 3), total_volume_cbm=volumes)
    pen.mix()
    return drawn(page)


def report_card_html(dice: random.Random, draft: Draft) -> Made:
    """A school report: subjects with score and target, attendance in a list, remarks in prose."""
    pen = Pen(dice, draft)
    pupil, tutor, head, *teachers = dice.sample(pools.PEOPLE, 8)
    born, starts = murky_day(dice, date(2009, 1, 1), 800), clear_day(dice, date(2025, 1, 6), 200)
    evening = starts + timedelta(days=dice.randint(9, 40))
    year, term = dice.choice([7, 8, 9, 10]), dice.choice(["Autumn", "Spring", "Summer"])
    marks = dice.sample(range(41, 99), 10)
    turn = dice.choice([1, -1])
    names = dice.sample(["Mathematics", "English", "History", "Physics", "Art and Design"], dice.choice([3, 4]))
    rows = ""
    for i, subject in enumerate(names):
        at, score, aim = f"subjects[{i}]", marks[2 * i], marks[2 * i + 1]
        wrong = (aim, "other_role") if i == 1 else (marks[0], "other_row") if i == 2 else None
        cells = [
            pen(f"{at}.score_pct", score, f"{score}%", "column_heading percent", wrong=wrong),
            pen(f"{at}.target_pct", aim, f"{aim}%", "column_heading percent"),
        ]
        rows += f"""<tr><td>{pen(f"{at}.name", subject, None, "table_row")}</td><td>{"</td><td>".join(cells[::turn])}</td><td>{pen(f"{at}.teacher", teachers[i], None, "column_heading accents")}</td></tr>\n"""
    rate = Decimal(dice.randint(880, 985)) / 10
    sessions, excused, unexcused = dice.randint(120, 190), dice.randint(5, 9), dice.randint(1, 4)
    up = dice.random() < 0.5
    moves = f"{'will move up' if up else 'will not move up'} to Year {year + 1}"
    source = f"""<html><body><h1>Ashgrove Community School</h1><p>58 Mill Lane, Leeds LS2 7EY &middot; Tel. 0113 496 0{dice.randint(100, 999)}</p>
<h2>Report for the {pen("term", term.lower(), term, "enum prose")} Term {starts.year}</h2>
<dl><dt>{dice.choice(["Pupil", "Name of pupil"])}</dt><dd>{pen("student.full_name", pupil, None, "label_above accents")}</dd>
<dt>Date of birth</dt><dd>{pen("student.dob", born, uk_long(born), "date_forms", wrong=(swapped(born), "swapped_date"))}</dd>
<dt>Admission No.</dt><dd>{pen("student.admission_no", str(dice.randint(10000, 99999)), None, "label_above")}</dd>
<dt>Class</dt><dd>{pen("student.class_name", f"{year}B", None, "label_above")}</dd>
<dt>Form tutor</dt><dd>{pen("form_tutor", tutor, None, "label_above accents", wrong=(head, "other_role"))}</dd></dl>
<table><tr><th>Subject</th><th>{"</th><th>".join(["Score", "Target"][::turn])}</th><th>Teacher</th></tr>
{rows}</table>
<h3>Attendance</h3><ul><li>Possible sessions: {pen("attendance.possible_sessions", sessions)}</li>
<li>Authorised absences: {pen("attendance.authorised_absences", excused, wrong=(unexcused, "other_row"))}</li>
<li>Unauthorised absences: {pen("attendance.unauthorised_absences", unexcused)}</li>
<li>Late {pen("attendance.times_late", dice.randint(10, 15))} times</li><li>Attendance rate {pen("attendance.rate", rate / 100, f"{rate:.1f}%", "percent")}</li></ul>
<h3>Tutor's remarks</h3><p>{pupil.split()[0]} {pen.flag("promoted", up, moves)}. {dice.choice(["A pleasing term.", "More care with homework would help."])}
The new term begins on {pen("next_term_starts", starts, uk_long(starts), "date_forms prose", wrong=(evening, "other_role"))}; we look forward to
seeing parents on {pen("parents_evening", evening, uk_long(evening), "date_forms prose")}.</p>
<p>Signed, {pen("head_teacher", head, None, "accents prose")}, Headteacher</p></body></html>"""
    promoted = {"description": "Whether the pupil moves up to the next year"}
    draft.schema = {"properties": {"promoted": promoted, "term": {"enum": ["autumn", "spring", "summer"]}}}
    pen.none("conduct_grade", "attendance.exclusions")
    pen.computed(sessions_attended=sessions - excused - unexcused)
    pen.mix()
    return as_html(source)


def harvest_markdown(dice: random.Random, draft: Draft) -> Made:
    """A weekly crop and weather bulletin: prose with shares, a table with three percent columns, signed degrees."""
    pen = Pen(dice, draft)
    week, frost = clear_day(dice), dice.random() < 0.5
    low, high = Decimal(dice.randint(-95, -11)) / 10, Decimal(dice.randint(101, 248)) / 10
    rain, normal = dice.sample([Decimal(n) / 10 for n in range(252, 480)], 2)
    dry, wet = dice.randint(5, 25), dice.randint(26, 40)
    price, days = Decimal(dice.randint(18000, 26000)) / 100, Decimal(dice.randint(11, 69)) / 10
    crops = dice.sample(["Maize", "Soybeans", "Winter wheat", "Spring barley", "Oilseed rape"], dice.choice([3, 4]))
    heads = [("planted_pct", "Planted"), ("planted_last_year_pct", "Last year"), ("five_year_avg_pct", "5-yr avg")]
    dice.shuffle(heads)
    figures = dice.sample(range(3, 98), 12)
    table = "| Crop | " + " | ".join(f"{head} (%)" for _, head in heads) + " |\n|:--|--:|--:|--:|"
    for i, crop in enumerate(crops):
        table += f"\n| {pen(f'crops[{i}].crop', crop, None, 'table_row')} |"
        for j, (name, _) in enumerate(heads):
            value, beside = figures[3 * i + j], figures[3 * i + (j + 1) % 3]
            wrong = (beside, "other_role") if (i, j) == (1, 0) else (figures[j], "other_row") if i == 2 else None
            table += f" {pen(f'crops[{i}].{name}', value, None, 'column_heading', wrong=wrong)} |"
    cold = pen("min_temp_c", low, dice.choice(DASHES) + f"{-low:.1f}", "negative", wrong=(-low, "other_sign")) + " °C"
    warm = pen("max_temp_c", high, f"{high:.1f}", "prose") + " °C"
    damage = "Frost damage was reported in several districts" if frost else "No frost damage was reported"
    source = f"""# {dice.choice(["Crop Progress and Weather", "Weekly Crop Bulletin"])}: {pen("region", dice.choice(["Upper Valley", "East Fens", "Lower Plains"]), None, "unlabelled")}

*Week ending {pen("week_ending", week, uk_long(week), "date_forms")}. Issue {pen("issue_no", dice.randint(100, 400))}. Next bulletin: {uk_long(week + timedelta(days=7))}.*

## Weather

Rainfall averaged {pen("rainfall_mm", rain, f"{rain:.1f}", "prose", wrong=(normal, "other_role"))} mm against a long-term normal of {pen("normal_rainfall_mm", normal, f"{normal:.1f}", "prose")} mm.
{dice.choice([f"Temperatures ranged from {cold} on Tuesday night to {warm} on Friday.", f"The lowest reading was {cold}; the highest, {warm}."])}
There were {pen("fieldwork_days", days, f"{days:.1f}", "prose")} days suitable for fieldwork. {pen.flag("frost_damage", frost, damage)}.

- **Topsoil moisture:** {pen("topsoil.short_pct", dry, f"{dry}%", "percent")} short, {pen("topsoil.adequate_pct", 100 - dry - wet, f"{100 - dry - wet}%", "percent")} adequate, {pen("topsoil.surplus_pct", wet, f"{wet}%", "percent", wrong=(dry, "other_role"))} surplus
- **Feed wheat, ex farm:** {pen("feed_wheat_price", price, f"£{us(price)}", "currency")} per tonne

## Progress

{table}

Figures are estimates by {dice.randint(40, 90)} correspondents. Reproduction is permitted with acknowledgement."""
    draft.schema = {
        "properties": {
            "min_temp_c": {"description": "Lowest temperature of the week, degrees Celsius"},
            "max_temp_c": {"description": "Highest temperature of the week, degrees Celsius"},
            "normal_rainfall_mm": {"description": "Long-term normal for the week"},
        }
    }
    pen.none("yield_forecast_t_ha", "wind_speed_max")
    pen.computed(mean_temp_c=(low + high) / 2, rainfall_departure_mm=rain - normal)
    pen.mix()
    return as_text(source)


def race_text(dice: random.Random, draft: Draft) -> Made:
    """Race results in fixed columns with abbreviated headings, the winner also in prose, the record below."""
    pen = Pen(dice, draft)
    people = dice.sample(pools.PEOPLE, 7)
    held, taken = clear_day(dice), [dice.randint(3700, 4200)]
    bibs = dice.sample(range(21, 400), 6)
    clubs = dice.sample(["Harriers AC", "TV Oberau", "Lakeside RC", "CA Montreuil", "Bison Athletics", "FC Vale"], 6)

    def clock(total: int) -> str:
        return f"{total // 3600}:{total % 3600 // 60:02d}:{total % 60:02d}"

    heads = (0, "Pos"), (6, "Bib"), (12, "Name"), (32, "Club"), (-58, "Time"), (-70, "Behind"), (-76, "Pts")
    lines = [aligned(*heads), "-" * 76]
    for i in range(3):
        taken.append(taken[-1] + dice.randint(5, 90))
        at, late = f"results[{i}]", taken[i] - taken[0]
        row = (
            pen(f"{at}.position", i + 1, None, "column_heading", elsewhere=True),
            pen(f"{at}.bib", bibs[i], None, "column_heading"),
            pen(f"{at}.runner", people[i], None, "table_row accents"),
            pen(f"{at}.club", clubs[i], None, "column_heading", wrong=(clubs[0], "other_row")),
            pen(f"{at}.finish_time", clock(taken[i]), None, "column_heading", wrong=(clock(taken[0]), "other_row")),
            pen(f"{at}.gap", f"+{late // 60}:{late % 60:02d}", None, "column_heading") if i else "-",
            str((25, 20, 16)[i]),
        )
        lines.append(aligned(*((column, cell) for (column, _), cell in zip(heads, row, strict=True))))
    out = pen("did_not_finish[0].runner", people[4], None, "row_label accents")
    lines.append(aligned((0, "DNF"), (6, str(bibs[5])), (12, out), (32, clubs[5])))
    if dice.random() < 0.5:
        lines.append(aligned((0, "DNS"), (6, str(bibs[4])), (12, "withdrawn"), (32, clubs[4])))
    starters, best, first = dice.randint(150, 380), clock(taken[0] - dice.randint(20, 200)), clock(taken[0])
    km = dice.choice(["15.2", "17.8", "21.1"])
    stood = dice.choice(["The course record was not broken", "The course record still stands"])
    winner = pen("winner", people[0], None, "prose accents", wrong=(people[1], "other_row"), also="results[0].runner")
    prose = f"""{winner} took the win in {m("results[0].finish_time", first)}. {pen("starters", starters, None, "prose")} runners started and {pen("finishers", starters - dice.randint(7, 19), None, "prose", wrong=(starters, "other_role"))} reached the finish. {pen.flag("record_broken", False, stood)}: {pen("course_record.time", best, None, "prose", wrong=(first, "other_role"))}, set by {pen("course_record.holder", people[5], None, "prose accents", wrong=(people[0], "other_role"))} in {pen("course_record.year", dice.randint(2004, 2019), None, "prose")}."""
    table = "\n".join(lines)
    source = f"""{pen("event", dice.choice(["Three Lakes Run", "Old Bridge Race", "Miners Trail Challenge"]), None, "unlabelled")} - OFFICIAL RESULTS
{pen("venue", dice.choice(["Grasmere", "Bad Tölz", "Annecy"]), None, "unlabelled")}, {pen("race_date", held, uk_long(held), "date_forms")}   Distance {pen("distance_km", Decimal(km), km)} km   Climb {pen("climb_m", dice.randint(410, 990))} m

{table}

{wrap(prose)}

Timekeeping: {pen("timekeeper", people[6], None, "accents")}. Protests within 30 minutes. Provisional until {uk_long(held + timedelta(days=3))}."""
    pen.none("prize_money", "wind_speed", "results[0].gap")
    pen.computed(average_speed_kmh=round(Decimal(km) * 3600 / taken[0], 2))
    pen.mix()
    return as_text(source)


def datasheet_pdf(dice: random.Random, draft: Draft) -> Made:
    """A product data sheet: minimum, typical and maximum in columns, blanks among them, ordering details below."""
    pen = Pen(dice, draft)
    part = f"{dice.choice(['PX', 'QLT', 'VRN'])}-{dice.randint(100, 999)}{dice.choice('ABC')}"
    out, free, lead = clear_day(dice), dice.random() < 0.5, dice.randint(3, 6)
    units = [("Supply voltage", "V"), ("Supply current", "mA"), ("Response time", "ms")]
    dice.shuffle(units)
    rows = ""
    for i, (label, unit) in enumerate(units):
        low, usual, most = (Decimal(n) / 10 for n in sorted(dice.sample(range(20 + 100 * i, 110 + 100 * i), 3)))
        name = label.lower().replace(" ", "_")
        rows += f"""{128 + 16 * i} 10 50 {label} ¦ -290 {pen(f"{name}.min", low, f"{low:.1f}", "column_heading")} ¦ -350 {pen(f"{name}.typ", usual, f"{usual:.1f}", "column_heading", wrong=(most, "other_role") if i else None)} ¦ -410 {pen(f"{name}.max", most, f"{most:.1f}", "column_heading", wrong=(low, "other_role"))} ¦ 450 {unit}\n"""
    cold, warm = dice.choice([-10, -20, -25]), dice.choice([60, 70, 85])
    for i, (label, least, high, other) in enumerate(
        (("Operating", cold, warm, warm + 20), ("Storage", cold - 15, warm + 20, warm))
    ):
        name, words = f"{label.lower()}_temp_c", dice.choice(DASHES[:2]) + str(-least)
        rows += f"""{176 + 16 * i} 10 50 {label} temperature ¦ -290 {pen(f"{name}.min", least, words, "negative column_heading", wrong=None if i else (-least, "other_sign"))} ¦ -350 \u2014 ¦ -410 {pen(f"{name}.max", high, None, "column_heading", wrong=(other, "other_row"))} ¦ 450 °C\n"""
        pen.none(f"{name}.typ")
    sizes = zip(("length", "width", "height"), dice.sample(range(41, 199, 2), 3), strict=True)
    cube = " x ".join(
        pen(f"dimensions_mm.{side}", Decimal(size) / 2, f"{size / 2:.1f}", "order_in_label") for side, size in sizes
    )
    page = f"""50 15 50 {pen("part_number", part, None, "unlabelled")} {dice.choice(["Pressure transmitter", "Flow sensor", "Level probe"])}
68 8 50 Data sheet rev. {pen("revision", dice.choice(["B", "C", "D"]) + str(dice.randint(2, 9)))} ¦ 330 Released {pen("released", out, uk_long(out), "date_forms")}
110 10 50 {dice.choice(["Parameter", "Characteristic"])} ¦ -290 Min. ¦ -350 Typ. ¦ -410 Max. ¦ 450 Unit
{rows}235 11 50 Mechanical
251 10 50 Dimensions (L x W x H) ¦ 250 {cube} mm
267 10 50 Weight ¦ 250 {pen("weight_g", dice.randint(410, 890))} g (packed {dice.randint(900, 1200)} g)
283 10 50 Ingress protection ¦ 250 {pen("ip_rating", dice.choice(["IP65", "IP67", "IP68"]))}
315 11 50 Ordering
331 10 50 Order code ¦ 250 {pen("order_code", f"{part}-01", f"{part} 01", "id_spacing")}
347 10 50 Minimum order ¦ 250 {pen("min_order_qty", dice.choice([5, 10, 50]))} pcs ¦ 330 Lead time ¦ 450 {pen("lead_time_weeks", lead)} weeks
379 8 50 {pen.flag("rohs_compliant", free, f"The device {'is' if free else 'is not'} RoHS compliant")}. Specifications are subject to change without notice.
391 8 50 {dice.choice(["Manufactured", "Made"])} by {pen("manufacturer", dice.choice(pools.COMPANIES), None, "accents footer")}, {dice.choice(pools.CITIES)}. © {out.year}. Warranty: {pen("warranty_months", dice.choice([24, 36]))} months from delivery."""
    pen.none("mtbf_hours", "unit_price")
    pen.computed(lead_time_days=7 * lead)
    pen.mix()
    return drawn(page)


LAYOUTS: tuple[Layout, ...] = (lading_pdf, report_card_html, harvest_markdown, race_text, datasheet_pdf)
