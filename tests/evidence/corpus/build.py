"""All labelled documents, always the same ones."""

import random

from tests.evidence.corpus import (
    seen,
    seen_forms,
    seen_homes,
    seen_ledgers,
    seen_letters,
    seen_more,
    seen_offices,
    seen_trades,
    unseen,
    unseen_more,
    unseen_papers,
    unseen_trades,
    unseen_world,
)
from tests.evidence.corpus.draft import Draft, Sample, finish

PER_LAYOUT = 6
_SEEN = (seen, seen_more, seen_forms, seen_trades, seen_ledgers, seen_offices, seen_letters, seen_homes)
_KEPT_OUT = (unseen, unseen_more, unseen_trades, unseen_papers, unseen_world)


def samples(*, per_layout: int = PER_LAYOUT, held_out: bool | None = None, seed: int = 0) -> list[Sample]:
    """Every layout `per_layout` times; `held_out` picks the layouts kept out of tuning, or those that are not."""
    made = []
    for kept_out, layouts in (
        (False, [layout for module in _SEEN for layout in module.LAYOUTS]),
        (True, [layout for module in _KEPT_OUT for layout in module.LAYOUTS]),
    ):
        if held_out is not None and held_out != kept_out:
            continue
        for layout in layouts:
            for number in range(per_layout):
                draft = Draft()
                document, places = layout(random.Random(f"{layout.__name__} {seed} {number}"), draft)
                made.append(finish(draft, f"{layout.__name__}_{number}", layout.__name__, kept_out, document, places))
    return made
