"""Score quotes through the whole manager, in the four characters of the simulator. `make evidence-quotes` runs this.

Answers and quotes are scripted from the labels, so that what is measured is the verification alone. The made layouts
and the open papers are told apart; the blind ones take no part. A lie is a wrong citation above the default line that
the finder alone does not have.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from batchwork import BatchManager
from batchwork.evidence import DEFAULT_LINE, Citation
from batchwork.simulator import Simulator, SimulatorConfig
from batchwork.simulator.quoting import CHARACTERS, KnownDocument
from tests.evidence import score as made_score
from tests.evidence.corpus.build import samples
from tests.evidence.papers import load
from tests.evidence.papers import score as paper_score
from tests.evidence.tally import Tally

ALONE = "alone"  # the finder, without quotes
PRECISION, RECALL = 0.99, 0.97
Found = Mapping[str, Sequence[Citation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One label: where the field is said, and whether a citation is right."""

    path: str
    spans: tuple[tuple[int, int], ...]
    is_right: Callable[[Citation], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One labelled document."""

    kind: str
    name: str
    text: str
    schema: dict[str, Any]
    answer: Any
    fields: list[Field]


@dataclass(slots=True)
class Quoted(Tally):
    """With the quotes that were refused, and the mistakes that the finder alone does not make."""

    lies: int = 0
    rejected: int = 0


def made_cases(per_layout: int, seed: int = 0) -> Iterator[Case]:
    for sample in samples(per_layout=per_layout, seed=seed):
        fields = [
            Field(
                path=label.path, spans=label.accepted, is_right=lambda one, label=label: made_score.is_right(one, label)
            )
            for label in sample.labels
        ]
        schema = sample.schema or {"type": "object"}
        text, answer = sample.document.text, _plain(sample.value)
        yield Case(kind="made", name=sample.name, text=text, schema=schema, answer=answer, fields=fields)


def paper_cases() -> Iterator[Case]:
    for number, paper in enumerate(load("open").papers):
        fields = [
            Field(
                path=entry.path, spans=entry.spans, is_right=lambda one, entry=entry: paper_score.is_right(one, entry)
            )
            for entry in paper.fields
        ]
        text, answer = paper.document.text, _plain(paper.answer)
        name, schema = f"{number} {paper.source}", _loose(paper.schema)
        yield Case(kind="paper", name=name, text=text, schema=schema, answer=answer, fields=fields)


def _loose(schema: Any) -> Any:
    """Without formats: some papers name a month where their schema asks for a day."""
    if isinstance(schema, dict):
        return {key: _loose(held) for key, held in schema.items() if key != "format" or not isinstance(held, str)}
    return [_loose(held) for held in schema] if isinstance(schema, list) else schema


def _plain(value: Any) -> Any:
    """As a model answers it."""
    if isinstance(value, dict):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_plain(held) for held in value]
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value.isoformat() if isinstance(value, date) else value


def cited(cases: Sequence[Case], character: str) -> Iterator[tuple[Case, Found, list[dict[str, str]]]]:
    """What a manager cites, for every case, with what it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "documents.jsonl"
        known = (KnownDocument(text=case.text, answer=case.answer, places=_places(case)) for case in cases)
        script.write_bytes(b"\n".join(map(msgspec.json.encode, known)))
        quoting = CHARACTERS[0] if character == ALONE else character
        with Simulator(SimulatorConfig(persona=f"quotes:{quoting}:{script}", key_required=False)) as provider:
            for group in _by_schema(cases):
                results = BatchManager(
                    [[{"role": "user", "content": case.text}] for case in group],
                    model="openai:gpt-6-mini",
                    base_url=provider.openai_url,
                    api_key="none",
                    mode="live",
                    max_tokens=200_000,
                    schema=group[0].schema,
                    citations="found" if character == ALONE else "quoted",
                ).run()
                for case, result in zip(group, results, strict=True):
                    assert result.value is not None, (case.name, result.error)
                    assert result.document.text == case.text
                    places = {path: [Citation(**place) for place in held] for path, held in result.citations.items()}
                    yield case, places, result.rejected_quotes


def _places(case: Case) -> dict[str, list[tuple[int, int]]]:
    return {field.path: list(field.spans) for field in case.fields if field.spans}


def _by_schema(cases: Sequence[Case]) -> list[list[Case]]:
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[json.dumps(case.schema, sort_keys=True)].append(case)
    return list(groups.values())


def score(cases: Sequence[Case], characters: Sequence[str] = CHARACTERS) -> dict[str, dict[str, Quoted]]:
    """Tallies by character and kind; the finder alone is one of the characters."""
    tallies: dict[str, dict[str, Quoted]] = defaultdict(lambda: defaultdict(Quoted))
    before: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for character in (ALONE, *characters):
        for case, found, rejected in cited(cases, character):
            tally = tallies[character][case.kind]
            tally.rejected += len(rejected)
            for field in case.fields:
                above = [one for one in found.get(field.path, ()) if one.confidence >= DEFAULT_LINE]
                right = [one for one in above if field.is_right(one)]
                places = {(one.start, one.end) for one in above if one not in right}
                if character == ALONE:
                    before[case.name, field.path] = places
                tally.count([one in right for one in above], stated=bool(field.spans))
                tally.lies += len(places - before[case.name, field.path])
    return tallies


def shortfalls(tallies: Mapping[str, Mapping[str, Quoted]]) -> list[str]:
    """What falls short of its bar."""
    short = []
    for character, kinds in tallies.items():
        for kind, tally in kinds.items():
            alone = tallies[ALONE][kind]
            bars = {
                "exact": (PRECISION, RECALL),
                "short": (alone.precision, alone.recall),
                "sloppy": (PRECISION, 0.0),
            }.get(character, (0.0, 0.0))
            if tally.precision < bars[0] or tally.recall < bars[1]:
                short.append(f"{character}, {kind}: {tally.precision:.3f} / {tally.recall:.3f}")
            if character == "lying" and tally.lies:
                short.append(f"{tally.lies} lies cited, {kind}")
    return short


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-layout", type=int, default=3)
    arguments = parser.parse_args()
    cases = [*made_cases(arguments.per_layout), *paper_cases()]
    tallies = score(cases)
    print(f"{'':20}{'precision':>10}{'recall':>8}{'fields':>8}{'refused':>9}{'new mistakes':>14}")
    for character, kinds in tallies.items():
        for kind, tally in kinds.items():
            figures = f"{tally.precision:10.3f}{tally.recall:8.3f}{tally.fields:8}{tally.rejected:9}{tally.lies:14}"
            print(f"{character + ' ' + kind:20}{figures}")
    short = shortfalls(tallies)
    for line in short:
        print(f"short: {line}")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
