import time as clock
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, Field

from batchwork.documents import read_document, text_document
from batchwork.evidence import DEFAULT_LINE, Citation, find_evidence
from examples.invoices import make_invoices
from examples.pdf_writer import Page, pdf_bytes


def said(text: str, value: Any, path: str, schema: Any = None) -> list[str]:
    """What is cited for one path with confidence."""
    found = find_evidence(value, text, schema=schema)
    assert all(
        citation.text == text[citation.start : citation.end] for citations in found.values() for citation in citations
    )
    return [citation.text for citation in found[path] if citation.confidence >= DEFAULT_LINE]


@pytest.mark.parametrize(
    ("text", "value", "cited"),
    [
        ("Total: $1,250.50", 1250.5, ["$1,250.50"]),
        ("Total: 1.250,50 EUR", 1250.5, ["1.250,50 EUR"]),
        ("Total: 1 250,50 €", Decimal("1250.50"), ["1 250,50 €"]),
        ("Total: CHF 1'250.50", 1250.5, ["CHF 1'250.50"]),
        ("Total: (1,250)", -1250, ["(1,250)"]),
        ("Total: (1,250)", 1250, []),
        ("Total: −1,250", -1250, ["−1,250"]),
        ("Total: 1,250.00-", -1250, ["1,250.00-"]),
        ("Total: $1.5 million", 1_500_000, ["$1.5 million"]),
        ("Total: $(2.5) million", -2_500_000, ["$(2.5) million"]),
        ("Total: 2,3 Mio. EUR", 2_300_000, ["2,3 Mio. EUR"]),
        ("Total: 250k", 250_000, ["250k"]),
        ("Total: twenty-five", 25, ["twenty-five"]),
        ("Total: 2012", 12, []),
        ("Total: N/A", None, []),
        ("Total: 1", True, []),
        ("Total: 5", float("nan"), []),
        ("Total: 5", float("inf"), []),
        ("Total: 5", 10**400, []),
        ("Total: 5", "", []),
    ],
)
def test_numbers_are_compared_by_what_they_mean(text: str, value: Any, cited: list[str]) -> None:
    assert said(text, {"total": value}, "total") == cited


def test_a_percentage_is_its_fraction_and_a_parenthesis_after_a_word_an_aside() -> None:
    text = "Subtotal: 100.00\nSales tax (8%): 8.00\nGrowth: -5%"
    assert said(text, {"tax_rate": 0.08}, "tax_rate") == ["8%"]
    assert said(text, {"sales_tax": 8}, "sales_tax") == ["8.00"]
    assert said(text, {"growth": 0.05}, "growth") == []
    assert said(text, {"growth": -0.05}, "growth") == ["-5%"]


def test_a_note_in_thousands_multiplies_its_table_but_not_the_headcount() -> None:
    text = "Results (in thousands)\n\nItem          2023     2022\nRevenue      1,250    1,100\nEmployees      310      290\n"
    assert said(text, {"revenue": 1_250_000}, "revenue") == ["1,250"]
    assert said(text, {"revenue": 1_250}, "revenue") == []
    assert said(text, {"employees": 310}, "employees") == ["310"]
    assert said(text, {"prior_year_revenue": 1_100_000}, "prior_year_revenue") == ["1,100"]


@pytest.mark.parametrize(
    "form",
    [
        "2024-03-05",
        "March 5, 2024",
        "5 March 2024",
        "5th of March 2024",
        "05-Mar-2024",
        "5. März 2024",
        "5 mars 2024",
        "5.3.2024",
        "Mar. 5th, 2024",
        "5 de marzo de 2024",
        "5 March\n2024",
    ],
)
def test_dates_are_found_in_all_common_forms(form: str) -> None:
    assert said(f"Issued: {form}\nDue: 7 June 2025", {"issued": date(2024, 3, 5)}, "issued") == [form]
    assert said(f"Issued: {form}", {"issued": "2024-03-05"}, "issued") == [form]


