"""The table of addresses and error codes."""

from http import HTTPStatus

from batchwork.server.api import API, ApiError, raw_response


def test_every_code_that_an_address_names_is_in_the_table_with_a_real_status() -> None:
    for route in API.routes.values():
        assert set(route.errors) <= set(API.errors), route.path
    for code, (status, _, meaning) in API.errors.items():
        assert 400 <= HTTPStatus(status) < 600, code
        assert meaning


def test_the_table_is_in_the_order_of_the_statuses() -> None:
    statuses = [status for status, _, _ in API.errors.values()]
    assert statuses == sorted(statuses)


def test_an_error_brings_the_headers_that_its_status_needs() -> None:
    assert ApiError("missing_api_key", "x").headers == [(b"www-authenticate", b"X-API-Key")]
    assert ApiError("too_busy", "x", retry_after_s=4.2).headers == [(b"retry-after", b"5")]
    assert ApiError("method_not_allowed", "x", allow="GET, HEAD").headers == [(b"allow", b"GET, HEAD")]


def test_a_response_for_a_request_that_nobody_has_seen_is_whole() -> None:
    head, _, body = raw_response("too_busy", "full").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"retry-after: 1" in head
    assert f"content-length: {len(body)}".encode() in head
    assert b"retry-after" not in raw_response("invalid_http", "no")
