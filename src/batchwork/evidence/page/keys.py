"""The path of a key in a dump: the objects around it in JSON or YAML, the parts of a dotted name, elements of XML."""

import re
from collections.abc import Iterator

from batchwork.evidence.page.labels import Label, label_of
from batchwork.evidence.page.layout import Layout

_KEY = re.compile(r"^(\s*)(?:-\s+)?[\"']?([A-Za-z_][\w.\-]*)[\"']?\s*[:=]\s*(.*)$")
_TABLE = re.compile(r"^\s*\[+([A-Za-z_][\w.\- ]*)\]+\s*$")  # [server]
_OPENS = re.compile(r"[{\[]?\s*$")
_ELEMENT = re.compile(r"<([A-Za-z_][\w.:\-]*)(?:\s[^<>]*)?>\s*$")  # <DueDate>, right before a value
_TAG = re.compile(r"<(/?)([A-Za-z_][\w.:\-]*)[^<>]*?(/?)>")
_CLOSED = re.compile(r"\s*</")
_NEAR, _FAR = 0.85, 0.55
_LONGEST = 200  # characters of a line that can hold a key
_DEEPEST = 60  # lines to look back for the objects around a key
_FARTHEST = 4000  # characters to look back for the elements around one


def path_of(layout: Layout, number: int) -> Iterator[Label]:
    """The objects that a line "key: value" stands in, nearest first; nothing for a line at the outermost level."""
    found = _KEY.match(_text(layout, number))
    if found is None:
        return
    *parts, _ = found[2].split(".")
    names = [*reversed(parts), *_around(layout, number, len(found[1]))]
    for rank, name in enumerate(names[:3]):
        yield label_of("section", name, _FAR if rank else _NEAR)


def _around(layout: Layout, number: int, indent: int) -> Iterator[str]:
    for above in range(number - 1, max(-1, number - 1 - _DEEPEST), -1):
        text = _text(layout, above)
        table = _TABLE.match(text)
        if table is not None:
            yield from reversed(table[1].split("."))
            return
        found = _KEY.match(text)
        if found is not None and len(found[1]) < indent:
            indent = len(found[1])
            if _OPENS.fullmatch(found[3]):
                yield found[2]


def element_of(text: str, start: int, end: int) -> list[Label]:
    """The element of XML whose whole content is a place, and those around it, nearest first."""
    if text[start - 1 : start] not in (">", " ", "\n") or not _CLOSED.match(text, end):
        return []
    found = _ELEMENT.search(text, max(0, start - _LONGEST), start)
    if found is None:
        return []
    names = [found[1], *_open_at(text, found.start())]
    kinds = ("element", "section", "section", "section")
    weights = (1.0, _NEAR, _FAR, _FAR)
    return [label_of(*part) for part in zip(kinds, (name.rpartition(":")[2] for name in names), weights, strict=False)]


def _open_at(text: str, start: int) -> Iterator[str]:
    """The elements that are still open at a place, innermost first."""
    closed = 0
    for tag in reversed(list(_TAG.finditer(text, max(0, start - _FARTHEST), start))):
        if tag[3]:
            continue
        if tag[1]:
            closed += 1
        elif closed:
            closed -= 1
        else:
            yield tag[2]


def _text(layout: Layout, number: int) -> str:
    line = layout.lines[number]
    return layout.text[line.start : min(line.end, line.start + _LONGEST)]
