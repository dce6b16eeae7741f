"""What says a value, whatever stands around it."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from batchwork.evidence.quoted_places import says
from batchwork.evidence.quotes import DENIED, verify_quotes
from batchwork.evidence.readers import Source


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("costs $1,250.50 now", 1250.5, "$1,250.50"),
        ("costs 1.250,50 EUR", Decimal("1250.50"), "1.250,50 EUR"),
        ("within thirty days", 30, "thirty"),
        ("R-squared 4.82758620689655E-01", 0.482758620689655, "4.82758620689655E-01"),
        ("a sum of 26.6173985294224 squares", 26.6173985294224, "26.6173985294224"),
        ("needs 1850k of memory", 1850, "1850k"),
        ("see rfc3492 for more", 3492, "3492"),
        ("on 5 March 2024", date(2024, 3, 5), "5 March 2024"),
        ("Sat Sep  7 21:28:14 2013", datetime.fromisoformat("2013-09-07T21:28:14"), "Sep  7 21:28:14 2013"),
        ("(02/2002)", "2002-02", "02/2002"),
        ("at 2:30 pm", time(14, 30), "2:30 pm"),
        ("Git v2.17.1 Release Notes", "2.17.1", "2.17.1"),
        ("flight HX 521 to Rome", "HX521", "HX 521"),
        ("under the Apache License, Version 2.0", "Apache-2.0", "Apache License, Version 2.0"),
        ("Content-Type: text/markdown", "markdown", "text/markdown"),
    ],
)
def test_a_span_says_a_value_in_any_common_form(text: str, value: Any, said: str) -> None:
    assert [text[start:end] for start, end in says(text, value)] == [said]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("costs -$75.92", 75.92),
        ("costs (1,250)", 1250),
        ("in 2012", 12),
        ("catalogue", "cat"),
        ("anything", None),
        ("anything", float("nan")),
        ("5 May 2024", date(2024, 5, 6)),
        ("yes", True),
    ],
)
def test_another_value_is_not_said(text: str, value: Any) -> None:
    assert says(text, value) == []


def test_a_day_without_its_year_is_found_where_the_text_names_the_year() -> None:
    text = "Report for 2024. Held on 5 June, the next one on September 12."
    places = [place.spans for day in (date(2024, 6, 5), date(2024, 9, 12)) for place in Source(text).places(day)]
    assert [text[start:end] for ((start, end),) in places] == ["5 June", "September 12"]
    assert Source("Held on 5 June.").places(date(2024, 6, 5)) == []


def test_a_place_with_the_label_of_another_field_is_denied() -> None:
    text = "Subtotal: 100.00\nTotal: 100.00\nStatus: not active"
    value = {"subtotal": 100, "total": 100, "status": "active"}

    def denies(path: str, quote: str) -> bool:
        return [one.why for one in verify_quotes(value, [(path, quote)], text).rejected] == [DENIED]

    assert denies("total", "Subtotal: 100.00")
    assert not denies("total", "\nTotal: 100.00")
    assert not denies("subtotal", "Subtotal: 100.00")
    assert denies("status", "Status: not active")


def test_a_time_between_day_and_year_belongs_to_the_moment() -> None:
    text = "Date: Wed Sep 22 00:15:10 2010 +0800"
    assert [place.spans for place in Source(text).places("2010-09-22T00:15:10+08:00")] == [((10, 30),)]
    assert Source(text).places("2010-09-22T00:11:56+08:00") == []


def test_a_year_of_two_digits_before_a_time_is_one() -> None:
    text = "Date: 10 Feb 91 23:31:02 GMT"
    assert [place.spans for place in Source(text).places("1991-02-10T23:31:02Z")] == [((6, 28),)]
    assert Source("10 Feb 91 people came").places("1991-02-10") == []
