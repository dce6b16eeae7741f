"""The page at /docs: the OpenAPI document for people. One file, nothing is loaded from elsewhere."""

from __future__ import annotations

from html import escape
from json import dumps
from typing import Any

from batchwork.server.errors import HTTP_CODES

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h2{margin-top:2.5rem}code,pre{font:14px/1.45 ui-monospace,monospace;background:#f3f4f6;border-radius:4px}
code{padding:.1rem .3rem}pre{padding:.8rem;overflow:auto}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #d8dce1;padding:.35rem .6rem;text-align:left;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e4e7eb}code,pre{background:#23282d}}
"""


def docs_page(document: dict[str, Any]) -> str:
    """The page."""
    parts = [f"<h1>{escape(document['info']['title'])}</h1><p>{escape(document['info']['description'])}</p>"]
    parts.append('<p>The same for programs: <a href="/openapi.json">/openapi.json</a>.</p>')
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(path, method, operation))
    parts.append("<h2>Types</h2>")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts.append(_type(name, schema))
    parts.append("<h2>Errors</h2><table><tr><th>code<th>HTTP<th>retryable<th>meaning</tr>")
    for code, (status, retryable, meaning) in HTTP_CODES.items():
        again = "yes" if retryable else "no"
        parts.append(f"<tr><td><code>{code}</code><td>{status}<td>{again}<td>{escape(meaning)}</tr>")
    parts.append("</table>")
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>batchwork</title><style>{_STYLE}</style>"
    return head + "".join(parts) + "</html>"


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        example = dumps(body["example"], indent=2)
        parts.append(f"<p>Takes {_shown(body['schema'])}, for example</p><pre>{escape(example)}</pre>")
    parts.append("<table><tr><th>HTTP<th>answer<th></tr>")
    for status, told in operation["responses"].items():
        kinds = "<br>".join(
            f"<code>{escape(kind)}</code> {_shown(held['schema'])}" for kind, held in told.get("content", {}).items()
        )
        parts.append(f"<tr><td>{status}<td>{kinds}<td>{escape(told['description'])}</tr>")
    return "".join(parts) + "</table>"


def _type(name: str, schema: dict[str, Any]) -> str:
    rows = [f'<h3 id="{name}"><code>{name}</code></h3><p>{escape(schema.get("description", ""))}</p><table>']
    needed = schema.get("required", ())
    for field, held in schema.get("properties", {}).items():
        rows.append(f"<tr><td><code>{field}</code>{' (required)' if field in needed else ''}<td>{_shown(held)}</tr>")
    return "".join(rows) + "</table>"


def _shown(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}"><code>{name}</code></a>'
    if "anyOf" in schema:
        return " or ".join(map(_shown, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_shown(schema.get('items', {}))}"
    told = {key: value for key, value in schema.items() if key not in ("type", "properties", "default")}
    kind = escape(str(schema.get("type", "anything" if not told else "")))
    return f"{kind} {escape(dumps(told)) if told else ''}".strip()
