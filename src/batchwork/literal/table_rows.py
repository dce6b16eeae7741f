"""Read the rows of a table: ruled, aligned, or bare as text taken from a PDF; lists and repeated labels too."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from batchwork.literal.fact import Fact
from batchwork.literal.facts import facts
from batchwork.literal.header import Column, Field, assign, heading
from batchwork.literal.lookup import Found, ranked, typed
from batchwork.literal.page_shape import Cell, Line, Table, is_rule, lines, tables
from batchwork.literal.values import Value, dates, numbers

_SUMMARY = re.compile(
    r"^\W*(?:sub\s?-?total|grand total|total|tax|vat|gst|sales tax|shipping|freight|discount|amount due|balance|net|"
    r"thank|notes?|payment|terms|please|due|subtotal|page|bank|iban)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"^\W*(?P<quantity>\d+(?:[.,]\d+)?)\s*[x\u00d7]\s+(?P<description>.+?)\s*(?:@|\bat\b|\u00e0|[-\u2013:,])\s*(?P<price>\S*\d\S*(?:\s[A-Z]{3}\b)?)"
    r"(?:\s*(?:each|ea\.?|per unit))?(?:\s*(?:=|:|[-\u2013,]|\.{2,}|\s)\s*(?P<total>\S*\d\S*(?:\s[A-Z]{3}\b)?))?\s*$"
)
_NAMED_TIMES = re.compile(
    r"^\W*(?P<description>[^\d\n].*?)\s*[:(\u2013-]\s*(?P<quantity>\d+(?:[.,]\d+)?)\s*"
    r"(?:[x\u00d7@]|units? (?:at|@))\s*(?P<price>\S*\d[^\s)]*)\s*\)?"
    r"\s*(?:=|:|[-\u2013,]|\.{2,}|\s)?\s*(?P<total>\S*\d\S*)?\s*$"
)
_ROLES = {
    "quantity": ("quantity",),
    "description": ("description",),
    "price": ("unit", "price"),
    "total": ("line", "total"),
}
_LONGEST_ITEM = 160  # characters of a line that lists one thing
_MOST_HEADINGS = 50  # of tables without rules
Row = dict[str, Found]


def read_rows(fields: Sequence[Field], text: str) -> list[Row]:
    """The rows that have these fields, in the order in which they stand; none when there is no such table."""
    keyed = [field for field in fields if re.search(rf"\"{re.escape(field.name)}\"\s*:", text)]
    if len(keyed) >= min(2, len(fields)):  # the text is JSON, or holds some
        return _repeated(fields, text, 0.9)
    best: list[Row] = []
    for table in tables(text):
        found = _ruled(fields, table, text)
        if _weight(found) > _weight(best):
            best = found
    for reading in (_bare, _listed, _stacked, _repeated):
        if best:
            return best
        best = reading(fields, text)
    return best


def _weight(rows: list[Row]) -> int:
    return sum(map(len, rows))


def _ruled(fields: Sequence[Field], table: Table, text: str) -> list[Row]:
    columns = assign(fields, table.header)
    if len(columns) < min(2, len(fields)):
        return []
    rows: list[Row] = []
    for cells in table.rows:
        row: Row = {}
        for number, field in columns.items():
            if number < len(cells) and (found := _cell(text, cells[number], field.kind)) is not None:
                row[field.name] = found
        first = next((cell.text for cell in cells if cell.text), "")
        if row and not (_SUMMARY.match(first.strip("*_ ")) and len(row) < len(columns)):
            rows.append(row)
    return rows


def _cell(text: str, cell: Cell, kind: str) -> Found | None:
    return typed(text, Fact("cell", (), cell.start, cell.end), kind)


def _bare(fields: Sequence[Field], text: str) -> list[Row]:
    """A heading line and lines below it whose words and numbers come in the heading's order."""
    filled = [line for line in lines(text) if line.text.strip()]
    best: list[Row] = []
    headings = ((number, columns) for number, line in enumerate(filled) if (columns := heading(fields, line)))
    for number, columns in islice(headings, _MOST_HEADINGS):
        rows = _below_heading(fields, columns, islice(filled, number + 1, None), text)
        if _weight(rows) > _weight(best):
            best = rows
    return best


