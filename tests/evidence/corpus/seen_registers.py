"""Layouts of tables and records: a Spanish account, a timetable, a tensile test, an Italian XML invoice, a Dutch registry, a French income statement."""
# One line of a document is one line here:
# fmt: off

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_html, as_text
from tests.evidence.corpus.pools import cents, clear_day, eu, money, murky_day, slash_uk, swapped
from tests.evidence.corpus.seen import aligned, m
from tests.evidence.corpus.seen_statements import either

Made = tuple[Any, dict[str, list[tuple[int, int]]]]


def extracto_text(dice: random.Random, draft: Draft) -> Made:
    """A Spanish account statement: charge and deposit columns, a running balance, two dates per line."""
    holder = dice.choice(pools.PEOPLE)
    first = date(dice.choice([2023, 2024]), dice.randint(1, 11), 1)
    last = first + timedelta(days=27)
    iban = f"ES{dice.randint(10, 99)} {dice.randint(1000, 9999)} {dice.randint(1000, 9999)} {dice.randint(10, 99)} {dice.randint(10**9, 10**10 - 1)}"
    opening = balance = money(dice, 200_000, 900_000)
    concepts = dice.sample(["RECIBO AGUAS DEL NORTE", "TRANSFERENCIA A FAVOR DE R. DELGADO", "COMPRA TARJ. 4021 FERRETERIA SOL", "NOMINA CALDERON HERMANOS", "ABONO DEVOLUCION", "COMISION MANTENIMIENTO"], dice.choice([3, 4]))
    rows: list[tuple[date, date, str, Decimal, Decimal]] = []
    for at, concept in enumerate(concepts):
        amount = money(dice, 1_000, 90_000) * (1 if concept[:3] in ("NOM", "ABO") else -1)
        balance += amount
        rows.append((first + timedelta(days=3 + 6 * at), first + timedelta(days=4 + 6 * at), concept, amount, balance))
    charges = -sum((row[3] for row in rows if row[3] < 0), Decimal(0))
    lines = [
        dice.choice(["BANCO DEL LEVANTE, S.A.", "CAJA RURAL DE LA SIERRA"]) + "   Extracto de cuenta",
        f"Titular: {m('holder', holder)}",
        f"IBAN: {m('iban', iban)}      Oficina: {m('office', dice.randint(1000, 9999))}",
        f"Periodo: del {m('first', slash_uk(first))} al {m('last', slash_uk(last))}      Divisa: {m('currency', 'EUR')}",
        "",
        aligned((0, "F. operación"), (14, "F. valor"), (27, "Concepto"), (-76, dice.choice(["Cargo", "Debe"])), (-90, dice.choice(["Abono", "Haber"])), (-104, "Saldo")),
        aligned((27, "SALDO ANTERIOR"), (-104, m("opening", eu(opening)))),
    ]
    for at, (booked, valued, concept, amount, after) in enumerate(rows):
        lines.append(aligned((0, m(f"b{at}", slash_uk(booked))), (14, m(f"v{at}", slash_uk(valued))), (27, m(f"c{at}", concept)), (-76 if amount < 0 else -90, m(f"a{at}", eu(abs(amount)))), (-104, m(f"s{at}", eu(after)))))
    lines += [
        "",
        f"Total cargos: {m('charges', eu(charges) + ' EUR')}",
        f"Saldo final a {slash_uk(last)}: {m('closing', eu(balance) + ' EUR')}",
        f"Límite de descubierto autorizado: {m('overdraft', '600,00 EUR')}.  TAE descubierto: {m('rate', '7,25%')}",
        "Conserve este documento. Reclamaciones en el plazo de 60 días: Apartado 1200, 28080 Madrid.",
    ]
    draft.schema = {"properties": {"overdraft_rate": {"type": "number", "description": "TAE applied to overdrafts"}}}
    for path, value, key, traps in (
        ("account_holder", holder, "holder", "foreign accents"), ("iban", iban.replace(" ", ""), "iban", "foreign id_spacing"),
        ("branch_code", str(marked(lines, "office")), "office", "foreign"), ("currency", "EUR", "currency", "foreign repeated_role"),
        ("period_start", first, "first", "foreign prose"), ("period_end", last, "last", "foreign prose repeated_role"), ("opening_balance", opening, "opening", "foreign european_number"),
        ("closing_balance", balance, "closing", "foreign european_number repeated_role"), ("total_debits", charges, "charges", "foreign european_number"),
        ("overdraft_limit", Decimal("600.00"), "overdraft", "foreign european_number"), ("overdraft_rate", Decimal("0.0725"), "rate", "foreign percent"),
    ):
        draft.says(path, value, key, traps=traps, elsewhere="repeated" in traps)
    draft.empty("interest_earned", None, "none")
    draft.empty("swift_bic", None, "none")
    draft.empty("net_change", balance - opening, "computable")
    for at, (booked, valued, concept, amount, after) in enumerate(rows):
        path, side, other = f"transactions[{at}]", *(("debit", "credit") if amount < 0 else ("credit", "debit"))
        draft.says(f"{path}.booking_date", booked, f"b{at}", traps="foreign column_heading day_month_context")
        either(draft, at != 1, f"{path}.value_date", (valued, f"v{at}", "foreign column_heading day_month_context"), (booked, "other_role contradicted"))
        draft.says(f"{path}.description", concept, f"c{at}", traps="foreign table_row")
        if at == 2:
            draft.empty(f"{path}.{other}", abs(amount), "other_column contradicted")
        else:
            draft.says(f"{path}.{side}", abs(amount), f"a{at}", traps="foreign column_heading european_number")
        draft.says(f"{path}.balance", after, f"s{at}", traps="foreign column_heading european_number", elsewhere=at == len(rows) - 1)
    return as_text("\n".join(lines))


