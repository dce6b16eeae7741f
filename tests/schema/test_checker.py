import sys
import time
from typing import Any

import pytest

from batchwork.schema import Accepted, Rejected, SchemaChecker, reask_message

_INVOICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["Invoice", "Receipt"]},
        "note": {"type": "string"},
        "paid": {"type": ["boolean", "null"]},
        "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
        "payer": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "string"}]},
    },
    "required": ["kind", "items"],
    "additionalProperties": False,
    "$defs": {
        "item": {
            "type": "object",
            "properties": {"price": {"type": "number", "minimum": 0}, "unit": {"type": "string"}},
            "required": ["price"],
        },
        "person": {
            "type": "object",
            "properties": {"type": {"const": "Person"}, "born": {"type": "string", "format": "date"}},
            "required": ["type"],
        },
    },
}
_GOOD = '{"kind": "Invoice", "items": [{"price": 1}]}'


@pytest.fixture(scope="module")
def checker() -> SchemaChecker:
    return SchemaChecker(_INVOICE)


@pytest.mark.parametrize(
    "text",
    [
        _GOOD,
        f"  \n{_GOOD}\n",
        f"```json\n{_GOOD}\n```",
        f"```\n{_GOOD}\n```",
        f"Here it is:\n\n```JSON\n{_GOOD}\n```\nAnything else?",
        f"Here it is: {_GOOD} (as you asked)",
        f"```{_GOOD}```",
        f"Use `x[0` or {{}}-like things? {_GOOD}".replace("{}", "{,"),
    ],
)
def test_the_json_is_found_in_what_the_model_said(checker: SchemaChecker, text: str) -> None:
    assert checker.check(text) == Accepted({"kind": "Invoice", "items": [{"price": 1}]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the answer is empty"),
        ("   ", "the answer is empty"),
        ("I cannot find it.", "not JSON"),
        ('{"kind": "Invoice", "items": [{"pri', "not JSON"),
        ('{"kind": NaN}', "not JSON"),
        ('{"a": 1}\n{"a": 2}', "2 JSON values"),
        ('```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', "2 JSON values"),
        ('First {"a": 1}, then {"b": 2}.', "2 JSON values"),
        ("[" * 100_000, "nested too deeply"),
        ("{" * 100_000, "not JSON"),
        ('{"kind": "\\ud800"}', "not JSON"),
        ('{"kind": "\ud800"}', "not JSON"),
    ],
)
def test_no_json_or_too_much_of_it_is_rejected(checker: SchemaChecker, text: str, said: str) -> None:
    verdict = checker.check(text)
    assert isinstance(verdict, Rejected)
    assert len(verdict.errors) == 1
    assert said in verdict.errors[0]


def test_nulls_for_absent_properties_are_left_out_where_null_is_not_allowed(checker: SchemaChecker) -> None:
    said = '{"kind": "Invoice", "note": null, "paid": null, "items": [{"price": 1, "unit": null}], "payer": null}'
    assert checker.check(said) == Accepted({"kind": "Invoice", "paid": None, "items": [{"price": 1}]})


def test_a_required_null_is_not_left_out(checker: SchemaChecker) -> None:
    verdict = checker.check('{"kind": "Invoice", "items": [{"price": null}]}')
    assert verdict == Rejected(('items[0].price: null is not of type "number"',))


def test_the_case_of_allowed_values_is_put_right_also_inside_unions(checker: SchemaChecker) -> None:
    said = '{"kind": "INVOICE", "items": [{"price": 1}], "payer": {"type": "person", "born": null}}'
    assert checker.check(said) == Accepted({"kind": "Invoice", "items": [{"price": 1}], "payer": {"type": "Person"}})


def test_an_answer_in_a_wrapping_is_unwrapped() -> None:
    numbers = SchemaChecker({"type": "array", "items": {"type": "integer"}})
    assert numbers.check('{"value": [1, 2]}') == Accepted([1, 2])
    assert numbers.check('{"value": [1, "b"]}') == Rejected(('[1]: "b" is not of type "integer"',))
    named = SchemaChecker({"type": "object", "properties": {"value": {"type": "string"}}})
    assert named.check('{"value": "x"}') == Accepted({"value": "x"})
    assert named.check('{"value": 5}') == Rejected(('value: 5 is not of type "string"',))


def test_errors_are_short_sentences_with_paths_and_the_nearest_alternative(checker: SchemaChecker) -> None:
    said = (
        '{"kind": "Bill", "extra": 1, "items": [{"price": -1}, {"unit": 5}], "payer": {"type": "Person", "born": "x"}}'
    )
    verdict = checker.check(said)
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
    ("schema", "value", "said"),
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
def test_whatever_a_schema_says_a_breach_of_it_is_explained(schema: Any, value: Any, said: str) -> None:
    verdict = SchemaChecker(schema).check_value(value)
    assert isinstance(verdict, Rejected)
    assert said in verdict.errors[0]


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


def test_an_answer_too_deep_for_python_is_rejected_not_raised() -> None:
    checker = SchemaChecker({"items": {"$ref": "#"}, "type": "array", "maxItems": 1})
    depth = sys.getrecursionlimit() - 150
    assert isinstance(checker.check("[" * depth + "[1, 2]" + "]" * depth), Rejected)


def test_older_drafts_are_understood() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    assert isinstance(SchemaChecker(schema).check("3"), Rejected)
    assert SchemaChecker(schema).check("4") == Accepted(4)
