"""Documents written by hand, each with what is to be cited: the places where a rule was learned."""

from datetime import date, datetime, time
from typing import Any

import pytest

from batchwork.evidence import DEFAULT_LINE, find_evidence

CASES: list[tuple[str, str, Any, dict[str, Any], Any]] = []


def case(name: str, text: str, value: Any, expect: dict[str, Any], schema: Any = None) -> None:
    """Expect by path: the cited text, or the text and which of its occurrences, or None for no evidence."""
    CASES.append((name, text, value, expect, schema))


case(
    "basic",
    "Invoice 2012-12\nTotal: $1,250.50 (tax (8%) included)\nStatus: not active\nGrowth: -5%",
    {"total": 1250.5, "tax_rate": 0.08, "status": "active", "growth": 0.05, "qty": 12},
    {"total": "$1,250.50", "tax_rate": "8%", "status": None, "growth": None, "qty": None},
)
case(
    "receipt",
    """CORNER CAFE
12 High St
-----------------------
2 x Flat White     7.00
1 x Croissant      2.80
1 x Croissant      2.80
-----------------------
Subtotal          12.60
VAT 20%            2.52
TOTAL             15.12
Cash              20.00
Change             4.88
Thank you! 05/03/2024 09:41""",
    {
        "merchant": "Corner Cafe",
        "items": [{"name": "Flat White", "quantity": 2, "price": 7.00}],
        "subtotal": 12.6,
        "vat_rate": 0.2,
        "vat": 2.52,
        "total": 15.12,
        "cash_paid": 20.0,
        "change": 4.88,
    },
    {
        "merchant": "CORNER CAFE",
        "items[0].name": "Flat White",
        "items[0].quantity": "2",
        "items[0].price": "7.00",
        "subtotal": "12.60",
        "vat_rate": "20%",
        "vat": "2.52",
        "total": "15.12",
        "cash_paid": "20.00",
        "change": "4.88",
    },
)
case(
    "swapped",
    "Invoice date: 03/04/2024\nDelivery: 25/04/2024\n",
    {"invoice_date": date(2024, 4, 3), "delivery_date": date(2024, 4, 25)},
    {"invoice_date": "03/04/2024", "delivery_date": "25/04/2024"},
)
case(
    "swapped2",
    "Invoice date: 03/04/2024\nDelivery: 25/04/2024\n",
    {"invoice_date": date(2024, 3, 4)},
    {"invoice_date": None},
)
case(
    "iso str",
    "Signed this 3rd day of April, 2024 in Boston",
    {"signed": "2024-04-03"},
    {"signed": "3rd day of April, 2024"},
)
case(
    "two parties",
    """AGREEMENT between Foo Ltd ("Supplier") and Bar Inc ("Customer").
Supplier shall deliver 500 units per month at a price of EUR 12.40 per unit.
The agreement commences on 1 May 2024 and continues for a period of 24 months.
Either party may terminate with three months' notice. Governing law: England and Wales.
Liability is capped at EUR 250,000. Confidentiality survives for 5 years.""",
    {
        "supplier": "Foo Ltd",
        "customer": "Bar Inc",
        "monthly_volume": 500,
        "unit_price": 12.4,
        "start_date": "2024-05-01",
        "term_months": 24,
        "notice_months": 3,
        "governing_law": "England and Wales",
        "liability_cap": 250000,
        "confidentiality_years": 5,
    },
    {
        "supplier": "Foo Ltd",
        "customer": "Bar Inc",
        "monthly_volume": "500",
        "unit_price": "EUR 12.40",
        "start_date": "1 May 2024",
        "term_months": "24",
        "notice_months": "three",
        "governing_law": "England and Wales",
        "liability_cap": "EUR 250,000",
        "confidentiality_years": "5",
    },
)
case(
    "two parties swapped",
    """AGREEMENT between Foo Ltd ("Supplier") and Bar Inc ("Customer").""",
    {"supplier": "Bar Inc", "customer": "Foo Ltd"},
    {"supplier": None, "customer": None},
)
case(
    "kv other role",
    "Gross: 500\nNet: 420\nTax: 80",
    {"gross_amount": 420, "net_amount": 420, "tax": 80},
    {"gross_amount": None, "net_amount": "420", "tax": "80"},
)
case(
    "md table",
    """| Region | Q1 | Q2 |
|---|---|---|
| North | 10 | 20 |
| South | 20 | 30 |
""",
    {"north": {"q1": 10, "q2": 20}, "south": {"q1": 20, "q2": 30}},
    {"north.q1": "10", "north.q2": ("20", 1), "south.q1": ("20", 2), "south.q2": "30"},
)
case(
    "md table wrong",
    """| Region | Q1 | Q2 |
|---|---|---|
| North | 10 | 20 |
| South | 20 | 30 |
""",
    {"north": {"q1": 20}, "south": {"q2": 20}},
    {"north.q1": None, "south.q2": None},
)
case(
    "md recs",
    """| Region | Q1 | Q2 |
|---|---|---|
| North | 10 | 20 |
| South | 20 | 30 |
""",
    {"regions": [{"region": "North", "q1": 10, "q2": 20}, {"region": "South", "q1": 20, "q2": 30}]},
    {"regions[0].q1": "10", "regions[0].q2": ("20", 1), "regions[1].q1": ("20", 2), "regions[1].q2": "30"},
)
case(
    "thousands col",
    """Balance sheet          2023 (USD '000)    2022 (USD '000)
Cash                             1,250              980
Total assets                    12,400           11,050
""",
    {"cash": 1250000, "total_assets": 12400000, "total_assets_2022": 11050000, "cash_2022": 1250000},
    {"cash": "1,250", "total_assets": "12,400", "total_assets_2022": "11,050", "cash_2022": None},
)
case(
    "european",
    "Gesamtbetrag: 1.250,50 EUR\nRabatt: 3 %\nDatum: 05.03.2024\nMenge: 1.250 Stück",
    {"total": 1250.5, "discount": 0.03, "date": date(2024, 3, 5), "quantity": 1250},
    {"total": "1.250,50 EUR", "discount": "3 %", "date": "05.03.2024", "quantity": "1.250"},
)
case(
    "bools",
    """Refundable: no
This ticket is non-transferable.
Breakfast included
Wi-Fi: available
Pets not allowed.
Late checkout is available on request.
""",
    {
        "refundable": False,
        "transferable": False,
        "breakfast_included": True,
        "wifi_available": True,
        "pets_allowed": False,
        "late_checkout": True,
    },
    {"refundable": "no", "pets_allowed": "Pets not allowed"},
)
case(
    "bool contra",
    "Refundable: no\nThis ticket is non-transferable.\nPets not allowed.",
    {"refundable": True, "transferable": True, "pets_allowed": True},
    {"refundable": None, "transferable": None, "pets_allowed": None},
)
case(
    "na",
    "Middle name: N/A\nFax: -\nSpouse: None\nChildren: 0",
    {"middle_name": None, "fax": None, "spouse": None, "children": 0},
    {"middle_name": None, "fax": None, "spouse": None, "children": "0"},
)
case(
    "same amount two roles",
    "Deposit: $500.00\nRefund: $500.00\n",
    {"deposit": 500, "refund": 500},
    {"deposit": ("$500.00", 1), "refund": ("$500.00", 2)},
)
case("ambig", "The first was 500 and the second 500.", {"amount": 500}, {"amount": None})
case(
    "phone",
    "Tel.: +1 (555) 123-4567\nFax: +1 (555) 123-4568",
    {"phone": "+15551234567", "fax": "15551234568"},
    {"phone": "+1 (555) 123-4567"},
)
case(
    "accents",
    "Kunde: Jürgen Müller-Lüdenscheidt\nOrt: São Paulo",
    {"customer": "Jurgen Muller-Ludenscheidt", "city": "Sao Paulo"},
    {"customer": "Jürgen Müller-Lüdenscheidt", "city": "São Paulo"},
)
case("dash id", "Ref: AB‑12–34", {"reference": "AB-12-34"}, {"reference": "AB‑12–34"})
case(
    "broken",
    "The purchaser, Globex International\nHoldings plc, agrees to pay one million\ndollars.",
    {"purchaser": "Globex International Holdings plc"},
    {"purchaser": "Globex International\nHoldings plc"},
)
case("hyphen", "the inter-\nnational market", {"market": "international market"}, {"market": "inter-\nnational market"})
case(
    "neg",
    "Net income (loss): (1,250)\nOther: (30)\nAdjusted EBITDA $(2.5) million",
    {"net_income": -1250, "adjusted_ebitda": -2500000},
    {"net_income": "(1,250)", "adjusted_ebitda": "$(2.5) million"},
)
case("neg contra", "Net income (loss): (1,250)", {"net_income": 1250}, {"net_income": None})
case(
    "enum",
    "Payment method: Bank transfer\nPriority: HIGH\nShipping: next day air",
    {"payment_method": "BANK_TRANSFER", "priority": "high", "shipping_method": "next-day-air"},
    {"payment_method": "Bank transfer", "priority": "HIGH", "shipping_method": "next day air"},
)
case(
    "time",
    "Meeting at 2:30 pm on 5 March 2024",
    {"time": time(14, 30), "date": datetime(2024, 3, 5, 14, 30)},
    {"time": "2:30 pm", "date": "5 March 2024"},
)
case(
    "weird",
    "Score: 12/20. Page 3 of 12. Room 12B, ISO 9001:2015",
    {"score": 12, "pages": 12, "iso_year": 2015},
    {"iso_year": None},
)