def marked(lines: list[str], key: str) -> str:
    """What the first mark of this key holds."""
    return "\n".join(lines).split(f"⟦{key}|")[1].split("⟧")[0]


def timetable_html(dice: random.Random, draft: Draft) -> Made:
    """A timetable, trains across or down: times at crossings, a dash where a train does not call, platforms, footnotes."""
    stations = dice.sample(["Alder Bridge", "Crowhurst", "Fenwick Park", "Marlow Quay", "St. Oswald", "Tarn Head"], 3)
    start = clear_day(dice)
    until = start + timedelta(days=dice.randint(100, 180))
    count, hour = 3, dice.randint(6, 9)
    skips = dice.randrange(count)
    trains: list[dict[str, Any]] = []
    for at in range(count):
        minute = dice.randint(1, 19)
        times = [f"{hour + 2 * at:02d}:{minute:02d}", f"{hour + 2 * at:02d}:{minute + dice.randint(15, 35):02d}", f"{hour + 2 * at + 1:02d}:{minute:02d}"]
        trains.append({"no": f"{dice.choice(['IC', 'RE'])} {dice.randint(1000, 4999)}", "times": times, "track": dice.choice(["2", "4", "5a"]), "days": dice.choice(["daily", "Mon\N{EN DASH}Fri", "Sat, Sun"])})
    heads = ["Train", *stations, dice.choice(["Platform", "Track"]), "Runs"]
    columns = [
        [m(f"no{at}", train["no"]), *("—" if at == skips and stop == 1 else m(f"t{at}{stop}", train["times"][stop]) for stop in range(3)), m(f"track{at}", train["track"]), m(f"days{at}", train["days"])]
        for at, train in enumerate(trains)
    ]
    named = [m("station" + str(at - 1), head) if 1 <= at <= 3 else head for at, head in enumerate(heads)]
    grid = [named, *columns] if dice.random() < 0.5 else [[head, *(column[at] for column in columns)] for at, head in enumerate(named)]
    table = "<table>" + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in grid) + "</table>"
    bikes = dice.random() < 0.5
    carried = "Bicycles are carried on all trains" if bikes else "Bicycles are not carried on these trains"
    fare = f"{dice.randint(4, 12)}.{dice.choice(['20', '50', '80'])}"
    page = (
        f"<html><body><h1>Line {m('line', 'R' + str(dice.randint(10, 60)))}: {m('station0', stations[0])} \N{EN DASH} {m('station2', stations[2])}</h1>"
        f"<p>Valid from {m('start', pools.uk_long(start))} until {m('until', pools.uk_long(until))}</p>{table}"
        f"<p>{m('bikes', carried)}. Single fare {m('fare', '£' + fare)}; children under {m('age', dice.choice([5, 6]))} travel free. All times are local. — = train does not call.</p>"
        f"<footer>Operated by {m('operator', dice.choice(['Northmoor Rail', 'Tarn Valley Trains']))}. Enquiries 08:00 to 20:00. Printed {pools.uk_long(start - timedelta(days=20))}.</footer></body></html>"
    )
    draft.schema = {"properties": {"child_free_below_age": {"type": "integer", "description": "Children younger than this pay nothing"}}}
    draft.says("line", marked([page], "line"), "line", traps="label")
    draft.says("valid_from", start, "start", traps="date_forms")
    draft.says("valid_to", until, "until", traps="date_forms")
    draft.says("operator", marked([page], "operator"), "operator", traps="prose")
    draft.says("single_fare", Decimal(fare), "fare", traps="currency prose")
    draft.says("child_free_below_age", int(marked([page], "age")), "age", traps="prose")
    either(draft, dice.random() < 0.5, "bicycles_allowed", (bikes, "bikes", "boolean"), (not bikes, "negated contradicted"), inside=True)
    draft.empty("return_fare", None, "none")
    draft.empty("return_fare_pence", int(Decimal(fare) * 200), "computable")
    wrong = dice.randrange(count)
    for at, train in enumerate(trains):
        draft.says(f"trains[{at}].number", train["no"].replace(" ", ""), f"no{at}", traps="crossing id_spacing")
        for stop in range(3):
            path = f"trains[{at}].stops[{stop}]"
            draft.says(f"{path}.station", stations[stop], f"station{stop}", traps="crossing")
            if at == skips and stop == 1:
                draft.empty(f"{path}.time", None, "none")
            elif at == wrong and stop == 2:
                draft.empty(f"{path}.time", trains[at - 1]["times"][2], "other_column contradicted")
            else:
                draft.says(f"{path}.time", train["times"][stop], f"t{at}{stop}", traps="crossing")
        draft.says(f"trains[{at}].platform", train["track"], f"track{at}", traps="crossing", elsewhere=True)
        if at == 0:
            draft.empty(f"trains[{at}].delay_minutes", None, "none")
    return as_html(page)


