"""What a model quotes is believed where the document and the finder bear it out, and nowhere else."""

from itertools import islice

import pytest

from batchwork.evidence import DEFAULT_LINE, verify_quotes
from batchwork.evidence.quotes import ABSENT, DENIED, DISTRUSTED, SURPLUS, UNFOUND, UNSAID
from tests.evidence.quotes import ALONE, made_cases, paper_cases, score

TEXT = """Order 4711
Buyer: Ada Byron
Item        Qty   Amount
Bolt          2    30.00
Nut           3    40.00
Subtotal: 70.00
Discount: 0.00
Total: 70.00
Paid: yes. Gift wrap: no. Ship within 30 days of 03/04/2024.
"""
VALUE = {
    "order": "4711",
    "buyer": "Ada Byron",
    "items": [{"item": "Bolt", "qty": 2, "amount": 30}, {"item": "Nut", "qty": 3, "amount": 40}],
    "subtotal": 70,
    "total": 70,
    "paid": True,
    "gift_wrap": False,
    "note": None,
}


@pytest.mark.parametrize(
    ("path", "quote", "why"),
    [
        ("total", "Total: 70.00", None),
        ("total", "Total:\n  70.00", None),
        ("$.answer.items[1].amount", "Nut 3 40.00", None),
        ("/items/1/amount", "40.00", None),
        ("gift_wrap", "Gift wrap: no", None),
        ("total", "Subtotal: 70.00", DENIED),
        ("items[0].qty", "Nut           3", UNSAID),
        ("total", "Total: 71.00", UNFOUND),
        ("total", "The total is 70.00", UNFOUND),
        ("total", "", UNFOUND),
        ("buyer", "Buyer:", UNSAID),
        ("paid", "Gift wrap: no", UNSAID),
        ("gift_wrap", "Paid: yes", UNSAID),
        ("items", "Bolt", ABSENT),
        ("note", "Order", ABSENT),
        ("vat", "Total: 70.00", ABSENT),
    ],
)
def test_a_quote_is_taken_or_refused_with_the_reason(path: str, quote: str, why: str | None) -> None:
    evidence = verify_quotes(VALUE, [(path, quote)], TEXT)
    assert [one.why for one in evidence.rejected] == ([] if why is None else [why])
    for held in evidence.citations.values():
        assert all(place.text == TEXT[place.start : place.end] for place in held)
    (total,) = evidence.citations["total"]
    assert total.start == TEXT.index("70.00", TEXT.index("Total"))
    assert total.confidence >= DEFAULT_LINE


def test_what_is_cited_is_the_values_own_span() -> None:
    text = "We agreed on the phone that somebody comes for 1.250,50 EUR, and that was it."
    evidence = verify_quotes({"price": 1250.5}, [("price", "comes for 1.250,50 EUR, and")], text)
    assert [place.text for place in evidence.citations["price"]] == ["1.250,50 EUR"]
    assert evidence.citations["price"][0].confidence >= DEFAULT_LINE


def test_a_quote_that_stands_at_several_places_is_settled_by_the_finder_or_stays_below_the_line() -> None:
    evidence = verify_quotes({"total": 70}, [("total", "70.00")], "Deposit: 70.00\nTotal: 70.00\n")
    assert [place.start for place in evidence.citations["total"]] == [22]
    alike = "The boat 12 came in.\nThe boat 12 went out.\n"
    places = verify_quotes({"length": 12}, [("length", "The boat 12")], alike).citations["length"]
    assert [place.start for place in places] == [9, 30]
    assert all(place.confidence < DEFAULT_LINE for place in places)


def test_a_refused_quote_leaves_what_the_finder_has() -> None:
    text = "Room 12 is upstairs.\n\nThere were 12 tickets.\n\nRow 12 is full.\n"
    evidence = verify_quotes({"tickets": 12}, [("tickets", "Row 12 is full")], text)
    assert [one.why for one in evidence.rejected] == [DENIED]
    assert [place.start for place in evidence.citations["tickets"]] == [33]


LOG = "Kestrel left Dover in May with 12 and came home with 12, having seen 3 gulls; so wrote Ada Byron.\n"
LOG_VALUE = {"boat": "Kestrel", "harbour": "Dover", "gulls": 3, "crew": 12, "fish": 12}
LOG_QUOTES = {"boat": "Kestrel left", "harbour": "left Dover", "gulls": "3 gulls", "crew": "in May with 12"}


def _shown(quotes: dict[str, str]) -> set[str]:
    """The fields that are cited above the line, at no other place than the quoted one."""
    found = verify_quotes(LOG_VALUE, list(quotes.items()), LOG).citations
    places = {path: [place for place in held if place.confidence >= DEFAULT_LINE] for path, held in found.items()}
    return {path for path, held in places.items() if [place.text for place in held] == [str(LOG_VALUE[path])]}