case(
    "payslip",
    """PAYSLIP                         Period: March 2024
Employee: A. Novak              Employee ID: 00417
Department: Logistics           Pay date: 28/03/2024

Earnings            Hours    Rate     Amount    YTD
Basic pay          160.00   18.50   2,960.00   8,880.00
Overtime            12.00   27.75     333.00     333.00
Deductions
Income tax                            512.40   1,537.20
National insurance                    248.16     744.48
Gross pay                           3,293.00
Total deductions                      760.56
Net pay                             2,532.44
""",
    {
        "employee_name": "A. Novak",
        "employee_id": "417",
        "period": "2024-03",
        "pay_date": date(2024, 3, 28),
        "basic_pay": 2960,
        "overtime_hours": 12,
        "overtime_rate": 27.75,
        "overtime_amount": 333,
        "income_tax": 512.4,
        "income_tax_ytd": 1537.2,
        "gross_pay": 3293,
        "total_deductions": 760.56,
        "net_pay": 2532.44,
    },
    {
        "employee_name": "A. Novak",
        "period": "March 2024",
        "pay_date": "28/03/2024",
        "basic_pay": "2,960.00",
        "overtime_hours": "12.00",
        "overtime_rate": "27.75",
        "overtime_amount": ("333.00", 1),
        "income_tax": "512.40",
        "income_tax_ytd": "1,537.20",
        "gross_pay": "3,293.00",
        "total_deductions": "760.56",
        "net_pay": "2,532.44",
    },
)
case(
    "flight",
    """Booking reference: K7XQ2M
Passenger          Seat   Class
SMITH/JOHN MR      14C    Economy
Flight   From            To               Departs             Arrives
LH 902   Frankfurt FRA   London LHR       05 MAR 2024 07:30   05 MAR 2024 08:10
LH 917   London LHR      Frankfurt FRA    09 MAR 2024 19:00   09 MAR 2024 21:35
Baggage: 1 x 23kg   Fare: EUR 214.30   Taxes: EUR 96.12   Total: EUR 310.42
""",
    {
        "booking_reference": "k7xq2m",
        "passenger": "SMITH/JOHN MR",
        "seat": "14C",
        "flights": [
            {"number": "LH902", "from": "Frankfurt FRA", "to": "London LHR"},
            {"number": "LH917", "from": "London LHR", "to": "Frankfurt FRA"},
        ],
        "fare": 214.3,
        "taxes": 96.12,
        "total": 310.42,
        "baggage_kg": 23,
    },
    {
        "booking_reference": "K7XQ2M",
        "passenger": "SMITH/JOHN MR",
        "seat": "14C",
        "flights[0].number": "LH 902",
        "flights[0].from": ("Frankfurt FRA", 1),
        "flights[0].to": ("London LHR", 1),
        "flights[1].from": ("London LHR", 2),
        "flights[1].to": ("Frankfurt FRA", 2),
        "fare": "EUR 214.30",
        "taxes": "EUR 96.12",
        "total": "EUR 310.42",
        "baggage_kg": "23",
    },
)
case(
    "wrapped",
    """Item                         Qty    Price     Total
Stainless steel bracket,       4    12.50     50.00
  heavy duty, 40 mm
Rubber mat                     2    25.00     50.00
""",
    {
        "items": [
            {"description": "Stainless steel bracket, heavy duty, 40 mm", "quantity": 4, "price": 12.5, "total": 50},
            {"description": "Rubber mat", "quantity": 2, "price": 25, "total": 50},
        ]
    },
    {
        "items[0].quantity": "4",
        "items[0].price": "12.50",
        "items[0].total": ("50.00", 1),
        "items[1].description": "Rubber mat",
        "items[1].total": ("50.00", 2),
        "items[1].quantity": ("2", 2),
    },
)
case(
    "camel",
    "Inv. No.: 4711\nDt: 05-Mar-2024\nAmt Due: 99.00 USD\nCust. Name: Jo Bloggs\nTel: 555-0199",
    {
        "invoiceNumber": "4711",
        "invoiceDate": "2024-03-05",
        "amountDue": 99,
        "customerName": "Jo Bloggs",
        "phoneNumber": "5550199",
    },
    {
        "invoiceNumber": "4711",
        "invoiceDate": "05-Mar-2024",
        "amountDue": "99.00 USD",
        "customerName": "Jo Bloggs",
        "phoneNumber": "555-0199",
    },
)
case(
    "generic desc",
    "Peak load 450 kW was reached at 18:00. The annual average was 210 kW.",
    {"a": 450, "b": 210},
    {"a": "450", "b": "210"},
    schema={"properties": {"a": {"description": "Peak load in kW"}, "b": {"description": "annual average load"}}},
)
case(
    "root list",
    "Red: 5\nBlue: 7",
    [{"color": "Red", "n": 5}, {"color": "Blue", "n": 7}],
    {"[0].color": "Red", "[0].n": "5", "[1].n": "7"},
)
case("scalar", "The answer is 42.", 42, {"": "42"})
case(
    "tags",
    "Keywords: solar, wind; hydro\nAuthors: Ann Lee, Bob Ray",
    {"keywords": ["solar", "wind", "hydro"], "authors": ["Ann Lee", "Bob Ray"]},
    {"keywords[0]": "solar", "keywords[2]": "hydro", "authors[1]": "Bob Ray"},
)
case(
    "two tables",
    """Orders
Product    Qty
Bolt         5
Nut          7

Returns
Product    Qty
Bolt         2
Nut          1
""",
    {
        "orders": [{"product": "Bolt", "qty": 5}, {"product": "Nut", "qty": 7}],
        "returns": [{"product": "Bolt", "qty": 2}, {"product": "Nut", "qty": 1}],
    },
    {
        "orders[0].qty": "5",
        "orders[1].qty": "7",
        "returns[0].qty": "2",
        "returns[1].qty": "1",
        "returns[0].product": ("Bolt", 2),
        "orders[0].product": ("Bolt", 1),
    },
)
case(
    "two tables swapped",
    """Orders
Product    Qty
Bolt         5
Nut          7

Returns
Product    Qty
Bolt         2
Nut          1
""",
    {"orders": [{"product": "Bolt", "qty": 2}]},
    {"orders[0].qty": None},
)
case(
    "neighbors",
    """Acme Corp
1 Road, London
VAT GB123

Globex Ltd
2 Lane, Paris
VAT FR999
""",
    {"seller": {"name": "Acme Corp", "vat_id": "GB123"}, "buyer": {"name": "Globex Ltd", "vat_id": "FR999"}},
    {"seller.name": "Acme Corp", "seller.vat_id": "GB123", "buyer.vat_id": "FR999"},
)
case(
    "prev year",
    "Revenue for 2023 was $5.2 million, up from $4.8 million in 2022.",
    {"revenue_2023": 5200000, "revenue_2022": 4800000},
    {"revenue_2023": "$5.2 million", "revenue_2022": "$4.8 million"},
)
case(
    "prev year swapped",
    "Revenue for 2023 was $5.2 million, up from $4.8 million in 2022.",
    {"revenue_2023": 4800000},
    {"revenue_2023": None},
)
case(
    "percent aside",
    "Sales tax (8.875%): $12.34\nService charge (optional): 10%\nYield: 4.5 percent",
    {"sales_tax_rate": 0.08875, "sales_tax": 12.34, "service_charge": 0.1, "yield": 4.5},
    {"sales_tax_rate": "8.875%", "sales_tax": "$12.34", "service_charge": "10%", "yield": "4.5 percent"},
)
case(
    "bool prose",
    "The warranty does not cover accidental damage. The device is waterproof. No deposit is required. Smoking is prohibited. The seller has agreed to provide training.",
    {
        "covers_accidental_damage": False,
        "waterproof": True,
        "deposit_required": False,
        "smoking_allowed": False,
        "training_provided": True,
    },
    {"covers_accidental_damage": "not cover accidental damage"},
)
case(
    "bool prose contra",
    "The warranty does not cover accidental damage. The device isn't waterproof. No deposit is required. Smoking is prohibited.",
    {"covers_accidental_damage": True, "waterproof": True, "deposit_required": True, "smoking_allowed": True},
    {"covers_accidental_damage": None, "waterproof": None, "deposit_required": None, "smoking_allowed": None},
)
case(
    "date forms",
    "Born 5.III.1980? No: DOB: 1980-03-05. Issued: Mar 5, 24. Expires: 05/2030. Visit: 2024/3/5; Follow-up on Tuesday, the 12th of March 2024",
    {"dob": date(1980, 3, 5), "issued": date(2024, 3, 5), "follow_up": date(2024, 3, 12)},
    {"dob": "1980-03-05", "follow_up": "12th of March 2024"},
)
case(
    "us ctx",
    "Ship to: Austin, TX 78701\nOrder date 03/04/2024\nTotal $50.00",
    {"order_date": date(2024, 3, 4)},
    {"order_date": "03/04/2024"},
)
case(
    "us ctx contra",
    "Ship to: Austin, TX 78701\nOrder date 03/04/2024\nTotal $50.00",
    {"order_date": date(2024, 4, 3)},
    {"order_date": None},
)
case("no ctx", "Date: 03/04/2024", {"date": date(2024, 4, 3)}, {"date": None})
case(
    "id parts",
    "Order INV-2024-001-A and INV-2024-001.",
    {"invoice_number": "INV-2024-001"},
    {"invoice_number": ("INV-2024-001", 2)},
)
case(
    "computable",
    "Qty 3 at $20 each. Box of 60 pieces.",
    {"quantity": 3, "unit_price": 20, "total": 60},
    {"quantity": "3", "unit_price": "$20", "total": None},
)
case(
    "swiss",
    "Betrag CHF 1'250.50\nMwSt 7.7%",
    {"amount": 1250.5, "vat_rate": 0.077},
    {"amount": "CHF 1'250.50", "vat_rate": "7.7%"},
)
case(
    "fr",
    "Montant total : 1 250,50 €\nDate d'échéance : 5 mars 2024\nN° de facture : FA-2024/17",
    {"total_amount": 1250.5, "due_date": "2024-03-05", "invoice_number": "FA-2024/17"},
    {"total_amount": "1 250,50 €", "due_date": "5 mars 2024", "invoice_number": "FA-2024/17"},
)
case(
    "k",
    "Budget: 250k\nRaised: US$3.4M\nValuation: €1.2bn",
    {"budget": 250000, "raised": 3400000, "valuation": 1200000000},
    {"budget": "250k", "raised": "US$3.4M", "valuation": "€1.2bn"},
)
case("status", "Order status: cancelled\nPrevious status: shipped", {"order_status": "shipped"}, {"order_status": None})
case(
    "status2",
    "Order status: cancelled\nPrevious status: shipped",
    {"order_status": "cancelled", "previous_status": "shipped"},
    {"order_status": "cancelled", "previous_status": "shipped"},
)
case(
    "nonmatch substr",
    "Category: unpaid invoices; catalog",
    {"status": "paid", "animal": "cat"},
    {"status": None, "animal": None},
)