@pytest.mark.parametrize(
    ("around", "day_first"),
    [
        ("Delivered: 25/04/2024", True),
        ("Delivered: 04/25/2024", False),
        ("All dates are DD/MM/YYYY.", True),
        ("Ship to: Austin, TX 78701. Price $50.00", False),
        ("Total £50.00", True),
        ("Signed on 4 March 2024.", False),
    ],
)
def test_day_and_month_are_told_by_the_rest_of_the_text(around: str, day_first: bool) -> None:
    text = f"Issued: 03/04/2024\n{around}"
    right, wrong = (date(2024, 4, 3), date(2024, 3, 4)) if day_first else (date(2024, 3, 4), date(2024, 4, 3))
    assert said(text, {"issued": right}, "issued") == ["03/04/2024"]
    assert find_evidence({"issued": wrong}, text)["issued"] == [] or not said(text, {"issued": wrong}, "issued")


def test_a_date_that_nobody_can_read_comes_with_little_confidence() -> None:
    (citation,) = find_evidence({"issued": date(2024, 4, 3)}, "Issued: 03/04/2024")["issued"]
    assert citation.confidence < DEFAULT_LINE


def test_times_and_moments_are_found() -> None:
    text = "Meeting time: 2:30 pm on 5 March 2024"
    assert said(text, {"time": time(14, 30)}, "time") == ["2:30 pm"]
    assert said(text, {"meeting": datetime(2024, 3, 5, 14, 30)}, "meeting") == ["5 March 2024"]


@pytest.mark.parametrize(
    ("text", "value", "cited"),
    [
        ("Ref: INV–2024 001", "inv-2024-001", ["INV–2024 001"]),
        ("Ref: DE89 3704 0044", "DE8937040044", ["DE89 3704 0044"]),
        ("Ref: INV-7-A and INV-7", "INV-7", ["INV-7"]),
        ("Ref: João Müller & Söhne", "Joao Muller and Sohne", ["João Müller & Söhne"]),
        (
            "Ref: Globex International\nHoldings plc",
            "Globex International Holdings plc",
            ["Globex International\nHoldings plc"],
        ),
        ("Ref: inter-\nnational", "international", ["inter-\nnational"]),
        ("Ref: Next day air", "NEXT_DAY_AIR", ["Next day air"]),
        ("Ref: catalogue", "cat", []),
        ("Ref: 1,234.56", "123456", []),
        ("Ref: 東京都 渋谷", "渋谷", ["渋谷"]),
    ],
)
def test_strings_are_found_whatever_their_spelling_and_never_inside_words(
    text: str, value: str, cited: list[str]
) -> None:
    assert said(text, {"ref": value}, "ref") == cited


def test_a_value_broken_inside_a_column_has_several_spans() -> None:
    text = "SELLER              BUYER\nFoo Ltd             Bar Inc\n1 High St           2 Low Rd\nLeeds               York\n"
    citations = find_evidence({"buyer": {"address": "2 Low Rd, York"}}, text)["buyer.address"]
    assert [citation.text for citation in citations] == ["2 Low Rd", "York"]


def test_the_label_decides_which_occurrence_is_meant() -> None:
    text = "Deposit: $500.00\nSubtotal: $800.00\nRefund: $500.00\nTotal: $900.00"
    assert find_evidence({"refund": 500}, text)["refund"][0].start == text.index("Refund") + 8
    assert find_evidence({"deposit": 500}, text)["deposit"][0].start == text.index("$500.00")
    assert said(text, {"total": 800}, "total") == []


def test_rows_are_told_by_their_own_values() -> None:
    text = "Item       Qty    Price    Amount\nBolt         2     5.00     10.00\nNut          5     2.00     10.00\n"
    value = {
        "items": [{"item": "Nut", "qty": 5, "price": 2.0, "amount": 10.0}, {"item": "Bolt", "qty": 5, "amount": 10.0}]
    }
    found = find_evidence(value, text)
    assert found["items[0].amount"][0].start == text.rindex("10.00")
    assert found["items[1].amount"][0].start == text.index("10.00")
    assert found["items[0].qty"][0].text == "5"
    assert found["items[1].qty"] == []  # that is the nut's


