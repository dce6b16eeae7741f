"""What the tests of this room share: the full description of a series, and seeded dice."""

import numpy as np

from batchwork.frame import Description, describe_series


def described(values: object, **options: object) -> Description:
    return describe_series(values, output="full", **options)  # type: ignore[call-overload,no-any-return]


def dice(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
