"""The page at /docs: the OpenAPI document for people, with a form that sends a call.

One page, made of `docs.html`, `docs.css` and `docs.js`. It loads nothing, and its Content-Security-Policy lets it do
nothing but call this server. The key is kept by its input field alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from json import dumps
from pathlib import Path
from string import Template
from typing import Any

from batchwork.server.api import API, Headers, page_headers
from batchwork.server.openapi import document

_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsPage:
    """The page, and the headers it is sent with."""

    body: bytes
    headers: Headers


@cache
def docs_page(models: tuple[str, ...], *, needs_key: bool) -> DocsPage:
    """The page of a server with these models."""
    described = document(models)
    page, style, script = (
        Path(__file__).with_name(f"docs.{kind}").read_text("utf-8") for kind in ("html", "css", "js")
    )
    errors = [
        (f"<code>{code}</code>", str(status), "yes" if retryable else "no", _text(meaning))
        for code, (status, retryable, meaning) in API.errors.items()
    ]
    filled = Template(page).substitute(
        title=escape(described["info"]["title"]),
        description=_text(described["info"]["description"]),
        key_note="Sent with every call from this page." if needs_key else "This server asks for none.",
        operations="".join(
            _operation(path, method, operation)
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        ),
        types="".join(_type(name, schema) for name, schema in sorted(described["components"]["schemas"].items())),
        errors=_table(("code", "HTTP", "retryable", "meaning"), errors),
        style=style,
        script=script,
    )
    return DocsPage(body=filled.encode(), headers=page_headers(_POLICY, script=script, style=style))


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    """A heading, a form that sends a call where scripts run, and the responses."""
    name, takes = operation["operationId"], ""
    fields: list[str] = []
    if "requestBody" in operation:
        body = operation["requestBody"]["content"]["application/json"]
        example = escape(dumps(body["example"], indent=2))
        takes = f"<p>Takes {_shown(body['schema'])}, for example</p><noscript><pre>{example}</pre></noscript>"
        text = f"<textarea id={name}-body name=body rows=14 spellcheck=false>{example}</textarea>"
        fields.append(f"<label for={name}-body>Body</label>{text}")
    responses = operation["responses"]
    if len(kinds := responses["200"]["content"]) > 1:
        options = "".join(f"<option>{kind}</option>" for kind in kinds)
        choice = f"<select id={name}-accept name=accept>{options}</select>"
        fields.append(f"<label for={name}-accept>Accept</label>{choice}")
    rows = [
        (
            status,
            "<br>".join(f"<code>{kind}</code> {_shown(held['schema'])}" for kind, held in response["content"].items()),
            _text(response["description"]),
        )
        for status, response in responses.items()
    ]
    return (
        f"<section><h2 id={name}><code>{method.upper()} {path}</code></h2><p>{_text(operation['summary'])}</p>{takes}"
        f'<form class=try data-method={method.upper()} data-path="{path}" hidden>{"".join(fields)}'
        "<p><button>Send</button> <button type=button name=stop hidden>Stop</button></p>"
        "<p class=status role=status></p><pre class=reply tabindex=0 hidden></pre></form>"
        f"{_table(('HTTP', 'body', 'meaning'), rows)}</section>"
    )


def _type(name: str, schema: dict[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = [
        (f"<code>{field}</code>{' (required)' if field in needed else ''}", _shown(held))
        for field, held in schema.get("properties", {}).items()
    ]
    return f"<h3 id={name}><code>{name}</code></h3><p>{_text(schema.get('description', ''))}</p>{_table((), rows)}"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    head = f"<thead><tr>{''.join(f'<th scope=col>{head}</th>' for head in heads)}</tr></thead>" if heads else ""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{head}<tbody>{lines}</tbody></table>"


def _text(text: str) -> str:
    """A text whose `backticks` mean code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _shown(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}"><code>{name}</code></a>'
    if "anyOf" in schema:
        return " or ".join(map(_shown, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_shown(schema.get('items', {}))}"
    rules = {key: value for key, value in schema.items() if key not in ("type", "properties", "default")}
    kind = str(schema.get("type", "" if rules else "anything"))
    return f"{kind} <code>{escape(dumps(rules))}</code>".strip() if rules else kind
