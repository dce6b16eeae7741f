"""The OpenAPI document."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

import batchwork
from batchwork.server.api import API
from batchwork.server.openapi import document
from tests.server.house import House


def test_the_openapi_document_names_every_error_code_and_resolves(echo: House) -> None:
    sent = echo.get("/openapi.json").json()
    text = json.dumps(sent)
    for code in API.errors:
        if code not in ("not_found", "method_not_allowed"):
            assert f"`{code}`" in text, code
    for name in set(re.findall(r'"#/components/schemas/([A-Za-z]+)"', text)):
        assert name in sent["components"]["schemas"], name


def test_the_prompts_of_a_request_are_described_although_they_are_decoded_one_by_one() -> None:
    body = document(())["components"]["schemas"]["PromptsBody"]
    assert body["properties"]["prompts"]["items"] == {"$ref": "#/components/schemas/PromptItem"}


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(inner)


def test_every_array_says_what_its_items_are_and_no_object_is_a_union_beside_its_properties() -> None:
    """Makers of clients leave out, without more ado, every call whose body they cannot read."""
    described = document(("mock:echo",))
    for node in _nodes(described):
        if "array" in (node.get("type"), *(node["type"] if isinstance(node.get("type"), list) else ())):
            assert "items" in node, node
        assert not ("properties" in node and node.keys() & {"oneOf", "anyOf", "allOf"}), node
    assert {path for path, call in described["paths"].items() if "post" in call} == {
        "/api/v1/prompt",
        "/api/v1/prompts",
    }


@pytest.mark.parametrize(
    ("item", "fits"),
    [
        ({"prompt": "a"}, True),
        ({"prompt": "a", "messages": None}, True),
        ({"messages": [{"role": "user", "content": "a"}]}, True),
        ({"prompt": None, "messages": [{"role": "user", "content": "a"}]}, True),
        ({}, False),
        ({"prompt": None}, False),
        ({"prompt": None, "messages": None}, False),
        ({"prompt": "a", "messages": [{"role": "user", "content": "a"}]}, False),
    ],
)
def test_an_item_has_a_prompt_or_messages_and_never_both(echo: House, item: dict[str, Any], fits: bool) -> None:
    schemas = document(())["components"]["schemas"]
    validator = jsonschema_rs.validator_for(
        {"$ref": "#/components/schemas/OnePrompt", "components": {"schemas": schemas}}
    )
    assert validator.is_valid(item) is fits
    assert (echo.prompt(**item).status == 200) is fits


def test_its_version_is_that_of_batchwork() -> None:
    assert document(())["info"]["version"] == batchwork.__version__
