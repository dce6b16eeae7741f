"""How far a schema unfolds when its references are followed, and whether it goes round in circles.

A short schema can stand for a huge one (each definition using the next one twice). One walk finds the size it unfolds
to; a second one, over the steps that do not move into the value, finds circles that no value would ever end.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from batchwork.schema.errors import SchemaError
from batchwork.schema.keywords import IN_PLACE, STORES, Node

_EXACT = 1_500  # a multiple of a fraction is worked out exactly, with as many digits as it takes
# The places that a schema at a place leads to, each with the keyword that does
Edges = Callable[[str], list[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfolded:
    """What a schema is when its references are followed."""

    circle: str | None  # a place that it comes back to, when it is recursive (in a way that is allowed)
    rules: int  # rules in the whole of it, a circle gone through once
    in_place: int  # the most rules that look at one value from one place
    parts: float  # how many times the rules of the whole schema all of its parts have, each of them unfolded alone


def unfold(places: Mapping[str, Node], edges: Edges, most: int) -> Unfolded:
    """How far a schema unfolds; a SchemaError when that is too far, or it refers to itself on the spot."""
    rules = {place: _rules(node) for place, node in places.items()}

    def inward(place: str) -> list[str]:
        return [there for keyword, there in edges(place) if keyword not in STORES]

    def in_place(place: str) -> list[str]:
        return [there for keyword, there in edges(place) if keyword == "$ref" or keyword in IN_PLACE]

    stuck, at_once = _circles(places, in_place, rules)
    if stuck:
        raise SchemaError(min(stuck), "refers to itself without a step into the value")
    turned, sizes = _circles([""], inward, rules)
    if sizes[""] > most:
        raise SchemaError("", f"too complex: its references unfold to more than {most} schemas")
    return Unfolded(
        circle=min(turned, default=None),
        rules=sizes[""],
        in_place=max(at_once.values(), default=1),
        parts=sum(sizes.values()) / sum(rules[place] for place in sizes),
    )


def _rules(node: Node) -> int:
    """How much one schema has to say about a value itself: long enumerations say much."""
    if isinstance(node, bool):
        return 1
    exact = _EXACT if isinstance(node.get("multipleOf"), float) else 0
    return 1 + len(node) + sum(len(held) for held in node.values() if isinstance(held, list)) + exact


def _circles(
    starts: Iterable[str], following: Callable[[str], list[str]], rules: dict[str, int]
) -> tuple[set[str], dict[str, int]]:
    """The places that a walk from the starts comes back to while it is still inside them, and the size of each place.

    Written with its own stack, because a chain of references may be longer than Python's.
    """
    sizes: dict[str, int] = {}
    inside: set[str] = set()
    turned: set[str] = set()
    for start in starts:
        stack: list[tuple[str, list[str] | None]] = [(start, None)]
        while stack:
            place, inner = stack.pop()
            if inner is not None:
                inside.discard(place)
                sizes[place] = rules[place] + sum(sizes.get(there, 1) for there in inner)
            elif place in inside:
                turned.add(place)
            elif place not in sizes:
                inside.add(place)
                inner = following(place)
                stack.append((place, inner))
                stack += [(there, None) for there in inner]
    return turned, sizes
