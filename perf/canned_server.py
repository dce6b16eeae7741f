"""A provider that answers every request with the same message: the least work a server can do.

A process of its own; prints its port and serves until it is ended. Given a file, it speaks TLS and writes there the
certificate of the authority that vouches for it. Its answers take between `SOONEST_S` and `LATEST_S`, evenly spread,
as those of a real provider are spread: so each of them wakes its client up alone. With `--at-once` they come at once.
"""

import argparse
import asyncio
import json
import ssl
from random import Random
from typing import cast

_TEXT = "The capital is a canned answer of about one line. " * 4
ANSWER = json.dumps(
    {
        "id": "msg_canned",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": _TEXT}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 120,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 48,
            "service_tier": "standard",
        },
    }
).encode()
GEMINI_ANSWER = json.dumps(
    {
        "candidates": [{"content": {"role": "model", "parts": [{"text": _TEXT}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 120,
            "candidatesTokenCount": 48,
            "totalTokenCount": 168,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 120}],
        },
        "modelVersion": "gemini-3.8-flash",
        "responseId": "resp_canned",
    }
).encode()
_HEADERS = {
    "content-type": "application/json",
    "date": "Sun, 15 Nov 2026 09:00:00 GMT",
    "request-id": "req_canned",
    "anthropic-organization-id": "00000000-0000-0000-0000-000000000000",
    **{
        f"anthropic-ratelimit-{what}-{part}": value
        for what in ("requests", "input-tokens", "output-tokens", "tokens")
        for part, value in (("limit", "600000000"), ("remaining", "599990000"), ("reset", "2026-11-15T09:00:01Z"))
    },
}
SOONEST_S, LATEST_S = 0.02, 0.08
_RANDOM = Random(1)


def _response(headers: dict[str, str], answer: bytes) -> bytes:
    stated = headers | {"content-length": str(len(answer))}
    return b"HTTP/1.1 200 OK\r\n" + "".join(f"{k}: {v}\r\n" for k, v in stated.items()).encode() + b"\r\n" + answer


_RESPONSE = _response(_HEADERS, ANSWER)
_GEMINI_HEADERS = {"content-type": "application/json; charset=UTF-8", "date": _HEADERS["date"], "server": "canned"}
_GEMINI_RESPONSE = _response(_GEMINI_HEADERS | {"x-gemini-service-tier": "standard"}, GEMINI_ANSWER)


class Canned(asyncio.Protocol):
    """One connection: a request is over when as many bytes have come as it announced."""

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            at = head.find(b"content-length:")
            size = int(head[at + 15 :].split(b"\r", 1)[0]) if at >= 0 else 0
            if len(self._buffer) < end + 4 + size:
                return
            self._buffer = self._buffer[end + 4 + size :]
            assert self._transport is not None
            response = _GEMINI_RESPONSE if b"generatecontent" in head[:120] else _RESPONSE
            if self._at_once:
                self._transport.write(response)
            else:
                delay_s = _RANDOM.uniform(SOONEST_S, LATEST_S)
                asyncio.get_running_loop().call_later(delay_s, self._transport.write, response)


def certified(authority_file: str) -> ssl.SSLContext:
    """The server's side of TLS, under an authority made for this process; its certificate goes into the file."""
    import trustme

    authority, context = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.cert_pem.write_to_path(authority_file)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--authority-file")
    parser.add_argument("--at-once", action="store_true")
    options = parser.parse_args()
    server = await asyncio.get_running_loop().create_server(
        lambda: Canned(at_once=options.at_once),
        "127.0.0.1",
        0,
        ssl=certified(options.authority_file) if options.authority_file else None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
