"""Damage an answer or a download: what a provider sends when it is not itself."""

from typing import Any

import msgspec

from batchwork.simulator.dice import generator


def damaged(body: dict[str, Any], kind: str | None) -> dict[str, Any]:
    """An answer object of either wire under a fault of its shape."""
    match kind:
        case "null" if "choices" in body:
            return body | {"choices": [choice | {"message": None} for choice in body["choices"]]}
        case "null":
            return body | {"output" if "output" in body else "content": None}
        case "no_usage":
            return {name: value for name, value in body.items() if name != "usage"}
        case "zero_usage":
            return body | {"usage": _zeros(body["usage"])}
        case _:
            return body


def _zeros(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _zeros(child) for name, child in value.items()}
    return 0 if isinstance(value, int) else value


def low_counts(raw: bytes) -> bytes:
    """A batch object whose counts of what is done are a third too low."""
    batch = msgspec.json.decode(raw)
    counts = batch["request_counts"]
    batch["request_counts"] = {
        name: count if name in ("processing", "total") else 2 * count // 3 for name, count in counts.items()
    }
    return msgspec.json.encode(batch)


def short(raw: bytes) -> bytes:
    """A download without a third of its lines; without its only one, when there is one alone."""
    lines = raw.splitlines(keepends=True)
    return b"".join(line for number, line in enumerate(lines) if number % 3 != 1 and len(lines) > 1)


def shuffled(raw: bytes, *names: object) -> bytes:
    """A download in another order; `names` seed the dice."""
    lines = raw.splitlines(keepends=True)
    generator(0, *names).shuffle(lines)
    return b"".join(lines)