T = "The general assembly convenes on 5 May 2024 and the bonus is disbursed on 7 June 2024. The firm was founded in 1990, employs 500 people and operates 12 plants."
case(
    "a",
    T,
    {
        "assembly_date": date(2024, 5, 5),
        "bonus_disbursement_date": date(2024, 6, 7),
        "founded": 1990,
        "employees": 500,
        "plants": 12,
    },
    {
        "assembly_date": "5 May 2024",
        "bonus_disbursement_date": "7 June 2024",
        "founded": "1990",
        "employees": "500",
        "plants": "12",
    },
)
case(
    "b",
    T,
    {"assembly_date": date(2024, 6, 7), "bonus_disbursement_date": date(2024, 5, 5), "employees": 12, "plants": 500},
    {"assembly_date": None, "bonus_disbursement_date": None, "employees": None, "plants": None},
)
T = """Loan Agreement. Principal: USD 2.5 million. Interest accrues at 6.25% per annum; default interest is 9.25%.
First repayment date: 30 June 2025. Final maturity: 30 June 2030. Arrangement fee: 1.5% of the principal amount.
The borrower may prepay without penalty. The loan is not secured."""
case(
    "loan",
    T,
    {
        "principal": 2500000,
        "interest_rate": 6.25,
        "default_interest_rate": 0.0925,
        "first_repayment_date": "2025-06-30",
        "maturity_date": "2030-06-30",
        "arrangement_fee": 0.015,
        "secured": False,
        "prepayment_penalty": False,
    },
    {
        "principal": "USD 2.5 million",
        "interest_rate": "6.25%",
        "default_interest_rate": "9.25%",
        "first_repayment_date": "30 June 2025",
        "maturity_date": "30 June 2030",
        "arrangement_fee": "1.5%",
    },
)
case(
    "loan contra",
    T,
    {
        "interest_rate": 0.0925,
        "default_interest_rate": 0.0625,
        "first_repayment_date": "2030-06-30",
        "maturity_date": "2025-06-30",
        "secured": True,
        "prepayment_penalty": True,
    },
    {
        "interest_rate": None,
        "default_interest_rate": None,
        "first_repayment_date": None,
        "maturity_date": None,
        "secured": None,
        "prepayment_penalty": None,
    },
)
T = """Name           Jane Roe            John Doe
Age            34                  43
Salary         $75,000             $57,000
Remote         Yes                 No
"""
case(
    "transposed",
    T,
    {"jane_roe": {"age": 34, "salary": 75000}, "john_doe": {"age": 43, "salary": 57000}},
    {"jane_roe.age": "34", "john_doe.age": "43", "john_doe.salary": "$57,000"},
)
T = """PURCHASE ORDER                                   PO Number: 88-1204
                                                 Date: January 9, 2024
Vendor:                      Ship To:
Delta Tools Inc.             Warehouse 7
400 Oak Ave                  9 Pier Road
Reno, NV 89501               Oakland, CA 94607

Line  Part No.   Description        Qty  UOM  Unit Cost   Extended
1     DT-100     Hammer, claw        10  EA      12.00     120.00
2     DT-205     Chisel set           4  ST      30.00     120.00
3     DT-318     Saw blade 12in      12  EA       8.50     102.00

                                       Merchandise Total     342.00
                                       Freight                18.00
                                       PO Total              360.00
"""
case(
    "po",
    T,
    {
        "po_number": "881204",
        "order_date": date(2024, 1, 9),
        "vendor": {"name": "Delta Tools Inc.", "address": "400 Oak Ave, Reno, NV 89501"},
        "ship_to": {"name": "Warehouse 7", "address": "9 Pier Road, Oakland, CA 94607"},
        "lines": [
            {"part_number": "DT100", "description": "Hammer, claw", "quantity": 10, "unit_cost": 12, "extended": 120},
            {"part_number": "DT-205", "description": "Chisel set", "quantity": 4, "unit_cost": 30, "extended": 120},
            {
                "part_number": "DT-318",
                "description": "Saw blade 12in",
                "quantity": 12,
                "unit_cost": 8.5,
                "extended": 102,
            },
        ],
        "freight": 18,
        "total": 360,
        "merchandise_total": 342,
    },
    {
        "po_number": "88-1204",
        "order_date": "January 9, 2024",
        "vendor.name": "Delta Tools Inc.",
        "vendor.address": "400 Oak Ave",
        "ship_to.name": "Warehouse 7",
        "ship_to.address": "9 Pier Road",
        "lines[0].part_number": "DT-100",
        "lines[0].extended": ("120.00", 1),
        "lines[1].extended": ("120.00", 2),
        "lines[2].quantity": "12",
        "lines[0].unit_cost": "12.00",
        "freight": "18.00",
        "total": "360.00",
        "merchandise_total": "342.00",
    },
)
case(
    "po contra",
    T,
    {
        "total": 342,
        "freight": 360,
        "lines": [
            {"part_number": "DT-100", "quantity": 4, "unit_cost": 30},
            {"part_number": "DT-205", "quantity": 10, "unit_cost": 12},
        ],
    },
    {
        "total": None,
        "freight": None,
        "lines[0].quantity": None,
        "lines[0].unit_cost": None,
        "lines[1].quantity": None,
        "lines[1].unit_cost": None,
    },
)
T = """Q: Is the applicant a citizen?  A: Yes
Q: Has the applicant been convicted of a crime?  A: No
Number of dependants: none
Marital status: ☐ single ☑ married ☐ divorced
Household income: $62,400 (prior year $59,900)
"""
case(
    "qa",
    T,
    {
        "citizen": True,
        "convicted": False,
        "marital_status": "married",
        "household_income": 62400,
        "prior_year_income": 59900,
    },
    {
        "citizen": "Yes",
        "convicted": "No",
        "marital_status": "married",
        "household_income": "$62,400",
        "prior_year_income": "$59,900",
    },
)
case(
    "qa contra",
    T,
    {"citizen": False, "convicted": True, "marital_status": "single", "household_income": 59900},
    {"citizen": None, "convicted": None, "marital_status": None, "household_income": None},
)
T = """| Metric | FY2024 | FY2023 |
|--------|-------:|-------:|
| Revenue (in millions) | 1,204.5 | 1,100.2 |
| Employees | 5,400 | 5,100 |
| EPS | 2.15 | 1.98 |
"""
case(
    "fy",
    T,
    {
        "fy2024": {"revenue": 1204500000, "employees": 5400, "eps": 2.15},
        "fy2023": {"revenue": 1100200000, "employees": 5100},
    },
    {
        "fy2024.revenue": "1,204.5",
        "fy2024.employees": "5,400",
        "fy2024.eps": "2.15",
        "fy2023.revenue": "1,100.2",
        "fy2023.employees": "5,100",
    },
)
case(
    "fy contra",
    T,
    {"fy2024": {"revenue": 1100200000, "employees": 5100}},
    {"fy2024.revenue": None, "fy2024.employees": None},
)
T = """Die Gesellschaft beschäftigt 1.250 Mitarbeiter. Der Umsatz stieg um 3,5 % auf 12,4 Mio. EUR. Vorjahr: 11,98 Mio. EUR.
Die Hauptversammlung findet am 3. Mai 2024 statt. Die Dividende wird nicht ausgezahlt."""
case(
    "de",
    T,
    {"employees": 1250, "revenue_growth": 0.035, "revenue": 12400000, "previous_revenue": 11980000},
    {"employees": "1.250", "revenue": "12,4 Mio. EUR", "previous_revenue": "11,98 Mio. EUR"},
)
T = "Total (EUR)      Tax        Net\n1.190,00       190,00   1.000,00\n"
case(
    "header above",
    T,
    {"total": 1190, "tax": 190, "net": 1000},
    {"total": "1.190,00", "tax": "190,00", "net": "1.000,00"},
)
case("header above contra", T, {"total": 1000, "tax": 1190, "net": 190}, {"total": None, "tax": None, "net": None})
T = """Rent: 1200
Utilities: 150

Summary
Rent 1200
Total 1350"""
case("repeat", T, {"rent": 1200, "total": 1350, "utilities": 150}, {"total": "1350", "utilities": "150"})
T = "Weight 12 kg, height 180 cm, BP 120/80, pulse 72 bpm, temp 36.6 °C. Age: 45. Room 12."
case(
    "vitals",
    T,
    {"weight_kg": 12, "height_cm": 180, "pulse": 72, "temperature": 36.6, "age": 45, "room": 12},
    {"weight_kg": ("12", 1), "height_cm": "180", "pulse": "72", "temperature": "36.6", "age": "45", "room": ("12", 3)},
)

