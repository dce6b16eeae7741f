"""The words that labels are made of: which mean the same, which exclude each other. Data, no decisions.

Business documents in English, with the commonest German, French, Spanish, Italian and Dutch labels. A word that is not
here stands for itself; nothing depends on a label being known, it only helps.
"""

# concept: the words and phrases (two words or three, joined by a blank) that stand for it
SYNONYMS: dict[str, str] = {
    "total": "total totals gesamt gesamtsumme summe somme totale totaal totaux",
    "total amount": "gesamtbetrag rechnungsbetrag endbetrag bruttobetrag|grand total|montant total|importe total",
    "subtotal": "subtotal zwischensumme subtotaal nettosumme|sub total|sous total|net total|total net|total ht",
    "net amount": "nettobetrag|montant ht",
    "tax": "tax taxes vat gst hst pst mwst ust umsatzsteuer mehrwertsteuer steuer tva iva btw"
    "|value added tax|sales tax",
    "tax rate": "steuersatz|taux tva",
    "rate": "rate rates satz taux tarif",
    "percent": "percent percentage pct prozent",
    "quantity": "quantity qty qte qté menge anzahl cantidad quantità aantal units pcs pieces stk stück",
    "price": "price prices preis prix precio prezzo prijs",
    "unit price": "einzelpreis stückpreis ep|prix unitaire|precio unitario",
    "amount": "amount amounts amt betrag montant importe importo bedrag sum",
    "due": "due payable owed owing outstanding fällig zahlbar",
    "due date": "fälligkeitsdatum fälligkeit échéance d'échéance vencimiento scadenza vervaldatum"
    "|zahlbar bis|pay by|payable by|payable until",
    "invoice": "invoice invoices rechnung facture factura fattura factuur inv",
    "invoice number": "rechnungsnummer rechnungsnr",
    "invoice date": "rechnungsdatum",
    "number": "number no nr num nummer numéro número numero id code identifier",
    "reference": "reference ref referenz réf",
    "date": "date dated datum fecha dt",
    "day": "day days daily tage jours",
    "unit": "unit each apiece",
    "age": "age aged alter",
    "spend": "spend spent spending expenditures",
    "sale": "sale sell sold selling verkauf",
    "purchase": "purchase purchased buy bought acquire acquired",
    "hold": "hold held holding",
    "loss": "loss lost lose losses verlust",
    "weight": "weight weigh weighs weighed gewicht poids",
    "growth": "growth grew grow grows grown rose rise rises risen increase increased increases stieg wuchs",
    "decline": "decline declined declines fell fall falls decrease decreased drop dropped reduction",
    "guidance": "guidance guides guided guide outlook",
    "ton": "ton tons tonne tonnes t",
    "hour": "hour hours hourly hrs h stunden",
    "auto": "auto automatic automatically",
    "seller": "vendor vendors seller supplier issuer merchant lieferant fournisseur proveedor verkäufer",
    "customer": "customer client buyer purchaser kunde acheteur cliente klant"
    "|bill to|billed to|sold to|invoice to|charge to",
    "customer number": "kundennummer|account no|account number|acct no",
    "delivery": "delivery delivered shipping shipment shipped freight versand lieferung livraison ship"
    "|ship to|deliver to",
    "delivery date": "lieferdatum",
    "start": "start starts starting begin begins beginning commence commences commencement commencing"
    " effective inception|first day",
    "end": "end ends ending expiry expiration expires expire expiring until ablauf|valid until|valid through",
    "birth": "birth born dob birthdate birthday geburtsdatum geboren|date of birth",
    "issue": "issue issued issuance ausgestellt issuing",
    "payment": "payment payments paid pay zahlung paiement zahlungsbedingungen",
    "order": "order orders po bestellung commande pedido ordine ordered|purchase order",
    "order number": "bestellnummer auftragsnummer",
    "discount": "discount discounts rabatt skonto remise rebate",
    "deposit": "deposit advance anzahlung acompte prepayment|down payment|prepaid amount",
    "balance": "balance saldo solde",
    "open balance": "|brought forward|balance forward",
    "close balance": "|carried forward",
    "previous": "previous prior vorjahr preceding|last year|last month",
    "current": "current|this year|this month|this period",
    "manager": "manager supervisor boss vorgesetzter|reports to|report to|reporting to",
    "limit": "limit limits ceiling|up to|not exceeding|not exceed",
    "allow": "allow allowed allows permit permitted permits permissible",
    "require": "require required requires mandatory compulsory obligatory",
    "description": "description item items product article service particulars beschreibung bezeichnung artikel"
    " leistung désignation descripción goods|line item|item name|product name",
    "name": "name names nom nombre nome naam",
    "city": "city town ort stadt ville ciudad",
    "address": "address adresse anschrift dirección indirizzo adres",
    "phone": "phone telephone tel telefon téléphone mobile cell",
    "author": "author authors writer written",
    "mileage": "mileage odometer",
    "bag": "bag bags baggage luggage",
    "sample": "sample samples sampled",
    "note": "note notes footnote",
    "ytd": "ytd|year to date",
    "email": "email mail courriel|e mail",
    "salary": "salary wage wages compensation remuneration gehalt",
    "employee": "employee employees staff headcount workforce personnel mitarbeiter",
    "revenue": "revenue revenues turnover umsatz umsatzerlöse|net sales",
    "profit": "profit earnings gewinn|net income",
    "expense": "expense expenses expenditure kosten",
    "term": "term duration laufzeit tenor",
    "tenant": "tenant lessee mieter",
    "landlord": "landlord lessor vermieter",
    "doctor": "doctor physician clinician dr",
    "minimum": "minimum min least",
    "maximum": "maximum max most cap",
    "gross": "gross brutto brut",
    "net": "net netto",
    "renew": "renewal renew renews renewed",
    "sign": "signed signature sign signing signatory executed|made on|entered into",
    "currency": "currency währung devise moneda",
    "country": "country land pays país",
    "month": "month months monthly monat monate",
    "year": "year years yearly annual annually annum jahr",
    "week": "week weeks weekly",
    "terminate": "termination terminate terminated terminates cancel cancellation cancelled kündigung",
    "job": "job position role occupation",
    "principal": "principal loan",
    "insure": "insured insurance insurer",
    "quote": "quote quotation offer angebot devis",
    "contract": "contract agreement vertrag contrat",
    "admission": "admission admitted",
    "discharge": "discharge discharged",
    "open": "opening open opened",
    "close": "closing close closed",
    "received": "received receipt receive",
    "smoke": "smoke smoker smoking smokes smoked",
}

