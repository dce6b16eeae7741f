"""Values that show by their shape what they are: an e-mail address needs no label to be one."""

import re

from batchwork.evidence.fields import Field
from batchwork.evidence.vocabulary.lexicon import words

_SHAPES = (
    (words("email"), re.compile(r"\S+@\S+\.\w+")),
    (words("iban account"), re.compile(r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,4}){3,8}")),
    (words("phone fax"), re.compile(r"[+(]?\d[\d\s()/.-]{6,}\d")),
    (words("website url homepage web site link"), re.compile(r"(?:https?://|www\.)\S+")),
    (
        words("address street city location property premis site"),
        re.compile(r"(?=.*\d)(?=.*[^\W\d_]{3}).*\s.*", re.DOTALL),
    ),
)


def shows_its_kind(field: Field, text: str) -> bool:
    """Whether the text has the shape of what the field is called."""
    return any(kinds.intersection(field.words) and shape.fullmatch(text) for kinds, shape in _SHAPES)
