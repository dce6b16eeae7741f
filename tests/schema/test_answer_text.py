"""The JSON value in the text of an answer."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    "text",
    [
        _GOOD,
        f"  \n{_GOOD}\n",
        f"```json\n{_GOOD}\n```",
        f"```json\n{_GOOD}",
        f"```json\n{_GOOD}\n``",
        f"Here it is: {_GOOD}",
        f"{_GOOD}\n\nI chose this because the pap",
    ],
)
def test_an_answer_that_was_cut_off_behind_its_json_is_whole(checker: SchemaChecker, text: str) -> None:
    assert checker.check(text, truncated=True) == Accepted({"kind": "Invoice", "items": [{"price": 1}]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        _GOOD[:-1],
        f"[{_GOOD}",  # the first of a list that was to be longer
        f"[{_GOOD},",
        f'{{"draft": {_GOOD}, "final',
        f"{_GOOD} or rather {_GOOD[:20]}",
        f"See [1]: {_GOOD}",
        "[" * 100_000,
    ],
)
def test_an_answer_whose_json_may_have_been_cut_off_is_not(checker: SchemaChecker, text: str) -> None:
    assert isinstance(checker.check(text, truncated=True), Rejected)


@pytest.mark.parametrize(("schema", "text"), [({"type": "integer"}, "12"), ({"type": "string"}, '"whole"')])
def test_a_bare_number_or_string_that_was_cut_off_is_never_whole(schema: dict[str, str], text: str) -> None:
    assert SchemaChecker(schema).check(text) == Accepted(json.loads(text))
    assert isinstance(SchemaChecker(schema).check(text, truncated=True), Rejected)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=10,
    ).filter(lambda value: isinstance(value, dict | list)),
    st.data(),
)
def test_no_cut_through_a_json_value_leaves_one_that_counts_as_whole(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    anything = SchemaChecker({"type": ["object", "array"]})
    assert anything.check(text, truncated=True) == Accepted(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    assert isinstance(anything.check(text[:cut], truncated=True), Rejected)
