"""What became of the fields of labelled documents: one count for the made ones, the papers and the quotes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

BINS = 5


@dataclass(slots=True)
class Tally:
    """Citations above the line, fields that are stated, empties; and all promises with what came true."""

    cited: int = 0
    right: int = 0
    fields: int = 0
    found: int = 0
    empties: int = 0
    false: int = 0
    promises: list[tuple[float, bool]] = field(default_factory=list)

    def count(self, above: Sequence[bool], *, stated: bool) -> None:
        """Take in one field, with the truth of each of its citations above the line."""
        self.cited += len(above)
        self.right += sum(above)
        self.fields += stated
        self.found += any(above)
        self.empties += not stated
        self.false += not stated and bool(above)

    @property
    def precision(self) -> float:
        return self.right / self.cited if self.cited else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.fields if self.fields else 1.0

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / (self.precision + self.recall or 1.0)

    @property
    def false_share(self) -> float:
        return self.false / self.empties if self.empties else 0.0

    @property
    def calibration_error(self) -> float:
        """The expected calibration error over bins of equal count."""
        ranked, total = sorted(self.promises), len(self.promises)
        bins = [ranked[total * n // BINS : total * (n + 1) // BINS] for n in range(BINS)]
        return sum(abs(sum(p for p, _ in part) - sum(right for _, right in part)) for part in bins) / (total or 1)