def tensile_pdf(dice: random.Random, draft: Draft) -> Made:
    """A test report: requirement, specimens and mean in one table, units under the headings, a verdict."""
    client, inspector = dice.choice(pools.COMPANIES), dice.choice(pools.PEOPLE)
    received = clear_day(dice)
    tested = received + timedelta(days=dice.randint(2, 9))
    steel = dice.choice([("S355J2", 355, 470, 22), ("S275JR", 275, 410, 23), ("P265GH", 265, 410, 22)])
    degrees = dice.choice([20, 21, 23])
    report, heat = f"TR-{dice.randint(10_000, 99_999)}/{dice.randint(1, 9)}", f"{dice.randint(100_000, 999_999)}"
    specimens = [(f"{dice.choice('TL')}{at + 1}", steel[1] + dice.randint(3, 60), steel[2] + dice.randint(3, 90), Decimal(steel[3] * 10 + dice.randint(5, 80)) / 10) for at in range(3)]
    sums = [Decimal(sum(row[1] for row in specimens)), Decimal(sum(row[2] for row in specimens)), sum((row[3] for row in specimens), Decimal(0))]
    means = [f"{total / 3:.{places}f}" for total, places in zip(sums, (1, 1, 2), strict=True)]
    pdf = PdfDraft()
    pdf.text(60, 60, "TENSILE TEST REPORT", size=14, font=1)
    pdf.row(90, [(60, "Report No."), (150, m("report", report)), (320, "Date received"), (430, m("received", pools.short(received)))])
    pdf.row(106, [(60, "Customer"), (150, m("client", client)), (320, "Date of test"), (430, m("tested", pools.short(tested)))])
    pdf.row(122, [(60, "Material"), (150, m("grade", steel[0])), (320, "Heat no."), (430, m("heat", heat))])
    pdf.row(138, [(60, "Standard"), (150, "ISO 6892-1:2019"), (320, "Temperature"), (430, f"{m('degrees', degrees)} °C")])
    pdf.row(170, [(60, "Specimen"), (-230, "Yield strength"), (-360, "Tensile strength"), (-470, "Elongation")])
    pdf.row(183, [(-230, "MPa"), (-360, "MPa"), (-470, "%")], size=8)
    pdf.row(201, [(60, "Required, min."), (-230, m("need0", steel[1])), (-360, m("need1", steel[2])), (-470, m("need2", steel[3]))])
    for at, (name, bend, snap, stretch) in enumerate(specimens):
        pdf.row(217 + 16 * at, [(60, m(f"k{at}", name)), (-230, m(f"y{at}", bend)), (-360, m(f"r{at}", snap)), (-470, m(f"e{at}", stretch))])
    pdf.row(265, [(60, "Mean"), (-230, m("mean0", means[0])), (-360, m("mean1", means[1])), (-470, m("mean2", means[2]))])
    retest = dice.random() < 0.5
    pdf.text(60, 300, f"Assessment: the specimens {m('verdict', dice.choice(['meet the requirements', 'conform to the specification']))} of {m('grade', steel[0])}.")
    pdf.text(60, 316, m("retest", "A retest was required." if retest else "No retest was required."))
    pdf.text(60, 350, m("inspector", inspector))
    pdf.text(60, 362, "Inspector in charge", size=7)
    pdf.text(60, 790, "Results relate only to the items tested. Accreditation no. 0417. Retention of specimens: 90 days.", size=7)
    draft.schema = {"properties": {"complies": {"type": "boolean", "description": "The specimens meet the requirements"}}}
    for path, value, key, traps in (
        ("report_number", report, "report", "label"), ("client", client, "client", "accents"), ("steel_grade", steel[0], "grade", "label"),
        ("heat_number", heat, "heat", "label"), ("tested_on", tested, "tested", "date_forms"), ("test_temperature_c", degrees, "degrees", "label"),
        ("inspector", inspector, "inspector", "label_below accents"), ("required_min.yield_strength", steel[1], "need0", "column_heading"),
        ("required_min.tensile_strength", steel[2], "need1", "column_heading"), ("mean.yield_strength", Decimal(means[0]), "mean0", "column_heading"), ("mean.elongation", Decimal(means[2]), "mean2", "column_heading"),
    ):
        draft.says(path, value, key, traps=traps)
    draft.empty("received_on", tested, "other_role contradicted")
    if dice.random() < 0.5:
        draft.says("complies", True, "verdict", traps="boolean", inside=True)
        draft.empty("retest_required", not retest, "negated contradicted")
    else:
        draft.empty("complies", False, "negated contradicted")
        draft.says("retest_required", retest, "retest", traps="boolean", inside=True)
    draft.empty("impact_energy_j", None, "none")
    draft.empty("yield_ratio", (sums[0] / sums[1]).quantize(Decimal("0.001")), "computable")
    draft.empty("mean.std_dev", Decimal("4.47"), "absent")
    for at, (name, bend, snap, stretch) in enumerate(specimens):
        path = f"specimens[{at}]"
        draft.says(f"{path}.id", name, f"k{at}", traps="table_row")
        either(draft, not (at == 0 and specimens[1][1] != bend), f"{path}.yield_strength_mpa", (bend, f"y{at}", "column_heading"), (specimens[1][1], "other_row contradicted"))
        draft.says(f"{path}.tensile_strength_mpa", snap, f"r{at}", traps="column_heading")
        draft.says(f"{path}.elongation_pct", stretch, f"e{at}", traps="column_heading")
        draft.empty(f"{path}.reduction_of_area_pct", None, "none")
    return pdf.done()


