"""Evidence: field values + document text -> the places that say them, verified."""

from batchwork.evidence.citation import Citation
from batchwork.evidence.find import find_evidence
from batchwork.evidence.verify import verify_citations

__all__ = ["Citation", "find_evidence", "verify_citations"]
