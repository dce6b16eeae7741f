"""A question is answered by what stands in the text, and by nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.literal import NOT_FOUND, read, read_each, sentence_around

REPORT = (
    "The series has 500 points. It has a mean of 12.3 and a standard deviation of 4.5; the median is 11.9.\n"
    "Values range from -3.2 to 40. p90 18.2, p95 20.1. Trend: rising (slope 0.02 per step).\n"
    "There are 3 anomalies at positions 12, 45 and 78. No seasonality was found."
)
KEYS = 'name = Bob\nage=42\nmax_retries: 5\nThe capital of France is Paris.\n{"user_id": 77, "active": true}'
TABLE = "| Country | Population | Area |\n|---|---|---|\n| France | 68 | 551 |\n| Germany | 84 | 357 |\n"
TERSE = (
    "count 300, mean 4.987, std 3.868, min -20 at 200, max 40 at 50. trend: none (slope -0.0008, R2 0.001). "
    "season: none."
)
PAIR = "Series A: mean 12.3, median 11, std 2\nSeries B: mean 15.1, median 9, std 4"


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (REPORT, "What is the mean?", "12.3"),
        (REPORT, "What is the average of the series?", "12.3"),
        (REPORT, "What is the standard deviation?", "4.5"),
        (REPORT, "What is the median?", "11.9"),
        (REPORT, "What is the minimum value?", "-3.2"),
        (REPORT, "What is the maximum?", "40"),
        (REPORT, "What is the 95th percentile?", "20.1"),
        (REPORT, "How many points are there?", "500"),
        (REPORT, "How many anomalies are there?", "3"),
        (REPORT, "How many outliers does the series contain?", "3"),
        (REPORT, "Is the trend rising, falling or flat?", "rising"),
        (REPORT, "Is there seasonality?", "no"),
        (REPORT, "Are there any anomalies?", "yes"),
        (REPORT, "What is the slope?", "0.02"),
        (REPORT, "Which is larger, the mean or the median?", "mean"),
        (REPORT, "Which is smaller, the mean or the median?", "median"),
        (KEYS, "What is the age?", "42"),
        (KEYS, "What is the name?", "Bob"),
        (KEYS, "max retries?", "5"),
        (KEYS, "What is the capital of France?", "Paris"),
        (KEYS, "What is the user id?", "77"),
        (TABLE, "What is the population of Germany?", "84"),
        (TABLE, "What is the area of France?", "551"),
        (TABLE, "Which country has the larger population, France or Germany?", "Germany"),
        (TERSE, "What is the mean of the series?", "4.987"),
        (TERSE, "How many data points are in the series?", "300"),
        (TERSE, "At which index is the maximum?", "50"),
        (TERSE, "What is the slope of the linear trend per step?", "-0.0008"),
        (TERSE, "Is the trend rising, falling or flat?", "flat"),
        (TERSE, "Is there a seasonal pattern?", "no"),
        (PAIR, "Which series has the higher mean, A or B?", "B"),
        (PAIR, "Which series has the lower standard deviation: Series A or Series B?", "Series A"),
        (PAIR, "What is the median of series B?", "9"),
        ("Invoice number INV-001\nTotal: $1,250.00", "What is the invoice number?", "INV-001"),
        ("Total: $1,250.00\nSubtotal: $1,000.00", "What is the subtotal?", "$1,000.00"),
        ("Subtotal: $1,000.00\nTotal: $1,250.00", "What is the total?", "$1,250.00"),
        ("Due: 3 May 2026. Issued: 2 April 2026.", "When is it due?", "3 May 2026"),
        ("The invoice was paid: no", "Was the invoice paid?", "no"),
        ("Name        Score\nAda         12\nGrace       15", "What is the score of Grace?", "15"),
        ("name,score\nAda,12\nGrace,15", "What is the score of Ada?", "12"),
        ("Revenue (in 2024) was $5 million.", "What was the revenue?", "$5 million"),
        ("slope 0.02, R2 0.87", "What is the R squared of the series?", "0.87"),
        ("Coefficient of determination: 0.87", "What is the R squared?", "0.87"),
        ("The outliers are above the rest.", "Are the outliers above or below the other values?", "above"),
        ("outliers: 2 (one above, one below)", "Are the outliers above, below or both?", "both"),
        ("The time series shows a rising pattern.", "Is the trend rising, falling or flat?", "rising"),
        ("The data is stationary.", "Is the trend rising, falling or flat?", "flat"),
        ("The series is falling. The trend is slowing.", "Is the trend rising, falling or flat?", "falling"),
        ("trend: stable", "Is the trend rising, falling or none?", "none"),
    ],
)
def test_it_finds_what_is_asked(text, question, answer):
    assert read(question, text).text == answer


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (REPORT, "What is the variance?"),
        (REPORT, "What is the kurtosis of the data?"),
        (TABLE, "What is the population of Spain?"),
        (KEYS, "What is the capital of Spain?"),
        (PAIR, "Which series has the higher maximum, A or B?"),
        ("Data: 1.5, 2.5, 9, 4, 3", "What is the mean?"),
        ("Data: 1.5, 2.5, 9, 4, 3", "How many anomalies are there?"),
        ("1, 2, 3, 4", "Is the trend rising, falling or flat?"),
        ("", "What is the total?"),
        ("Total: $5", ""),
        ("The trend is not rising.", "What is the slope of the trend?"),
        ("The series is not rising.", "Is the trend rising, falling or flat?"),
        ("The series is neither rising nor falling.", "Is the trend rising, falling or flat?"),
        ("Sales are rising, costs are falling.", "Is the trend rising, falling or flat?"),
        ("trend: not flat", "Is the trend rising, falling or flat?"),
        ("The values lie above 5.", "Are the outliers above or below the other values?"),
        ("count 300. anomalies at 5", "How many change points are there?"),
    ],
)
def test_it_says_so_when_it_does_not_stand_there(text, question):
    answer = read(question, text)
    assert answer.text == NOT_FOUND
    assert not answer.spans


def test_the_places_of_an_answer_are_where_it_stands():
    answer = read("What is the standard deviation?", REPORT)
    ((start, end),) = answer.spans
    assert REPORT[start:end] == answer.text == "4.5"
    assert REPORT[slice(*sentence_around(REPORT, start, end))].startswith("It has a mean of 12.3")


def test_ten_thousand_numbers_are_read_in_no_time():
    text = "Data: " + ", ".join(str(number * 1.5) for number in range(10_000))
    assert read("What is the mean?", text).text == NOT_FOUND
    assert read("What is the mean?", text + "\nmean 7.5").text == "7.5"


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=300), question=st.text(max_size=80))
def test_nothing_makes_it_stumble_and_it_answers_with_places_that_exist(text, question):
    answer = read(question, text)
    assert all(0 <= start <= end <= len(text) for start, end in answer.spans)
    assert answer.spans or answer.text == NOT_FOUND


WORDS = st.sampled_from(
    [
        "total",
        "tax",
        "mean",
        "date",
        "invoice",
        "number",
        "12",
        "$5.00",
        "8%",
        "2026-03-04",
        ":",
        "=",
        ",",
        ".",
        "(",
        ")",
        "|",
        "is",
        "of",
        "the",
        "A",
        "B",
        "\n",
        "no",
        "none",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    text=st.lists(WORDS, max_size=60).map(" ".join),
    asked=st.sampled_from(["total", "tax", "mean", "invoice number", "date"]),
)
def test_a_value_that_was_found_stands_in_the_text_word_for_word(text, asked):
    answer = read(f"What is the {asked}?", text)
    assert not answer.spans or answer.text in text


def test_every_part_of_a_question_is_answered_with_its_own_place():
    documents = ["Total: $5.00", "Tax: $1.00. Discount: none."]
    total, tax, other = read_each("What is the total, the tax and the weight?", documents, "")
    assert (total.text, total.places) == ("$5.00", ((0, 0, 12),))
    assert (tax.text, documents[1][tax.places[0][1] : tax.places[0][2]]) == ("$1.00", "Tax: $1.00.")
    assert (other.text, other.places) == (NOT_FOUND, ())


def test_what_is_denied_is_not_chosen():
    assert read("Is the trend rising or falling?", "The trend is not rising.").text == NOT_FOUND
    assert read("Is the trend rising or falling?", "The trend is falling, not rising.").text == "falling"
