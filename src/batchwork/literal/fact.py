"""What a text states: a value, and the words that say what it is."""

from typing import Literal, NamedTuple

Kind = Literal["pair", "cell", "gap", "below", "phrase", "after", "is", "list"]


class Fact(NamedTuple):
    """A value at `start:end` and the words that say what it is.

    `label` stands right at it; `row` names its row in a table of `rows` rows; `context` is said around it.
    """

    kind: Kind
    label: tuple[str, ...]
    start: int
    end: int
    row: tuple[str, ...] = ()
    context: frozenset[str] = frozenset()
    rows: int = 1
