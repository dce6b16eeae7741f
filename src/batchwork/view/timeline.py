"""The time of a journal's runs, one behind the other: hours between a kill and a resume are a mark, not a gap. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchwork.view.index import RunRow

Array = np.ndarray[Any, Any]
_BUCKETS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Spans of work, and how far each begins from the first one's start when the time between them is left out."""

    starts: Array
    ends: Array
    offsets: Array
    length_s: float

    def at(self, times: Array) -> Array:
        """Where moments lie, in seconds of work."""
        moments = np.stack((self.starts, self.ends), axis=1).ravel()
        seconds = np.stack((self.offsets, self.offsets + self.ends - self.starts), axis=1).ravel()
        return np.asarray(np.interp(times, moments, seconds))

    @property
    def width_s(self) -> float:
        """How long a bucket of a chart is: a round number of seconds."""
        least = self.length_s / _BUCKETS
        for unit in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400):
            if unit >= least:
                return float(unit)
        return float(-(-least // 86400) * 86400)

    @property
    def buckets(self) -> int:
        """How many buckets a chart has."""
        return int(self.length_s // self.width_s) + 1

    def bucket(self, times: Array) -> Array:
        """The buckets that moments fall into."""
        return np.minimum((self.at(times) / self.width_s).astype(np.int32), self.buckets - 1)

    def sums(self, buckets: Array, weights: Array | None = None) -> list[float]:
        """What falls into each bucket: how many moments, or the sum of their weights."""
        return [float(figure) for figure in np.bincount(buckets, weights=weights, minlength=self.buckets)]


def timeline_of(runs: Sequence[RunRow], *, now: float | None) -> Timeline:
    """The time line of a journal's runs; `now` where the latest of them goes on."""
    spans = [[run.began_at, max(run.began_at, run.ended_at or run.last_at)] for run in runs]
    if now is not None and spans:
        spans[-1][1] = max(spans[-1][1], now)
    starts = np.array([span[0] for span in spans] or [0.0])
    ends = np.array([span[1] for span in spans] or [0.0])
    lengths = ends - starts
    offsets = np.concatenate(([0.0], np.cumsum(lengths)[:-1]))
    return Timeline(starts=starts, ends=ends, offsets=offsets, length_s=float(lengths.sum()))
