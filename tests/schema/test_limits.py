"""How much work a schema and an answer are together."""

import json
import time
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.schema import check_schema, values_at_most

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=6),
    max_leaves=60,
)


def count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


@given(_JSON, st.booleans(), st.integers(1, 400))
def test_no_text_has_more_values_than_are_counted(value: Any, ascii_only: bool, copies: int) -> None:
    text = json.dumps([value] * copies, ensure_ascii=ascii_only)
    assert count([value] * copies) <= values_at_most(text)
    assert values_at_most(text) == values_at_most(text.encode("utf-8", "replace"))


def test_marks_inside_of_texts_are_not_counted_where_there_are_many() -> None:
    assert values_at_most(json.dumps({"a": ',[{\\"' * 100_000, "b": "c"})) <= 3


def weight(schema: Any) -> float:
    return check_schema(schema).weight.spread


def test_a_value_is_held_against_few_rules_where_nothing_branches() -> None:
    wide = {"properties": {f"p{n}": {"type": "string"} for n in range(500)}, "required": ["p1"]}
    assert weight(wide) < 10
    assert weight({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "null"}}}) < 20


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"required": [f"p{n}"]} for n in range(100)]},
        {"items": {"enum": list(range(100))}},
        {"patternProperties": {f"p{n}": {"type": "string"} for n in range(100)}},
        {"$ref": "#/$defs/d0", "$defs": {**{f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(100)}, "d100": True}},
    ],
)
def test_it_is_held_against_many_where_something_does(schema: Any) -> None:
    assert weight(schema) >= 100


def test_how_many_cannot_be_said_where_a_union_recurses() -> None:
    tree = {"anyOf": [{"type": "null"}, {"properties": {"next": {"$ref": "#"}}}]}
    assert weight(tree) == inf
    assert check_schema(tree).weight.checking_us(values=1, characters=1) == inf
    assert weight({"properties": {"next": {"$ref": "#"}}}) < 10


@pytest.mark.parametrize(
    ("pattern", "count"),
    [(r"\d+", 60), ("(a|b|c|d){15}", 20), (r"(?=a)\w", 10), ("(?!b)(a|a|bbb)*", 20), ("abc", 100), (r"\S\s", 30)],
)
def test_a_schema_is_prepared_in_about_the_time_of_its_weight(pattern: str, count: int) -> None:
    schema = {"properties": {f"p{n}": {"type": "string", "pattern": f"{pattern}{n}"} for n in range(count)}}
    best = float("inf")
    for _ in range(5):
        started = time.thread_time()
        checked = check_schema(schema)
        best = min(best, time.thread_time() - started)
    assert best * 1e6 < 4 * checked.weight.preparing_us


def test_explaining_weighs_what_its_parts_weigh() -> None:
    flat: Any = {"properties": {f"p{n}": {"pattern": f"[a-z]{n}"} for n in range(60)}}
    deep = flat
    for _ in range(28):
        deep = {"properties": {"x": deep}}
    shared = {"properties": {f"p{n}": {"$ref": "#/$defs/d"} for n in range(60)}, "$defs": {"d": flat}}
    assert check_schema(flat).weight.parts < 3
    assert check_schema(deep).weight.parts > 20
    assert check_schema(shared).weight.parts > 20
    assert check_schema(deep).weight.explaining_us > 20 * check_schema(flat).weight.preparing_us