T = """Dear Ms Lee, this concerns your dog Rex (Labrador, aged 7), seen at our clinic on 4 June 2024 and sent home on 6 June
2024. Rex weighed 31 kg and his temperature was 38.9 degrees. He does not limp and has no wounds. We gave
carprofen at 50 mg twice daily for 10 days. Jumping is not allowed. A check is booked for 20 June 2024. Kind regards,
Dr. Ann Moss, veterinary surgeon."""
V = {
    "dog_name": "Rex",
    "owner": "Ms Lee",
    "visit_date": date(2024, 6, 4),
    "release_date": date(2024, 6, 6),
    "weight_kg": 31,
    "temperature": 38.9,
    "limping": False,
    "has_wounds": False,
    "carprofen_dose_mg": 50,
    "treatment_days": 10,
    "jumping_allowed": False,
    "next_check_date": date(2024, 6, 20),
    "surgeon": "Ann Moss",
    "age": 7,
}
case(
    "vet",
    T,
    V,
    {
        "dog_name": ("Rex", 1),
        "owner": "Ms Lee",
        "weight_kg": "31",
        "temperature": "38.9",
        "carprofen_dose_mg": "50",
        "next_check_date": "20 June 2024",
        "surgeon": "Ann Moss",
        "age": "7",
    },
)
case(
    "vet contra",
    T,
    {
        "limping": True,
        "has_wounds": True,
        "jumping_allowed": True,
        "visit_date": date(2024, 6, 20),
        "next_check_date": date(2024, 6, 4),
        "weight_kg": 50,
        "carprofen_dose_mg": 10,
    },
    {
        "limping": None,
        "has_wounds": None,
        "jumping_allowed": None,
        "visit_date": None,
        "next_check_date": None,
        "weight_kg": None,
        "carprofen_dose_mg": None,
    },
)
T = """The insured vehicle was parked on 3 May 2023, and the theft was reported on 5 May 2023. The insurer paid EUR 14,200 on 30 June
2023 after deducting an excess of EUR 500. The adjuster, Piet Smit, did not find signs of forced entry and had no objection."""
case(
    "claim",
    T,
    {
        "theft_reported_date": date(2023, 5, 5),
        "payment_date": date(2023, 6, 30),
        "paid_amount": 14200,
        "excess": 500,
        "adjuster": "Piet Smit",
        "forced_entry": False,
    },
    {
        "theft_reported_date": "5 May 2023",
        "payment_date": "30 June\n2023",
        "paid_amount": "EUR 14,200",
        "excess": "EUR 500",
        "adjuster": "Piet Smit",
    },
)
case(
    "claim contra",
    T,
    {
        "theft_reported_date": date(2023, 5, 3),
        "payment_date": date(2023, 5, 5),
        "paid_amount": 500,
        "excess": 14200,
        "forced_entry": True,
    },
    {"theft_reported_date": None, "payment_date": None, "paid_amount": None, "excess": None, "forced_entry": None},
)
T = """12  Gross receipts ......................... 48,200.00
13  Returns and allowances ................. (1,200.00)
14  Line 12 plus line 13 ................... 47,000.00
15  Number of employees .................... 12
16  Have you filed before? ................. Yes"""
case(
    "lines",
    T,
    {"gross_receipts": 48200, "returns_and_allowances": -1200, "employees": 12, "filed_before": True},
    {
        "gross_receipts": "48,200.00",
        "returns_and_allowances": "(1,200.00)",
        "employees": ("12", 3),
        "filed_before": "Yes",
    },
)
case(
    "lines contra",
    T,
    {"returns_and_allowances": 1200, "employees": 15, "filed_before": False},
    {"returns_and_allowances": None, "employees": None, "filed_before": None},
)
T = """Our team of 14 engineers shipped 3 releases in 2023. Uptime reached 99.95%, response time fell to 120 ms (from 180 ms), and
customer satisfaction improved from 4.1 to 4.6 out of 5. We spent $1.1M on infrastructure and hired Maria Lund as CTO in March 2023."""
case(
    "ops",
    T,
    {
        "engineers": 14,
        "releases": 3,
        "uptime": 0.9995,
        "response_time_ms": 120,
        "previous_response_time_ms": 180,
        "customer_satisfaction": 4.6,
        "infrastructure_spend": 1100000,
        "cto": "Maria Lund",
    },
    {
        "engineers": "14",
        "releases": "3",
        "uptime": "99.95%",
        "response_time_ms": "120",
        "infrastructure_spend": "$1.1M",
        "cto": "Maria Lund",
        "customer_satisfaction": "4.6",
    },
)
T = """Subject to clause 4, the Buyer shall pay the Purchase Price of GBP 750,000 in three instalments: GBP 250,000 on signing,
GBP 300,000 on completion and GBP 200,000 on the first anniversary of completion. Completion shall take place on 1 October 2024
(the "Completion Date"). The Seller warrants that it has not granted any option and that the Shares are fully paid."""
case(
    "spa",
    T,
    {
        "purchase_price": 750000,
        "signing_payment": 250000,
        "completion_payment": 300000,
        "completion_date": date(2024, 10, 1),
        "instalments": 3,
        "shares_fully_paid": True,
        "option_granted": False,
    },
    {
        "purchase_price": "GBP 750,000",
        "signing_payment": "GBP 250,000",
        "completion_payment": "GBP 300,000",
        "completion_date": "1 October 2024",
        "instalments": "three",
    },
)
case(
    "spa contra",
    T,
    {"purchase_price": 250000, "signing_payment": 300000, "shares_fully_paid": False, "option_granted": True},
    {"purchase_price": None, "signing_payment": None, "shares_fully_paid": None, "option_granted": None},
)

T = """Acme SL

Numero de pedido      Fecha                     Vencimiento
P-77                  8 de octubre de 2023      07/12/2023

Cliente
Globex
"""
case(
    "es",
    T,
    {"order_number": "P-77", "order_date": date(2023, 10, 8), "due_date": date(2023, 12, 7), "customer": "Globex"},
    {"order_number": "P-77", "order_date": "8 de octubre de 2023", "due_date": "07/12/2023", "customer": "Globex"},
)


