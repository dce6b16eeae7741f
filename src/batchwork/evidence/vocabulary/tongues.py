"""Labels in German, French, Spanish, Italian and Dutch -> the concepts of `synonyms`. Data, no decisions.

One line a concept; parts of compounds (Rechnungs-datum, Kunden-nummer) are listed once and put together by `words`.
Words that mean something else in English (Brief, Rest, pays, fin) are left out, and so are surnames.
"""

from batchwork.evidence.vocabulary.glossary import GLOSSARY

_PAPERS = {
    "invoice": "rechnung rechnungs facture factura fattura factuur facturation fatturazione facturación facturatie",
    "order": "bestellung bestell auftrag auftrags commande pedido ordine bestelling ordinazione encargo",
    "quote": "angebot angebots devis presupuesto preventivo offerte offre oferta offerta",
    "contract": "vertrag vertrags contrat contrato contratto overeenkomst vereinbarung accord",
    "report": "befund bericht informe rapporto relazione verslag gutachten",
    "letter": "schreiben lettre carta lettera",
    "receipt": "quittung kassenbon beleg reçu recibo ricevuta scontrino kwitantie",
    "sku": "artikelnummer artikelnr|artikel nr|code article|código artículo|codice articolo",
    "reminder": "mahnung zahlungserinnerung rappel recordatorio sollecito herinnering aanmaning",
    "statement": "kontoauszug auszug relevé extracto estratto rekeningoverzicht",
    "policy": "versicherungsschein póliza polizza polis",
    "account": "konto compte cuenta conto rekening",
    "application": "antrag demande solicitud domanda aanvraag",
    "certificate": "bescheinigung zeugnis urkunde certificat certificado certificato bewijs",
    "description": "beschreibung bezeichnung artikel leistung leistungs désignation descripción descrizione"
    " omschrijving"
    " libellé concepto prodotto producto produit produkt waren prestation servicio servizio dienst",
    "subject": "betreff betr objet asunto oggetto onderwerp",
    "note": "bemerkung bemerkungen hinweis anmerkung remarque observaciones osservazioni opmerking opmerkingen",
    "reference": "referenz réf réfs référence referencia riferimento referentie kenmerk zeichen aktenzeichen",
    "number": "nummer numéro número numero nummern kennung kennziffer matricule volgnummer idnr nro núm",
}