def _below_heading(fields: Sequence[Field], columns: list[Column], below: Iterable[Line], text: str) -> list[Row]:
    rows: list[Row] = []
    named = len([column for column in columns if column.field])
    words = [field.name for field in fields if field.kind == "string"]
    pending: Line | None = None
    for line in below:
        if is_rule(line.text):
            continue
        row = _bare_row(columns, line, text)
        if row is not None and not (_SUMMARY.match(line.text) and len(row) < named):
            if pending is not None and words and words[0] in row:  # a description that began on the line above
                said = row[words[0]]
                start = pending.start + len(pending.text) - len(pending.text.lstrip())
                row[words[0]] = said._replace(value=f"{pending.text.strip()} {said.value}", start=start)
            rows.append(row)
            pending = None
        elif pending is None and not rows and not _SUMMARY.match(line.text) and not _line_values(text, line):
            pending = line
        elif not _continues(rows, fields, line, text):
            break
    return rows


def _bare_row(columns: list[Column], line: Line, text: str) -> Row | None:
    values = _line_values(text, line)
    wordy = [index for index, column in enumerate(columns) if column.kind not in ("number", "integer", "date")]
    if not wordy:
        return _all_values(columns, values, text) if len(values) == len(columns) else None
    head, tail = wordy[0], len(columns) - 1 - wordy[-1]
    leading = _leading(values[:head], line)
    if len(leading) < head or len(values) < head + tail:
        return None
    trailing = values[len(values) - tail :] if tail else []
    row: Row = {}
    for column, value in [
        *zip(columns[:head], leading, strict=True),
        *zip(columns[len(columns) - tail :], trailing, strict=True),
    ]:
        _put(row, column, value, text)
    start = leading[-1].end if leading else line.start
    stop = trailing[0].start if trailing else line.end
    middle = columns[head : len(columns) - tail]
    if any(value is not None and _gap_word(text, value) for value in trailing):
        return None
    return row if _put_words(row, middle, text, start, stop) else None


def _gap_word(text: str, value: Value) -> bool:
    """A value glued into a word belongs to it."""
    return bool(re.match(r"[A-Za-z]", text[value.end : value.end + 1]))


def _leading(values: list[Value], line: Line) -> list[Value]:
    """Values that really stand at the start of the line."""
    return values if not values or values[0].start - line.start <= len(line.text) - len(line.text.lstrip()) + 2 else []


def _put_words(row: Row, middle: list[Column], text: str, start: int, stop: int) -> bool:
    """Share the words between the values out among the word columns."""
    while start < stop and text[start] in " \t.|)#-":
        start += 1
    while stop > start and text[stop - 1] in " \t|.-:x\u00d7@":
        stop -= 1
    if start >= stop:
        return False
    names = [column for column in middle if column.field is not None and column.kind == "string"]
    if not names:
        return True
    if len(middle) > 1:  # codes and the like come first or last: one word each
        words = list(re.finditer(r"\S+", text[start:stop]))
        before = middle.index(names[0])
        after = len(middle) - 1 - middle.index(names[-1])
        if len(words) > before + after:
            stop = start + (words[len(words) - after - 1].end() if after else stop - start)
            start += words[before].start()
    field = names[0].field
    assert field is not None
    row[field.name] = Found(text[start:stop], start, stop, 0.0)
    return True


def _all_values(columns: list[Column], values: list[Value], text: str) -> Row:
    row: Row = {}
    for column, value in zip(columns, values, strict=True):
        _put(row, column, value, text)
    return row


def _put(row: Row, column: Column, value: Value, text: str) -> None:
    if column.field is None:
        return
    found = typed(text, Fact("cell", (), value.start, value.end), column.kind)
    if found is not None:
        row[column.field.name] = found


def _line_values(text: str, line: Line) -> list[Value]:
    return sorted(
        [*numbers(text, line.start, line.end), *dates(text, line.start, line.end)], key=lambda value: value.start
    )