def fattura_text(dice: random.Random, draft: Draft) -> Made:
    """An Italian electronic invoice as XML: seller and buyer with the same tags, lines with numbers, a tax summary."""
    seller, buyer = dice.sample(pools.COMPANIES, 2)
    issued = clear_day(dice)
    due = issued + timedelta(days=30)
    number, rate = f"{dice.randint(1, 900)}/{issued.year}", dice.choice([10, 22])
    vats = [str(dice.randint(10**10, 10**11 - 1)) for _ in range(2)]
    rows = [(thing, dice.randint(2, 15), money(dice, 500, 40_000)) for thing in dice.sample(pools.GOODS, dice.choice([2, 3]))]
    net = sum((quantity * price for _, quantity, price in rows), Decimal(0))
    tax = cents(net * rate / 100)
    total, stamp = net + tax, Decimal("2.00")
    iban = f"IT{dice.randint(10, 99)}X{dice.randint(10**9, 10**10 - 1)}{dice.randint(10**11, 10**12 - 1)}"

    def party(tag: str, key: str, name: str, vat: str, town: str) -> list[str]:
        clean = name.replace("&", "e")
        return [f"  <{tag}>", "    <IdFiscaleIVA>", "      <IdPaese>IT</IdPaese>", f"      <IdCodice>{m('vat_' + key, vat)}</IdCodice>", "    </IdFiscaleIVA>", f"    <Denominazione>{m('name_' + key, clean)}</Denominazione>", f"    <Comune>{m('town_' + key, town)}</Comune>", f"  </{tag}>"]

    towns = dice.sample(["Bergamo", "Lecce", "Udine", "Parma"], 2)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>', '<FatturaElettronica versione="FPR12">', f"  <ProgressivoInvio>{dice.randint(1000, 9999)}</ProgressivoInvio>",
        *party("CedentePrestatore", "s", seller, vats[0], towns[0]), *party("CessionarioCommittente", "b", buyer, vats[1], towns[1]),
        "  <DatiGenerali>", "    <TipoDocumento>TD01</TipoDocumento>", f"    <Divisa>{m('currency', 'EUR')}</Divisa>", f"    <Data>{m('issued', issued)}</Data>", f"    <Numero>{m('number', number)}</Numero>",
        f"    <ImportoBollo>{m('stamp', stamp)}</ImportoBollo>", f"    <ImportoTotaleDocumento>{m('total', cents(total))}</ImportoTotaleDocumento>", "  </DatiGenerali>",
    ]
    for at, (thing, quantity, price) in enumerate(rows):
        lines += [
            "  <DettaglioLinee>", f"    <NumeroLinea>{at + 1}</NumeroLinea>", f"    <Descrizione>{m(f'd{at}', thing)}</Descrizione>", f"    <Quantita>{m(f'q{at}', f'{quantity}.00')}</Quantita>",
            f"    <PrezzoUnitario>{m(f'p{at}', cents(price))}</PrezzoUnitario>", f"    <PrezzoTotale>{m(f'a{at}', cents(quantity * price))}</PrezzoTotale>", f"    <AliquotaIVA>{m('line_rate', f'{rate}.00')}</AliquotaIVA>", "  </DettaglioLinee>",
        ]
    lines += [
        "  <DatiRiepilogo>", f"    <AliquotaIVA>{m('rate', f'{rate}.00')}</AliquotaIVA>", f"    <ImponibileImporto>{m('net', cents(net))}</ImponibileImporto>", f"    <Imposta>{m('tax', tax)}</Imposta>", "  </DatiRiepilogo>",
        "  <DatiPagamento>", "    <ModalitaPagamento>MP05</ModalitaPagamento>", f"    <DataScadenzaPagamento>{m('due', due)}</DataScadenzaPagamento>", f"    <ImportoPagamento>{m('pay', cents(total))}</ImportoPagamento>",
        f"    <IBAN>{m('iban', iban)}</IBAN>", "  </DatiPagamento>", "</FatturaElettronica>",
    ]
    draft.schema = {"properties": {"vat_rate": {"type": "number", "description": "Aliquota IVA in percent"}, "stamp_duty": {"type": "number", "description": "Imposta di bollo"}}}
    for path, value, keys, traps in (
        ("invoice_number", number, ["number"], "xml foreign"), ("issue_date", issued, ["issued"], "xml foreign"), ("currency", "EUR", ["currency"], "xml foreign"),
        ("seller.name", seller.replace("&", "e"), ["name_s"], "xml foreign accents"), ("seller.vat_id", vats[0], ["vat_s"], "xml foreign"), ("seller.city", towns[0], ["town_s"], "xml foreign"),
        ("buyer.name", buyer.replace("&", "e"), ["name_b"], "xml foreign accents"), ("buyer.city", towns[1], ["town_b"], "xml foreign"),
        ("net_amount", net, ["net"], "xml foreign"), ("vat_rate", rate, ["rate", "line_rate"], "xml foreign"), ("total_amount", total, ["total"], "xml foreign repeated_role"),
        ("payment.amount", total, ["pay"], "xml foreign repeated_role"), ("payment.iban", iban, ["iban"], "xml foreign"), ("stamp_duty", stamp, ["stamp"], "xml foreign"),
    ):
        draft.says(path, value, *keys, traps=traps, elsewhere="repeated" in traps)
    draft.empty("buyer.vat_id", vats[0], "other_role contradicted")
    draft.empty("payment.due_date", issued, "other_role contradicted")
    draft.empty("vat_amount", -tax, "other_sign contradicted")
    draft.empty("withholding_tax", None, "none")
    draft.empty("buyer.email", None, "none")
    draft.empty("discount_total", cents(net / 10), "absent")
    for at, (thing, quantity, price) in enumerate(rows):
        draft.says(f"lines[{at}].description", thing, f"d{at}", traps="xml foreign block")
        draft.says(f"lines[{at}].quantity", quantity, f"q{at}", traps="xml foreign block")
        either(draft, at != 1, f"lines[{at}].unit_price", (price, f"p{at}", "xml foreign block"), (rows[0][2], "other_row contradicted"))
        draft.says(f"lines[{at}].amount", quantity * price, f"a{at}", traps="xml foreign block")
    return as_text("\n".join(lines) + "\n")


