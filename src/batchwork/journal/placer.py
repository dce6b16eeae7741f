"""Decides which item an input row is: one the journal knows, or a new one.

An item is a fingerprint and an occurrence: its number among equal rows, from 0. A rerun of the same input finds every
row in its old place, so a comparison suffices until something has changed. From the first difference on, rows are
looked up. The occurrence is found without counting: the occurrences that this pass has already claimed stand at lower
places, and are always the first ones.
"""

from array import array
from struct import Struct
from typing import Protocol

import msgspec

from batchwork.core.outcome import AnyOutcome
from batchwork.core.runstate import ItemState

_halves = Struct("<II8x").unpack
_REMEMBERED = 1 << 16  # fingerprints of equal rows whose next occurrence is remembered
_WORDS = 1 << 18  # of 64 bits: 2 MiB; at a million, one in three hundred new ones is looked up in vain


class KnownItems(Protocol):
    """The items that a journal knows."""

    def at(self, index: int) -> ItemState | None:
        """The item at this place of the latest input."""

    def find(self, fingerprint: bytes, occurrence: int) -> ItemState | None:
        """The item of this identity."""


class Placer:
    """Goes through one input from its start."""

    def __init__(self, known: KnownItems, *, is_empty: bool = False) -> None:
        self._known = known
        self._unchanged = not is_empty
        self._seen = SeenFilter() if is_empty else None
        self._next: dict[bytes, int] = {}  # the occurrence that the next equal row takes

    def identify(self, index: int, fingerprint: bytes) -> tuple[ItemState | None, int]:
        """The known item for the row at `index`, or None and the occurrence a new one takes."""
        if self._unchanged:
            holder = self._known.at(index)
            if holder is not None and holder.fingerprint == fingerprint and self._is_next(holder, index):
                return holder, holder.occurrence
            self._unchanged = False
        if self._seen is not None and not self._seen.add(fingerprint):
            return None, 0
        occurrence = self._next.get(fingerprint, 0)
        if not occurrence:
            first = self._known.find(fingerprint, 0)
            if not _is_claimed(first, index):
                return first, 0
            occurrence = self._first_unclaimed(index, fingerprint)
            if len(self._next) >= _REMEMBERED:
                self._next.clear()
        self._next[fingerprint] = occurrence + 1
        return self._known.find(fingerprint, occurrence), occurrence

    def looks_up(self, fingerprint: bytes) -> bool:
        """Whether a row of this fingerprint, if it came next, would be looked up."""
        return not self._unchanged and (self._seen is None or self._seen.may_have(fingerprint))

    def claimed(self, fingerprint: bytes) -> int:
        """How many equal rows this pass is known to have had; there may have been more."""
        return self._next.get(fingerprint, 0)

    def _is_next(self, holder: ItemState, index: int) -> bool:
        """Whether the equal rows before it are all claimed: a run that ended early may have left a gap among them."""
        before = holder.occurrence - 1
        return before < 0 or _is_claimed(self._known.find(holder.fingerprint, before), index)

    def _first_unclaimed(self, index: int, fingerprint: bytes) -> int:
        """Search by doubling, then halving: a prompt that is there 100,000 times costs 34 look-ups, not 100,000."""
        low, high = 0, 1
        while _is_claimed(self._known.find(fingerprint, high), index):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            if _is_claimed(self._known.find(fingerprint, middle), index):
                low = middle
            else:
                high = middle
        return high


def _is_claimed(item: ItemState | None, index: int) -> bool:
    """Whether a row before `index` of this pass is that item."""
    return item is not None and item.index is not None and item.index < index


class SeenFilter:
    """A Bloom filter over fingerprints: tells without a look-up that one is surely new, as most are in a first run.

    Fingerprints are hashes already, so their own bits are the filter's hash functions. The four bits of one stand in
    one word, so that one look tells.
    """

    def __init__(self) -> None:
        self._words = array("Q", bytes(8 * _WORDS))

    def may_have(self, fingerprint: bytes) -> bool:
        """Whether a fingerprint may have been seen before."""
        at, bits = _halves(fingerprint)
        mask = 1 << (bits & 63) | 1 << (bits >> 6 & 63) | 1 << (bits >> 12 & 63) | 1 << (bits >> 18 & 63)
        return bool(self._words[at % _WORDS] & mask == mask)

    def add(self, fingerprint: bytes) -> bool:
        """Remember a fingerprint; whether it may have been seen before."""
        at, bits = _halves(fingerprint)
        at %= _WORDS
        mask = 1 << (bits & 63) | 1 << (bits >> 6 & 63) | 1 << (bits >> 12 & 63) | 1 << (bits >> 18 & 63)
        word = self._words[at]
        if word & mask == mask:
            return True
        self._words[at] = word | mask
        return False


def outcome_at(outcome: AnyOutcome | None, index: int) -> AnyOutcome | None:
    """The outcome with the place its row has in the latest input, which may not be where it was settled."""
    if outcome is None or outcome.index == index:
        return outcome
    return msgspec.structs.replace(outcome, index=index)
