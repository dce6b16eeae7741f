"""Which items a page shows: what they are filtered and sorted by, read from an address and written into one. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind
from batchwork.core.money import NANO
from batchwork.core.outcome import Status
from batchwork.view.words import terms_of

PAGE = 50
SORTS = {
    "place": "Place in the input",
    "paid": "Cost",
    "latency": "Latency",
    "tokens": "Tokens",
    "attempts": "Attempts",
    "settled_at": "Time of the outcome",
}
# A range of a filter: the name in the address, the column, and what one of its units is there.
_RANGES = {"cost": ("paid", NANO), "latency": ("latency", 1.0), "tokens": ("tokens", 1), "attempts": ("attempts", 1)}
_BOUNDS = tuple(f"{side}_{name}" for name in _RANGES for side in ("min", "max"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A filter, an order and a page, counted from 1."""

    status: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    words: str = ""
    bounds: tuple[tuple[str, str], ...] = ()  # by their names, as they were typed
    sort: str = "place"
    descending: bool = False
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.status or self.kind or self.words or self.bounds)

    @property
    def terms(self) -> list[str]:
        """The words that are looked for, as the index has them."""
        return terms_of(self.words)

    def ranges(self) -> Iterator[tuple[str, float, float]]:
        """The columns that must lie within bounds: name, least, most."""
        bounds = dict(self.bounds)
        for name, (column, unit) in _RANGES.items():
            low, high = bounds.get(f"min_{name}"), bounds.get(f"max_{name}")
            if low is not None or high is not None:
                least = -math.inf if low is None else float(low) * unit
                yield column, least, math.inf if high is None else float(high) * unit

    def query(self, **changed: object) -> str:
        """The address of this selection with some things changed, from its `?` on; a change goes to the first page."""
        wanted = replace(self, **{"page": 1, **changed})  # type: ignore[arg-type]
        pairs: list[tuple[str, object]] = [("status", status) for status in wanted.status]
        pairs += [("kind", kind) for kind in wanted.kind]
        pairs += [("words", wanted.words)] if wanted.words else []
        pairs += wanted.bounds
        pairs += [("sort", wanted.sort)] if wanted.sort != "place" else []
        pairs += [("order", "desc")] if wanted.descending else []
        pairs += [("page", wanted.page)] if wanted.page > 1 else []
        return "?" + urlencode(pairs) if pairs else ""


def selection_of(query: Mapping[str, Sequence[str]]) -> Selection:
    """The selection that an address asks for; what a form leaves empty is not asked for.

    Raises ConfigError: the address asks for something that there is not.
    """
    given = {name: [value.strip() for value in values if value.strip()] for name, values in query.items()}
    sort = _one(given, "sort", "place")
    order = _one(given, "order", "asc")
    page = _one(given, "page", "1")
    if sort not in SORTS:
        raise ConfigError(f"sort is one of {', '.join(SORTS)}, not {sort!r}")
    if order not in ("asc", "desc"):
        raise ConfigError(f"order is asc or desc, not {order!r}")
    if not page.isascii() or not page.isdigit() or not 1 <= int(page[:12]) <= 10**9:
        raise ConfigError(f"page is a number from 1, not {page!r}")
    return Selection(
        status=_known(given, "status", [status.value for status in Status]),
        kind=_known(given, "kind", [kind.value for kind in FailureKind]),
        words=_one(given, "words", ""),
        bounds=tuple((name, _number(name, _one(given, name, ""))) for name in _BOUNDS if given.get(name)),
        sort=sort,
        descending=order == "desc",
        page=int(page),
    )


def _one(given: Mapping[str, Sequence[str]], name: str, default: str) -> str:
    return (given.get(name) or [default])[-1]


def _known(given: Mapping[str, Sequence[str]], name: str, known: Sequence[str]) -> tuple[str, ...]:
    for value in given.get(name, ()):
        if value not in known:
            raise ConfigError(f"{name} is one of {', '.join(known)}, not {value!r}")
    return tuple(dict.fromkeys(given.get(name, ())))


def _number(name: str, text: str) -> str:
    try:
        is_number = math.isfinite(float(text))
    except ValueError:
        is_number = False
    if not is_number:
        raise ConfigError(f"{name} is a number, not {text!r}")
    return text