def kvk_text(dice: random.Random, draft: Draft) -> Made:
    """A Dutch trade register extract: sections, equal capitals, directors as blocks, boxes, dates with dashes."""
    company, people = dice.choice(pools.COMPANIES), dice.sample(pools.PEOPLE, 2)
    founded, moved, printed = clear_day(dice, date(1990, 1, 1), 9000), murky_day(dice), clear_day(dice, date(2024, 1, 1), 500)
    born = [clear_day(dice, date(1955, 1, 1), 9000) for _ in people]
    since = [murky_day(dice) for _ in people]
    number, branch = f"{dice.randint(10_000_000, 89_999_999)}", f"{dice.randint(10**11, 10**12 - 1):012d}"
    issued, staff = Decimal(dice.choice([18_000, 20_000, 45_000])), dice.randint(3, 90)
    street = dice.choice(["Keizersgracht 214, 1016 DX Amsterdam", "Havenstraat 18, 3024 SC Rotterdam", "Stationsplein 7, 3511 ED Utrecht"])
    gap = dice.choice([26, 30])
    on, off = dice.choice([("[x]", "[ ]"), ("☒", "☐")])

    def dashed(day: date) -> str:
        return f"{day.day:02d}-{day.month:02d}-{day.year}"

    def line(label: str, value: str) -> str:
        return aligned((0, label), (gap, value))

    imports, exports = dice.random() < 0.5, dice.random() < 0.5
    sole = dice.randrange(2)
    lines = [
        "Uittreksel Handelsregister", line("KvK-nummer", m("number", number)), "", "Rechtspersoon",
        line("Statutaire naam", m("company", company)), line("Rechtsvorm", m("form", "Besloten Vennootschap")), line("Statutaire zetel", m("seat", dice.choice(["Haarlem", "Zwolle"]))),
        line("Datum akte van oprichting", m("founded", dashed(founded))), line("Geplaatst kapitaal", m("issued", f"EUR {eu(issued)}")), line("Gestort kapitaal", m("paid", f"EUR {eu(issued)}")), "",
        "Vestiging", line("Vestigingsnummer", m("branch", branch)), line("Bezoekadres", m("street", street)), line("Datum vestiging", m("moved", dashed(moved))), line("Werkzame personen", m("staff", staff)),
        line("Activiteiten", f"SBI-code: {m('sbi', dice.choice(['4673', '7112']))} - Groothandel en advies"),
        line("Import", m("imports", f"{on if imports else off} ja  {off if imports else on} nee")), line("Export", m("exports", f"{on if exports else off} ja  {off if exports else on} nee")), "",
    ]
    for at, person in enumerate(people):
        power = "Alleen/zelfstandig bevoegd" if at == sole else "Gezamenlijk bevoegd"
        lines += ["Bestuurder", line("Naam", m(f"n{at}", person)), line("Geboortedatum", m(f"b{at}", dashed(born[at]))), line("Datum in functie", m(f"s{at}", dashed(since[at]))), line("Bevoegdheid", m(f"p{at}", power)), ""]
    lines.append(f"Waarmerk: dit uittreksel is vervaardigd op {m('printed', dashed(printed))} om 09.41 uur. Blad 1 van 1.")
    draft.schema = {
        "properties": {
            "extract_date": {"type": "string", "format": "date", "description": "Day this extract was produced"},
            "sbi_code": {"type": "string"},
            "directors": {"type": "array", "items": {"properties": {"authority": {"type": "string", "description": "Bevoegdheid"}}}},
        }
    }
    for path, value, key, traps in (
        ("registration_number", number, "number", "foreign"), ("legal_name", company, "company", "foreign accents"), ("legal_form", "Besloten vennootschap", "form", "foreign"),
        ("registered_seat", marked(lines, "seat"), "seat", "foreign"), ("incorporation_date", founded, "founded", "foreign date_forms"), ("issued_capital", issued, "issued", "foreign repeated_role european_number"),
        ("paid_up_capital", issued, "paid", "foreign repeated_role european_number"), ("establishment.number", branch, "branch", "foreign"), ("establishment.address", street, "street", "foreign"),
        ("establishment.employees", staff, "staff", "foreign"), ("establishment.sbi_code", marked(lines, "sbi"), "sbi", "foreign"), ("extract_date", printed, "printed", "foreign prose date_forms"),
    ):
        draft.says(path, value, key, traps=traps, elsewhere="repeated" in traps)
    either(draft, dice.random() < 0.5, "establishment.opened_on", (moved, "moved", "foreign day_month_context"), (swapped(moved), "swapped_date contradicted"))
    for path, key, said in (("imports_goods", "imports", imports), ("exports_goods", "exports", exports)):
        either(draft, dice.random() < 0.5, f"establishment.{path}", (said, key, "foreign boolean_box"), (not said, "negated contradicted"), inside=True)
    draft.empty("authorised_capital", None, "none")
    draft.empty("website", None, "none")
    draft.empty("establishment.phone", None, "none")
    draft.empty("uncalled_capital", Decimal(0), "computable")
    wrong = dice.randrange(2)
    for at, person in enumerate(people):
        draft.says(f"directors[{at}].name", person, f"n{at}", traps="foreign block accents")
        either(draft, at != wrong, f"directors[{at}].date_of_birth", (born[at], f"b{at}", "foreign block date_forms"), (born[1 - at], "other_row contradicted"))
        draft.says(f"directors[{at}].in_office_since", since[at], f"s{at}", traps="foreign block day_month_context")
        draft.says(f"directors[{at}].authority", marked(lines, f"p{at}"), f"p{at}", traps="foreign block")
    return as_text("\n".join(lines))


