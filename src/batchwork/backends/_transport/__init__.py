"""The port below `Http`: something that posts a body and brings back the whole answer, or says how far it got.

Two implementations: `pool`, our own for the hot path, and `session` (aiohttp), which can do everything: proxies, forms,
downloads. Neither retries, follows a redirect or has a deadline beyond connecting.
"""

import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from yarl import URL

CONNECT_S = 30.0
KEEP_ALIVE_S = 15.0
ADDRESSES_S = 300.0  # how long the addresses of a name are taken for known
LARGE = 2**20  # bytes: from here on a body is sent in pieces, so that one write does not hold the loop
LONGEST_HEAD = 2**16  # bytes: gateways in between add their headers, and an answer is not lost for them
LARGEST_BODY = 2**27  # bytes: of an answer, unpacked
LONGEST_REASON = 80  # characters: what follows is the other side's bytes

CLOSED = "the connection was closed before an answer came"
CUT_OFF = "the connection was lost in the middle of the answer"


@dataclass(slots=True)
class HttpAnswer:
    """What came back: the status, the headers by their names in lower case, the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Broken(Exception):
    """A call without a whole answer: whether anything was `sent`, whether what came is `unreadable`, its `head`."""

    def __init__(
        self, message: str, *, sent: bool = True, unreadable: bool = False, head: HttpAnswer | None = None
    ) -> None:
        super().__init__(message)
        self.sent = sent
        self.unreadable = unreadable
        self.head = head


class Transport(Protocol):
    """Sends bodies to servers, over connections that are kept."""

    async def post(self, url: URL, body: bytes) -> HttpAnswer:
        """Send one body, read one answer; whoever is cancelled meanwhile gives the connection up.

        Raises:
            Broken: there was no whole answer.
        """

    async def aclose(self) -> None:
        """Give the connections back."""


def unreadable(reason: object, head: HttpAnswer | None = None) -> Broken:
    """An answer came, and asking again would pay for it again."""
    return Broken(f"the answer cannot be read: {str(reason)[:LONGEST_REASON]}", unreadable=True, head=head)


def unconnected(host: str | None, port: int | None, error: OSError) -> Broken:
    """No connection came about, so nothing was sent."""
    where = f"[{host}]:{port}" if host and ":" in host else f"{host}:{port}"
    return Broken(f"cannot connect to {where}: {_reason(error)}", sent=False)


def closed(error: BaseException | None, message: str = CLOSED, head: HttpAnswer | None = None) -> Broken:
    """The connection ended too early."""
    reason = f" ({_reason(error)})" if isinstance(error, OSError) else ""
    return Broken(message + reason, head=head)


def _reason(error: OSError) -> str:
    """Why, and what to look at."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return f"it does not speak https ({error.reason or error}); is it an http:// address?"
    if isinstance(error, socket.gaierror):
        return "there is no host of this name; is the address right?"
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens there; is the server running, and the port right?"
    if isinstance(error, TimeoutError) and error.errno is None:
        return f"no connection within {CONNECT_S:g} s"
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error) or "the other side hung up"
