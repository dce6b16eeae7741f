"""The labelled set as files, for people and other programs: one line of JSON per document, one file per layout.

`python -m tests.evidence.corpus.store` writes them anew; a test says when they no longer match the generator. PDFs are
stored as their extracted text; the generator makes the files themselves.
"""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.evidence.corpus.build import blind_samples, samples
from tests.evidence.corpus.draft import Sample

FOLDER = Path(__file__).parents[2] / "data" / "evidence"
STORED = 3  # documents per layout


def plain(value: Any) -> Any:
    """Values with their type: a date and a decimal become an object with one key that names it."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    return value


def line_of(sample: Sample) -> str:
    """One document as a line of JSON."""
    entry = {
        "name": sample.name,
        "held_out": sample.held_out,
        "media_type": sample.document.media_type,
        "text": sample.document.text,
        "pages": list(sample.document.pages),
        "schema": sample.schema,
        "fields": [
            {
                "path": label.path,
                "value": plain(label.value),
                "accepted": [list(span) for span in label.accepted],
                "traps": list(label.traps),
                "elsewhere": label.elsewhere,
                "inside": label.inside,
            }
            for label in sample.labels
        ],
    }
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


def files() -> dict[str, str]:
    """The content of every file, by its name."""
    lines: dict[str, list[str]] = {}
    for sample in (*samples(per_layout=STORED), *blind_samples(per_layout=STORED)):
        lines.setdefault(f"{sample.layout}.jsonl", []).append(line_of(sample))
    return {name: "\n".join(entries) + "\n" for name, entries in lines.items()}


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
