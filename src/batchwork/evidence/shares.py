"""A part of a whole in figures, "12 of 40 rooms were booked": whose the words behind the two are.

The noun is said of both, what the verb says of the part alone.
"""

import re

_OF = r"\s+(?:out\s+)?(?:of|von|sur|de|di|van)\s+(?:(?:the|all|a\s+total\s+of|insgesamt|in\s+all)\s+)?"
_PART = re.compile(rf"{_OF}\d[\d.,' ]*(?=\s[^\W\d_])")
_WHOLE = re.compile(rf"\d{_OF}$")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|will|would|can|could|may|must|ist|sind|war|waren|wurden?|hat|haben"
    r"|sont|ont|étaient|son|han|fueron|sono|hanno|zijn|hebben|werden)\b"
)
_REACH = 24


def words_behind(text: str, start: int, end: int, stop: int) -> tuple[int, int]:
    """From where to where the words behind a figure are about it, up to `stop`."""
    part = _PART.match(text, end, stop)
    if part is not None:
        return part.end(), stop
    if _WHOLE.search(text, max(0, start - _REACH), start):
        verb = _VERB.search(text, end, stop)
        return end, verb.start() if verb else stop
    return end, stop
