import sys
from typing import Any

import pytest

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.jinja import JinjaTemplate

pytest.importorskip("jinja2")


@pytest.mark.parametrize(
    ("text", "row", "prompt"),
    [
        ("Where is {{ city }}?", {"city": "Oslo"}, "Where is Oslo?"),
        ("{% for name in names %}{{ name }};{% endfor %}", {"names": ["a", "b"]}, "a;b;"),
        ("{% if old %}old{% else %}new{% endif %}", {"old": None}, "new"),
        ("{{ x }}|{{ yes }}|{{ list }}", {"x": None, "yes": True, "list": [1, "a"]}, '|true|[1,"a"]'),
        ('{{ row["first name"] }}', {"first name": "Ada"}, "Ada"),
        ("{{ note | default('none') }}", {}, "none"),
        ("{{ html }}", {"html": "<b> & {{ city }}"}, "<b> & {{ city }}"),
        ("{{ user.name }}", {"user": {"name": "Ada"}}, "Ada"),
        ("{{ range }}", {"range": "a column"}, "a column"),
    ],
)
def test_a_row_is_rendered_and_its_values_read_as_in_a_plain_template(text: str, row: Any, prompt: str) -> None:
    assert JinjaTemplate(text).render(row) == prompt


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("{{ city }}", {}),
        ("{{ n / 0 }}", {"n": 1}),
        ("{{ a + b }}", {"a": 1, "b": "x"}),
        ("{{ user.name.first }}", {"user": {}}),
        ("{{ '%d' | format(a) }}", {"a": "x"}),
        ("{{ ''.__class__.__mro__ }}", {}),
        ("{{ names.append(1) }}", {"names": []}),
        ("{{ range(10000000) | list }}", {}),
    ],
)
def test_what_goes_wrong_on_a_row_is_that_rows_error_and_the_sandbox_holds(text: str, row: Any) -> None:
    with pytest.raises(InputError, match="the template fails on this row: "):
        JinjaTemplate(text).render(row)


@pytest.mark.parametrize("text", ["{% include 'other' %}", "{% extends 'other' %}", "{% import 'other' as o %}"])
def test_a_template_has_no_other_files(text: str) -> None:
    with pytest.raises(ConfigError, match="another file, which a sandbox has not"):
        JinjaTemplate(text)


def test_a_wrong_template_is_told_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"ask\.j2, line 2: "):
        JinjaTemplate("fine\n{{ city", "ask.j2")


def test_the_columns_that_it_needs_are_known_and_those_it_can_do_without_are_not_asked_for() -> None:
    template = JinjaTemplate(
        "{{ city }}{% if old is defined %}{{ old }}{% endif %}{{ note | d('') }}{% set x = n %}{{ x }}{{ row.a }}"
    )
    assert [field.name for field in template.fields] == ["city", "n"]


def test_a_missing_jinja_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ConfigError, match=r"pip install 'batchwork\[tables\]'"):
        JinjaTemplate("x")