def test_rows_that_are_equal_keep_the_order_of_the_list() -> None:
    text = "Item       Qty    Amount\nBolt         2     10.00\nBolt         2     10.00\n"
    found = find_evidence({"items": [{"item": "Bolt", "qty": 2}, {"item": "Bolt", "qty": 2}]}, text)
    assert [found[f"items[{n}].item"][0].start for n in (0, 1)] == [text.index("Bolt"), text.rindex("Bolt")]
    assert all(citation.confidence >= DEFAULT_LINE for citations in found.values() for citation in citations)


@pytest.mark.parametrize(
    ("text", "value", "cited"),
    [
        ("Refundable: no", False, ["no"]),
        ("Refundable: no", True, []),
        ("The fare is non-refundable.", True, []),
        ("[x] Refundable", True, ["[x] Refundable"]),
        ("[ ] Refundable", True, []),
        ("Refundable?  [ ] Yes  [x] No", False, ["No"]),
        ("Refundable?  [ ] Yes  [x] No", True, []),
        ("Refundable: N/A", False, []),
        ("It is unclear whether it is refundable.", True, []),
        ("The deposit is refundable in full.", True, ["refundable"]),
    ],
)
def test_booleans_cite_the_phrase_that_says_it(text: str, value: bool, cited: list[str]) -> None:
    assert said(text, {"refundable": value}, "refundable") == cited


def test_a_denied_or_unticked_choice_is_no_evidence() -> None:
    schema = {"properties": {"status": {"enum": ["active", "closed"]}}}
    assert said("The account is not active.", {"status": "active"}, "status", schema) == []
    assert said("The account is active.", {"status": "ACTIVE"}, "status", schema) == ["active"]
    assert said("Status: [ ] Active  [x] Closed", {"status": "active"}, "status", schema) == []
    assert said("Status: [ ] Active  [x] Closed", {"status": "closed"}, "status", schema) == ["Closed"]


def test_two_equal_places_have_little_confidence_unless_the_provider_points_at_one() -> None:
    text = "The first was 500 and then the second was 500."
    citations = find_evidence({"amount": 500}, text)["amount"]
    assert citations
    assert max(citation.confidence for citation in citations) < DEFAULT_LINE
    hint = Citation(start=text.index("then"), end=len(text), text=text[text.index("then") :])
    helped = find_evidence({"amount": 500}, text, cited=[hint])["amount"]
    assert helped == [] or all(citation.start > 20 or citation.confidence < DEFAULT_LINE for citation in helped)


def test_models_enums_and_descriptions_are_understood() -> None:
    class Kind(Enum):
        GROUND = "ground"
        AIR = "air"

    class Parcel(BaseModel):
        kind: Kind
        weight: Decimal = Field(description="Gewicht der Sendung")
        sent: date

    text = "Versandart: Air\nGewicht der Sendung: 2,50 kg\nSent 5 March 2024"
    found = find_evidence(Parcel(kind=Kind.AIR, weight=Decimal("2.5"), sent=date(2024, 3, 5)), text)
    assert {path: citations[0].text for path, citations in found.items()} == {
        "kind": "Air",
        "weight": "2,50",
        "sent": "5 March 2024",
    }


def test_every_leaf_has_a_path_and_pages_are_numbered() -> None:
    pages = []
    for words in ("Title page", "Total: 42.50 EUR"):
        page = Page()
        page.text(50, 50, words)
        pages.append(page)
    found = find_evidence({"a": {"b": [None, {"total": 42.5}]}, "c": []}, read_document(pdf_bytes(pages)))
    assert list(found) == ["a.b[0]", "a.b[1].total"]
    assert find_evidence({"total": 42.5}, read_document(pdf_bytes(pages)))["total"][0].page == 2


def test_a_document_without_text_has_no_evidence() -> None:
    assert find_evidence({"a": 1}, "") == {"a": []}
    assert find_evidence([1], text_document(" \n")) == {"[0]": []}


def test_the_demo_invoices_are_cited_completely() -> None:
    for invoice in make_invoices(100)[::9]:
        found = find_evidence(invoice.truth, read_document(invoice.data))
        missing = [path for path, citations in found.items() if not citations or citations[0].confidence < DEFAULT_LINE]
        empty = [] if invoice.truth["tax_rate"] else ["tax_rate", "tax_amount"]
        assert missing == empty, invoice.name


