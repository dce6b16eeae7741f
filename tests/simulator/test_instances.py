"""A made-up instance of a schema is always valid."""

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.simulator.dice import generator
from batchwork.simulator.instances import Maker, simplest


def leaf():
    return st.one_of(
        st.just({"type": "string"}),
        st.just({"type": "boolean"}),
        st.just({"type": "null"}),
        st.builds(
            lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
            st.integers(-50, 50),
            st.integers(0, 9),
        ),
        st.builds(lambda low: {"type": "number", "minimum": low, "exclusiveMaximum": low + 1}, st.integers(-50, 50)),
        st.builds(lambda low: {"type": "string", "minLength": low, "maxLength": low + 3}, st.integers(0, 30)),
        st.sampled_from(
            [{"type": "string", "format": one} for one in ("date", "date-time", "email", "uuid", "ipv4", "uri")]
        ),
        st.sampled_from(
            [{"type": "string", "pattern": one} for one in ("^[A-Z]{3}-\\d{4}$", "^(yes|no)$", "^\\w+@x\\.de$")]
        ),
        st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4).map(lambda words: {"enum": words}),
        st.just({"const": 7}),
    )


def composed(inner):
    return st.one_of(
        st.builds(lambda item, least: {"type": "array", "items": item, "minItems": least}, inner, st.integers(0, 3)),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4).map(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties)[:2],
                "additionalProperties": False,
            }
        ),
    )


@settings(max_examples=150, deadline=None)
@given(schema=st.recursive(leaf(), composed, max_leaves=12), seed=st.integers(0, 99))
def test_a_made_up_instance_is_always_valid(schema, seed):
    check = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert check.is_valid(Maker(schema, generator(seed, "x")).make(schema))
    assert check.is_valid(simplest(schema, "hello"))
