"""Words are read strictly: the only option that is named, and not denied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.benchmarks.scoring import Choice, Flag

TREND = Choice(("rising", "falling", "none"))
LETTER = Choice(("A", "B"))
MORE, LESS = Choice(("A", "B"), asks="more"), Choice(("A", "B"), asks="less")


@pytest.mark.parametrize(
    ("form", "reply", "read"),
    [
        (TREND, '{"answer": "rising"}', "rising"),
        (TREND, '{"answer": "Rising"}', "rising"),
        (TREND, '{"answer": "rising."}', "rising"),
        (TREND, '{"answer": "none"}', "none"),
        (TREND, '```json\n{"answer": "falling"}\n```', "falling"),
        (TREND, 'It first falls, but it is rising overall. {"answer": "rising"}', "rising"),
        (TREND, '{"answer": "rising"} The line is rising.', "rising"),
        (TREND, '{"answer": "rising"} There is no doubt about it.', "rising"),
        (TREND, "rising", "rising"),
        (TREND, "The trend is rising.", "rising"),
        (TREND, "Rising!", "rising"),
        (TREND, "**falling**", "falling"),
        (TREND, "It may look like it is rising or falling. Answer: none", "none"),
        (LETTER, '{"answer": "A"}', "A"),
        (LETTER, '{"answer": "Series B"}', "B"),
        (LETTER, "B", "B"),
        (LETTER, "Series B", "B"),
        (LETTER, "Series B has the higher mean.", "B"),
        (LETTER, "The answer is B.", "B"),
        (LETTER, "A closer look is needed. Answer: B", "B"),
        (LETTER, '{"answer": "B"} A higher mean decides.', "B"),
        (LETTER, '{"answer":"A"}. Series B is lower.', "A"),
        (LETTER, '{"answer": "A"} A has the higher mean, B the lower one.', "A"),
        (LETTER, '{"answer": "A"} I chose A rather than B.', "A"),
        (LETTER, '{"answer": "A"} Series A is actually higher.', "A"),
        (TREND, '{"answer": "none"} It is neither rising nor falling.', "none"),
        (MORE, "Series A has a higher mean than Series B", "A"),
        (MORE, "Series B has a lower mean than series A.", "A"),
        (MORE, "B's mean (12.5) is larger than that of A (11.25).", "B"),
        (MORE, "The mean of A is higher than the mean of B.", "A"),
        (MORE, "**A has more anomalies than B.**", "A"),
        (MORE, "The answer is B.", "B"),
        (MORE, "Series B has the higher mean.", "B"),
        (LESS, "A has a lower minimum than B.", "A"),
        (LESS, "A has a higher minimum than B.", "B"),
    ],
)
def test_an_option_is_read_where_it_is_the_only_one(form, reply, read):
    assert form.parse(reply) == read


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        (TREND, ""),
        (TREND, '{"answer": null}'),
        (TREND, '{"answer": "not rising"}'),
        (TREND, '{"answer": "rising or falling"}'),
        (TREND, '{"answer": ["rising"]}'),
        (TREND, '{"answer": true}'),
        (TREND, '{"answer": 1}'),
        (TREND, '{"answer": "up"}'),
        (TREND, '{"answer": "uprising"}'),
        (TREND, '{"answer": {"answer": "rising"}}'),
        (TREND, '{"answer": "rising"} Actually it is falling.'),
        (TREND, '{"answer": "rising"} No: falling.'),
        (TREND, '{"answer": "rising"} {"answer": "falling"}'),
        (TREND, '{"answer": "rising", "answer": "falling"}'),
        (TREND, "not rising"),
        (TREND, "The trend is not rising."),
        (TREND, "It isn't falling."),
        (TREND, "neither rising nor falling"),
        (TREND, "It is never rising"),
        (TREND, "rising, falling, none"),
        (TREND, "It is rising at first and falling later."),
        (TREND, "It could be rising, but not really."),
        (TREND, "The rise is clear."),
        (TREND, "cannot tell whether it is rising"),
        (LETTER, '{"answer": "A and B"}'),
        (LETTER, '{"answer": "C"}'),
        (LETTER, '{"answer": "AB"}'),
        (LETTER, '{"answer": "a"}'),
        (LETTER, "A or B"),
        (LETTER, "A has a higher mean than B."),
        (LETTER, "Both A and B."),
        (LETTER, "not A"),
        (LETTER, "A closer look is needed."),
        (LETTER, "I cannot find it in the text I was given."),
        (LETTER, '{"answer": "A"} Sorry, it is B.'),
        (LETTER, '{"answer": "A"} Actually B.'),
        (LETTER, '{"answer": "A"} Actually, not A.'),
        (LETTER, '{"answer": "A"}. That is wrong.'),
        (LETTER, '{"answer": "A"} The answer is B.'),
        (LETTER, '{"answer": "A"} Wait. It is B.'),
        (MORE, "A does not have a higher mean than B."),
        (MORE, "A has more values lower than B."),
        (MORE, "Series B has the lower mean."),
        (MORE, "A has a higher mean than B, and B has a higher median than A."),
        (MORE, "A is other than B."),
        (MORE, "Series A exceeds Series B."),
        (MORE, "A's mean exceeds that of B."),
        (MORE, "A higher mean than B could be seen."),
        (MORE, "Which of A or B has a higher mean than B?"),
    ],
)
def test_what_is_denied_or_names_two_is_not_read(form, reply):
    assert form.parse(reply) is None
    assert not any(form.right(form.parse(reply), option) for option in form.options)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"answer": true}', True),
        ('{"answer": false}', False),
        ('{"answer": "yes"}', True),
        ('{"answer": "No"}', False),
        ("yes", True),
        ("No.", False),
        ("No, there are no anomalies.", False),
        ("Yes, at position 12.", True),
        ("There is something at 12. Answer: yes", True),
        ('{"answer": true} Yes, at 12.', True),
        ('{"answer":"yes"} No other anomalies.', True),
        ('{"answer": false} No, there are none.', False),
        ('{"answer": false}. No value stands out.', False),
    ],
)
def test_yes_and_no_are_read(reply, read):
    assert Flag().parse(reply) is read


@pytest.mark.parametrize(
    "reply",
    [
        "",
        '{"answer": null}',
        '{"answer": 1}',
        '{"answer": 0}',
        '{"answer": "maybe"}',
        '{"answer": "yes and no"}',
        '{"answer": [true]}',
        '{"answer": true} No, there are none.',
        '{"answer": true} {"answer": false}',
        '{"answer": true} No.',
        '{"answer": false} Yes, there are.',
        '{"answer": false} Actually, yes.',
        "yes and no",
        "No doubt, yes.",
        "I would not say yes.",
        "There are anomalies.",
        "It cannot be determined.",
        "unknown",
    ],
)
def test_what_is_neither_yes_nor_no_is_not_read(reply):
    assert Flag().parse(reply) is None
    assert not Flag().right(Flag().parse(reply), True)
    assert not Flag().right(Flag().parse(reply), False)


@given(st.text(max_size=200))
def test_no_text_makes_a_reader_stumble(text):
    for form in (TREND, LETTER, Flag()):
        for reply in (text, f'{{"answer": {text}}}'):
            assert form.parse(reply) in (None, True, False, "rising", "falling", "none", "A", "B")
