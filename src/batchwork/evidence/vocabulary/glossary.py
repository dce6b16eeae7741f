"""More labels in German, French, Spanish, Italian and Dutch, by trade -> concepts. Data, no decisions.

Written as in `tongues`, which holds the words of every letter and invoice; here are those of registers, accounts,
banks, law, medicine, property, transport, schools and workshops.
"""

_COMPANIES = {
    "legal name": "firmenname handelsname|raison sociale|dénomination sociale|razón social|denominación social"
    "|ragione sociale|denominazione sociale|statutaire naam|eingetragener name",
    "name": "denominazione dénomination denominación benaming",
    "trade name": "handelsnaam|nom commercial|nombre comercial|nome commerciale",
    "legal form": "rechtsform rechtsvorm|forme juridique|forma jurídica|forma giuridica|natura giuridica",
    "legal entity": "rechtspersoon|juristische person|personne morale|persona jurídica|persona giuridica",
    "register seat": "firmensitz|satzungsmäßiger sitz|statutaire zetel|siège social|domicilio social|sede legale"
    "|sede social",
    "seat": "sitz zetel siège sede",
    "share capital": "stammkapital grundkapital aandelenkapitaal|geplaatst kapitaal|gezeichnetes kapital|capital social"
    "|capitale sociale|capital suscrito|capital souscrit|capitale sottoscritto",
    "paid capital": "|gestort kapitaal|eingezahltes kapital|capital libéré|capital versé|capital desembolsado"
    "|capitale versato",
    "authorise capital": "|maatschappelijk kapitaal|genehmigtes kapital|capital autorisé|capital autorizado"
    "|capitale autorizzato",
    "capital": "kapital kapitaal capitale",
    "register": "handelsregister registro registre registrazione inschrijving eintragung inscripción immatriculation"
    " iscrizione kvk rcs",
    "extract": "uittreksel handelsregisterauszug visura",
    "incorporate": "gründung oprichting constitución costituzione|akte van oprichting|date de création",
    "establishment": "vestiging établissement établissements establecimiento stabilimento betriebsstätte",
    "branch": "filiale niederlassung zweigstelle filiaal succursale sucursal agence agenzia oficina filial",
    "visit address": "bezoekadres besucheradresse",
    "business": "geschäft bedrijfs activité actividad attività|objet social|oggetto sociale|objeto social",
    "activity": "activiteiten activiteit tätigkeiten",
    "employee": "personeel effectif effectifs plantilla organico belegschaft personale|werkzame personen"
    "|effectif moyen|nombre de salariés|numero dipendenti|número de empleados|zahl der mitarbeiter",
    "office start": "|datum in functie|in functie sinds|im amt seit|bestellt am|en fonction depuis|en el cargo desde"
    "|in carica dal|in carica da|date de nomination|data di nomina|fecha de nombramiento",
    "authority": "bevoegdheid befugnis vertretungsbefugnis pouvoirs poderes poteri",
    "shareholder": "gesellschafter aktionär aktionäre aandeelhouder aandeelhouders actionnaire actionnaires accionista"
    " accionistas azionista azionisti socio soci associé associés",
    "board": "vorstand aufsichtsrat bestuur|conseil d'administration|consejo de administración|consiglio di"
    " amministrazione|raad van bestuur",
    "auditor": "wirtschaftsprüfer abschlussprüfer accountantsverklaring|commissaire aux comptes|revisore dei conti",
    "general meeting": "hauptversammlung gesellschafterversammlung|assemblée générale|junta general|assemblea generale"
    "|algemene vergadering",
}