def _continues(rows: list[Row], fields: Sequence[Field], line: Line, text: str) -> bool:
    """Whether a line is the rest of the description above it."""
    if not rows or _SUMMARY.match(line.text) or _line_values(text, line) or ":" in line.text:
        return False
    words = [field.name for field in fields if field.kind == "string" and field.name in rows[-1]]
    if not words or not re.match(r"\s*[a-z(&]", line.text):
        return False
    old = rows[-1][words[0]]
    rows[-1][words[0]] = old._replace(value=f"{old.value} {line.text.strip()}")
    return True


def _roles(fields: Sequence[Field]) -> dict[str, Field]:
    """Which field is the quantity, the description, the price and the total."""
    roles: dict[str, Field] = {}
    header = [Cell(" ".join(words), 0, 0) for words in _ROLES.values()]
    for number, field in assign(fields, header).items():
        roles[list(_ROLES)[number]] = field
    return roles


def _listed(fields: Sequence[Field], text: str) -> list[Row]:
    """Lines such as `2 x Widget @ $10.00 = $20.00`."""
    roles = _roles(fields)
    if len(roles) < 2:
        return []
    rows: list[Row] = []
    for line in lines(text):
        if len(line.text) > _LONGEST_ITEM:
            continue
        match = _TIMES.match(line.text) or _NAMED_TIMES.match(line.text)
        if match is None or _SUMMARY.match(line.text):
            continue
        row: Row = {}
        for role, field in roles.items():
            start, stop = match.span(role)
            if start < 0:
                continue
            cell = Fact("cell", (), line.start + start, line.start + stop)
            if (found := typed(text, cell, field.kind)) is not None:
                row[field.name] = found
        if len(row) >= 2:
            rows.append(row)
    return rows


def _stacked(fields: Sequence[Field], text: str) -> list[Row]:
    """Every cell on a line of its own: first the headings, then the rows."""
    filled = [line for line in lines(text) if line.text.strip()]
    for at in range(len(filled)):
        columns: dict[int, Field] = {}
        for width in range(min(8, len(filled) - at), 1, -1):
            header = [Cell(line.text.strip(), line.start, line.end) for line in filled[at : at + width]]
            if any(len(cell.text) > 30 or re.search(r"\d|:", cell.text) for cell in header):
                continue
            columns = assign(fields, header)
            if len(columns) >= max(2, width - 1) and 0 in columns:
                return _stack(filled[at + width :], width, columns, text)
    return []


def _stack(body: list[Line], width: int, columns: dict[int, Field], text: str) -> list[Row]:
    rows: list[Row] = []
    for at in range(0, len(body) - width + 1, width):
        group = body[at : at + width]
        if _SUMMARY.match(group[0].text):
            break
        row: Row = {}
        for number, field in columns.items():
            found = _cell(text, Cell(group[number].text, group[number].start, group[number].end), field.kind)
            if found is None:
                return rows
            row[field.name] = found
        rows.append(row)
    return rows


def _repeated(fields: Sequence[Field], text: str, enough: float = 0.8) -> list[Row]:
    """Records with a label at each value: the first of each label makes the first row."""
    lists: dict[str, list[Found]] = {}
    pairs = {fact for fact in facts(text) if fact.kind in ("pair", "below")}
    for field in fields:
        found: list[Found] = []
        for sure, fact in ranked(field.words, text, loose=enough < 0.9):
            if sure >= enough and fact in pairs and (value := typed(text, fact, field.kind)) is not None:
                found.append(value)
        found.sort(key=lambda value: value.start)
        if found:
            lists[field.name] = found
    if len(lists) < min(2, len(fields)):
        return []
    counts = [len(found) for found in lists.values()]
    most = max(set(counts), key=counts.count)
    kept = {name: found for name, found in lists.items() if len(found) == most}
    if len(kept) < min(2, len(fields)):
        return []
    return [{name: found[number] for name, found in kept.items()} for number in range(most)]
