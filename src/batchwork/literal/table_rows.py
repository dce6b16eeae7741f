"""Read the rows of a table: ruled, aligned, or bare as text taken from a PDF; lists and repeated labels too.

A heading tells which column holds which field. In a bare table it is a line of words that name fields.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from batchwork.literal.facts import facts
from batchwork.literal.lookup import Found, ranked, typed
from batchwork.literal.meaning import GENERIC, Token, alternatives, canonical, label_words, tokens
from batchwork.literal.page_shape import Stretch, Table, lines, tables
from batchwork.literal.values import Value, dates, numbers

_NUMERIC_WORDS = ("number", "pos", "line", "tax", "vat", "discount", "gst", "percent", "weight", "hour", "day")
_JOINT = re.compile(r" (?:of|or|and|per|for|in) (?:the )?")  # "Description of goods" is one heading
_SOME, _NAMED = 0.6, 0.52
_SUMMARY = re.compile(
    r"^\W*(?:sub\s?-?total|grand total|total|tax|vat|gst|sales tax|shipping|freight|discount|amount due|balance|net|"
    r"thank|notes?|payment|terms|please|due|subtotal|page|bank|iban)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"^\W*(?P<quantity>\d+(?:[.,]\d+)?)\s*[x\u00d7]\s+(?P<description>.+?)\s*(?:@|\bat\b|\u00e0|[-\u2013:,])\s*(?P<price>\S*\d\S*(?:\s[A-Z]{3}\b)?)"
    r"(?:\s*(?:each|ea\.?|per unit))?(?:\s*(?:=|:|[-\u2013,]|\.{2,}|\s)\s*(?P<total>\S*\d\S*(?:\s[A-Z]{3}\b)?))?\s*$"
)
_ROLES = {"quantity": "quantity", "description": "description", "price": "unit price", "total": "line total"}
_LONGEST_ITEM = 160  # characters of a line that lists one thing
_MOST_HEADINGS = 50  # of tables without rules
Row = dict[str, Found]


class Field(NamedTuple):
    """A field of a row: its name, what it means, and its type."""

    name: str
    words: tuple[str, ...]
    kind: str


class Column(NamedTuple):
    """One column of a heading: the field it holds, or none; and the kind of its values."""

    field: Field | None
    kind: str


def read_rows(fields: Sequence[Field], text: str) -> list[Row]:
    """The rows that have these fields, in the order in which they stand; none when there is no such table."""
    keyed = [field for field in fields if re.search(rf"\"{re.escape(field.name)}\"\s*:", text)]
    if len(keyed) >= min(2, len(fields)):  # the text is JSON, or holds some
        return _repeated(fields, text, 0.9)
    best = max((_ruled(fields, table, text) for table in tables(text)), key=_weight, default=[])
    return best or _bare(fields, text) or _listed(fields, text) or _stacked(fields, text) or _repeated(fields, text)


def _weight(rows: list[Row]) -> int:
    return sum(map(len, rows))


def _ruled(fields: Sequence[Field], table: Table, text: str) -> list[Row]:
    columns = _assign(fields, table.header)
    rows: list[Row] = []
    for cells in table.rows if len(columns) >= min(2, len(fields)) else ():
        row = _row(text, [(field, cells[number]) for number, field in columns.items() if number < len(cells)])
        first = next((cell.text for cell in cells if cell.text), "")
        if row and not (_SUMMARY.match(first.strip("*_ ")) and len(row) < len(columns)):
            rows.append(row)
    return rows


def _row(text: str, cells: Iterable[tuple[Field | None, Stretch | Value]]) -> Row:
    """The cells that hold a value of their field's kind."""
    found = {field.name: typed(text, cell.start, cell.end, field.kind) for field, cell in cells if field is not None}
    return {name: value for name, value in found.items() if value is not None}


def _bare(fields: Sequence[Field], text: str) -> list[Row]:
    """A heading line and lines below it whose words and numbers come in the heading's order."""
    filled = [line for line in lines(text) if line.text.strip()]
    headings = ((number, columns) for number, line in enumerate(filled) if (columns := _heading(fields, line)))
    found = (
        _below_heading(columns, islice(filled, number + 1, None), text)
        for number, columns in islice(headings, _MOST_HEADINGS)
    )
    return max(found, key=_weight, default=[])