_ACCOUNTS = {
    "revenue": "verkaufserlöse|chiffre d'affaires|cifra de negocios|importe neto de la cifra de negocios"
    "|volume d'affaires|netto omzet",
    "operating profit": "betriebsergebnis bedrijfsresultaat|résultat d'exploitation|resultado de explotación"
    "|resultado operativo|risultato operativo|operatives ergebnis|utile operativo|resultado de la explotación",
    "profit": "jahresergebnis nettogewinn nettowinst reingewinn|résultat net|resultado neto|utile netto|risultato netto"
    "|resultado del ejercicio|résultat de l'exercice|utile d'esercizio|netto resultaat|resultaat na belastingen"
    "|bénéfice net",
    "financial result": "finanzergebnis|résultat financier|resultado financiero|risultato finanziario"
    "|financieel resultaat",
    "income tax": "ertragsteuern vennootschapsbelasting körperschaftsteuer|impôt sur les bénéfices"
    "|impôt sur les sociétés|impuesto sobre beneficios|impuesto de sociedades|impuesto sobre sociedades"
    "|imposte sul reddito|steuern vom einkommen",
    "depreciation": "abschreibung abschreibungen afschrijving afschrijvingen amortissement amortissements"
    " amortizaciones amortización ammortamenti ammortamento|dotations aux amortissements|dotación a la amortización",
    "employee expense": "personalaufwand personalkosten personeelskosten|charges de personnel|frais de personnel"
    "|gastos de personal|costi del personale|spese per il personale|costo del lavoro",
    "material cost": "materialaufwand materialkosten grondstoffen|achats consommés|coût des matières"
    "|consumos de materias|coste de materiales|costi per materie prime|aprovisionamientos",
    "cash": "kasse kassenbestand liquide trésorerie tesorería liquidità|flüssige mittel|liquide mittel|liquide middelen"
    "|disponibilità liquide|efectivo y equivalentes",
    "tax": "|impôts et taxes|imposte e tasse",
    "other income": "|autres produits|otros ingresos|altri ricavi|sonstige erträge|overige opbrengsten"
    "|sonstige betriebliche erträge",
    "fiscal year": "geschäftsjahr wirtschaftsjahr|exercice clos|exercice comptable|ejercicio económico"
    "|ejercicio fiscal|esercizio sociale|anno fiscale",
    "growth": "wachstum croissance crecimiento crescita groei",
    "difference": "abweichung veränderung variación variazione verschil differenz écart diferencia differenza",
    "balancesheet": "bilanz balans bilancio|bilan comptable|balance de situación|stato patrimoniale",
    "incomestatement": "gewinnundverlustrechnung|compte de résultat|cuenta de resultados|cuenta de pérdidas y ganancias"
    "|conto economico|winst en verliesrekening|gewinn und verlustrechnung",
    "tradepayable": "|verbindlichkeiten aus lieferungen|dettes fournisseurs|deudas comerciales|debiti commerciali"
    "|handelsschulden|cuentas por pagar",
    "receivable": "|créances clients|crediti commerciali|cuentas por cobrar|deudores comerciales|handelsvorderingen",
    "debt": "finanzschulden endettement deuda debito debiti verschuldung emprunts",
    "noncurrent": "langfristig langfristige langlopende|à long terme|a largo plazo|a lungo termine|op lange termijn",
    "shortterm": "kurzfristig kurzfristige kortlopende|à court terme|a corto plazo|a breve termine|op korte termijn",
    "investment": "investition investitionen investissement investissements inversión inversiones investimento"
    " investimenti investering investeringen",
    "dividend": "dividende dividendo dividenden",
    "share": "aktie aktien aandeel aandelen acciones acción azioni azione",
    "provision": "rückstellung rückstellungen provisiones accantonamenti voorzieningen",
    "reserve": "rücklage rücklagen réserves reservas riserve",
    "budget": "budgetiert presupuestado begroting begroot",
    "planned": "geplant prévu previsto gepland soll",
    "actual": "réel reales effettivo werkelijk tatsächlich",
}

