"""Evidence: field values + document text -> the places that say them, verified."""

from batchwork.evidence.citation import Citation
from batchwork.evidence.find import find_evidence

__all__ = ["Citation", "find_evidence"]