T = """# Report

## Cleaning

Vendor: Alpha Ltd
Yearly price: €500.00

## Security

Vendor: Beta Ltd
Yearly price: €500.00
"""
case(
    "sec",
    T,
    {"cleaning": {"vendor": "Alpha Ltd", "yearly_price": 500}, "security": {"vendor": "Beta Ltd", "yearly_price": 500}},
    {
        "cleaning.yearly_price": ("€500.00", 1),
        "security.yearly_price": ("€500.00", 2),
        "cleaning.vendor": "Alpha Ltd",
        "security.vendor": "Beta Ltd",
    },
)
case(
    "sec contra",
    T,
    {"cleaning": {"vendor": "Beta Ltd"}, "security": {"vendor": "Alpha Ltd"}},
    {"cleaning.vendor": None, "security.vendor": None},
)
T2 = T.replace("# Report\n\n## ", "").replace("## ", "").replace("\n\nV", "\nV")
case(
    "sec2",
    T2,
    {"cleaning": {"vendor": "Alpha Ltd", "yearly_price": 500}, "security": {"vendor": "Beta Ltd", "yearly_price": 500}},
    {
        "cleaning.yearly_price": ("€500.00", 1),
        "security.yearly_price": ("€500.00", 2),
        "cleaning.vendor": "Alpha Ltd",
        "security.vendor": "Beta Ltd",
    },
)
T3 = """Lead: Ana Diaz (Cleaning)
The cleaning contract costs €500.00 a year and the security contract costs €700.00 a year."""
case(
    "sec3",
    T3,
    {"cleaning": {"cost": 500}, "security": {"cost": 700}},
    {"cleaning.cost": "€500.00", "security.cost": "€700.00"},
)
case(
    "sec3c", T3, {"cleaning": {"cost": 700}, "security": {"cost": 500}}, {"cleaning.cost": None, "security.cost": None}
)
case(
    "foreign names",
    """Account holder   Priya Raman
Custodian        Tern & Gull Ltd

The parcel was handed to Liam O'Connor in Oslo.""",
    {"auditor": "Tern & Gull Ltd", "branch_manager": "Priya Raman", "plumber": "Liam O'Connor", "birthplace": "Oslo"},
    {"auditor": None, "branch_manager": None, "plumber": None, "birthplace": None},
)
case(
    "whom a label misses",
    "Travelling with:   Ann Moss\nTravel is arranged by Fell & Sons.",
    {"travel_agency": "Ann Moss", "travel_company": "Fell & Sons"},
    {"travel_agency": None, "travel_company": "Fell & Sons"},
)
case(
    "one place, two claims",
    "City Water Works\n\nAnn Moss\n1 Quay\n\nDear customer, your reading is due.",
    {"customer_name": "Ann Moss", "technician": "Ann Moss"},
    {"customer_name": "Ann Moss", "technician": None},
)
case(
    "short forms",
    "NI number        QQ 12 34 56 C\nVehicle identification no.   WDB 123 456",
    {"national_insurance_number": "QQ123456C", "vin": "WDB123456"},
    {"national_insurance_number": "QQ 12 34 56 C", "vin": "WDB 123 456"},
)
case(
    "numbered boxes",
    """Form 12   Summary   2023
--------------------------------------------------
1 Wages                   2 Federal tax withheld
  51,864.54                 4,847.78
--------------------------------------------------
16 State wages            17 State tax
  50,100.00                 1,131.85""",
    {"federal_tax_withheld": 4847.78, "state_tax": 1131.85, "state_wages": 51864.54},
    {"federal_tax_withheld": "4,847.78", "state_tax": "1,131.85", "state_wages": None},
)
case(
    "years and notes",
    "\tNotes\t2023\t2022\t2021\nRevenue\t2\t6,357\t6,351\t5,500\nNet result\t11\t(643)\t674\t720",
    {"revenue": 6357, "net_result": -643},
    {"revenue": "6,357", "net_result": "(643)"},
)
case(
    "other years are not this one",
    "\tNotes\t2023\t2022\nRevenue\t2\t6,357\t6,351",
    {"revenue": 6351},
    {"revenue": None},
)
case(
    "currencies",
    "Order value: EUR 900.00 (equivalent to USD 972.00 or GBP 774.00).",
    {"order_value_eur": 900, "order_value_usd": 972, "order_value_gbp": 972},
    {"order_value_eur": "EUR 900.00", "order_value_usd": "USD 972.00", "order_value_gbp": None},
)
case(
    "modals and prepositions",
    "The tenant may not smoke. The lender shall not assign its rights. The borrower may repay early without charge.",
    {"smoking_allowed": True, "assignment_allowed": False, "early_repayment_allowed": True},
    {
        "smoking_allowed": None,
        "assignment_allowed": "shall not assign",
        "early_repayment_allowed": "may repay early",
    },
)
case(
    "boxes lead or follow",
    "[ ] All invoices enclosed    [x] Car used\nAlarm tested [ ]     Kit available [x]",
    {"invoices_enclosed": True, "car_used": True, "alarm_tested": False, "kit_available": True},
    {"invoices_enclosed": None, "car_used": "[x] Car used", "alarm_tested": "[ ]", "kit_available": "[x]"},
)
case(
    "grades",
    "Course   Grade\nRhetoric   A-",
    {"courses": [{"course": "Rhetoric", "grade": "A"}]},
    {"courses[0].grade": None},
)
case(
    "numbered parts",
    """Lot 40

Oak settle

Estimate: £1,000 - £1,300

Lot 41

Brass sextant

Estimate: £900 - £1,100""",
    {
        "lots": [
            {"lot": 40, "title": "Oak settle", "low": 1000, "high": 1300},
            {"lot": 41, "title": "Brass sextant", "high": 1300},
        ]
    },
    {"lots[0].lot": "40", "lots[0].low": "£1,000", "lots[0].high": "£1,300", "lots[1].lot": "41", "lots[1].high": None},
)
case(
    "half a name",
    "Arranged overdraft      £500.00\nPayment within 30 days, 2.5 % discount within 10 days.",
    {"overdraft_limit": 500, "cash_discount": 0.025},
    {"overdraft_limit": "£500.00", "cash_discount": "2.5 %"},
)
case(
    "what stands behind a name",
    "The house was seen together with Ann Moss, who handles your claim.",
    {"claim_handler": "Ann Moss", "plumber": "Ann Moss"},
    {"claim_handler": "Ann Moss", "plumber": None},
)
case(
    "years over a gap, groups of rows and a column of notes",
    """                            Note        2023        2022

Current liabilities
Borrowings                     4       1,250       1,900
Non-current liabilities
Borrowings                     5       7,400       8,100
Total liabilities                      8,650      10,000""",
    {
        "current_year": {"short_term_debt": 1250, "long_term_debt": 7400, "total_liabilities": 10000},
        "prior_year": {"short_term_debt": 1900, "long_term_debt": 8100, "total_liabilities": 10000},
    },
    {
        "current_year.short_term_debt": "1,250",
        "current_year.long_term_debt": "7,400",
        "current_year.total_liabilities": None,
        "prior_year.short_term_debt": "1,900",
        "prior_year.long_term_debt": "8,100",
        "prior_year.total_liabilities": "10,000",
    },
)
case(
    "the total row of a column",
    "| Item | Billed | Accepted |\n|---|---|---|\n| Cast | 1,310.00 | 1,260.00 |\n| Scan | 1,120.00 | 1,095.00 |\n| **Total** | 2,430.00 | 2,355.00 |",
    {"total_billed": 2430, "total_accepted": 2430},
    {"total_billed": "2,430.00", "total_accepted": None},
)
case(
    "a French invoice",
    """Facture n° : FA-118
Date de facturation : 12/03/2024
Date d'échéance : 11/04/2024
Numéro de client : 40921
Interlocuteur : Claire Petit
Total HT            102,00
TVA 20 %             20,40
Total TTC           122,40
Acompte versé        50,00
Reste à payer        72,40""",
    {
        "invoice_date": date(2024, 3, 12),
        "due_date": date(2024, 3, 12),
        "customer_number": "40921",
        "contact_person": "Claire Petit",
        "subtotal": 102,
        "vat_amount": 20.4,
        "total": 122.4,
        "deposit_paid": 50,
        "balance_due": 72.4,
    },
    {
        "invoice_date": "12/03/2024",
        "due_date": None,
        "customer_number": "40921",
        "contact_person": "Claire Petit",
        "subtotal": "102,00",
        "vat_amount": "20,40",
        "total": "122,40",
        "deposit_paid": "50,00",
        "balance_due": "72,40",
    },
)
case(
    "a German payslip of compounds",
    """Arbeitnehmer: Jonas Keller
Personal-Nr.: 4411
Eintrittsdatum: 01.02.2020
Bruttolohn           4.200,00
Nettolohn            2.980,10
Urlaubsanspruch: 28 Tage""",
    {
        "employee": "Jonas Keller",
        "employee_number": "4411",
        "hire_date": date(2020, 2, 1),
        "gross_pay": 4200,
        "vacation_days": 28,
    },
    {
        "employee": "Jonas Keller",
        "employee_number": "4411",
        "hire_date": "01.02.2020",
        "gross_pay": "4.200,00",
        "vacation_days": "28",
    },
)
case(
    "labels in Spanish, Italian and Dutch",
    """Arrendador: Pilar Ortega
Fianza: 1.700,00 €
Intestatario: Gianni Ferri
Data emissione: 05/06/2024
Klantnummer: K-88
Leverdatum: 17-06-2024""",
    {
        "landlord": "Pilar Ortega",
        "tenant": "Pilar Ortega",
        "security_deposit": 1700,
        "account_holder": "Gianni Ferri",
        "issue_date": date(2024, 6, 5),
        "customer_number": "K88",
        "delivery_date": date(2024, 6, 17),
    },
    {
        "landlord": "Pilar Ortega",
        "tenant": None,
        "security_deposit": "1.700,00 €",
        "account_holder": "Gianni Ferri",
        "issue_date": "05/06/2024",
        "customer_number": "K-88",
        "delivery_date": "17-06-2024",
    },
)
case(
    "the path of a key",
    """{
  "pool": {
    "requests": {
      "diskGb": 40
    },
    "limits": {
      "diskGb": 90
    },
    "idleTimeoutSeconds": 15
  }
}""",
    {"disk_request_gb": 40, "disk_limit_gb": 40, "idle_timeout_seconds": 15},
    {"disk_request_gb": "40", "disk_limit_gb": None, "idle_timeout_seconds": "15"},
)
case(
    "dotted keys and tables of settings",
    "mail.port = 2525\nmail.maxRetries = 6\n\n[cache]\nport = 6379\n\n[search]\nport = 9200",
    {"mail_max_retries": 6, "cache": {"port": 6379}, "search": {"port": 6379}},
    {"mail_max_retries": "6", "cache.port": "6379", "search.port": None},
)
case(
    "what was and what is now",
    """4. Premium. The premium rises from £410.00 to £455.00.
5. Excess. Instead of £100.00 as hitherto, £150.00 shall apply.
6. Contact. The words "Ann Moss" are deleted and replaced by "Tim Boyd".""",
    {
        "previous_premium": 410,
        "new_premium": 410,
        "previous": {"excess": 100, "contact": "Ann Moss"},
        "amended": {"excess": 150, "contact": "Ann Moss"},
    },
    {
        "previous_premium": "£410.00",
        "new_premium": None,
        "previous.excess": "£100.00",
        "amended.excess": "£150.00",
        "previous.contact": "Ann Moss",
        "amended.contact": None,
    },
)
case(
    "a year ago",
    "Churn was 4.1%, compared with 5.3% a year ago. Bookings fell to $61 million from $74 million in the same quarter of last year.",
    {"churn": 0.041, "churn_prior_year": 0.053, "bookings": 74e6, "bookings_prior_year": 74e6},
    {"churn": "4.1%", "churn_prior_year": "5.3%", "bookings": None, "bookings_prior_year": "$74 million"},
)
case(
    "the ends of a range by the field's name",
    "Notice may be given between 3 June 2024 and 7 June 2024. Storage: -20 °C to +60 °C",
    {"notice_from": date(2024, 6, 3), "notice_to": date(2024, 6, 3), "storage_low": -20, "storage_high": 60},
    {"notice_from": "3 June 2024", "notice_to": None, "storage_low": "-20", "storage_high": "+60"},
)
case(
    "figures between a label and its value",
    "TOTAL (7 ITEMS)           £31.20\nLess voucher received 21/03/2025         £5.00",
    {"total": 31.2, "voucher_received": 5},
    {"total": "£31.20", "voucher_received": "£5.00"},
)
case(
    "who somebody is, told behind the name",
    """This deed is between Orion Freight BV, hereinafter the Carrier, and Lumen Optics AG ("the Shipper").
"We are pleased," said Dana Wells, Chief Operating Officer. Maria Kovacs, who acts as notary, attested it.""",
    {"carrier": "Orion Freight BV", "shipper": "Orion Freight BV", "coo": "Dana Wells", "notary": "Maria Kovacs"},
    {"carrier": "Orion Freight BV", "shipper": None, "coo": "Dana Wells", "notary": "Maria Kovacs"},
)
case(
    "the form of a letter",
    """Northwind Mutual
14 May 2024

Re: Erika Stone, born 2 April 1980

Dear Dr Lindgren,

please let us have your answer by 10 June 2024.

Yours sincerely,

Paul Hardy
Head of Underwriting

For the Insurer: Rita Holm""",
    {
        "letter_date": date(2024, 5, 14),
        "patient_name": "Erika Stone",
        "doctor": "Lindgren",
        "reply_deadline": date(2024, 6, 10),
        "signed_by": "Paul Hardy",
        "signatory_title": "Head of Underwriting",
        "insurer_signatory": "Rita Holm",
    },
    {
        "letter_date": "14 May 2024",
        "patient_name": "Erika Stone",
        "doctor": "Lindgren",
        "reply_deadline": "10 June 2024",
        "signed_by": "Paul Hardy",
        "signatory_title": "Head of Underwriting",
        "insurer_signatory": "Rita Holm",
    },
)
case(
    "words behind a date that lead on to the next one, and a date that is no box number",
    "Date of issue\t24 October 2023\nRelates to invoice\tINV-7 of 15 September 2023\n\nThe loss of 3 May 2023, which you reported on 9 May 2023, is covered.",
    {"issue_date": date(2023, 9, 15), "reported_date": date(2023, 5, 9)},
    {"issue_date": None, "reported_date": "9 May 2023"},
)
case(
    "a loss is no profit",
    "The year closed with a net loss of $12.4 million.",
    {"net_loss": 12.4e6, "net_profit": 12.4e6},
    {"net_loss": "$12.4 million", "net_profit": None},
)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[entry[0] for entry in CASES])
def test_a_document_written_by_hand(index: int) -> None:
    _, text, value, expect, schema = CASES[index]
    found = find_evidence(value, text, schema=schema)
    for path, wanted in expect.items():
        cited = [citation for citation in found[path] if citation.confidence >= DEFAULT_LINE]
        if wanted is None:
            assert cited == [], path
            continue
        words, rank = wanted if isinstance(wanted, tuple) else (wanted, None)
        assert [citation.text for citation in cited[:1]] == [words], path
        place = -1
        for _ in range(rank or 0):
            place = text.index(words, place + 1)
        assert rank is None or cited[0].start == place, path