def _below_heading(columns: list[Column], below: Iterable[Stretch], text: str) -> list[Row]:
    """The rows until the first line that is none, or that sums up; a first line of words alone begins a description."""
    rows: list[Row] = []
    named = [column.field for column in columns if column.field]
    words = next((field.name for field in named if field.kind == "string"), "")
    begun: Stretch | None = None
    for line in below:
        row = _bare_row(columns, line, text)
        if row is not None and not (_SUMMARY.match(line.text) and len(row) < len(named)):
            if begun is not None and words in row:
                row[words] = row[words]._replace(value=f"{begun.text.strip()} {row[words].value}", start=begun.start)
            rows.append(row)
            begun = None
        elif rows or begun or _SUMMARY.match(line.text) or _line_values(text, line):
            break
        else:
            begun = line
    return rows


def _bare_row(columns: list[Column], line: Stretch, text: str) -> Row | None:
    """The values before the words, the words, and the values behind them, column by column."""
    values = _line_values(text, line)
    wordy = [index for index, column in enumerate(columns) if column.kind not in ("number", "integer", "date")]
    if not wordy:
        same = len(values) == len(columns)
        return _row(text, zip((column.field for column in columns), values, strict=True)) if same else None
    head, tail = wordy[0], len(columns) - 1 - wordy[-1]
    indent = len(line.text) - len(line.text.lstrip())
    if len(values) < head + tail or (head and values[0].start - line.start > indent + 2):
        return None
    leading, trailing = values[:head], values[len(values) - tail :]
    fields = [column.field for column in (*columns[:head], *columns[len(columns) - tail :])]
    row = _row(text, zip(fields, (*leading, *trailing), strict=True))
    start = leading[-1].end if leading else line.start
    stop = trailing[0].start if trailing else line.end
    words = re.compile(r"[\s.|)#-]*(.*?)[\s|.:x\u00d7@-]*").fullmatch(text, start, stop)
    if words is None or not words[1]:
        return None
    for column in columns[head : len(columns) - tail]:
        if column.field is not None and column.kind == "string":
            return row | {column.field.name: Found(words[1], *words.span(1), 0.0)}
    return row


def _line_values(text: str, line: Stretch) -> list[Value]:
    return sorted(
        [*numbers(text, line.start, line.end), *dates(text, line.start, line.end)], key=lambda value: value.start
    )


def _listed(fields: Sequence[Field], text: str) -> list[Row]:
    """Lines such as `2 x Widget @ $10.00 = $20.00`."""
    header = [Stretch(words, 0, 0) for words in _ROLES.values()]
    roles = {list(_ROLES)[number]: field for number, field in _assign(fields, header).items()}
    rows: list[Row] = []
    for line in lines(text) if len(roles) > 1 else ():
        match = _TIMES.match(line.text) if len(line.text) <= _LONGEST_ITEM else None
        if match is not None and not _SUMMARY.match(line.text):
            places = {role: match.span(role) for role in roles if match[role]}
            cells = [(roles[role], Stretch("", line.start + a, line.start + b)) for role, (a, b) in places.items()]
            rows.append(_row(text, cells))
    return [row for row in rows if len(row) >= 2]


def _stacked(fields: Sequence[Field], text: str) -> list[Row]:
    """Every cell on a line of its own: first the headings, then the rows."""
    filled = [line for line in lines(text) if line.text.strip()]
    for at in range(len(filled)):
        for width in range(min(8, len(filled) - at), 1, -1):
            header = filled[at : at + width]
            if any(len(cell.text.strip()) > 30 or re.search(r"\d|:", cell.text) for cell in header):
                continue
            columns = _assign(fields, header)
            if len(columns) >= max(2, width - 1) and 0 in columns:
                return _stack(filled[at + width :], width, columns, text)
    return []