_BANKING = {
    "credit": "haber abono abonos haben guthaben gutschrift gutschriften avere accredito accrediti bijschrijving"
    " tegoed crédito",
    "debit": "debe cargo cargos lastschrift lastschriften belastung débit débito addebito addebiti afschrijvingen"
    " abbuchung",
    "open balance": "anfangssaldo beginsaldo vortrag|saldo anterior|saldo inicial|saldo iniziale|solde initial"
    "|ancien solde|alter saldo|alter kontostand|vorig saldo|oud saldo|saldo precedente|solde précédent",
    "close balance": "endsaldo schlusssaldo eindsaldo|saldo final|saldo finale|solde final|nouveau solde|neuer saldo"
    "|neuer kontostand|nuevo saldo|nuovo saldo|nieuw saldo|saldo actual",
    "book date": "buchungstag buchungsdatum boekdatum|f operación|fecha operación|fecha de operación|fecha de asiento"
    "|date d'opération|date comptable|data contabile|data operazione|data registrazione",
    "value date": "wertstellung valutadatum|f valor|fecha valor|date de valeur|data valuta|fecha de valor",
    "booking": "buchung umsätze boeking écriture",
    "transact": "transaktion transaktionen transactie transacties movimientos movimiento movimenti movimento opération"
    " opérations operaciones operazioni operazione mouvements",
    "overdraft": "dispositionskredit dispo descubierto découvert scoperto roodstand kontoüberziehung|crédit autorisé",
    "limit": "grenze höchstgrenze kreditrahmen límite limite plafond limiet tope",
    "interest rate": "zinssatz sollzins zinssätze rentevoet rentepercentage|taux d'intérêt|tipo de interés"
    "|tasso di interesse|tasso d'interesse",
    "apr": "tae taeg teg effektivzins jkp|effektiver jahreszins|jaarlijks kostenpercentage",
    "instalment": "raten mensualité mensualités cuota cuotas rata aflossing termijnbedrag monatsrate tilgungsrate",
    "repay": "tilgung rückzahlung remboursements amortización devolución restituzione aflossingen",
    "transfer": "überweisungsbetrag virement transferencia bonifico overboeking",
    "payee": "begünstigter zahlungsempfänger bénéficiaire beneficiario begunstigde",
    "payer": "auftraggeber zahler zahlungspflichtiger ordonnateur ordenante ordinante opdrachtgever|donneur d'ordre",
    "purpose": "verwendungszweck causale mededeling betalingskenmerk|motif du virement",
    "commission": "comisión comisiones courtage maklerprovision provvigione commissioni",
    "charge": "frais spesen bankspesen",
    "holder": "inhaber|titular de la cuenta|titulaire du compte|intestatario del conto",
    "cheque": "scheck chèque assegno",
    "guarantee": "bürgschaft aval fideiussione borgstelling garantie garantía garanzia",
    "stamp duty": "bollo stempelsteuer zegelrecht|imposta di bollo|importo bollo|droit de timbre|timbre fiscal"
    "|impuesto de timbre",
    "withhold tax": "quellensteuer ritenuta retención bronbelasting|ritenuta d'acconto|retenue à la source"
    "|retención irpf",
    "tax rate": "aliquota|aliquota iva|tipo impositivo|tipo de iva|btw percentage|btw tarief|mwst satz",
    "tax number": "steuernummer steuernr btwnummer|codice fiscale|id fiscale iva|numéro de tva|número de identificación"
    " fiscal|btw nummer|btw nr|steuer nr",
    "fiscal": "fiscale fiscal steuerlich",
    "code": "codice código kode",
}

