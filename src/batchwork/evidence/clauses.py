"""Where one clause of a sentence ends and another begins, so that each answers for its own subject."""

import re

from batchwork.evidence.phrases import Hit, Word

_FINITE = (
    r"(?:is|are|was|were|has|have|had|does|do|did|will|shall|can|may|must|ist|sind|war|waren|hat|haben|wird|werden|kann"
    r"|darf|muss|est|sont|ont|son|sono)"
)
_NEW_SUBJECT = (
    r"(?P<subject>\b(?:and|or|but|while|whereas|und|aber|et|mais|y)\s+|,\s+(?!(?:which|who|that|where|when|if|as|it|they)\b))"
    rf"(?:[\w-]+\s+){{1,3}}?{_FINITE}\b"
)
# What is denied ends at punctuation, and at a conjunction that a new statement follows ("does not smoke and has").
_CLAUSE_END = re.compile(
    r"[.;:!?]\s|,\s*(?:and|but|or|which|while|aber|und|mais)\b|\bbut\b|\bhowever\b"
    r"|\b(?:and|or|und|et|y)\s+(?:that|has|have|had|is|are|was|were|does|do|did|will|shall|can|may|must|no|not|the|a|an"
    rf"|they|he|she|it|we|you|ist|sind|hat|wird|kein|keine|nicht|die|der|das|est|sont|ne|pas|la|le|les)\b|{_NEW_SUBJECT}",
    re.IGNORECASE,
)
_ANOTHER = re.compile(_NEW_SUBJECT, re.IGNORECASE)
_VERB = re.compile(rf"\b{_FINITE}\b", re.IGNORECASE)
_SUBJECT = 12  # characters of a verb behind a subject


def same_clause(text: str, begin: int, word: Word, first: Hit, last: Hit) -> bool:
    """Whether a word stands in the clause of these hits; `begin` is where their sentence does."""
    if first.start <= word.start <= last.end:
        return True
    if word.end > first.start:
        return not _is_cut(text, begin, last.end, word.start, word.start)
    return not _is_cut(text, begin, word.end, first.start, first.end + _SUBJECT)  # with the verb of a new subject


def _is_cut(text: str, begin: int, low: int, high: int, reach: int) -> bool:
    """Whether a clause ends between two places; "Dogs and cats are" starts none, there is no verb before it."""
    return any(
        ended.start() < high and (ended["subject"] is None or _VERB.search(text, begin, ended.start()))
        for ended in _CLAUSE_END.finditer(text, low, reach)
    )


def is_of_two(text: str, begin: int, hits: list[Hit]) -> bool:
    """Whether the words stand in two halves of a sentence, each with a subject and a verb of its own."""
    if len(hits) < 2:
        return False
    behind = _ANOTHER.search(text, hits[0].end, hits[-1].end + _SUBJECT)
    return (
        behind is not None and behind.start() < hits[-1].start and _VERB.search(text, begin, behind.start()) is not None
    )
