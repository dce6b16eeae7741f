"""Where one clause of a sentence ends and another begins, so that each answers for its own subject."""

import re

from batchwork.evidence.page.phrases import Hit, Word

_FINITE = (
    r"(?:am|is|are|was|were|has|have|had|does|do|did|will|would|shall|should|can|could|may|might|must|needs?|cannot"
    r"|(?:is|are|was|were|has|have|had|does|do|did|wo|would|should|ca|could)n['’]t"
    r"|bin|ist|sind|war|waren|hat|habe|haben|wird|werden|wurden?|kann|können|darf|dürfen|muss|müssen"
    r"|est|sont|était|a été|ont|peut|peuvent|doit|es|son|fue|fueron|ha|han|puede|pueden|debe|è|sono|hanno|può|deve"
    r"|zijn|heeft|hebben|wordt|worden|werd|mag|kan|moet)"
)
_AND = r"(?:and|or|but|yet|while|whereas|und|oder|aber|et|ou|mais|y|o|pero|e|ma|en|maar)"
_NEW_SUBJECT = (
    rf"(?P<subject>\b{_AND}\s+|,\s+(?!(?:which|who|that|where|when|if|as|it|they)\b))"
    rf"(?:[\w-]+\s+){{1,3}}?{_FINITE}\b"
)
# What is denied ends at punctuation, and where a verb or a new subject follows ("does not smoke and has").
_CLAUSE_END = re.compile(
    rf"[.;:!?]\s|,\s*(?:and|but|or|which|while|aber|und|mais)\b|\bbut\b|\bhowever\b|,\s+{_FINITE}\s"
    rf"|\b{_AND}\s+(?:(?:also|then|now|never|still|auch)\s+)?(?:{_FINITE}|that|no|not|the|a|an|i|they|he|she|it|we|you"
    rf"|kein|keine|nicht|die|der|das|ne|pas|la|le|les)\b|{_NEW_SUBJECT}",
    re.IGNORECASE,
)
_ANOTHER = re.compile(_NEW_SUBJECT, re.IGNORECASE)
_VERB = re.compile(rf"\b{_FINITE}\b", re.IGNORECASE)
_SUBJECT = 12  # characters of a verb behind a subject
REACH = 600  # characters; what stands further away is in no clause with it


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
        ended.start() < high and (ended["subject"] is None or _has_verb(text, begin, ended.start()))
        for ended in _CLAUSE_END.finditer(text, low, reach)
    )


def is_of_two(text: str, begin: int, hits: list[Hit]) -> bool:
    """Whether the words stand in two halves of a sentence, each with a subject and a verb of its own."""
    if len(hits) < 2:
        return False
    behind = _ANOTHER.search(text, hits[0].end, hits[-1].end + _SUBJECT)
    return behind is not None and behind.start() < hits[-1].start and _has_verb(text, begin, behind.start())


def _has_verb(text: str, begin: int, end: int) -> bool:
    return _VERB.search(text, max(begin, end - REACH), end) is not None
