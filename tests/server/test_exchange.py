"""Reading a body."""

import socket

from tests.server.house import JSON, ONE, House, serving


def test_what_is_not_json_by_its_own_word_is_not_read(echo: House) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"):
        assert echo.send("POST", ONE, b'{"prompt": "x"}', {"content-type": kind}).code == "unsupported_media_type"
    packed = JSON | {"content-encoding": "gzip"}
    assert echo.send("POST", ONE, b'{"prompt": "x"}', packed).code == "unsupported_media_type"
    assert echo.send("POST", ONE, b'{"prompt": "x"}', {"content-type": "Application/JSON; charset=utf-8"}).status == 200


def test_a_body_without_a_length_is_measured_as_it_comes() -> None:
    with serving(max_body_bytes=1000) as house:
        with socket.create_connection((house.host, house.port), timeout=10) as wire:
            wire.sendall(
                b"POST /api/v1/prompt HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            for _ in range(20):
                wire.sendall(b"64\r\n" + b"x" * 100 + b"\r\n")
            wire.sendall(b"0\r\n\r\n")
            assert b"413" in wire.recv(1000).split(b"\r\n")[0]
        assert house.prompt(prompt="x" * 900).status == 200
        assert house.prompt(prompt="x" * 1000).code == "body_too_large"
