"""The same documents asked under names that have nothing to do with them: how many strings are cited all the same.

A name such as `gearbox_type` for what a letter calls its sender must not be cited with confidence. Values that stand
without any label (a letterhead) are counted apart: there no label speaks against the name.
"""

import random
from dataclasses import dataclass

from batchwork.evidence import DEFAULT_LINE, find_evidence
from tests.evidence.corpus.draft import Sample, nested

_NAMES = [
    "beneficiary", "chassis_number", "blood_group", "eye_colour", "pilot", "mooring_place",
    "harvest_region", "stage_name", "lens_type", "dog_breed", "parish", "swim_coach",
    "notary", "flight_deck", "gearbox_type", "genus", "referee", "warranty_provider",
    "studio", "landlord_agent",
]  # fmt: skip


@dataclass(slots=True)
class Strangers:
    """How many strings under a foreign name were cited, of how many."""

    labelled: int = 0
    of_labelled: int = 0
    bare: int = 0
    of_bare: int = 0


def strangers(made: list[Sample]) -> Strangers:
    """Every string with evidence outside lists, once under a name drawn for it."""
    tally = Strangers()
    for sample in made:
        dice = random.Random(sample.name)
        for label in sample.labels:
            if "[" in label.path or not isinstance(label.value, str) or not label.accepted:
                continue
            name = dice.choice(_NAMES)
            value = nested([(name if other is label else other.path, other.value) for other in sample.labels])
            cited = any(citation.confidence >= DEFAULT_LINE for citation in find_evidence(value, sample.document)[name])
            if "unlabelled" in label.traps:
                tally.bare, tally.of_bare = tally.bare + cited, tally.of_bare + 1
            else:
                tally.labelled, tally.of_labelled = tally.labelled + cited, tally.of_labelled + 1
    return tally
