"""Collect everything a text states: from its tables, its labels and its sentences.

No question is needed for this; a text is read once and kept for the next question.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from batchwork.literal.fact import Fact, Kind
from batchwork.literal.label_pairs import pairs
from batchwork.literal.meaning import label_words
from batchwork.literal.page_shape import headings, is_rule, lines, tables
from batchwork.literal.prose import flows, phrases


@lru_cache(maxsize=32)
def facts(text: str) -> tuple[Fact, ...]:
    """Everything a text states, in the order in which it stands, tables first."""
    found: list[Fact] = list(_cells(text))
    inside = [(table.start, table.end, len(table.header)) for table in tables(text)]  # one after the other
    opens = [start for start, _, _ in inside]
    titles, rows = headings(text), lines(text)
    above: dict[int, frozenset[str]] = {}
    prose = []
    for number, line in enumerate(rows):
        if not line.text.strip() or is_rule(line.text):
            continue
        above[line.start] = frozenset(word for title in titles[number] for word in label_words(title))
        before = bisect_right(opens, line.start)
        _, end, columns = inside[before - 1] if before else (0, 0, 0)
        width = columns if line.start < end else 0
        found += pairs(rows, number, above[line.start], in_table=width > 2)
        if not width:
            prose.append(line)
    for start, end in flows(prose):
        found += phrases(text, start, end, above[start])
    return tuple(found)


def _cells(text: str) -> Iterator[Fact]:
    titles, rows = headings(text), lines(text)
    starts = {line.start: number for number, line in enumerate(rows)}
    for table in tables(text):
        above = frozenset(word for title in titles[starts[table.start]] for word in label_words(title))
        kinds = frozenset(label_words(table.header[0].text)) if table.header else frozenset()
        kind: Kind = "list" if table.loose else "cell"
        for row in table.rows:
            name = label_words(row[0].text) if row else ()
            for index, cell in enumerate(row):
                if index >= len(table.header) or not cell.text:
                    continue
                column = label_words(table.header[index].text)
                own = name if index else ()
                yield Fact(kind, column, cell.start, cell.end, own, above | kinds, len(table.rows))
