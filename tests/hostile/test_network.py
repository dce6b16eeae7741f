"""Where calls go, and where they do not, whatever a server, the environment or a schema says."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

import batchwork
from batchwork.core.errors import BatchworkError, ConfigError
from batchwork.documents import read_document
from batchwork.schema import check_schema
from tests.support.echoing_server import echoing

MODEL = "anthropic:claude-haiku-5-5"


def run(url: str) -> list[str]:
    """What a run of one prompt says."""
    try:
        with_answers = batchwork.run(
            ["a"], model=MODEL, base_url=url, api_key="sk-0123456789abcdef", retries=0, timeout=5
        )
        return [str(outcome.error) for outcome in with_answers]
    except BatchworkError as error:
        return [str(error)]


@pytest.mark.attack(
    "Network",
    "a server sends the call on to another one (307, with the body and the key)",
    "the other one is not called",
)
def test_a_redirect_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with echoing("answer") as (elsewhere, requests), echoing("redirect") as (url, sent):
        port = elsewhere.rpartition(":")[2]
        monkeypatch.setattr("tests.support.echoing_server.REDIRECTED_PORT", port)
        assert run(url)[0]
        assert sent
        assert requests == []


@pytest.mark.attack(
    "Network",
    "the environment names a proxy",
    "it is not used unless BATCHWORK_TRUST_ENV is set",
)
@pytest.mark.parametrize("trusted", [False, True])
def test_a_proxy_of_the_environment_is_not_used_unasked(trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with echoing("answer") as (url, requests), echoing("error") as (proxy, intercepted):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("BATCHWORK_TRUST_ENV", "1" if trusted else "0")
        run(url)
        assert (bool(requests), bool(intercepted)) == (not trusted, trusted)


@pytest.fixture(scope="module")
def impostor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[bytes]]]:
    """An HTTPS server whose certificate nobody has signed but itself; its address, and what it was sent."""
    folder = tmp_path_factory.mktemp("certificate")
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    made += [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        "key",
        "-out",
        "certificate",
    ]
    subprocess.run(made, cwd=folder, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    listener, received = create_server(("127.0.0.1", 0)), []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as secure:
                received.append(secure.recv(65536))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}", received
    listener.shutdown(2)
    listener.close()
    thread.join(timeout=10)


@pytest.mark.attack(
    "Network",
    "an HTTPS server shows a certificate that nobody has signed",
    "nothing is sent to it; the error names the certificate",
)
def test_an_unsigned_certificate_is_not_trusted(impostor: tuple[str, list[bytes]]) -> None:
    url, received = impostor
    errors = run(url)
    assert "certificate" in errors[0].lower()
    assert [data for data in received if data] == []


FETCHED: list[Any] = [
    {"$ref": "URL/schema.json"},
    {"properties": {"a": {"$ref": "URL/schema.json#/a"}}},
    {"$schema": "URL/draft.json", "type": "object"},
    {"$id": "URL/", "$ref": "other.json"},
    {"allOf": [{"$dynamicRef": "URL/x"}]},
    {"$ref": "file:///etc/passwd"},
]


@pytest.mark.attack(
    "Network",
    "a schema refers to a schema at an address or in a file",
    "refused or taken as it stands; nothing is fetched or opened",
)
@pytest.mark.parametrize("schema", FETCHED, ids=str)
def test_a_schema_makes_nothing_be_fetched(schema: Any) -> None:
    with echoing("answer") as (url, requests):
        hostile_schema = _with(schema, url)
        with suppress(ConfigError, BatchworkError):
            check_schema(hostile_schema)
            batchwork.run(["a"], model="mock:echo", schema=hostile_schema, retries=0, reask=0).close()
        assert requests == []


def _with(schema: Any, url: str) -> Any:
    if isinstance(schema, dict):
        return {key: _with(value, url) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_with(value, url) for value in schema]
    return schema.replace("URL", url) if isinstance(schema, str) else schema


@pytest.mark.attack(
    "Network",
    "a document holds links to pictures, style sheets and frames",
    "it is read as text; nothing is fetched",
)
def test_a_document_makes_nothing_be_fetched(tmp_path: Path) -> None:
    with echoing("answer") as (url, requests):
        page = (
            f'<html><head><link rel="stylesheet" href="{url}/a"></head><body><img src="{url}/b"><iframe src="{url}/c">'
        )
        (tmp_path / "page.html").write_text(f"{page}</iframe><p>Total: 5</p></body></html>")
        (tmp_path / "page.md").write_text(f"![picture]({url}/d)\n\nTotal: 5\n")
        for name in ("page.html", "page.md"):
            assert "Total: 5" in read_document(tmp_path / name).text
        assert requests == []
