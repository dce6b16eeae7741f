"""The OpenAPI document."""

import json
import re

from batchwork.server.api import API
from tests.server.house import House


def test_the_openapi_document_names_every_error_code_and_resolves(echo: House) -> None:
    document = echo.get("/openapi.json").json()
    text = json.dumps(document)
    for code in API.errors:
        if code not in ("not_found", "method_not_allowed"):
            assert f"`{code}`" in text, code
    for name in set(re.findall(r'"#/components/schemas/([A-Za-z]+)"', text)):
        assert name in document["components"]["schemas"], name