def test_five_pages_with_forty_fields_take_little_time() -> None:
    text = "\n\n".join(read_document(invoice.data).text for invoice in make_invoices(7)[:7])
    while len(text) < 14_000:
        text += "\n\nThe parties agree that notices are sent in writing to the address above within thirty days."
    fields = {f"field_{index}_amount": Decimal(index) for index in range(36)} | {"invoice_number": "A-2026-1003"}
    began = clock.process_time()
    find_evidence(fields, text)
    assert clock.process_time() - began < 0.25  # several times what it takes, for busy machines


def test_each_element_of_a_long_list_has_its_own_answer() -> None:
    rows = [f"Product {i} is {'not ' if i % 3 == 0 else ''}in stock and ships in {i} days." for i in range(12)]
    value = {"items": [{"name": f"Product {i}", "in_stock": i % 3 != 0} for i in range(12)]}
    found = find_evidence(value, "\n".join(rows))
    for i, row in enumerate(rows):
        (citation,) = found[f"items[{i}].in_stock"]
        assert citation.text in row


def test_a_plain_answer_counts_however_many_phrases_speak_of_the_question_before_it() -> None:
    chatter = "\n".join(f"Auto renewal of the contract is discussed in section {i} of this text." for i in range(8))
    text = f"{chatter}\nAuto renewal: no"
    assert said(text, {"contract": {"auto_renewal": False}}, "contract.auto_renewal") == ["no"]
    assert said(text, {"contract": {"auto_renewal": True}}, "contract.auto_renewal") == []


def test_cells_of_a_table_without_blanks_are_no_choice() -> None:
    value = {"customer": "Miller Ltd", "city": "Berlin", "status": "open"}
    for path, text in value.items():
        assert said("Customer|City|Status\nMiller Ltd|Berlin|open", value, path) == [text]
    assert said("usage: mode <fast|slow>", {"mode": "fast"}, "mode") == []


def test_a_sentence_between_two_tables_ends_the_first() -> None:
    text = """Item      Price   Tax
Bolt      30.00   2.00
The following lines were billed to us by another company last year.
Nut       40.00   3.00
"""
    assert said(text, {"price": 30.0}, "price") == ["30.00"]
    assert said(text, {"price": 40.0}, "price") == []


@pytest.mark.parametrize(
    "behind", ["/y", "yz", "?q=1", "#top", "-y", ".html", "=1", "%20", "_z", "\\/y", ".org", ":80"]
)
def test_an_address_does_not_stand_in_a_longer_one(behind: str) -> None:
    text = f"Homepage: https://a.example/x{behind} and more"
    assert find_evidence({"homepage": "https://a.example/x"}, text)["homepage"] == []


@pytest.mark.parametrize("behind", ["", " ", ".", ")", "/", ">", ", b", "/.", ".git", "\u67e5\u770b"])
def test_an_address_ends_at_punctuation(behind: str) -> None:
    text = f"Homepage: https://a.example/x{behind}\nmore"
    (place,) = find_evidence({"homepage": "https://a.example/x"}, text)["homepage"]
    assert place.text.rstrip("/") == "https://a.example/x"


def test_an_address_stands_in_json_with_its_slashes_escaped() -> None:
    text = '{"homepage": "https:\\/\\/a.example\\/x", "mirror": "https:\\/\\/a.example\\/x\\/y"}'
    (place,) = find_evidence({"homepage": "https://a.example/x"}, text)["homepage"]
    assert place.start == text.index("https")


def test_a_figure_far_from_its_label_on_the_first_line_is_its_own() -> None:
    text = "Total" + " " * 41 + "120\nPaid" + " " * 43 + "20\n"
    assert find_evidence({"total": 20}, text)["total"] == []
    assert find_evidence({"total": 120}, text)["total"][0].confidence >= DEFAULT_LINE


def test_a_denied_word_is_no_evidence_in_quotation_marks_either() -> None:
    assert find_evidence({"status": "active"}, 'The status is not "active" but "closed".')["status"] == []


def test_a_plain_word_is_denied_where_it_is_not_what_the_field_asks_for() -> None:
    assert find_evidence({"database": "mysql"}, "Database: postgres, no mysql\n")["database"] == []
    assert find_evidence({"excluded_files": "build"}, "Files excluded: build\n")["excluded_files"] != []
