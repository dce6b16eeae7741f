"""A prompt or a conversation is parted into its question and its text; a question is taken apart."""

import pytest

from batchwork.literal import split_prompt, split_question, split_turns
from batchwork.literal.question import understand


@pytest.mark.parametrize(
    ("prompt", "question", "text"),
    [
        ("Data:\n1,2\n\nQuestion: What is the mean?", "What is the mean?", "Data:\n1,2"),
        ("Extract the fields.\n\nTotal: 5", "Extract the fields.", "Total: 5"),
        ("Total: 5\n\nWhat is the total?", "What is the total?", "Total: 5"),
        ("What is the total? Total: 5", "What is the total?", "Total: 5"),
        ("You are given a bill. Extract the data:\nTotal: 5", "You are given a bill. Extract the data:", "Total: 5"),
        ("just words", "just words", "just words"),
    ],
)
def test_a_prompt_is_parted_into_its_question_and_what_was_given(prompt, question, text):
    asked, given_text = split_prompt(prompt)
    assert (asked.strip(), given_text.strip()) == (question, text)


def test_a_question_for_two_things_is_two_questions():
    assert split_question("What is the invoice number and the total?") == ["What is the invoice number", "the total"]
    assert len(split_question("Which is larger, A or B?")) == 1


@pytest.mark.parametrize(
    ("turns", "documents", "system", "question", "text"),
    [
        (["Total: 5\n\nWhat is the total?"], [], "", "What is the total?", "Total: 5"),
        (
            ["What is the total?"],
            ["Total: 5", "Tax: 1"],
            "",
            "What is the total?",
            "Total: 5\n\nTax: 1\n\nWhat is the total?",
        ),
        (["A: 1\nWhat is A?", "That is not valid."], [], "", "What is A?", "A: 1"),
        (["A: 1\nWhat is A?", "And what is B? B: 2"], [], "", "And what is B?", "A: 1\nWhat is A?\n\nB: 2"),
        ([], [], "Total: 5\n\nWhat is the total?", "What is the total?", "Total: 5"),
    ],
)
def test_the_question_is_in_the_last_turn_that_asks_one(turns, documents, system, question, text):
    found, given_text = split_turns(turns, documents, system)
    assert (found, given_text.strip()) == (question, text)


@pytest.mark.parametrize(
    ("question", "words", "choices"),
    [
        ("What is the standard deviation of the series?", ("stdev", "series"), ()),
        ("Is the trend rising, falling or flat?", ("trend",), ("rising", "falling", "flat")),
        ("Which is larger, the mean or the median?", (), ("mean", "median")),
        ("Are the outliers above or below the rest?", ("anomaly",), ("above", "below")),
        ("How many anomalies are there?", ("anomaly",), ()),
    ],
)
def test_a_question_is_taken_apart(question, words, choices):
    query = understand(question)
    assert (query.words, query.choices) == (words, choices)
    assert query.compares == question.startswith("Which is larger")
    assert query.counts == question.startswith("How many")
