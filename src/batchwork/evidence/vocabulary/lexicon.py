"""Which words exclude each other or stand near each other, and which say little. Data, no decisions.

What means the same is in `synonyms` (English, by trade) and `tongues` (other languages).
"""

CURRENCIES = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cad", "aud"})

# Words of which a label has one at a time: another member of the group means another role.
ROLES: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "total subtotal tax discount deposit delivery freight balance refund fee",
        "quantity price amount",
        "seller customer delivery bank employer guarantor witness",
        "start end issue due birth delivery order payment sign invoice renew terminate admission discharge hire"
        " quote received",
        "minimum maximum average",
        "gross net",
        "previous current budget forecast",
        "tenant landlord",
        "patient doctor",
        "buyer seller",
        "open close",
        "first second third fourth last",
        "phone fax email",
        "revenue profit expense asset liability equity",
        "q1 q2 q3 q4",
        "height weight width length",
        "start_date end_date",
        "low high",
        "systolic diastolic",
        "debit credit",
        "principal interest",
        "profit loss",
        "january february march april may june july august september october november december",
        "monday tuesday wednesday thursday friday saturday sunday",
        "north south east west",
        "previous new",
        "request limit",
        "noncurrent shortterm",
        "claim allow",
        "male female",
        "mother father",
        "home work",
        "arrival departure",
        "origin destination",
        "sender recipient",
        "sender destination",
        "recipient origin",
        "actual budget",
        "lender borrower",
        "payer payee",
        "plaintiff defendant",
        "claimant defendant",
        "bedroom bathroom",
        "regular overtime",
        "favour against abstain",
        " ".join(sorted(CURRENCIES)),
    )
)

# Concepts near enough to stand in for each other when nothing better is there, and how much that is worth.
RELATED: dict[frozenset[str], float] = {
    frozenset(pair.split()): worth
    for pair, worth in (
        ("subtotal net", 0.8),
        ("total due", 0.45),
        ("total balance", 0.4),
        ("amount price", 0.5),
        ("rate price", 0.5),
        ("rate percent", 0.9),
        ("rate interest", 0.4),
        ("amount total", 0.55),
        ("invoice issue", 0.8),
        ("due payment", 0.5),
        ("number reference", 0.7),
        ("description name", 0.4),
        ("contract start", 0.2),
        ("customer name", 0.15),
        ("term month", 0.3),
        ("fee charge", 0.8),
        ("charge price", 0.5),
        ("sign date", 0.1),
        ("full total", 0.3),
        ("cost price", 0.7),
        ("cost amount", 0.5),
        ("cost expense", 0.8),
        ("value amount", 0.6),
        ("company seller", 0.5),
        ("job title", 0.6),
        ("rent payment", 0.3),
        ("term payment", 0.5),
        ("volume quantity", 0.8),
        ("profit loss", 0.5),
        ("city address", 0.3),
        ("street address", 0.5),
        ("profit income", 0.8),
        ("salary pay", 0.6),
        ("hire start", 0.7),
        ("opened start", 0.4),
        ("sale revenue", 0.7),
        ("end return", 0.7),
        ("sender seller", 0.8),
        ("sender origin", 0.8),
        ("recipient destination", 0.8),
        ("sender company", 0.6),
        ("recipient customer", 0.8),
        ("customer account", 0.7),
        ("account iban", 0.7),
        ("principal lend", 0.8),
        ("principal lender", 0.3),
        ("limit maximum", 0.8),
        ("gp doctor", 0.8),
        ("subject patient", 0.8),
        ("admission arrival", 0.8),
        ("discharge departure", 0.8),
        ("discharge leav", 0.8),
        ("current new", 0.7),
        ("timeout deadline", 0.8),
        ("end deadline", 0.6),
        ("due deadline", 0.8),
        ("status phase", 0.8),
        ("dispatch delivery", 0.6),
        ("cardholder customer", 0.8),
        ("lease contract", 0.7),
        ("premise property", 0.7),
        ("penalty fee", 0.6),
        ("refund payment", 0.5),
        ("late due", 0.5),
        ("received payment", 0.7),
        ("transfer payment", 0.7),
        ("fee due", 0.5),
        ("time date", 0.6),
        ("holder owner", 0.7),
        ("holder customer", 0.6),
        ("case claim", 0.8),
        ("case file", 0.7),
        ("sku part", 0.8),
        ("sku description", 0.4),
        ("sku number", 0.6),
        ("sku reference", 0.6),
        ("insured insure", 0.9),
        ("result value", 0.8),
        ("material grad", 0.5),
        ("travel mileage", 0.6),
        ("station stop", 0.8),
        ("fare price", 0.7),
        ("freight delivery", 0.9),
        ("allowance includ", 0.7),
        ("modify new", 0.8),
        ("cause reason", 0.8),
        ("branch establishment", 0.8),
        ("place city", 0.5),
        ("place address", 0.4),
        ("claimant plaintiff", 0.9),
        ("lender debt", 0.5),
        ("lender lend", 0.9),
    )
}


