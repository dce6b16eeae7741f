"""What a job is given, messages, a table or files: looked at before anything is sent, read when its turn comes.

An item's place in the input never changes, and what it is can be told from its content alone, so that a later run
finds the same items again without extracting a single document.
"""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.intake import InputRow, Intake
from batchwork.core.prompt import EMPTY, Defaults, intake, prepare, refuse_table
from batchwork.core.request import Attachment, Message, Request
from batchwork.documents import DocumentError, DocumentLimits, check_libraries, load_file, path_text, read_document
from batchwork.manager.quoting import Quoting
from batchwork.tables import RowRequests, Table

PdfMode = Literal["text", "native"]
_DOCUMENTS_AHEAD = 4  # read and extracted before their turn; each may be large


class AtHand(Sized):
    """Items that need not be read: there is nothing to look for, and nothing takes time."""

    ahead = 0

    @abstractmethod
    def _taken(self, index: int) -> Intake:
        """One item as a request, or why it is none."""

    def check(self) -> None:
        """Nothing to look for."""

    def rows(self, is_open: Callable[[int], bool] | None = None) -> Iterator[InputRow]:  # noqa: ARG002
        """One request per item."""
        return map(self._taken, range(len(self)))

    def request(self, index: int) -> Request | None:
        """The item as it is sent."""
        return self._taken(index).request


class Messages(AtHand):
    """Conversations: each a list of message dicts, or a bare string for one user message."""

    def __init__(self, messages: Sequence[Any], defaults: Defaults, quoting: Quoting | None = None) -> None:
        _must_be_list("messages", messages)
        for index, element in enumerate(messages):
            if isinstance(element, str):
                continue
            if isinstance(element, Mapping) and "role" in element:
                raise ConfigError(
                    f"messages[{index}] is one message; messages= is a list of conversations, each of them a list of"
                    " message dicts (or a string): wrap it in a list"
                )
            if (problem := intake(element, defaults).problem) and problem != EMPTY:
                raise ConfigError(f"messages[{index}]: {problem}; nothing was sent")
        self._elements = messages
        self._defaults = defaults
        self._quoting = quoting

    def __len__(self) -> int:
        return len(self._elements)

    def content(self, index: int) -> Any:
        """The conversation as the state file shows it; bytes inside it stand as their length."""
        element = self._elements[index]
        return [{"role": "user", "content": element}] if isinstance(element, str) else _shown(element)

    def identity(self) -> str:
        """A hash over all conversations, which tells this input from another one."""
        seen = sha256()
        for element in self._elements:
            try:
                seen.update(msgspec.msgpack.encode(element))
            except (TypeError, OverflowError, UnicodeEncodeError, RecursionError):
                seen.update(repr(element).encode("utf-8", "backslashreplace"))
        return seen.hexdigest()

    def _taken(self, index: int) -> Intake:
        taken = intake(self._elements[index], self._defaults)
        return taken if self._quoting is None else self._quoting.intake(taken)


class TableRows(AtHand):
    """The rows of a table: read once, when the job is made, because its state shows every one of them.

    A row that cannot be asked is an item that fails by itself.
    """

    def __init__(self, table: Table, requests: RowRequests, quoting: Quoting | None = None) -> None:
        self._rows = list(table.rows())
        self._unit = table.unit
        self._requests = requests
        self._quoting = quoting

    def __len__(self) -> int:
        return len(self._rows)

    def content(self, index: int) -> Any:
        """The conversation as the state file shows it, or the columns of a row that cannot be asked."""
        taken = self._taken(index)
        if taken.request is None:
            return taken.columns
        return [{"role": turn.role, "content": turn.content} for turn in taken.request.messages]

    def identity(self) -> str:
        """A hash over what is asked about every row, which tells this input from another one."""
        seen = sha256()
        for row in self.rows():
            seen.update(row.fingerprint)
        return seen.hexdigest()

    def _taken(self, index: int) -> Intake:
        taken = self._requests.intake(self._rows[index], self._unit)
        return taken if self._quoting is None else self._quoting.intake(taken)


