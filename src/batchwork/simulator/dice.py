"""Seeded dice: the same seed and the same names give the same numbers, in any order of asking."""

import hashlib
import random


def roll(seed: int, *names: object) -> float:
    """A number in [0, 1) that belongs to these names."""
    key = "\x00".join(map(str, (seed, *names))).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=7).digest()) / 2**56


def generator(seed: int, *names: object) -> random.Random:
    """A whole stream of numbers that belongs to these names."""
    return random.Random(roll(seed, *names))