def words(text: str) -> frozenset[str]:
    """A set out of words written in a row."""
    return frozenset(text.split())


# Words that say little about which value is meant.
FILLERS = words(
    "the a an of in on at to for by and or is are was were be been has have had this that these those with from"
    " as it its your our my their his her which per der die das den dem des und von zu im am le la les du de et un"
    " une el los y al si if any all will shall may must we you they field given stated please dear when who whom"
    " upon us me them instead now"
    " wir uns sie ihr ihre unser unsere bei beim zum zur mit auf aus für fur nach ist sind wird ein eine einen"
    " einer vom"
    " il lo gli del della dei dal dalla nel con per por para que las een het voor uw au aux dans sur par pour avec est"
    " sont notre votre nos vos su sus che di da nostro vostro"
)
# Fillers that are a label when they stand alone: "From:", "To:".
ALONE = {
    "from": ("sender",),
    "to": ("recipient",),
    "von": ("sender",),
    "an": ("recipient",),
    "re": ("subject",),
    "sum": ("total",),
    "data": ("date",),
    "pays": ("country",),
    "fin": ("end",),
    "ab": ("start",),
    "dal": ("start",),
}
GENERIC = words(
    "amount number date name value percent rate type status description text period limit"
    # units say how a value is counted, not which one it is
    " usd eur gbp chf kg km cm mm lb bar kwh ton mg ml gb mb tb sqm sqft mmhg kw hz mhz ghz psi m v s w l g ms"
)
NEGATIONS = words(
    "not no never without neither nor non none cannot cant dont doesnt isnt arent wasnt wont didnt hasnt havent"
    " nicht kein keine keinen keiner pas sans ohne excluding excluded excludes exclude exempt waived waives waive"
    " declined declines refused prohibited forbidden lacks lacking denied disabled absent revoked unable refuses"
    " prohibits forbids"
)
# What a figure is counted in: it says nothing of what the figure is.
UNITS = words(
    "g kg mg µg ug l ml dl cl m cm mm km mmhg mmol umol nmol mol iu bpm c f k pa hpa kpa mpa bar psi v a w kw mw"
    " kwh mwh hz"
    " khz mhz ghz b kb mb gb tb s ms min rpm nm lb lbs oz ft in sqm m2 m3 ha mill bill thousand mio mrd mn bn"
)
# Who somebody is in a firm, told behind the name: "Ann Moss, Head of Finance".
OFFICES = words(
    "officer director president chairman chairwoman chair manager head secretary counsel partner engineer physician"
    " consultant professor editor treasurer controller analyst adviser advisor supervisor lead principal founder owner"
    " agent attorney solicitor notary surveyor auditor accountant registrar surgeon nurse ceo cfo cto coo vp trustee"
    " administrator coordinator specialist representative spokesperson spokesman dean"
)
# Who somebody is in a contract or a case, told behind the name: "Alder Ltd, claimant, and Birch plc, defendant".
SIDES = words(
    "claimant defendant plaintiff respondent appellant petitioner tenant landlord lessor lessee buyer seller vendor"
    " purchaser lender borrower guarantor witness employer employee insurer insured licensor licensee assignor assignee"
    " trustee beneficiary debtor creditor donor donee executor shipper consignee carrier contractor subcontractor"
)
# How the names of firms end: "Harbour Freight Ltd" is nobody's label.
FIRMS = words(
    "ltd limited inc incorporated llc llp plc corp corporation co gmbh ag kg ohg ug se sa sas sarl srl spa bv nv ab as"
    " oy aps sl slu snc sons partners associates analytics holdings holding group industries enterprises logistics"
    " solutions brothers foundation trust"
)
# Fields that are often said without a label: whose paper it is, whom it is about, what it is called, where it goes.
PARTIES = words(
    "seller customer company firm employer bank hotel school institution university hospital clinic laboratory"
    " authority agency organisation organization department party contact person patient student guest member"
    " applicant tenant landlord employee airline store shop brand author insured policyholder cardholder claimant"
    " debtor"
    " creditor borrower lender garage workshop"
)
# What stands without a label although it is nobody: what a paper is called, and where it goes.
TITLES = words("title subject headline address street city postcode zip")
# What is never a title: codes, kinds, places and times need a word that says so.
NAMELESS = words(
    "number code type group kind class category colour color size unit currency language method reason cause status"
    " comment note term condition place location region country state branch format version level grade"
)
