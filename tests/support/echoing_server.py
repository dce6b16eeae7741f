"""A server on loopback that says again what it was asked, key and all, in every way that a server can."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-5-5",
    "content": [{"type": "text", "text": "SAID"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
REDIRECTED_PORT = "1"
WAYS = ("error", "page", "header", "long header", "redirect", "cut off", "not http", "answer")


def reply(way: str, asked: str) -> bytes:
    """What it sends back; `asked` is the head of the request."""
    said = json.dumps(" ".join(asked.split()))
    line = asked.partition("\r\n")[0]
    answered = json.dumps(ANSWER).replace("SAID", said[1:-1])
    body, head = {
        "error": (f'{{"type":"error","error":{{"type":"invalid_request_error","message":{said}}}}}', "400 Bad Request"),
        "page": (f"<html><h1>No such page</h1>{asked}</html>", "404 Not Found"),
        "header": ("{}", f"400 Bad Request\r\nx-request-id: {line}\r\nrequest-id: {line}\r\nretry-after: {line}"),
        "long header": ("{}", f"200 OK\r\nx-long: {line * 200}"),
        "redirect": ("", f"307 Temporary Redirect\r\nlocation: http://127.0.0.1:{REDIRECTED_PORT}{line.split()[1]}"),
        "cut off": (answered, "200 OK"),
        "not http": ("", ""),
        "answer": (answered, "200 OK"),
    }[way]
    if way == "not http":
        return f"{asked}\r\n\r\n".encode()
    length = len(body.encode()) + (500 if way == "cut off" else 0)
    headers = f"content-type: application/json\r\ncontent-length: {length}\r\nconnection: close"
    return f"HTTP/1.1 {head}\r\n{headers}\r\n\r\n{body}".encode()


@contextmanager
def echoing(way: str) -> Iterator[tuple[str, list[str]]]:
    """Its address, and the heads of the requests that came."""
    asked: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                data = b""
                try:
                    while b"\r\n\r\n" not in data:
                        data += connection.recv(65536)
                    head, _, body = data.partition(b"\r\n\r\n")
                    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
                    while len(body) < length:
                        body += connection.recv(65536)
                    asked.append(head.decode("latin-1"))
                    connection.sendall(reply(way, asked[-1]))
                except (OSError, ValueError):
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=10)
