"""Numbers are kept by their digits and read only when somebody asks for these."""

from decimal import Decimal

import pytest

from batchwork.evidence.numbers import Numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("costs $1,250.50 now", "1250.50"),
        ("costs (1.250,50 EUR)", "-1250.50"),
        ("costs 1 250,50 € and 3,20 €", "1250.50"),
        ("a rate of 12.505%", "0.12505"),
        ("some 1.2505 million", "1250500"),
        ("about £ 12 505 000", "12505000"),
    ],
)
def test_whatever_dress_a_number_wears_its_digits_find_it(text: str, value: str) -> None:
    read = [reading.value for mention in Numbers(text, []).saying("12505") for reading in mention.readings]
    assert Decimal(value) in read


def test_zero_is_found_in_every_length() -> None:
    assert len(list(Numbers("0 or 0.00 or 000, not 10", []).saying("0"))) == 3


def test_what_a_number_took_is_not_taken_by_the_next() -> None:
    mentions = Numbers("5 € 7 and 3 % - 4", []).mentions
    assert [(mention.start, mention.end) for mention in mentions] == [(0, 3), (4, 5), (10, 13), (16, 17)]


def test_a_long_chain_of_numbers_can_be_read_from_its_end() -> None:
    numbers = Numbers("1a 2b " * 3_000, [])
    last = numbers.mention(len(numbers.starts) - 1)
    assert last is not None
    assert last.readings[0].value == 2