def _said(text: str, value: Any) -> dict[str, str | None]:
    """By path what is cited first, with the number of its line before it."""
    found = find_evidence(value, text)
    best = {path: next((one for one in cited if one.confidence >= DEFAULT_LINE), None) for path, cited in found.items()}
    return {
        path: None if one is None else f"{text.count(chr(10), 0, one.start) + 1}: {one.text}"
        for path, one in best.items()
    }


def test_a_bracket_with_a_currency_is_negative_whatever_stands_in_the_next_line() -> None:
    text = "Rebate\t(€291.00)\nMetal\t€12.00\nRefund\t(USD 5.50)\nBags\t$3.00"
    value = {"rebate": -291, "metal": 12, "refund": -5.5, "bags": -3}
    expected = {"rebate": "1: (€291.00)", "metal": "2: €12.00", "refund": "3: (USD 5.50)", "bags": None}
    assert _said(text, value) == expected


def test_separated_values_are_read_cell_by_cell() -> None:
    text = 'id,owner,weight,length\n501,"Moss, Ann",12,60\n502,Ola Berg,75,12\n503,Tom Kerr,"1,075",60\n'
    value = {
        "parcels": [
            {"id": 501, "owner": "Moss, Ann", "weight": 12, "length": 60},
            {"id": 502, "owner": "Ola Berg", "weight": 75, "length": 75},
            {"id": 503, "owner": "Tom Kerr", "weight": 1075, "length": 60},
        ]
    }
    assert _said(text, value) == {
        "parcels[0].id": "2: 501",
        "parcels[0].owner": "2: Moss, Ann",
        "parcels[0].weight": "2: 12",
        "parcels[0].length": "2: 60",
        "parcels[1].id": "3: 502",
        "parcels[1].owner": "3: Ola Berg",
        "parcels[1].weight": "3: 75",
        "parcels[1].length": None,
        "parcels[2].id": "4: 503",
        "parcels[2].owner": "4: Tom Kerr",
        "parcels[2].weight": "4: 1,075",
        "parcels[2].length": "4: 60",
    }


def test_a_line_beside_separated_values_is_a_label_and_its_value() -> None:
    text = "# Exported;2024-05-03\nday;litres;pumps\n2024-05-02;410;3\n2024-05-03;395;3\nSum;805;\n"
    assert _said(text, {"exported": date(2024, 5, 3)}) == {"exported": "1: 2024-05-03"}


@pytest.mark.parametrize(
    "note", ["HK$'000", "(in thousands of USD)", "Angaben in Tsd. EUR", "EUR 000s", "en milliers d'euros"]
)
def test_a_note_that_scales_a_table_is_understood(note: str) -> None:
    text = (
        f"Statement of income\n{note}\n\n                  2023      2022\n\nSales\nRevenue         12,345    11,002\n"
    )
    assert _said(text, {"revenue": 12_345_000, "sold": 12_345_001}) == {"revenue": "7: 12,345", "sold": None}


def test_a_number_grouped_by_apostrophes_is_no_note_of_thousands() -> None:
    assert _said("Total CHF 1'000\nFee 20\n", {"fee": 20}) == {"fee": "2: 20"}


def test_a_moment_is_cited_with_its_time_and_contradicted_by_another() -> None:
    text = "opened: 2024-02-03T09:15:00Z\nclosed: 3 February 2024 at 5:45 pm\n"
    value = {"opened": "2024-02-03T09:15:00Z", "closed": datetime(2024, 2, 3, 17, 45)}
    assert _said(text, value) == {"opened": "1: 2024-02-03T09:15:00Z", "closed": "2: 3 February 2024 at 5:45 pm"}
    assert _said(text, {"opened": "2024-02-03T10:15:00Z"}) == {"opened": None}


def test_the_first_of_a_pair_of_pressures_is_the_systolic_one() -> None:
    text = "On examination: BP 132/84 mmHg, open 24/7."
    assert _said(text, {"bp_systolic": 132, "bp_diastolic": 84}) == {"bp_systolic": "1: 132", "bp_diastolic": "1: 84"}
    assert _said(text, {"bp_systolic": 84, "bp_diastolic": 132}) == {"bp_systolic": None, "bp_diastolic": None}


def test_the_lower_end_of_a_range_is_not_its_upper_limit() -> None:
    text = "Pressure (bar): 150 - 370\nMoisture (%): < 5.0"
    value = {"pressure_max": 370, "pressure_min": 150, "moisture_max": 5.0}
    assert _said(text, value) == {"pressure_max": "1: 370", "pressure_min": "1: 150", "moisture_max": "2: 5.0"}
    assert _said(text, {"pressure_max": 150, "moisture_min": 5.0}) == {"pressure_max": None, "moisture_min": None}