CURRENCIES = frozenset({"usd", "eur", "gbp", "chf", "jpy", "cad", "aud"})

# Words of which a label has one at a time: another member of the group means another role.
ROLES: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "total subtotal tax discount deposit delivery balance refund fee",
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
        "january february march april may june july august september october november december",
        "monday tuesday wednesday thursday friday saturday sunday",
        "north south east west",
        "old new",
        "male female",
        "mother father",
        "home work",
        "arrival departure",
        "origin destination",
        "sender recipient",
        "sender destination",
        "recipient origin",
        "actual budget",
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
    )
}


def words(text: str) -> frozenset[str]:
    """A set out of words written in a row."""
    return frozenset(text.split())


# Words that say little about which value is meant.
FILLERS = words(
    "the a an of in on at to for by and or is are was were be been has have had this that these those with from"
    " as it its your our my their his her which per der die das den dem des und von zu im am le la les du de et un"
    " une el los y al si if any all will shall may must we you they field given stated please dear"
)
# Fillers that are a label when they stand alone: "From:", "To:".
ALONE = {"from": ("sender",), "to": ("recipient",), "von": ("sender",), "an": ("recipient",)}
GENERIC = words(
    "amount number date name value percent rate type status description text period limit"
    " usd eur gbp chf kg km cm mm lb bar kwh ton"  # units say how a value is counted, not which one it is
)
NEGATIONS = words(
    "not no never without neither nor non none cannot cant dont doesnt isnt arent wasnt wont didnt hasnt havent"
    " nicht kein keine keinen keiner pas sans ohne excluding excluded excludes exclude exempt waived waives waive"
    " declined declines refused prohibited forbidden lacks lacking denied disabled absent revoked unable refuses"
    " prohibits forbids"
)
# Fields that are often said without a label: whose paper it is, whom it is about, what it is called, where it goes.
PARTIES = words(
    "seller customer company firm employer bank hotel school institution university hospital clinic laboratory"
    " authority agency organisation organization department party contact person patient student guest member"
    " applicant tenant landlord employee airline store shop brand author"
)
# What stands without a label although it is nobody: what a paper is called, and where it goes.
TITLES = words("title subject headline address street city postcode zip")
# What is never a title: codes, kinds, places and times need a word that says so.
NAMELESS = words(
    "number code type group kind class category colour color size unit currency language method reason cause status"
    " comment note term condition place location region country state branch format version level grade"
)
