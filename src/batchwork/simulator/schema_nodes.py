"""Walk through a JSON schema: its nodes with their paths, and what its references point to."""

from collections.abc import Iterator
from typing import Any

Path = tuple[str, ...]


def nodes(node: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every schema inside a schema, itself first."""
    if not isinstance(node, dict):
        return
    yield path, node
    for word in ("properties", "$defs", "definitions"):
        for name, child in node.get(word, {}).items():
            yield from nodes(child, (*path, word, name))
    for word in ("anyOf", "allOf"):
        for number, child in enumerate(node.get(word, ())):
            yield from nodes(child, (*path, word, str(number)))
    yield from nodes(node.get("items"), (*path, "items"))


def resolved(root: Any, ref: Any) -> Any:
    """What a reference inside this schema points to; None when there is no such thing."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None
    node: Any = root
    for step in filter(None, ref[1:].split("/")):
        node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    return node