def test_a_loss_is_a_negative_profit_and_a_fall_is_negative_growth() -> None:
    text = "The group made a net loss of $3.2 million. Sales fell by 4.5% in the year."
    value = {"net_profit": -3_200_000, "sales_growth": -0.045}
    assert _said(text, value) == {"net_profit": "1: $3.2 million", "sales_growth": "1: 4.5%"}
    assert _said(text, {"net_profit": 3_200_000, "sales_growth": 0.045}) == {"net_profit": None, "sales_growth": None}


_ORDER = {"items": [{"sku": "KX-11", "pieces": 4}, {"sku": "KX-29", "pieces": 12}, {"sku": "LM-02", "pieces": 12}]}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '{"items": [\n  {\n    "sku": "KX-11",\n    "pieces": 4\n  },\n  {\n    "sku": "KX-29",\n'
            '    "pieces": 12\n  },\n  {\n    "sku": "LM-02",\n    "pieces": 4\n  }\n]}',
            (4, 8),
        ),
        ("items:\n- sku: KX-11\n  pieces: 4\n- sku: KX-29\n  pieces: 12\n- sku: LM-02\n  pieces: 4\n", (3, 5)),
        (
            "items[0].sku=KX-11\nitems[0].pieces=4\nitems[1].sku=KX-29\nitems[1].pieces=12\nitems[2].sku=LM-02\n"
            "items[2].pieces=4\n",
            (2, 4),
        ),
    ],
    ids=["json", "yaml", "properties"],
)
def test_each_element_of_a_dump_has_its_own_values(text: str, lines: tuple[int, int]) -> None:
    said = _said(text, _ORDER)
    assert said["items[0].pieces"] == f"{lines[0]}: 4"
    assert said["items[1].pieces"] == f"{lines[1]}: 12"
    assert said["items[2].pieces"] is None


def test_the_object_around_a_key_tells_two_equal_keys_apart() -> None:
    text = '{\n  "email": {\n    "enabled": true,\n    "limit": 5\n  },\n  "sms": {\n    "enabled": false,\n    "limit": 9\n  }\n}'
    value = {"email": {"enabled": True, "limit": 5}, "sms": {"enabled": False, "limit": 5}}
    assert _said(text, value) == {
        "email.enabled": "3: true",
        "email.limit": "4: 5",
        "sms.enabled": "7: false",
        "sms.limit": None,
    }


def test_the_product_tells_whether_a_quantity_stands_above_or_below_its_item() -> None:
    lines = [{"product": "Juice", "quantity": 2, "unit_price": 1.2}, {"product": "Yoghurt", "quantity": 3}]
    above = "SHOP\n2 x 1.20\nJUICE            2.40\nBREAD            3.10\n3 x 0.85\nYOGHURT          2.55\n"
    below = "SHOP\nJUICE            2.40\n  2 x 1.20\nBREAD            3.10\nYOGHURT          2.55\n  3 x 0.85\n"
    for text, first, second in ((above, 2, 5), (below, 3, 6)):
        said = _said(text, {"lines": lines})
        assert said["lines[0].quantity"] == f"{first}: 2"
        assert said["lines[0].unit_price"] == f"{first}: 1.20"
        assert said["lines[1].quantity"] == f"{second}: 3"


def test_each_half_of_a_sentence_answers_for_its_own_subject() -> None:
    text = "Parking is included and storage is not. Dental cover is excluded, travel cover is part of the plan."
    truth = {"parking_included": True, "storage_included": False, "dental_included": False, "travel_included": True}
    assert None not in _said(text, truth).values()
    assert set(_said(text, {name: not value for name, value in truth.items()}).values()) == {None}


def test_a_negated_verb_is_understood_in_other_words() -> None:
    text = "The used parts were not handed back. You must not drive. Returns are not accepted. She has no allergies and smokes."
    truth = {
        "parts_returned": False,
        "fit_to_drive": False,
        "returns_allowed": False,
        "allergies": False,
        "smoker": True,
    }
    assert None not in _said(text, truth).values()
    assert set(_said(text, {name: not value for name, value in truth.items()}).values()) == {None}


def test_a_box_belongs_to_the_words_behind_it_unless_boxes_stand_behind_theirs() -> None:
    truth = {"fire": True, "theft": False, "water": True}
    for text in ("7 [X] Fire      [ ] Theft      [X] Water", "Fire [X]   Theft [ ]   Water [X]"):
        assert None not in _said(text, truth).values()
        assert set(_said(text, {name: not value for name, value in truth.items()}).values()) == {None}


def test_a_flag_in_a_dump_is_an_answer_whatever_its_writing() -> None:
    truth = {"email_verified": False, "is_active": True}
    for text in (
        '{"emailVerified": false,\n "isActive": true}',
        "<emailVerified>false</emailVerified>\n<isActive>true</isActive>",
    ):
        assert [said and said[3:] for said in _said(text, truth).values()] == ["false", "true"]


def test_a_question_answered_in_the_words_of_the_description_is_cited() -> None:
    schema = {
        "properties": {"salvage": {"type": "boolean", "description": "Whether the insured keeps the damaged car"}}
    }
    text = "The repair was approved. The insured may not keep the damaged car."
    assert [one.text for one in find_evidence({"salvage": False}, text, schema=schema)["salvage"]] != []
    assert find_evidence({"salvage": True}, text, schema=schema)["salvage"] == []


def test_what_is_said_of_two_subjects_is_said_of_each() -> None:
    truth = {"smoking_allowed": False, "pets_allowed": False}
    for text in ("Smoking and pets are not allowed.", "Neither smoking nor pets are allowed."):
        assert None not in _said(text, truth).values()
        assert set(_said(text, {name: not value for name, value in truth.items()}).values()) == {None}


def test_a_name_that_denies_by_itself_is_answered_as_it_stands() -> None:
    text = "Severely disabled: no    Tax exempt: yes\nThe alarm is enabled."
    truth = {"severely_disabled": False, "tax_exempt": True, "alarm_disabled": False}
    assert None not in _said(text, truth).values()
    assert set(_said(text, {name: not value for name, value in truth.items()}).values()) == {None}


def _answered(text: str, truth: dict[str, bool]) -> dict[str, bool]:
    """The answers that are cited while their opposites are not."""
    opposites = _said(text, {name: not value for name, value in truth.items()})
    return {name: truth[name] for name, said in _said(text, truth).items() if said and opposites[name] is None}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Off-street parking is available.", "parking_available"),
        ("The house 5 km off the coast has a pool.", "pool"),
        ("It is rather warm.", "warm"),
        ("Failed payments are retried.", "payments_retried"),
        ("For lack of time the exam is open book.", "open_book"),
        ("See the manual: updates are automatic.", "automatic"),
        ("The hidden menu is made visible by a click.", "visible"),
        ("The once orphaned package is now maintained.", "maintained"),
        ("The old driver was removed and the new one is installed.", "installed"),
        ("Delivery is only available in Rome.", "delivery_available"),
        ("The read-only disk is encrypted.", "encrypted"),
        ("Redistribution and use, with or without modification, are permitted.", "modification_permitted"),
    ],
)
def test_words_that_only_look_like_a_denial_deny_nothing(text: str, name: str) -> None:
    assert _answered(text, {name: True}) == {name: True}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Smoker: no\nFormer smoker: yes\n", "smoker"),
        ("The client is not thread safe. The pool is thread safe.", "is_thread_safe"),
        ("If debug is true, verbose is false.", "debug"),
        ("The lamp works with or without batteries.", "requires_batteries"),
        ("Breakfast can be booked with or without dinner.", "dinner_included"),
    ],
)
def test_what_is_left_open_or_said_of_another_thing_is_no_yes(text: str, name: str) -> None:
    assert _said(text, {name: True}) == {name: None}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("No visa or passport would be required.", "passport_required"),
        ("The bread is not, though cheap, gluten free.", "gluten_free"),
        ("The deposit is with or without cause not refundable, but transferable.", "refundable"),
    ],
)
def test_a_denial_reaches_over_what_is_put_in_between(text: str, name: str) -> None:
    assert _answered(text, {name: False}) == {name: False}


def test_a_denial_ends_where_another_verb_begins() -> None:
    text = "We are not liable for frost and are insured against theft. I cannot swim, am vaccinated and have no pets."
    truth = {"insured_against_theft": True, "vaccinated": True, "has_pets": False}
    assert _answered(text, truth) == truth
    truth = {"heated": False, "cellar": False}
    assert _answered("The flat has no lift, is sold unheated and does not have a cellar.", truth) == truth


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        (
            "Dogs are not admitted. The serum must be kept refrigerated.",
            {"dogs_allowed": False, "cooling_required": True},
        ),
        ("The beam does not satisfy the standard.", {"complies_with_standard": False}),
        ("The budget was adopted. The appeal was not granted.", {"appeal_granted": False}),
    ],
)
def test_other_words_for_the_same_answer_are_understood_and_the_very_word_counts_more(
    text: str, truth: dict[str, bool]
) -> None:
    assert _answered(text, truth) == truth


def test_a_box_is_chosen_in_other_languages_too() -> None:
    truth = {"rookvrij": True, "balkon": False}
    assert _answered("Rookvrij      [x] ja   [ ] nee\nBalkon        [ ] ja   [x] nee", truth) == truth


