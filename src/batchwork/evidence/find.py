"""Field values + document -> for every field the places that say it.

The order of decisions: where each list element stands (rows), then every place of every field by its features, then the
fields together: whose place it is, and whether two places are alike.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from batchwork.documents import Document
from batchwork.evidence.citation import Citation
from batchwork.evidence.decide import Finder
from batchwork.evidence.fields import fields_of
from batchwork.evidence.readers import Source


def find_evidence(
    value: Any, document: Document | str, *, schema: Any = None, cited: Sequence[Citation] = ()
) -> dict[str, list[Citation]]:
    """For every leaf of `value`, by path, the places of the document that say it, best first.

    A list is empty when nothing says the value: it is None, absent, only computable or contradicted. A citation with a
    confidence below 0.5 is one of several places that cannot be told apart. `schema` (a JSON schema or a Pydantic
    model) adds descriptions and enums; a Pydantic value brings its own. `cited` are verified citations of the provider:
    of places that cannot be told apart the one inside such a passage is taken.
    """
    fields = fields_of(value, schema)
    text = document if isinstance(document, str) else document.text
    if not text.strip():
        return {field.path: [] for field in fields}
    finder = Finder(Source(text), fields, [(citation.start, citation.end) for citation in cited])
    found = finder.run()
    pages = None if isinstance(document, str) else document
    return {
        field.path: [
            Citation(
                start=start,
                end=end,
                text=text[start:end],
                page=None if pages is None else pages.page_of(start),
                confidence=round(verdict.confidence, 3),
            )
            for verdict in found[field.path]
            for start, end in verdict.place.spans
        ]
        for field in fields
    }
