"""What each rule of the evidence finder brings: every one off in turn, the loss in points of F1 on the open sets.

`make evidence-ablation` runs this; the blind papers and the blind layouts are not looked at. Weights are not fitted
anew, so that a rule which another one could stand in for looks a little better than it is. A rule that brings less than
0.3 points on all sets goes. `--quick` takes a third of the documents.
"""

import argparse
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

from batchwork.evidence import (
    DEFAULT_LINE,
    booleans,
    contradictions,
    dates,
    features,
    fields,
    find,
    labels,
    layout,
    numbers,
    readers,
    rows,
    scales,
    strings,
    words,
)
from batchwork.evidence.features import NAMES
from tests.evidence.fit import Case, made_cases, paper_cases, tally

_NEVER = re.compile(r"(?!)")
_Patch = tuple[Any, str, Any]


def _gives(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: copy(value)  # whoever gets a list may add to it


def _without_feature(name: str) -> list[_Patch]:
    rank, whole = NAMES.index(name), features.Scorer.features

    def without(*asked: Any, **around: float) -> list[float]:
        values = whole(*asked, **around)
        values[rank] = 0.0
        return values

    return [(features.Scorer, "features", without)]


RULES: dict[str, list[_Patch]] = {
    "numbers in words": [(readers, "in_words", _gives(()))],
    "negative in brackets": [(numbers, "_is_accounting", _gives(False))],
    "notes in thousands": [(scales.Scales, "power_at", _gives(0))],
    "dates without a year": [(dates.Dates, "without_year", _gives([]))],
    "time behind a date": [(readers, "TIME_BEHIND", _NEVER)],
    "digits inside words": [(readers.Source, "_inside_words", _gives(()))],
    "other names of licences": [(readers, "ALIASES", {})],
    "values broken in a column": [(strings.TextIndex, "_in_columns", _gives([]))],
    "sentences that say yes or no": [(booleans, "_denials", _gives(None))],
    "boxes": [(booleans, "_boxed", _gives(None))],
    "denials": [(find, "is_denied", _gives(False))],
    "ends of ranges": [(labels, "ends_of", _gives(()))],
    "names defined in brackets": [(labels.Contexts, "_defined", _gives([]))],
    "words behind": [(labels.Contexts, "_after", _gives(()))],
    "labels above": [(labels.Contexts, "_above", _gives([]))],
    "heads of tables": [(layout.Layout, "head_row", _gives([]))],
    "heads in two lines and with years": [(layout, "_head_cells", lambda line, _: line.cells)],
    "headings": [(layout.Layout, "_heading_level", _gives(0))],
    "separated values": [(layout, "_tabbed", lambda raw_lines: raw_lines)],
    "compound words": [(words, "_compound", _gives(()))],
    "ends of ranges by name": [(fields, "_ENDS", {})],
    "elements in pieces of a line": [(rows, "_MARK", re.compile(r"\n"))],
    "elements in blocks": [(rows.Units, "_blocks", [])],
    "elements that begin alike": [(rows.Units, "_refrains", [])],
    "elements under the list's name": [(rows, "_favour_own_section", _gives(()))],
    "values outside their element": [(find.Finder, "_outside", _gives([]))],
    "neighbours": [(find.Finder, "_favour_neighbours", _gives(None))],
    "sharing out": [(find.Finder, "_share_out", _gives(None))],
    "order of the answer": [(find.Finder, "_order", _gives((0.0, 0.0)))],
    "values of nobody": [(contradictions.Contradictions, "alternatives", _gives(()))],
    "changing places": [(contradictions.Contradictions, "_others", _gives(()))],
    "contradictions": [(find.Finder, "_is_contradicted", _gives(False))],
    "what the text never speaks of": [(find.Finder, "_is_unsaid", _gives(False))],
    "trees": [(find, "confidence", lambda signs: 1 / (1 + math.exp(-signs[0])))],
    **{f"feature {name}": _without_feature(name) for name in NAMES if name not in ("bias", "neighbour")},
}


@contextmanager
def off(patches: Sequence[_Patch]) -> Iterator[None]:
    """A rule switched off, and what was remembered of it forgotten."""
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    _put(patches)
    try:
        yield
    finally:
        _put(kept)


def _put(patches: Sequence[_Patch]) -> None:
    for owner, name, value in patches:
        setattr(owner, name, value)
    for module in (labels, features, words, booleans, layout, fields, dates, strings):
        for entry in vars(module).values():
            if hasattr(entry, "cache_clear"):
                entry.cache_clear()


def f1(cases: Sequence[Case]) -> float:
    """In points, at the default line."""
    found = tally(cases)
    above = [right for sure, right, _ in found if sure >= DEFAULT_LINE]
    return 200 * sum(above) / (len(above) + sum(stated for _, _, stated in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    step = 3 if parser.parse_args().quick else 1
    sets = {"made": made_cases(1, 8)[::step], "papers": paper_cases()[::step]}
    whole = {name: f1(cases) for name, cases in sets.items()}
    print("| rule off | " + " | ".join(sets) + " |\n|---|" + "---|" * len(sets))
    print("| (none: F1) | " + " | ".join(f"{value:.1f}" for value in whole.values()) + " |")
    for rule, patches in RULES.items():
        with off(patches):
            costs = [f"{f1(cases) - whole[name]:+.2f}" for name, cases in sets.items()]
        print(f"| {rule} | " + " | ".join(costs) + " |", flush=True)


if __name__ == "__main__":
    main()