class Files:
    """Documents, each a path or its bytes, asked about with one prompt."""

    def __init__(
        self,
        files: Sequence[Any],
        prompt: str | None,
        defaults: Defaults,
        *,
        pdf: PdfMode,
        cited: bool,
        limits: DocumentLimits,  # what is beyond them is not asked; they change no answer
        quoting: Quoting | None = None,
    ) -> None:
        _must_be_list("files", files)
        if not isinstance(prompt, str) or not prompt.strip():
            raise ConfigError("files= goes with prompt=, which says what to do with each of them")
        if pdf not in ("text", "native"):
            raise ConfigError(f"pdf must be 'text' or 'native', got {pdf!r}")
        for index, file in enumerate(files):
            if not isinstance(file, bytes | str | os.PathLike):
                raise ConfigError(f"files[{index}] is a path or bytes, not {type(file).__name__}")
        self._files = files
        self._plain = prepare(prompt, defaults)  # asked about a document without text
        self._question = self._plain if quoting is None else quoting.asked(self._plain)
        self._pdf: PdfMode = pdf
        self._cited = cited
        self._limits = limits

    def __len__(self) -> int:
        return len(self._files)

    def check(self) -> None:
        """Refuse files that are not there, or need a library that is not, with a ConfigError.

        Reading what was finished before needs neither.
        """
        for index, file in enumerate(self._files):
            _must_be_there(index, file)
        check_libraries(self._files)

    def path(self, index: int) -> str | None:
        """The path of a file as it was given; None for bytes."""
        file = self._files[index]
        return None if isinstance(file, bytes) else os.fsdecode(file)

    def content(self, index: int) -> Any:
        """The path as the state file shows it, or how many bytes there are."""
        return _shown(self._files[index])

    def identity(self) -> str:
        """A hash over all paths, and over the bytes of what has none, which tells this input from another one."""
        seen = sha256()
        for file in self._files:
            seen.update(b"b" + sha256(file).digest() if isinstance(file, bytes) else b"p" + os.fsencode(file) + b"\0")
        return seen.hexdigest()

    ahead = _DOCUMENTS_AHEAD

    def rows(self, is_open: Callable[[int], bool] | None = None) -> Iterator[InputRow]:
        """One request per file, opened when its turn comes and extracted only if it must be sent.

        `is_open` tells which files are likely to be sent.
        """
        for index in range(len(self)):
            row = self._row(index)
            if is_open is not None and is_open(index):
                _ = row.request  # extracts it here, where nobody waits for it
            yield row

    def request(self, index: int) -> Request | None:
        """The question with the file as it is now."""
        return self._row(index).request

    def _row(self, index: int) -> InputRow:
        file = self._files[index]
        try:
            data = file if isinstance(file, bytes) else load_file(file, limits=self._limits)
        except DocumentError as error:
            return Intake.bad(str(error))
        return FileRow(self, data, None if isinstance(file, bytes) else path_text(Path(file).name))

    def fingerprint(self, data: bytes, title: str | None) -> bytes:
        """Everything that influences the answer about one file, without extracting anything."""
        return self._question.file_fingerprint(data, title=title, pdf=self._pdf, cited=self._cited)

    def extract(self, data: bytes, title: str | None) -> Request:
        """What is sent for one file. Raises DocumentError where it cannot be used."""
        document = read_document(data, name=title, limits=self._limits)
        as_file = document.is_image or not document.has_text or (self._pdf == "native" and bool(document.pages))
        attachment = Attachment(
            media_type=document.media_type,
            digest=bytes.fromhex(document.digest),
            text=None if as_file else document.text,
            data=data if as_file else None,
            title=title,
            citations=self._cited and not document.is_image,
            pages=document.pages,
        )
        question = self._question if document.has_text else self._plain
        return msgspec.structs.replace(question, documents=(attachment,))


class FileRow:
    """A file on its way in: an `InputRow` whose document is extracted when somebody asks for its request.

    Nobody does once it is settled; asking for one that will be sent in time keeps the run from waiting.
    """

    def __init__(self, files: Files, data: bytes, title: str | None) -> None:
        self.fingerprint = files.fingerprint(data, title)
        self.columns = None
        self._files = files
        self._data = data
        self._title = title

    @property
    def request(self) -> Request | None:
        """What is sent for it; None when it cannot be used."""
        return None if isinstance(self._extracted, str) else self._extracted

    @property
    def problem(self) -> str | None:
        """Why it cannot be used."""
        return self._extracted if isinstance(self._extracted, str) else None

    @cached_property
    def _extracted(self) -> Request | str:
        try:
            return self._files.extract(self._data, self._title)
        except DocumentError as error:
            return str(error)
        finally:
            self._data = b""  # what is sent of it stands in the request


Inputs = Messages | TableRows | Files  # the items of one job or of all jobs of a manager


def _must_be_list(name: str, given: object) -> None:
    refuse_table(f"{name}=", given, by_rows=name == "messages")
    if isinstance(given, str | bytes | Mapping | os.PathLike):
        raise ConfigError(f"{name}= is a list, not one {type(given).__name__}: wrap it in a list")
    if not isinstance(given, Sequence):
        raise ConfigError(f"{name}= is a list, not a {type(given).__name__}: make one of it with list(...)")


def _must_be_there(index: int, file: Any) -> None:
    if isinstance(file, bytes):
        return
    try:
        path = Path(file)
        exists, is_file = path.exists(), path.is_file()
    except TypeError:
        raise ConfigError(f"files[{index}] is a path of text or the file's bytes, not {file!r}") from None
    except OSError:
        return  # what is wrong with it is that item's error, at its turn
    if not exists:
        raise ConfigError(f"files[{index}]: there is no file {path_text(path)}; nothing was sent")
    if not is_file:
        raise ConfigError(f"files[{index}]: {path_text(path)} is not a file; nothing was sent")


def _shown(value: Any) -> Any:
    """A value as JSON can show it."""
    if isinstance(value, bytes | bytearray):
        return f"<bytes length={len(value)}>"
    if isinstance(value, str | int | float | bool) or value is None:
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    if isinstance(value, os.PathLike):
        return path_text(value)
    if isinstance(value, Mapping):
        return {str(key): _shown(held) for key, held in value.items()}
    if isinstance(value, Sequence):
        return [_shown(held) for held in value]
    if isinstance(value, Message):
        return {"role": value.role, "content": _shown(value.content)}
    return repr(value)
