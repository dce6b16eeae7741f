"""What is wrong with an answer, in short sentences."""

import time
from typing import Any

import pytest

from batchwork.schema import Accepted, Rejected, SchemaChecker, reask_message


def test_errors_are_short_sentences_with_paths_and_the_nearest_alternative(checker: SchemaChecker) -> None:
    answer = (
        '{"kind": "Bill", "extra": 1, "items": [{"price": -1}, {"unit": 5}], "payer": {"type": "Person", "born": "x"}}'
    )
    verdict = checker.check(answer)
    assert isinstance(verdict, Rejected)
    assert verdict.errors == (
        "Additional properties are not allowed ('extra' was unexpected)",
        'kind: "Bill" is not one of "Invoice" or "Receipt"',
        "items[0].price: -1 is less than the minimum of 0",
        'items[1]: "price" is a required property',
        'items[1].unit: 5 is not of type "string"',
        'payer.born: "x" is not a "date"',
    )
    assert verdict.message == reask_message(verdict.errors)
    assert "- items[0].price: -1 is less than the minimum of 0\n" in verdict.message


def test_there_are_at_most_ten_errors_and_none_is_long(checker: SchemaChecker) -> None:
    prices = ", ".join(f'{{"price": "{"x" * 500}{n}"}}' for n in range(50))
    verdict = checker.check(f'{{"kind": "Invoice", "items": [{prices}]}}')
    assert isinstance(verdict, Rejected)
    assert len(verdict.errors) == 10
    assert max(map(len, verdict.errors)) < 300


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 5, "must fit exactly one"),
        ({"not": {"type": "string"}}, "x", "the text does not fit the schema (not)"),
        ({"properties": {"a": False}}, {"a": 1}, "a: there must be nothing here"),
        ({"if": {"type": "integer"}, "then": {"minimum": 3}}, 1, "(if, then)"),
        ({"prefixItems": [{"type": "string"}]}, [1], '[0]: 1 is not of type "string"'),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, 'a: 1 is not of type "string"'),
        ({"patternProperties": {"^a": {"type": "string"}}}, {"a": 1}, "(patternProperties)"),
        (False, 1, "there must be nothing here"),
    ],
)
def test_whatever_a_schema_says_a_breach_of_it_is_explained(schema: Any, value: Any, problem: str) -> None:
    verdict = SchemaChecker(schema).check_value(value)
    assert isinstance(verdict, Rejected)
    assert problem in verdict.errors[0]


def test_recursive_unions_are_explained_and_mended_in_little_time() -> None:
    kinds = [
        {"type": "object", "properties": {"t": {"const": c}, "next": {"$ref": "#/$defs/e"}, "o": {"type": "string"}}}
        for c in "ABC"
    ]
    checker = SchemaChecker(
        {"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [{**kind, "required": ["t"]} for kind in kinds]}}}
    )
    for last, accepted in ({"t": "a", "o": None}, True), ({"t": "zz"}, False):
        value = last
        for _ in range(40):
            value = {"t": "c", "o": None, "next": value}
        began = time.process_time()
        assert isinstance(checker.check_value(value), Accepted) == accepted
        assert time.process_time() - began < 2
