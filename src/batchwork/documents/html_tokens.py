"""HTML -> tags and text, as browsers take it apart, in one pass.

Every character is looked at a bounded number of times, whatever the markup: what was once looked for and not found is
not looked for again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>][^\s/>=]*)")
_EQUALS = re.compile(r"\s*=\s*")
_BARE_VALUE = re.compile(r"[^\s>]*")
_TAG_END = re.compile(r"[\s/]*>")
_RAW = frozenset({"script", "style", "iframe", "noembed", "noframes", "xmp"})  # no tags inside, no references
_TEXT_ONLY = frozenset({"title", "textarea"})  # no tags inside
_CLOSED_BY_NAME = _RAW | _TEXT_ONLY
_NUMBER = re.compile(r"&#(?:([xX])([0-9a-fA-F]{8,})|([0-9]{8,}));?")  # the long ones, which no character needs
_MOST_DIGITS = 7  # that a number of a character has


@dataclass(frozen=True, slots=True)
class Start:
    """A tag that opens; names are in lower case, and the first of two attributes of one name counts."""

    name: str
    attributes: dict[str, str]
    closed: bool  # by itself, as in `<br/>`


@dataclass(frozen=True, slots=True)
class End:
    """A tag that closes."""

    name: str


Token = Start | End | str


def tokens(markup: str) -> Iterator[Token]:
    """Tags and the text between them, in order; comments and declarations are left out."""
    return _Scanner(markup).tokens()


class _Scanner:
    def __init__(self, markup: str) -> None:
        self._text = markup
        self._at = 0
        self._last_close = markup.rfind(">")  # nothing after it can be a tag
        self._known: dict[str, int] = {}  # where a mark stands next, as far as it was looked for

    def tokens(self) -> Iterator[Token]:
        text = self._text
        while self._at < len(text):
            found = text.find("<", self._at)
            if found < 0 or found > self._last_close:
                yield references(text[self._at :])
                return
            if found > self._at:
                yield references(text[self._at : found])
            self._at = found
            token = self._markup()
            if token is not None:
                yield token
            if isinstance(token, Start) and token.name in _CLOSED_BY_NAME and not token.closed:
                yield from self._content(token.name)

    def _markup(self) -> Token | None:
        """What stands at a `<`; None for what is not shown."""
        text, start = self._text, self._at
        following = text[start + 1 : start + 2]
        if text.startswith("<!--", start):
            self._comment()
        elif following in ("!", "?") or (following == "/" and not _NAME.match(text, start + 2)):
            self._at = self._find(">", start) + 1
        elif following == "/":
            return self._tag(start + 2, closes=True)
        elif following.isascii() and following.isalpha():
            return self._tag(start + 1, closes=False)
        else:
            self._at = start + 1
            return "<"
        return None

    def _comment(self) -> None:
        start = self._at
        if self._text.startswith((">", "->"), start + 4):
            self._at = self._text.index(">", start) + 1
            return
        ends = [self._find(mark, start + 4) + len(mark) for mark in ("-->", "--!>")]
        self._at = min(ends)

    def _tag(self, at: int, *, closes: bool) -> Token:
        text = self._text
        name = _NAME.match(text, at)
        assert name is not None
        at = name.end()
        attributes: dict[str, str] = {}
        while (end := _TAG_END.match(text, at)) is None:
            attribute = _ATTRIBUTE.match(text, at)
            if attribute is None:  # the file ends inside the tag
                broken, self._at = text[self._at :], len(text)
                return references(broken)
            value, at = self._value(attribute.end())
            attributes.setdefault(attribute.group(1).lower(), value)
        self._at = end.end()
        return End(name.group().lower()) if closes else Start(name.group().lower(), attributes, "/" in end.group())

    def _value(self, at: int) -> tuple[str, int]:
        text = self._text
        equals = _EQUALS.match(text, at)
        if equals is None:
            return "", at
        at = equals.end()
        quote = text[at : at + 1]
        if quote in ('"', "'"):
            end = self._find(quote, at + 1)
            if end < len(text):
                return references(text[at + 1 : end]), end + 1
        bare = _BARE_VALUE.match(text, at)
        assert bare is not None
        return references(bare.group()), bare.end()

    def _content(self, name: str) -> Iterator[Token]:
        """What stands in an element that has no tags inside, up to the tag that closes it."""
        start, end = self._at, self._find(f"</{name}", self._at)
        if end == len(self._text) and name in _TEXT_ONLY:
            return  # never closed: read on as if it could hold tags, rather than lose the page
        self._at = end
        if end > start:
            content = self._text[start:end]
            yield content if name in _RAW else references(content)

    def _find(self, mark: str, start: int) -> int:
        """Where a mark stands next, or a tag that closes; the end of the text where there is none any more."""
        known = self._known.get(mark, -1)
        if known < start:
            if mark.startswith("</"):
                closing = re.compile(rf"{mark}(?=[\s/>])", re.IGNORECASE).search(self._text, start)
                known = -1 if closing is None else closing.start()
            else:
                known = self._text.find(mark, start)
            known = len(self._text) if known < 0 else known
            self._known[mark] = known
        return known


def references(text: str) -> str:
    """Text with its character references replaced."""
    if "&" not in text:
        return text
    return unescape(_NUMBER.sub(_short_number, text))


def _short_number(found: re.Match[str]) -> str:
    digits = (found.group(2) or found.group(3)).lstrip("0") or "0"
    return f"&#{found.group(1) or ''}{digits};" if len(digits) <= _MOST_DIGITS else "\ufffd"


def small_number(given: str | None, most: int) -> int:
    """A number in an attribute that counts cells: 1 for what is no number, or not below `most`."""
    if given is None or len(given) > _MOST_DIGITS or not given.isdecimal():
        return 1
    return int(given) if 0 < int(given) < most else 1
