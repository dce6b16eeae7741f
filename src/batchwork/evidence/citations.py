"""A citation; and the check of a provider's own ones: the true ones are kept, at the place where they really stand.

A provider counts characters of what it was sent, may be off by one, and gives only pages for PDFs. So the words decide:
they must stand in the document, and the place nearest to where the provider says is taken.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from batchwork.documents import Document
from batchwork.evidence.passages import Passages
from batchwork.evidence.strings import folded

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_EXACT, _MOVED, _LIKE, _UNSURE = 1.0, 0.95, 0.85, 0.45


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One place that says a field's value; `text` is exactly `document.text[start:end]`.

    `confidence` runs from 0 to 1; below `DEFAULT_LINE` a person should look at the place. `page` counts from 1
    and is None for formats without pages.
    """

    start: int
    end: int
    text: str
    page: int | None = None
    confidence: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """As the result files hold it; `page` is None where there are none."""
        place = {"start": self.start, "end": self.end, "text": self.text, "page": self.page}
        return {**place, "confidence": round(self.confidence, 3)}


def cite(document: Document | str, start: int, end: int, confidence: float) -> Citation:
    """A place of a document as a citation."""
    text, page = (document, None) if isinstance(document, str) else (document.text, document.page_of(start))
    return Citation(start=start, end=end, text=text[start:end], page=page, confidence=confidence)


def verify_citations(
    citations: Iterable[Mapping[str, Any]], document: Document, *, document_index: int | None = None
) -> list[Citation]:
    """The citations whose words stand in the document, each once, in order of the provider.

    Takes `char_location`, `page_location` and block locations with their `cited_text`, as Anthropic sends them.
    `document_index` keeps those of one document. The text of a result is always the document's own.
    """
    passages: Passages | None = None
    kept: dict[tuple[int, int], Citation] = {}
    for citation in citations:
        if document_index is not None and citation.get("document_index", document_index) != document_index:
            continue
        wanted = citation.get("cited_text")
        if not isinstance(wanted, str) or not wanted.strip():
            continue
        low, high, hint = _claimed(citation, document)
        place = _exactly(document.text, wanted.strip(), low, high, hint)
        if place is None:
            passages = passages or Passages(folded(document.text))
            place = _alike(passages, wanted, low, high, hint)
        if place is not None and (place[0], place[1]) not in kept:
            start, end, confidence = place
            kept[start, end] = cite(document, start, end, confidence)
    return list(kept.values())


def _claimed(citation: Mapping[str, Any], document: Document) -> tuple[int, int, int | None]:
    """The part of the text that the provider points at, and the offset it names, if any."""
    whole = (0, len(document.text), None)
    start = citation.get("start_char_index")
    if isinstance(start, int):
        return 0, len(document.text), start
    first, last = citation.get("start_page_number"), citation.get("end_page_number")
    if not isinstance(first, int) or not document.pages:
        return whole
    final = last - 1 if isinstance(last, int) and last > first else first  # the end is exclusive
    if not 1 <= first <= len(document.pages):
        return whole
    return document.page_span(first)[0], document.page_span(min(final, len(document.pages)))[1], None


def _exactly(text: str, wanted: str, low: int, high: int, hint: int | None) -> tuple[int, int, float] | None:
    places: list[int] = []
    position = text.find(wanted, low, high)
    while position >= 0 and len(places) < 1_000:
        places.append(position)
        position = text.find(wanted, position + 1, high)
    if not places:
        return None
    if hint is not None:
        best = min(places, key=lambda place: abs(place - hint))
        near = abs(best - hint) <= 2  # a blank more or less at the edge
        return best, best + len(wanted), _EXACT if near else _MOVED
    return places[0], places[0] + len(wanted), _MOVED if len(places) == 1 else _UNSURE


def _alike(passages: Passages, wanted: str, low: int, high: int, hint: int | None) -> tuple[int, int, float] | None:
    """The same words with other blanks, line ends, dashes or case; over pages only when the claimed ones have none."""
    found = passages.find(_EDGES.sub("", folded(wanted)))
    inside = [place for place in found if low <= place[0] and place[1] <= high] or found
    if not inside:
        return None
    if hint is not None:
        start, end = min(inside, key=lambda place: abs(place[0] - hint))
        return start, end, _LIKE
    return inside[0][0], inside[0][1], _LIKE if len(inside) == 1 else _UNSURE