_TRADE = {
    "seller": "cedente prestatore prestataire prestador verkoopster dienstleister leistungserbringer|cedente"
    " prestatore",
    "customer": "cessionario committente besteller auftraggeberin afnemer donneur mandant kundschaft|cessionario"
    " committente",
    "line amount": "positionsbetrag regelbedrag|prezzo totale|montant ligne|importe línea|importo riga|totaal regel"
    "|montant de la ligne",
    "line": "zeile position positionen linea línea riga regel ligne lignes dettaglio",
    "summary": "zusammenfassung riepilogo récapitulatif resumen samenvatting übersicht",
    "total amount": "|importo totale documento|totale documento|totale fattura|total factura|total facture"
    "|totaal factuur|montant ttc|importe con iva",
    "document": "dokument documento documenti stuk",
    "payment method": "zahlungsart zahlungsweise betaalwijze|mode de paiement|moyen de paiement|forma de pago"
    "|modalità di pagamento|modalita pagamento|metodo di pagamento|método de pago|betaalmethode",
    "payment term": "zahlungsbedingung betalingstermijn betalingsvoorwaarden|conditions de paiement"
    "|condiciones de pago|termini di pagamento|condizioni di pagamento",
    "shipping cost": "versandkosten frachtkosten portokosten verzendkosten|frais de port|frais de livraison"
    "|gastos de envío|spese di spedizione|spese di trasporto",
    "delivery note": "lieferschein pakbon|bon de livraison|albarán|bolla di consegna|documento di trasporto",
    "packaging": "verpackung emballage embalaje imballaggio verpakking",
    "goods": "mercancía mercancías marchandise marchandises merce merci goederen",
    "price list": "preisliste prijslijst",
    "order number": "bestellnr auftragsnr bestelnummer ordernummer",
    "customer number": "kundennr klantnummer clientnummer|n° client|código cliente|codice cliente|numéro client"
    "|número de cliente",
    "customer reference": "|ihr zeichen|ihre referenz|ihre bestellung|votre référence|votre réf|vos réf|su referencia"
    "|vostro riferimento|vs riferimento|uw kenmerk|uw referentie|uw bestelling",
    "stock": "bestand lagerbestand giacenza voorraad existencia|en stock",
    "warranty": "gewährleistung",
    "gross weight": "bruttogewicht brutogewicht|poids brut|peso bruto|peso lordo",
    "net weight": "nettogewicht|poids net|peso neto|peso netto",
    "box": "karton kartons caja cajas colis scatola scatole doos dozen",
    "package": "paket pakete paquete paquetes pacco pacchi pakket pakketten packstücke bultos colli",
    "container": "contenedor conteneur",
    "vessel": "schiff navire buque nave schip",
    "origin": "herkunft ursprung ursprungsland origen origine herkomst|pays d'origine|país de origen|paese di origine",
    "destination": "bestimmungsort zielort destino destinazione bestemming",
    "carrier": "spediteur spedition frachtführer transporteur transportista vettore vervoerder corriere",
    "vehicle register": "kennzeichen kenteken matrícula targa immatriculation|plaque d'immatriculation"
    "|amtliches kennzeichen",
    "vin": "fahrgestellnummer fahrzeugidentifikationsnummer telaio bastidor chassisnummer|numéro de châssis"
    "|número de bastidor|numero di telaio",
    "driver": "fahrer chauffeur conductor conducente autista bestuurders",
    "route": "strecke trajet ruta percorso traject",
    "station": "bahnhof haltestelle gare estación stazione halte",
    "platform": "gleis bahnsteig voie quai andén vía binario spoor perron",
    "train": "zug züge treno trein",
    "flight": "flug vol vuelo volo vlucht",
    "seat number": "sitzplatz asiento posto zitplaats",
    "fare": "fahrpreis tarifa tariffa reisekosten",
    "ticket": "fahrkarte fahrschein billet billete biglietto kaartje",
    "passenger": "fahrgast passagier passagers voyageur pasajero passeggero reiziger fluggast",
}

