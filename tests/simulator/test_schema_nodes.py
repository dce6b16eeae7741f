"""A schema's nodes and references."""

import pytest

from batchwork.simulator.schema_nodes import nodes, resolved

LEAF = {"type": "string"}
SCHEMA = {
    "properties": {"a": {"items": LEAF}, "b": {"anyOf": [LEAF, {"type": "null"}]}},
    "$defs": {"x/y": {"allOf": [LEAF]}},
}


def test_every_schema_inside_is_met_once_with_its_path():
    assert [path for path, _ in nodes(SCHEMA)] == [
        (),
        ("properties", "a"),
        ("properties", "a", "items"),
        ("properties", "b"),
        ("properties", "b", "anyOf", "0"),
        ("properties", "b", "anyOf", "1"),
        ("$defs", "x/y"),
        ("$defs", "x/y", "allOf", "0"),
    ]


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("#", SCHEMA),
        ("#/properties/a/items", LEAF),
        ("#/$defs/x~1y", SCHEMA["$defs"]["x/y"]),
        ("#/nowhere/at/all", None),
        ("https://example.com/schema", None),
        (5, None),
    ],
)
def test_a_reference_leads_to_what_it_names_or_nowhere(ref, found):
    assert resolved(SCHEMA, ref) == found
