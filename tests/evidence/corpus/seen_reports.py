"""Prose and letters: a board's resolutions, an abstract, an incident report."""

import random
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft, as_text
from tests.evidence.corpus.pools import clear_day
from tests.evidence.corpus.prose import CASH_STYLES, Claims, Made, written
from tests.evidence.corpus.seen import m, wrap
from tests.evidence.corpus.seen_reports_more import minutes_docx, property_text, vita_text


def resolution_text(dice: random.Random, draft: Draft) -> Made:
    """Resolutions of a board: votes in words and figures, a record and a payment date, ceilings, an appointment."""
    firm, auditor, bank = dice.sample(pools.COMPANIES, 3)
    chair, secretary, officer, guest, member = dice.sample(pools.PEOPLE, 5)
    held = clear_day(dice)
    record, paid = held + timedelta(days=dice.randint(10, 20)), held + timedelta(days=dice.randint(25, 40))
    since = held + timedelta(days=dice.randint(41, 60))
    number = f"{held.year}/{dice.randint(11, 48)}"
    votes, against, absent = dice.randint(5, 9), dice.randint(0, 2), dice.randint(3, 4)
    share = f"{dice.randint(11, 95) / 100:.2f}"
    limit, fee = dice.choice(["2.5", "4", "7.5", "12"]), Decimal(dice.randint(40, 220) * 1000)
    rate, floor = dice.choice(["5.75", "6.2", "4.9"]), Decimal(dice.choice([25_000, 50_000, 75_000]))
    shares = dice.randint(200, 900) * 1000
    quorum, consent = dice.random() < 0.7, dice.random() < 0.5
    cash, on = dice.choice(CASH_STYLES[:3]), dice.choice([pools.us_long, pools.uk_long])
    role = dice.choice(["Treasurer", "Chief Operating Officer", "General Counsel"])
    whereas = f"At a meeting of the Board of Directors of {m('firm', firm)} held on {m('held', on(held))} at {m('place', dice.choice(pools.STREETS))}, {m('chair', chair)} presiding and {m('secretary', secretary)} acting as secretary, a quorum {m('quorum', 'was present' if quorum else 'was not present')}. {guest} attended as an observer and {m('member', member)} joined by telephone."
    resolved = [
        f"a cash dividend of {m('share', '$' + share)} per share be paid on {m('paid', on(paid))} to shareholders of record at the close of business on {m('record', on(record))}",
        f"{m('officer', officer)} be appointed {m('role', role)} with effect from {m('since', on(since))}",
        f"the Company may borrow up to {m('limit', f'${limit} million')} from {m('bank', bank)} at a rate not exceeding {m('rate', rate + ' percent')} per annum",
        f"{m('auditor', auditor)} be engaged as independent auditor for a fee of {m('fee', cash(fee))}",
        f"any contract above {m('floor', cash(floor))} require two signatures",
        f"the Company be authorised to repurchase {m('shares', f'{shares:,}')} of its own shares",
    ]
    dice.shuffle(resolved)
    lead = dice.choice(["RESOLVED, that ", "IT WAS RESOLVED that "])
    vote = dice.choice([
        f"The resolutions were adopted with {m('votes', votes)} votes in favour, {m('against', against)} against and {m('absent', absent)} abstentions.",
        f"Votes for: {m('votes', votes)}. Votes against: {m('against', against)}. Abstentions: {m('absent', absent)}.",
    ])  # fmt: skip
    tail = f"Shareholder consent {m('consent', 'is required' if consent else 'is not required')} for the foregoing. I, the undersigned secretary, certify that this is a true copy. Resolution no. {m('number', number)}."
    text = "\n\n".join(
        [dice.choice(["RESOLUTIONS OF THE BOARD", "MINUTE OF BOARD RESOLUTION"]), wrap(whereas)]
        + [wrap(f"{lead}{words}.") for words in resolved]
        + [wrap(vote), wrap(tail), f"{m('signer', secretary)}\nSecretary"]
    )
    draft.schema = {
        "properties": {
            "signature_threshold": {"description": "Contracts above this sum need two signatures"},
            "credit_limit": {"description": "Most the company may borrow"},
            "buyback_shares": {"description": "Shares that may be repurchased"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("company", firm, "firm", traps="prose accents")
    draft.says("meeting_date", held, "held", traps="prose date_forms")
    draft.says("resolution_number", number.replace("/", "-"), "number", traps="id_spacing prose")
    claims("chairperson", chair, "chair", guest, "other_role", traps="prose accents")
    draft.says("secretary", secretary, "secretary", "signer", traps="prose accents")
    claims("quorum_present", quorum, "quorum", not quorum, "negated", traps="boolean prose", inside=True)
    draft.says("dividend.per_share", Decimal(share), "share", traps="prose currency")
    claims("dividend.record_date", record, "record", paid, "other_role", traps="prose date_forms")
    draft.says("dividend.payment_date", paid, "paid", traps="prose date_forms")
    draft.says("appointment.name", officer, "officer", traps="prose accents")
    draft.says("appointment.position", role, "role", traps="prose")
    claims("appointment.effective_date", since, "since", held, "other_role", traps="prose date_forms")
    draft.says("credit_limit", int(Decimal(limit) * 1_000_000), "limit", traps="million prose")
    draft.says("lender", bank, "bank", traps="prose accents")
    draft.says("max_interest_rate", Decimal(rate) / 100, "rate", traps="percent prose")
    claims("auditor", auditor, "auditor", bank, "other_role", traps="prose accents")
    draft.says("audit_fee", fee, "fee", traps="prose currency")
    claims("signature_threshold", floor, "floor", fee, "other_role", traps="prose currency")
    draft.says("buyback_shares", shares, "shares", traps="prose")
    draft.says("votes_for", votes, "votes", traps="prose")
    claims("votes_against", against, "against", absent, "other_role", traps="prose")
    draft.says("abstentions", absent, "absent", traps="prose")
    claims("shareholder_consent_required", consent, "consent", not consent, "negated", traps="boolean prose", inside=True)  # fmt: skip
    draft.empty("votes_cast", votes + against + absent, "computable")
    draft.empty("proxy_holder", None, "none")
    draft.empty("total_dividend", Decimal(share) * shares, "absent")
    draft.empty("next_meeting_date", None, "none")
    return as_text(text)


def abstract_pdf(dice: random.Random, draft: Draft) -> Made:
    """The first page of a paper: arms side by side in one sentence, an interval, dates of the journal in the footer."""
    authors = dice.sample(pools.PEOPLE, dice.choice([2, 3, 4]))
    drug = dice.choice(["velotinib", "marexaban", "cortazine"])
    got = clear_day(dice)
    taken, out = got + timedelta(days=dice.randint(60, 120)), got + timedelta(days=dice.randint(130, 200))
    treated, control = dice.sample(range(301, 799), 2)
    screened = treated + control + dice.randint(50, 400)
    age, spread, women = (
        f"{dice.randint(520, 710) / 10}",
        f"{dice.randint(71, 129) / 10}",
        f"{dice.randint(331, 589) / 10}",
    )
    hazard, low, high = f"0.{dice.randint(70, 84)}", f"0.{dice.randint(55, 68)}", f"0.{dice.randint(86, 97)}"
    chance = f"0.00{dice.randint(1, 9)}"
    hit, missed = (f"{n / 10}" for n in sorted(dice.sample(range(91, 240), 2)))
    ill, unwell = (f"{n / 10}" for n in dice.sample(range(20, 89), 2))
    months, registry = dice.choice([18, 24, 30]), f"NCT0{dice.randint(1000000, 9999999)}"
    doi = f"10.{dice.randint(1000, 9999)}/jcr.{got.year}.{dice.randint(100, 999)}"
    blind, stopped = (dice.random() < 0.5 for _ in range(2))
    placebo = dice.choice(["placebo", "standard care"])
    title = f"{drug.capitalize()} versus {placebo} in older adults: a randomised trial"
    arms = dice.choice(
        [
            f"Of {m('screened', f'{screened:,}')} persons screened, {m('treated', treated)} were assigned to {drug} and {m('control', control)} to {placebo}.",
            f"We screened {m('screened', f'{screened:,}')} persons and randomised them to {drug} (treatment group, n = {m('treated', treated)}) or {placebo} (control group, n = {m('control', control)}).",
        ]
    )
    outcome = dice.choice(
        [
            f"The primary outcome occurred in {m('hit', hit + '%')} of patients given {drug} and in {m('missed', missed + '%')} of the controls",
            f"The rate of the primary outcome was {m('hit', hit + '%')} with treatment versus {m('missed', missed + '%')} in the control group",
        ]
    )
    parts = [
        f"Methods: {arms} The trial was {m('blind', 'double-blind' if blind else 'not blinded')}. Median follow-up was {m('months', months)} months.",
        f"Results: Mean age was {m('age', age)} years (SD {m('spread', spread)}) and {m('women', women + '%')} were women. {outcome} (hazard ratio {m('hazard', hazard)}; 95% CI {m('low', low)} to {m('high', high)}; P = {m('chance', chance)}). Serious adverse events were seen in {m('ill', ill + '%')} and {m('unwell', unwell + '%')} respectively.",
        f"Conclusions: {drug.capitalize()} lowered the risk of the primary outcome. The study {m('stopped', 'was stopped early' if stopped else 'was not stopped early')}. Registered as {m('registry', registry)}.",
    ]
    pdf = PdfDraft()
    pdf.text(60, 50, m("journal", "Journal of Clinical Registers"), size=9)
    pdf.text(60, 84, m("title", title), size=13, font=1)
    pdf.text(60, 108, ", ".join(m(f"w{index}", name) for index, name in enumerate(authors)), size=11)
    y = 140.0
    pdf.text(60, y, "ABSTRACT", font=1)
    for paragraph in parts:
        y = written(pdf, y + 22, paragraph) - 14
    dates = f"Received {m('got', pools.uk_long(got))}; accepted {m('taken', pools.uk_long(taken))}; published {m('out', pools.uk_long(out))}"
    pdf.text(60, 700 if dice.random() < 0.5 else y + 40, dates, size=8)
    pdf.text(60, 720 if y < 640 else 760, f"doi: {m('doi', doi)}", size=8)
    draft.schema = {
        "properties": {
            "p_value": {"description": "P of the primary outcome"},
            "ci_lower": {"description": "Lower end of the 95% confidence interval"},
            "ci_upper": {"description": "Upper end of the 95% confidence interval"},
            "n_screened": {"type": "integer", "description": "Persons screened"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("title", title, "title", traps="unlabelled")
    draft.says("journal", "Journal of Clinical Registers", "journal", traps="unlabelled")
    for index, name in enumerate(authors):
        draft.says(f"authors[{index}]", name, f"w{index}", traps="unlabelled accents")
    draft.says("doi", doi, "doi", traps="footer")
    claims("received_date", got, "got", taken, "other_role", traps="footer date_forms")
    draft.says("accepted_date", taken, "taken", traps="footer date_forms")
    claims("published_date", out, "out", got, "other_role", traps="footer date_forms")
    draft.says("n_screened", screened, "screened", traps="prose")
    draft.says("treatment.n", treated, "treated", traps="prose arms")
    claims("control.n", control, "control", treated, "other_role", traps="prose arms")
    draft.says("treatment.primary_outcome_rate", Decimal(hit) / 100, "hit", traps="prose arms percent")
    claims("control.primary_outcome_rate", Decimal(missed) / 100, "missed", Decimal(hit) / 100, "other_role", traps="prose arms percent")  # fmt: skip
    draft.says("treatment.serious_adverse_event_rate", Decimal(ill) / 100, "ill", traps="prose arms percent")
    draft.says("control.serious_adverse_event_rate", Decimal(unwell) / 100, "unwell", traps="prose arms percent")
    draft.says("mean_age", float(age), "age", traps="prose")
    claims("age_sd", float(spread), "spread", float(age), "other_role", traps="prose")
    draft.says("female_share", Decimal(women) / 100, "women", traps="prose percent")
    draft.says("hazard_ratio", Decimal(hazard), "hazard", traps="prose")
    draft.says("ci_lower", Decimal(low), "low", traps="prose range")
    claims("ci_upper", Decimal(high), "high", Decimal(low), "other_role", traps="prose range")
    draft.says("p_value", Decimal(chance), "chance", traps="prose")
    draft.says("median_follow_up_months", months, "months", traps="prose")
    claims("double_blind", blind, "blind", not blind, "negated", traps="boolean prose", inside=True)
    claims("stopped_early", stopped, "stopped", not stopped, "negated", traps="boolean prose", inside=True)
    draft.says("trial_registration", registry, "registry", traps="prose")
    draft.empty("n_randomised", treated + control, "computable")
    draft.empty("funding_source", None, "none")
    draft.empty("absolute_risk_reduction", (Decimal(missed) - Decimal(hit)) / 100, "computable")
    draft.empty("corresponding_author_email", None, "none")
    return pdf.done()


def incident_markdown(dice: random.Random, draft: Draft) -> Made:
    """A report after an outage: a summary as bullets, a timeline, numbers in prose, a table of what is left to do."""
    lead, *owners = dice.sample(pools.PEOPLE, 4)
    when = clear_day(dice)
    hour = dice.randint(2, 20)
    begun, noticed, paged, ended = f"{hour:02d}:0{dice.randint(1, 9)}", f"{hour:02d}:{dice.randint(11, 24)}", f"{hour:02d}:{dice.randint(25, 39)}", f"{hour + 1:02d}:{dice.randint(10, 55)}"  # fmt: skip
    minutes = (hour + 1) * 60 + int(ended[3:]) - hour * 60 - int(begun[3:])
    number, level = f"INC-{dice.randint(1000, 9999)}", dice.choice(["SEV1", "SEV2", "SEV3"])
    failed, hurt, total = dice.randint(11_000, 98_000), dice.randint(210, 980), dice.randint(1100, 9800)
    peak, usual = f"{dice.randint(120, 480) / 10}", f"0.{dice.randint(1, 9)}"
    service, other = dice.sample(["checkout-api", "ledger-sync", "image-proxy", "auth-gateway"], 2)
    cause = dice.choice(["an expired TLS certificate", "a full disk on the primary database", "a bad feature flag", "a memory leak in the cache layer"])  # fmt: skip
    lost, public, rolled = (dice.random() < 0.5 for _ in range(3))
    refund = Decimal(dice.randint(900, 9000))
    tasks = [
        (what, owner, clear_day(dice, when + timedelta(days=5), 60), f"OPS-{dice.randint(100, 999)}")
        for what, owner in zip(dice.sample(["Alert on certificate expiry", "Add disk quota", "Rehearse failover", "Write runbook"], 3), owners, strict=True)
    ]  # fmt: skip
    label = dice.choice([("Incident", "Severity", "Incident commander"), ("Reference", "Severity level", "Led by")])
    harm = dice.choice(
        [
            f"{m('failed', f'{failed:,}')} requests failed and {m('hurt', hurt)} of {m('total', f'{total:,}')} customers were affected. The error rate peaked at {m('peak', peak + '%')} (normally {m('usual', usual + '%')}).",
            f"At its peak the error rate was {m('peak', peak + '%')}, against {m('usual', usual + '%')} on a normal day. In all {m('failed', f'{failed:,}')} requests failed. Out of {m('total', f'{total:,}')} customers, {m('hurt', hurt)} were affected.",
        ]
    )
    lines = [
        f"# Post-incident report: {m('service', service)} outage",
        "",
        f"- **{label[0]}:** {m('number', number)}",
        f"- **{label[1]}:** {m('level', level)}",
        f"- **Date:** {m('when', when.isoformat() if dice.random() < 0.5 else pools.uk_long(when))}",
        f"- **{label[2]}:** {m('lead', lead)}",
        "",
        "## Summary",
        "",
        wrap(f"For {m('minutes', minutes)} minutes {m('service', service)} returned errors because of {m('cause', cause)}. {harm} {other} was not affected.", 90),
        "",
        wrap(f"Customer data {m('lost', 'was lost' if lost else 'was not lost')}. The deployment {m('rolled', 'was rolled back' if rolled else 'was not rolled back')}. A notice {m('public', 'was posted' if public else 'was not posted')} on the public status page. Credits of {m('refund', f'${refund:,.2f}')} will be issued.", 90),
        "",
        "## Timeline (UTC)",
        "",
        f"- {m('begun', begun)} first errors, impact begins",
        f"- {m('noticed', noticed)} monitoring detects the problem",
        f"- {m('paged', paged)} on-call engineer paged",
        f"- {m('ended', ended)} fully resolved",
        "",
        "## Action items",
        "",
        "| Ticket | Action | Owner | Due |",
        "|---|---|---|---|",
        *(f"| {m(f'k{i}', k)} | {m(f't{i}', t)} | {m(f'o{i}', o)} | {m(f'd{i}', d.isoformat())} |" for i, (t, o, d, k) in enumerate(tasks)),
    ]  # fmt: skip
    draft.schema = {
        "properties": {
            "severity": {"enum": ["sev1", "sev2", "sev3"]},
            "detected_at": {"description": "Time at which monitoring noticed"},
            "started_at": {"description": "Time of first impact"},
            "baseline_error_rate": {"description": "Error rate on a normal day"},
        }
    }
    claims = Claims(draft=draft, dice=dice)
    draft.says("incident_id", number.lower(), "number", traps="markdown id_spacing")
    claims("severity", level.lower(), "level", "sev2" if level == "SEV1" else "sev1", "negated", traps="enum markdown")
    draft.says("date", when, "when", traps="markdown date_forms")
    claims("incident_commander", lead, "lead", owners[0], "other_role", traps="markdown accents")
    draft.says("affected_service", service, "service", traps="title")
    draft.says("root_cause", cause, "cause", traps="prose")
    draft.says("duration_minutes", minutes, "minutes", traps="prose")
    draft.says("failed_requests", failed, "failed", traps="prose")
    claims("affected_customers", hurt, "hurt", total, "other_role", traps="prose")
    draft.says("peak_error_rate", Decimal(peak) / 100, "peak", traps="prose percent")
    claims("baseline_error_rate", Decimal(usual) / 100, "usual", Decimal(peak) / 100, "other_role", traps="prose percent paren_aside")  # fmt: skip
    claims("data_loss", lost, "lost", not lost, "negated", traps="boolean prose", inside=True)
    claims("rolled_back", rolled, "rolled", not rolled, "negated", traps="boolean prose", inside=True)
    claims("status_page_updated", public, "public", not public, "negated", traps="boolean prose", inside=True)
    draft.says("credits_issued", refund, "refund", traps="prose currency")
    draft.says("started_at", begun, "begun", traps="timeline")
    draft.says("detected_at", noticed, "noticed", traps="timeline")
    claims("resolved_at", ended, "ended", paged, "other_role", traps="timeline")
    for index, (what, owner, due, ticket) in enumerate(tasks):
        draft.says(f"action_items[{index}].ticket", ticket, f"k{index}", traps="table_row")
        draft.says(f"action_items[{index}].action", what, f"t{index}", traps="table_row")
        draft.says(f"action_items[{index}].owner", owner, f"o{index}", traps="table_row accents")
        claims(f"action_items[{index}].due", due, f"d{index}", tasks[index - 1][2], "other_row", traps="table_row")
    draft.empty("unaffected_customers", total - hurt, "computable")
    draft.empty("vendor", None, "none")
    draft.empty("minutes_to_detect", int(noticed[3:]) - int(begun[3:]), "computable")
    draft.empty("error_budget_left", None, "none")
    return as_text("\n".join(lines))


LAYOUTS: tuple[Callable[[random.Random, Draft], Made], ...] = (
    resolution_text,
    abstract_pdf,
    incident_markdown,
    minutes_docx,
    property_text,
    vita_text,
)