_LIFE = {
    "admission": "aufnahme ricovero opname ingreso hospitalisation",
    "discharge": "entlass alta",
    "medication": "medikament medikamente medikation médicament médicaments medicamento medicamentos farmaco farmaci"
    " medicijn medicijnen arzneimittel geneesmiddel",
    "dose": "dosierung posologie dosis dosaggio dosering",
    "allergy": "allergie allergien allergies alergia alergias allergia allergieën unverträglichkeit",
    "prescribe": "rezept verordnung ordonnance receta ricetta recept verschreibung",
    "blood": "blut sang sangre sangue bloed",
    "bloodpressure": "blutdruck bloeddruk|tension artérielle|presión arterial|pressione arteriosa",
    "pulse": "puls herzfrequenz hartslag pouls pulso polso|fréquence cardiaque|frecuencia cardíaca",
    "temperature": "temperatur température temperatura temperatuur körpertemperatur",
    "haemoglobin": "hämoglobin hémoglobine hemoglobina emoglobina hemoglobine",
    "laboratory": "labor laboratoire laboratorio",
    "hospital": "krankenhaus klinik hôpital hospitalier ospedale ziekenhuis",
    "therapy": "behandlung therapie traitement tratamiento trattamento behandeling terapia",
    "surgery": "eingriff operación intervento operatie",
    "symptom": "beschwerden symptome symptômes síntomas sintomi klachten",
    "referring doctor": "|überweisender|médecin traitant|médico derivante|verwijzend arts|verwijzer",
    "family doctor": "hausarzt huisarts|médecin généraliste|médico de cabecera|medico di base",
    "bedroom": "schlafzimmer slaapkamer slaapkamers dormitorio dormitorios|chambre à coucher|camera da letto",
    "bathroom": "badezimmer badkamer baño baños bagno|salle de bain|salle de bains",
    "room": "räume pièces pièce kamers stanza stanze habitaciones locali",
    "floor": "etage stockwerk étage planta verdieping geschoss",
    "house": "haus maison casa huis wohnhaus",
    "apartment": "wohnung appartement appartamento departamento woning",
    "land": "grundstück terreno perceel parcela",
    "built year": "baujahr bouwjaar|année de construction|año de construcción|anno di costruzione",
    "property": "immobilie objekt immeuble inmueble immobile pand liegenschaft",
    "purchase price": "kaufpreis koopprijs|prix d'achat|prix de vente|precio de compra|precio de venta"
    "|prezzo di acquisto|prezzo di vendita",
    "asking price": "vraagprijs angebotspreis",
    "heating": "heizung heizkosten chauffage calefacción riscaldamento verwarming",
    "water": "wasser eau agua acqua",
    "gas": "erdgas gaz",
    "notary": "notar notaire notario notaio notaris",
    "judge": "richter richterin juge juez giudice rechter",
    "plaintiff": "kläger klägerin demandeur demandante attore eiser",
    "defendant": "beklagter beklagte défendeur demandado convenuto verweerder gedaagde",
    "judgment": "urteil jugement sentencia sentenza vonnis",
    "case number": "geschäftszeichen zaaknummer|numéro de dossier|número de expediente|numero di pratica",
    "penalty": "vertragsstrafe pénalité penalización penale boete bußgeld amende multa",
    "liable": "haftung responsabilité responsabilidad responsabilità aansprakelijkheid",
    "claim": "schaden schadenfall sinistre siniestro sinistro schade anspruch",
    "deductible": "selbstbehalt selbstbeteiligung franquicia franchigia",
    "sum insure": "versicherungssumme deckungssumme|capital assuré|suma asegurada|somma assicurata|verzekerd bedrag"
    "|verzekerde som",
    "premium": "versicherungsbeitrag jahresbeitrag jahresprämie",
    "beneficiary": "bezugsberechtigter",
    "policy number": "versicherungsnummer versicherungsscheinnummer policennummer polisnummer|numéro de police"
    "|número de póliza|numero di polizza|numero polizza",
    "handler": "sachbearbeiter sachbearbeiterin gestionnaire tramitador liquidatore behandelaar",
    "first register": "erstzulassung|première immatriculation|primera matriculación|prima immatricolazione"
    "|eerste toelating",
    "notarise": "beurkundung beurkundet notariell|acte notarié|escritura pública|atto notarile|notariële akte",
    "transfer tax": "grunderwerbsteuer overdrachtsbelasting|droits de mutation|imposta di registro",
    "purchase date": "kaufdatum aankoopdatum|date d'achat|fecha de compra|data di acquisto",
    "hearing": "verhandlung audiencia udienza zitting",
    "appeal": "berufung appel apelación appello beroep",
    "heir": "erbe erben héritier héritiers heredero herederos erede eredi erfgenaam",
    "child": "kinder enfant enfants hijo hijos figlio figli kinderen",
    "spouse": "ehegatte ehepartner conjoint cónyuge coniuge echtgenoot",
    "school": "schule école escuela scuola",
    "student": "schüler schülerin student studentin élève étudiant étudiante alumno alumna estudiante studente"
    " leerling",
    "teacher": "lehrer lehrerin enseignant profesor profesora insegnante docente leraar",
    "course": "kurs lehrgang cours curso corso cursus",
    "grade": "zensur notenschnitt calificación voto cijfer",
    "exam": "prüfung épreuve prova tentamen",
    "marital status": "familienstand|état civil|estado civil|stato civile|burgerlijke staat",
    "birth place": "geburtsort geboorteplaats|lieu de naissance|lugar de nacimiento|luogo di nascita",
    "language": "sprache langue idioma lingua taal",
    "probation": "probezeit proeftijd|période d'essai|período de prueba|periodo de prueba|periodo di prova",
    "working hour": "arbeitszeit arbeidstijd arbeitsstunden|temps de travail|jornada laboral|orario di lavoro",
    "overtime": "überstunden overuren straordinario straordinari|heures supplémentaires|horas extra"
    "|horas extraordinarias|lavoro straordinario",
    "social security": "sozialversicherung|sécurité sociale|seguridad social|previdenza sociale|sociale zekerheid",
    "ssn": "sozialversicherungsnummer burgerservicenummer bsn|numéro de sécurité sociale|número de la seguridad social",
    "pension": "pensión pensione pensioen altersvorsorge rentenversicherung retraite",
}