_RESULT = [
    ("Chiffre d'affaires net", "revenue", (40_000, 95_000)), ("Autres produits", "other_income", (300, 900)), ("Achats consommés", "cost_of_materials", (-30_000, -12_000)),
    ("Charges de personnel", "personnel_expenses", (-11_000, -7_000)), ("Impôts et taxes", "taxes_and_duties", (-950, -300)), ("Dotations aux amortissements", "depreciation", (-3_900, -1_100)),
    ("Résultat d'exploitation", "operating_income", None), ("Résultat financier", "financial_result", (-900, 600)), ("Impôt sur les bénéfices", "income_tax", (-4_000, -1_000)), ("Résultat net", "net_income", None),
]


def _result_figures(dice: random.Random) -> dict[str, int]:
    figures: dict[str, int] = {}
    for _, field, bounds in _RESULT:
        if bounds:
            figures[field] = dice.randint(*bounds)
        elif field == "operating_income":
            figures[field] = sum(figures.values())
        else:
            figures[field] = figures["operating_income"] + figures["financial_result"] + figures["income_tax"]
    return figures


def resultat_html(dice: random.Random, draft: Draft) -> Made:
    """A French income statement in thousands: two years, a column of changes, blanks between digits, losses in either form."""
    company, year = dice.choice(pools.COMPANIES).replace("&", "et"), dice.choice([2021, 2022, 2023])
    now, then = _result_figures(dice), _result_figures(dice)
    blank, parens = dice.choice(["\u202f", "\u00a0", " "]), dice.random() < 0.5

    def shown(amount: int) -> str:
        digits = f"{abs(amount):,}".replace(",", blank)
        return digits if amount >= 0 else f"({digits})" if parens else f"-{digits}"

    def change(field: str) -> Decimal:
        return (Decimal(now[field] - then[field]) / abs(then[field]) * 100).quantize(Decimal("0.1"))

    body = "".join(
        f"<tr><td>{label}</td><td>{m(field + '_now', shown(now[field]))}</td><td>{m(field + '_then', shown(then[field]))}</td><td>{m(field + '_change', f'{change(field):+}'.replace('.', ',') + blank + '%')}</td></tr>" for label, field, _ in _RESULT
    )
    staff, held = dice.randint(120, 480), clear_day(dice, date(year + 1, 3, 1), 90)
    audited, no = dice.random() < 0.5, "n\u2019ont pas été certifiés"
    unit = dice.choice(["en milliers d'euros", "montants en k€", "(en milliers d\u2019euros)"])
    page = (
        f"<html><body><h1>{m('company', company)}</h1><h2>Compte de résultat, {unit}</h2>"
        f"<table><tr><th></th><th>{dice.choice(['Exercice ', ''])}{year}</th><th>{dice.choice(['Exercice ', ''])}{year - 1}</th><th>Variation</th></tr>{body}</table>"
        f"<p>L'effectif moyen s'élève à {m('staff', staff)} salariés. Les comptes {m('audited', 'ont été certifiés' if audited else no)} par le commissaire aux comptes. "
        f"L'assemblée générale se tiendra le {m('held', french(held))}. Exercice clos le {m('closed', f'31 décembre {year}')}.</p>"
        f"<footer>Capital social de 250 000 euros · RCS Paris {dice.randint(400, 899)} {dice.randint(100, 999)} {dice.randint(100, 999)}</footer></body></html>"
    )
    draft.schema = {"properties": {"accounts_certified": {"type": "boolean", "description": "Comptes certifiés par le commissaire aux comptes"}, "agm_date": {"type": "string", "format": "date", "description": "Date de l'assemblée générale"}}}
    draft.says("company", company, "company", traps="unlabelled accents")
    draft.says("fiscal_year_end", date(year, 12, 31), "closed", traps="foreign prose date_forms")
    draft.says("agm_date", held, "held", traps="foreign prose date_forms")
    draft.says("average_headcount", staff, "staff", traps="foreign prose")
    either(draft, dice.random() < 0.5, "accounts_certified", (audited, "audited", "foreign boolean_negation"), (not audited, "negated contradicted"), inside=True)
    wrong, flipped = dice.sample(["cost_of_materials", "personnel_expenses", "depreciation", "income_tax"], 2)
    for field in ("revenue", "cost_of_materials", "personnel_expenses", "depreciation", "operating_income", "income_tax", "net_income"):
        if field == wrong:
            draft.empty(field, 1000 * then[field], "other_column contradicted")
        elif field == flipped:
            draft.empty(field, -1000 * now[field], "other_sign contradicted")
        else:
            draft.says(field, 1000 * now[field], f"{field}_now", traps="foreign thousands two_years")
    for field in ("revenue", "personnel_expenses", "operating_income", "net_income"):
        draft.says(f"{field}_prior_year", 1000 * then[field], f"{field}_then", traps="foreign thousands two_years")
    draft.says("revenue_growth_pct", change("revenue"), "revenue_change", traps="foreign percent")
    draft.empty("ebitda", 1000 * (now["operating_income"] - now["depreciation"]), "computable")
    draft.empty("dividend_per_share", None, "none")
    draft.empty("earnings_per_share", None, "none")
    draft.empty("exceptional_result", 125_000, "absent")
    return as_html(page)


def french(day: date) -> str:
    """A day as a French letter writes it."""
    months = ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"]
    return f"{day.day} {months[day.month - 1]} {day.year}"


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (extracto_text, timetable_html, tensile_pdf, fattura_text, kvk_text, resultat_html)