def test_words_beside_a_date_tell_that_the_day_comes_first() -> None:
    for note in ("Dates: day first", "Dates are given as day, month, year", "Dates: day before month"):
        text = f"{note}\nDeparture: 04/07/2024"
        assert [one.text for one in find_evidence({"departure": date(2024, 7, 4)}, text)["departure"]] == ["04/07/2024"]
        assert find_evidence({"departure": date(2024, 4, 7)}, text)["departure"] == []


def test_an_amount_in_brackets_in_the_middle_of_a_sentence_is_an_aside() -> None:
    text = "A retention of 5% (412.50) is held until handover."
    assert [one.text for one in find_evidence({"retention_amount": 412.5}, text)["retention_amount"]] == ["412.50"]
    assert find_evidence({"retention_amount": -412.5}, text)["retention_amount"] == []


_OFFERS = "Bidder\tAlpha Bau\tBeton Nord\tCasa Build\nPrice\t41,200\t39,850\t44,100\nWeeks\t12\t14\t12\nWarranty (years)\t5\t3\t5"


def test_elements_side_by_side_live_in_their_columns() -> None:
    offers = [
        {"bidder": "Alpha Bau", "price": 41200, "weeks": 12},
        {"bidder": "Beton Nord", "price": 44100, "weeks": 14},
        {"bidder": "Casa Build", "price": 44100, "weeks": 12},
    ]
    found = find_evidence({"offers": offers}, _OFFERS)
    assert [one.text for one in found["offers[0].price"]] == ["41,200"]
    assert found["offers[1].price"] == []  # the price of the bidder beside it
    assert [one.start for one in found["offers[2].weeks"]] == [_OFFERS.index("12\nWarranty")]


def test_a_value_of_a_list_within_a_list_stands_where_row_and_column_cross() -> None:
    text = "Ward\tMonday\tTuesday\tBeds\nNorth\t17\t23\t40\nSouth\t19\t28\t35"
    wards = [
        {"ward": "North", "beds": 40, "days": [{"day": "Monday", "visits": 17}, {"day": "Tuesday", "visits": 28}]},
        {"ward": "South", "beds": 35, "days": [{"day": "Monday", "visits": 19}, {"day": "Tuesday", "visits": 28}]},
    ]
    found = find_evidence({"wards": wards}, text)
    assert [one.text for one in found["wards[0].days[0].visits"]] == ["17"]
    assert found["wards[0].days[1].visits"] == []  # the other ward's
    assert [one.text for one in found["wards[1].days[1].visits"]] == ["28"]


def test_elements_in_one_line_begin_behind_a_mark_and_not_in_brackets() -> None:
    text = "SKILLS\n\nWelding (advanced); Turning (basic)"
    skills = [{"skill": "Welding", "grade": "basic"}, {"skill": "Turning", "grade": "advanced"}]
    found = find_evidence({"skills": skills}, text)
    assert [one.text for one in found["skills[1].skill"]] == ["Turning"]
    assert found["skills[0].grade"] == found["skills[1].grade"] == []


def test_the_figures_of_a_calculation_are_told_apart() -> None:
    text = "Work bill\n\nLabour    6.5 h x $48.00 = $312.00\nParking   3 days x $11.00 = $33.00"
    value = {"labour_cost": 312, "labour_rate": 48, "labour_hours": 6.5, "parking_cost": 33, "parking_rate": 11}
    found = find_evidence(value, text)
    assert [found[name][0].text for name in value] == ["$312.00", "$48.00", "6.5", "$33.00", "$11.00"]
    assert find_evidence({"parking_cost": 312}, text)["parking_cost"] == []


def test_what_is_said_of_a_part_is_not_said_of_the_whole() -> None:
    text = "The fair is over. 38 of 120 stands were empty on the last day."
    assert [one.text for one in find_evidence({"empty_stands": 38}, text)["empty_stands"]] == ["38"]
    assert all(one.confidence < DEFAULT_LINE for one in find_evidence({"empty_stands": 120}, text)["empty_stands"])


def test_a_range_that_is_still_open_has_its_start() -> None:
    text = "POSTS\n\nHead Gardener, Royal Parks\n2019 - present\n\nGardener, City of Bath\n2014 - 2018"
    posts = [{"title": "Head Gardener", "start_year": 2019}, {"title": "Gardener", "start_year": 2014}]
    found = find_evidence({"posts": posts}, text)
    assert [found[f"posts[{rank}].start_year"][0].text for rank in range(2)] == ["2019", "2014"]


def test_elements_of_xml_are_labels_and_those_around_them_tell_twins_apart() -> None:
    text = (
        "<Order>\n  <Shipper>\n    <Name>Delta Mills</Name>\n    <Town>Ghent</Town>\n  </Shipper>\n"
        "  <Consignee>\n    <Name>Orion Wool</Name>\n    <Town>Turin</Town>\n  </Consignee>\n</Order>"
    )
    value = {"sender": {"name": "Delta Mills", "city": "Ghent"}, "recipient": {"name": "Orion Wool", "city": "Turin"}}
    assert None not in _said(text, value).values()
    swapped = {"sender": {"city": "Turin"}, "recipient": {"city": "Ghent"}}
    assert set(_said(text, swapped).values()) == {None}


def test_labels_of_registers_and_accounts_in_other_languages_are_read() -> None:
    text = "Rechtsform: Genossenschaft\nStammkapital: 25.000,00 EUR\nBetriebsergebnis: 7.340,00 EUR\nBaujahr: 1987\n"
    value = {"legal_form": "Genossenschaft", "share_capital": 25000, "operating_profit": 7340, "year_built": 1987}
    assert None not in _said(text, value).values()
    text = (
        "Siège social : Nantes\nChiffre d'affaires : 91 200 EUR\nDécouvert : 1 500 EUR\nMédecin traitant : Luc Morel\n"
    )
    value = {"registered_office": "Nantes", "revenue": 91200, "overdraft": 1500, "referring_doctor": "Luc Morel"}
    assert None not in _said(text, value).values()


def test_the_result_of_a_calculation_has_the_label_of_its_line() -> None:
    text = "Assembly     6.00 h x EUR 70.00 = EUR 420.00\nPainting     2.50 h x EUR 48.00 = EUR 120.00\n"
    assert None not in _said(text, {"assembly_cost": 420, "painting_cost": 120}).values()
    assert set(_said(text, {"assembly_cost": 120, "painting_cost": 420}).values()) == {None}


def test_what_is_said_behind_a_part_is_not_said_of_the_whole() -> None:
    text = "During the storm 18 of 240 houses were damaged.\n"
    assert None not in _said(text, {"damaged_houses": 18}).values()
    assert _said(text, {"damaged_houses": 240})["damaged_houses"] is None


def test_whose_agent_somebody_is_does_not_make_him_the_principal() -> None:
    text = "Tenant: Ada Crane\n\nBo Lind was the tenant's guarantor throughout.\n"
    assert _said(text, {"tenant": "Bo Lind"})["tenant"] is None
    assert None not in _said(text, {"tenant": "Ada Crane", "guarantor": "Bo Lind"}).values()


def test_a_date_inside_a_label_does_not_part_it_from_its_value() -> None:
    text = "Opening balance at 1 March 2024: 310.00\nFinal balance at 31 March 2024: 275.50\n"
    assert None not in _said(text, {"opening_balance": 310, "closing_balance": 275.5}).values()
    assert set(_said(text, {"opening_balance": 275.5, "closing_balance": 310}).values()) == {None}


def test_years_with_words_in_headings_tell_the_current_from_the_previous() -> None:
    text = "              FY 2022      FY 2021\nRevenue       5,210        4,870\nCash            640          590\n"
    value = {"revenue": 5210, "revenue_prior_year": 4870, "current_year": {"cash": 640}, "prior_year": {"cash": 590}}
    assert None not in _said(text, value).values()
    assert _said(text, {"revenue": 4870, "revenue_prior_year": 5210}) == {"revenue": None, "revenue_prior_year": None}


def test_bands_of_days_head_columns() -> None:
    text = "Ageing of receivables\n  0-30 days    31-60 days   Over 60 days\n     410.20        97.15          33.40\n"
    value = {"days_0_30": 410.2, "days_31_60": 97.15, "over_60_days": 33.4}
    assert None not in _said(text, value).values()
    assert _said(text, {"days_31_60": 410.2})["days_31_60"] is None


def test_a_paper_called_by_its_number_has_the_date_behind_it() -> None:
    text = "Date: 9 May 2024\nWe refer to your order 8812 of 2 May 2024.\n"
    said = _said(text, {"order_date": date(2024, 5, 2), "offer_date": date(2024, 5, 2)})
    assert said["order_date"] is not None
    assert said["offer_date"] is None


def test_what_is_expected_is_not_what_was_reached() -> None:
    text = "Sales were 41.2 million euros. For next year sales are expected at 44.0 million euros.\n"
    assert _said(text, {"sales": 41200000})["sales"] is not None
    assert _said(text, {"sales": 44000000})["sales"] is None


def test_the_side_told_behind_a_name_is_its_own() -> None:
    text = "In the case of Elm Ltd, claimant, against Ash plc, defendant, both sides were heard.\n"
    assert None not in _said(text, {"claimant": "Elm Ltd", "defendant": "Ash plc"}).values()
    assert _said(text, {"claimant": "Ash plc", "defendant": "Ash plc"})["claimant"] is None
