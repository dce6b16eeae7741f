"""Score a finder on the real papers: `python -m tests.evidence.papers.score`, once at the end with `--blind`.

A citation is right when it covers an accepted span and little more (the label, a unit, a bracket beside it), or, for a
phrase, any part of it. Precision is per citation and counts those of fields that the document does not state as wrong;
recall is per field that it states; both above the line. Calibration looks at all citations: five bins of equal count,
the mean distance between what they promised and what came true. `--show` prints the misses of the open part only.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from batchwork.documents import Document
from batchwork.evidence import DEFAULT_LINE
from tests.evidence.papers import Field, Paper, load
from tests.evidence.tally import Tally

LINE = DEFAULT_LINE
BESIDE = 24  # characters that a citation may have beside the words of the value


class Cited(Protocol):
    """What the score needs of a citation."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def confidence(self) -> float: ...


Find = Callable[[Document, dict[str, Any], Any], Mapping[str, Sequence[Cited]]]


def is_right(citation: Cited, entry: Field) -> bool:
    """Whether the citation says the value at a place that is accepted for this field."""
    for start, end in entry.spans:
        covers = citation.start <= start and end <= citation.end
        if covers and (citation.end - citation.start) - (end - start) <= BESIDE:
            return True
        if "p" in entry.marks and citation.start < end and start < citation.end:
            return True
    return False


def score(papers: Iterable[Paper], find: Find, *, line: float = LINE, show: bool = False) -> dict[str, Tally]:
    """Tallies by kind, and under `all`."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for paper in papers:
        found = find(paper.document, paper.schema, paper.answer)
        for entry in paper.fields:
            every = [(citation, is_right(citation, entry)) for citation in found.get(entry.path, ())]
            above = [right for citation, right in every if citation.confidence >= line]
            for tally in (tallies["all"], tallies[paper.kind]):
                tally.promises += [(citation.confidence, right) for citation, right in every]
                tally.count(above, stated=not entry.is_empty)
            if show and (not all(above) or (entry.spans and not any(above))):
                _print_miss(paper, entry, every)
    return tallies


def _print_miss(paper: Paper, entry: Field, every: Sequence[tuple[Cited, bool]]) -> None:
    text = paper.document.text
    print(f"{paper.source} {entry.path} = {entry.value!r} {entry.marks}")
    print(f"    wanted {[(text[start:end], start) for start, end in entry.spans]}")
    print(f"    got {[(text[c.start : c.end], c.start, round(c.confidence, 2), right) for c, right in every]}")


def public_finder(document: Document, schema: dict[str, Any], answer: Any) -> Mapping[str, Sequence[Cited]]:
    """The finder of the library, through its public entry."""
    from batchwork.evidence import find_evidence

    return find_evidence(answer, document, schema=schema)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blind", action="store_true", help="the blind part: once, at the end")
    parser.add_argument("--line", type=float, default=LINE, help="the confidence from which a citation counts")
    parser.add_argument("--show", action="store_true", help="every miss of the open part")
    arguments = parser.parse_args()
    found = load("blind" if arguments.blind else "open")
    print(found)
    show = arguments.show and not arguments.blind
    tallies = score(found.papers, public_finder, line=arguments.line, show=show)
    print(f"{'':20}{'precision':>10}{'recall':>8}{'F1':>7}{'fields':>8}{'empties cited':>15}{'calibration':>13}")
    for name in sorted(tallies, key=lambda name: (name == "all", name)):
        tally = tallies[name]
        figures = f"{tally.precision:10.3f}{tally.recall:8.3f}{tally.f1:7.3f}{tally.fields:8}"
        print(f"{name:20}{figures}{tally.false:8} of {tally.empties:<4}{tally.calibration_error:12.3f}")


if __name__ == "__main__":
    main()