_MONEY = {
    "utilities": "nebenkosten betriebskosten servicekosten|charges locatives|gastos comunes|spese condominiali",
    "balance due": "restbetrag|reste à payer|reste dû|restant dû|noch zu zahlen|restant à payer|saldo pendiente"
    "|importe pendiente"
    "|resta da pagare|nog te betalen|offener betrag|openstaand bedrag",
    "total": "gesamt gesamtsumme summe somme totale totaal totaux totales suma",
    "total amount": "gesamtbetrag rechnungsbetrag endbetrag bruttobetrag|montant total|importe total|importo totale"
    "|totaal bedrag|zu zahlen|à payer|net à payer|total a pagar|te betalen",
    "subtotal": "zwischensumme subtotaal nettosumme subtotale|sous total|total ht|summe netto",
    "subtotal base": "imponibile|base imponible",
    "net amount": "nettobetrag|montant ht|bedrag excl",
    "gross total": "|summe brutto|total ttc|gesamt brutto",
    "tax": "steuer steuern mwst ust umsatzsteuer mehrwertsteuer tva iva btw taxe impôt impuesto imposta belasting",
    "tax number": "ustid ustidnr umsatzsteueridentifikationsnummer nif|partita iva|ust id|ust idnr|uid nr"
    "|n° tva|tva intracommunautaire",
    "tax rate": "steuersatz|taux tva|taux de tva|tipo iva",
    "rate": "satz taux tarif tasa tasso tarief",
    "interest": "zins zinsen intérêts intérêt intereses interessi rente zinssatz",
    "percent": "prozent pourcentage porcentaje percentuale procent",
    "quantity": "menge anzahl stk stück stückzahl qte qté quantité cantidad quantità qtà aantal hoeveelheid",
    "price": "preis prix precio prezzo prijs",
    "unit price": "einzelpreis stückpreis ep|prix unitaire|precio unitario|prezzo unitario|pu ht|prijs per stuk",
    "line total": "gesamtpreis",
    "amount": "betrag montant importe importo bedrag monto",
    "due": "fällig zahlbar exigible pagadero verschuldigd offen offener",
    "due date": "fälligkeitsdatum fälligkeit échéance vencimiento scadenza vervaldatum zahlungsziel"
    "|zahlbar bis|zahlbar bis zum|bezahlt bis|à régler avant|betalen voor|da pagare entro|à payer avant le"
    "|payable avant le|zahlbar innerhalb|pagar antes de",
    "payment": "zahlung zahlungs paiement règlement pago pagos pagamento betaling zahlungsbedingungen überweisung",
    "discount": "rabatt skonto remise descuento sconto korting nachlass escompte ristourne",
    "deposit": "anzahlung kaution acompte anticipo fianza acconto cauzione aanbetaling waarborgsom borgsom",
    "balance": "saldo solde",
    "refund": "erstattung rückerstattung gutschrift remboursement reembolso rimborso terugbetaling",
    "fee": "gebühr gebühren frais honoraires tasas commissione honorar",
    "cost": "kosten coût coûts coste costes costo costi",
    "currency": "währung devise moneda valuta divisa",
    "gross": "brutto brut bruto lordo",
    "net": "netto neto",
    "salary": "gehalt lohn salaire salario sueldo stipendio salaris entgelt vergütung",
    "revenue": "umsatz umsatzerlöse omzet ventas ricavi fatturato erlöse",
    "profit": "gewinn bénéfice beneficio utile winst jahresüberschuss",
    "loss": "verlust perte pérdida perdita verlies fehlbetrag jahresfehlbetrag",
    "expense": "spese ausgaben dépenses gastos dépense uitgaven aufwand aufwendungen",
    "asset": "aktiva vermögen actif activos attività activa",
    "liability": "verbindlichkeiten passif pasivo passività passiva schulden dettes deudas",
    "equity": "eigenkapital patrimonio|capitaux propres|eigen vermogen|patrimonio netto",
    "inventory": "vorräte existencias rimanenze voorraden lagerbestand",
    "receivable": "forderungen créances créditos crediti vorderingen",
    "rent": "miete kaltmiete warmmiete mietzins loyer alquiler affitto huur canone",
    "loan": "darlehen kredit préstamo mutuo prestito lening emprunt",
    "premium": "prämie beitrag premio premie cotisation",
    "tip": "trinkgeld pourboire propina mancia fooi",
    "iban": "bankverbindung kontonummer",
    "bank": "banque banco banca kreditinstitut",
}

