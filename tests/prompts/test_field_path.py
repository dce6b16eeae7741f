import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.prompts.field_path import EVERY, PATTERN, Every, PathNotFound, PathSyntaxError, Step, parse_path, written

ORDER = {
    "customer": {"name": "Ada", "e.mail": "a@b", "": "empty", "*": "star", "a[0]": "bracket", "1": "one"},
    "items": [{"total": 1, "tags": ["x", "y"]}, {"total": 2, "tags": []}],
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("customer.name", "Ada"),
        ("items[0].total", 1),
        ("items[-1].total", 2),
        ("items.1.total", 2),
        ("items[*].total", [1, 2]),
        ("items.*.total", [1, 2]),
        ("items[*].tags[*]", [["x", "y"], []]),
        ("items[*]", ORDER["items"]),
        (r"customer.e\.mail", "a@b"),
        ('customer["e.mail"]', "a@b"),
        ('customer[""]', "empty"),
        (r"customer.\*", "star"),
        ('customer["*"]', "star"),
        (r"customer.a\[0\]", "bracket"),
        ("customer.1", "one"),
        ("none", None),
    ],
)
def test_a_path_leads_to_a_value(path: str, value: Any) -> None:
    assert parse_path(path).extract(ORDER) == value


def test_a_path_may_begin_with_a_bracket() -> None:
    assert parse_path("[1][0]").extract([0, [5]]) == 5
    assert parse_path("[*].a").extract([{"a": 1}, {"a": 2}]) == [1, 2]


@pytest.mark.parametrize(
    ("path", "reached", "reason"),
    [
        ("customer.age", "customer", "no key 'age'"),
        ("nothing", "the root", "no key 'nothing'"),
        ("items[2].total", "items", "no index 2 in a list of 2"),
        ("items[-3]", "items", "no index -3 in a list of 2"),
        ("items[*].price", "items[0]", "no key 'price'"),
        ("items[*].tags[0]", "items[1].tags", "no index 0 in a list of 0"),
        ("customer[0]", "customer", "needs a list, found an object"),
        ("customer.name.first", "customer.name", "needs an object, found text"),
        ("none.x", "none", "needs an object, found null"),
        ("customer[*]", "customer", "[*] needs a list, found an object"),
        ("items.total", "items", "needs an object, found a list"),
    ],
)
def test_a_path_that_is_not_there_says_where_it_stopped(path: str, reached: str, reason: str) -> None:
    with pytest.raises(PathNotFound) as caught:
        parse_path(path).extract(ORDER)
    assert f"stopped at {reached}:" in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        ".a",
        "a.",
        "a..b",
        "a[",
        "a[]",
        "a[x]",
        "a]",
        "a\\",
        "a\\b",
        "a[1",
        "a[1]b",
        'a["b',
        'a["b"',
        "a[--1]",
        "a[1.5]",
        "a[ 1]",
        "a[\u0661]",
        "a" * 1001,
        "a[1]" * 101,
        "a[99999999999]",
        "[*]x",
    ],
)
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(PathSyntaxError):
        parse_path(path)


_keys = st.text(st.characters(codec="utf-8"), max_size=8)
_steps = st.lists(st.one_of(_keys, st.integers(-20, 20), st.just(EVERY)), min_size=1, max_size=6)
_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _keys),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_keys, inner, max_size=4)),
    max_leaves=20,
)


def _text(steps: list[Step]) -> str:
    text = ""
    for step in steps:
        part = written(step)
        text += part if part.startswith("[") or not text else f".{part}"
    return text


@given(_steps)
def test_what_is_written_is_read_back(steps: list[Step]) -> None:
    assert list(parse_path(_text(steps)).steps) == steps


@given(st.text(max_size=40), _json)
def test_any_text_and_any_answer_give_a_value_or_one_of_two_errors(text: str, answer: Any) -> None:
    try:
        found = parse_path(text).extract(answer)
    except (PathSyntaxError, PathNotFound) as error:
        assert str(error)  # noqa: PT017
    else:
        json.dumps(found)


@given(st.one_of(st.text(max_size=30), st.text('ab.[]*\\\\"01-', max_size=12), st.from_regex(PATTERN)))
def test_the_published_pattern_and_the_parser_agree(text: str) -> None:
    try:
        parse_path(text)
    except PathSyntaxError as error:
        told = str(error)
        assert "more than" in told or not re.fullmatch(PATTERN[1:-1], text), told
    else:
        assert re.fullmatch(PATTERN[1:-1], text)


def _places(value: Any, steps: tuple[Step, ...] = ()) -> list[tuple[tuple[Step, ...], Any]]:
    """Every place in a JSON value, by plain recursion: what the path must find."""
    found: list[tuple[tuple[Step, ...], Any]] = [(steps, value)] if steps else []
    if isinstance(value, dict):
        for key, held in value.items():
            found += _places(held, (*steps, key))
    if isinstance(value, list):
        for index, held in enumerate(value):
            found += _places(held, (*steps, index))
    return found


@given(_json)
def test_every_place_of_an_answer_can_be_reached(answer: Any) -> None:
    for steps, value in _places(answer):
        assert parse_path(_text(list(steps))).extract(answer) is value


@given(st.lists(st.dictionaries(_keys, _json, max_size=3), max_size=5), _keys)
def test_a_wildcard_is_the_path_for_every_element(rows: list[dict[str, Any]], key: str) -> None:
    path = parse_path(_text([EVERY, key]))
    if all(key in row for row in rows):
        assert path.extract(rows) == [row[key] for row in rows]
    else:
        with pytest.raises(PathNotFound):
            path.extract(rows)
    assert isinstance(path.steps[0], Every)
