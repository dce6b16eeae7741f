"""DOCX -> text, with nothing but the standard library.

An archive is hostile until shown otherwise: sizes are checked before unpacking and again while unpacking (headers
lie), and a document type declaration ends the reading, because that is where entity bombs and outside files live.
"""

import io
import re
import zipfile
import zlib
from xml.parsers import expat  # entities are refused below, before they can be declared

from batchwork.core.errors import DocumentError
from batchwork.documents.document import DocumentLimits
from batchwork.documents.html_tokens import small_number

_BODY = "word/document.xml"
_ARCHIVE = "an archive, not a document; unpack it first"
_OTHERS = {"xl": "a spreadsheet (XLSX); save it as CSV or PDF", "ppt": "slides (PPTX); save them as PDF"}
_PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_RATIO = 300  # XML packs about 10:1; nothing honest of some size packs 300:1
_RATIO_MATTERS_ABOVE = 2_000_000
_XML_PER_CHARACTER = 50  # markup around one character of text, at the very most that is believable
_CHUNK = 1 << 16
_ENCODINGS = frozenset({"utf-8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "iso-8859-1", "windows-1252"})


def docx_text(data: bytes, limits: DocumentLimits) -> str:
    """The text of header, body, footer and notes: a line per paragraph or table row, a tab between cells."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            texts = _texts(archive, len(data), limits)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError) as error:
        raise DocumentError(f"is damaged: {error}") from error
    text = "\n\n".join(text for text in texts if text)
    limits.check_length(len(text))
    return text


def _texts(archive: zipfile.ZipFile, size: int, limits: DocumentLimits) -> list[str]:
    names = dict.fromkeys(archive.namelist())  # one name may stand there many times
    if _BODY not in names:
        folders = {name.partition("/")[0] for name in names}
        kind = next((_OTHERS[folder] for folder in _OTHERS if folder in folders), _ARCHIVE)
        raise DocumentError(f"is {kind}")
    budget = min(limits.max_characters * _XML_PER_CHARACTER, max(_RATIO_MATTERS_ABOVE, _RATIO * size))
    texts = []
    for name in sorted((name for name in names if _PARTS.fullmatch(name)), key=_reading_order):
        raw = _unpack(archive, name, budget)
        budget -= len(raw)
        texts.append(_text_of(raw, limits))
    return texts


def _reading_order(name: str) -> tuple[int, str]:
    kinds = ("header", "document", "footnotes", "endnotes", "footer")
    return next(rank for rank, kind in enumerate(kinds) if kind in name), name


def _unpack(archive: zipfile.ZipFile, name: str, budget: int) -> bytes:
    info = archive.getinfo(name)
    if info.flag_bits & 0x1:
        raise DocumentError("is encrypted; save it without a password")
    most = min(budget, max(_RATIO_MATTERS_ABOVE, _RATIO * max(1, info.compress_size)))
    if info.file_size > most:
        raise DocumentError(f"unpacks to {info.file_size} bytes, which no honest document of its size does")
    raw = bytearray()
    with archive.open(info) as stream:
        while chunk := stream.read(_CHUNK):
            raw += chunk
            if len(raw) > most:
                raise DocumentError("unpacks to far more than it says, which no honest document does")
    return bytes(raw)


class _Writer:
    """Collects text while the parser walks; names come without their prefix."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.lines: list[str] = []
        self._line: list[str] = []
        self._in_text = 0
        self._skipped = 0  # depth inside an alternative rendering of what was read already
        self._row_depth = 0
        self._spans: list[int] = []  # per open row, how many columns its last cell takes; 0 before the first
        self._size, self._limits = 0, limits

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if self._skipped or name == "mc:Fallback":
            self._skipped += 1
            return
        if tag == "t":
            self._in_text += 1
        elif tag == "tr":
            if not self._row_depth and self._line:
                self._flush()
            self._row_depth += 1
            self._spans.append(0)
        elif tag == "tc" and self._row_depth:
            self._line.append("\t" * self._spans[-1] if self._row_depth == 1 else " ")
            self._spans[-1] = 1
        elif name in ("w:tab", "w:ptab"):
            self._line.append(" " if self._row_depth else "\t")
        elif name in ("w:br", "w:cr"):
            self._end_line()
        elif tag == "noBreakHyphen":
            self._line.append("-")
        elif name == "w:gridSpan" and self._row_depth == 1:
            self._spans[-1] = small_number(attributes.get("w:val"), 64)

    def end(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        if self._skipped:
            self._skipped -= 1
        elif tag == "t":
            self._in_text -= 1
        elif tag == "p":
            self._end_line()
        elif tag == "tr" and self._row_depth:
            self._row_depth -= 1
            self._spans.pop()
            if not self._row_depth:
                self._flush()
        elif tag == "tbl" and not self._row_depth:
            self.lines.append("")

    def text(self, data: str) -> None:
        if self._in_text and not self._skipped:
            self._size += len(data)
            self._limits.check_length(self._size)
            self._line.append(data.replace("\n", " "))

    def _end_line(self) -> None:
        if self._row_depth:
            self._line.append(" ")  # a row stays on one line, so that its cells can be told apart
        else:
            self._flush()

    def _flush(self) -> None:
        text = "".join(self._line)
        if "\t" in text:
            text = "\t".join(" ".join(cell.split()) for cell in text.split("\t")).rstrip("\t")
        self.lines.append(text.rstrip())
        self._line.clear()


def _text_of(raw: bytes, limits: DocumentLimits) -> str:
    writer = _Writer(limits)
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise DocumentError("declares a document type, which DOCX never does and attacks do")

    def check_encoding(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            raise DocumentError(f"is damaged: its XML is in {encoding[:40]!r}, and that of DOCX is UTF-8 or UTF-16")

    parser.XmlDeclHandler = check_encoding
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    try:
        parser.Parse(raw, True)
    except (expat.ExpatError, LookupError) as error:
        raise DocumentError(f"is damaged: {error}") from error
    return re.sub(r"\n{3,}", "\n\n", "\n".join(writer.lines)).strip("\n")
