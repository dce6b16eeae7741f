"""Score the evidence finder on the labelled documents, against the bars. `make evidence` runs this.

At the default line: precision per span, recall per field that has evidence, false evidence over the fields that must
stay empty; overall, per trap, for values that also stand in another role, for contradicted values, and for the layouts
kept out of tuning. Beside it, not judged, the blind layouts: by authors who had not seen the finder, and whose mistakes
nobody has looked at since. That is what a document of one's own may expect.
"""

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from batchwork.evidence import DEFAULT_LINE, Citation, find_evidence
from tests.evidence.corpus.build import blind_samples, samples
from tests.evidence.corpus.draft import Label, Sample
from tests.evidence.strangers import strangers
from tests.evidence.tally import Tally

BARS = {"overall": (0.99, 0.95), "elsewhere": (0.96, 0.93), "trap": (0.95, 0.90)}
FALSE_BAR = 0.02
# Names that some layouts have for ways of their own, beyond the traps that the rules name: shown, not judged alone.
COINED = frozenset({"arms", "crossing", "log", "signature", "thread", "timeline"})


def is_right(citation: Citation, label: Label) -> bool:
    """Exactly an accepted span; for phrases any part of it that is at least a word."""
    for start, end in label.accepted:
        if (citation.start, citation.end) == (start, end):
            return True
        if label.inside and citation.start < end and start < citation.end:
            return True
    return False


def score(made: list[Sample], *, show: bool = False) -> dict[str, Tally]:
    """Tallies by name: overall, elsewhere, contradicted, seen, held out, and one per trap."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for sample in made:
        found = find_evidence(sample.value, sample.document, schema=sample.schema)
        for label in sample.labels:
            cited = [citation for citation in found[label.path] if citation.confidence >= DEFAULT_LINE]
            right = [citation for citation in cited if is_right(citation, label)]
            names = ["overall", "held out" if sample.held_out else "seen", f"layout {sample.layout}"]
            names += [f"trap {trap}" for trap in label.traps]
            names += ["elsewhere"] if label.elsewhere else []
            for name in names:
                tallies[name].count([citation in right for citation in cited], stated=bool(label.accepted))
            bad = len(right) < len(cited) or (label.accepted and not right)
            if show and bad:
                wanted = [sample.document.text[a:b] for a, b in label.accepted]
                got = [(c.text, c.confidence, c.start) for c in found[label.path]]
                print(f"{sample.name} {label.path} = {label.value!r} {label.traps}")
                print(f"    wanted {wanted} {label.accepted[:1]}")
                print(f"    got {got}")
    return tallies


def verdicts(tallies: dict[str, Tally], only: tuple[str, ...] = ()) -> list[str]:
    """What falls short of its bar; with `only`, of these bars and the two for false evidence."""
    short = []
    for name, tally in tallies.items():
        if only and name not in only:
            continue
        trap = name.removeprefix("trap ")
        bar = BARS.get(name) or (BARS["trap"] if trap != name and trap not in COINED else None)
        if bar is None:
            continue
        if tally.fields and (tally.precision < bar[0] or tally.recall < bar[1]):
            short.append(f"{name} {tally.precision:.3f}/{tally.recall:.3f} (bar {bar[0]}/{bar[1]})")
    if tallies["overall"].false_share > FALSE_BAR:
        short.append(f"false evidence {tallies['overall'].false_share:.3f} (bar {FALSE_BAR})")
    if tallies["trap contradicted"].false:
        short.append(f"contradicted values cited: {tallies['trap contradicted'].false} (bar 0)")
    return short


def _figure(tally: Tally) -> str:
    return f"{tally.precision:.3f} / {tally.recall:.3f}, false {tally.false_share:.3f}"


def _show(tallies: dict[str, Tally]) -> None:
    for name in sorted(tallies, key=lambda name: (any(part in name for part in ("trap ", "layout ")), name)):
        tally = tallies[name]
        print(f"{name:32}{tally.precision:10.3f}{tally.recall:8.3f}{tally.fields:8}{tally.false:8}{tally.empties:6}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seen", action="store_true", help="only the layouts that may be looked at, with every mistake"
    )
    parser.add_argument("--per-layout", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    made = samples(per_layout=arguments.per_layout, held_out=False if arguments.seen else None, seed=arguments.seed)
    began = time.process_time()
    tallies = score(made, show=arguments.seen)
    spent = time.process_time() - began
    fields = sum(len(sample.labels) for sample in made)
    print(f"{len(made)} documents, {fields} fields, {1000 * spent / len(made):.1f} ms CPU per document")
    print(f"{'':32}{'precision':>10}{'recall':>8}{'fields':>8}{'false':>8}{'of':>6}")
    _show(tallies)
    if not arguments.seen:
        unknown = score(blind_samples(per_layout=arguments.per_layout, seed=arguments.seed))
        _show({f"blind {name}": tally for name, tally in unknown.items() if not name.startswith("trap")})
        blind = unknown["overall"]
        print(f"blind, not judged: {_figure(blind)}")
    foreign = strangers(made[:: arguments.per_layout])
    print(f"under foreign names {foreign.labelled} of {foreign.of_labelled} labelled strings are cited,", end=" ")
    print(f"{foreign.bare} of {foreign.of_bare} without a label")
    short = verdicts(tallies)
    for line in short:
        print(f"short: {line}")
    print(f"evidence: {_figure(tallies['overall'])} (bar 0.99 / 0.95, false 0.02) {'short' if short else 'ok'}")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