def test_where_two_fields_have_a_value_a_model_is_believed_whose_other_quotes_hold() -> None:
    quotes = {**LOG_QUOTES, "fish": "came home with 12"}
    assert _shown(quotes) == {*LOG_VALUE}
    assert verify_quotes(LOG_VALUE, list(quotes.items()), LOG).citations["fish"][0].start == LOG.index("12", 40)
    assert not {"crew", "fish"} & _shown({**quotes, "gulls": "four gulls"})


def test_a_model_most_of_whose_quotes_do_not_hold_backs_nothing() -> None:
    assert "harbour" in _shown({"harbour": "left Dover"})
    alone = _shown({})
    quotes = {**dict.fromkeys(LOG_VALUE, "as I said"), "harbour": "left Dover"}
    assert _shown(quotes) == alone - {"harbour"}
    rejected = verify_quotes(LOG_VALUE, list(quotes.items()), LOG).rejected
    assert {one.why for one in rejected if one.path == "harbour"} == {DISTRUSTED}


def test_quotes_that_are_repeated_or_of_fields_without_a_value_make_no_model_trusted_or_distrusted() -> None:
    repeated = [("boat", "Kestrel left")] * 4 + [("crew", "in May with 12"), ("fish", "came home with 12")]
    places = verify_quotes(LOG_VALUE, repeated, LOG).citations
    assert all(place.confidence < DEFAULT_LINE for path in ("crew", "fish") for place in places[path])
    absent = [(f"note[{rank}]", "") for rank in range(7)]
    assert "harbour" in _shown(LOG_QUOTES)
    found = verify_quotes(LOG_VALUE, [*LOG_QUOTES.items(), *absent], LOG)
    assert found.citations["harbour"][0].confidence >= DEFAULT_LINE


def test_two_fields_do_not_stand_in_one_place_on_a_models_word() -> None:
    quotes = [*LOG_QUOTES.items(), ("fish", "in May with 12")]
    places = verify_quotes(LOG_VALUE, quotes, LOG).citations
    assert all(place.confidence < DEFAULT_LINE for path in ("crew", "fish") for place in places[path])


def test_an_open_question_answers_neither_yes_nor_no() -> None:
    text = LOG + "Ask the agent whether the cabin is furnished.\n"
    for answer in (True, False):
        quotes = [*LOG_QUOTES.items(), ("furnished", "whether the cabin is furnished")]
        found = verify_quotes({**LOG_VALUE, "furnished": answer}, quotes, text)
        assert [one.why for one in found.rejected] == [UNSAID]
        assert found.citations["furnished"] == []


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("Newsletter: no", "Newsletter:"),
        ("| Newsletter | no |", "Newsletter"),
        ("[ ] Newsletter", "Newsletter"),
        ("Newsletter: excluded", "Newsletter"),
        ("Not a newsletter", "newsletter"),
    ],
)
def test_a_heading_says_yes_only_where_nothing_answers_it(said: str, quote: str) -> None:
    quotes = [*LOG_QUOTES.items(), ("fish", "came home with 12"), ("newsletter", quote)]
    found = verify_quotes({**LOG_VALUE, "newsletter": True}, quotes, f"{LOG}{said}\n")
    assert all(place.confidence < DEFAULT_LINE for place in found.citations["newsletter"])


def test_words_that_answer_a_question_weakly_do_not_stand_against_a_plain_answer() -> None:
    text = LOG + "We accept cash and credit cards. Cheques are not accepted.\n"
    quotes = [*LOG_QUOTES.items(), ("fish", "came home with 12"), ("accepts_credit_cards", "Cheques are not accepted.")]
    found = verify_quotes({**LOG_VALUE, "accepts_credit_cards": False}, quotes, text)
    assert [one.why for one in found.rejected] == [UNSAID]


@pytest.mark.parametrize("said", ["twenty-two men", "two hundred men", "two-thirds of them"])
def test_a_count_in_words_is_no_part_of_another_one(said: str) -> None:
    assert [one.why for one in verify_quotes({"men": 2}, [("men", said)], f"He saw {said}.").rejected] == [UNSAID]


def test_a_quote_says_marks_counts_in_words_and_what_it_leaves_open() -> None:
    text = (
        "The pump is run twice a day, at two-hour intervals. Lines with a # are left out, [ - ] is off. Self-priming.\n"
    )
    value = {"comment_mark": "#", "off_mark": "-", "runs_per_day": 2, "self_priming": True}
    quotes = [
        ("comment_mark", "Lines with a #"),
        ("off_mark", "[ - ] is off"),
        ("runs_per_day", "run twice a day"),
        ("self_priming", "Self-priming"),
    ]
    assert verify_quotes(value, quotes, text).rejected == []
    assert len(verify_quotes(value, [("off_mark", "two-hour"), ("comment_mark", "pump")], text).rejected) == 2


