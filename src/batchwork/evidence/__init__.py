"""Evidence: field values + document text -> the places that say them, verified."""

from batchwork.evidence.citation import Citation
from batchwork.evidence.find import find_evidence
from batchwork.evidence.thresholds import DEFAULT_LINE
from batchwork.evidence.verify import verify_citations

__all__ = ["DEFAULT_LINE", "Citation", "find_evidence", "verify_citations"]