_TIME = {
    "next": "nächste nächster nächsten prochain prochaine próximo próxima prossimo prossima volgende",
    "appointment": "termin cita appuntamento afspraak|rendez vous",
    "current year": "berichtsjahr geschäftsjahr|exercice en cours|ejercicio actual|esercizio corrente|lopend jaar"
    "|laufendes jahr",
    "previous year": "vorjahr vorjahres|exercice précédent|ejercicio anterior|esercizio precedente|vorig jaar"
    "|année précédente",
    "start date": "startdatum ingangsdatum begindatum|date de début|data inizio",
    "end date": "einddatum|fecha de fin|fecha fin|date de fin|data di fine|data fine|fecha de término|fin de contrat",
    "date": "datum fecha giorno|data di|data del|data della|data documento|data fattura|data ordine|data consegna"
    "|data pagamento|data contratto|data firma",
    "due date": "|data scadenza|data di scadenza|data scadenza pagamento",
    "issue date": "|date d'émission|data emissione|data di emissione",
    "birth date": "|data di nascita|data nascita",
    "time": "uhrzeit zeit heure hora ora tijd",
    "day": "tage tagen jours días giorni dagen jour día",
    "month": "monat monate monatlich mois mes meses mese mesi maand maanden mensuel mensual mensile",
    "year": "jahr jahre jährlich année années año años anno anni jaar jaren annuel anual annuale",
    "week": "woche wochen wöchentlich semaine semaines semana semanas settimana weken",
    "hour": "stunden stunde heures horas uren",
    "period": "zeitraum période período periodo periode",
    "start": "vanaf desde beginn anfang début inicio inizio aanvang beginnt ingang|a partir du|à partir du"
    "|a partire dal|mit wirkung zum|gültig ab|ab dem",
    "end": "bis hasta fino jusqu'au ende ablauf endet einde|gültig bis|hasta el|fino al|geldig tot|valable"
    " jusqu'au|valable jusqu'à|válido hasta",
    "birth": "geburts geburtsdatum geburtstag geboren geb née naissance nacimiento nacido nascita geboorte"
    " geboortedatum|né le|née le|nato il|nata il",
    "issue": "ausgestellt ausstellung emisión emissione uitgifte ausstellungs émise",
    "delivery": "versand lieferung liefer livraison entrega consegna levering leverdatum spedizione envío expédition",
    "term": "laufzeit dauer durée duración durata looptijd duur",
    "deadline": "frist délai plazo termine termijn",
    "notice": "kündigungsfrist préavis preaviso preavviso opzegtermijn",
    "terminate": "kündigung résiliation rescisión recesso opzegging",
    "previous": "bisher bisherig bisherige vorherig vorherige vorig précédent précédente ancien ancienne"
    " anterior precedente alte",
    "current": "aktuell aktuelle derzeit actuel actuelle attuale huidig huidige laufend",
    "new": "neu neue neuer neuen nouveau nouvelle nuevo nueva nuovo nuova nieuw nieuwe geändert modifié",
    "minimum": "mindest mindestens mínimo minimo minimale",
    "maximum": "höchst höchstens maximal máximo massimo maximale",
    "average": "durchschnitt moyenne promedio gemiddeld mittelwert",
}

_PEOPLE = {
    "vacation": "urlaub urlaubs urlaubsanspruch congés vacaciones ferie vakantie vakantiedagen verlof|congés payés",
    "hire": "eintritt eintritts einstellung embauche contratación assunzione indiensttreding|date d'entrée",
    "holder": "kontoinhaber karteninhaber intestatario rekeninghouder titulaire titular",
    "employee number": "personalnummer personalnr personeelsnummer|personal nr|matricola dipendente",
    "customer": "kunde kunden kundin acheteur cliente clienti klant klanten käufer auftraggeber comprador acquirente"
    " koper",
    "seller": "lieferant fournisseur proveedor verkäufer vendeur fornitore leverancier verkoper venditore vendedor",
    "name": "nom nombre nome naam",
    "firstname": "vorname prénom voornaam",
    "surname": "nachname familienname apellido apellidos cognome achternaam",
    "address": "adresse anschrift dirección indirizzo adres wohnort domicile domicilio",
    "city": "ort stadt ville ciudad città stad plaats",
    "street": "straße strasse calle straat",
    "postcode": "plz postleitzahl|code postal|código postal",
    "country": "land país paese staat",
    "phone": "telefon telefonnummer téléphone teléfono telefono telefoon móvil cellulare mobil",
    "email": "courriel correo|e mail|posta elettronica",
    "sender": "absender expéditeur remitente mittente afzender",
    "recipient": "empfänger destinataire destinatario ontvanger geadresseerde",
    "contact person": "ansprechpartner ansprechpartnerin contactpersoon kontaktperson interlocuteur"
    "|personne de contact|persona de contacto|persona di contatto",
    "managing director": "geschäftsführer geschäftsführerin geschäftsleiter gérant gérante directeur gerente bestuurder"
    " zaakvoerder amministratore|director general|directeur général|amministratore delegato",
    "employee": "mitarbeiter arbeitnehmer arbeitnehmerin beschäftigte salarié salariée empleado trabajador dipendente"
    " werknemer medewerker",
    "employer": "arbeitgeber employeur empleador datore werkgever|datore di lavoro",
    "manager": "vorgesetzter vorgesetzte leiter leiterin responsable responsabile leidinggevende",
    "job": "tätigkeit stelle funktion poste puesto posizione functie beruf profession mansione",
    "tenant": "mieter mieterin locataire inquilino arrendatario conduttore huurder",
    "landlord": "vermieter vermieterin bailleur arrendador locatore verhuurder",
    "patient": "patientin paciente paziente patiënt",
    "doctor": "arzt ärztin médecin médico medico dottore",
    "referring doctor": "einsender überweiser zuweiser prescripteur|médecin prescripteur|medico curante"
    "|überweisender arzt|einsendender arzt",
    "insurance": "versicherung assurance seguro assicurazione verzekering krankenkasse kostenträger mutuelle",
    "insured": "versicherter versicherte versicherungsnehmer assurée assuré asegurado assicurato verzekerde"
    " verzekeringnemer tomador contraente",
    "company": "firma société entreprise empresa sociedad azienda società bedrijf unternehmen gesellschaft",
    "owner": "eigentümer inhaber propriétaire propietario proprietario titolare eigenaar",
    "author": "verfasser auteur autor autore",
    "sign": "unterschrift unterzeichnet firmado firmato handtekening gezeichnet signataire",
    "department": "abteilung departamento reparto afdeling",
    "gender": "geschlecht sexe sexo sesso geslacht",
    "national": "staatsangehörigkeit nationalité nacionalidad nazionalità nationaliteit",
    "lawyer": "rechtsanwalt anwalt avocat abogado avvocato advocaat",
    "court": "gericht amtsgericht landgericht tribunale juzgado rechtbank",
    "witness": "zeuge témoin testigo testimone getuige",
}

