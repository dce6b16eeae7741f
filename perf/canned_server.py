"""A provider that answers every request with the same message at once: the least work a server can do.

A process of its own; prints its port and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import json

ANSWER = json.dumps(
    {
        "id": "msg_canned",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": "The capital is a canned answer of about one line. " * 4}],
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
_HEADERS = {
    "content-type": "application/json",
    "content-length": str(len(ANSWER)),
    "date": "Sun, 15 Nov 2026 09:00:00 GMT",
    "request-id": "req_canned",
    "anthropic-organization-id": "00000000-0000-0000-0000-000000000000",
    **{
        f"anthropic-ratelimit-{what}-{part}": value
        for what in ("requests", "input-tokens", "output-tokens", "tokens")
        for part, value in (("limit", "60000000"), ("remaining", "59999000"), ("reset", "2026-11-15T09:00:01Z"))
    },
}
_RESPONSE = b"HTTP/1.1 200 OK\r\n" + "".join(f"{k}: {v}\r\n" for k, v in _HEADERS.items()).encode() + b"\r\n" + ANSWER


class Canned(asyncio.Protocol):
    """One connection: a request is over when as many bytes have come as it announced."""

    def __init__(self) -> None:
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

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
            self._transport.write(_RESPONSE)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Canned, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
