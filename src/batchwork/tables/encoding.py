"""The encoding of a text file: the one that was named, else UTF-8; and a guess at the right one where it is not."""

import codecs
import re
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from typing import BinaryIO

from batchwork.core.errors import ConfigError, InputError

_UTF8 = "utf-8"
_SAMPLE_BYTES = 1 << 18
_HIGH = re.compile(rb"[\x80-\xff]+")
_KANA = re.compile("[\u3041-\u30fe]")
_MARKS = {codecs.BOM_UTF8: _UTF8, codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16"}
_MARKS |= {codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF32_BE: "utf-32"}


def checked_encoding(name: str | None) -> str | None:
    """The encoding of this name; None for UTF-8, which is read anyway. Raises ConfigError for an unknown one."""
    if name is None:
        return None
    try:
        known = codecs.lookup(name)
        "".encode(name)  # some codecs are no text encodings
    except (LookupError, ValueError):
        raise ConfigError(
            f"there is no encoding {name!r}; known are, for example, --encoding cp1252, latin-1, utf-16"
        ) from None
    return None if known.name in (_UTF8, "utf-8-sig") else known.name


def is_wide(encoding: str | None) -> bool:
    """Whether a line end is more than one byte."""
    return encoding is not None and len("\n".encode(encoding)) > 1


def decoded(raw: BinaryIO, encoding: str | None, *, newline: str) -> TextIOWrapper:
    """The text of a file. What is not of the encoding comes through as lone surrogates, to the one row that has it."""
    return TextIOWrapper(raw, encoding=encoding or "utf-8-sig", errors="surrogateescape", newline=newline)


def utf8_lines(raw: BinaryIO, encoding: str | None, name: str) -> Iterable[bytes]:
    """The lines of a file in UTF-8, whatever it is written in."""
    return raw if encoding is None else _recoded(decoded(raw, encoding, newline="\n"), encoding, name)


def _recoded(text: TextIOWrapper, encoding: str, name: str) -> Iterator[bytes]:
    with text:
        try:
            for line in text:
                yield line.encode(_UTF8, "surrogateescape")
        except UnicodeError as error:
            raise wrong_encoding(name, encoding, error) from None


def wrong_encoding(name: str, encoding: str | None, error: UnicodeError) -> InputError:
    """The error for a file that breaks off being what it was said to be."""
    return InputError(f"{name} is not {encoding or _UTF8} text, as --encoding says ({error})")


def other_encoding(sample: bytes) -> str:
    """What to do about a text that is not UTF-8."""
    return f"if the file is in another encoding, name it: --encoding {_likely(sample)}"


def refuse_foreign(name: str, raw: BinaryIO) -> None:
    """Refuse, by an InputError, a file that is not UTF-8 as a whole, before every other row of it fails.

    One broken row is that row's failure. A file is refused when it begins as UTF-16 or UTF-32 do, or when several
    of its first lines are not UTF-8 and none is that has more than ASCII.
    """
    sample = raw.read(_SAMPLE_BYTES)
    likely = _likely(sample)
    if not likely.startswith("utf-"):
        lines = [line for line in sample.split(b"\n")[:-1] if not line.isascii()]
        if len(lines) < 2 or any(_is_utf8(line) for line in lines):
            return
    elif likely == _UTF8:
        return
    raise InputError(
        f"{name} is not UTF-8 text, it looks like {likely.upper()}: name its encoding, for example"
        f" --encoding {likely}, or save it as UTF-8"
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _likely(sample: bytes) -> str:
    """The likeliest encoding of a text: by its mark, its zeros, and how its high bytes stand together."""
    for mark, encoding in _MARKS.items():
        if sample.startswith(mark):
            return encoding
    low, high = (sample[start::2].count(0) / (len(sample) / 2 or 1) for start in (1, 0))
    if max(low, high) > 0.4 and min(low, high) < 0.1:
        return "utf-16-le" if low > high else "utf-16-be"
    runs = _HIGH.findall(sample)
    if not runs or _is_utf8(sample):
        return _UTF8
    if sum(map(len, runs)) < 2 * len(runs):
        return "cp1252"  # an accented letter here and there, as in Western Europe
    letters = b"".join(runs)
    if sum(byte >= 0xC0 for byte in letters) > 0.9 * len(letters):
        return "cp1251"  # whole words, nearly all of them letters: Cyrillic
    return next((name for name in ("euc_jp", "cp932") if _KANA.search(sample.decode(name, "ignore"))), "gb18030")
