"""Numbers, counts and positions are read strictly and judged by the stated tolerance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.benchmarks.scoring import Count, Number, Positions

NUMBER = Number(relative=0.01)
PERCENT = Number(relative=0.01, percent=True)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"answer": 12.5}', 12.5),
        ('{"answer": -3}', -3.0),
        ('{"answer": 1.2e-5}', 1.2e-5),
        ('{"answer": "12.5"}', 12.5),
        ('{"answer": "1,234.5"}', 1234.5),
        ('{"answer": "12.5 kg"}', 12.5),
        ('```json\n{"answer": 12.5}\n```', 12.5),
        ('The sum is 50 and there are 4 values.\n{"answer": 12.5}', 12.5),
        ('{"answer": 12.5}\nThis is the mean of all 400 values.', 12.5),
        ('{"answer": 12.5} {"answer": 12.5}', 12.5),
        ('{"answer": 12.5} No other value was needed.', 12.5),
        ('{"answer": 12.5}\nActually 12.5', 12.5),
        ('{"answer": 12.5} The answer is 12.5.', 12.5),
        ('{"result": {"answer": 12.5}}', 12.5),
        ('{"answer": 12.5, "confidence": 0.9}', 12.5),
        ("{'answer': 12.5}", 12.5),
        ("12.5", 12.5),
        ("12.5 units", 12.5),
        ("12.5ms", 12.5),
        ("The mean is 12.5.", 12.5),
        ("The 95th percentile is 12.5.", 12.5),
        ("p95 = 12.5", 12.5),
        ("**12.5**", 12.5),
        ("-12.5", -12.5),
        ("\u221212.5", -12.5),
        ("$1,234.50", 1234.5),
        ("1.5 million", 1.5e6),
        ("Mean of 400 values between 3 and 20. The answer is 12.5.", 12.5),
        ("Answer: 12.5", 12.5),
        ("12.5 (12.50)", 12.5),
    ],
)
def test_a_number_is_read_where_it_is_the_answer(reply, read):
    assert NUMBER.parse(reply) == read


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "null",
        '{"answer": null}',
        '{"answer": true}',
        '{"answer": false}',
        '{"answer": NaN}',
        '{"answer": Infinity}',
        '{"answer": -Infinity}',
        '{"answer": 1e999}',
        '{"answer": ' + "9" * 5000 + "}",
        '{"answer": [12.5]}',
        '{"answer": {"value": 12.5}}',
        '{"answer": "12.5 or 13"}',
        '{"answer": "not 12.5"}',
        '{"answer": ""}',
        '{"answer": 12.5, "answer": 13}',
        '{"answer": 12.5} {"answer": 13}',
        '{"answer": 12.5}. The median is 13.',  # the judge does not know that the median was not asked for
        '{"answer": 12.5} Wait, the answer is 13.',
        '{"answer": 12.5}\nCorrection: 13',
        '{"answer":12.5}\nActually 13',
        '{"answer": 12.5} No, 13.',
        '{"answer": 12.5} Sorry, I was wrong.',
        '{"answer": 12.5} Or rather 13.',
        '{"answer": 12.5} Answer: 13',
        '{"value": 12.5, "other": 3}',
        '{"answer": "55%"}',
        "55%",
        "nan",
        "inf",
        "NaN",
        "It is not 12.5.",
        "It isn't 12.5.",
        "between 12 and 13",
        "12-13",
        "12.5 \u00b1 0.3",
        "1,5",
        "1/2",
        "mean 12.5, median 12.4, std 3, min 1, max 20",
        "The answer is 12.5. Or rather, the answer is 13.",
        "I cannot find it in the text I was given.",
        "Looking at 400 values, it cannot be determined.",
        "unknown",
        "{" * 3000,
        '{"a":' * 3000,
    ],
)
def test_what_is_no_number_or_two_is_not_read(reply):
    assert NUMBER.parse(reply) is None
    assert not NUMBER.right(NUMBER.parse(reply), 12.5)


def test_a_percent_sign_is_read_where_percent_was_asked_for():
    assert PERCENT.parse('{"answer": "55%"}') == 55.0
    assert PERCENT.parse("55 percent") == 55.0
    assert PERCENT.parse('{"answer": 55}') == 55.0


@pytest.mark.parametrize(
    ("form", "told", "truth", "right"),
    [
        (Number(relative=0.01), 101.0, 100.0, True),
        (Number(relative=0.01), 101.01, 100.0, False),
        (Number(relative=0.01), -100.0, 100.0, False),
        (Number(relative=0.01), 100.0, -100.0, False),
        (Number(relative=0.01), 0.0001, 0.0, False),
        (Number(relative=0.01, absolute=0.02), 0.019, 0.0, True),
        (Number(relative=0.01, absolute=0.02), 0.03, 0.0, False),
        (Number(relative=0.01, absolute=0.02), 100.9, 100.0, True),
        (Number(relative=0.01), 0.12, 12.0, False),
    ],
)
def test_a_number_is_right_within_its_tolerance_and_not_beyond(form, told, truth, right):
    assert form.right(told, truth) is right


def test_a_tolerance_is_told_in_words():
    assert Number(relative=0.01).tolerance == "within 1% of the true value"
    assert Number(relative=0.025, absolute=0.5).tolerance == (
        "within 2.5% of the true value or within 0.5 of it, whichever is wider"
    )
    assert Positions(slack=2).tolerance == "as many positions as there are, each at most 2 off its own"


@given(st.floats(-1e12, 1e12).filter(lambda number: number == 0 or abs(number) > 1e-200))
def test_every_number_is_read_back_from_json_and_from_plain_text(number):
    assert NUMBER.parse(f'{{"answer": {number!r}}}') == number
    assert NUMBER.parse(repr(number)) == number


@given(st.text(max_size=200))
def test_no_text_makes_a_reader_stumble(text):
    for form in (NUMBER, Count(), Positions()):
        for reply in (text, f'{{"answer": {text}}}'):
            assert form.right(form.parse(reply), [] if isinstance(form, Positions) else 7) in (True, False)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"answer": 3}', 3),
        ('{"answer": 3.0}', 3),
        ('{"answer": "3"}', 3),
        ('{"answer": "three"}', 3),
        ('{"answer": 0}', 0),
        ("3", 3),
        ("There are 3 anomalies.", 3),
        ("There are three anomalies.", 3),
        ("There are no anomalies.", 0),
        ("none", 0),
        ("500 values", 500),
        ("1,200", 1200),
    ],
)
def test_a_count_is_read_in_digits_and_in_words(reply, read):
    assert Count().parse(reply) == read


@pytest.mark.parametrize(
    "reply",
    [
        "",
        '{"answer": null}',
        '{"answer": 3.5}',
        '{"answer": true}',
        '{"answer": "3 or 4"}',
        '{"answer": NaN}',
        '{"answer": 1e400}',
        '{"answer": [3]}',
        "3.5",
        "3 or 4",
        "three or four",
        "not 3",
        "no, two",
        "3%",
        "many",
        "I have no idea.",
        "Of the 500 values, 3 stand out.",
    ],
)
def test_what_is_no_count_or_two_is_not_read(reply):
    assert Count().parse(reply) is None


def test_a_count_is_exact():
    assert Count().right(3, 3)
    assert not Count().right(4, 3)
    assert not Count().right(None, 0)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"answer": [12, 45]}', [12, 45]),
        ('{"answer":[45,12]}', [12, 45]),
        ('{"answer": []}', []),
        ('{"answer": [12.0]}', [12]),
        ('{"answer": "12, 45"}', [12, 45]),
        ("[12, 45]", [12, 45]),
        ("12,45", [12, 45]),
        ("12", [12]),
        ("The anomalies are at positions 12, 45 and 78.", [12, 45, 78]),
        ("Answer: [12, 45]", [12, 45]),
        ("none", []),
        ("[]", []),
        ("There are no anomalies.", []),
        ("The series has no anomalies.", []),
        ("No anomalies were found.", []),
        ('{"answer": []} There are no anomalies in the series.', []),
        ('{"answer": [12]} There are no other anomalies.', [12]),
    ],
)
def test_positions_are_read_from_a_list(reply, read):
    assert Positions().parse(reply) == read


@pytest.mark.parametrize(
    "reply",
    [
        "",
        '{"answer": null}',
        '{"answer": 12}',
        '{"answer": [12, null]}',
        '{"answer": [true]}',
        '{"answer": [12.5]}',
        '{"answer": ["12"]}',
        '{"answer": [[12]]}',
        '{"answer": [12]} Wait, the answer is [13].',
        "12 to 45",
        "not at 12",
        "around 12 there are 3 values",
        "-12",
        "somewhere",
        "There are no anomalies except at 12.",
        "There are no anomalies in the first half.",
        "No anomalies? There are some.",
        '{"answer": [12]} Wait, there are no anomalies.',
        "12 (value 4.5)",
    ],
)
def test_what_is_no_list_of_positions_is_not_read(reply):
    assert Positions().parse(reply) is None


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ([12, 45], True),
        ([13, 44], True),
        ([14, 45], False),
        ([12], False),
        ([12, 45, 78], False),
        ([12, 12], False),
        ([12, 12, 45], False),
        (list(range(100)), False),
        ([], False),
        (None, False),
    ],
)
def test_positions_are_right_one_to_one_and_one_step_off_at_most(told, right):
    assert Positions(slack=1).right(told, [12, 45]) is right


def test_no_positions_are_right_only_where_there_are_none():
    assert Positions().right([], [])
    assert not Positions().right([], [3])
