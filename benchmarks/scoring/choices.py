"""Answers that are words: one of some options, or yes and no."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.scoring.replies import answer_clauses, answer_schema, declines, denies, read_reply
from benchmarks.trial import Json

_SAYS = {"yes": True, "true": True, "no": False, "false": False}
_SAID = re.compile(rf"\b(?:{'|'.join(_SAYS)})\b", re.IGNORECASE)


_COMPARES = re.compile(r"\b(?:(more|higher|larger|greater|bigger|steeper)|fewer|less|lower|smaller)\b", re.IGNORECASE)
_WITHIN = r"(?:[^.,;:!?\n]|[.,](?=\d))*"  # what may stand between two things of one clause


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some options, word for word.

    Where two are compared, `asks` says whether the one that has more is asked for or the one that has less, so that
    "A has a higher mean than B" can be read.
    """

    options: tuple[str, ...]
    asks: Literal["more", "less"] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """One of the options or null."""
        return answer_schema({"type": "string", "enum": list(self.options)})

    @property
    def example(self) -> str:
        """What stands for the answer in the instruction."""
        return " | ".join(f'"{option}"' for option in self.options)

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        return "exactly the true option"

    def parse(self, text: str) -> Json:
        """The option of a reply: the only one that is named, and not denied."""
        return read_reply(text, self._accept, self._spoken)

    def right(self, parsed: Json, truth: Json) -> bool:
        """The same."""
        return parsed is not None and bool(parsed == truth)

    def _accept(self, value: Json) -> Json:
        return self._spoken(value) if isinstance(value, str) else None

    def _spoken(self, text: str) -> Json:
        bare = re.sub(r"^\W*(?:(?:series|option)\s+)?|\W*$", "", text, flags=re.IGNORECASE)
        for option in self.options:
            if bare == option or (len(option) > 1 and bare.lower() == option):
                return option
        if declines(text):
            return None
        clauses = answer_clauses(text)
        if self.asks is not None:
            clauses = [self._winner(clause) for clause in clauses]
        named = {option for clause in clauses for option in self.options if _mention(option).search(clause)}
        sure = all(_name(option).search(" ".join(clauses)) for option in named)
        return named.pop() if len(named) == 1 and sure and not any(map(denies, clauses)) else None

    def _winner(self, clause: str) -> str:
        """What a comparison makes the answer; the words as they are when they ask for no turning, else nothing."""
        words = _COMPARES.findall(clause)  # of each the word itself if it says more, else nothing
        same = [bool(word) == (self.asks == "more") for word in words]
        one = rf"(?:that of |[Tt]he [a-z ]+ of |in )?(?:[Ss]eries )?({'|'.join(map(re.escape, self.options))})(?:'s)?"
        both = re.fullmatch(rf"\W*{one} {_WITHIN} than {one}(?: \([^()]*\))?\W*", clause)
        if both is None or len(same) != 1 or denies(clause):
            return clause if all(same) else ""
        return both[1] if same[0] else both[2]


def _mention(option: str) -> re.Pattern[str]:
    """Where an option stands; a letter only in capitals."""
    return re.compile(rf"(?<!\w){re.escape(option)}(?!\w)", re.IGNORECASE if len(option) > 1 else 0)


def _name(option: str) -> re.Pattern[str]:
    """Where an option surely stands for itself: not the article "A"."""
    if len(option) > 1:
        return _mention(option)
    return re.compile(rf"{_mention(option).pattern}(?!'|\s+(?!has\b|is\b|was\b|than\b|or\b|and\b)[a-z])")


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    @property
    def schema(self) -> dict[str, Any]:
        """True, false or null."""
        return answer_schema({"type": "boolean"})

    @property
    def example(self) -> str:
        """What stands for the answer in the instruction."""
        return "true | false"

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        return "the true one of yes and no"

    def parse(self, text: str) -> Json:
        """What a reply says: only yes, or only no, and as its first word or as its answer."""
        return read_reply(text, self._accept, self._spoken)

    def right(self, parsed: Json, truth: Json) -> bool:
        """The same."""
        return parsed is not None and bool(parsed == truth)

    def _accept(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._spoken(value)
        return value if isinstance(value, bool) else None

    def _spoken(self, text: str) -> Json:
        if declines(text):
            return None
        clauses = answer_clauses(text)
        said = {_SAYS[match.group().lower()] for clause in clauses for match in _SAID.finditer(clause)}
        begins = all(re.match(rf"\W*{_SAID.pattern}", clause, re.IGNORECASE) for clause in clauses)
        return said.pop() if len(said) == 1 and begins else None
