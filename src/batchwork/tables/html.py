"""Results as a notebook shows them: a line of figures and the first rows. Everything in it is escaped."""

from collections.abc import Container, Mapping, Sequence
from html import escape
from typing import Any

from batchwork.core.words import counted
from batchwork.tables.cells import cell_text, clean_text

_LONGEST_CELL = 120
_MOST_INPUTS, _MOST_OTHERS = 5, 7  # columns


def results_html(title: str, rows: Sequence[Mapping[str, Any]], *, ours: Container[str], total: int) -> str:
    """The figures, the first `rows` of so many, and how many more rows and columns there are.

    Of many columns the first ones of the input are shown, and the first from one of `ours` on.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    inputs = next((at for at, name in enumerate(names) if name in ours), len(names))
    shown = names[: min(inputs, _MOST_INPUTS)] + names[inputs : inputs + _MOST_OTHERS]
    parts = [f"<p>{_text(title)}</p>"]
    if rows:
        head = "".join(f"<th>{_text(name)}</th>" for name in shown)
        body = "".join(f"<tr>{''.join(f'<td>{_text(row.get(name))}</td>' for name in shown)}</tr>" for row in rows)
        parts.append(f'<table style="text-align:left"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')
    more = [counted(total - len(rows), "more row")] if total > len(rows) else []
    more += [counted(len(names) - len(shown), "more column")] if len(names) > len(shown) else []
    if more:
        parts.append(f"<p>{' and '.join(more)}</p>")
    return f"<div>{''.join(parts)}</div>"


def _text(value: Any) -> str:
    text = clean_text(cell_text(value))
    return escape(text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}...")
