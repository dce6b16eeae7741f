"""Bytes of text -> text: the encoding found out, line ends made `\\n`, nothing else touched."""

import codecs
import re

from batchwork.core.errors import DocumentError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_BINARY_SHARE = 0.02


def decode_text(data: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or UTF-32, else in Windows-1252, the commonest of the rest.

    Raises:
        DocumentError: it is no text.
    """
    text = _decode(data)
    sample = text[:50_000]
    if len(_CONTROLS.findall(sample)) > _BINARY_SHARE * len(sample):
        raise DocumentError("is a binary file of a kind we do not know; PDF, DOCX, HTML, text and images can be read")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise DocumentError(
                    f"is damaged: its mark says {encoding}, its bytes do not: {error.reason}"
                ) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and text.count("\x00", 0, 2_000) < len(text[:2_000]) / 4:
        return text
    for encoding, zeros in (("utf-16-le", data[1:2_000:2]), ("utf-16-be", data[0:2_000:2])):
        if zeros.count(0) > len(zeros) * 0.6:
            try:
                return data.decode(encoding)
            except UnicodeDecodeError:
                continue
    return text or data.decode("cp1252", errors="replace")
