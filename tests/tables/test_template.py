import contextlib
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables import MissingColumn, Template


def test_columns_stand_where_their_names_stood() -> None:
    template = Template("{lang}: summarise {text} ({lang})")
    assert template.columns == ("lang", "text")
    assert template.render({"text": "rivers", "lang": "en", "other": 1}) == "en: summarise rivers (en)"


def test_doubled_braces_are_braces_and_percent_signs_are_nothing_special() -> None:
    assert Template('{{"a": {x}, "b": "100%s {{}}"}}').render({"x": 1}) == '{"a": 1, "b": "100%s {}"}'
    assert Template("100% {a} %s {b}").render({"a": "%d", "b": "%"}) == "100% %d %s %"
    assert Template("no columns {{at all}}").render({}) == "no columns {at all}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        (Decimal("1.50"), "1.50"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        ({"a": [1, None, "\u00fc"]}, '{"a":[1,null,"\u00fc"]}'),
        (["\ud800"], '["\ufffd"]'),
        ([10**30], "[1000000000000000000000000000000]"),
    ],
)
def test_values_read_as_in_json_and_none_is_nothing(value: Any, text: str) -> None:
    assert Template("<{v}>").render({"v": value}) == f"<{text}>"
    assert Template("<{v}{v}>").render({"v": value}) == f"<{text}{text}>"


def test_paths_lead_into_nested_values() -> None:
    template = Template("{author.name} {items[1].price} {grid[0][1]}")
    row = {"author": {"name": "Ada"}, "items": [{}, {"price": 2.5}], "grid": [[1, 2]]}
    assert template.columns == ("author", "items", "grid")
    assert template.render(row) == "Ada 2.5 2"


def test_a_column_with_exactly_that_name_beats_the_path() -> None:
    assert Template("{a.b}").render({"a.b": "flat", "a": {"b": "deep"}}) == "flat"
    assert Template("{first name} { x }{Price [EUR]}").render({"first name": "A", "x": "B", "Price [EUR]": 3}) == "A B3"


@pytest.mark.parametrize("text", ["{gone}", "{a.gone}", "{a.b.c}", "{items[7]}", "{items.x}", "{a[0]}"])
def test_a_row_that_lacks_it_is_told_what_it_has(text: str) -> None:
    with pytest.raises(MissingColumn) as caught:
        Template(text).render({"a": {"b": "text"}, "items": [1]})
    assert caught.value.name == text[1:-1]
    assert isinstance(caught.value, InputError)
    assert "it has a, items" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Summarise: {text", "line 1, column 12: a '{' that is never closed"),
        ("a } b", "line 1, column 3: a '}' that closes nothing"),
        ("x\ny {} z", "line 2, column 3: no column name"),
        ("{ }", "line 1, column 1: no column name"),
        ("{a {b}", "line 1, column 1: a '{' that is never closed"),
        ('Answer as {"a": 1}', "is no column name"),
        ('{\n  "a": 1\n}', "is no column name"),
    ],
)
def test_a_brace_that_makes_no_sense_is_shown_at_its_place(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Template(text)
    message = str(caught.value)
    assert said in message
    assert message.splitlines()[-1].strip() == "^"
    assert "{{" in message


@given(st.text())
def test_any_text_is_a_template_once_its_braces_are_doubled(text: str) -> None:
    assert Template(text.replace("{", "{{").replace("}", "}}")).render({}) == text


@given(st.text(alphabet="ab{}.[]0 \n%"), st.dictionaries(st.sampled_from(["a", "b", "ab"]), st.text()))
def test_no_template_ends_in_anything_but_a_prompt_or_a_clear_error(text: str, row: dict[str, str]) -> None:
    with contextlib.suppress(ConfigError, MissingColumn):
        assert isinstance(Template(text).render(row), str)
