"""What a job is given, messages or files: looked at before anything is sent, read when its turn comes.

An item's place in the input never changes, and what it is can be told from its content alone, so that a later run
finds the same items again without extracting a single document.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.intake import InputRow, Intake
from batchwork.core.prompt import Defaults, intake
from batchwork.core.request import Attachment, Message, Request, digest
from batchwork.documents import DocumentError, DocumentLimits, load_file, path_text, read_document

PdfMode = Literal["text", "native"]
_DOCUMENTS_AHEAD = 4  # read and extracted before their turn; each may be large
_FILE_FORMAT = 1  # raised whenever the fingerprint of a file changes its meaning


class Inputs(Protocol):
    """The items of one job or of all jobs of a manager."""

    def __len__(self) -> int: ...

    def content(self, index: int) -> Any:
        """The item as the state file shows it."""
        ...

    def identity(self) -> str:
        """What tells this input from another one; a file is meant by its path."""
        ...

    @property
    def ahead(self) -> int:
        """How many items may be read before their turn, in a thread of their own; 0 when reading takes no time."""
        ...

    def intakes(self, defaults: Defaults, is_open: Callable[[int], bool] | None = None) -> Iterator[InputRow]:
        """Every item on its way in, read lazily; `is_open` tells which are likely to be sent."""
        ...

    def request(self, index: int, defaults: Defaults) -> Request | None:
        """What is asked about one item; None when it cannot be used."""
        ...


class Messages:
    """Conversations: each a list of message dicts, or a bare string for one user message."""

    def __init__(self, messages: Sequence[Any], defaults: Defaults) -> None:
        _must_be_list("messages", messages)
        for index, element in enumerate(messages):
            if isinstance(element, str):
                continue
            if isinstance(element, Mapping) and "role" in element:
                raise ConfigError(
                    f"messages[{index}] is one message; messages= is a list of conversations, each of them a list of"
                    " message dicts (or a string): wrap it in a list"
                )
            if problem := intake(element, defaults).problem:
                raise ConfigError(f"messages[{index}]: {problem}; nothing was sent")
        self._elements = messages

    def __len__(self) -> int:
        return len(self._elements)

    def content(self, index: int) -> Any:
        """The conversation; bytes inside it stand as their length."""
        element = self._elements[index]
        return [{"role": "user", "content": element}] if isinstance(element, str) else _shown(element)

    def identity(self) -> str:
        """A hash over all conversations."""
        seen = sha256()
        for element in self._elements:
            try:
                seen.update(msgspec.msgpack.encode(element))
            except (TypeError, OverflowError, UnicodeEncodeError, RecursionError):
                seen.update(repr(element).encode("utf-8", "backslashreplace"))
        return seen.hexdigest()

    ahead = 0

    def intakes(self, defaults: Defaults, is_open: Callable[[int], bool] | None = None) -> Iterator[InputRow]:  # noqa: ARG002
        """One request per conversation."""
        for element in self._elements:
            yield intake(element, defaults)

    def request(self, index: int, defaults: Defaults) -> Request | None:
        """The conversation as it is sent."""
        return intake(self._elements[index], defaults).request


class Files:
    """Documents, each a path or its bytes, asked about with one prompt."""

    def __init__(
        self, files: Sequence[Any], prompt: str | None, *, pdf: PdfMode, cited: bool, limits: DocumentLimits
    ) -> None:
        _must_be_list("files", files)
        if not isinstance(prompt, str) or not prompt.strip():
            raise ConfigError("files= goes with prompt=, which says what to do with each of them")
        if pdf not in ("text", "native"):
            raise ConfigError(f"pdf must be 'text' or 'native', got {pdf!r}")
        for index, file in enumerate(files):
            _must_be_file(index, file)
        self._files = files
        self._prompt = prompt
        self._pdf: PdfMode = pdf
        self._cited = cited
        self._limits = limits

    def __len__(self) -> int:
        return len(self._files)

    def content(self, index: int) -> Any:
        """The path, or how many bytes there are."""
        return _shown(self._files[index])

    def identity(self) -> str:
        """A hash over all paths, and over the bytes of what has none."""
        seen = sha256()
        for file in self._files:
            seen.update(b"b" + sha256(file).digest() if isinstance(file, bytes) else b"p" + os.fsencode(file) + b"\0")
        return seen.hexdigest()

    ahead = _DOCUMENTS_AHEAD

    def intakes(self, defaults: Defaults, is_open: Callable[[int], bool] | None = None) -> Iterator[InputRow]:
        """One request per file, which is opened when its turn comes and extracted only if it must be sent."""
        recipe = self._recipe(defaults)
        for index, file in enumerate(self._files):
            row = _row(recipe, file)
            if is_open is not None and is_open(index):
                _ = row.request  # extracts it here, where nobody waits for it
            yield row

    def request(self, index: int, defaults: Defaults) -> Request | None:
        """The question with the file as it is now."""
        return _row(self._recipe(defaults), self._files[index]).request

    def _recipe(self, defaults: Defaults) -> _Recipe:
        return _Recipe(defaults=defaults, prompt=self._prompt, pdf=self._pdf, cited=self._cited, limits=self._limits)


def _row(recipe: _Recipe, file: Any) -> InputRow:
    try:
        data = file if isinstance(file, bytes) else load_file(file, limits=recipe.limits)
    except DocumentError as error:
        return Intake.bad(str(error))
    return FileRow(recipe, data, None if isinstance(file, bytes) else path_text(Path(file).name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    """What all files of a job have in common."""

    defaults: Defaults
    prompt: str
    pdf: PdfMode
    cited: bool
    limits: DocumentLimits  # what is beyond them is not asked; they change no answer

    def fingerprint(self, data: bytes, title: str | None) -> bytes:
        """Everything that influences the answer, told without extracting anything."""
        d = self.defaults
        schema = d.schema and (d.schema.digest, d.schema.name)
        question = (d.model, d.system, d.max_tokens, schema, d.sampling, d.extra_body, self.prompt)
        parts = ("file", _FILE_FORMAT, question, self.pdf, self.cited, title, sha256(data).digest())
        return digest(msgspec.msgpack.encode(parts, order="deterministic"))

    def request(self, data: bytes, title: str | None) -> Request:
        """What is sent for one file.

        Raises:
            DocumentError: the file cannot be used.
        """
        document = read_document(data, name=title, limits=self.limits)
        as_file = document.is_image or not document.has_text or (self.pdf == "native" and bool(document.pages))
        attachment = Attachment(
            media_type=document.media_type,
            digest=bytes.fromhex(document.digest),
            text=None if as_file else document.text,
            data=data if as_file else None,
            title=title,
            citations=self.cited and not document.is_image,
            pages=document.pages,
        )
        d = self.defaults
        return Request(
            messages=(Message("user", self.prompt),),
            model=d.model,
            system=d.system,
            max_tokens=d.max_tokens,
            schema=d.schema,
            documents=(attachment,),
            sampling=d.sampling,
            extra_body=d.extra_body,
        )


class FileRow:
    """A file on its way in: an `InputRow` whose document is extracted when somebody asks for its request.

    Nobody does once it is settled; asking for one that will be sent in time keeps the run from waiting.
    """

    __slots__ = ("_data", "_extracted", "_recipe", "_title", "columns", "fingerprint")

    def __init__(self, recipe: _Recipe, data: bytes, title: str | None) -> None:
        self.fingerprint = recipe.fingerprint(data, title)
        self.columns = None
        self._recipe = recipe
        self._data = data
        self._title = title
        self._extracted: Request | str | None = None

    @property
    def request(self) -> Request | None:
        """What is sent for it; None when it cannot be used."""
        extracted = self._extract()
        return None if isinstance(extracted, str) else extracted

    @property
    def problem(self) -> str | None:
        """Why it cannot be used."""
        extracted = self._extract()
        return extracted if isinstance(extracted, str) else None

    def _extract(self) -> Request | str:
        if self._extracted is None:
            try:
                self._extracted = self._recipe.request(self._data, self._title)
            except DocumentError as error:
                self._extracted = str(error)
            self._data = b""  # what is sent of it stands in the request
        return self._extracted


def _must_be_list(name: str, given: object) -> None:
    if isinstance(given, str | bytes | Mapping | os.PathLike):
        raise ConfigError(f"{name}= is a list, not one {type(given).__name__}: wrap it in a list")
    if not isinstance(given, Sequence):
        raise ConfigError(f"{name}= is a list, not a {type(given).__name__}: make one of it with list(...)")
    if not given:
        raise ConfigError(f"{name}= is empty: there is nothing to do")


def _must_be_file(index: int, file: object) -> None:
    if isinstance(file, bytes):
        return
    if not isinstance(file, str | os.PathLike):
        raise ConfigError(f"files[{index}] is a path or bytes, not {type(file).__name__}")
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
