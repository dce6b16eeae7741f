"""A large input: JSONL rows of a made-up catalogue, the same every time."""

from __future__ import annotations

from pathlib import Path

PROMPT = "In which country does the river {name} rise? {text}"


def write_rows(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            text = f"It is {number % 6000} km long, and number {number * 7919 % 1_000_003} in an old catalogue."
            file.write(f'{{"id": {number}, "name": "River {number}", "text": "{text}"}}\n')
