"""Evidence: field values + document text -> the places that say them, verified."""

from batchwork.evidence.citations import Citation, verify_citations
from batchwork.evidence.find import find_evidence
from batchwork.evidence.quotes import QuotedEvidence, RejectedQuote, verify_quotes
from batchwork.evidence.thresholds import DEFAULT_LINE

__all__ = [
    "DEFAULT_LINE",
    "Citation",
    "QuotedEvidence",
    "RejectedQuote",
    "find_evidence",
    "verify_citations",
    "verify_quotes",
]
