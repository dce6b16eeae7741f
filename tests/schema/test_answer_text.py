"""The JSON value in the text of an answer."""

import sys

import pytest

from batchwork.schema import Accepted, Rejected, SchemaChecker

_GOOD = '{"kind": "Invoice", "items": [{"price": 1}]}'


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
    ("text", "problem"),
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
def test_no_json_or_too_much_of_it_is_rejected(checker: SchemaChecker, text: str, problem: str) -> None:
    verdict = checker.check(text)
    assert isinstance(verdict, Rejected)
    assert len(verdict.errors) == 1
    assert problem in verdict.errors[0]


def test_an_answer_too_deep_for_python_is_rejected_not_raised() -> None:
    checker = SchemaChecker({"items": {"$ref": "#"}, "type": "array", "maxItems": 1})
    depth = sys.getrecursionlimit() - 150
    assert isinstance(checker.check("[" * depth + "[1, 2]" + "]" * depth), Rejected)
