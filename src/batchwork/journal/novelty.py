"""Tell without a look-up that a fingerprint is surely new: a Bloom filter over those seen so far.

Most rows of a first run are new, and asking SQLite about each of them would cost more than everything
else the journal does. It never says "new" of one that was seen; it may say "perhaps not" of one that was not.
"""

from __future__ import annotations

_BITS = 1 << 24  # 2 MiB: one in four hundred new ones is looked up in vain at a million, more beyond


class SeenFilter:
    """Fingerprints are hashes already, so their own bits are the filter's hash functions."""

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits = bytearray(_BITS // 8)

    def add(self, fingerprint: bytes) -> bool:
        """Remember it; whether it may have been seen before."""
        bits = self._bits
        number = int.from_bytes(fingerprint[:12], "big")
        perhaps = True
        for _ in range(4):
            at, bit = (number >> 3) & (_BITS // 8 - 1), 1 << (number & 7)
            if not bits[at] & bit:
                perhaps = False
                bits[at] |= bit
            number >>= 24
        return perhaps