def _stack(body: list[Stretch], width: int, columns: dict[int, Field], text: str) -> list[Row]:
    rows: list[Row] = []
    for at in range(0, len(body) - width + 1, width):
        row = _row(text, [(field, body[at + number]) for number, field in columns.items()])
        if len(row) < len(columns) or _SUMMARY.match(body[at].text):
            break
        rows.append(row)
    return rows


def _repeated(fields: Sequence[Field], text: str, enough: float = 0.8) -> list[Row]:
    """Records with a label at each value: the first of each label makes the first row."""
    pairs = {fact for fact in facts(text) if fact.kind in ("pair", "below")}
    lists: dict[str, list[Found]] = {}
    for field in fields:
        there = [fact for sure, fact in ranked(field.words, text, loose=enough < 0.9) if sure >= enough]
        found = [typed(text, fact.start, fact.end, field.kind) for fact in there if fact in pairs]
        lists[field.name] = sorted((one for one in found if one is not None), key=lambda one: one.start)
    counts = [len(found) for found in lists.values() if found]
    most = max(set(counts), key=counts.count, default=0)
    kept = {name: found for name, found in lists.items() if len(found) == most}
    enough_fields = len(kept) >= min(2, len(fields))
    return [{name: found[number] for name, found in kept.items()} for number in range(most)] if enough_fields else []


def _fit(field: Field, words: tuple[str, ...]) -> float:
    """How well a heading names a field."""
    wanted, heading = set(field.words) - GENERIC or set(field.words), set(words) - GENERIC or set(words)
    if wanted == heading:
        return 1.0
    for place, other in enumerate(alternatives(field.words)):
        if set(other) == heading:
            return 0.9 - 0.02 * place
    return _SOME - 0.05 * len(wanted ^ heading) if heading and (wanted <= heading or heading <= wanted) else 0.0


def _assign(fields: Sequence[Field], header: Sequence[Stretch]) -> dict[int, Field]:
    """Column number to field, the best fits first, none used twice."""
    fits = sorted(
        (-_fit(field, label_words(cell.text)), number, index)
        for number, cell in enumerate(header)
        for index, field in enumerate(fields)
    )
    chosen: dict[int, Field] = {}
    for sure, number, index in fits:
        if -sure < 0.3:
            break
        if number not in chosen and fields[index] not in chosen.values():
            chosen[number] = fields[index]
    return chosen


def _heading(fields: Sequence[Field], line: Stretch) -> list[Column]:
    """The columns of a heading without visible borders, or nothing when the line is none.

    Words are taken greedily, the longest phrase that names a field first; what is left over are columns
    nobody asked for.
    """
    if re.search(r"\d{2}|[.!?]$", line.text) or len(line.text) > 160:
        return []
    spoken = canonical(tokens(line.text))
    columns: list[Column] = []
    used: set[str] = set()
    at = 0
    while at < len(spoken):
        field, length = _best(fields, used, spoken, at, line)
        if field is not None:
            used.add(field.name)
            columns.append(Column(field, field.kind))
        elif not at or not _JOINT.fullmatch(line.text[spoken[at - 1].end : spoken[at].start]):
            columns.append(Column(None, "number" if spoken[at].word in _NUMERIC_WORDS else "string"))
        at += length
    named = [column for column in columns if column.field is not None]
    return columns if len(named) >= 2 and len(columns) - len(named) <= 2 else []


def _best(
    fields: Sequence[Field], used: set[str], spoken: list[Token], at: int, line: Stretch
) -> tuple[Field | None, int]:
    """The field that the next one to three words name best, and how many of them."""
    best: tuple[float, int, Field | None] = (0.0, 1, None)
    for length in range(1, min(3, len(spoken) - at) + 1):
        run = spoken[at : at + length]
        if re.search(r"\t| {2,}|\|", line.text[run[0].start : run[-1].end]):
            break  # a wide gap parts two columns
        words = tuple(token.word for token in run)
        for field in fields:
            sure = 0.0 if field.name in used else _fit(field, words)
            if sure > best[0] or (sure == best[0] > 0 and length > best[1]):
                best = (sure, length, field)
    return (best[2], best[1]) if best[0] > _NAMED else (None, 1)
