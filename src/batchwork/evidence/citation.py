"""What a citation is: a place in a document's text that says a value."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One place that says a field's value; `text` is exactly `document.text[start:end]`.

    `confidence` runs from 0 to 1; below 0.5 the place could not be told apart from another one. `page` counts from 1
    and is None for formats without pages.
    """

    start: int
    end: int
    text: str
    page: int | None = None
    confidence: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """As the result files hold it: no `page` where there are none."""
        entry: dict[str, Any] = {"start": self.start, "end": self.end, "text": self.text}
        if self.page is not None:
            entry["page"] = self.page
        entry["confidence"] = round(self.confidence, 3)
        return entry