_OFFICE = {
    "place": "lieu lugar luogo standort tagungsort ubicación",
    "city": "comune gemeinde gemeente municipio localidad localité località woonplaats",
    "country": "nación nazione",
    "province": "provincia provincie bundesland kanton région región regione",
    "street": "rue avenida|calle y número",
    "house number": "hausnummer huisnummer",
    "meeting": "sitzung besprechung vergadering réunion reunión riunione versammlung",
    "chair": "vorsitz vorsitzender vorsitzende voorzitter président présidente presidente",
    "secretary": "schriftführer protokollführer secretaris secrétaire secretario segretario",
    "attendee": "anwesend anwesende teilnehmer teilnehmerin aanwezig aanwezigen présents asistentes"
    " presenti deelnemers",
    "absent": "abwesend entschuldigt afwezig absents excusés ausentes assenti",
    "decide": "beschluss entscheidung besluit décision decisión decisione delibera",
    "approve": "genehmigt genehmigung bewilligt approuvé approbation aprobado aprobación approvato approvazione"
    " goedgekeurd goedkeuring freigegeben",
    "certify": "bescheinigt certificado certifié certificato gecertificeerd",
    "check": "geprüft kontrolle contrôle revisión controllo controle vérifié",
    "valid": "gültig gültigkeit valable validité válido validez valido validità geldig geldigheid",
    "start": "|con decorrenza|con effetto dal|à compter du|met ingang van|con efecto desde|a contar desde",
    "year": "exercice ejercicio esercizio boekjaar",
    "first": "erste erster erstes premier première primero primera eerste",
    "second": "zweite zweiter deuxième segundo segunda secondo seconda tweede",
    "last": "letzte letzter dernier dernière último última ultimo ultima laatste",
    "daily": "täglich quotidien diario giornaliero dagelijks",
    "quarter": "quartal trimestre kwartaal",
    "voltage": "spannung tensión tensione spanning",
    "capacity": "kapazität capacité capacidad capacità capaciteit fassungsvermögen",
    "density": "dichte densité densidad densità dichtheid",
    "humidity": "feuchtigkeit luftfeuchtigkeit humidité humedad umidità vochtigheid",
    "size": "größenangabe tamaño dimensione maat",
    "batch number": "chargennummer losnummer batchnummer|numéro de lot|número de lote|numero di lotto|numero lotto",
    "batch": "charge chargen lote lotto partij",
    "expiry date": "verfallsdatum haltbarkeitsdatum mindesthaltbarkeitsdatum houdbaarheidsdatum"
    "|date de péremption|fecha de caducidad|data di scadenza",
    "inspect": "inspektion besichtigung inspección ispezione inspectie",
    "defect": "mangel mängel défaut defecto difetto gebrek gebreken",
    "test report": "prüfbericht testrapport|rapport d'essai|informe de ensayo|rapporto di prova",
    "user": "benutzer nutzer utilisateur usuario utente gebruiker",
    "password": "passwort kennwort contraseña wachtwoord|mot de passe",
    "version": "versión versione versie",
    "priority": "priorität priorité prioridad priorità prioriteit",
    "responsible": "zuständig verantwortlich verantwoordelijk|à la charge de|a cargo de",
    "machine": "maschine máquina macchina",
    "material": "werkstoff matériau matériaux materiale materiaal matière",
    "measure": "messung mesure medición misura meting",
    "tolerance": "toleranz tolérance tolerancia tolleranza",
    "pressure": "druck pression presión pressione",
    "speed": "geschwindigkeit vitesse velocidad velocità snelheid drehzahl",
    "thickness": "dicke stärke épaisseur espesor spessore dikte",
    "diameter": "durchmesser diamètre diámetro diametro",
    "depth": "tiefe profondeur profundidad profondità diepte",
    "repair": "reparatur réparation reparación riparazione reparatie instandsetzung",
    "maintain": "wartung mantenimiento manutenzione onderhoud",
    "model": "modell modèle modelo modello",
    "manufacturer": "hersteller fabricant fabricante produttore fabrikant",
    "brand": "marke marque marca merk",
    "file": "akte dossier expediente fascicolo",
    "attachment": "anlage anlagen annexe annexes anexo allegato allegati bijlage bijlagen pièces",
    "signatory": "unterzeichner",
    "reading": "ablesung ablesedatum",
}

GLOSSARY: tuple[tuple[str, str], ...] = tuple(
    entry for trade in (_COMPANIES, _ACCOUNTS, _BANKING, _TRADE, _LIFE, _OFFICE) for entry in trade.items()
)
