"""How far a schema unfolds when its references are followed, and whether it goes round in circles.

A short schema can stand for a huge one (each definition using the next one twice). One walk finds the size it unfolds
to; a second one, over the steps that do not move into the value, finds circles that no value would ever end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from batchwork.schema.errors import SchemaError
from batchwork.schema.keywords import STORES, Node, is_in_place

_EXACT = 1_500  # a multiple of a fraction is worked out exactly, with as many digits as it takes
_Edges = Callable[[str], list[str]]


class Document(Protocol):
    """A schema with all its places known."""

    places: dict[str, Node]

    def inside(self, place: str) -> list[tuple[str, str]]:
        """The schemas directly inside of the one at a place: the keyword that holds each, and its place."""

    def target(self, node: dict[str, Any], place: str) -> str | None:
        """Where the schema's reference leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfolded:
    """What a schema is when its references are followed."""

    circle: str | None
    """A place that it comes back to, when it is recursive (in a way that is allowed)."""
    rules: int
    """Rules in the whole of it, a circle gone through once."""
    in_place: int
    """The most rules that look at one value from one place."""


def unfold(document: Document, most: int) -> Unfolded:
    """How far a schema unfolds.

    Raises:
        SchemaError: it refers to itself on the spot, or unfolds to more than `most` schemas.
    """
    rules = {place: _rules(node) for place, node in document.places.items()}
    at_once: dict[str, int] = {}
    stuck = _circles(document.places, lambda place: _next(document, place, in_place=True), at_once, rules)
    if stuck:
        raise SchemaError(min(stuck), "refers to itself without a step into the value")
    sizes: dict[str, int] = {}
    turned = _circles([""], lambda place: _next(document, place, in_place=False), sizes, rules)
    if sizes[""] > most:
        raise SchemaError("", f"too complex: its references unfold to more than {most} schemas")
    return Unfolded(circle=min(turned, default=None), rules=sizes[""], in_place=max(at_once.values(), default=1))


def _rules(node: Node) -> int:
    """How much one schema has to say about a value itself: long enumerations say much."""
    if isinstance(node, bool):
        return 1
    exact = _EXACT if isinstance(node.get("multipleOf"), float) else 0
    return 1 + len(node) + sum(len(held) for held in node.values() if isinstance(held, list)) + exact


def _next(document: Document, place: str, *, in_place: bool) -> list[str]:
    """The places that a value is held against next: in place only, or all."""
    node = document.places[place]
    if isinstance(node, bool):
        return []
    inner = [
        there
        for keyword, there in document.inside(place)
        if keyword not in STORES and (is_in_place(keyword) or not in_place)
    ]
    target = document.target(node, place)
    return inner if target is None else [*inner, target]


def _circles(
    starts: Mapping[str, Node] | list[str], next_places: _Edges, sizes: dict[str, int], rules: dict[str, int]
) -> set[str]:
    """The places that a walk from the starts comes back to while it is still inside them.

    Written with its own stack, because a chain of references may be longer than Python's.
    """
    inside: set[str] = set()
    turned: set[str] = set()
    for start in starts:
        stack: list[tuple[str, list[str] | None]] = [(start, None)]
        while stack:
            place, following = stack.pop()
            if following is not None:
                inside.discard(place)
                sizes[place] = rules[place] + sum(sizes.get(there, 1) for there in following)
            elif place in inside:
                turned.add(place)
            elif place not in sizes:
                inside.add(place)
                following = next_places(place)
                stack.append((place, following))
                stack += [(there, None) for there in following]
    return turned
