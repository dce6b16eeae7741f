"""Values are read as they are written."""

import pytest

from batchwork.literal.values import dates, numbers, truth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1,250.50", 1250.5),
        ("1.250,50 EUR", 1250.5),
        ("1'250.50", 1250.5),
        ("12", 12),
        ("-3.2", -3.2),
        ("\u22123.2", -3.2),
        ("-$5.00", -5.0),
        ("($1,250.00)", -1250.0),
        ("(1,250.00)", -1250.0),
        ("8%", 8),
        ("1.5 million", 1_500_000),
        ("3k", 3000),
        ("1.2e-3", 0.0012),
        (".5", 0.5),
        ("0.0007998", 0.0007998),
        ("USD 99.90", 99.9),
        ("CHF 1'000.00", 1000.0),
    ],
)
def test_a_number_is_read_in_all_its_forms(text, value):
    (found,) = numbers(text)
    assert found.value == pytest.approx(value)


def test_a_number_in_brackets_behind_a_word_is_an_aside():
    assert [found.value for found in numbers("Tax (8.5%): $4.00")] == [8.5, 4.0]
    assert [found.value for found in numbers("mean (12.3)")] == [12.3]


def test_parts_of_words_ids_and_dates_are_no_numbers():
    assert numbers("INV-2026-001 M8 v2.0.1 on 2026-03-04") == []


def test_a_document_with_decimal_commas_is_read_that_way():
    assert [found.value for found in numbers("Net 1.250 EUR, tax 237,50 EUR")] == [1250, 237.5]
    assert [found.value for found in numbers("Net 1.250 USD, tax 237.50 USD")] == [1.25, 237.5]


def test_a_range_has_no_negative_end():
    assert [found.value for found in numbers("5\u20137 days")] == [5, 7]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-04",
        "4 March 2026",
        "March 4, 2026",
        "Mar 4, 2026",
        "4th of March 2026",
        "04.03.2026",
        "03/04/2026",
        "2026/3/4",
    ],
)
def test_a_date_is_read_in_all_its_forms(text):
    (found,) = dates(text)
    assert found.value == "2026-03-04"


def test_day_and_month_are_told_apart_by_the_other_dates():
    assert [found.value for found in dates("25/03/2026 and 04/03/2026")] == ["2026-03-25", "2026-03-04"]


def test_an_impossible_date_is_none():
    assert dates("2026-13-45") == []


@pytest.mark.parametrize(
    ("text", "said"), [("Yes", True), ("not active", False), ("none", False), ("paid", True), ("blue", None)]
)
def test_yes_and_no_are_understood(text, said):
    assert truth(text) is said


def test_digits_whose_signs_contradict_each_other_or_have_no_end_are_no_number():
    assert numbers("532.036,416.00") == []
    assert numbers("9" * 5_000) == []
