"""Uploads of files to Google, piece by piece: one that broke off goes on where the server says that it stands.

Nothing is tried again here: whoever asks for the same upload once more has what arrived before.
"""

from collections.abc import Callable, Iterator

import msgspec
from multidict import istr
from yarl import URL

from batchwork.backends._http import Http
from batchwork.backends._transport import HttpAnswer
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind

_URL, _STATUS, _RECEIVED = (istr(f"x-goog-upload-{what}") for what in ("url", "status", "size-received"))
_PIECE = 8 * 2**20  # bytes: a multiple of 256 kB, as the protocol wants it
_TYPE = "application/jsonl"


class Uploads:
    """The uploads of one backend."""

    def __init__(self, http: Http, start: URL, failure_of: Callable[[HttpAnswer], Failure]) -> None:
        """`start` is where uploads begin; `failure_of` reads an answer with an error status."""
        self._http = http
        self._start = start
        self._failure_of = failure_of
        self._open: dict[str, tuple[URL, int]] = {}  # by name: where one that has not ended goes to, and its size

    async def upload(self, name: str, lines: list[bytes]) -> HttpAnswer:
        """Send a file; the answer to its last piece, which tells what it is called there."""
        size = sum(map(len, lines))
        url, sent = await self._standing(name, size) or (await self._begun(name, size), 0)
        self._open[name] = url, size
        for piece, command in _pieces(lines, sent):
            answer = await self._send(url, piece, command, sent)
            sent += len(piece)
        del self._open[name]
        return answer

    async def _begun(self, name: str, size: int) -> URL:
        """Where a new upload goes to."""
        told = {"file": {"displayName": name, "mimeType": _TYPE, "sizeBytes": size}}
        headers = {
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(size),
            "x-goog-upload-header-content-type": _TYPE,
        }
        answer = await self._http.send(self._start, msgspec.json.encode(told), headers)
        if answer.status != 200:
            raise BackendError(self._failure_of(answer))
        where = answer.headers.get(_URL)
        if where is None:
            raise BackendError(Failure(kind=FailureKind.SERVER, message="the server does not say where to upload to"))
        # To the server that was asked, whichever host it names: the key goes there and nowhere else.
        named = URL(where, encoded=True)
        return self._start.with_path(named.raw_path, encoded=True).with_query(named.raw_query_string)

    async def _standing(self, name: str, size: int) -> tuple[URL, int] | None:
        """Where an upload that broke off goes to, and how much of it is there; None where it cannot go on."""
        url, begun = self._open.get(name, (None, 0))
        if url is None or begun != size:
            return None
        answer = await self._http.send(url, b"", {"x-goog-upload-command": "query"})
        received = answer.headers.get(_RECEIVED, "")
        is_active = answer.status == 200 and answer.headers.get(_STATUS) == "active" and received.isdigit()
        return (url, int(received)) if is_active and int(received) <= size else None

    async def _send(self, url: URL, piece: bytes, command: str, offset: int) -> HttpAnswer:
        headers = {"x-goog-upload-offset": str(offset), "x-goog-upload-command": command}
        answer = await self._http.send(url, piece, headers)
        if answer.status != 200:
            raise BackendError(self._failure_of(answer))
        return answer


def _pieces(lines: list[bytes], start: int) -> Iterator[tuple[bytes, str]]:
    """What follows the first bytes of a file, in pieces of the size that the protocol takes, the last one of any."""
    held, skipped = bytearray(), start
    for line in lines:
        if skipped >= len(line):
            skipped -= len(line)
            continue
        held += line[skipped:]
        skipped = 0
        while len(held) > _PIECE:
            yield bytes(held[:_PIECE]), "upload"
            del held[:_PIECE]
    yield bytes(held), "upload, finalize"