def test_a_rare_value_that_stands_once_is_believed_whatever_else_the_quote_holds() -> None:
    text = "Authors: Ada Byron <ada@a.example>, Bo Lind <bo@b.example>, and friends.\n"
    value = {"authors": [{"name": "Ada Byron", "email": "ada@a.example"}, {"name": "Bo Lind", "email": "bo@b.example"}]}
    quotes = [("authors[1].name", "Ada Byron <ada@a.example>, Bo Lind <bo@b.example>")]
    evidence = verify_quotes(value, quotes, text)
    assert evidence.rejected == []
    (place,) = evidence.citations["authors[1].name"]
    assert (place.text, place.confidence >= DEFAULT_LINE) == ("Bo Lind", True)


def test_a_quote_that_holds_another_fields_place_is_believed_when_that_field_has_a_quote_of_its_own() -> None:
    text = "Some say Kestrel is old.\n\nBoats of ours:\n\nKestrel, tonnage 412, and more of it.\n"
    value, quote = {"vessel": "Kestrel", "tonnage": 412}, "Kestrel, tonnage 412"
    for paths, believed in ((["vessel"], False), (["vessel", "tonnage"], True)):
        places = verify_quotes(value, [(path, quote) for path in paths], text).citations["vessel"]
        assert places[0].start == text.index(quote)
        assert (places[0].confidence >= DEFAULT_LINE) == believed


def test_an_answer_in_a_quote_is_read_from_the_whole_quote() -> None:
    text = "The licence, or\n(at your option) any later version.\n\n**Will you automate the set-up?** No.\n"
    value = {"later_versions_allowed": True, "automates_setup": False}
    quotes = [("later_versions_allowed", "(at your option) any later version"), ("automates_setup", "set-up?** No.")]
    evidence = verify_quotes(value, quotes, text)
    assert evidence.rejected == []
    assert all(evidence.citations[path][0].confidence >= DEFAULT_LINE for path in value)


def test_a_value_in_capitals_may_be_broken_over_lines() -> None:
    text = "Letter of credit\n\nsigned by ACME\nHOLDING today, for acme holding"
    assert not verify_quotes({"firm": "ACME HOLDING"}, [("firm", "signed by ACME\nHOLDING today")], text).rejected


def test_a_part_of_a_word_with_a_hyphen_is_no_value_but_a_hyphenated_word_is() -> None:
    text = "Libs: -lxmlsec1-gnutls -lssl\nThe library is mainten-\nance free."
    evidence = verify_quotes({"library": "gnutls"}, [("library", "Libs: -lxmlsec1-gnutls")], text)
    assert [one.why for one in evidence.rejected] == [UNSAID]
    assert not verify_quotes({"care": "maintenance"}, [("care", "is mainten-\nance free")], text).rejected


def test_a_place_outside_of_an_element_that_is_known_is_not_that_elements() -> None:
    text = "Bolt steel   M6   30.00   in stock\nNut brass   M8   40.00   sold out\nOther stock: M8 in steel"
    value = {
        "items": [{"name": "Bolt steel", "size": "M6", "price": 30}, {"name": "Nut brass", "size": "M8", "price": 40}]
    }
    evidence = verify_quotes(value, [("items[1].size", "Other stock: M8")], text)
    assert [one.why for one in evidence.rejected] == [DENIED]


def test_more_quotes_of_one_field_than_anybody_needs_are_not_looked_at() -> None:
    evidence = verify_quotes(VALUE, [("total", f"no {number}") for number in range(7)], TEXT)
    assert [one.why for one in evidence.rejected] == [UNFOUND] * 5 + [SURPLUS] * 2


def test_through_the_whole_manager_quotes_find_more_and_a_lie_is_not_cited() -> None:
    cases = [
        *islice(made_cases(1, seed=5), 0, None, 16),
        *islice(paper_cases(), 0, None, 25),
    ]  # all: make evidence-quotes
    tallies = score(cases, ("exact", "lying"))
    for kind in ("made", "paper"):
        exact, alone = tallies["exact"][kind], tallies[ALONE][kind]
        assert exact.recall >= alone.recall
        assert exact.precision >= alone.precision
        assert tallies["lying"][kind].rejected >= exact.fields
        assert tallies["lying"][kind].lies == 0
    both = tallies["exact"].values()
    assert sum(tally.found for tally in both) >= 0.95 * sum(tally.fields for tally in both)
