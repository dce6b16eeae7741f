"""All labelled documents, always the same ones."""

import random
from collections.abc import Iterable
from types import ModuleType

from tests.evidence.corpus import (
    seen,
    seen_accounts,
    seen_agreements,
    seen_bills,
    seen_forms,
    seen_homes,
    seen_ledgers,
    seen_letters,
    seen_more,
    seen_offices,
    seen_registers,
    seen_reports,
    seen_statements,
    seen_trades,
    unseen,
    unseen_daily,
    unseen_daily_more,
    unseen_daily_papers,
    unseen_fields,
    unseen_fields_more,
    unseen_more,
    unseen_papers,
    unseen_trades,
    unseen_world,
)
from tests.evidence.corpus.draft import Draft, Sample, finish

PER_LAYOUT = 6
_SEEN = (
    *(seen, seen_more, seen_forms, seen_trades, seen_ledgers, seen_offices, seen_letters, seen_homes),
    *(seen_bills, seen_accounts, seen_agreements, seen_reports, seen_statements, seen_registers),
)
_KEPT_OUT = (unseen, unseen_more, unseen_trades, unseen_papers, unseen_world)
_BLIND = (unseen_daily, unseen_daily_more, unseen_daily_papers, unseen_fields, unseen_fields_more)


def samples(*, per_layout: int = PER_LAYOUT, held_out: bool | None = None, seed: int = 0) -> list[Sample]:
    """Every layout `per_layout` times; `held_out` picks the layouts kept out of tuning, or those that are not."""
    made = []
    if held_out is not True:
        made += _made(_SEEN, per_layout, seed, held_out=False)
    if held_out is not False:
        made += _made(_KEPT_OUT, per_layout, seed, held_out=True)
    return made


def blind_samples(*, per_layout: int = PER_LAYOUT, seed: int = 0) -> list[Sample]:
    """Layouts by authors who had not seen the finder, whose mistakes nobody has looked at since."""
    return _made(_BLIND, per_layout, seed, held_out=True)


def _made(modules: Iterable[ModuleType], per_layout: int, seed: int, *, held_out: bool) -> list[Sample]:
    made = []
    for layout in (layout for module in modules for layout in module.LAYOUTS):
        for number in range(per_layout):
            draft = Draft()
            document, places = layout(random.Random(f"{layout.__name__} {seed} {number}"), draft)
            made.append(finish(draft, f"{layout.__name__}_{number}", layout.__name__, held_out, document, places))
    return made