_THINGS = {
    "serial": "seriennummer serienummer|numéro de série|número de serie|numero di serie",
    "energy": "energie strom électricité electricidad elettricità stroom",
    "power": "leistungsaufnahme puissance potencia potenza vermogen",
    "meter reading": "zählerstand meterstand|relevé de compteur|lectura del contador|lettura contatore",
    "health": "kranken gesundheit santé salud salute gezondheid",
    "health insure": "krankenversicherung zorgverzekering|assurance maladie|seguro de salud|assicurazione sanitaria",
    "sample": "proben probenmaterial prélèvement échantillon muestra campione",
    "collect": "entnahme blutentnahme abnahme prélevé extracción prelievo afname probenentnahme",
    "value": "wert messwert valeur valor valore waarde ",
    "result": "ergebnis résultat resultado risultato resultaat uitslag",
    "unit": "einheit unité unidad unità eenheid",
    "reference range": "referenzbereich normbereich referentiewaarden normwert|valeurs de référence"
    "|valores de referencia|valori di riferimento",
    "test": "untersuchung examen análisis esame onderzoek",
    "diagnosis": "diagnose diagnóstico diagnosi",
    "discharge": "entlassung sortie dimissione ontslag",
    "weight": "gewicht poids peso körpergewicht",
    "height": "höhe größe hauteur taille altura altezza hoogte körpergröße",
    "width": "breite largeur anchura larghezza breedte",
    "length": "länge lengte longueur longitud lunghezza",
    "living area": "wohnfläche woonoppervlakte|surface habitable|superficie útil",
    "sqm": "quadratmeter qm|mètres carrés|metros cuadrados|metri quadri|vierkante meter",
    "area": "fläche superficie oppervlakte",
    "volume": "volumen",
    "vehicle": "fahrzeug véhicule vehículo veicolo voertuig",
    "mileage": "kilometerstand kilométrage kilometraje chilometraggio",
    "colour": "farbe couleur kleur",
    "type": "typ tipo soort",
    "status": "zustand état estado stato",
    "warehouse": "lager entrepôt almacén magazzino magazijn",
    "project": "projekt projet proyecto progetto",
    "meter": "zähler compteur contador contatore",
    "consumption": "verbrauch consommation consumo verbruik",
    "remaining": "restant restante resterend",
    "arrival": "ankunft arrivée llegada arrivo aankomst",
    "departure": "abfahrt abreise abflug départ salida partenza vertrek",
    "page": "seite pagina página",
    "class": "klasse classe clase",
    "room": "zimmer chambre habitación kamer",
    "night": "nächte nuits noches notti nachten",
    "guest": "gast hôte huésped ospite gäste",
}

TONGUES: tuple[tuple[str, str], ...] = (
    *(entry for part in (_PAPERS, _MONEY, _TIME, _PEOPLE, _THINGS) for entry in part.items()),
    *GLOSSARY,
)
