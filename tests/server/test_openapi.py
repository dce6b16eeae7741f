"""The OpenAPI document."""

import json
import re

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
